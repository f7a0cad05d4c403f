"""Elementary functions in single precision against those of NumPy, and normals against their distribution."""

from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy import stats

from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors.kernels.compiled import COMPILED
from sparsebandits.posteriors.kernels.elementary import exponential, fill_normals, logarithm
from tests.statistical import assert_means_agree


@njit(**{**COMPILED, "cache": False})  # type: ignore[untyped-decorator]
def fill(x: Any, powers: Any, logs: Any) -> None:
    """Compute powers of e, and their logarithms, in a loop that is compiled as those of the kernels are."""
    for i in range(len(x)):
        powers[i] = exponential(x[i])
        logs[i] = logarithm(powers[i])


def test_functions_are_right_to_single_precision() -> None:
    x = np.linspace(-86.9, 86.9, 200_001).astype(np.float32)
    powers, logs = np.empty_like(x), np.empty_like(x)
    fill(x, powers, logs)
    np.testing.assert_allclose(powers, np.exp(x.astype(np.float64)), rtol=5e-6)
    np.testing.assert_allclose(logs, np.log(powers.astype(np.float64)), rtol=1e-6, atol=1e-6)


def test_an_exponential_does_not_leave_the_numbers() -> None:
    x = np.array([-np.inf, -1e30, -88.0, 88.0, 1e30, np.inf], np.float32)
    powers, logs = np.empty_like(x), np.empty_like(x)
    fill(x, powers, logs)
    np.testing.assert_allclose(powers, np.exp([-87.0] * 3 + [87.0] * 3), rtol=5e-6)


def normals(count: int, seed: int) -> FloatArray:
    """Return normals of both halves, shape ``(2, count)``."""
    found, state = np.empty((2, count), np.float32), np.array([seed], np.uint64)
    fill_normals(found[0], found[1], state)
    return found.astype(np.float64)


def test_normals_are_standard_and_independent() -> None:
    """Moments up to the sixth and products of neighbours; a scale that is off by 0.3% would be seen."""
    count = 2_000_000
    z = normals(count, 7)
    for one in z:
        assert stats.kstest(one[:200_000], "norm").pvalue > 1e-5
    first, second = z
    products = [first * second, first[1:] * first[:-1], second[1:] * first[:-1], (first**2 - 1) * (second**2 - 1)]
    powers = [one**k for one in z for k in range(1, 7)]
    expected = [0.0, 1.0, 0.0, 3.0, 0.0, 15.0] * 2 + [0.0] * len(products)
    found = [*powers, *products]
    means = np.array([one.mean() for one in found])
    errors = np.array([one.std() / np.sqrt(len(one)) for one in found])
    assert_means_agree(means, np.array(expected), errors)
    with pytest.raises(AssertionError, match="z-score"):  # planted: 0.3% too wide
        assert_means_agree(means * 1.003 ** np.r_[np.tile(np.arange(1, 7), 2), 2, 2, 2, 4], np.array(expected), errors)


def test_normals_go_on_where_they_ended() -> None:
    whole, state = normals(100, 3), np.array([3], np.uint64)
    parts = np.empty((2, 100), np.float32)
    for part in (slice(0, 37), slice(37, 100)):
        fill_normals(parts[0, part], parts[1, part], state)
    np.testing.assert_array_equal(parts, whole.astype(np.float32))
