"""The cube [−1, 1]^d as the action set, and a sparse θ*: Lattimore, Crammer and Szepesvári (2015).

Its 2^d corners are never enumerated. The best action has the signs of θ*, and the best mean reward is ‖θ*‖₁, which is
at most 1, so that |⟨a, θ*⟩| ≤ 1 for every action, as the source assumes. The support of θ* is uniformly random.
"""

from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_count, check_positive, check_vector, frozen
from sparsebandits.environments.instance import Outcome
from sparsebandits.model.rewards import Gaussian
from sparsebandits.randomness import Seed, stream


class CubeInstance:
    """A linear bandit whose actions are all points of [−1, 1]^d.

    Parameters
    ----------
    theta : array of shape (d,)
        The true coefficients θ*.
    noise_variance : float
        The variance of a reward around its mean.

    Attributes
    ----------
    actions : int
        The dimension d, which is how a policy is given the cube.
    rewards : Gaussian
        The family of the rewards.
    best : float
        The best mean reward ‖θ*‖₁.
    """

    def __init__(self, theta: FloatArray, noise_variance: float) -> None:
        self.theta: FloatArray = frozen(check_vector("theta", theta, len(theta)).copy())
        self.noise_variance = check_positive("noise_variance", noise_variance)
        self.rewards = Gaussian(self.noise_variance)
        self.actions = len(theta)
        self.best = float(np.abs(self.theta).sum())  # ‖θ*‖₁, the mean reward of sign(θ*)

    def __repr__(self) -> str:
        matter = np.count_nonzero(self.theta)
        noise = f"noise variance {self.noise_variance:g}"
        return f"{type(self).__name__}(the cube of {self.actions} features of which {matter} matter, {noise})"

    def offered(self, round_number: int) -> None:
        """Return None: the actions do not change.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.
        """

    def outcome(self, round_number: int, action: int, features: FloatArray) -> Outcome:
        """Return what a decision was worth. All points share one noise per round.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.
        action : int
            Not used, since points have no rows.
        features : array of shape (d,)
            The point that was chosen.

        Returns
        -------
        Outcome

        Raises
        ------
        ArgumentValueError
            If the point is not in the cube.
        """
        point = check_vector("features", features, self.actions)
        if np.abs(point).max() > 1.0:
            raise ArgumentValueError("features", "numbers from -1 to 1", f"{float(np.abs(point).max())!r} in magnitude")
        # Summed over coordinates, so that the regret of the best action is exactly zero.
        regret = float((np.abs(self.theta) - point * self.theta).sum())
        return Outcome(float(point @ self.theta), regret, 0)


@dataclass(frozen=True)
class Hypercube:
    """Instances on the cube.

    Parameters
    ----------
    dimension : int
        Dimension d of the cube.
    sparsity : int
        Number of coordinates of θ* that are not zero s, from 1 to d.
    noise_variance : float, default=1.0
        Variance of a reward around its mean.
    effect : float, optional
        Magnitude of each coordinate that is not zero, at most 1/s, with random signs. By default their values are
        normal, scaled so that ‖θ*‖₁ = 1.

    Examples
    --------
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
        """Return the instance that belongs to a seed.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        CubeInstance
        """
        rng = stream(seed)
        support = rng.choice(self.dimension, size=self.sparsity, replace=False)
        values = rng.standard_normal(self.sparsity)
        theta = np.zeros(self.dimension)
        theta[support] = values / np.abs(values).sum() if self.effect is None else self.effect * np.sign(values)
        return CubeInstance(theta, self.noise_variance)
