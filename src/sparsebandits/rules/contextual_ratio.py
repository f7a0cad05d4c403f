"""Minimise the information ratio of a distribution of contexts over maps from contexts to distributions of actions.

Contextual information-directed sampling (Hao, Lattimore and Qin 2022): contexts s come with probabilities p(s), and one
ratio is minimised for all of them,

    (Σ_s p(s) Δ(s)'π(s))^λ / Σ_s p(s) g(s)'π(s),

over maps s → π(s). The ratio D^λ / G is convex in (D, G), and both are sums over contexts. So at the minimum every
context minimises Δ − μ g for one common price μ = D / (λ G) of information. As the price rises, the minimiser of a
context moves from corner to corner of its hull in the plane of gain and regret, along edges of increasing slope dΔ/dg.
Hence the edges of all contexts, sorted by slope, are walked along until the price is reached; the last edge is taken in
part. At most one context randomises, between two actions. The cost is that of sorting all actions.

Where no context has any information to offer, each takes its action of least regret.
"""

from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import LARGEST, ArgumentValueError, FloatArray, IntArray, check_array, check_number
from sparsebandits.rules.ratio import minimise_over_distributions, ratio_at

NORMALISED = 1e-9
"""Distance of a sum of probabilities from one that is rounding."""


@dataclass(frozen=True, eq=False)
class MapMinimiser:
    """Map from contexts to distributions on at most two actions that minimises the ratio.

    Attributes
    ----------
    first, second : int arrays of shape (m,)
        Actions of each context, numbered within it, ``first`` with the smaller regret; equal if there is only one.
    probability : array of shape (m,)
        Probability of ``second``; positive in one context at most.
    regret, gain : float
        D and G, the expected regret and gain of the map.
    ratio : float
        The smallest ratio D^λ / G; zero without regret, infinite with regret and no gain.
    price : float
        μ = D / (λ G): every context minimises Δ − μ g. Infinite if there is regret and no gain.
    """

    first: IntArray
    second: IntArray
    probability: FloatArray
    regret: float
    gain: float
    ratio: float
    price: float


def minimise_over_maps(
    regret: object, gain: object, probability: object = None, starts: object = None, exponent: float = 2.0
) -> MapMinimiser:
    """Return the map from contexts to distributions over actions with the smallest ratio, exactly.

    With one context it is :func:`minimise_over_distributions`.

    Parameters
    ----------
    regret : array of shape (m, K) or (N,)
        Expected regret Δ of each action in each context; with ``starts``, context after context.
    gain : array of shape (m, K) or (N,)
        Information gain of each action in each context.
    probability : array of shape (m,), optional
        Probability of each context; by default all are equally likely.
    starts : int array of shape (m + 1,), optional
        Where the actions of each context start, if contexts have different numbers of them: those of context s are
        ``regret[starts[s]:starts[s + 1]]``.
    exponent : float, default=2.0
        λ, at least 2.

    Returns
    -------
    MapMinimiser
        One or two actions of each context, and the ratio.

    Raises
    ------
    ArgumentError
        If shapes differ, if a number is negative or NaN, if probabilities do not sum to one, if a context has no
        action, or if the exponent is below 2.

    Examples
    --------
    Nothing is to be learnt for the second context, in which an action tells much about the first one:

    >>> found = minimise_over_maps([[1.0, 1.0], [0.0, 1.0]], [[0.0, 0.1], [0.0, 2.0]])
    >>> found.first, found.second, found.probability
    (array([1, 0]), array([1, 1]), array([0. , 0.9]))
    >>> round(found.regret, 9), round(found.gain, 9), round(found.ratio, 9)
    (0.95, 0.95, 0.95)
    """
    from sparsebandits.posteriors.kernels.maps import walk_along_hulls  # compiled code, which not all rules need

    power = check_number("exponent", exponent)
    if not 2 <= power <= LARGEST:
        raise ArgumentValueError("exponent", "a number of at least 2", repr(exponent))
    delta, v, first_of = _checked_actions(regret, gain, starts)
    p = _checked_probability(probability, len(first_of) - 1)
    if len(p) == 1:
        one = minimise_over_distributions(delta, v, power)
        corner, partial, beyond, share = np.array([one.first]), 0, one.second, one.probability
    else:
        corner, partial, beyond = walk_along_hulls(delta, v, first_of, p, power)
        share = 0.0 if partial < 0 else _share(delta, v, p, corner, partial, beyond, power)
        if share == 1.0:  # by rounding
            corner[partial], share = beyond, 0.0
    other, shares = corner.copy(), np.zeros(len(p))
    if share > 0.0:
        other[partial], shares[partial] = beyond, share
    total_regret = float(p @ ((1.0 - shares) * delta[corner] + shares * delta[other]))
    total_gain = float(p @ ((1.0 - shares) * v[corner] + shares * v[other]))
    price = 0.0 if total_regret == 0.0 else np.inf if total_gain == 0.0 else total_regret / (power * total_gain)
    value = 0.0 if total_regret == 0.0 else ratio_at(total_regret, total_gain, power)
    offset = first_of[:-1]
    return MapMinimiser(corner - offset, other - offset, shares, total_regret, total_gain, value, float(price))


