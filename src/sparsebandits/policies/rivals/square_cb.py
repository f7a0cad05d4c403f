"""SquareCB: an online regression oracle, and actions drawn with probabilities inverse to their estimated gaps.

Foster and Rakhlin (2020), *Beyond UCB: Optimal and Efficient Contextual Bandits with Regression Oracles*, Algorithm 1.
With K actions, predictions ŷ of the oracle and b the action with the best of them,

    p(a) = 1 / (K + γ (ŷ_b − ŷ_a))  for a ≠ b,    p(b) = 1 − Σ_{a ≠ b} p(a)        (inverse gap weighting).

Their theorem takes γ = √(K T / R) for T rounds, with R the squared-loss regret of the oracle up to a constant and the
confidence term: Proposition 10 of Foster and Rakhlin's lecture notes (2023) has γ = √(K T / EstSq), which
:func:`theorem_rate` computes. The paper itself was not available. The program in Vowpal Wabbit
(``cb_explore_adf_squarecb``) takes γ_t = 10 √t after t rewards, with losses from 0 to 1; its constants 10 and 1/2 are
the defaults here. Dividing γ by the standard deviation of the noise is ours, so that the unit of rewards does not
matter. If several actions tie for the best, b is one of them with equal probability, so they share what is left.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import LARGEST, FloatArray, check_count, check_positive
from sparsebandits.atomic import forked
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Policy, Recorder
from sparsebandits.policies.rivals.lasso import check_weight
from sparsebandits.policies.rivals.oracles import Regressor, check_oracle, coefficients_of, online_oracle
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.optima import tied
from sparsebandits.rules.rule import Rule

SCALE, EXPONENT = 10.0, 0.5
"""γ_t = 10 t^(1/2): the defaults ``gamma_scale`` and ``gamma_exponent`` of the program."""

LOG_LARGEST = math.log(LARGEST)


def inverse_gap_weights(values: FloatArray, gamma: float) -> FloatArray:
    """Return the probability of each action.

    Parameters
    ----------
    values : array of shape (K,)
        Predicted reward of each action.
    gamma : float
        γ, the learning rate.

    Returns
    -------
    array of shape (K,)
        Probabilities; actions that tie for the best share what the others leave.

    Examples
    --------
    >>> inverse_gap_weights(np.array([1.0, 0.5, 0.0]), gamma=2.0)
    array([0.55, 0.25, 0.2 ])
    """
    best = tied(values)
    weights = 1.0 / (len(values) + gamma * np.where(best, 0.0, values.max() - values))
    weights[best] = max(1.0 - float(weights[~best].sum()), 0.0) / np.count_nonzero(best)
    return np.asarray(weights)


def theorem_rate(n_actions: int, horizon: int, oracle_regret: float) -> float:
    """Return γ = √(K T / EstSq) of the theorem, a constant for all rounds.

    Parameters
    ----------
    n_actions : int
        Number of actions K.
    horizon : int
        Number of rounds T.
    oracle_regret : float
        EstSq, sum of squared errors of the oracle's predictions over all rounds; about σ² d for ridge regression and
        σ² s log d for sparse regression, up to logarithms.

    Returns
    -------
    float
        γ, for the argument ``scale`` with ``exponent=0`` and σ = 1.

    Examples
    --------
    >>> theorem_rate(4, 100, oracle_regret=25.0)
    4.0
    """
    actions, rounds = check_count("n_actions", n_actions), check_count("horizon", horizon)
    return math.sqrt(actions * rounds / check_positive("oracle_regret", oracle_regret))


def drawn(
    weights: FloatArray, values: FloatArray, coefficients: FloatArray, beliefs: Beliefs, rng: Generator, **notes: float
) -> Choice:
    """Draw an action by its probability, with the reasons of a policy that weighs estimated rewards.

    Parameters
    ----------
    weights : array of shape (K,)
        Probability of each action.
    values : array of shape (K,)
        Predicted reward of each action.
    coefficients : array of shape (d,)
        θ̂.
    beliefs : Beliefs
        The learner and the actions.
    rng : Generator
        Source of randomness.
    **notes : float
        Further numbers about the decision.

    Returns
    -------
    Choice
        The action, with its exact probability.
    """
    edges = weights.cumsum()
    action = int(np.searchsorted(edges, rng.random() * edges[-1], side="right")) if len(weights) > 1 else 0
    columns = {"estimated reward": values, "probability": weights}
    contributions = beliefs.features[action] * coefficients
    return Choice(action, float(weights[action]), Reasons.top(action, values, columns, contributions, notes))


@dataclass(frozen=True)
class InverseGapWeighting(Rule):
    """Draw actions with probabilities inverse to their estimated gaps, at a learning rate γ_t = scale · t^exponent.

    Parameters
    ----------
    scale : float, default=10.0
        Factor of γ_t, in one over the unit of rewards.
    exponent : float, default=0.5
        Exponent of the number t of decisions before this one; 0 is a constant γ.

    Examples
    --------
    >>> InverseGapWeighting(scale=5.0).rate(16)
    20.0
    """

    scale: float = SCALE
    exponent: float = EXPONENT

    def __post_init__(self) -> None:
        check_weight("scale", self.scale)
        check_weight("exponent", self.exponent)

    def check(self, posterior: Any) -> None:
        """Require a learner with an estimate or a posterior mean."""
        check_oracle(posterior, type(self).__name__)

    def rate(self, decisions: int) -> float:
        """Return γ_t after t decisions; t^exponent is at most 10⁵⁰, where play is greedy."""
        grown = LARGEST if self.exponent * math.log(max(decisions, 1)) > LOG_LARGEST else decisions**self.exponent
        return float(self.scale * grown)

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Draw an action."""
        coefficients, gamma = coefficients_of(beliefs.posterior), self.rate(beliefs.decisions)
        values = beliefs.features @ coefficients
        return drawn(inverse_gap_weights(values, gamma), values, coefficients, beliefs, rng, **{"learning rate": gamma})


