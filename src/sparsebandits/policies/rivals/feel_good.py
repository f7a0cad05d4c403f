"""Feel-Good Thompson sampling: a draw from a posterior that favours models with a high best reward.

Zhang (2021), *Feel-Good Thompson Sampling for Contextual Bandits and Reinforcement Learning*. A past round s with
context x_s, action a_s and reward r_s has the loss

    L_s(θ) = η' (f_θ(x_s, a_s) − r_s)² − λ min(b, max_a f_θ(x_s, a)),

θ is drawn from p_0(θ) exp(−Σ_{s<t} L_s(θ)), and the best action under it is played. Here f_θ = ⟨a, θ⟩, and p_0 is the
spike-and-slab prior. η' = η / 2σ², so that η = 1 is the posterior itself.

The paper bounds the regret for b = 1 with mean rewards in [0, 1] and a small η', with λ of the order √(C / dT) for a
known horizon T, where C is the log of the number of models or what replaces it. Its constants could not be checked. By
default there is no cap, η = 1, and λ is that of ``optimistic_posterior.py`` for T = t. With λ = 0 it is Thompson
sampling on the posterior's draws, which is ``SparseTS``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import check_flag, check_number, check_positive
from sparsebandits.model.priors import SpikeSlab
from sparsebandits.model.rewards import Rewards
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Recorder
from sparsebandits.policies.rivals.optimistic_posterior import (
    Rate,
    check_learns_by_draws,
    check_optimism,
    default_rate,
    health_of_tilt,
    optimistic_posterior,
    tempered,
)
from sparsebandits.policies.sparse import SparsePolicy
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.rule import Rule


@dataclass(frozen=True)
class FeelGood(Rule):
    """Play the best action under one draw of the optimistic posterior.

    Always one of the posterior's standing draws is picked, so its probability is exact given these. Of actions that tie
    under the draw, the one with the largest mean is played: under the optimistic posterior, or under the posterior
    where an engine knows that mean exactly.

    Parameters
    ----------
    optimism : float or LearningRate, default=0.1
        λ, in units of the noise; 0 is Thompson sampling.
    cap : float, optional
        b, in units of the rewards; by default there is none.
    likelihood : float, default=1.0
        η of the posterior that the rule is used with, whose noise variance is σ²/η: it gives σ, the unit of λ.

    Examples
    --------
    >>> FeelGood(0.05)
    FeelGood(optimism=0.05, cap=None, likelihood=1.0)
    """

    draws_afresh: ClassVar[bool] = True
    optimism: Rate = 0.1
    cap: float | None = None
    likelihood: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "optimism", check_optimism(self.optimism))
        if self.cap is not None:
            object.__setattr__(self, "cap", check_number("cap", self.cap))
        object.__setattr__(self, "likelihood", check_positive("likelihood", self.likelihood))

    def check(self, posterior: Any) -> None:
        """Require an engine."""
        super().check(posterior)
        check_learns_by_draws(type(self).__name__, posterior)

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Pick a draw by its tilted weight, and play the best action under it."""
        draws, notes = optimistic_posterior(beliefs, self.optimism, self.cap, self.likelihood)
        row = int(rng.choice(len(draws), p=draws.weights))
        best = beliefs.best_under(draws)
        action = best.row_under(row, rng)
        probability = best.row_probability()
        share = 1.0 if np.count_nonzero(probability) == 1 else float(probability[action])  # exactly 1 if it is alone
        value = beliefs.rewards_under(draws.theta[row])
        columns = {"sampled value": value, "optimistic mean": beliefs.rewards_under(best.mean)}
        contributions = beliefs.features[action] * best.mean
        return Choice(action, share, Reasons.top(action, value, columns, contributions, notes))

    def health(self, beliefs: Beliefs) -> Health:
        """Report how many draws the optimistic posterior is worth."""
        return health_of_tilt(optimistic_posterior(beliefs, self.optimism, self.cap, self.likelihood)[0])


class FeelGoodTS(SparsePolicy):
    """Feel-Good Thompson sampling with a spike-and-slab prior.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    prior : SpikeSlab, optional
        Prior of θ; by default one that learns how many features matter, and how much.
    noise_variance : float, array of shape (K,) or InverseGammaNoise, optional
        Noise variance of a reward, or one per action, or a prior if it is to be learnt, which is the default. Short
        form of ``rewards``.
    engine : {"particles", "gibbs", "langevin", "enumeration"}, default="particles"
        See :class:`~sparsebandits.policies.SparsePolicy`.
    n_draws : int, default=10000
        Posterior draws from which one is picked.
    optimism : float or LearningRate, optional
        λ in units of the noise, or its values over time; by default λ⁽²⁾ of ``optimistic_posterior.py``.
    cap : float, optional
        b, in units of the rewards; by default there is none.
    likelihood : float, default=1.0
        η, the power of the likelihood. Other values than 1 need one known noise variance.
    sparsity : float, optional
        s of the default ``optimism``; by default the number of features that the prior expects to matter.
    engine_options : mapping, optional
        Further arguments of the engine, such as ``{"chains": 100}`` for "langevin".
    seed : int, SeedSequence or None
        Seed of all random choices.
    rewards : Gaussian, optional
        How a reward arises from θ.
    journal : Recorder, optional
        Where decisions and rewards are recorded.
    intercept : bool, default=False
        Whether rewards have an unknown level, which is integrated out; the paper has none.

    Examples
    --------
    >>> policy = FeelGoodTS(np.eye(3), seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        prior: SpikeSlab | None = None,
        noise_variance: object = None,
        engine: str = "particles",
        n_draws: int = 10_000,
        optimism: Rate | None = None,
        cap: float | None = None,
        likelihood: float = 1.0,
        sparsity: float | None = None,
        engine_options: Mapping[str, Any] | None = None,
        seed: Seed = None,
        rewards: Rewards | None = None,
        journal: Recorder | None = None,
        intercept: bool = False,
    ) -> None:
        available, level = ActionSet.of(actions), check_flag("intercept", intercept)
        given, noise, known, power = tempered(available, prior, noise_variance, rewards, level, likelihood)
        rate = default_rate(available, given, level, sparsity) if optimism is None else optimism
        rule = FeelGood(rate, cap, power)
        super().__init__(
            available, rule, given, noise, engine, n_draws, engine_options, seed, known, journal, intercept
        )
