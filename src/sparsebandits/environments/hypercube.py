"""The cube [−1, 1]^d as the action set, and a sparse θ*: Lattimore, Crammer and Szepesvári (2015).

Nobody enumerates its 2^d corners. The best action has the signs of θ*, and the best mean reward is ‖θ*‖₁, which is at
most 1, so that |⟨a, θ*⟩| ≤ 1 for every action, as the source assumes. The support of θ* is uniformly random.
"""

from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_count, check_positive, check_vector, frozen
from sparsebandits.environments.instance import Outcome
from sparsebandits.randomness import Seed, stream


class CubeInstance:
    """θ* ``(d,)`` and the variance of a reward around its mean; the actions are [−1, 1]^d.

    ``actions``, what a policy is told of them, is d.
    """

    def __init__(self, theta: FloatArray, noise_variance: float) -> None:
        self.theta: FloatArray = frozen(check_vector("theta", theta, len(theta)).copy())
        self.noise_variance = check_positive("noise_variance", noise_variance)
        self.actions = len(theta)
        self.best = float(np.abs(self.theta).sum())  # ‖θ*‖₁, the mean reward of sign(θ*)

    def __repr__(self) -> str:
        matter = np.count_nonzero(self.theta)
        noise = f"noise variance {self.noise_variance:g}"
        return f"{type(self).__name__}(the cube of {self.actions} features of which {matter} matter, {noise})"

    def offered(self, round_number: int) -> None:
        """Return nothing: the cube stays as it is."""

    def outcome(self, round_number: int, action: int, features: FloatArray) -> Outcome:
        """Return what the point ``features`` is worth. Its row is of no interest: a round has one noise for all."""
        point = check_vector("features", features, self.actions)
        if np.abs(point).max() > 1.0:
            raise ArgumentValueError("features", "numbers from -1 to 1", f"{float(np.abs(point).max())!r} in size")
        # Lost coordinate by coordinate, so that the best action's regret is exactly zero.
        regret = float((np.abs(self.theta) - point * self.theta).sum())
        return Outcome(float(point @ self.theta), regret, 0)


@dataclass(frozen=True)
class Hypercube:
    """Instances on the cube.

    Parameters
    ----------
    dimension : d
    sparsity : s, the number of coordinates of θ* that are not zero
    noise_variance : variance of a reward around its mean
    effect : size of each of them, at most 1/s, with random signs; by default their values are normal, scaled so that
        ‖θ*‖₁ = 1

    >>> instance = Hypercube(dimension=1000, sparsity=4, effect=0.25).sample(seed=0)
    >>> instance.actions, instance.best
    (1000, 1.0)
    """

    dimension: int
    sparsity: int
    noise_variance: float = 1.0
    effect: float | None = None

    def __post_init__(self) -> None:
        check_count("dimension", self.dimension)
        if check_count("sparsity", self.sparsity) > self.dimension:
            raise ArgumentValueError("sparsity", f"at most dimension ({self.dimension})", f"{self.sparsity}")
        check_positive("noise_variance", self.noise_variance)
        if self.effect is not None and check_positive("effect", self.effect) * self.sparsity > 1.0 + 1e-12:
            raise ArgumentValueError("effect", f"at most 1/sparsity ({1 / self.sparsity:g})", repr(self.effect))

    def sample(self, seed: Seed) -> CubeInstance:
        """Return the instance that belongs to ``seed``."""
        rng = stream(seed)
        support = rng.choice(self.dimension, size=self.sparsity, replace=False)
        values = rng.standard_normal(self.sparsity)
        theta = np.zeros(self.dimension)
        theta[support] = values / np.abs(values).sum() if self.effect is None else self.effect * np.sign(values)
        return CubeInstance(theta, self.noise_variance)
