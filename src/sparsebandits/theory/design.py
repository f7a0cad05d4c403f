"""The exploration distribution of Hao, Lattimore and Wang (2020), and C_min of Hao, Lattimore and Deng (2021).

    C_min(𝒜) = max_μ σ_min(E_μ[aa'])  over distributions μ on the actions.

With unnormalised weights it is 1 / min {Σ w : Σ w_a aa' ⪰ I, w ≥ 0}, a semidefinite program. Its dual gives the
certificate: every positive semidefinite Z of trace one bounds C_min from above,

    σ_min(E_μ[aa']) ≤ tr(Z E_μ[aa']) = E_μ[a'Za] ≤ max_a a'Za.

The program is solved by Newton's method on the logarithmic barrier (Boyd and Vandenberghe 2004, Section 11.3), which at
the centre of parameter m yields Z ∝ (Σ w_a aa' − I)⁻¹, within a factor of about 1 + m of the optimum. The unknowns of
its linear systems are the K weights, where a general conic solver has d(d + 1)/2 rows: at d = 100 and K = 200 it takes
0.1 s, SCS 18 s and Clarabel 33 s. A large set of actions is solved on a working set, to which the actions that violate
a'Za ≤ C_min are added until there are none. Clarabel and SCS serve as a comparison.
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr, solve_triangular
from threadpoolctl import threadpool_limits

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_choice, check_columns, check_matrix, frozen

SOLVERS = ("barrier", "clarabel", "scs")

ACCURACY = 1e-4
"""Relative duality gap that callers may rely on, unless the actions are too ill-conditioned: see ``Design.gap``."""

TOLERANCE = 2e-5
"""Relative duality gap at which the barrier method stops."""

SHRINK = 5.0
"""Factor between barrier parameters. With 20 the last steps failed by rounding errors at d = 100."""

CENTRED = 1e-2
"""Squared Newton decrement at which a centre counts as reached."""

LEAST_BARRIER = 1e-9
"""Barrier parameter, relative to the optimum, below which rounding errors defeat Newton's method."""

WORKING_SET = 300
"""Number of actions in the first working set."""

NEGLIGIBLE = 1e-3
"""Share of a uniform weight below which an action is left out, if c_min stays within the tolerance."""

DEPENDENT = 3e-6
"""Singular value of the actions, as a share of the largest, below which a direction counts as not spanned: C_min is of
the order of its square, which would be lost in rounding errors."""

SMALLEST = 1e-100
"""Magnitude of the largest feature below which squares underflow."""

REMEMBERED = 32
"""Number of designs that are kept, the most recently used."""


@dataclass(frozen=True, eq=False)
class Design:
    """The distribution over actions that explores the least explored direction best.

    Parameters
    ----------
    weights : array of shape (K,)
        The probability of each action.
    c_min : float
        The smallest eigenvalue of Σ w_a aa', computed from the weights. It is zero if the actions do not span the
        space, or span a direction so weakly that it is lost in rounding errors (``DEPENDENT``).
    upper_bound : float
        No distribution has a larger ``c_min`` than this, by a dual feasible point.
    rank : int
        Dimension of the span of the actions.
    c_span : float
        The smallest eigenvalue within the span; equal to ``c_min`` if the actions span the space.
    """

    weights: FloatArray
    c_min: float
    upper_bound: float
    rank: int
    c_span: float

    @property
    def gap(self) -> float:
        """How much larger than ``c_min`` the optimum may be."""
        return self.upper_bound - self.c_min

    @property
    def spanning(self) -> bool:
        """Whether the actions span the space, so that all of θ can be learned."""
        return self.c_min > 0.0

    @property
    def exploratory(self) -> bool:
        """Whether C_min ≥ 1 (Hao, Lattimore and Deng 2021), up to ``ACCURACY``."""
        return self.c_min >= 1.0 - ACCURACY


_designs: "OrderedDict[tuple[bytes, str], Design]" = OrderedDict()


def exploratory_design(actions: object, solver: str = "barrier") -> Design:
    """Return the distribution over actions that maximises the smallest eigenvalue of E[aa'], with a certificate.

    If the actions do not span the space, ``c_min`` is zero and the weights explore the span best. Designs are cached.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    solver : {"barrier", "clarabel", "scs"}, default="barrier"
        "clarabel" and "scs" need cvxpy. The certificate does not depend on the solver's accuracy.

    Returns
    -------
    Design

    Raises
    ------
    ArgumentError
        If the actions are not a matrix of finite numbers, or all of them are too small.
    ImportError
        If cvxpy is needed and not installed.

    Examples
    --------
    >>> design = exploratory_design([[1.0, 0.0], [0.0, 2.0]])
    >>> design.weights.round(4), round(design.c_min, 4)
    (array([0.8, 0.2]), 0.8)
    >>> cube = exploratory_design([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> cube.c_min, cube.gap, cube.exploratory
    (1.0, 0.0, True)
    """
    features = check_matrix("actions", check_columns("actions", actions)[0])
    check_choice("solver", solver, SOLVERS)
    digest = hashlib.sha256(repr(features.shape).encode() + features.tobytes()).digest()
    if (digest, solver) not in _designs:
        with threadpool_limits(limits=1, user_api="blas"):  # with several threads on a busy machine it took minutes
            _designs[digest, solver] = _designed(features, solver)
        if len(_designs) > REMEMBERED:
            _designs.popitem(last=False)
    _designs.move_to_end((digest, solver))
    return _designs[digest, solver]


