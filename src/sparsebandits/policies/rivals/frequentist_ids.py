"""Frequentist information-directed sampling for linear bandits: confidence bounds instead of a Bayesian prior.

Kirschner and Krause (2018), *Information Directed Sampling and Bandits with Heteroscedastic Noise*; Kirschner,
Lattimore and Krause (2020). In ridge regression each reward weighs 1 / σ_a², so V = Λ + Σ aa'/σ_a². With a width w
such that ⟨a, θ*⟩ lies within ⟨a, θ̂⟩ ± w‖a‖, in the norm of V⁻¹, for all actions:

    gap estimate    Δ̂(a) = max_b UCB(b) − LCB(a)
    gain, full      I(a) = log(1 + ‖a‖² / σ_a²)                          what a's reward tells about all of θ
    gain, directed  I(a) = log(‖x‖² in V⁻¹ / ‖x‖² in (V + aa'/σ_a²)⁻¹)    or about x, the action with the largest UCB

and the distribution that minimises Δ̂² / I is played. By Sherman and Morrison the directed gain is −log(1 − ρ²), where
ρ² = (x'V⁻¹a)² / (‖x‖² (‖a‖² + σ_a²)). A factor on the gain, such as the ½ of mutual information, changes no minimiser.

The formulas are those of an author's program (kirschnj/pm-ids, ``pm/strategies/old/ids.py``: ``IDS`` with ``GTheta``,
the full gain, or ``GUCB``, the directed one).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import ArgumentTypeError, FloatArray, check_choice, shown
from sparsebandits.model.families import Linked
from sparsebandits.model.priors import GaussianPrior
from sparsebandits.model.rewards import Rewards
from sparsebandits.policies.linear import LinearPolicy
from sparsebandits.policies.policy import Recorder
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.ids import SELECTIONS, check_selection, drawn
from sparsebandits.rules.optima import pick
from sparsebandits.rules.optimism import Width, check_bounded, check_width, current_width
from sparsebandits.rules.ratio import ratios
from sparsebandits.rules.rule import Rule

GAINS = ("full", "directed")


def directed_gain(covariance: FloatArray, variance: FloatArray, noise: FloatArray | float, target: int) -> FloatArray:
    """Return by how much each action's reward would reduce the log variance of the target action's mean.

    Parameters
    ----------
    covariance : array of shape (K,)
        Covariance of each action's mean with the target's.
    variance : array of shape (K,)
        Variance of each action's mean.
    noise : float or array of shape (K,)
        Noise variance of each action's reward.
    target : int
        Row of the target action.

    Returns
    -------
    array of shape (K,)
        Directed gain of each action.
    """
    return log_reduction(covariance, float(variance[target]), variance, noise)


def log_reduction(
    covariance: FloatArray, target_variance: float, variance: FloatArray, noise: FloatArray | float
) -> FloatArray:
    """Return by how much each observation would reduce the log variance of a target, −log(1 − ρ²).

    Parameters
    ----------
    covariance : array of shape (K,)
        Covariance of the mean of each observation with the target.
    target_variance : float
        Variance of the target.
    variance : array of shape (K,)
        Variance of the mean of each observation.
    noise : float or array of shape (K,)
        Noise variance of each observation.

    Returns
    -------
    array of shape (K,)
        The reductions; zero if nothing is left to learn of the target.
    """
    if target_variance <= 0:
        return np.zeros(len(variance))
    explained = covariance * covariance / (target_variance * (variance + noise))
    return np.asarray(-np.log1p(-np.minimum(explained, 1.0 - np.finfo(np.float64).eps)))  # rounding may reach 1


@dataclass(frozen=True)
class FrequentistInformationDirected(Rule):
    """Minimise the ratio of squared gap estimate to information gain.

    Parameters
    ----------
    width : float or ConfidenceRadius, default=2.0
        Posterior standard deviations between estimate and bound.
    gain : {"directed", "full"}, default="directed"
        What is learnt of the action with the largest upper bound, or of all of θ.
    selection : {"randomised", "deterministic"}, default="randomised"
        Minimise the ratio over distributions or over actions.
    """

    width: Width = 2.0
    gain: str = "directed"
    selection: str = "randomised"

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", check_width(self.width))
        check_choice("gain", self.gain, GAINS)
        object.__setattr__(self, "selection", check_selection(self.selection))

    def check(self, posterior: Any) -> None:
        """Refuse a confidence radius on a posterior that has none, and rewards that are not linear in θ."""
        super().check(posterior)
        if isinstance(posterior.rewards, Linked):
            raise ArgumentTypeError("rewards", f"Gaussian ones for {type(self).__name__}", shown(posterior.rewards))
        check_bounded(self.width, posterior)

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Minimise the ratio; draw one of the two actions if the minimiser has two."""
        features, noise = beliefs.features, beliefs.noise_variances
        width = current_width(self.width, beliefs.posterior)
        variance = np.maximum(beliefs.variances, 0.0)
        mean, bonus = beliefs.means, width * np.sqrt(variance)
        upper = mean + bonus
        optimistic, _ = pick(upper, rng)
        gap = np.maximum(upper[optimistic] - (mean - bonus), 0.0)
        if self.gain == "full":
            gain = np.log1p(variance / noise)
        else:
            covariance = features @ beliefs.posterior.covariance_times(features[optimistic])
            gain = directed_gain(covariance, variance, noise, optimistic)
        minimiser = SELECTIONS[self.selection](gap, gain)
        action, probability, mixture = drawn(minimiser, gap, gain, rng)
        columns = {
            "gap estimate": gap,
            "information gain": gain,
            "ratio": ratios(gap, gain),
            "upper bound": upper,
            "lower bound": mean - bonus,
        }
        notes = {"ratio minimised": minimiser.ratio, "width": width}
        contributions = features[action] * beliefs.coefficients
        return Choice(action, probability, Reasons.top(action, upper, columns, contributions, notes, mixture))


class FrequentistIDS(LinearPolicy):
    """Information-directed sampling from confidence bounds.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    prior : GaussianPrior, optional
        Prior of θ, whose precision is the ridge penalty Λ; by default N(0, 1/d) for each coordinate.
    noise_variance : float or array of shape (K,), default=1.0
        Noise variance of a reward, or one per action. Short form of ``rewards``.
    width : float or ConfidenceRadius, default=2.0
        Posterior standard deviations between estimate and bound.
    gain : {"directed", "full"}, default="directed"
        What is learnt of the action with the largest upper bound, or of all of θ.
    selection : {"randomised", "deterministic"}, default="randomised"
        Minimise the ratio over distributions or over actions.
    seed : int, SeedSequence or None
        Seed of all random choices.
    rewards : Gaussian, optional
        How a reward arises from θ; its variance has to be known.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> policy = FrequentistIDS(np.eye(3), noise_variance=[0.1, 1.0, 2.0], seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        prior: GaussianPrior | None = None,
        noise_variance: object = None,
        width: Width = 2.0,
        gain: str = "directed",
        selection: str = "randomised",
        seed: Seed = None,
        rewards: Rewards | None = None,
        journal: Recorder | None = None,
    ) -> None:
        rule = FrequentistInformationDirected(width, gain, selection)
        super().__init__(
            actions, rule, prior, noise_variance, seed=seed, rewards=rewards, journal=journal, intercept=False
        )
