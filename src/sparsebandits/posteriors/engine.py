"""What every posterior engine has in common, so that an engine's file holds its algorithm alone."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from sparsebandits.checks import FloatArray, check_observations, shown
from sparsebandits.posteriors.draws import Draws
from sparsebandits.randomness import stream
from sparsebandits.tables import Cell, Table


class Sampler(Protocol):
    """What a file of an engine has to hold; :class:`Engine` adds the rest."""

    dimension: int
    chains: int

    def absorb(self, x: FloatArray, y: FloatArray) -> None:
        """Condition on a batch ``(n, d), (n,)`` that has been checked."""

    def draws(self) -> Draws:
        """Return weighted draws of θ."""

    def inclusion(self) -> FloatArray:
        """Return P(γ_j = 1), shape ``(d,)``."""


class Engine:
    """What all engines have in common: checked updates, the mean of the draws, a table for a person, an export."""

    chains = 1  # that the draws come from, one after the other

    def update(self: Sampler, x: object, y: object) -> None:
        """Condition on one observation ``(d,), scalar`` or on a batch ``(n, d), (n,)``."""
        self.absorb(*check_observations(x, y, self.dimension))

    def mean(self: Sampler) -> FloatArray:
        """Return E[θ], shape ``(d,)``."""
        return self.draws().mean()

    def summary(self: Sampler, names: Sequence[str] | None = None) -> Table:
        """Return a row a feature: mean, standard deviation, 95% interval, P(included) and P(positive).

        ``names`` are those of the features. Print the table, or take ``.to_pandas()``.
        """
        features = feature_names(names, self.dimension)
        draws = self.draws()
        mean = draws.mean()
        deviation = np.sqrt(np.maximum(draws.weights @ (draws.theta - mean) ** 2, 0.0))
        low, high = np.quantile(draws.theta, [0.025, 0.975], axis=0, weights=draws.weights, method="inverted_cdf")
        positive = draws.weights @ (draws.theta > 0)
        columns = (mean, deviation, low, high, self.inclusion(), positive)
        rows: list[tuple[Cell, ...]] = [
            (name, *(float(column[j]) for column in columns)) for j, name in enumerate(features)
        ]
        return Table(("feature", "mean", "sd", "2.5%", "97.5%", "P(included)", "P(positive)"), rows)

    def to_xarray(self: Sampler, names: Sequence[str] | None = None) -> Any:
        """Return an ``xarray.Dataset`` with ``theta`` over (chain, draw, feature), as ArviZ reads it.

        Weighted draws are resampled to equal weights first. xarray has to be installed.
        """
        import xarray

        draws, theta = self.draws(), self.draws().theta
        if np.ptp(draws.weights) > 0:
            theta = theta[stream(0).choice(len(draws), size=len(draws), p=draws.weights)]
        return xarray.Dataset(
            {"theta": (("chain", "draw", "feature"), theta.reshape(self.chains, -1, self.dimension))},
            coords={"feature": feature_names(names, self.dimension)},
            attrs={"engine": type(self).__name__},
        )


def feature_names(names: Sequence[str] | None, dimension: int) -> list[str]:
    """Return the names of the features, or their numbers."""
    if names is None:
        return [str(j) for j in range(dimension)]
    if isinstance(names, str) or len(names) != dimension:
        raise ValueError(f"names: expected {dimension} names, one a feature, got {shown(names)}")
    return [str(name) for name in names]
