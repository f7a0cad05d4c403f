"""The doubly-robust Lasso bandit: a Lasso on the average row of each round, and pseudo-rewards for it.

Kim and Paik (2019), Algorithm 1. In round t with N rows b_1 … b_N, b̄ their mean and θ̂ the last estimate:

    the first z rounds are uniform; afterwards the row is drawn uniformly with probability
        λ_1t = min(1, λ_1 √((log t + log d) / t)), and is argmax_i ⟨b_i, θ̂⟩ otherwise;
    with π the probability that the row a which was played had, the pseudo-reward is
        r̂ = ⟨b̄, θ̂⟩ + (r − ⟨b_a, θ̂⟩) / (N π),
    whose mean is ⟨b̄, θ*⟩ whatever θ̂ is; it is cut off at ±3;
    θ̂ = Lasso of all r̂ on all b̄, with penalty λ_2 √((log t + log d) / t).

λ_1 = 1, λ_2 = 0.5, z = 10 and the cut-off are those of the authors' program, which takes the second for the penalty of
scikit-learn. It also fits an intercept; the paper has none, nor has this one. Rows that are tied for the best share
its probability. A reward that comes late counts when it comes, with the θ̂ and π of its decision.

Made for rounds whose rows are correlated with one another, fresh each time: then b̄ varies about as much as the rows do.
Out of its element elsewhere. On a fixed action set b̄ is the same in each round, so nothing but ⟨b̄, θ⟩ can be learnt,
and it is no better than random play. With many independent rows a round, b̄ varies √N times less than a row does, and
the Lasso needs N times the rewards.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import FloatArray, check_count, check_positive
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Choice, Reasons
from sparsebandits.policies.rivals.lasso import Estimate, LassoPolicy, LassoRule, check_weight, lasso, root_log_rate
from sparsebandits.randomness import Seed


@dataclass(frozen=True)
class AverageLasso:
    """The estimate of :class:`DRLasso`, from average rows and pseudo-rewards."""

    scale: float  # λ_2

    def __call__(self, x: FloatArray, y: FloatArray, start: FloatArray) -> Estimate:
        """Fit with λ_2t."""
        penalty = self.scale * root_log_rate(len(y), x.shape[1])
        coefficients = lasso(x, y, penalty, start)
        return Estimate(coefficients, coefficients, penalty)


def row_probabilities(values: FloatArray, exploration: float) -> FloatArray:
    """Return how probable each row is: uniform with probability ``exploration``, else one of the best.

    >>> row_probabilities(np.array([0.0, 2.0, 2.0, 1.0]), 0.4)
    array([0.1, 0.4, 0.4, 0.1])
    """
    best = values == values.max()
    if best.all():
        return np.full(len(values), 1.0 / len(values))
    return np.asarray(exploration / len(values) + (1.0 - exploration) * best / best.sum())


def pseudo_rewards(mean: FloatArray, chosen: FloatArray, weight: FloatArray, rewards: FloatArray) -> FloatArray:
    """Return r̂ from ⟨b̄, θ̂⟩, ⟨b_a, θ̂⟩, N π and r."""
    return mean + (rewards - chosen) / weight


class DoublyRobust(LassoRule):
    """The rule. A decision is remembered by b̄, ⟨b̄, θ̂⟩, ⟨b_a, θ̂⟩ and N π, until its reward comes."""

    def __init__(
        self,
        dimension: int,
        refit_growth: object,
        exploration: float,
        penalty: float,
        uniform_rounds: int,
        cut_off: float | None,
    ) -> None:
        super().__init__(dimension, AverageLasso(penalty), refit_growth)
        self.exploration, self.uniform_rounds, self.cut_off = exploration, uniform_rounds, cut_off

    def exploration_in(self, number: int) -> float:
        """Return λ_1t of round t = ``number``, counted from one."""
        if number <= self.uniform_rounds:
            return 1.0
        return min(1.0, self.exploration * root_log_rate(number, self.samples.x.shape[1]))

    def choose(self, actions: ActionSet, rng: Generator) -> Choice:
        """Draw a row."""
        coefficients = self.estimate().coefficients
        values = actions.features @ coefficients
        self.rounds += 1
        exploration = self.exploration_in(self.rounds)
        probability = row_probabilities(values, exploration)
        action = int(rng.choice(len(values), p=probability)) if len(values) > 1 else 0
        remembered = np.array([values.mean(), values[action], len(values) * probability[action]])
        columns = {"estimated reward": values, "probability": probability}
        notes = {**self.notes(), "share of uniform play": exploration}
        reasons = Reasons.top(action, values, columns, actions.features[action] * coefficients, notes)
        observation = np.concatenate((actions.features.mean(axis=0), remembered))
        return Choice(action, float(probability[action]), reasons, observation=observation)

    def learn(self, features: FloatArray, rewards: FloatArray) -> None:
        """Keep the pseudo-rewards."""
        pseudo = pseudo_rewards(features[:, -3], features[:, -2], features[:, -1], rewards)
        if self.cut_off is not None:
            pseudo = pseudo.clip(-self.cut_off, self.cut_off)
        super().learn(features[:, :-3], pseudo)


class DRLasso(LassoPolicy):
    """The doubly-robust Lasso bandit of Kim and Paik (2019).

    Parameters
    ----------
    actions : array or DataFrame ``(K, d)``, one row an action
    noise_variance : of a reward; taken as every policy takes it, but the authors' constants do not depend on it
    exploration : λ_1, on the share of uniform play
    penalty : λ_2
    uniform_rounds : z, rounds of uniform play at the start
    cut_off : largest size of a pseudo-reward, in the unit of rewards; None for no limit
    refit_growth : share of new rewards at which the Lasso is fitted anew; 0 is after every reward, as published
    seed : integer, SeedSequence, or None for fresh entropy

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
    ) -> None:
        available = ActionSet.of(actions)
        arguments: dict[str, Any] = {
            "noise_variance": check_positive("noise_variance", noise_variance),
            "exploration": check_weight("exploration", exploration),
            "penalty": check_weight("penalty", penalty),
            "uniform_rounds": check_count("uniform_rounds", uniform_rounds, least=0),
            "cut_off": None if cut_off is None else check_positive("cut_off", cut_off),
        }
        settings = {name: value for name, value in arguments.items() if name != "noise_variance"}
        super().__init__(available, DoublyRobust(available.dimension, refit_growth, **settings), arguments, seed)
