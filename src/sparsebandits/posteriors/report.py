"""What every engine can tell a person: a table of the features, and its draws in the form that other tools read."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from sparsebandits.checks import FloatArray, shown
from sparsebandits.posteriors.draws import Draws
from sparsebandits.randomness import stream
from sparsebandits.tables import Cell, Table


class Reported(Protocol):
    """What an engine has to have for a report."""

    dimension: int
    chains: int

    def draws(self) -> Draws:
        """Return weighted draws of θ."""

    def inclusion(self) -> FloatArray:
        """Return P(γ_j = 1), shape ``(d,)``."""


class Reporting:
    """Adds ``summary`` and ``to_xarray`` to an engine."""

    chains = 1  # that the draws come from, one after the other

    def summary(self: Reported, names: Sequence[str] | None = None) -> Table:
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

    def to_xarray(self: Reported, names: Sequence[str] | None = None) -> Any:
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


def split_r_hat(theta: FloatArray, chains: int) -> FloatArray:
    """Return the split R-hat of each coordinate, shape ``(d,)``: chains that agree have 1 (Gelman et al. 2013)."""
    parts = theta.reshape(chains, -1, theta.shape[1])
    half = parts.shape[1] // 2
    parts = np.concatenate((parts[:, :half], parts[:, half : 2 * half]))
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt((half - 1) / half + between / within)
    return np.where(within > 0, ratio, np.where(between > 0, np.inf, 1.0))


def effective_draws(theta: FloatArray, chains: int) -> FloatArray:
    """Return how many independent draws those of Markov chains are worth, for each coordinate, shape ``(d,)``.

    The autocorrelation is summed over pairs of lags for as long as they are positive (Geyer 1992), with the variance
    between chains in it (Gelman et al. 2013).
    """
    parts = theta.reshape(chains, -1, theta.shape[1])
    length = parts.shape[1]
    centred = parts - parts.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * length, axis=1)
    covariance = np.fft.irfft(spectrum * np.conj(spectrum), axis=1)[:, :length].mean(axis=0) / length
    within = covariance[0] * length / (length - 1)
    between = parts.mean(axis=1).var(axis=0, ddof=1) if chains > 1 else 0.0
    total = within * (length - 1) / length + between
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = 1.0 - (within - covariance * length / (length - 1)) / total
    correlation[0] = 1.0
    pairs = correlation[0 : 2 * (length // 2) : 2] + correlation[1 : 2 * (length // 2) : 2]
    alive = np.cumprod(pairs > 0, axis=0)
    time = np.maximum(2.0 * (pairs * alive).sum(axis=0) - 1.0, 1.0 / np.log10(max(theta.shape[0], 10)))
    return np.asarray(np.where(total > 0, theta.shape[0] / time, theta.shape[0]))
