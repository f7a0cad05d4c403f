"""Random numbers inside compiled kernels: SplitMix64 (Steele, Lea and Flood 2014), whose state is one integer.

Numba's own generator is global, and its normals are slow. Here the state is an argument: an array of one ``uint64``,
seeded from a NumPy generator, so that a kernel is a pure function of its inputs and the same seed gives the same bytes.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.random import Generator
from numpy.typing import NDArray

from sparsebandits.posteriors.kernels.compiled import COMPILED

RandomState = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
SHIFT_30, SHIFT_27, SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
SHIFT_11, SHIFT_12, BYTE = np.uint64(11), np.uint64(12), np.uint64(255)


BINS = 256
LOGITS = np.concatenate(([-np.inf], np.log(np.arange(1, BINS) / np.arange(BINS - 1, 0, -1)), [np.inf]))
"""logit(i / BINS): the logit of a uniform number lies between two of these, so most exponentials are not needed."""


def _ziggurat(layers: int = 256, tail: float = 3.6541528853610088) -> NDArray[np.float64]:
    """Return the right ends of the layers of equal area under exp(−x²/2), the widest first."""
    area = tail * math.exp(-0.5 * tail * tail) + math.sqrt(math.pi / 2.0) * math.erfc(tail / math.sqrt(2.0))
    edges = [area / math.exp(-0.5 * tail * tail), tail]
    while len(edges) < layers:
        height = area / edges[-1] + math.exp(-0.5 * edges[-1] ** 2)
        edges.append(math.sqrt(-2.0 * math.log(height)))
    return np.array([*edges, 0.0])


EDGES = _ziggurat()


def random_state(rng: Generator) -> RandomState:
    """Return a random state for a kernel.

    Parameters
    ----------
    rng : Generator
        The generator that it is drawn from.

    Returns
    -------
    array of one uint64
    """
    return rng.integers(0, 2**64, size=1, dtype=np.uint64)


@njit(inline="always", error_model="numpy")
def mixed(z: Any) -> Any:
    """Return 64 random bits from a counter.

    Parameters
    ----------
    z : uint64
        The counter, which goes up in steps of GOLDEN.

    Returns
    -------
    uint64
    """
    z = (z ^ (z >> SHIFT_30)) * MIX_1
    z = (z ^ (z >> SHIFT_27)) * MIX_2
    return z ^ (z >> SHIFT_31)


@njit(inline="always", error_model="numpy")
def random_bits(state: Any) -> Any:
    """Return 64 random bits.

    Parameters
    ----------
    state : array of one uint64
        The random state, changed in place.

    Returns
    -------
    uint64
    """
    state[0] += GOLDEN
    return mixed(state[0])


@njit(inline="always", error_model="numpy")
def uniform(state: Any) -> Any:
    """Return a uniform number, strictly between 0 and 1.

    Parameters
    ----------
    state : array of one uint64
        The random state, changed in place.

    Returns
    -------
    float
    """
    return (np.float64(random_bits(state) >> SHIFT_12) + 0.5) * (1.0 / 4503599627370496.0)


@njit(**COMPILED)
def _edge(state: Any, layer: int, x: float) -> Any:
    """Return (accepted, normal) for a point outside the core of its layer of the ziggurat, about one in a hundred."""
    if layer == 0:  # the tail (Marsaglia 1964)
        while True:
            beyond = -math.log(uniform(state)) / EDGES[1]
            if -2.0 * math.log(uniform(state)) > beyond * beyond:
                return True, EDGES[1] + beyond if x > 0.0 else -EDGES[1] - beyond
    upper = math.exp(-0.5 * (EDGES[layer] * EDGES[layer] - x * x))
    lower = math.exp(-0.5 * (EDGES[layer + 1] * EDGES[layer + 1] - x * x))
    return lower + uniform(state) * (upper - lower) < 1.0, x


@njit(inline="always", error_model="numpy")
def normal(state: Any) -> Any:
    """Return a standard normal number by a ziggurat of 256 layers (Marsaglia and Tsang 2000; Doornik 2005).

    Parameters
    ----------
    state : array of one uint64
        The random state, changed in place.

    Returns
    -------
    float
    """
    while True:
        bits = random_bits(state)
        layer = np.int64(bits & BYTE)  # the low bits choose the layer, the high ones the position in it
        x = (np.float64(bits >> SHIFT_11) * (2.0 / 9007199254740992.0) - 1.0) * EDGES[layer]
        if abs(x) < EDGES[layer + 1]:
            return x
        accepted, x = _edge(state, layer, x)
        if accepted:
            return x


@njit(**COMPILED)
def binomial(state: Any, n: int, p: float) -> int:
    """Return how many of ``n`` independent events of probability ``p`` happen.

    The events are counted by the gaps between them, which are geometric, at a cost of about n·min(p, 1 − p).

    Parameters
    ----------
    state : array of one uint64
        The random state, changed in place.
    n : int
        The number of events, at least 1.
    p : float
        The probability of each of them.

    Returns
    -------
    int
    """
    rare = min(p, 1.0 - p)
    if n == 1:
        return 1 if uniform(state) < p else 0
    count = 0
    if rare > 0.0:
        scale = 1.0 / math.log1p(-rare) if rare < 1.0 else 0.0
        position = np.floor(math.log(uniform(state)) * scale)  # a float: it may be huge
        while position < n:
            count += 1
            position += 1.0 + np.floor(math.log(uniform(state)) * scale)
    return count if p <= 0.5 else n - count


@njit(inline="always", error_model="numpy")
def happens_in_bin(state: Any, low: Any, log_odds: float) -> bool:
    """Return whether an event happens, given the whole part of BINS times a uniform number.

    The fractional part is drawn only where it matters.

    Parameters
    ----------
    state : array of one uint64
        The random state, changed in place.
    low : int
        The whole part, from 0 to BINS - 1.
    log_odds : float
        The log odds of the event.

    Returns
    -------
    bool
    """
    if log_odds < LOGITS[low]:
        return False
    if log_odds >= LOGITS[low + 1]:
        return True
    return bool((low + uniform(state)) * (1.0 + math.exp(-log_odds)) < BINS)


@njit(inline="always", error_model="numpy")
def happens(state: Any, log_odds: float) -> bool:
    """Return whether an event happens.

    Parameters
    ----------
    state : array of one uint64
        The random state, changed in place.
    log_odds : float
        The log odds of the event.

    Returns
    -------
    bool
    """
    return happens_in_bin(state, np.int64(random_bits(state) & BYTE), log_odds)
