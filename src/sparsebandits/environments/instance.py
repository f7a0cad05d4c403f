"""One bandit problem with its answer: the actions, the true θ* and the noise. A policy never sees it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from sparsebandits.checks import FloatArray, check_matrix, check_positive, check_vector, frozen
from sparsebandits.randomness import Seed


@dataclass(frozen=True, eq=False)
class Instance:
    """Actions ``(K, d)``, θ* ``(d,)`` and the variance of a reward around its mean.

    >>> import numpy as np
    >>> instance = Instance(np.eye(2), [1.0, 3.0], noise_variance=0.5)
    >>> instance.means, instance.gaps
    (array([1., 3.]), array([2., 0.]))
    """

    actions: FloatArray
    theta: FloatArray
    noise_variance: float

    def __post_init__(self) -> None:
        actions = check_matrix("actions", self.actions)
        theta = check_vector("theta", self.theta, actions.shape[1])
        object.__setattr__(self, "actions", frozen(actions.copy()))
        object.__setattr__(self, "theta", frozen(theta.copy()))
        object.__setattr__(self, "noise_variance", check_positive("noise_variance", self.noise_variance))

    @cached_property
    def means(self) -> FloatArray:
        """Mean reward of each action, shape ``(K,)``."""
        return np.asarray(frozen(self.actions @ self.theta))

    @cached_property
    def gaps(self) -> FloatArray:
        """Regret of playing each action once, shape ``(K,)``."""
        return np.asarray(frozen(self.means.max() - self.means))


class Environment(Protocol):
    """A distribution over instances."""

    def sample(self, seed: Seed) -> Instance:
        """Return the instance that belongs to ``seed``."""
