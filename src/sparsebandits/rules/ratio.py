"""Minimise the information ratio Ψ_λ(π) = (Δ'π)^λ / v'π over actions or over distributions.

Eq. (2) and Algorithm 2 of Hao, Lattimore and Deng (2021); for λ = 2, Russo and Van Roy (2018). Regret and gain are
plain arrays here, whatever they were computed from.

The ratio of a distribution depends on the point (Δ'π, v'π) alone, which ranges over the convex hull of the points
(Δ_a, v_a). It grows with regret and falls with gain, so its minimum lies on the hull's upper left boundary, on one
edge between two actions. Along an edge the minimiser has a closed form, so the exact minimum over all
distributions costs a sort, not a search over K² pairs.

Zeros: an action with zero regret is chosen outright (of several, the most informative); an action without
information and with regret has ratio +∞; if no action is informative, the one with the smallest regret is chosen.
"""

import math
from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import LARGEST, ArgumentValueError, FloatArray, IntArray, check_array, check_number


@dataclass(frozen=True)
class Minimiser:
    """Distribution on at most two actions that minimises the ratio.

    Attributes
    ----------
    first, second : int
        The two actions, ``first`` with the smaller regret; equal if there is only one.
    probability : float
        Probability of ``second``; zero if there is only one action.
    ratio : float
        The smallest ratio.
    """

    first: int
    second: int
    probability: float
    ratio: float