def _share(
    delta: FloatArray, v: FloatArray, p: FloatArray, corner: IntArray, partial: int, beyond: int, power: float
) -> float:
    """Return how much of the last edge is taken, from sums that have no rounding of the walk.

    Setting the derivative of (D + q dD)^λ / (G + q dG) to zero gives a linear equation in q.
    """
    here = corner[partial]
    rise, run = p[partial] * (delta[beyond] - delta[here]), p[partial] * (v[beyond] - v[here])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        q = (np.float64(p @ delta[corner]) / rise - power * (np.float64(p @ v[corner]) / run)) / (power - 1.0)
    return float(np.clip(np.nan_to_num(q, nan=0.0), 0.0, 1.0))


def _checked_actions(regret: object, gain: object, starts: object) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return regret and gain of all actions, context after context, and where those of each context start."""
    ndim = 2 if starts is None else 1
    delta, v = (check_array(name, one, ndim, largest=np.inf) for name, one in (("regret", regret), ("gain", gain)))
    if delta.shape != v.shape:
        raise ArgumentValueError("gain", f"the shape of regret, {delta.shape}", f"shape {v.shape}")
    if starts is None:
        bounds = np.arange(delta.shape[0] + 1) * delta.shape[1]
    else:
        found = check_array("starts", starts, 1)
        bounds = found.astype(np.int64)
        if len(bounds) == 0 or bounds[0] != 0 or bounds[-1] != len(delta) or (bounds != found).any():
            raise ArgumentValueError("starts", f"whole numbers from 0 to {len(delta)}", f"{np.asarray(starts)}")
    if len(bounds) < 2 or (np.diff(bounds) < 1).any():
        raise ArgumentValueError("regret" if starts is None else "starts", "an action in each context", "none in some")
    for name, values in (("regret", delta), ("gain", v)):
        if values.min() < 0:
            raise ArgumentValueError(name, "numbers of at least zero", f"{values.min():g}")
    return np.ascontiguousarray(delta).reshape(-1), np.ascontiguousarray(v).reshape(-1), bounds


def _checked_probability(probability: object, contexts: int) -> FloatArray:
    if probability is None:
        return np.full(contexts, 1.0 / contexts)
    found = check_array("probability", probability, 1)
    if len(found) != contexts:
        raise ArgumentValueError("probability", f"{contexts} numbers, one per context", f"{len(found)}")
    if found.min() < 0 or abs(found.sum() - 1.0) > NORMALISED:
        raise ArgumentValueError("probability", "numbers of at least zero that sum to 1", f"a sum of {found.sum():g}")
    return np.ascontiguousarray(found)
