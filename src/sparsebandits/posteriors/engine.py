"""What every posterior engine has in common, so that an engine's file holds its algorithm alone."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from sparsebandits.arguments import (
    ArgumentValueError,
    FloatArray,
    check_columns,
    check_observations,
    column_order,
    shown,
)
from sparsebandits.posteriors.draws import Draws
from sparsebandits.randomness import stream
from sparsebandits.tables import Cell, Table

TIED = "x: features so large and so nearly copies of each other that rounding hides the prior; scale them down"


class Sampler(Protocol):
    """What a file of an engine has to hold; :class:`Engine` adds the rest."""

    dimension: int
    chains: int
    feature_names: tuple[str, ...] | None

    def absorb(self, x: FloatArray, y: FloatArray) -> None:
        """Condition on a batch ``(n, d), (n,)`` that has been checked."""

    def draws(self) -> Draws:
        """Return weighted draws of θ."""

    def inclusion(self) -> FloatArray:
        """Return P(γ_j = 1), shape ``(d,)``."""

    def learnt(self) -> Mapping[str, FloatArray]:
        """Return draws of the hyperparameters, each of shape ``(M,)``, which belong to those of θ."""


class Engine:
    """What all engines have in common: checked updates, the mean of the draws, tables for a person, an export."""

    chains = 1  # that the draws come from, one after the other
    picks_from_draws = True  # as a sampler does; a posterior in closed form draws anew
    feature_names: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        given: Any = self
        noise = given.noise if hasattr(self, "noise") else given.noise_variance
        return (
            f"{type(self).__name__}({given.prior!r}, dimension={given.dimension}, noise_variance={noise!r}, "
            f"n_draws={given.n_draws}; {given.evidence.count} observations)"
        )

    def update(self: Sampler, x: object, y: object) -> None:
        """Condition on one observation ``(d,), scalar`` or on a batch ``(n, d), (n,)``.

        Columns of a DataFrame are matched by name with those of the first one.
        """
        values, names = check_columns("x", x)
        features, rewards = check_observations(values, y, self.dimension)
        if names is not None and self.feature_names not in (None, names):
            features = np.ascontiguousarray(features[:, column_order("x", self.feature_names or (), names)])
        self.absorb(features, rewards)
        self.feature_names = self.feature_names or names

    def mean(self: Sampler) -> FloatArray:
        """Return E[θ], shape ``(d,)``."""
        return self.draws().mean()

    def learnt(self) -> Mapping[str, FloatArray]:
        """Return draws of the hyperparameters that are learnt, by name, each of shape ``(M,)``."""
        return {}

    def summary(self: Sampler, names: Sequence[str] | None = None) -> Table:
        """Return a row a feature: mean, standard deviation, 95% interval, P(included) and P(positive).

        ``names`` are those of the features, by default the columns of the DataFrame they came in. Print the table, or
        take ``.to_pandas()``.
        """
        features = feature_names(self.feature_names if names is None else names, self.dimension)
        draws = self.draws()
        columns = (*moments(draws.theta, draws.weights), self.inclusion(), draws.weights @ (draws.theta > 0))
        rows: list[tuple[Cell, ...]] = [
            (name, *(float(column[j]) for column in columns)) for j, name in enumerate(features)
        ]
        return Table(("feature", "mean", "sd", "2.5%", "97.5%", "P(included)", "P(positive)"), rows)

    def hyperparameters(self: Sampler) -> Table:
        """Return a row a hyperparameter that is learnt: mean, standard deviation and 95% interval."""
        weights = self.draws().weights
        rows: list[tuple[Cell, ...]] = []
        for name, values in self.learnt().items():
            found = moments(values[:, np.newaxis], weights)
            rows.append((name, *(float(column[0]) for column in found)))
        return Table(("hyperparameter", "mean", "sd", "2.5%", "97.5%"), rows)

    def to_xarray(self: Sampler, names: Sequence[str] | None = None) -> Any:
        """Return an ``xarray.Dataset`` as ArviZ reads it: ``theta`` over (chain, draw, feature), and what is learnt.

        Weighted draws are resampled to equal weights first; what they are worth is in ``attrs``. xarray has to be
        installed.
        """
        import xarray

        draws = self.draws()
        rows = np.arange(len(draws))
        if np.ptp(draws.weights) > 0:
            rows = stream(0).choice(len(draws), size=len(draws), p=draws.weights)
        variables: dict[str, Any] = {
            name: (("chain", "draw"), values[rows].reshape(self.chains, -1)) for name, values in self.learnt().items()
        }
        theta = draws.theta[rows].reshape(self.chains, -1, self.dimension)
        variables["theta"] = ("chain", "draw", "feature"), theta
        variables["probability_included"] = ("feature",), np.array(self.inclusion())
        coordinates = {
            "chain": np.arange(self.chains),
            "draw": np.arange(theta.shape[1]),
            "feature": feature_names(self.feature_names if names is None else names, self.dimension),
        }
        worth = draws.effective_sample_size
        return xarray.Dataset(variables, coordinates, {"engine": type(self).__name__, "effective_sample_size": worth})


def moments(values: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return mean, standard deviation and the ends of the 95% interval of each column of weighted rows."""
    mean = weights @ values
    deviation = np.sqrt(np.maximum(weights @ (values - mean) ** 2, 0.0))
    low, high = np.quantile(values, [0.025, 0.975], axis=0, weights=weights, method="inverted_cdf")
    return mean, deviation, low, high


def feature_names(names: Sequence[str] | None, dimension: int) -> list[str]:
    """Return the names of the features, or their numbers."""
    if names is None:
        return [str(j) for j in range(dimension)]
    if isinstance(names, str) or len(names) != dimension or len(set(names)) < dimension:
        raise ArgumentValueError("names", f"{dimension} different names, one a feature", shown(names))
    return [str(name) for name in names]
