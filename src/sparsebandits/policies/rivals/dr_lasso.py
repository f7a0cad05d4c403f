"""The doubly-robust Lasso bandit: a Lasso on the average row of each round, and pseudo-rewards for it.

Kim and Paik (2019), Algorithm 1. In round t with N rows b_1 … b_N, b̄ their mean and θ̂ the last estimate:

    the first z rounds are uniform; afterwards the row is drawn uniformly with probability
        λ_1t = min(1, λ_1 √((log t + log d) / t)), and is argmax_i ⟨b_i, θ̂⟩ otherwise;
    with π the probability of the row a that was played, the pseudo-reward is
        r̂ = ⟨b̄, θ̂⟩ + (r − ⟨b_a, θ̂⟩) / (N π),
    whose mean is ⟨b̄, θ*⟩ whatever θ̂ is; it is cut off at ±3;
    θ̂ = Lasso of all r̂ on all b̄, with penalty λ_2 √((log t + log d) / t).

λ_1 = 1, λ_2 = 0.5, z = 10 and the cut-off are those of the authors' program, which uses λ_2 as the penalty of
scikit-learn. It also fits an intercept; neither the paper nor this implementation does. Rows that tie for the best
share its probability. A reward that comes late counts when it comes, with the θ̂ and π of its decision.

The algorithm is made for rounds with new rows that are correlated with one another: then b̄ varies about as much as the
rows do. It is not suited to other settings. On a fixed action set b̄ is the same in each round, so only ⟨b̄, θ⟩ can be
learnt, and it is no better than random play. With many independent rows per round, b̄ varies √N times less than a row
does, and the Lasso needs N times as many rewards.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import ArgumentTypeError, FloatArray, check_count, check_positive, shown
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Recorder
from sparsebandits.policies.rivals.lasso import (
    Estimate,
    LassoEstimator,
    LassoPolicy,
    check_weight,
    lasso,
    root_log_rate,
)
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.rule import Rule


@dataclass(frozen=True)
class AverageLasso:
    """Estimator of :class:`DRLasso`: a Lasso of pseudo-rewards on average rows.

    Parameters
    ----------
    scale : float
        λ_2.
    """

    scale: float

    def __post_init__(self) -> None:
        check_weight("scale", self.scale)

    def __call__(self, x: FloatArray, y: FloatArray, start: FloatArray) -> Estimate:
        """Return the Lasso estimate with penalty λ_2t."""
        penalty = self.scale * root_log_rate(len(y), x.shape[1])
        coefficients = lasso(x, y, penalty, start)
        return Estimate(coefficients, coefficients, penalty)


def row_probabilities(values: FloatArray, exploration: float) -> FloatArray:
    """Return the probability of each row: uniform with probability ``exploration``, otherwise one of the best.

    Parameters
    ----------
    values : array of shape (K,)
        Estimated reward of each row.
    exploration : float
        Probability of uniform play.

    Returns
    -------
    array of shape (K,)
        Probability of each row.

    Examples
    --------
    >>> row_probabilities(np.array([0.0, 2.0, 2.0, 1.0]), 0.4)
    array([0.1, 0.4, 0.4, 0.1])
    """
    best = values == values.max()
    if best.all():
        return np.full(len(values), 1.0 / len(values))
    return np.asarray(exploration / len(values) + (1.0 - exploration) * best / best.sum())


def pseudo_rewards(mean: FloatArray, chosen: FloatArray, weight: FloatArray, rewards: FloatArray) -> FloatArray:
    """Return the pseudo-rewards r̂.

    Parameters
    ----------
    mean : array of shape (n,)
        ⟨b̄, θ̂⟩ of each decision.
    chosen : array of shape (n,)
        ⟨b_a, θ̂⟩ of each decision.
    weight : array of shape (n,)
        N π of each decision.
    rewards : array of shape (n,)
        r of each decision.

    Returns
    -------
    array of shape (n,)
        One pseudo-reward per decision.
    """
    return mean + (rewards - chosen) / weight


class PseudoRewards(LassoEstimator):
    """Learner: a Lasso of pseudo-rewards on average rows.

    The observation of a decision consists of b̄, ⟨b̄, θ̂⟩, ⟨b_a, θ̂⟩ and N π.

    Parameters
    ----------
    dimension : int
        Number of features d.
    estimator : AverageLasso
        How θ is estimated.
    refit_growth : float, default=0.0
        Share of new rewards at which the Lasso is fitted again.
    cut_off : float, optional
        Largest absolute value of a pseudo-reward.
    """

    def __init__(
        self, dimension: int, estimator: AverageLasso, refit_growth: float = 0.0, cut_off: float | None = None
    ) -> None:
        super().__init__(dimension, estimator, refit_growth)
        self.cut_off = None if cut_off is None else check_positive("cut_off", cut_off)
        self.row = dimension + 3

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Compute the pseudo-rewards and store them."""
        pseudo = pseudo_rewards(x[:, -3], x[:, -2], x[:, -1], y)
        if self.cut_off is not None:
            pseudo = pseudo.clip(-self.cut_off, self.cut_off)
        super().absorb(x[:, :-3], pseudo)


