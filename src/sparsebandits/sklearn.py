"""Sparse Bayesian linear regression as a scikit-learn estimator, on the posterior engines.

Columns and target are centred and scaled by the first data that the estimator sees, so that one prior fits data of any
unit: slab N(0, 1), inclusion Beta(1, d) and noise variance inverse gamma, all on that scale. ``coef_``, ``summary`` and
predictions are in the units of the data.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from sparsebandits.arguments import FloatArray, check_choice
from sparsebandits.model.priors import BetaInclusion, InverseGammaNoise, PointMass, Spike, SpikeSlab
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.gibbs import Gibbs
from sparsebandits.posteriors.particles import Particles
from sparsebandits.posteriors.summary import Summary

ENGINES: dict[str, Any] = {"particles": Particles, "gibbs": Gibbs}
PROBABILITIES = ("P(included)", "P(positive)")


class SpikeSlabRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Linear regression in which few features matter.

    Which ones, ``inclusion_`` says: a feature with more than 0.5 matters more likely than not, and those features are
    the median probability model of Barbieri and Berger (2004). Features that are nearly copies of each other share the
    probability between them. How many features matter and how large the noise is are learnt, unless you give them.

    Parameters
    ----------
    inclusion : prior probability that a feature matters, or a ``BetaInclusion``; by default Beta(1, d): about one of
        the d features is expected to matter, and the data may say otherwise
    slab_variance : prior variance of the coefficients that matter, on the standardised scale
    spike : distribution of the others: ``PointMass()``, ``LaplaceSpike(scale)`` or ``GaussianSpike(variance)``
    noise_variance : on the standardised scale, or an ``InverseGammaNoise``; by default learnt, under
        ``InverseGammaNoise(1, 0.05)``, which after n rows keeps it above about 0.1 / n of the target's variance
    engine : "particles" learns row by row and serves ``partial_fit``, "gibbs" runs chains
    n_draws : posterior draws
    random_state : the seed, as in scikit-learn: an integer for the same numbers on every run, or None

    Attributes
    ----------
    coef_ : posterior means, in the units of the data, shape ``(d,)``
    intercept_ : float
    inclusion_ : posterior probability that each feature matters, shape ``(d,)``
    posterior_ : the engine, on the standardised scale; constant columns are there as the prior has them

    A column that has been constant so far says nothing: its coefficient and its inclusion are 0.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 10))
    >>> y = 3 * X[:, 0] + 2 * X[:, 1] + rng.standard_normal(200)
    >>> model = SpikeSlabRegressor(random_state=0).fit(X, y)
    >>> (model.inclusion_ > 0.5).nonzero()[0], model.coef_[:2].round(0)
    (array([0, 1]), array([3., 2.]))
    >>> model.summary().names[:2]
    ('0', '1')
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
        """Learn from ``X`` of shape ``(n, d)`` and ``y`` of shape ``(n,)``, forgetting all before."""
        features, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._start(features, target)
        return self._learn(features, target)

    def partial_fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Learn from further data. Centre and scale stay those of the first, so let that be some dozens of rows."""
        first = not hasattr(self, "posterior_")
        features, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True, reset=first)
        if first:
            self._start(features, target)
        return self._learn(features, target)

    def predict(self, X: Any, return_std: bool = False) -> Any:  # noqa: N803
        """Return the mean of a new target for each row, and its standard deviation (noise included) if wanted."""
        check_is_fitted(self)
        features = validate_data(self, X, dtype=np.float64, reset=False)
        mean = features @ self.coef_ + self.intercept_
        if not return_std:
            return mean
        draws: Draws = self.posterior_.draws()
        predictions = (np.where(self._varies, features - self._centre, 0.0) / self._scale) @ draws.theta.T
        variance = (predictions - (predictions @ draws.weights)[:, np.newaxis]) ** 2 @ draws.weights
        return mean, self._target_scale * np.sqrt(variance + self.posterior_.noise_variance)

    def summary(self) -> Summary:
        """Return a row a feature, in the units of the data, those first that are most likely to matter.

        The columns are those of the engines: mean and standard deviation of the coefficient, its 95% interval,
        P(included) and P(positive). Print the table, or take ``.to_pandas()``.
        """
        check_is_fitted(self)
        found = self.posterior_.summary(list(getattr(self, "feature_names_in_", ())) or None)
        unit, varies = self._target_scale / self._scale, self._varies
        columns = {
            name: np.where(varies, values if name in PROBABILITIES else unit * values, 0.0)
            for name, values in found.columns.items()
        }
        order = np.lexsort((-np.abs(columns["mean"]), -columns["P(included)"]))
        names = tuple(found.names[row] for row in order.tolist())
        return Summary(found.of, names, {name: values[order] for name, values in columns.items()})

    def health(self) -> str:
        """Say how far the numbers can be trusted, as the engine sees it."""
        check_is_fitted(self)
        return str(self.posterior_.health())

    def _start(self, features: FloatArray, target: FloatArray) -> None:
        check_choice("engine", self.engine, tuple(ENGINES))
        d = features.shape[1]
        prior = SpikeSlab(
            BetaInclusion(1.0, d) if self.inclusion is None else self.inclusion,
            self.slab_variance,
            spike=PointMass() if self.spike is None else self.spike,
        )
        noise = InverseGammaNoise(1.0, 0.05) if self.noise_variance is None else self.noise_variance
        seed = int(check_random_state(self.random_state).randint(2**31))
        posterior = ENGINES[self.engine](
            prior, d, noise, n_draws=self.n_draws, seed=seed
        )  # refuses before anything changes
        self._varies = _differs(features, features[0])
        self._centre = np.where(self._varies, features.mean(axis=0), features[0])
        deviation = features.std(axis=0)
        self._scale: FloatArray = np.where(self._varies & (deviation > 0), deviation, 1.0)
        self._target_centre = float(target.mean())
        self._target_scale = (float(target.std()) if _differs(target, target[0]) else 0.0) or 1.0
        self.posterior_ = posterior

    def _learn(self, features: FloatArray, target: FloatArray) -> Self:
        self.posterior_.update(
            (features - self._centre) / self._scale, (target - self._target_centre) / self._target_scale
        )
        self._varies = self._varies | _differs(features, self._centre)
        self.coef_ = np.where(self._varies, self.posterior_.mean() * self._target_scale / self._scale, 0.0)
        self.intercept_ = self._target_centre - float(self._centre @ self.coef_)
        self.inclusion_ = np.where(self._varies, self.posterior_.inclusion(), 0.0)
        return self


def _differs(values: FloatArray, constant: Any) -> Any:
    """Return which columns differ from a constant, by more than the rounding of it."""
    return (np.abs(values - constant) > 8 * np.finfo(np.float64).eps * np.abs(constant)).any(axis=0)