def ratios(regret: FloatArray, gain: FloatArray, exponent: float = 2.0) -> FloatArray:
    """Return Ψ_λ of each action: zero without regret, infinite with regret and no gain.

    Parameters
    ----------
    regret : array of shape (K,)
        Expected regret Δ of each action.
    gain : array of shape (K,)
        Information gain v of each action.
    exponent : float, default=2.0
        λ.

    Returns
    -------
    array of shape (K,)
        Ratio of each action.

    Examples
    --------
    >>> import numpy as np
    >>> ratios(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.0, 8.0]))
    array([0. , inf, 0.5])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        values = np.where(regret > 0, regret**exponent / gain, 0.0)
    return np.asarray(np.where((regret > 0) & (gain <= 0), np.inf, values), dtype=np.float64)


def minimise_over_actions(regret: object, gain: object, exponent: float = 2.0) -> Minimiser:
    """Return the action with the smallest ratio (Algorithm 2 of the paper); ties go to the lower row.

    Parameters
    ----------
    regret : array of shape (K,)
        Expected regret Δ of each action.
    gain : array of shape (K,)
        Information gain v of each action.
    exponent : float, default=2.0
        λ, at least 2.

    Returns
    -------
    Minimiser
        One action and its ratio.

    Raises
    ------
    ArgumentError
        If lengths differ, if a number is negative or NaN, or if the exponent is below 2.

    Examples
    --------
    >>> minimise_over_actions([1.0, 2.0], [1.0, 8.0])
    Minimiser(first=1, second=1, probability=0.0, ratio=0.5)
    """
    delta, v, power = _checked(regret, gain, exponent)
    settled = _zero_case(delta, v)
    if settled is not None:
        return settled
    best = int(np.argmin(_log_ratios(delta, v, power)))
    return Minimiser(best, best, 0.0, ratio_at(float(delta[best]), float(v[best]), power))


def minimise_over_distributions(regret: object, gain: object, exponent: float = 2.0) -> Minimiser:
    """Return the distribution over actions with the smallest ratio, exactly.

    Parameters
    ----------
    regret : array of shape (K,)
        Expected regret Δ of each action.
    gain : array of shape (K,)
        Information gain v of each action.
    exponent : float, default=2.0
        λ, at least 2.

    Returns
    -------
    Minimiser
        One or two actions, the probability of the second, and the ratio.

    Raises
    ------
    ArgumentError
        If lengths differ, if a number is negative or NaN, or if the exponent is below 2.

    Examples
    --------
    >>> found = minimise_over_distributions([1.0, 3.0], [0.0, 8.0])
    >>> found.first, found.second, round(found.probability, 9), round(found.ratio, 9)
    (0, 1, 0.5, 1.0)
    """
    delta, v, power = _checked(regret, gain, exponent)
    settled = _zero_case(delta, v)
    if settled is not None:
        return settled
    corners = _upper_left_hull(delta, v)
    first, second = (corners[:-1], corners[1:]) if len(corners) > 1 else (corners, corners)
    x, y, dx, dy = delta[first], v[first], delta[second] - delta[first], v[second] - v[first]
    # Setting the derivative of (x + q dx)^λ / (y + q dy) to zero gives a linear equation in q.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        q = (x / dx - power * (y / dy)) / (power - 1.0)
    q = np.clip(np.nan_to_num(q, nan=0.0), 0.0, 1.0)
    edge = int(np.argmin(_log_ratios(x + q * dx, y + q * dy, power)))
    i, j, share = int(first[edge]), int(second[edge]), float(q[edge])
    if share == 0.0 or i == j:
        j, share = i, 0.0
    elif share == 1.0:
        i, share = j, 0.0
    mixed = (1.0 - share) * delta[i] + share * delta[j], (1.0 - share) * v[i] + share * v[j]
    return Minimiser(i, j, share, ratio_at(float(mixed[0]), float(mixed[1]), power))


def _checked(regret: object, gain: object, exponent: float) -> tuple[FloatArray, FloatArray, float]:
    delta, v = _vector("regret", regret), _vector("gain", gain)
    if len(delta) == 0 or len(delta) != len(v):
        raise ArgumentValueError("gain", f"one number per action, like regret ({len(delta)})", f"{len(v)}")
    for name, values in (("regret", delta), ("gain", v)):
        if values.min() < 0:
            raise ArgumentValueError(name, "numbers of at least zero", f"{values.min():g}")
    power = exponent if type(exponent) is float else check_number("exponent", exponent)
    if not 2 <= power <= LARGEST:
        raise ArgumentValueError("exponent", "a number of at least 2", repr(exponent))
    return delta, v, power


def _vector(name: str, values: object) -> FloatArray:
    """Require a vector without NaN; one that is already a float vector is scanned only once."""
    own = type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 1 and len(values) > 0
    if own and values.min() >= 0:  # type: ignore[attr-defined]  # false for NaN
        return values  # type: ignore[return-value]
    return check_array(name, values, 1, largest=np.inf)


def _zero_case(delta: FloatArray, v: FloatArray) -> Minimiser | None:
    """Return the choice where the smallest ratio is zero or undefined, otherwise None."""
    free = np.flatnonzero(delta == 0)
    if len(free):
        best = int(free[np.argmax(v[free])])
        return Minimiser(best, best, 0.0, 0.0)
    if v.max() == 0:
        best = int(np.argmin(delta))
        return Minimiser(best, best, 0.0, float("inf"))
    return None


def _upper_left_hull(delta: FloatArray, v: FloatArray) -> IntArray:
    """Return the corners of the concave envelope of gain over regret, in increasing order of both."""
    order = np.lexsort((-v, delta))
    best_before = np.maximum.accumulate(np.concatenate(([-1.0], v[order][:-1])))
    candidates = order[v[order] > best_before].tolist()  # no action has less regret and as much gain
    corners: list[int] = []
    for c in candidates:
        while len(corners) >= 2:
            a, b = corners[-2], corners[-1]
            if (v[b] - v[a]) / (delta[b] - delta[a]) > (v[c] - v[a]) / (delta[c] - delta[a]):
                break
            corners.pop()
        corners.append(c)
    return np.array(corners, dtype=np.intp)


def _log_ratios(delta: FloatArray, v: FloatArray, power: float) -> FloatArray:
    """Return log Ψ for positive regret; powers of tiny and huge numbers would leave the range of floats."""
    with np.errstate(divide="ignore"):
        return np.asarray(power * np.log(delta) - np.log(v))


def ratio_at(delta: float, v: float, power: float) -> float:
    """Return Ψ_λ at positive regret.

    Parameters
    ----------
    delta, v, power : float
        Regret, gain and λ.

    Returns
    -------
    float
        The ratio; infinite without gain, and where it would overflow.
    """
    try:
        return delta**power / v if v > 0 else math.inf
    except OverflowError:
        return math.inf
