"""The restricted minimum eigenvalue of Hao, Lattimore and Deng (2021, appendix), between certified bounds.

    φ²(H, s, L) = min over |S| ≤ s, ‖θ_Sᶜ‖₁ ≤ L‖θ_S‖₁  of  θ'Hθ / ‖θ_S‖₂².

The problem is not convex, so the answer is an interval. H has to be positive semidefinite; then supports of size
exactly s suffice. The ratio at any point of the cone is an upper bound. Lower bounds for one support S are:

1. θ'Hθ ≥ ⟨θ_S, (H_SS − H_SSᶜ (H_SᶜSᶜ + δI)⁻¹ H_SᶜS) θ_S⟩ − δ‖θ_Sᶜ‖₂² for every δ ≥ 0, and in the cone
   ‖θ_Sᶜ‖₂ ≤ L√s ‖θ_S‖₂. So the smallest eigenvalue of that Schur complement minus δL²s is a lower bound.
2. For one pattern of signs on S, scaled to ‖θ_S‖₁ = 1, the cone is a convex set and θ'Hθ a convex function on it. Since
   ‖θ_S‖₂ ≤ ‖θ_S‖₁, its minimum is a lower bound, and exact for s = 1. The Frank–Wolfe gap certifies it.

If there are too many supports to enumerate: with P = (H + δI)⁻¹ the smallest eigenvalue of the Schur complement is at
least 1 / λ_max(P_SS), and λ_max(P_SS) is at most the largest row sum of |P_SS| (Gershgorin).
"""

from itertools import combinations, product
from math import comb
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from sparsebandits.arguments import ArgumentValueError, FloatArray, IntArray, check_count, check_matrix, check_number

MOST_SUPPORTS = 100_000
"""Largest number of supports that are enumerated; beyond it, bounds are computed for all supports at once."""

MOST_CONVEX = 200
"""Largest number of convex programs that are solved, one per support and pattern of signs."""

RIDGES = (0.0, 1e-4, 1e-3, 1e-2, 0.03, 0.1)
"""Values of δ that are tried, relative to the mean eigenvalue."""

BATCH = 4096
"""Number of supports whose Schur complements are computed at once."""


class Bounds(NamedTuple):
    """An interval that contains the true value.

    Parameters
    ----------
    lower, upper : float
        Its ends.
    """

    lower: float
    upper: float


def restricted_eigenvalue(H: object, sparsity: int, L: float = 3.0) -> Bounds:  # noqa: N803
    """Return certified bounds on φ²(H, s, L); they often agree if the supports can be enumerated.

    Parameters
    ----------
    H : array of shape (d, d)
        A symmetric positive semidefinite matrix, such as E[aa'].
    sparsity : int
        Size of the support s, from 1 to d.
    L : float, default=3.0
        The 1-norm of θ outside of its support is at most L times that inside.

    Returns
    -------
    Bounds

    Raises
    ------
    ArgumentValueError
        If the matrix is not symmetric and positive semidefinite.

    Examples
    --------
    >>> lower, upper = restricted_eigenvalue([[1.0, 0.9], [0.9, 1.0]], sparsity=1, L=0.5)
    >>> round(lower, 6), round(upper, 6)  # at θ = (1, −0.5)
    (0.35, 0.35)
    """
    matrix = check_matrix("H", H)
    if matrix.shape[0] != matrix.shape[1] or not np.allclose(
        matrix, matrix.T, rtol=0, atol=1e-10 * np.abs(matrix).max()
    ):
        raise ArgumentValueError("H", "a symmetric matrix", f"one of shape {matrix.shape} that is not")
    dimension = len(matrix)
    if check_count("sparsity", sparsity) > dimension:
        raise ArgumentValueError("sparsity", f"at most the dimension ({dimension})", f"{sparsity}")
    cone = check_number("L", L)
    if cone < 0:
        raise ArgumentValueError("L", "a number of at least zero", repr(L))
    matrix = (matrix + matrix.T) / 2.0
    values = np.linalg.eigvalsh(matrix)
    rounding = dimension * float(np.finfo(np.float64).eps) * max(float(values[-1]), 0.0)
    if values[0] < -1e3 * rounding - 1e-300:
        raise ArgumentValueError("H", "a positive semidefinite matrix", f"one with the eigenvalue {values[0]:g}")
    if values[-1] <= 0.0:  # the matrix is zero
        return Bounds(0.0, 0.0)
    with threadpool_limits(limits=1, user_api="blas"):  # with several threads on a busy machine it took minutes
        if comb(dimension, sparsity) <= MOST_SUPPORTS:
            bounds = _enumerated(matrix, sparsity, cone)
        else:
            bounds = relaxed_bounds(matrix, sparsity, cone)
    lower = max(max(bounds.lower, float(values[0])) - rounding, 0.0)
    return Bounds(lower, max(bounds.upper, lower))