@dataclass(frozen=True)
class DoublyRobust(Rule):
    """Draw a row: uniformly with a decreasing probability, otherwise the best under the estimate.

    Parameters
    ----------
    exploration : float
        λ_1, factor on the share of uniform play.
    uniform_rounds : int
        z, number of rounds of uniform play at the start.
    """

    exploration: float
    uniform_rounds: int

    def __post_init__(self) -> None:
        check_weight("exploration", self.exploration)
        check_count("uniform_rounds", self.uniform_rounds, least=0)

    def check(self, posterior: Any) -> None:
        """Require :class:`PseudoRewards`."""
        if not isinstance(posterior, PseudoRewards):
            raise ArgumentTypeError("posterior", "PseudoRewards for DoublyRobust", shown(posterior))

    def exploration_in(self, number: int, dimension: int) -> float:
        """Return λ_1t, the probability of uniform play in round t = ``number``, counted from one."""
        if number <= self.uniform_rounds:
            return 1.0
        return min(1.0, self.exploration * root_log_rate(number, dimension))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Draw a row."""
        coefficients = beliefs.posterior.estimate().coefficients
        values = beliefs.features @ coefficients
        exploration = self.exploration_in(beliefs.decisions + 1, beliefs.features.shape[1])
        probability = row_probabilities(values, exploration)
        action = int(rng.choice(len(values), p=probability)) if len(values) > 1 else 0
        remembered = np.array([values.mean(), values[action], len(values) * probability[action]])
        columns = {"estimated reward": values, "probability": probability}
        notes = {**beliefs.posterior.notes(), "share of uniform play": exploration}
        reasons = Reasons.top(action, values, columns, beliefs.features[action] * coefficients, notes)
        observation = np.concatenate((beliefs.features.mean(axis=0), remembered))
        return Choice(action, float(probability[action]), reasons, observation=observation)


class DRLasso(LassoPolicy):
    """The doubly-robust Lasso bandit of Kim and Paik (2019).

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    noise_variance : float, default=1.0
        Noise variance of a reward. Accepted as by every policy, but the authors' constants do not depend on it.
    exploration : float, default=1.0
        λ_1, factor on the share of uniform play.
    penalty : float, default=0.5
        λ_2.
    uniform_rounds : int, default=10
        z, number of rounds of uniform play at the start.
    cut_off : float or None, default=3.0
        Largest absolute value of a pseudo-reward, in the unit of rewards; None for no limit.
    refit_growth : float, default=0.0
        Share of new rewards at which the Lasso is fitted again; 0 is after every reward, as published.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> policy = DRLasso(np.eye(3), seed=1)
    >>> decision = policy.ask()
    >>> policy.tell(decision, 1.0)
    >>> round(decision.probability, 3)
    0.333
    """

    def __init__(
        self,
        actions: object,
        noise_variance: float = 1.0,
        exploration: float = 1.0,
        penalty: float = 0.5,
        uniform_rounds: int = 10,
        cut_off: float | None = 3.0,
        refit_growth: float = 0.0,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        check_positive("noise_variance", noise_variance)
        rule = DoublyRobust(
            check_weight("exploration", exploration), check_count("uniform_rounds", uniform_rounds, least=0)
        )
        limit = None if cut_off is None else check_positive("cut_off", cut_off)
        estimator = AverageLasso(check_weight("penalty", penalty))
        learner = PseudoRewards(available.dimension, estimator, refit_growth, limit)
        super().__init__(available, learner, rule, seed, journal)
