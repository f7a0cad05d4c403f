"""Clicks: the actions and the sparse θ* of ``GaussianActions``, with rewards of 0 and 1.

P(Y = 1) = μ(α + ⟨a, θ*⟩), where μ is the logistic or the normal distribution function. α is set by the base rate μ(α),
which is the mean reward of an action at the centre of all actions, where ⟨a, θ*⟩ = 0. No published source.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

from sparsebandits.arguments import ArgumentValueError, check_between, check_positive, shown
from sparsebandits.environments.gaussian_actions import GaussianActions
from sparsebandits.environments.instance import Instance
from sparsebandits.model.families import Bernoulli
from sparsebandits.randomness import Seed


@dataclass(frozen=True)
class LogisticActions:
    """Instances with Gaussian actions and rewards of 0 and 1.

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
    base_rate : float, default=0.1
        Mean reward μ(α) of an action with ⟨a, θ*⟩ = 0, between 0 and 1. A policy is not told.
    signal : float, default=1.0
        Norm of θ*. The variance of ⟨a, θ*⟩ over actions is ``signal**2``, on average over θ*.
    link : {"logit", "probit"}, default="logit"
        Logistic or normal distribution function μ.

    Examples
    --------
    >>> instance = LogisticActions(dimension=40, sparsity=4, base_rate=0.03).sample(seed=0)
    >>> instance
    Instance(200 actions of 40 features of which 4 matter, Bernoulli rewards)
    >>> bool(((instance.means > 0.0) & (instance.means < 1.0)).all())
    True
    """

    dimension: int
    sparsity: int
    n_actions: int = 200
    correlation: float = 0.6
    base_rate: float = 0.1
    signal: float = 1.0
    link: str = "logit"

    def __post_init__(self) -> None:
        _ = self.linear, self.rewards  # which check their arguments
        if check_between("base_rate", self.base_rate, 0.0, 1.0) in (0.0, 1.0):
            raise ArgumentValueError("base_rate", "a number between 0 and 1", shown(self.base_rate))
        check_positive("signal", self.signal)

    @property
    def linear(self) -> GaussianActions:
        """The environment that actions and θ* are drawn from."""
        return GaussianActions(self.dimension, self.sparsity, self.n_actions, self.correlation)

    @property
    def rewards(self) -> Bernoulli:
        """The family of the rewards; their intercept is unknown."""
        return Bernoulli(self.link, intercept=True)

    @property
    def intercept(self) -> float:
        """The intercept α, at which the mean reward is the base rate."""
        if self.link == "probit":
            return NormalDist().inv_cdf(self.base_rate)
        return math.log(self.base_rate) - math.log1p(-self.base_rate)

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
        drawn = self.linear.sample(seed)
        return Instance(drawn.actions, self.signal * drawn.theta, rewards=self.rewards, intercept=self.intercept)
