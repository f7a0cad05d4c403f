"""Off-policy evaluation: what another policy would have earned, estimated from the journal of the one that played.

With the weights w_t = π(a_t) / p_t of the target's probability over the logged propensity, and a reward model q,

    inverse propensity (IPS)             (1/n) Σ_t w_t r_t,
    self-normalised (SNIPS)              Σ_t w_t r_t / Σ_t w_t,
    doubly robust (DR)                   (1/n) Σ_t [ Σ_a π_t(a) q_t(a) + w_t (r_t − q_t(a_t)) ],

by Horvitz and Thompson (1952), Swaminathan and Joachims (2015), and Dudík, Langford and Li (2011). IPS and DR are
unbiased if propensities are exact and the logging policy could have played whatever the target plays (overlap); DR is
so for any model, as long as q_t does not depend on the reward of round t. This is what cross-fitting ensures. With a
policy that learns as it plays, later rounds depend on earlier rewards, so q_t is fitted to earlier rounds only
(``cross_fitting="past"``, as in Bibaut et al. 2021); if rounds are independent, ``"others"`` uses all but one block.

The standard error is that of a mean of n scores, for SNIPS by the delta method. Intervals are normal, or by the
bootstrap. They require propensities that are not close to zero: docs/interfaces.md reports their coverage on logs of
learning policies. Decisions that still await their reward are left out. A log in which a feedback graph hid the rewards
of some actions is refused: only the rounds of the other actions are known.
"""

import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_array,
    check_choice,
    check_count,
    check_flag,
    check_number,
    shown,
)
from sparsebandits.journal.journal import Journal
from sparsebandits.journal.open_bandit import Columns
from sparsebandits.results.statistics import mean_interval, statistic_interval
from sparsebandits.tables import as_html

Target: TypeAlias = ArrayLike | Callable[[FloatArray], ArrayLike]

INTERVALS = ("normal", "bootstrap")
CROSS_FITTING = ("past", "others")

FEW = 50
"""Effective rounds below which a warning reports little overlap."""

FAR = 4.0
"""Standard errors by which the mean weight may differ from one before a warning reports a lack of overlap."""


class OverlapWarning(UserWarning):
    """The log contains little or no information about what the target plays."""


@dataclass(frozen=True)
class Estimate:
    """The estimated value of a policy, its mean reward per round. Print it to read it.

    Attributes
    ----------
    method : str
        The estimator.
    value : float
        The estimate.
    standard_error : float
        Its standard error.
    low, high : float
        Ends of its confidence interval.
    confidence : float
        Level of the interval.
    rounds : int
        Rounds of the log.
    effective_rounds : float
        (Σ w)² / Σ w², the number of rounds played by the target itself that would be as informative.
    mean_weight : float
        Close to one if the logging policy could have played all that the target plays.
    largest_weight : float
        Largest weight of a round.
    estimated : int
        Rounds whose propensity is an estimate.
    """

    method: str
    value: float
    standard_error: float
    low: float
    high: float
    confidence: float
    rounds: int
    effective_rounds: float
    mean_weight: float
    largest_weight: float
    estimated: int

    def _repr_html_(self) -> str:
        return as_html(str(self))

    def __str__(self) -> str:
        estimated = f"; propensities of {self.estimated} are estimates" if self.estimated else ""
        return (
            f"{self.method}: {self.value:.4g}, standard error {self.standard_error:.2g}, "
            f"{100 * self.confidence:g}% interval from {self.low:.4g} to {self.high:.4g}\n"
            f"{self.rounds} rounds, worth {self.effective_rounds:.0f} by their weights "
            f"(mean {self.mean_weight:.3g}, largest {self.largest_weight:.3g}){estimated}"
        )