def _enumerated(matrix: FloatArray, sparsity: int, cone: float) -> Bounds:
    """Take the smallest lower bound over supports, and the best point found among them."""
    dimension = len(matrix)
    supports = np.array(list(combinations(range(dimension), sparsity)), dtype=np.intp)
    lower, upper = np.empty(len(supports)), np.inf
    for start in range(0, len(supports), BATCH):
        batch = supports[start : start + BATCH]
        lower[start : start + BATCH] = _by_schur_complement(matrix, batch, cone)
    # Points are sought where the lower bound is smallest: on every other support the ratio is at least a larger one.
    order = np.argsort(lower, kind="stable")
    for i in order[:50]:
        upper = min(upper, _ratio(matrix, _unconstrained(matrix, supports[i]), sparsity, cone))
    programs = 2 ** (sparsity - 1)  # one per pattern of signs; too many to list if s is large
    settled, patterns = np.inf, list(product((1.0, -1.0), repeat=sparsity - 1)) if programs <= MOST_CONVEX else []
    for i in order[: MOST_CONVEX // programs]:
        if min(settled, upper * (1.0 - 1e-9)) <= lower[i]:  # the smallest lower bound cannot be improved any more
            break
        smallest = np.inf
        for signs in patterns:
            certified, point = _convex(matrix, supports[i], np.array((1.0, *signs)), cone)
            smallest = min(smallest, certified)
            upper = min(upper, _ratio(matrix, point, sparsity, cone))
        lower[i] = max(lower[i], smallest)
        settled = min(settled, lower[i])
    return Bounds(float(lower.min()), float(upper))


def _by_schur_complement(matrix: FloatArray, supports: IntArray, cone: float) -> FloatArray:
    """Return the first lower bound for each support, with the best δ among a few."""
    dimension, sparsity = len(matrix), supports.shape[1]
    inside = matrix[supports[:, :, np.newaxis], supports[:, np.newaxis, :]]
    best = np.zeros(len(supports))
    if sparsity == dimension:
        return np.asarray(np.maximum(best, np.linalg.eigvalsh(inside)[:, 0]))
    scale = float(np.trace(matrix)) / dimension
    for ridge in RIDGES:
        if ridge == 0.0:
            if np.linalg.eigvalsh(matrix)[0] <= 1e-10 * scale:
                continue
            inverse = np.linalg.inv(matrix)
            block = inverse[supports[:, :, np.newaxis], supports[:, np.newaxis, :]]
            bound = 1.0 / np.linalg.eigvalsh(block)[:, -1]  # the Schur complement is the block's inverse
        else:
            delta = ridge * scale
            # The Schur complement of H + δI is H_SS + δI − …, which has δI too much.
            inverse = np.linalg.inv(matrix + delta * np.eye(dimension))
            block = inverse[supports[:, :, np.newaxis], supports[:, np.newaxis, :]]
            bound = 1.0 / np.linalg.eigvalsh(block)[:, -1] - delta - delta * cone**2 * sparsity
        best = np.maximum(best, bound)
    return best


def relaxed_bounds(matrix: FloatArray, sparsity: int, cone: float) -> Bounds:
    """Return bounds for all supports at once: lower ones from row sums, upper ones from points near the largest sums.

    Parameters
    ----------
    matrix : array of shape (d, d)
        The matrix H, symmetric and positive semidefinite.
    sparsity : int
        Size of the support s.
    cone : float
        The constant L of the cone.

    Returns
    -------
    Bounds
    """
    dimension = len(matrix)
    scale = float(np.trace(matrix)) / dimension
    lower, upper = 0.0, np.inf
    for ridge in RIDGES:
        delta = ridge * scale
        regular = matrix + delta * np.eye(dimension)
        if np.linalg.eigvalsh(regular)[0] <= 1e-10 * scale:
            continue
        size = np.abs(np.linalg.inv(regular))
        others = np.sort(size - np.diag(np.diagonal(size)), axis=1)[:, ::-1]
        sums = np.diagonal(size) + others[:, : sparsity - 1].sum(axis=1)
        lower = max(lower, 1.0 / float(sums.max()) - delta * (1.0 + cone**2 * sparsity))
        for row in np.argsort(-sums, kind="stable")[:20]:
            support = np.sort(np.argsort(-np.where(np.arange(dimension) == row, np.inf, size[row]))[:sparsity])
            upper = min(upper, _ratio(matrix, _unconstrained(matrix, support), sparsity, cone))
    flattest = np.linalg.eigh(matrix)[1][:, 0]
    return Bounds(lower, min(upper, _ratio(matrix, flattest, sparsity, cone), float(np.diagonal(matrix).min())))


def _unconstrained(matrix: FloatArray, support: IntArray) -> FloatArray:
    """Return the minimiser of θ'Hθ / ‖θ_S‖₂² over all θ, inside the cone or not."""
    outside = np.setdiff1d(np.arange(len(matrix)), support)
    answer = np.linalg.pinv(matrix[np.ix_(outside, outside)], hermitian=True) @ matrix[np.ix_(outside, support)]
    schur = matrix[np.ix_(support, support)] - matrix[np.ix_(support, outside)] @ answer
    theta = np.zeros(len(matrix))
    theta[support] = np.linalg.eigh((schur + schur.T) / 2.0)[1][:, 0]
    theta[outside] = -answer @ theta[support]
    return theta


def _ratio(matrix: FloatArray, theta: FloatArray, sparsity: int, cone: float) -> float:
    """Return θ'Hθ / ‖θ_S‖₂² for the s largest coordinates S, after shrinking the others into the cone."""
    largest = np.argsort(-np.abs(theta), kind="stable")[:sparsity]
    inside = np.zeros_like(theta)
    inside[largest] = theta[largest]
    outside = theta - inside
    room, need = cone * float(np.abs(inside).sum()), float(np.abs(outside).sum())
    if need > room:
        outside *= room / need
    point = inside + outside
    return float(point @ matrix @ point / (inside @ inside))


def _convex(matrix: FloatArray, support: IntArray, signs: FloatArray, cone: float) -> tuple[float, FloatArray]:
    """Minimise θ'Hθ over sign(θ_S) = signs, ‖θ_S‖₁ = 1, ‖θ_Sᶜ‖₁ ≤ L; return a certified lower bound and the point.

    Accelerated projected gradients (Beck and Teboulle 2009); the lower bound is f(θ) minus the Frank–Wolfe gap.
    """
    outside = np.setdiff1d(np.arange(len(matrix)), support)
    order = np.concatenate((support, outside))
    turned = np.concatenate((signs, np.ones(len(outside))))
    h = matrix[np.ix_(order, order)] * turned * turned[:, np.newaxis]
    size = len(support)
    step = 1.0 / max(2.0 * float(np.linalg.eigvalsh(h)[-1]), 1e-300)
    point = np.concatenate((np.full(size, 1.0 / size), np.zeros(len(outside))))
    ahead, momentum, lower = point, 1.0, -np.inf
    for _ in range(1000):
        moved = ahead - step * 2.0 * (h @ ahead)
        new = np.concatenate((_onto_simplex(moved[:size], 1.0), _onto_ball(moved[size:], cone)))
        gradient = 2.0 * (h @ new)
        least = float(gradient[:size].min()) - cone * float(np.abs(gradient[size:]).max(initial=0.0))
        value = float(new @ h @ new)
        lower = max(lower, value - float(gradient @ new) + least)
        if value - lower <= 1e-10 * max(value, 1e-300):
            point = new
            break
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = new + (momentum - 1.0) / following * (new - point)
        point, momentum = new, following
    theta = np.zeros(len(matrix))
    theta[order] = turned * point
    return lower, theta


def _onto_simplex(vector: FloatArray, total: float) -> FloatArray:
    """Return the nearest point with non-negative entries that sum to ``total`` (Duchi et al. 2008)."""
    falling = np.sort(vector)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(vector) + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]] if total > 0 else falling[0]
    return np.asarray(np.maximum(vector - shift, 0.0))


def _onto_ball(vector: FloatArray, radius: float) -> FloatArray:
    """Return the nearest point whose 1-norm is at most ``radius``."""
    if np.abs(vector).sum() <= radius:
        return vector
    return np.sign(vector) * _onto_simplex(np.abs(vector), radius)
