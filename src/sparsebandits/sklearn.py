"""Sparse Bayesian linear regression as a scikit-learn estimator, on the posterior engines.

Columns and target are centred and scaled by the first data that the estimator sees, so that one prior fits data in any
units: slab N(0, 1), inclusion Beta(1, d) and an inverse gamma noise variance, all on that scale. ``coef_``, ``summary``
and predictions are in the units of the data.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from sparsebandits.arguments import (
    KINDS,
    LARGEST,
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_choice,
    shown,
)
from sparsebandits.model.priors import BetaInclusion, InverseGammaNoise, PointMass, Spike, SpikeSlab
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.gibbs import Gibbs
from sparsebandits.posteriors.particles import Particles
from sparsebandits.tables import Rows

ENGINES: dict[str, Any] = {"particles": Particles, "gibbs": Gibbs}
PROBABILITIES = ("P(included)", "P(positive)")


class SpikeSlabRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Linear regression in which few features matter.

    ``inclusion_`` says which ones do: a feature with a probability above 0.5 is more likely to matter than not, and the
    features above 0.5 are the median probability model of Barbieri and Berger (2004). Features that are nearly copies
    of each other share the probability among them. The number of features that matter and the noise variance are
    estimated, unless they are given.

    Parameters
    ----------
    inclusion : float, array of shape (d,) or BetaInclusion, optional
        Prior probability that a feature matters. By default Beta(1, d): about one of the d features is expected to
        matter, and the data may say otherwise.
    slab_variance : float, default=1.0
        Prior variance of the coefficients that matter, on the standardised scale.
    spike : PointMass, LaplaceSpike or GaussianSpike, optional
        Prior distribution of the other coefficients. By default ``PointMass()``: they are exactly zero.
    noise_variance : float or InverseGammaNoise, optional
        Noise variance on the standardised scale. By default it is estimated under ``InverseGammaNoise(1, 0.05)``,
        which after n rows keeps it above about 0.1 / n of the variance of the target.
    engine : {"particles", "gibbs"}, default="particles"
        "particles" learns row by row and suits ``partial_fit``; "gibbs" runs chains.
    n_draws : int, default=2000
        Number of posterior draws.
    random_state : int, RandomState or None, default=None
        The seed, as in scikit-learn: an integer gives the same numbers on every run.

    Attributes
    ----------
    coef_ : array of shape (d,)
        Posterior means of the coefficients, in the units of the data.
    intercept_ : float
        Posterior mean of the intercept, in the units of the data.
    inclusion_ : array of shape (d,)
        Posterior probability that each feature matters.
    posterior_ : Particles or Gibbs
        The engine, on the standardised scale. Constant columns are distributed there as in the prior.

    Notes
    -----
    A column that has been constant so far carries no information: its coefficient and its inclusion are 0.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 10))
    >>> y = 3 * X[:, 0] + 2 * X[:, 1] + rng.standard_normal(200)
    >>> model = SpikeSlabRegressor(random_state=0).fit(X, y)
    >>> (model.inclusion_ > 0.5).nonzero()[0], model.coef_[:2].round(0)
    (array([0, 1]), array([3., 2.]))
    >>> [row["feature"] for row in model.summary()[:2]]
    ['0', '1']
    """

    def __init__(
        self,
        inclusion: "float | FloatArray | BetaInclusion | None" = None,
        slab_variance: float = 1.0,
        spike: Spike | None = None,
        noise_variance: float | InverseGammaNoise | None = None,
        engine: str = "particles",
        n_draws: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.inclusion = inclusion
        self.slab_variance = slab_variance
        self.spike = spike
        self.noise_variance = noise_variance
        self.engine = engine
        self.n_draws = n_draws
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Learn from data; what was learned before is forgotten.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            The features, one row per observation.
        y : array of shape (n,)
            The target.

        Returns
        -------
        SpikeSlabRegressor
            The estimator itself.
        """
        features, target = validate_data(self, X, _numeric(y), dtype=np.float64, y_numeric=True)
        self._start(features, target)
        return self._learn(features, target)

    def partial_fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Learn from further data.

        Centre and scale stay those of the first data, which should therefore be some dozens of rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            The features, one row per observation.
        y : array of shape (n,)
            The target.

        Returns
        -------
        SpikeSlabRegressor
            The estimator itself.
        """
        first = not hasattr(self, "posterior_")
        features, target = validate_data(self, X, _numeric(y), dtype=np.float64, y_numeric=True, reset=first)
        if first:
            self._start(features, target)
        return self._learn(features, target)

    def predict(self, X: Any, return_std: bool = False) -> Any:  # noqa: N803
        """Predict the target of new rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            The features, one row per observation.
        return_std : bool, default=False
            Whether to return the standard deviation as well.

        Returns
        -------
        mean : array of shape (n,)
            Posterior mean of the target of each row.
        std : array of shape (n,)
            Its standard deviation, noise included; only if ``return_std`` is true.
        """
        check_is_fitted(self)
        features = validate_data(self, X, dtype=np.float64, reset=False)
        mean = features @ self.coef_ + self.intercept_
        if not return_std:
            return mean
        draws: Draws = self.posterior_.draws()
        predictions = (np.where(self._varies, features - self._centre, 0.0) / self._scale) @ draws.theta.T
        variance = (predictions - (predictions @ draws.weights)[:, np.newaxis]) ** 2 @ draws.weights
        return mean, self._target_scale * np.sqrt(variance + self.posterior_.noise_variance)

    def summary(self) -> Rows:
        """Summarise the coefficients, the features that are most likely to matter first.

        Returns
        -------
        Rows
            One row per feature, in the units of the data: mean and standard deviation of the coefficient, its 95%
            interval, P(included) and P(positive). Print it, or call ``to_pandas()``.
        """
        check_is_fitted(self)
        found = self.posterior_.summary(list(getattr(self, "feature_names_in_", ())) or None)
        units = (self._target_scale / self._scale).tolist()
        rows: list[dict[str, Any]] = []
        for row, unit, varies in zip(found, units, self._varies.tolist(), strict=True):
            factors = {key: 1.0 if key in PROBABILITIES else unit for key in row if key != "feature"}
            scaled = {key: row[key] * factor if varies else 0.0 for key, factor in factors.items()}
            rows.append({"feature": row["feature"], **scaled})
        return Rows.of(sorted(rows, key=lambda row: (-row["P(included)"], -abs(row["mean"]))))

    def health(self) -> str:
        """Return the engine's diagnosis of how far its numbers can be trusted.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        return str(self.posterior_.health())

    def _start(self, features: FloatArray, target: FloatArray) -> None:
        """Make the posterior, and set centre and scale."""
        check_choice("engine", self.engine, tuple(ENGINES))
        d = features.shape[1]
        prior = SpikeSlab(
            BetaInclusion(1.0, d) if self.inclusion is None else self.inclusion,
            self.slab_variance,
            spike=PointMass() if self.spike is None else self.spike,
        )
        noise = InverseGammaNoise(1.0, 0.05) if self.noise_variance is None else self.noise_variance
        seed = int(check_random_state(self.random_state).randint(2**31))
        # Made first: it rejects wrong arguments before anything changes.
        posterior = ENGINES[self.engine](prior, d, noise, n_draws=self.n_draws, seed=seed)
        self._varies = _differs(features, features[0])
        self._centre = np.where(self._varies, features.mean(axis=0), features[0])
        deviation = features.std(axis=0)
        self._scale: FloatArray = np.where(self._varies & (deviation > 0), deviation, 1.0)
        self._target_centre = float(target.mean())
        self._target_scale = (float(target.std()) if _differs(target, target[0]) else 0.0) or 1.0
        self.posterior_ = posterior

    def _learn(self, features: FloatArray, target: FloatArray) -> Self:
        """Update the posterior and what is computed from it."""
        self.posterior_.update(
            (features - self._centre) / self._scale, (target - self._target_centre) / self._target_scale
        )
        self._varies = self._varies | _differs(features, self._centre)
        self.coef_ = np.where(self._varies, self.posterior_.mean() * self._target_scale / self._scale, 0.0)
        self.intercept_ = self._target_centre - float(self._centre @ self.coef_)
        self.inclusion_ = np.where(self._varies, self.posterior_.inclusion(), 0.0)
        return self


def _numeric(target: Any) -> Any:
    """Return a target of numbers, truth values as 0 and 1; scikit-learn checks the rest."""
    values = np.asarray(target)
    if values.dtype.kind == "b":
        return values.astype(np.float64)
    if values.dtype.kind in KINDS and values.dtype.kind not in "cO":
        raise ArgumentTypeError("y", "numbers", KINDS[values.dtype.kind])
    if values.dtype.kind == "O" and target is not None:
        odd = [cell for cell in values.flat if isinstance(cell, str | bytes)]
        try:
            values.astype(np.float64)
        except OverflowError:
            raise ArgumentValueError("y", f"numbers of magnitude at most {LARGEST:g}", "larger ones") from None
        except (TypeError, ValueError):
            odd = odd or [cell for cell in values.flat if not isinstance(cell, int | float | None)]
        if odd:
            raise ArgumentTypeError("y", "numbers", shown(odd[0]))
    return target


def _differs(values: FloatArray, constant: Any) -> Any:
    """Return which columns differ from a constant by more than its rounding error."""
    return (np.abs(values - constant) > 8 * np.finfo(np.float64).eps * np.abs(constant)).any(axis=0)
