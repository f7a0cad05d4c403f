"""What the Lasso policies share: stored rewards, the fit, when to fit again, and greedy play on an estimate.

Every penalty is that of scikit-learn, whose Lasso (Tibshirani 1996) minimises

    ‖y − Xθ‖² / (2n) + penalty · ‖θ‖₁

without an intercept. A source that writes ‖y − Xθ‖² / n + λ‖θ‖₁ has a penalty of λ / 2.
"""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import LARGEST, ArgumentTypeError, FloatArray, check_between, check_count, shown
from sparsebandits.atomic import forked
from sparsebandits.layouts import Count, Layout, Number, Reals, read
from sparsebandits.policies.policy import Policy
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.optima import pick
from sparsebandits.rules.rule import Rule

CROSS_VALIDATION = "cross-validation"
"""Value of an argument ``penalty`` that is to be chosen by :func:`cross_validated_penalty`."""

FOLDS = 5
"""Number of folds of cross-validation."""

TOLERANCE = 1e-8
"""Duality gap at which a fit stops, as a share of ‖y‖²."""

SWEEPS = 10_000
"""Sweeps after which a fit is used as it is; only tiny penalties on collinear data need that many."""


def lasso(x: FloatArray, y: FloatArray, penalty: float, start: FloatArray) -> FloatArray:
    """Return the Lasso estimate.

    Without data it is zero. A penalty of zero gives the least squares estimate of smallest norm. If several estimates
    are equally good, ``start`` decides which one is found.

    Parameters
    ----------
    x : array of shape (n, d)
        Features.
    y : array of shape (n,)
        Rewards.
    penalty : float
        Penalty, as in scikit-learn.
    start : array of shape (d,)
        Estimate from which the search starts.

    Returns
    -------
    array of shape (d,)
        The estimate.
    """
    count = len(y)
    if count == 0:
        return np.zeros(x.shape[1])
    if penalty == 0.0:
        return least_squares(x, y)
    if np.abs(y @ x).max() <= count * penalty:  # then zero is optimal
        return np.zeros(x.shape[1])
    from sklearn import config_context  # a slow import, which policies without a Lasso do not need
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lasso_path

    # What scikit-learn would check has been checked, and its checks take longer than a fit.
    with warnings.catch_warnings(), config_context(skip_parameter_validation=True):
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, path, _ = lasso_path(
            np.asfortranarray(x),
            y,
            alphas=[penalty],
            precompute=False,
            coef_init=start.copy(),
            check_input=False,
            tol=TOLERANCE,
            max_iter=SWEEPS,
        )
    return np.array(path[:, 0], dtype=np.float64)


def cross_validated_penalty(x: FloatArray, y: FloatArray) -> float:
    """Return the penalty with the smallest squared error over five contiguous folds.

    There are fewer folds if there are fewer rewards; a single reward cannot be split and is an error.

    Parameters
    ----------
    x : array of shape (n, d)
        Features.
    y : array of shape (n,)
        Rewards.

    Returns
    -------
    float
        The penalty; zero if no feature correlates with the rewards.
    """
    if not np.any(y @ x):
        return 0.0
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LassoCV

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return float(LassoCV(cv=min(FOLDS, len(y)), fit_intercept=False).fit(x, y).alpha_)


