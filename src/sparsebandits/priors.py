"""Prior distributions of θ: densities and draws, nothing of data. Frozen, so that they can be shared."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebandits.checks import LARGEST, FloatArray, check_array, check_vector, shown


def check_per_coordinate(name: str, value: object, positive: bool) -> float | FloatArray:
    """Require one number for all coordinates, or a vector with one for each."""
    array = check_array(name, value)
    if array.ndim > 1 or array.size == 0:
        raise ValueError(f"{name}: expected one number or one a coordinate, got shape {array.shape}")
    if positive and not (array >= 1 / LARGEST).all():
        raise ValueError(f"{name}: expected positive numbers (at least {1 / LARGEST:g}), got {shown(value)}")
    if array.ndim == 0:
        return float(array)
    array = array.copy()
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class GaussianPrior:
    """θ_j ~ N(mean_j, variance_j), independent. ``variance`` and ``mean`` are one number or one a coordinate.

    >>> GaussianPrior(variance=0.01)
    GaussianPrior(variance=0.01, mean=0.0)
    """

    variance: Any = 1.0
    mean: Any = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", check_per_coordinate("variance", self.variance, positive=True))
        object.__setattr__(self, "mean", check_per_coordinate("mean", self.mean, positive=False))

    def moments(self, dimension: int) -> tuple[FloatArray, FloatArray]:
        """Return mean ``(d,)`` and variance ``(d,)``; refuse a prior that was made for another dimension."""
        vectors = []
        for name, value in (("mean", self.mean), ("variance", self.variance)):
            given = np.full(dimension, value) if np.ndim(value) == 0 else value
            vectors.append(check_vector(f"prior.{name}", given, dimension))
        return vectors[0], vectors[1]