def _designed(features: FloatArray, solver: str) -> Design:
    """Bring the actions to unit scale and their span to full rank; solve; undo both."""
    n_actions, dimension = features.shape
    scale = float(np.abs(features).max())
    if 0.0 < scale < SMALLEST:
        raise ArgumentValueError(
            "actions", f"features of magnitude {SMALLEST:g} or more", f"at most {scale:g}; scale them up"
        )
    if scale == 0.0:
        return Design(frozen(np.full(n_actions, 1.0 / n_actions)), 0.0, 0.0, 0, 0.0)
    unit = features / scale
    # The SVD of R in unit = QR, which has at most d rows: the left factor of all K rows would have K² entries.
    singular, directions = np.linalg.svd(np.linalg.qr(unit, mode="r"), full_matrices=True)[1:]
    rank = int(np.count_nonzero(singular > DEPENDENT * singular[0]))
    spanned = unit if rank == dimension else unit @ directions[:rank].T
    design = _closed_form(spanned)
    if design is None:
        design = _on_a_working_set(spanned) if solver == "barrier" else _by_cvxpy(spanned, solver)
    bound = design.upper_bound if rank == dimension else float(np.square(unit @ directions[-1]).max())
    square = scale * scale
    return replace(
        design,
        weights=frozen(design.weights),
        c_min=square * design.c_min if rank == dimension else 0.0,
        upper_bound=square
        * max(bound, design.c_min if rank == dimension else 0.0),  # rounding may put the bound below c_min
        rank=rank,
        c_span=square * design.c_min,
    )


def _certified(actions: FloatArray, weights: FloatArray, dual_root: FloatArray) -> Design:
    """Return the design of ``weights``, which need not sum to one, with the bound from Z ∝ R'R for any R."""
    weights = weights / weights.sum()
    c_min = max(float(np.linalg.eigvalsh(_moment(actions, weights))[0]), 0.0)
    few = np.where(weights < NEGLIGIBLE / len(weights), 0.0, weights)
    few = few / few.sum()
    kept = float(np.linalg.eigvalsh(_moment(actions, few))[0])
    if kept >= c_min * (1.0 - TOLERANCE):
        weights, c_min = few, max(kept, 0.0)
    return Design(weights, c_min, _upper_bound(actions, dual_root), actions.shape[1], c_min)


def _upper_bound(actions: FloatArray, dual_root: FloatArray) -> float:
    """Return max_a a'Za for Z = R'R / tr(R'R)."""
    return float(np.square(actions @ dual_root.T).sum(axis=1).max() / np.square(dual_root).sum())