def least_squares(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the least squares estimate of smallest norm."""
    return np.asarray(np.linalg.lstsq(x, y)[0], dtype=np.float64)


def solve_penalised(gram: FloatArray, penalty: float, right: FloatArray) -> FloatArray:
    """Return (G + λI)⁻¹R, also where λ is below the rounding errors of G.

    Parameters
    ----------
    gram : array of shape (d, d)
        G, positive semidefinite.
    penalty : float
        λ.
    right : array of shape (d, k)
        R.

    Returns
    -------
    array of shape (d, k)

    Examples
    --------
    >>> solve_penalised(np.diag([1.0, 3.0]), 1.0, np.ones((2, 1))).ravel()
    array([0.5 , 0.25])
    """
    values, vectors = np.linalg.eigh(gram)
    least = np.finfo(np.float64).eps * len(values) * values.max(initial=0.0)  # smaller eigenvalues are rounding errors
    return np.asarray(vectors @ (vectors.T @ right / (np.maximum(values, least) + penalty)[:, np.newaxis]))


def root_log_rate(count: int, dimension: int) -> float:
    """Return √((log t + log d) / t), the rate of the penalties of Bastani and Bayati and of Kim and Paik."""
    return math.sqrt((math.log(count) + math.log(dimension)) / count)


def refit_is_due(count: int, fitted: int, growth: float) -> bool:
    """Return whether it is time to fit again.

    Parameters
    ----------
    count : int
        Number of rewards.
    fitted : int
        Number of rewards in the last fit.
    growth : float
        Share of new rewards at which to fit again: 0.1 means after each 10%.

    Returns
    -------
    bool
        Whether a new fit is due.
    """
    return count > fitted and count >= (1.0 + growth) * fitted


def check_weight(name: str, value: object) -> float:
    """Require a number of at least zero."""
    return check_between(name, value, 0.0, LARGEST)


class Samples:
    """Rows and rewards, in the order in which they came.

    Parameters
    ----------
    dimension : int
        Length of a row.
    """

    saved: ClassVar[Layout] = {"x": Reals("rewards", "row"), "y": Reals("rewards")}

    def __init__(self, dimension: int) -> None:
        self._x, self._y, self._count = np.empty((64, dimension)), np.empty(64), 0

    def __len__(self) -> int:
        return self._count

    @property
    def x(self) -> FloatArray:
        """Rows, shape ``(n, d)``."""
        return self._x[: self._count]

    @property
    def y(self) -> FloatArray:
        """Rewards, shape ``(n,)``."""
        return self._y[: self._count]

    def after(self, x: FloatArray, y: FloatArray) -> "Samples":
        """Return the samples with a further batch; the storage is shared, since what follows these is not theirs."""
        other = forked(self)
        other.append(x, y)
        return other

    def append(self, x: FloatArray, y: FloatArray) -> None:
        """Add a batch; the storage doubles when it is full."""
        end = self._count + len(y)
        if end > len(self._y):
            spare = max(end, 2 * len(self._y)) - self._count
            self._x = np.concatenate((self.x, np.empty((spare, self._x.shape[1]))))
            self._y = np.concatenate((self.y, np.empty(spare)))
        self._x[self._count : end], self._y[self._count : end] = x, y
        self._count = end

    def state(self) -> dict[str, Any]:
        """Return the data."""
        return {"x": self.x.copy(), "y": self.y.copy()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = read(self.saved, state, {"row": self._x.shape[1]})
        self._count = 0
        self.append(found["x"], found["y"])


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimate of θ.

    Attributes
    ----------
    coefficients : array of shape (d,)
        Estimate that the rule plays by.
    lasso : array of shape (d,)
        Lasso estimate that it was made from.
    penalty : float
        Penalty of that Lasso.
    """

    coefficients: FloatArray
    lasso: FloatArray
    penalty: float


class Estimator(Protocol):
    """Interface of estimators of θ from at least one reward."""

    def __call__(self, x: FloatArray, y: FloatArray, start: FloatArray) -> Estimate:
        """Return the estimate.

        Parameters
        ----------
        x : array of shape (n, d)
            Features.
        y : array of shape (n,)
            Rewards.
        start : array of shape (d,)
            The last Lasso estimate.

        Returns
        -------
        Estimate
            The estimate.
        """


class LassoEstimator:
    """Learner: stored rewards, and an estimate that is made again when enough of them are new.

    Parameters
    ----------
    dimension : int
        Number of features d.
    estimator : Estimator
        How θ is estimated; a frozen dataclass.
    refit_growth : float, default=0.0
        Share of new rewards at which the estimate is made again; 0 is after every reward.
    """

    saved: ClassVar[Layout] = {
        "samples": Samples.saved,
        "coefficients": Reals("dimension"),
        "lasso": Reals("dimension"),
        "penalty": Number(low=0.0),
        "fitted": Count(high="rewards"),
    }

    def __init__(self, dimension: int, estimator: Estimator, refit_growth: float = 0.0) -> None:
        if not callable(estimator):
            raise ArgumentTypeError("estimator", "an estimator", shown(estimator))
        self.dimension = check_count("dimension", dimension)
        self.estimator = estimator
        self.refit_growth = check_weight("refit_growth", refit_growth)
        self.samples = Samples(dimension)
        self.row = dimension  # columns of what ``absorb`` takes
        self._estimate = Estimate(np.zeros(dimension), np.zeros(dimension), 0.0)
        self._fitted = 0

    def estimate(self) -> Estimate:
        """Return the estimate that the next decision uses."""
        self.refit()
        return self._estimate

    def refit(self) -> None:
        """Fit again if enough rewards are new."""
        if refit_is_due(len(self.samples), self._fitted, self.refit_growth):
            estimate = self.estimator(self.samples.x, self.samples.y, self._estimate.lasso)
            vars(self).update(_estimate=estimate, _fitted=len(self.samples))  # in one step

    def notes(self) -> dict[str, float]:
        """Return what explanations say about the estimate."""
        used = float(np.count_nonzero(self._estimate.coefficients))
        return {
            "rewards in the estimate": float(self._fitted),
            "penalty": self._estimate.penalty,
            "features used": used,
        }

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Store the rewards."""
        self.samples = self.samples.after(x, y)

    def state(self) -> dict[str, Any]:
        """Return data and estimate."""
        return {
            "samples": self.samples.state(),
            "coefficients": self._estimate.coefficients,
            "lasso": self._estimate.lasso,
            "penalty": self._estimate.penalty,
            "fitted": self._fitted,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = read(LassoEstimator.saved, state, {"dimension": self.dimension}, more=True)
        self.samples.restore(state["samples"])
        self._estimate = Estimate(found["coefficients"], found["lasso"], found["penalty"])
        self._fitted = found["fitted"]


@dataclass(frozen=True)
class GreedyLasso(Rule):
    """Play the best row under the estimate, optionally after some uniform rounds.

    Ties are broken uniformly at random. While the penalty is large the estimate is zero and all rows tie: that is how
    these policies explore.

    Parameters
    ----------
    exploration : int, default=0
        Number of uniformly random decisions before the greedy ones.
    """

    exploration: int = 0

    def __post_init__(self) -> None:
        check_count("exploration", self.exploration, least=0)

    def check(self, posterior: Any) -> None:
        """Require a :class:`LassoEstimator`."""
        if not isinstance(posterior, LassoEstimator):
            raise ArgumentTypeError("posterior", "a LassoEstimator for GreedyLasso", shown(posterior))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Play the best row, or a random one while exploring."""
        coefficients = beliefs.posterior.estimate().coefficients
        values = beliefs.features @ coefficients
        exploring = beliefs.decisions < self.exploration
        action, probability = pick(np.zeros(len(values)) if exploring else values, rng)
        notes = {**beliefs.posterior.notes(), "drawn uniformly": float(exploring)}
        contributions = beliefs.features[action] * coefficients
        columns = {"estimated reward": values}
        return Choice(action, probability, Reasons.top(action, values, columns, contributions, notes))


class LassoPolicy(Policy):
    """A policy that learns through a :class:`LassoEstimator`."""

    @property
    def coefficients(self) -> FloatArray:
        """Estimate of θ that the next decision uses, shape ``(d,)``."""
        with self._lock:
            estimate: Estimate = forked(self.posterior).estimate()
        return estimate.coefficients.copy()
