"""C_min of a distribution of contexts: the exploratory policy of Hao, Lattimore and Qin (2022), with a certificate.

    C_min = max_π σ_min(E_s E_{a ~ π(s)}[φ(s, a) φ(s, a)'])  over maps π from contexts to distributions of actions.

With one context it is that of ``design.py``. Every positive semidefinite Z of trace one bounds it from above,

    σ_min(E[φφ']) ≤ tr(Z E[φφ']) = E_s E_{a ~ π(s)}[φ'Zφ] ≤ E_s max_a φ(s, a)'Zφ(s, a),

whatever the map. With joint weights w(s, a) = p(s) π(a | s) and t the smallest eigenvalue, the program is

    max t  subject to  Σ w φφ' ⪰ t I,  w ≥ 0,  Σ_a w(s, a) = p(s) for every context s.

It is solved by Newton's method on the logarithmic barrier (Boyd and Vandenberghe 2004, Section 11.3), whose centre of
parameter m has Z = m (Σ w φφ' − t I)⁻¹ and a gap of m times the number of inequalities. A step factorises a matrix of
as many rows as there are actions in all contexts together: 1,000 of them take about six seconds in all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular
from threadpoolctl import threadpool_limits

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    IntArray,
    check_array,
    check_matrix,
    frozen,
    shown,
)
from sparsebandits.theory.design import CENTRED, DEPENDENT, SHRINK, SMALLEST, TOLERANCE

LEAST_BARRIER = 1e-12
"""Barrier parameter, relative to the smallest eigenvalue, below which rounding errors defeat Newton's method."""


@dataclass(frozen=True, eq=False)
class PolicyDesign:
    """The map from contexts to distributions of actions that explores the least explored direction best.

    Attributes
    ----------
    policy : tuple of arrays
        Probability of each action in each context, one array of shape ``(K_s,)`` per context.
    c_min : float
        The smallest eigenvalue of E[φφ'] under this policy, computed from it; zero if no policy sees all directions.
    upper_bound : float
        No policy has a larger ``c_min`` than this, by a dual feasible point.
    """

    policy: tuple[FloatArray, ...]
    c_min: float
    upper_bound: float

    @property
    def gap(self) -> float:
        """How much larger than ``c_min`` the optimum may be."""
        return self.upper_bound - self.c_min


def exploratory_policy(contexts: object, probability: object = None) -> PolicyDesign:
    """Return the policy that maximises the smallest eigenvalue of E[φφ'], with a certificate.

    Parameters
    ----------
    contexts : array of shape (m, K, d) or sequence of arrays of shape (K_s, d)
        Features φ(s, a) of the actions of each context, one row per action.
    probability : array of shape (m,), optional
        Probability of each context; by default all are equally likely.

    Returns
    -------
    PolicyDesign
        The policy, its smallest eigenvalue and the upper bound.

    Raises
    ------
    ArgumentError
        If contexts have different numbers of features, if probabilities do not sum to one, or if all features are too
        small.

    Examples
    --------
    One context has the first direction only, so the other one explores the second:

    >>> found = exploratory_policy([[[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]], [0.75, 0.25])
    >>> found.policy[1].round(3), round(found.c_min, 4)
    (array([0., 1.]), 0.25)
    """
    features = checked_contexts(contexts)
    p = checked_probability(probability, len(features))
    sizes = [len(one) for one in features]
    x, owner = np.concatenate(features), np.repeat(np.arange(len(features)), sizes)
    scale = float(np.abs(x).max())
    if 0.0 < scale < SMALLEST:
        raise ArgumentValueError("contexts", f"features of magnitude {SMALLEST:g} or more", f"at most {scale:g}")
    inside = p[owner] > 0.0
    used, place = np.unique(owner[inside], return_inverse=True)
    weights = p[owner] / np.array(sizes, dtype=np.float64)[owner]
    lower = upper = 0.0
    if scale > 0.0:
        with threadpool_limits(limits=1, user_api="blas"):
            found, lower, upper = _solved(x[inside] / scale, place, p[used])
        weights[inside] = found
    conditional = np.where(inside, weights / np.where(inside, p[owner], 1.0), 1.0 / np.array(sizes)[owner])
    parts = np.split(conditional, np.cumsum(sizes)[:-1])
    policy = tuple(frozen(part / part.sum()) for part in parts)
    square = scale * scale
    return PolicyDesign(policy, square * lower, square * max(upper, lower))  # rounding may put the bound below


def checked_contexts(contexts: object) -> list[FloatArray]:
    """Return the features of each context, after checking them.

    Parameters
    ----------
    contexts : array of shape (m, K, d) or sequence of arrays of shape (K_s, d)
        The argument ``contexts``.

    Returns
    -------
    list of arrays of shape (K_s, d)

    Raises
    ------
    ArgumentError
        If it is not a sequence of matrices with the same number of columns.
    """
    if not isinstance(contexts, np.ndarray | Sequence) or isinstance(contexts, str) or len(contexts) == 0:
        raise ArgumentTypeError("contexts", "one matrix of features per context", shown(contexts))
    found: list[FloatArray] = []
    for one in contexts:
        found.append(check_matrix("contexts", one, found[0].shape[1] if found else None))
    return found


def checked_probability(probability: object, contexts: int) -> FloatArray:
    """Return the probabilities of contexts, after checking them; equal ones if there are none.

    Parameters
    ----------
    probability : array of shape (m,) or None
        The argument ``probability``.
    contexts : int
        Number of contexts m.

    Returns
    -------
    array of shape (m,)

    Raises
    ------
    ArgumentError
        If there is not one number per context, or if they are negative or do not sum to one.
    """
    if probability is None:
        return np.full(contexts, 1.0 / contexts)
    found = check_array("probability", probability, 1)
    if len(found) != contexts:
        raise ArgumentValueError("probability", f"{contexts} numbers, one per context", f"{len(found)}")
    if found.min() < 0 or abs(found.sum() - 1.0) > 1e-9:
        raise ArgumentValueError("probability", "numbers of at least zero that sum to 1", f"a sum of {found.sum():g}")
    return found


