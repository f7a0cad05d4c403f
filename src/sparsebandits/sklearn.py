"""Sparse Bayesian regression and classification as scikit-learn estimators, on the posterior engines.

Columns are centred and scaled by the first data that an estimator sees, and so is the target of a regression, so that
one prior fits data in any units: slab N(0, 1), inclusion Beta(1, d) and an inverse gamma noise variance, all on that
scale. ``coef_``, ``summary`` and predictions are in the units of the data.
"""

from typing import Any, Self

import numpy as np
import scipy  # scipy.special, which is slow to import, is loaded on first use
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from sparsebandits.arguments import (
    KINDS,
    LARGEST,
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_choice,
    check_flag,
    shown,
)
from sparsebandits.model.families import LARGEST_LOG, Bernoulli
from sparsebandits.model.priors import BetaInclusion, InverseGammaNoise, PointMass, Spike, SpikeSlab
from sparsebandits.model.rewards import Rewards, rewards_of
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.gibbs import Gibbs
from sparsebandits.posteriors.particles import Particles
from sparsebandits.tables import Rows

ENGINES: dict[str, Any] = {"particles": Particles, "gibbs": Gibbs}
IN_UNITS = ("mean", "sd", "2.5%", "97.5%")
"""Columns of a summary that are in the units of the data."""

AT_ONCE = 2**20
"""Number of probabilities that are computed at a time."""


class _SpikeSlabModel(BaseEstimator):  # type: ignore[misc]
    """What the estimators share: a posterior on the standardised scale, and its summary in the units of the data."""

    inclusion: "float | FloatArray | BetaInclusion | None"
    slab_variance: float
    spike: Spike | None
    engine: str
    n_draws: int
    random_state: Any

    def summary(self) -> Rows:
        """Summarise the coefficients, the features that are most likely to matter first.

        Returns
        -------
        Rows
            One row per feature, in the units of the data: mean and standard deviation of the coefficient, its 95%
            interval, P(included) and P(positive); for the logit link also the odds ratio exp(mean). Print it, or call
            ``to_pandas()``.
        """
        check_is_fitted(self, "posterior_")
        found = self.posterior_.summary(list(getattr(self, "feature_names_in_", ())) or None)
        ratio = getattr(self.posterior_.rewards, "ratio", None)
        rows: list[dict[str, Any]] = []
        for row, unit, varies in zip(found, self._units.tolist(), self._varies.tolist(), strict=True):
            factors = {key: unit if key in IN_UNITS else 1.0 for key in row if key not in ("feature", ratio)}
            scaled = {key: row[key] * factor if varies else 0.0 for key, factor in factors.items()}
            if ratio is not None:
                scaled[ratio] = float(np.exp(min(scaled["mean"], LARGEST_LOG)))
            rows.append({"feature": row["feature"], **scaled})
        return Rows.of(sorted(rows, key=lambda row: (-row["P(included)"], -abs(row["mean"]))))

    def health(self) -> str:
        """Return the engine's diagnosis of how far its numbers can be trusted.

        Returns
        -------
        str
        """
        check_is_fitted(self, "posterior_")
        return str(self.posterior_.health())

    def _start(self, features: FloatArray, rewards: Rewards, unit: float = 1.0, centred: bool = True) -> None:
        """Make the posterior, and set centre and scale; ``unit`` is what η is measured in."""
        check_choice("engine", self.engine, tuple(ENGINES))
        d = features.shape[1]
        prior = SpikeSlab(
            BetaInclusion(1.0, d) if self.inclusion is None else self.inclusion,
            self.slab_variance,
            spike=PointMass() if self.spike is None else self.spike,
        )
        seed = int(check_random_state(self.random_state).randint(2**31))
        # Made first: it rejects wrong arguments before anything changes.
        posterior = ENGINES[self.engine](prior, d, n_draws=self.n_draws, seed=seed, rewards=rewards)
        constant = features[0] if centred else np.zeros(d)
        self._varies = _differs(features, constant)
        self._centre = np.where(self._varies & centred, features.mean(axis=0), constant)
        deviation = _root_mean_square(features - self._centre)
        self._scale: FloatArray = np.where(self._varies & (deviation > 0), deviation, 1.0)
        self._units = unit / self._scale
        self.posterior_ = posterior

    def _update(self, features: FloatArray, target: FloatArray) -> FloatArray:
        """Update the posterior and what is computed from it; return the coefficients."""
        self.posterior_.update((features - self._centre) / self._scale, target)
        self._varies = self._varies | _differs(features, self._centre)
        self.inclusion_ = np.where(self._varies, self.posterior_.inclusion(), 0.0)
        return np.where(self._varies, self.posterior_.mean() * self._units, 0.0)

    def _standardised(self, features: FloatArray) -> FloatArray:
        """Return features as the posterior has them; columns that have been constant so far say nothing."""
        return np.where(self._varies, features - self._centre, 0.0) / self._scale


