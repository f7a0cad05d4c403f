"""The thresholded Lasso bandit: find the features that matter, ignore the others, play greedily.

Ariu, Abe and Proutière (2022), Algorithm 1. After t rewards, with λ_t = λ_0 √(2 log t log d / t):

    θ⁰ = Lasso with penalty λ_t,
    S⁰ = {j : |θ⁰_j| > 4 λ_t},    S¹ = {j ∈ S⁰ : |θ⁰_j| > 4 λ_t √|S⁰|},
    θ̂ = least squares on the features in S¹, zero elsewhere,

and argmax_a ⟨a, θ̂⟩ is played; while S¹ is empty, all rows tie and one is drawn uniformly. The authors' program uses λ_t
as the penalty of scikit-learn, and λ_0 = 0.02 for noise of standard deviation 1 in all of its experiments; the default
here is that value times the standard deviation. Their theorem needs λ_0 of the order of σ times the size of a feature.

The algorithm is made for new rows in each round, whose variety explores for it. It is not suited to a fixed action set:
with the default λ_0 it settles on an action after a few rewards. There, a larger λ_0 means more uniform rounds at
first.
"""

import math
from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import FloatArray, IntArray, check_positive
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Recorder
from sparsebandits.policies.rivals.lasso import (
    Estimate,
    GreedyLasso,
    LassoEstimator,
    LassoPolicy,
    check_weight,
    lasso,
    least_squares,
)
from sparsebandits.randomness import Seed

PENALTY = 0.02
"""λ_0 of the authors' experiments, whose noise has standard deviation 1."""


def penalty_after(count: int, dimension: int, scale: float) -> float:
    """Return λ_t = λ_0 √(2 log t log d / t)."""
    return scale * math.sqrt(2.0 * math.log(count) * math.log(dimension) / count)


def thresholded_support(coefficients: FloatArray, penalty: float) -> IntArray:
    """Return S¹: the features above 4 λ_t, and of those the ones above 4 λ_t √|S⁰|.

    Parameters
    ----------
    coefficients : array of shape (d,)
        Lasso estimate θ⁰.
    penalty : float
        λ_t.

    Returns
    -------
    int array
        The features in S¹, ascending.

    Examples
    --------
    >>> thresholded_support(np.array([0.9, 0.5, 0.05, 0.0]), 0.1).tolist()
    [0]
    """
    size = np.abs(coefficients)
    first = size > 4.0 * penalty
    return np.flatnonzero(first & (size > 4.0 * penalty * math.sqrt(np.count_nonzero(first))))


@dataclass(frozen=True)
class Thresholded:
    """Estimator of :class:`ThresholdedLasso`.

    Parameters
    ----------
    scale : float
        λ_0.
    """

    scale: float

    def __post_init__(self) -> None:
        check_weight("scale", self.scale)

    def __call__(self, x: FloatArray, y: FloatArray, start: FloatArray) -> Estimate:
        """Return the estimate: fit a Lasso, threshold twice, fit without a penalty."""
        penalty = penalty_after(len(y), x.shape[1], self.scale)
        first = lasso(x, y, penalty, start)
        support = thresholded_support(first, penalty)
        coefficients = np.zeros(x.shape[1])
        if len(support):
            coefficients[support] = least_squares(x[:, support], y)
        return Estimate(coefficients, first, penalty)


class ThresholdedLasso(LassoPolicy):
    """The thresholded Lasso bandit of Ariu, Abe and Proutière (2022).

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    noise_variance : float, default=1.0
        Noise variance σ² of a reward; only the default of ``penalty`` uses it.
    penalty : float, optional
        λ_0; by default 0.02 σ, as in the authors' experiments.
    refit_growth : float, default=0.0
        Share of new rewards at which the estimate is made again; 0 is after every reward, as published.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> policy = ThresholdedLasso(np.eye(3), seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        noise_variance: float = 1.0,
        penalty: float | None = None,
        refit_growth: float = 0.0,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        variance = check_positive("noise_variance", noise_variance)
        scale = PENALTY * math.sqrt(variance) if penalty is None else check_weight("penalty", penalty)
        learner = LassoEstimator(available.dimension, Thresholded(scale), refit_growth)
        super().__init__(available, learner, GreedyLasso(), seed, journal)