def _moment(actions: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Σ w_a aa'."""
    return np.asarray(actions.T @ (weights[:, np.newaxis] * actions))


def _closed_form(actions: FloatArray) -> Design | None:
    """Return the uniform design on the longest actions if it is optimal, as on a hypercube or an orthonormal basis."""
    norms = np.square(actions).sum(axis=1)
    weights = (norms >= norms.max() * (1.0 - 1e-12)).astype(np.float64)
    design = _certified(actions, weights, np.eye(actions.shape[1]))
    return design if design.gap <= 1e-12 * design.c_min else None


def _on_a_working_set(actions: FloatArray) -> Design:
    """Solve on some of the actions, add those that violate the bound, and repeat."""
    n_actions, dimension = actions.shape
    working = np.arange(n_actions)
    if n_actions > WORKING_SET + dimension:
        spanning = qr(actions.T, mode="r", pivoting=True)[1][:dimension]
        longest = np.argsort(-np.square(actions).sum(axis=1), kind="stable")[:WORKING_SET]
        working = np.union1d(spanning, longest)
    bound = np.inf
    while True:
        weights, dual_root = _barrier(actions[working])
        everywhere = np.zeros(n_actions)
        everywhere[working] = weights
        design = _certified(actions, everywhere, dual_root)
        bound = min(bound, design.upper_bound)  # the bound of every iteration is valid
        if bound <= design.c_min * (1.0 + 4.0 * TOLERANCE) or len(working) == n_actions:
            return replace(design, upper_bound=bound)
        value = np.square(actions @ dual_root.T).sum(axis=1)
        value[working] = -np.inf
        violators = np.argsort(-value, kind="stable")[: max(2 * dimension, 100)]
        played = np.flatnonzero(design.weights)
        working = np.union1d(played, violators[value[violators] > -np.inf])


def _barrier(actions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weights, and R with Z ∝ R'R: minimise Σ w subject to Σ w_a aa' ⪰ I by Newton's method on the barrier.

    The steps are in units of the weights, in which the Hessian is I + (w_a w_b (a'Sb)²), S = (Σ w_a aa' − I)⁻¹. That is
    never singular, but for small barrier parameters the identity is lost in rounding errors, so the best points are
    kept.
    """
    n_actions, dimension = actions.shape
    identity = np.eye(dimension)
    weights = np.ones(n_actions)
    weights *= 2.0 / np.linalg.eigvalsh(_moment(actions, weights))[0]
    root: FloatArray = np.asarray(np.linalg.cholesky(_moment(actions, weights) - identity), dtype=np.float64)
    parameter = weights.sum() / (n_actions + dimension)
    best, best_root, most, least = weights, identity, 0.0, np.inf
    while parameter * (n_actions + dimension) > LEAST_BARRIER * weights.sum():
        weights, root = _centre(actions, weights, root, parameter)
        dual_root = solve_triangular(root, identity, lower=True)
        smallest = float(np.linalg.eigvalsh(_moment(actions, weights / weights.sum()))[0])
        bound = _upper_bound(actions, dual_root)
        if smallest > most:
            best, most = weights, smallest
        if bound < least:
            best_root, least = dual_root, bound
        if least - most <= TOLERANCE * most:
            break
        parameter /= SHRINK
    return best, best_root


def _centre(
    actions: FloatArray, weights: FloatArray, root: FloatArray, parameter: float
) -> tuple[FloatArray, FloatArray]:
    """Minimise Σ w / m − log det(Σ w_a aa' − I) − Σ log w; return w and the Cholesky factor of Σ w_a aa' − I."""
    identity = np.eye(actions.shape[1])
    diagonal = np.diag_indices(len(actions))
    value = _barrier_value(weights, root, parameter)
    for _ in range(30):
        half = solve_triangular(root, actions.T, lower=True)
        products = half.T @ half  # a'Sb
        gradient = weights / parameter - weights * products[diagonal] - 1.0
        hessian = np.square(products) * weights[:, np.newaxis] * weights
        # The second term makes up for rounding errors in the smallest eigenvalue.
        hessian[diagonal] += 1.0 + len(actions) * np.finfo(np.float64).eps * hessian[diagonal].max()
        try:
            step = -cho_solve(cho_factor(hessian), gradient)
        except LinAlgError:
            return weights, root
        decrement = float(-gradient @ step)
        length = 1.0 if step.min() >= -0.99 else float(-0.99 / step.min())
        while True:
            moved = weights * (1.0 + length * step)
            try:
                moved_root = np.asarray(np.linalg.cholesky(_moment(actions, moved) - identity), dtype=np.float64)
                moved_value = _barrier_value(moved, moved_root, parameter)
            except np.linalg.LinAlgError:  # outside the feasible set
                moved_value = np.inf
            if moved_value <= value - 0.1 * length * decrement:
                weights, root, value = moved, moved_root, moved_value
                break
            length /= 2.0
            if length < 1e-8:
                return weights, root
        if decrement < CENTRED:
            break
    return weights, root


def _barrier_value(weights: FloatArray, root: FloatArray, parameter: float) -> float:
    """Return the function that ``_centre`` minimises."""
    return float(weights.sum() / parameter - 2.0 * np.log(np.diagonal(root)).sum() - np.log(weights).sum())


def _by_cvxpy(actions: FloatArray, solver: str) -> Design:
    """Solve the program by a conic solver; its dual matrix is made feasible here, however inaccurate it is."""
    try:
        cp: Any = import_module("cvxpy")
    except ImportError as error:
        raise ImportError(
            f"solver: expected cvxpy to be installed for {solver!r} (pip install 'sparsebandits[design]'); "
            "solver='barrier' needs no package"
        ) from error
    n_actions, dimension = actions.shape
    settings: dict[str, Any] = {} if solver == "clarabel" else {"eps": 1e-6, "max_iters": 20_000}
    weights, smallest = cp.Variable(n_actions, nonneg=True), cp.Variable()
    large_enough = actions.T @ cp.diag(weights) @ actions >> smallest * np.eye(dimension)
    problem = cp.Problem(cp.Maximize(smallest), [large_enough, cp.sum(weights) == 1])
    problem.solve(solver=solver.upper(), **settings)
    if weights.value is None:
        raise RuntimeError(f"solver: {solver} found no design ({problem.status})")
    dual = np.asarray(large_enough.dual_value)
    values, vectors = np.linalg.eigh((dual + dual.T) / 2.0)
    dual_root = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors.T
    return _certified(actions, np.maximum(np.asarray(weights.value), 0.0), dual_root)
