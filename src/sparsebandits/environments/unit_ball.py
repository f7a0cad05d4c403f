"""The unit ball of R^d as the action set, a sparse θ*, and noise in θ: Carpentier and Munos (2012).

*Bandit theory meets compressed sensing for high-dimensional stochastic linear bandit*, AISTATS (arXiv 1205.4094). The
reward of x is ⟨x, θ* + η_t⟩ with a noise vector η_t ∈ R^d in each round: not a number that is added to the reward, but
an error of θ* that an action meets as far as it points that way. The size of the vector is bounded, whatever d, so that
a direction that is spread over all coordinates meets little of it. This is why the support can be found in fewer rounds
than there are dimensions.

What was available of the paper is its abstract and the beginning of its introduction, which have the ball and the
reward above, and a summary in Dai, Wang and Du (2022, *Variance-aware sparse linear bandits*), which has ‖η_t‖ ≤ σ (but
adds η_t to x, unlike the paper). Here the entries of η_t are independent and Gaussian with variances v_k that add up to
σ² = E‖η_t‖²; then ⟨x, η_t⟩ is Gaussian with variance Σ x_k² v_k. Bounded noise is not Gaussian; the confidence bounds
of ``SLUCB`` are derived for both.

The best action is θ*/‖θ*‖, and the best mean reward is ‖θ*‖. The support of θ* is uniformly random.
"""

import math
from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import (
    ArgumentValueError,
    FloatArray,
    check_array,
    check_choice,
    check_count,
    check_flag,
    check_positive,
    check_vector,
    frozen,
)
from sparsebandits.environments.instance import Outcome
from sparsebandits.model.rewards import Gaussian
from sparsebandits.randomness import Seed, stream

ROUNDING = 1e-9
"""Excess of a norm over one that is rounding."""

PLACES = ("all", "support")


class BallInstance:
    """A linear bandit whose actions are all points of the unit ball, with noise in its coefficients.

    Parameters
    ----------
    theta : array of shape (d,)
        The true coefficients θ*.
    noise_variances : array of shape (d,)
        The variance v_k of each entry of the noise vector; some of them may be zero.

    Attributes
    ----------
    actions : int
        The dimension d, which is how a policy is given the ball.
    noise_variance : float
        σ² = Σ v_k, the mean squared norm of the noise vector. No reward of the ball has a larger variance.
    rewards : Gaussian
        The family of the rewards, with that variance.
    best : float
        The best mean reward ‖θ*‖.

    Examples
    --------
    >>> instance = BallInstance([3.0, 4.0], [0.0, 0.25])
    >>> instance.best, instance.noise_variance
    (5.0, 0.25)
    >>> instance.outcome(0, -1, np.array([1.0, 0.0]))
    Outcome(mean=3.0, regret=2.0, noise_index=0, observation=None, noise_scale=0.0)
    """

    def __init__(self, theta: object, noise_variances: object) -> None:
        coefficients = check_array("theta", theta, ndim=1)
        length = check_count("theta", len(coefficients))
        self.theta: FloatArray = frozen(coefficients.copy())
        variances = check_vector("noise_variances", noise_variances, length)
        if not variances.min() >= 0.0:
            raise ArgumentValueError("noise_variances", "numbers of at least zero", repr(float(variances.min())))
        self.noise_variances: FloatArray = frozen(variances.copy())
        self.noise_variance = check_positive("noise_variances", float(variances.sum()))
        self.rewards = Gaussian(self.noise_variance)
        self.actions = length
        self.best = float(np.linalg.norm(self.theta))

    def __repr__(self) -> str:
        matter = np.count_nonzero(self.theta)
        noise = f"noise variance {self.noise_variance:g}"
        return f"{type(self).__name__}(the unit ball of {self.actions} features of which {matter} matter, {noise})"

    def offered(self, round_number: int) -> None:
        """Return None: the actions do not change.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.
        """

    def outcome(self, round_number: int, action: int, features: FloatArray) -> Outcome:
        """Return what a decision was worth.

        All points share one standard normal per round. It is scaled to the standard deviation of ⟨x, η_t⟩, so the
        rewards of one policy have the law that they have with a noise vector.

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
            If the point is not in the ball.
        """
        point = check_vector("features", features, self.actions)
        norm = float(np.linalg.norm(point))
        if norm > 1.0 + ROUNDING:
            raise ArgumentValueError("features", "a point of the unit ball", f"one of norm {norm!r}")
        mean = float(point @ self.theta)
        scale = math.sqrt(float(point * point @ self.noise_variances) / self.noise_variance)
        return Outcome(mean, max(self.best - mean, 0.0), 0, noise_scale=scale)  # rounding may exceed the best


@dataclass(frozen=True)
class UnitBall:
    """Instances on the unit ball.

    Parameters
    ----------
    dimension : int
        Dimension d of the ball.
    sparsity : int
        Number of coordinates of θ* that are not zero s, from 1 to d.
    noise_variance : float, default=1.0
        σ², the mean squared norm of the noise vector.
    norm : float, default=1.0
        ‖θ*‖, which is the best mean reward.
    noise : {"all", "support"}, default="all"
        Whether all d entries of the noise vector have the variance σ²/d, or only the s entries of the support, σ²/s.
        Exploration over all coordinates has the noise variance σ²/d in both cases; the best action has σ²/d or σ²/s.
    equal : bool, default=False
        Whether the coordinates that are not zero have the same magnitude ‖θ*‖/√s, with random signs. By default their
        direction is uniformly random.

    Examples
    --------
    >>> instance = UnitBall(dimension=1000, sparsity=4, noise="support").sample(seed=0)
    >>> instance.actions, round(instance.best, 9)
    (1000, 1.0)
    """

    dimension: int
    sparsity: int
    noise_variance: float = 1.0
    norm: float = 1.0
    noise: str = "all"
    equal: bool = False

    def __post_init__(self) -> None:
        check_count("dimension", self.dimension)
        if check_count("sparsity", self.sparsity) > self.dimension:
            raise ArgumentValueError("sparsity", f"at most dimension ({self.dimension})", f"{self.sparsity}")
        check_positive("noise_variance", self.noise_variance)
        check_positive("norm", self.norm)
        check_choice("noise", self.noise, PLACES)
        check_flag("equal", self.equal)

    def sample(self, seed: Seed) -> BallInstance:
        """Return the instance that belongs to a seed.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        BallInstance
        """
        rng = stream(seed)
        support = rng.choice(self.dimension, size=self.sparsity, replace=False)
        values = rng.standard_normal(self.sparsity)
        if self.equal:
            values = np.sign(values)
        theta = np.zeros(self.dimension)
        theta[support] = self.norm * values / np.linalg.norm(values)
        noisy = support if self.noise == "support" else np.arange(self.dimension)
        variances = np.zeros(self.dimension)
        variances[noisy] = self.noise_variance / len(noisy)
        return BallInstance(theta, variances)
