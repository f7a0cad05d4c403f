"""What one thread of this machine can do at most: multiply-adds, bytes and random numbers a second.

Each rate is the best of several tries of the fastest way that is known here, by processor time: a limit, not a mean.
"""

import math
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from numba import njit
from numpy.random import PCG64, SFC64, Generator

from benchmarks.section import Figures
from sparsebandits.posteriors.kernels.inline_random import GOLDEN, mixed, normal

LEVELS = {"L2": 400_000, "L3": 8_000_000, "memory": 400_000_000}
"""Bytes of arrays that fit a level of the memory: the second is that of 10,000 draws of 100 coefficients."""

EXPONENTIAL = 12
"""Multiply-adds of an exponential or a logarithm in double precision: a polynomial of about this degree."""

TRIES, LEAST_SECONDS = 5, 0.02


@njit(fastmath=True, error_model="numpy")
def total(values: Any) -> Any:
    """Return the sum: one addition a number, so that reading is what takes time."""
    found = 0.0
    for i in range(len(values)):
        found += values[i]
    return found


@njit(error_model="numpy")
def fill_bits(bits: Any, start: Any) -> None:
    """Fill with random integers of 64 bits; each depends on its place alone, so that several are made at a time."""
    for i in range(len(bits)):
        bits[i] = mixed(start + np.uint64(i + 1) * GOLDEN)


@njit(error_model="numpy")
def fill_normals(normals: Any, state: Any) -> None:
    """Fill with the normals of our kernels."""
    for i in range(len(normals)):
        normals[i] = normal(state)


@njit(error_model="numpy")
def fill_uniform_pairs(first: Any, angle: Any, start: Any) -> None:
    """Fill uniform numbers in (0, 1) and angles in [0, 2π), of 24 bits each."""
    for i in range(len(first)):
        z = mixed(start + np.uint64(i + 1) * GOLDEN)
        first[i] = (np.float32(np.int32(z >> np.uint64(40))) + np.float32(0.5)) * np.float32(2.0**-24)
        angle[i] = np.float32(np.int32((z >> np.uint64(8)) & np.uint64(0xFFFFFF))) * np.float32(math.pi * 2.0**-23)


def rate(action: Callable[[], object], amount: float) -> float:
    """Return the largest amount a second over some tries, each long enough for the clock."""
    action()  # compiles, fills the caches
    best, times = math.inf, 1
    for _ in range(TRIES):
        while True:
            begun = process_time()
            for _ in range(times):
                action()
            seconds = process_time() - begun
            if seconds >= LEAST_SECONDS:
                break
            times *= 2
        best = min(best, seconds / times)
    return amount / best


def multiply_adds(dtype: Any) -> float:
    """Return multiply-adds a second: of matrix products that stay in the cache."""
    rates = []
    for n in (96, 192, 384, 768):
        a, b, out = np.ones((n, n), dtype), np.ones((n, n), dtype), np.empty((n, n), dtype)
        rates.append(rate(lambda: np.matmul(a, b, out=out), n**3))  # noqa: B023 (run at once)
    return max(rates)


def bandwidth(size: int) -> float:
    """Return bytes a second that are read from an array of ``size`` bytes."""
    values = np.ones(size // 8)
    return rate(lambda: total(values), size)


def random_rates(size: int = 4096) -> Figures:
    """Return random integers of 64 bits, normals in double and normals in single precision a second."""
    fast, usual = Generator(SFC64(0)), Generator(PCG64(0))
    bits, double, single = np.empty(size, np.uint64), np.empty(size), np.empty(size, np.float32)
    state = np.zeros(1, np.uint64)
    first, angle = np.empty(size // 2, np.float32), np.empty(size // 2, np.float32)

    def box_muller() -> None:
        fill_uniform_pairs(first, angle, np.uint64(0))
        np.sqrt(np.multiply(np.log(first, out=first), np.float32(-2.0), out=first), out=first)
        np.multiply(np.cos(angle, out=single[: size // 2]), first, out=single[: size // 2])
        np.multiply(np.sin(angle, out=single[size // 2 :]), first, out=single[size // 2 :])

    normals = max(
        rate(lambda: fast.standard_normal(out=double), size),
        rate(lambda: usual.standard_normal(out=double), size),
        rate(lambda: fill_normals(double, state), size),
    )
    return {
        "bits": max(
            rate(lambda: fill_bits(bits, np.uint64(0)), size),
            rate(lambda: fast.bit_generator.random_raw(size), size),
        ),
        "normals": normals,
        "normals_single": max(
            normals,
            rate(lambda: fast.standard_normal(dtype=np.float32, out=single), size),
            rate(box_muller, size),
        ),
    }


def machine(quick: bool) -> Figures:
    """Return all rates, a second."""
    levels = {level: size for level, size in LEVELS.items() if not quick or level != "memory"}
    return {
        "multiply_adds": multiply_adds(np.float64),
        "multiply_adds_single": multiply_adds(np.float32),
        "bytes": {level: bandwidth(size) for level, size in levels.items()},
        **random_rates(),
    }