def inverse_propensity(
    log: Journal,
    target: Target,
    self_normalised: bool = False,
    confidence: float = 0.95,
    interval: str = "normal",
) -> Estimate:
    """Estimate the value of a policy by inverse propensity weighting.

    Parameters
    ----------
    log : Journal
        Decisions with their propensities and rewards, and the actions that they were chosen from.
    target : array or callable
        Probabilities of the actions, of shape (K,) if they are always the same, or (n, K); or a function from actions
        of shape (K, d) to probabilities of shape (K,).
    self_normalised : bool, default=False
        Divide by the sum of the weights instead of the number of rounds: this has a bias of O(1/n), and less variance
        if rewards are far from zero.
    confidence : float, default=0.95
        Level of the interval.
    interval : {"normal", "bootstrap"}, default="normal"
        The bootstrap is bias-corrected and accelerated, and takes longer.

    Returns
    -------
    Estimate
        The value with its interval and the weights that it rests on.

    Raises
    ------
    ValueError
        If the log contains no information about the target, or not the reward of every action that was played.

    Examples
    --------
    >>> from sparsebandits.journal import DecisionLog
    >>> log = DecisionLog.from_open_bandit({"action": [0, 1, 1, 0], "reward": [1, 3, 3, 1], "pscore": [0.5] * 4})
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", OverlapWarning)  # of so few rounds
    ...     inverse_propensity(log, [0.0, 1.0]).value
    3.0
    """
    level, how = _check_interval(confidence, interval)
    normalised = check_flag("self_normalised", self_normalised)
    rounds = _rounds(log)
    _, weights = _weights(rounds, target)
    _warn_of_overlap(weights)
    if not normalised:
        return _of_scores("inverse propensity", weights * rounds.reward, weights, rounds, level, how)
    value = float(weights @ rounds.reward / weights.sum())
    error = float(np.sqrt(np.sum((weights * (rounds.reward - value)) ** 2)) / weights.sum())
    rows = np.stack((weights, weights * rounds.reward), axis=1)
    ends = _normal(value, error, level) if how == "normal" else statistic_interval(rows, _ratio_of_sums, level)
    return _estimate("self-normalised inverse propensity", value, error, ends, weights, rounds, level)


def doubly_robust(
    log: Journal,
    target: Target,
    model: Any = None,
    cross_fitting: str = "past",
    blocks: int = 10,
    confidence: float = 0.95,
    interval: str = "normal",
) -> Estimate:
    """Estimate the value of a policy by a reward model and a weighted correction of its errors.

    Parameters
    ----------
    log : Journal
        Decisions with their propensities and rewards, and the actions that they were chosen from.
    target : array or callable
        Probabilities of the actions, as for :func:`inverse_propensity`.
    model : object or array, optional
        A model with ``fit(X, y)`` and ``predict(X)`` as in scikit-learn (for example ``SpikeSlabRegressor()``), copies
        of which are fitted; by default :class:`Ridge`. Or, to be used as it is, an object with ``predict`` only, or
        predictions of shape (K,) or (n, K); it must not have seen this log.
    cross_fitting : {"past", "others"}, default="past"
        "past" fits the model to the blocks before a block, "others" to all other blocks, which is better if rounds are
        independent of each other, and has lower coverage if the logging policy was learning.
    blocks : int, default=10
        Number of blocks of consecutive rounds; with "past" the first of them has no model.
    confidence : float, default=0.95
        Level of the interval.
    interval : {"normal", "bootstrap"}, default="normal"
        The bootstrap is bias-corrected and accelerated, and takes longer.

    Returns
    -------
    Estimate
        The value with its interval and the weights that it rests on.

    Raises
    ------
    ValueError
        If the log contains no information about the target, or not the reward of every action that was played, or if
        the model does not fit the log.
    """
    level, how = _check_interval(confidence, interval)
    check_choice("cross_fitting", cross_fitting, CROSS_FITTING)
    count, rounds = check_count("blocks", blocks, least=2), _rounds(log)
    parts = np.array_split(np.arange(len(rounds)), min(count, len(rounds)))
    probabilities, weights = _weights(rounds, target)
    expected, played = _predictions(rounds, probabilities, model, cross_fitting, parts)
    _warn_of_overlap(weights)
    return _of_scores("doubly robust", expected + weights * (rounds.reward - played), weights, rounds, level, how)


