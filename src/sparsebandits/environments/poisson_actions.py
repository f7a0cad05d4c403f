"""Counts: the actions and the sparse θ* of ``GaussianActions``, with Poisson rewards.

The mean reward is e^(α + ⟨a, θ*⟩). α is set by the base rate e^α, which is the mean reward of an action at the centre
of all actions, where ⟨a, θ*⟩ = 0. No published source.
"""

import math
from dataclasses import dataclass

from sparsebandits.arguments import check_positive
from sparsebandits.environments.gaussian_actions import GaussianActions
from sparsebandits.environments.instance import Instance
from sparsebandits.model.families import Poisson
from sparsebandits.randomness import Seed


@dataclass(frozen=True)
class PoissonActions:
    """Instances with Gaussian actions and rewards that are counts.

    For a seed, the actions and the direction of θ* are those of :class:`GaussianActions`.

    Parameters
    ----------
    dimension : int
        Number of features d.
    sparsity : int
        Number of features that matter s, from 1 to d.
    n_actions : int, default=200
        Number of actions K.
    correlation : float, default=0.6
        Correlation ρ of neighbouring features, from -1 to 1.
    base_rate : float, default=1.0
        Mean reward e^α of an action with ⟨a, θ*⟩ = 0. A policy is not told.
    signal : float, default=0.5
        Norm of θ*. The variance of ⟨a, θ*⟩ over actions is ``signal**2``, on average over θ*.

    Examples
    --------
    >>> instance = PoissonActions(dimension=40, sparsity=4, base_rate=3.0).sample(seed=0)
    >>> instance
    Instance(200 actions of 40 features of which 4 matter, Poisson rewards)
    >>> bool((instance.means > 0.0).all())
    True
    """

    dimension: int
    sparsity: int
    n_actions: int = 200
    correlation: float = 0.6
    base_rate: float = 1.0
    signal: float = 0.5

    def __post_init__(self) -> None:
        _ = self.linear  # which checks its arguments
        check_positive("base_rate", self.base_rate)
        check_positive("signal", self.signal)

    @property
    def linear(self) -> GaussianActions:
        """The environment that actions and θ* are drawn from."""
        return GaussianActions(self.dimension, self.sparsity, self.n_actions, self.correlation)

    @property
    def intercept(self) -> float:
        """The intercept α, at which the mean reward is the base rate."""
        return math.log(self.base_rate)

    def sample(self, seed: Seed) -> Instance:
        """Return the instance that belongs to a seed.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        Instance
        """
        drawn, rewards = self.linear.sample(seed), Poisson(intercept=True)
        return Instance(drawn.actions, self.signal * drawn.theta, rewards=rewards, intercept=self.intercept)
