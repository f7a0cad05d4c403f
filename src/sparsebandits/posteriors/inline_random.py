"""Random numbers inside compiled kernels: SplitMix64 (Steele, Lea and Flood 2014), whose state is one integer.

Numba's own generator is global and slow at normals. Here the state is an argument: an array of one ``uint64``, seeded
from a NumPy generator, so that a kernel is a pure function of its inputs and the same seed gives the same bytes.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.random import Generator
from numpy.typing import NDArray

RandomState = NDArray[np.uint64]

COMPILED: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"reassoc", "contract"}}

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
SHIFT_30, SHIFT_27, SHIFT_31, SHIFT_11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


BINS = 256
LOGITS = np.concatenate(([-np.inf], np.log(np.arange(1, BINS) / np.arange(BINS - 1, 0, -1)), [np.inf]))
"""logit(i / BINS): between two of them lies the logit of a uniform number, which spares most exponentials."""


def random_state(rng: Generator) -> RandomState:
    """Return a state for a kernel, drawn from ``rng``."""
    return rng.integers(0, 2**64, size=1, dtype=np.uint64)


@njit(inline="always", error_model="numpy")
def uniform(state: Any) -> Any:
    """Return a uniform number, strictly between 0 and 1."""
    state[0] += GOLDEN
    z = state[0]
    z = (z ^ (z >> SHIFT_30)) * MIX_1
    z = (z ^ (z >> SHIFT_27)) * MIX_2
    z = z ^ (z >> SHIFT_31)
    return (np.float64(z >> SHIFT_11) + 0.5) * (1.0 / 9007199254740992.0)


@njit(inline="always", error_model="numpy")
def normal(state: Any) -> Any:
    """Return a standard normal number (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(uniform(state)))
    return radius * math.cos(2.0 * math.pi * uniform(state))


@njit(**COMPILED)
def binomial(state: Any, n: int, p: float) -> int:
    """Return how many of ``n`` independent events of probability ``p`` happen, at a cost of about n·min(p, 1 − p).

    The events are counted by the gaps between them, which are geometric.
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


@njit(**COMPILED)
def happens(state: Any, log_odds: float) -> bool:
    """Return whether an event with these log odds happens."""
    u = uniform(state)
    low = int(u * BINS)
    if log_odds < LOGITS[low]:
        return False
    if log_odds >= LOGITS[low + 1]:
        return True
    return bool(u * (1.0 + math.exp(-log_odds)) < 1.0)
