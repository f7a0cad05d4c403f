"""Elementary functions in single precision without branches, so that a loop over an array is vectorised.

The compiler does not vectorise calls of ``math.exp`` and ``math.log``. These use their series on a short interval, and
the exponent of the floating-point number for the rest; they are right to some 1e-6.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import COMPILED
from sparsebandits.posteriors.kernels.inline_random import GOLDEN, mixed

REAL = np.float32
ONE, HALF, TWO = REAL(1.0), REAL(0.5), REAL(2.0)
LARGEST = REAL(87.0)
"""Beyond this exponent, powers of e or their inverses are not normal numbers."""

LOG_2, LOG2_E = REAL(math.log(2.0)), REAL(1.0 / math.log(2.0))
MANTISSA, BIAS = np.int32(23), np.int32(127)
"""Number of bits of the mantissa, and what is added to the exponent."""

ROOT_HALF = np.int32(np.float32(math.sqrt(0.5)).view(np.int32))
UNIT, QUARTER_TURN = REAL(2.0**-24), REAL(math.pi / 2.0)
HALF_TURNS = REAL(math.pi * 2.0**-24)
SHIFT_40, SHIFT_8, BITS_24 = np.uint64(40), np.uint64(8), np.uint64(0xFFFFFF)

E2, E3, E4, E5, E6 = (REAL(1.0 / math.factorial(k)) for k in range(2, 7))
"""Series of the exponential."""

L3, L5, L7, L9 = (REAL(1.0 / k) for k in (3, 5, 7, 9))
"""Series of the inverse hyperbolic tangent: log m = 2 artanh((m − 1) / (m + 1))."""

S3, S5, S7, S9, S11 = (REAL((-1.0) ** (k // 2) / math.factorial(k)) for k in (3, 5, 7, 9, 11))
C2, C4, C6, C8, C10, C12 = (REAL((-1.0) ** (k // 2) / math.factorial(k)) for k in (2, 4, 6, 8, 10, 12))
"""Series of sine and cosine."""


@njit(inline="always", error_model="numpy")
def exponential(x: Any) -> Any:
    """Return e^x: a whole power of two times e^r with |r| ≤ log(2) / 2; the ends are those at x = ±87.

    Parameters
    ----------
    x : float32
        The exponent.

    Returns
    -------
    float32
    """
    x = min(max(x, -LARGEST), LARGEST)
    whole = np.floor(x * LOG2_E + HALF)
    r = x - whole * LOG_2
    power = np.int32((np.int32(whole) + BIAS) << MANTISSA).view(np.float32)
    return power * (ONE + r * (ONE + r * (E2 + r * (E3 + r * (E4 + r * (E5 + r * E6))))))


@njit(inline="always", error_model="numpy")
def logarithm(x: Any) -> Any:
    """Return log x: that of a number between √½ and √2, and whole multiples of log 2.

    Parameters
    ----------
    x : float32
        A positive normal number.

    Returns
    -------
    float32
    """
    bits = REAL(x).view(np.int32)
    exponent = (bits - ROOT_HALF) >> MANTISSA
    m = np.int32(bits - (exponent << MANTISSA)).view(np.float32)
    s = (m - ONE) / (m + ONE)
    z = s * s
    return REAL(exponent) * LOG_2 + TWO * s * (ONE + z * (L3 + z * (L5 + z * (L7 + z * L9))))


@njit(**COMPILED)
def fill_normals(first: Any, second: Any, state: Any) -> None:
    """Fill two arrays with independent standard normals (Box and Muller 1958): a radius and an angle give two.

    Radius and angle have 24 bits each of SplitMix64 at successive counters, so that no normal is larger than 5.9. Sine
    and cosine are those of twice an angle between −π/2 and π/2.

    Parameters
    ----------
    first, second : float32 arrays of the same length
        Set to normals.
    state : array of one uint64
        The random state, changed in place.
    """
    start = state[0]
    for i in range(len(first)):
        bits = mixed(start + np.uint64(i + 1) * GOLDEN)
        uniform = (REAL(np.int32(bits >> SHIFT_40)) + HALF) * UNIT
        half = REAL(np.int32((bits >> SHIFT_8) & BITS_24)) * HALF_TURNS - QUARTER_TURN
        q = half * half
        sine = half * (ONE + q * (S3 + q * (S5 + q * (S7 + q * (S9 + q * S11)))))
        cosine = ONE + q * (C2 + q * (C4 + q * (C6 + q * (C8 + q * (C10 + q * C12)))))
        radius = np.sqrt(-TWO * logarithm(uniform))
        first[i] = radius * (cosine * cosine - sine * sine)
        second[i] = radius * TWO * sine * cosine
    state[0] = start + np.uint64(len(first)) * GOLDEN
