"""Dynamic batch learning: greedy play on a Lasso that is fitted at the ends of a few batches.

Ren and Zhou (2020), *Dynamic Batch Learning in High-Dimensional Sparse Linear Contextual Bandits*. T rounds are cut
into M batches that end after

    t_1 = ⌈b √s⌉,  t_m = ⌈b √t_{m−1}⌉,  b = √T (T / s)^{1 / (2 (2^M − 1))},  at most T.

The first batch is uniform. After batch m the Lasso is fitted with

    λ_m = λ_0 √(2 log K (log d + 2 log T) / n)

to n rewards, and argmax_a ⟨a, θ̂⟩ is played in batch m + 1, with random ties. To keep the rewards of different fits
independent, each batch is cut into M parts, and the fit after batch m uses the m-th part of every batch so far. With
``split=False``, which is not in the source, each fit uses all rewards.

Grid, parts, λ_m and the default λ_0 = 0.05 are those of the authors' program, where the noise has unit variance, λ is
the penalty of scikit-learn, and M = 3; here λ_0 is 0.05 standard deviations. That program also fits an intercept, and
this implementation does not. Of the paper, only the abstract was available.

Like all greedy policies it needs new rows in each round, whose variety explores for it. K is that of the policy's own
actions.
"""

import math
from dataclasses import dataclass

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_count, check_flag, check_positive
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Recorder
from sparsebandits.policies.rivals.epochs import BatchGrid, EpochEstimator
from sparsebandits.policies.rivals.lasso import Estimate, GreedyLasso, LassoPolicy, check_weight, lasso
from sparsebandits.randomness import Seed

PENALTY, BATCHES = 0.05, 3
"""λ_0 of the authors' program, whose noise has unit variance, and its number of batches M."""

MOST_BATCHES = 1000
"""Largest number of batches."""


def batch_ends(horizon: int, sparsity: int, batches: int) -> tuple[int, ...]:
    """Return the ends t_1 … t_M of the batches, each once.

    Parameters
    ----------
    horizon : int
        Number of rounds T.
    sparsity : int
        Number of nonzero coefficients s.
    batches : int
        Number of batches M.

    Returns
    -------
    tuple of int
        Increasing numbers, the last of which is T.

    Examples
    --------
    >>> batch_ends(6000, sparsity=50, batches=3)
    (772, 3030, 6000)
    """
    base = math.sqrt(horizon) * math.pow(horizon / sparsity, 1 / (2 * (2**batches - 1)))
    ends, last = [], sparsity
    for _ in range(batches):
        last = min(math.ceil(math.sqrt(last) * base), horizon)
        ends.append(last)
    return tuple(sorted({*ends[:-1], horizon}))  # the last is T up to rounding


@dataclass(frozen=True)
class BatchLasso:
    """Estimator of :class:`DynamicBatch`.

    Parameters
    ----------
    scale : float
        λ_0.
    n_actions : int
        K.
    horizon : int
        T.
    """

    scale: float
    n_actions: int
    horizon: int

    def __post_init__(self) -> None:
        check_weight("scale", self.scale)
        check_count("n_actions", self.n_actions)
        check_count("horizon", self.horizon)

    def __call__(self, x: FloatArray, y: FloatArray, start: FloatArray) -> Estimate:
        """Return the Lasso estimate with penalty λ_m."""
        count, dimension = x.shape
        logs = 2.0 * math.log(self.n_actions) * (math.log(dimension) + 2.0 * math.log(self.horizon))
        penalty = self.scale * math.sqrt(logs / count)
        coefficients = lasso(x, y, penalty, start)
        return Estimate(coefficients, coefficients, penalty)


class DynamicBatch(LassoPolicy):
    """Dynamic batch learning of Ren and Zhou (2020).

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    horizon : int
        T, number of rounds that will be played; the estimate stays as it is afterwards.
    sparsity : int
        s, number of nonzero coefficients.
    noise_variance : float, default=1.0
        Noise variance σ² of a reward; only the default of ``penalty`` uses it.
    batches : int, default=3
        M, number of batches.
    penalty : float, optional
        λ_0; by default 0.05 σ, as in the authors' program.
    split : bool, default=True
        Whether fits use different parts of the batches, as published, or all rewards.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> import numpy as np
    >>> policy = DynamicBatch(np.eye(3), horizon=100, sparsity=1, seed=1)
    >>> policy.posterior.schedule.ends
    (14, 52, 100)
    """

    def __init__(
        self,
        actions: object,
        horizon: int,
        sparsity: int,
        noise_variance: float = 1.0,
        batches: int = BATCHES,
        penalty: float | None = None,
        split: bool = True,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        rounds = check_count("horizon", horizon)
        if check_count("sparsity", sparsity) > available.dimension:
            raise ArgumentValueError("sparsity", f"at most the {available.dimension} features", f"{sparsity}")
        number = check_count("batches", batches, most=MOST_BATCHES)
        deviation = math.sqrt(check_positive("noise_variance", noise_variance))
        scale = PENALTY * deviation if penalty is None else check_weight("penalty", penalty)
        grid = BatchGrid(batch_ends(rounds, sparsity, number), check_flag("split", split))
        estimator = BatchLasso(scale, len(available), rounds)
        super().__init__(available, EpochEstimator(available.dimension, estimator, grid), GreedyLasso(), seed, journal)