def _solved(x: FloatArray, owner: IntArray, p: FloatArray) -> tuple[FloatArray, float, float]:
    """Return joint weights, their smallest eigenvalue and an upper bound; all contexts have a positive probability."""
    dimension = x.shape[1]
    counts = np.bincount(owner)
    weights = (p / counts)[owner]
    singular, directions = np.linalg.svd(np.linalg.qr(x, mode="r"), full_matrices=True)[1:]
    if np.count_nonzero(singular > DEPENDENT * singular[0]) < dimension:
        return weights, 0.0, _upper_bound(x, owner, p, directions[-1:])
    most, direction = _smallest(x, weights)
    best, least = weights, min(_upper_bound(x, owner, p, root) for root in (np.eye(dimension), direction))
    t, parameter = 0.5 * most, most
    while parameter > LEAST_BARRIER * most and least - most > TOLERANCE * most:
        try:
            weights, t, dual_root = _centre(x, owner, weights, t, parameter)
        except np.linalg.LinAlgError:  # t is lost in the rounding errors of the largest eigenvalue
            break
        smallest, direction = _smallest(x, weights)
        if smallest > most:
            best, most = weights, smallest
        # The bounds of every iteration are valid.
        least = min(least, *(_upper_bound(x, owner, p, root) for root in (dual_root, direction)))
        parameter /= SHRINK
    return best, most, least


def _smallest(x: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """Return the smallest eigenvalue of Σ w φφ' and its direction, shape ``(1, d)``.

    Singular values are accurate relative to the root of the largest eigenvalue, so an eigenvalue of 1e-15 is, too.
    """
    singular, directions = np.linalg.svd(np.linalg.qr(np.sqrt(weights)[:, np.newaxis] * x, mode="r"))[1:]
    return float(singular[-1] ** 2), directions[-1:]


def _upper_bound(x: FloatArray, owner: IntArray, p: FloatArray, dual_root: FloatArray) -> float:
    """Return Σ_s p(s) max_a φ'Zφ for Z = R'R / tr(R'R)."""
    value = np.square(x @ dual_root.T).sum(axis=1) / np.square(dual_root).sum()
    most = np.zeros(len(p))
    np.maximum.at(most, owner, value)
    return float(p @ most)


def _centre(
    x: FloatArray, owner: IntArray, weights: FloatArray, t: float, parameter: float
) -> tuple[FloatArray, float, FloatArray]:
    """Minimise −t / m − log det(Σ w φφ' − t I) − Σ log w over w and t, with the sums of w over contexts fixed.

    Returns weights, t, and R with (Σ w φφ' − t I)⁻¹ = R'R. Steps of w are in units of w, as in ``design.py``.
    """
    count, identity = len(x), np.eye(x.shape[1])
    root = np.linalg.cholesky(x.T @ (weights[:, np.newaxis] * x) - t * identity)

    def height(w: FloatArray, level: float, factor: Any) -> float:
        return -level / parameter - 2.0 * float(np.log(np.diagonal(factor)).sum()) - float(np.log(w).sum())

    value = height(weights, t, root)
    for _ in range(50):
        dual_root = solve_triangular(root, identity, lower=True)  # S = R'R
        half = dual_root @ x.T
        products = half.T @ half  # φ'Sφ
        twice = np.square(dual_root.T @ half).sum(axis=0)  # φ'S²φ
        gradient = np.append(-weights * np.diagonal(products) - 1.0, np.square(dual_root).sum() - 1.0 / parameter)
        hessian = np.empty((count + 1, count + 1))
        hessian[:count, :count] = np.square(products) * weights[:, np.newaxis] * weights
        hessian[:count, count] = hessian[count, :count] = -weights * twice
        hessian[count, count] = np.square(dual_root.T @ dual_root).sum()
        diagonal = np.einsum("ii->i", hessian)
        diagonal[:count] += 1.0
        diagonal += count * np.finfo(np.float64).eps * diagonal  # makes up for rounding errors
        scale = 1.0 / np.sqrt(diagonal)
        constraint = np.zeros((count + 1, int(owner[-1]) + 1))
        constraint[np.arange(count), owner] = weights
        try:
            factor = cho_factor(hessian * scale * scale[:, np.newaxis])
            solved = scale[:, np.newaxis] * cho_solve(factor, scale[:, np.newaxis] * np.c_[gradient, constraint])
            schur = constraint.T @ solved[:, 1:]
            step = solved[:, 1:] @ np.linalg.solve(schur, constraint.T @ solved[:, 0]) - solved[:, 0]
        except (LinAlgError, np.linalg.LinAlgError):
            break
        decrement = float(-gradient @ step)
        length = min(1.0, -0.99 / min(float(step[:count].min()), -0.99))
        moved = False
        while length > 1e-8 and not moved:
            w, level = weights * (1.0 + length * step[:count]), t + length * float(step[count])
            try:
                factored = np.linalg.cholesky(x.T @ (w[:, np.newaxis] * x) - level * identity)
                moved = height(w, level, factored) <= value - 0.1 * length * decrement
            except np.linalg.LinAlgError:  # outside the feasible set
                moved = False
            length = length if moved else length / 2.0
        if not moved:
            break
        weights, t, root = w, level, factored
        value = height(weights, t, root)
        if decrement < CENTRED:
            break
    return weights, t, solve_triangular(root, identity, lower=True)
