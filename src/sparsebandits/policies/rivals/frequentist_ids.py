"""Frequentist information-directed sampling for linear bandits: confidence bounds instead of a prior that is believed.

Kirschner and Krause (2018), *Information Directed Sampling and Bandits with Heteroscedastic Noise*; Kirschner,
Lattimore and Krause (2020). In ridge regression each reward weighs 1 / σ_a², so V = Λ + Σ aa'/σ_a². With a width w
such that ⟨a, θ*⟩ lies within ⟨a, θ̂⟩ ± w‖a‖, in the norm of V⁻¹, for all actions:

    gap estimate    Δ̂(a) = max_b UCB(b) − LCB(a)
    gain, full      I(a) = log(1 + ‖a‖² / σ_a²)                               what a's reward says of all of θ
    gain, directed  I(a) = log(‖x‖² in V⁻¹ / ‖x‖² in (V + aa'/σ_a²)⁻¹)         and of x, the action of the largest UCB

and the distribution that minimises Δ̂² / I is played. By Sherman and Morrison the directed gain is −log(1 − ρ²), where
ρ² = (x'V⁻¹a)² / (‖x‖² (‖a‖² + σ_a²)). The papers have ½ before the gains, which changes no minimiser.
"""

from typing import Any

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import FloatArray, check_choice
from sparsebandits.model.priors import GaussianPrior
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Choice, Mixture, Reasons
from sparsebandits.policies.ids import SELECTIONS, flipped
from sparsebandits.policies.linucb import ConfidenceBounds, Width, check_width
from sparsebandits.policies.policy import ENGINE_STREAM, Policy
from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.randomness import Seed, child
from sparsebandits.rules.ratio import ratios

GAINS = ("full", "directed")


def directed_gain(covariance: FloatArray, variance: FloatArray, noise: FloatArray | float, target: int) -> FloatArray:
    """Return by how much each action's reward would shrink the log variance of the ``target`` action's mean.

    ``covariance`` is that of each action's mean with the target's, ``variance`` that of each action's mean.
    """
    if variance[target] <= 0:
        return np.zeros(len(variance))
    explained = covariance * covariance / (variance[target] * (variance + noise))
    return np.asarray(-np.log1p(-np.minimum(explained, 1.0 - np.finfo(np.float64).eps)))  # rounding may reach 1


class FrequentistInformationDirected(ConfidenceBounds):
    """The rule."""

    def __init__(
        self, posterior: Conjugate, width: Width, least_prior_variance: float, gain: str, selection: str
    ) -> None:
        super().__init__(posterior, width, least_prior_variance)
        self.gain = check_choice("gain", gain, GAINS)
        self.selection = check_choice("selection", selection, tuple(SELECTIONS))

    def choose(self, actions: ActionSet, rng: Generator) -> Choice:
        """Minimise the ratio; draw one of the two actions if the minimiser has two."""
        features, width, coefficients = actions.features, self.width, self.posterior.mean()
        variance = np.maximum(self.variances.of(features), 0.0)
        noise = self.posterior.noise_variance if actions.noise_variances is None else actions.noise_variances
        mean, bonus = features @ coefficients, width * np.sqrt(variance)
        upper = mean + bonus
        optimistic = int(upper.argmax())
        gap = np.maximum(upper[optimistic] - (mean - bonus), 0.0)
        if self.gain == "full":
            gain = np.log1p(variance / noise)
        else:
            covariance = features @ self.posterior.covariance_times(features[optimistic])
            gain = directed_gain(covariance, variance, noise, optimistic)
        minimiser = SELECTIONS[self.selection](gap, gain)
        action, probability = flipped(minimiser, rng)
        columns = {
            "gap estimate": gap,
            "information gain": gain,
            "ratio": ratios(gap, gain),
            "upper bound": upper,
            "lower bound": mean - bonus,
        }
        notes = {"ratio minimised": minimiser.ratio, "width": width}
        mixture = Mixture(minimiser.first, minimiser.second, minimiser.probability)
        parts = features[action] * coefficients
        return Choice(action, probability, Reasons.top(action, upper, columns, parts, notes, mixture))


class FrequentistIDS(Policy):
    """Information-directed sampling from confidence bounds.

    Parameters
    ----------
    actions : array or DataFrame ``(K, d)``, one row an action
    prior : of θ, whose precision is the ridge penalty Λ; by default N(0, 1/d) for each coordinate
    noise_variance : of a reward around its mean: a number, or one number an action
    width : posterior standard deviations between estimate and bound, or a :class:`ConfidenceRadius`
    gain : "directed" counts what is learnt of the action with the largest upper bound, "full" what is learnt of θ
    selection : "randomised" minimises the ratio over distributions, "deterministic" over actions
    seed : integer, SeedSequence, or None for fresh entropy

    >>> policy = FrequentistIDS(np.eye(3), noise_variance=[0.1, 1.0, 2.0], seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        prior: GaussianPrior | None = None,
        noise_variance: object = 1.0,
        width: Width = 2.0,
        gain: str = "directed",
        selection: str = "randomised",
        seed: Seed = None,
    ) -> None:
        available = ActionSet.of(actions)
        prior = GaussianPrior(1.0 / available.dimension) if prior is None else prior
        width = check_width(width)
        noise: Any = noise_variance
        if np.ndim(noise) > 0:  # one an action: rewards are divided by their deviation before the posterior sees them
            available = available.with_noise(noise)
            noise = available.noise_variances
        of_posterior = noise if available.noise_variances is None else 1.0
        posterior = Conjugate(prior, available.dimension, of_posterior, seed=child(seed, ENGINE_STREAM))
        rule = FrequentistInformationDirected(posterior, width, float(np.min(prior.variance)), gain, selection)
        arguments = {
            "prior": prior,
            "noise_variance": noise,
            "width": width,
            "gain": rule.gain,
            "selection": rule.selection,
        }
        super().__init__(available, rule, arguments, seed)
        posterior.feature_names = available.feature_names
        self.posterior = posterior