def _check_interval(confidence: object, interval: object) -> tuple[float, str]:
    level = check_number("confidence", confidence)
    if not 0 < level < 1:
        raise ArgumentValueError("confidence", "a number between 0 and 1", f"{level:g}")
    return level, check_choice("interval", interval, INTERVALS)


def _rounds(log: Journal) -> Columns:
    """Return the decisions of a journal that have their reward, as arrays."""
    if not isinstance(log, Journal):
        raise ArgumentTypeError("log", "a journal", shown(log))
    rounds = Columns.of(log.records())
    if len(rounds) < 2:
        raise ArgumentValueError("log", "at least two rounds", f"{len(rounds)}")
    return rounds


def _weights(log: Columns, target: Target) -> tuple[FloatArray, FloatArray]:
    """Return the target's probabilities (n, K) and the weights (n,); refuse a log without information about it."""
    probabilities = _target_probabilities(log, target)
    propensities = log.pscore
    weights = probabilities[np.arange(len(log)), log.action] / propensities
    mean = float(weights.mean())
    if mean == 0:
        raise ArgumentValueError("target", "some probability on actions that were played", "none in any round")
    if (propensities == 1).all() and mean < 1 - 1e-6:
        raise ArgumentValueError(
            "log",
            "decisions that could have gone otherwise",
            f"{len(log)} of propensity 1, as deterministic policies make them, which have never played "
            f"{1 - mean:.1%} of what the target plays",
        )
    return probabilities, weights


def _warn_of_overlap(weights: FloatArray) -> None:
    """Warn if the weights show that the log has little information about the target."""
    rounds, mean = len(weights), float(weights.mean())
    size = float(weights.sum() ** 2 / (weights @ weights))
    if size < FEW:
        warnings.warn(
            f"little overlap: {rounds} rounds are worth {size:.1f} of the target's own, and the largest weight is "
            f"{weights.max():.3g}; the interval may be too short",
            OverlapWarning,
            stacklevel=3,
        )
    error = float(weights.std(ddof=1) / np.sqrt(rounds))
    if abs(mean - 1) > FAR * error + 1e-6:
        never = "the logging policy rarely or never plays some of what the target plays"
        reason = never if mean < 1 else "propensities are too small"
        warnings.warn(
            f"lack of overlap: the mean weight is {mean:.3g} instead of one, so {reason}; the estimate is biased",
            OverlapWarning,
            stacklevel=3,
        )


def _target_probabilities(log: Columns, target: Target) -> FloatArray:
    actions, rounds = log.actions, len(log)
    values: object = target
    if callable(target):
        values = target(actions) if actions.ndim == 2 else [target(offered) for offered in actions]
    found = check_array("target", values)
    shape = (rounds, actions.shape[-2])
    if found.shape not in (shape, shape[1:]):
        raise ArgumentValueError("target", f"probabilities of shape {shape[1:]} or {shape}", f"{found.shape}")
    if found.min() < 0 or np.abs(found.sum(axis=-1) - 1).max() > 1e-6:
        raise ArgumentValueError("target", "probabilities that sum to one over the actions", "others")
    return np.broadcast_to(found, shape)


class Ridge:
    """Ridge regression on standardised columns with an intercept and a penalty of one: a cheap default model.

    If there are as many columns as rounds and few of them matter, ``SpikeSlabRegressor`` predicts better.
    """

    def fit(self, features: FloatArray, rewards: FloatArray) -> Self:
        """Fit the model to features of shape (n, d) and rewards of shape (n,)."""
        self._centre, deviation = features.mean(axis=0), features.std(axis=0)
        self._scale = np.where(deviation > 0, deviation, 1.0)
        columns = (features - self._centre) / self._scale
        self._mean = float(rewards.mean())
        gram = columns.T @ columns + np.eye(columns.shape[1])
        self._coefficients = np.linalg.solve(gram, columns.T @ (rewards - self._mean))
        return self

    def predict(self, features: FloatArray) -> FloatArray:
        """Return the expected rewards of rows of features."""
        return np.asarray(self._mean + (features - self._centre) / self._scale @ self._coefficients)


