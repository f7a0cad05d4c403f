"""What a posterior says about the available actions: all that a rule may know when it chooses.

Every quantity is computed when a rule first asks for it, and once per decision. Rules stay stateless: what is worth
remembering from one decision to the next (the best action under each draw) is in the ``memory`` that the policy keeps.
"""

from functools import cached_property
from typing import Any

import numpy as np

from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors.draws import Draws
from sparsebandits.rules.information import Information, information
from sparsebandits.rules.mutual_information import mutual_information
from sparsebandits.rules.optima import Optima, OptimaMemory


class Beliefs:
    """A posterior and a set of actions, with the quantities that rules compute from the two.

    Parameters
    ----------
    posterior : Engine or other learner
        The posterior. Rules of whole algorithms (``policies/rivals``) find their own kind of learner here.
    features : array of shape (K, d)
        The available actions, one per row; read-only.
    noise_variances : array of shape (K,), optional
        Noise variance of each action's reward, where they differ and are known.
    decisions : int, default=0
        Number of decisions that the policy has made before this one.
    memory : OptimaMemory, optional
        Remembers the best actions under the last draws.

    Examples
    --------
    >>> from sparsebandits import Conjugate, GaussianPrior
    >>> beliefs = Beliefs(Conjugate(GaussianPrior(4.0), dimension=2, seed=0), np.eye(2))
    >>> beliefs.means, beliefs.deviations
    (array([0., 0.]), array([2., 2.]))
    """

    def __init__(
        self,
        posterior: Any,
        features: FloatArray,
        noise_variances: FloatArray | None = None,
        decisions: int = 0,
        memory: OptimaMemory | None = None,
    ) -> None:
        self.posterior = posterior
        self.features = features
        self.decisions = decisions
        self.differing_noise = noise_variances
        self._memory = OptimaMemory() if memory is None else memory

    def __len__(self) -> int:
        return len(self.features)

    @cached_property
    def draws(self) -> Draws:
        """Weighted draws of θ."""
        drawn: Draws = self.posterior.draws()
        return drawn

    @cached_property
    def coefficients(self) -> FloatArray:
        """E θ, shape ``(d,)``."""
        mean: FloatArray = self.posterior.mean()
        return mean

    @cached_property
    def means(self) -> FloatArray:
        """E⟨a, θ⟩ of each action, shape ``(K,)``."""
        return self.features @ self.coefficients

    @cached_property
    def variances(self) -> FloatArray:
        """Var⟨a, θ⟩ of each action, shape ``(K,)``."""
        variances: FloatArray = self.posterior.variances(self.features)
        return variances

    @property
    def deviations(self) -> FloatArray:
        """Standard deviation of ⟨a, θ⟩ of each action, shape ``(K,)``."""
        return np.sqrt(self.variances)

    @cached_property
    def predictions(self) -> FloatArray:
        """⟨a, θ⟩ of each action under each draw, shape ``(K, M)``; the weights are ``draws.weights``."""
        return self.features @ self.draws.theta.T

    @cached_property
    def noise_variances(self) -> FloatArray:
        """Noise variance of each action's reward, or its posterior mean where it is learnt, shape ``(K,)``."""
        noise = self.posterior.noise_variance if self.differing_noise is None else self.differing_noise
        return np.broadcast_to(np.asarray(noise, dtype=np.float64), len(self.features))

    @cached_property
    def optima(self) -> Optima:
        """The best action under each draw."""
        return self.optima_of(self.draws)

    def optima_of(self, draws: Draws) -> Optima:
        """Return the best action under each of some draws.

        Parameters
        ----------
        draws : Draws
            Draws of θ, not necessarily the posterior's.

        Returns
        -------
        Optima
            The best actions.
        """
        return self._memory.of(draws.theta, self.features)

    @cached_property
    def information(self) -> Information:
        """Δ, v, P(x* = ·) and E[θ | x* = ·], by Algorithm 3."""
        return information(self.draws, self.features, self.optima)

    @property
    def expected_regret(self) -> FloatArray:
        """Δ of each action, shape ``(K,)``."""
        return self.information.expected_regret

    @property
    def variance_gain(self) -> FloatArray:
        """Var(E[⟨a, θ⟩ | x*]) of each action, per unit of its noise variance where those differ, shape ``(K,)``.

        A noise variance that all actions share would not change the order of information ratios, and is left out.
        """
        gain = self.information.gain
        return gain if self.differing_noise is None else gain / self.differing_noise

    @cached_property
    def mutual_information(self) -> FloatArray:
        """I(x*; reward of a) of each action in nats, shape ``(K,)``."""
        return mutual_information(self.draws, self.features, self.noise_variances, self.optima)

    @property
    def optimal_probability(self) -> FloatArray:
        """P(x* = a) of each action, shape ``(K,)``."""
        return self.information.optimal_probability

    @property
    def entropy(self) -> float:
        """H(x*), in nats."""
        return self.information.entropy