class SquareCB(Policy):
    """SquareCB of Foster and Rakhlin (2020): inverse gap weighting on an online regression oracle.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    noise_variance : float, default=1.0
        Noise variance σ² of a reward, for the oracle and as the unit of ``scale``.
    regressor : {"ridge", "lasso", "spike-and-slab", "emvs", "spike-and-slab lasso"} or Estimator, default="ridge"
        The oracle, or an estimator of one's own: a frozen dataclass that is called as ``estimator(x, y, start)``.
    scale : float, default=10.0
        γ_t = scale · t^exponent / σ; the default is that of the program.
    exponent : float, default=0.5
        Exponent of t; 0 is a constant γ, as in the theorem.
    refit_growth : float, default=0.0
        Share of new rewards at which a Lasso or an estimator of one's own is fitted again; 0 is after every reward.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> policy = SquareCB(np.eye(3), seed=1)
    >>> decision = policy.ask()
    >>> policy.tell(decision, 1.0)
    >>> round(decision.probability, 3)
    0.333
    """

    def __init__(
        self,
        actions: object,
        noise_variance: float = 1.0,
        regressor: Regressor = "ridge",
        scale: float = SCALE,
        exponent: float = EXPONENT,
        refit_growth: float = 0.0,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        variance = check_positive("noise_variance", noise_variance)
        growth = check_weight("refit_growth", refit_growth)
        rule = InverseGapWeighting(
            check_weight("scale", scale) / math.sqrt(variance), check_weight("exponent", exponent)
        )
        learner = online_oracle(regressor, available, variance, growth, seed)
        super().__init__(available, learner, rule, seed, journal)

    @property
    def coefficients(self) -> FloatArray:
        """Coefficients θ̂ of the oracle that the next decision uses, shape ``(d,)``."""
        with self._lock:
            return coefficients_of(forked(self.posterior)).copy()