class SpikeSlabRegressor(RegressorMixin, _SpikeSlabModel):  # type: ignore[misc]
    """Linear regression in which few features matter.

    The prior is a spike and slab (Mitchell and Beauchamp 1988).
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
        self._begin(features, target)
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
            self._begin(features, target)
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
        check_is_fitted(self, "posterior_")
        features = validate_data(self, X, dtype=np.float64, reset=False)
        mean = features @ self.coef_ + self.intercept_
        if not return_std:
            return mean
        draws: Draws = self.posterior_.draws()
        predictions = self._standardised(features) @ draws.theta.T
        variance = (predictions - (predictions @ draws.weights)[:, np.newaxis]) ** 2 @ draws.weights
        return mean, self._target_scale * np.sqrt(variance + self.posterior_.noise_variance)

    def _begin(self, features: FloatArray, target: FloatArray) -> None:
        """Make the posterior, and set centre and scale of features and target."""
        scale = (float(_root_mean_square(target - target.mean())) if _differs(target, target[0]) else 0.0) or 1.0
        self._start(features, rewards_of(None, self.noise_variance, InverseGammaNoise(1.0, 0.05)), scale)
        self._target_centre, self._target_scale = float(target.mean()), scale

    def _learn(self, features: FloatArray, target: FloatArray) -> Self:
        """Update the posterior and what is computed from it."""
        self.coef_ = self._update(features, (target - self._target_centre) / self._target_scale)
        self.intercept_ = self._target_centre - float(self._centre @ self.coef_)
        return self


class SpikeSlabClassifier(ClassifierMixin, _SpikeSlabModel):  # type: ignore[misc]
    """Classification into two classes in which few features matter: sparse logistic or probit regression.

    The prior is a spike and slab (Mitchell and Beauchamp 1988).
    ``inclusion_`` says which features matter, as for :class:`SpikeSlabRegressor`. Probabilities are averages over the
    posterior: where data are few, or a row is far from those seen, they are nearer to one half than those at
    ``coef_``.

    Parameters
    ----------
    inclusion : float, array of shape (d,) or BetaInclusion, optional
        Prior probability that a feature matters. By default Beta(1, d): about one of the d features is expected to
        matter, and the data may say otherwise.
    slab_variance : float, default=1.0
        Prior variance of the coefficients that matter, on the standardised scale.
    spike : PointMass, LaplaceSpike or GaussianSpike, optional
        Prior distribution of the other coefficients. By default ``PointMass()``: they are exactly zero.
    link : {"logit", "probit"}, default="logit"
        Logistic or probit regression.
    fit_intercept : bool, default=True
        Whether there is an intercept. It has a wide Gaussian prior, and columns are centred. Without it, columns are
        scaled but not centred.
    n_draws : int, default=2000
        Number of posterior draws.
    random_state : int, RandomState or None, default=None
        The seed, as in scikit-learn: an integer gives the same numbers on every run.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels. Coefficients are those of the second one: where η is larger, it is more probable.
    coef_ : array of shape (1, d)
        Posterior means of the coefficients, in the units of the data.
    intercept_ : array of shape (1,)
        Posterior mean of the intercept, in the units of the data.
    inclusion_ : array of shape (d,)
        Posterior probability that each feature matters.
    posterior_ : Particles
        The engine, on the standardised scale. Constant columns are distributed there as in the prior.

    Notes
    -----
    A column that has been constant so far carries no information beside an intercept: its coefficient and its inclusion
    are 0.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 10))
    >>> y = np.where(3 * X[:, 0] - 2 * X[:, 1] + rng.logistic(size=200) > 0, "yes", "no")
    >>> model = SpikeSlabClassifier(random_state=0).fit(X, y)
    >>> [row["feature"] for row in model.summary()[:2]], model.classes_
    (['0', '1'], array(['no', 'yes'], dtype='<U3'))
    >>> rows = np.eye(10)[:2]
    >>> model.predict(rows), model.predict_proba(rows).round(1)
    (array(['yes', 'no'], dtype='<U3'), array([[0.1, 0.9], [0.9, 0.1]]))
    """

    engine = "particles"

    def __init__(
        self,
        inclusion: "float | FloatArray | BetaInclusion | None" = None,
        slab_variance: float = 1.0,
        spike: Spike | None = None,
        link: str = "logit",
        fit_intercept: bool = True,
        n_draws: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.inclusion = inclusion
        self.slab_variance = slab_variance
        self.spike = spike
        self.link = link
        self.fit_intercept = fit_intercept
        self.n_draws = n_draws
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, which say that there are two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Learn from data; what was learned before is forgotten.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            The features, one row per observation.
        y : array of shape (n,)
            Labels, of two classes.

        Returns
        -------
        SpikeSlabClassifier
            The estimator itself.
        """
        features, labels = validate_data(self, X, y, dtype=np.float64)
        classes = _two_classes(labels)
        self._begin(features, classes)
        return self._learn(features, _encoded(labels, classes))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:  # noqa: N803
        """Learn from further data.

        Centre and scale stay those of the first data, which should therefore be some dozens of rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            The features, one row per observation.
        y : array of shape (n,)
            Labels.
        classes : array of shape (2,), optional
            The two labels; needed in the first call if its data are of one class.

        Returns
        -------
        SpikeSlabClassifier
            The estimator itself.
        """
        first = not hasattr(self, "posterior_")
        features, labels = validate_data(self, X, y, dtype=np.float64, reset=first)
        named = _two_classes(labels if classes is None else np.asarray(classes)) if first else self.classes_
        if classes is not None and not np.array_equal(np.unique(classes), named):
            raise ArgumentValueError("classes", f"those of the first call, {named.tolist()}", shown(classes))
        target = _encoded(labels, named)
        if first:
            self._begin(features, named)
        return self._learn(features, target)

    def predict_proba(self, X: Any) -> FloatArray:  # noqa: N803
        """Return the probability of each class, averaged over the posterior.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            The features, one row per observation.

        Returns
        -------
        array of shape (n, 2)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "posterior_")
        features = self._standardised(validate_data(self, X, dtype=np.float64, reset=False))
        draws: Draws = self.posterior_.draws()
        level = 0.0 if draws.intercepts is None else draws.intercepts
        mean, step = self.posterior_.rewards.mean, max(1, AT_ONCE // len(draws))
        blocks = [features[start : start + step] for start in range(0, len(features), step)]
        second = np.concatenate([mean(block @ draws.theta.T + level) @ draws.weights for block in blocks])
        return np.column_stack((1.0 - second, second))

    def decision_function(self, X: Any) -> FloatArray:  # noqa: N803
        """Return the log-odds of the second class: positive where it is predicted.

        They are those of :meth:`predict_proba`, and not linear in X, since that averages over the posterior.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            The features, one row per observation.

        Returns
        -------
        array of shape (n,)
        """
        least = float(np.finfo(np.float64).eps)
        return np.asarray(scipy.special.logit(np.clip(self.predict_proba(X)[:, 1], least, 1.0 - least)))

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Predict the more probable class of new rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            The features, one row per observation.

        Returns
        -------
        array of shape (n,)
            Labels.
        """
        likelier = self.predict_proba(X).argmax(axis=1)
        return self.classes_[likelier]

    def _begin(self, features: FloatArray, classes: Any) -> None:
        """Make the posterior, and set centre and scale."""
        centred = check_flag("fit_intercept", self.fit_intercept)
        self._start(features, Bernoulli(self.link, intercept=centred), centred=centred)
        self.classes_ = classes

    def _learn(self, features: FloatArray, target: FloatArray) -> Self:
        """Update the posterior and what is computed from it."""
        coefficients = self._update(features, target)
        draws: Draws = self.posterior_.draws()
        level = 0.0 if draws.intercepts is None else draws.weights @ draws.intercepts
        self.coef_ = coefficients[np.newaxis]
        self.intercept_ = np.array([level - self._centre @ coefficients])
        return self


def _two_classes(labels: Any) -> Any:
    """Return the two labels in order; the text of the first error is scikit-learn's."""
    kind = type_of_target(labels, input_name="y", raise_unknown=True)
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ArgumentValueError("y", "two classes", f"{len(classes)} class(es), {shown(classes.tolist())}")
    return classes


def _encoded(labels: Any, classes: Any) -> FloatArray:
    """Return 1 for the second class and 0 for the first."""
    unknown = labels[~np.isin(labels, classes)]
    if len(unknown):
        raise ArgumentValueError("y", f"labels among {classes.tolist()}", shown(unknown.tolist()[0]))
    return np.asarray(labels == classes[1], dtype=np.float64)


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


def _root_mean_square(values: FloatArray) -> Any:
    """Return the root mean square of each column, also where squares would be out of the range of numbers."""
    exponent = np.frexp(np.abs(values).max(axis=0))[1]
    return np.ldexp(np.sqrt(np.square(np.ldexp(values, -exponent)).mean(axis=0)), exponent)
