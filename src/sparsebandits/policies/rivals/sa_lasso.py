"""The sparsity-agnostic Lasso bandit: greedy play on a Lasso, with a penalty that does not know the sparsity.

Oh, Iyengar and Zeevi (2021), Algorithm 1 for linear rewards. After t rewards, θ̂ is the Lasso with

    λ_t = λ_0 √((4 log t + 2 log d) / t),

and argmax_a ⟨a, θ̂⟩ is played. Their loss is the negative log-likelihood, so λ_t is the penalty of scikit-learn. Their
theorem takes λ_0 = 2 σ x_max with ‖a‖ ≤ x_max; their program leaves x_max out and sets σ to 0.2 where the noise has
standard deviation 0.5, so λ_0 is 0.8 times the standard deviation, which is the default here. Their program also fits
an intercept; neither the paper nor this implementation does.

The algorithm is made for new, symmetrically distributed rows in each round, whose variety explores for it. It is not
suited to a fixed action set: there it plays at random until one feature passes the penalty, then whatever action that
feature favours.
"""

import math
from dataclasses import dataclass

from sparsebandits.arguments import FloatArray, check_positive
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Recorder
from sparsebandits.policies.rivals.lasso import Estimate, GreedyLasso, LassoEstimator, LassoPolicy, check_weight, lasso
from sparsebandits.randomness import Seed

PENALTY = 0.8
"""λ_0 of the authors' program in units of the noise's standard deviation: 2 · 0.2 where that is 0.5."""


def penalty_after(count: int, dimension: int, scale: float) -> float:
    """Return λ_t = λ_0 √((4 log t + 2 log d) / t)."""
    return scale * math.sqrt((4.0 * math.log(count) + 2.0 * math.log(dimension)) / count)


@dataclass(frozen=True)
class SparsityAgnostic:
    """Estimator of :class:`SALasso`.

    Parameters
    ----------
    scale : float
        λ_0.
    """

    scale: float

    def __post_init__(self) -> None:
        check_weight("scale", self.scale)

    def __call__(self, x: FloatArray, y: FloatArray, start: FloatArray) -> Estimate:
        """Return the Lasso estimate with penalty λ_t."""
        penalty = penalty_after(len(y), x.shape[1], self.scale)
        coefficients = lasso(x, y, penalty, start)
        return Estimate(coefficients, coefficients, penalty)


class SALasso(LassoPolicy):
    """The sparsity-agnostic Lasso bandit of Oh, Iyengar and Zeevi (2021).

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    noise_variance : float, default=1.0
        Noise variance σ² of a reward; only the default of ``penalty`` uses it.
    penalty : float, optional
        λ_0; by default 0.8 σ, as in the authors' program. Their theorem has 2 σ times the largest norm of a row.
    refit_growth : float, default=0.0
        Share of new rewards at which the estimate is made again; 0 is after every reward, as published.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> import numpy as np
    >>> policy = SALasso(np.eye(3), seed=1)
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
        learner = LassoEstimator(available.dimension, SparsityAgnostic(scale), refit_growth)
        super().__init__(available, learner, GreedyLasso(), seed, journal)