def _predictions(
    log: Columns, probabilities: FloatArray, model: Any, cross_fitting: str, parts: list[Any]
) -> tuple[FloatArray, FloatArray]:
    """Return the model's expected rewards of the target, Σ_a π_t(a) q_t(a), and of what was played, q_t(a_t)."""
    rounds, rewards, everything, chosen = np.arange(len(log)), log.reward, log.actions, log.action
    played = everything[chosen] if everything.ndim == 2 else everything[rounds, chosen]
    given = None
    if isinstance(model, type):
        raise ArgumentTypeError("model", "a model", f"the class {model.__name__}; make an instance of it")
    for method in ("fit", "predict"):
        if hasattr(model, method) and not callable(getattr(model, method)):
            raise ArgumentTypeError("model", f"a method {method}", shown(getattr(model, method)))
    if model is not None and not hasattr(model, "predict"):
        given = check_array("model", model)
        if given.shape not in (probabilities.shape, probabilities.shape[1:]):
            expected = f"a model, or predictions of shape {probabilities.shape[1:]} or {probabilities.shape}"
            raise ArgumentValueError("model", expected, f"{given.shape}")
        given = np.broadcast_to(given, probabilities.shape)
    of_target, of_played = np.zeros((2, len(log)))
    for part in parts:
        if given is not None:
            table = given[part]
        else:
            fit_to = rounds[: part[0]] if cross_fitting == "past" else np.delete(rounds, part)
            fitted = _fitted(model, played[fit_to], rewards[fit_to])
            if fitted is None:
                continue
            offered = everything if everything.ndim == 2 else everything[part]
            rows = offered.reshape(-1, offered.shape[-1])
            table = check_array("model", fitted.predict(rows))
            if table.size != len(rows):
                expected = f"one prediction for each of {len(rows)} rows"
                raise ArgumentValueError("model", expected, f"shape {table.shape}")
            table = np.broadcast_to(table.reshape(offered.shape[:-1]), (len(part), offered.shape[-2]))
        of_target[part] = np.einsum("ta,ta->t", probabilities[part], table)
        of_played[part] = table[np.arange(len(part)), chosen[part]]
    return of_target, of_played


def _fitted(model: Any, features: FloatArray, rewards: FloatArray) -> Any:
    """Return a model that is fitted to these rounds, or None if there are too few of them."""
    if model is not None and not hasattr(model, "fit"):
        return model
    if len(rewards) < 2:
        return None
    fitted = Ridge() if model is None else deepcopy(model)
    fitted.fit(features, rewards)  # which need not return the model
    return fitted


def _ratio_of_sums(rows: FloatArray) -> FloatArray:
    return np.asarray(rows[..., 1].sum(axis=-1) / rows[..., 0].sum(axis=-1))


def _normal(value: float, error: float, level: float) -> tuple[float, float]:
    reach = NormalDist().inv_cdf((1 + level) / 2) * error
    return value - reach, value + reach


def _of_scores(method: str, scores: FloatArray, weights: FloatArray, log: Columns, level: float, how: str) -> Estimate:
    value, error = float(scores.mean()), float(scores.std(ddof=1) / np.sqrt(len(scores)))
    ends: Any = _normal(value, error, level) if how == "normal" else mean_interval(scores, level)
    return _estimate(method, value, error, ends, weights, log, level)


def _estimate(
    method: str,
    value: float,
    error: float,
    ends: tuple[Any, Any],
    weights: FloatArray,
    log: Columns,
    level: float,
) -> Estimate:
    return Estimate(
        method=method,
        value=value,
        standard_error=error,
        low=float(ends[0]),
        high=float(ends[1]),
        confidence=level,
        rounds=len(log),
        effective_rounds=float(weights.sum() ** 2 / (weights @ weights)),
        mean_weight=float(weights.mean()),
        largest_weight=float(weights.max()),
        estimated=int(np.count_nonzero(log.pscore_draws)),
    )
