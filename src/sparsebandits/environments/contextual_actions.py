"""Users and items: a new user in each round, the same items in all rounds, and a sparse θ* on their products.

The user of a round is u ~ N(0, Σ) with Σ_ij = ρ^|i−j|; the items v_1, …, v_K are drawn once per instance, with
independent standard normal entries. The mean reward of item a is μ(α + Σ_jk θ*_jk u_j v_ak), where μ is the identity
for Gaussian rewards (and α = 0), and the logistic function for rewards of 0 and 1. θ* has a uniformly random support.

No published source.
"""

import math
from dataclasses import dataclass

from sparsebandits.arguments import (
    ArgumentValueError,
    FloatArray,
    check_between,
    check_choice,
    check_count,
    check_positive,
    shown,
)
from sparsebandits.environments.changing import ChangingInstance
from sparsebandits.environments.contexts import Contexts
from sparsebandits.environments.gaussian_actions import correlated_rows, sparse_direction
from sparsebandits.environments.instance import Instance
from sparsebandits.model.families import Bernoulli
from sparsebandits.model.rewards import Gaussian, Rewards
from sparsebandits.randomness import CONTEXT_STREAM, Seed, child, stream

REWARDS = ("gaussian", "logistic")

NOISE_VARIANCE, BASE_RATE = 1.0, 0.1
"""Defaults of the arguments that belong to one kind of rewards."""


class ContextualInstance(ChangingInstance):
    """An instance whose actions are the products of the context of the round with the features of the items.

    Parameters
    ----------
    contexts : Contexts
        The contexts of all rounds, and the items.
    theta : array of shape (d,)
        The true coefficients θ*, in the order of ``contexts.feature_names``.
    rewards : Gaussian or Bernoulli
        The family of the rewards.
    intercept : float, default=0.0
        The true intercept α.

    Attributes
    ----------
    contexts : Contexts
        ``contexts.row(t)`` is the context of round t, ``contexts.rows(n)`` are those of the first n rounds,
        ``contexts.names`` their names and ``contexts.items`` the items. A policy may know all of these.
    """

    def __init__(self, contexts: Contexts, theta: FloatArray, rewards: Rewards, intercept: float = 0.0) -> None:
        self.contexts = contexts
        super().__init__(lambda t: Instance(contexts.actions(t), theta, rewards=rewards, intercept=intercept))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._now!r}, a new context in each round)"


@dataclass(frozen=True)
class ContextualActions:
    """Instances with a new user in each round and a fixed set of items.

    Parameters
    ----------
    user_features : int, default=20
        Number of features of a user p.
    item_features : int, default=10
        Number of features of an item q. Actions have d = p q features.
    n_items : int, default=30
        Number of items K.
    sparsity : int, default=8
        Number of products that matter s, from 1 to d.
    correlation : float, default=0.6
        Correlation ρ of neighbouring features of a user, from -1 to 1.
    rewards : {"gaussian", "logistic"}, default="gaussian"
        Rewards with Gaussian noise, or rewards of 0 and 1 through the logistic function.
    noise_variance : float, optional
        Variance of a Gaussian reward around its mean, 1 by default. Refused if rewards are logistic.
    base_rate : float, optional
        Mean of a logistic reward at ⟨a, θ*⟩ = 0, between 0 and 1, by default 0.1. A policy is not told. Refused if
        rewards are Gaussian.
    signal : float, default=1.0
        Norm of θ*. The variance of ⟨a, θ*⟩ over users and items is ``signal**2``, on average over θ*.

    Notes
    -----
    A user is a function of (seed, round) alone, so all policies of a trial see the same users. Regret is against the
    best item for the user of the round.

    Examples
    --------
    >>> instance = ContextualActions(rewards="logistic", base_rate=0.05).sample(seed=0)
    >>> instance.offered(7).shape, instance.contexts.row(7).shape, instance.contexts.items.shape
    ((30, 200), (20,), (30, 10))
    >>> int(instance.at(7).means.argmax()) == int(instance.at(8).means.argmax())
    False
    """

    user_features: int = 20
    item_features: int = 10
    n_items: int = 30
    sparsity: int = 8
    correlation: float = 0.6
    rewards: str = "gaussian"
    noise_variance: float | None = None
    base_rate: float | None = None
    signal: float = 1.0

    def __post_init__(self) -> None:
        for name in ("user_features", "item_features", "n_items"):
            check_count(name, getattr(self, name))
        if check_count("sparsity", self.sparsity) > self.dimension:
            products = f"user_features × item_features ({self.dimension})"
            raise ArgumentValueError("sparsity", f"at most {products}", f"{self.sparsity}")
        check_between("correlation", self.correlation, -1.0, 1.0)
        check_choice("rewards", self.rewards, REWARDS)
        other = "base_rate" if self.rewards == "gaussian" else "noise_variance"
        if getattr(self, other) is not None:
            raise ArgumentValueError(other, f"none, since rewards are {self.rewards}", shown(getattr(self, other)))
        _ = self.family  # which checks the noise variance
        if self.base_rate is not None and check_between("base_rate", self.base_rate, 0.0, 1.0) in (0.0, 1.0):
            raise ArgumentValueError("base_rate", "a number between 0 and 1", shown(self.base_rate))
        check_positive("signal", self.signal)

    @property
    def dimension(self) -> int:
        """Number of features of an action d."""
        return self.user_features * self.item_features

    @property
    def family(self) -> Gaussian | Bernoulli:
        """The family of the rewards; those of 0 and 1 have an intercept that a policy has to learn."""
        if self.rewards == "logistic":
            return Bernoulli(intercept=True)
        return Gaussian(
            NOISE_VARIANCE if self.noise_variance is None else check_positive("noise_variance", self.noise_variance)
        )

    @property
    def intercept(self) -> float:
        """The intercept α, at which the mean of a logistic reward is the base rate."""
        rate = BASE_RATE if self.base_rate is None else self.base_rate
        return math.log(rate) - math.log1p(-rate) if self.rewards == "logistic" else 0.0

    def sample(self, seed: Seed) -> ContextualInstance:
        """Return the instance that belongs to a seed.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        ContextualInstance
        """
        root = child(seed)  # fresh entropy is drawn once
        rng = stream(root)
        items = rng.standard_normal((self.n_items, self.item_features))
        theta = self.signal * sparse_direction(rng, self.dimension, self.sparsity)

        def user(t: int) -> FloatArray:
            return correlated_rows(stream(root, CONTEXT_STREAM, t), 1, self.user_features, self.correlation).ravel()

        names = [f"user feature {j}" for j in range(self.user_features)]
        return ContextualInstance(Contexts(user, names, items), theta, self.family, self.intercept)
