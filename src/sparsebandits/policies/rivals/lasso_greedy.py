"""Greedy play on a Lasso: the simplest baseline of sparse bandits.

Fit a Lasso to all rewards, play argmax_a ⟨a, θ̂⟩. The penalty is the universal one (Bickel, Ritov and Tsybakov 2009),

    penalty_t = c · σ · max_j √(Σ x_j² / t) · √(2 log d / t),

or is chosen by five-fold cross-validation, each time that the Lasso is fitted again.

It is not suited to a fixed action set: nothing there makes it explore features that its preferred action does not vary,
so it settles on whatever looked best first. ``exploration`` uniform rounds beforehand help, and make it
explore-then-exploit. Where each round brings new rows, their variety explores for it.
"""

import math
from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_count, check_positive, shown
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Recorder
from sparsebandits.policies.rivals.lasso import (
    CROSS_VALIDATION,
    FOLDS,
    Estimate,
    GreedyLasso,
    LassoEstimator,
    LassoPolicy,
    check_weight,
    cross_validated_penalty,
    lasso,
)
from sparsebandits.randomness import Seed

LEAST_REWARDS = 2 * FOLDS
"""Number of rewards below which cross-validation is unreliable and the universal penalty is used instead."""

GROWTH_OF_CROSS_VALIDATION = 0.1
"""Share of new rewards at which a cross-validated Lasso is fitted again by default, since a fit takes tens of ms."""


def universal_penalty(x: FloatArray, noise_deviation: float) -> float:
    """Return the penalty that excludes, with high probability, features whose correlation is due to noise alone.

    Parameters
    ----------
    x : array of shape (n, d)
        Features.
    noise_deviation : float
        Standard deviation σ of the noise.

    Returns
    -------
    float
        The penalty, as in scikit-learn.
    """
    count, dimension = x.shape
    size = math.sqrt(float((x * x).sum(axis=0).max()) / count)
    return noise_deviation * size * math.sqrt(2.0 * math.log(dimension) / count)


@dataclass(frozen=True)
class PlainLasso:
    """Estimator of :class:`LassoGreedy`.

    Parameters
    ----------
    noise_deviation : float
        Standard deviation σ of the noise.
    penalty : float or "cross-validation"
        Factor c on the universal penalty, or cross-validation.
    """

    noise_deviation: float
    penalty: float | str

    def __post_init__(self) -> None:
        check_weight("noise_deviation", self.noise_deviation)
        if self.penalty != CROSS_VALIDATION:
            check_weight("penalty", self.penalty)

    def __call__(self, x: FloatArray, y: FloatArray, start: FloatArray) -> Estimate:
        """Return the Lasso estimate with the universal or the cross-validated penalty."""
        penalty = universal_penalty(x, self.noise_deviation)
        if not isinstance(self.penalty, str):
            penalty *= self.penalty
        elif len(y) >= LEAST_REWARDS and np.any(y @ x):
            penalty = cross_validated_penalty(x, y)
        coefficients = lasso(x, y, penalty, start)
        return Estimate(coefficients, coefficients, penalty)


class LassoGreedy(LassoPolicy):
    """Greedy play on a Lasso.

    No published source: a baseline.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    noise_variance : float, default=1.0
        Noise variance of a reward; the penalty is proportional to its square root.
    penalty : float or "cross-validation", default=1.0
        Factor c on the universal penalty, or cross-validation.
    exploration : int, default=0
        Number of uniformly random decisions before the greedy ones.
    refit_growth : float, optional
        Share of new rewards at which the Lasso is fitted again; 0 is after every reward. By default 0, or 0.1 with
        cross-validation.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> policy = LassoGreedy(np.eye(3), noise_variance=0.1, exploration=6, seed=1)
    >>> for _ in range(9):
    ...     decision = policy.ask()
    ...     policy.tell(decision, [0.0, 1.0, 0.0][decision.action])
    >>> policy.ask().action
    1
    """

    def __init__(
        self,
        actions: object,
        noise_variance: float = 1.0,
        penalty: float | str = 1.0,
        exploration: int = 0,
        refit_growth: float | None = None,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        variance = check_positive("noise_variance", noise_variance)
        if isinstance(penalty, str) and penalty != CROSS_VALIDATION:
            raise ArgumentValueError("penalty", f"a number or {CROSS_VALIDATION!r}", shown(penalty))
        factor = penalty if isinstance(penalty, str) else check_weight("penalty", penalty)
        growth = refit_growth
        if growth is None:
            growth = GROWTH_OF_CROSS_VALIDATION if isinstance(factor, str) else 0.0
        uniform = check_count("exploration", exploration, least=0)
        learner = LassoEstimator(available.dimension, PlainLasso(math.sqrt(variance), factor), growth)
        super().__init__(available, learner, GreedyLasso(uniform), seed, journal)
