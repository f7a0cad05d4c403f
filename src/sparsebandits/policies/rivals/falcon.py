"""FALCON: inverse gap weighting in epochs, with an offline regression oracle that is fitted at each epoch's start.

Simchi-Levi and Xu (2020), *Bypassing the Monster: A Faster and Simpler Optimal Algorithm for Contextual Bandits under
Realizability*, Algorithm 2 (FALCON+), for any regression oracle. Epoch m ends after τ_m = 2^m rewards. At its start the
oracle is fitted to the rewards of epoch m − 1, and its predictions ŷ give the probabilities of SquareCB,

    p(a) = 1 / (K + γ_m (ŷ_b − ŷ_a))  for a ≠ b,    γ_m = c √(K / E(τ_{m−1} − τ_{m−2}, δ / (2 m²))),

where E(n, δ') bounds the oracle's mean squared error with n rewards, with probability 1 − δ'. In the first epoch γ is
zero, so play is uniform. For linear regression the bound is

    E(n, δ') = σ² (C + log(1/δ')) / n,

up to a constant, with the complexity C = d, or s log d for sparse regression. Their Algorithm 1, for a finite class F,
is fitted to all earlier rewards (``window="all"``) and has γ_m = c √(K τ_{m−1} / log(|F| log(τ_{m−1}) m / δ)) with
c = 1/30: the same with C = log |F|. The paper was not available; epochs, c = 1/2 and δ / (2 m²) are those of a public
implementation of both algorithms. The constant c is worth tuning: it multiplies the greed of the policy.
"""

import math
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    check_between,
    check_count,
    check_positive,
    shown,
)
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Recorder
from sparsebandits.policies.rivals.epochs import Doubling, EpochEstimator
from sparsebandits.policies.rivals.lasso import LassoPolicy, check_weight
from sparsebandits.policies.rivals.oracles import Regressor, offline_oracle
from sparsebandits.policies.rivals.square_cb import drawn, inverse_gap_weights
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice
from sparsebandits.rules.rule import Rule

SCALE, DELTA = 0.5, 0.05
"""c of FALCON+ in the public implementation; δ is ours."""


def sparse_complexity(dimension: int, sparsity: int | None) -> float:
    """Return C: d, or s log d if the sparsity is known and that is less.

    Parameters
    ----------
    dimension : int
        Number of features d.
    sparsity : int or None
        Number of nonzero coefficients s.

    Returns
    -------
    float
        The complexity, at least 1.

    Examples
    --------
    >>> sparse_complexity(40, None), round(sparse_complexity(40, 4), 2)
    (40.0, 14.76)
    """
    if sparsity is None:
        return float(dimension)
    return max(min(float(dimension), sparsity * math.log(dimension)), 1.0)


@dataclass(frozen=True)
class EpochInverseGaps(Rule):
    """Inverse gap weighting with a learning rate that depends on the epoch.

    Parameters
    ----------
    scale : float
        c, factor of γ_m.
    complexity : float
        C of the oracle's error bound.
    noise_variance : float
        σ² of the oracle's error bound.
    delta : float, default=0.05
        δ, the probability that a bound does not hold.
    """

    scale: float
    complexity: float
    noise_variance: float
    delta: float = DELTA

    def __post_init__(self) -> None:
        check_weight("scale", self.scale)
        check_positive("complexity", self.complexity)
        check_positive("noise_variance", self.noise_variance)
        check_between("delta", self.delta, 1e-300, 1.0)

    def check(self, posterior: Any) -> None:
        """Require an :class:`EpochEstimator` with doubling epochs."""
        if not isinstance(posterior, EpochEstimator) or not isinstance(posterior.schedule, Doubling):
            raise ArgumentTypeError("posterior", "an EpochEstimator for EpochInverseGaps", shown(posterior))

    def rate(self, learner: EpochEstimator, n_actions: int) -> float:
        """Return γ_m.

        Parameters
        ----------
        learner : EpochEstimator
            The oracle.
        n_actions : int
            Number of actions K.

        Returns
        -------
        float
        """
        schedule, end = learner.schedule, learner.end
        if end == 0 or not isinstance(schedule, Doubling):
            return 0.0
        number, count = schedule.number(end), len(schedule.rows(end))
        error = self.noise_variance * (self.complexity + math.log(2.0 * number**2 / self.delta)) / count
        return self.scale * math.sqrt(n_actions / error)

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Draw an action."""
        learner = beliefs.posterior
        coefficients, gamma = learner.estimate().coefficients, self.rate(learner, len(beliefs))
        values = beliefs.features @ coefficients
        notes = {**learner.notes(), "learning rate": gamma}
        return drawn(inverse_gap_weights(values, gamma), values, coefficients, beliefs, rng, **notes)


class FALCON(LassoPolicy):
    """FALCON of Simchi-Levi and Xu (2020): inverse gap weighting in doubling epochs, on an offline regression oracle.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    noise_variance : float, default=1.0
        Noise variance σ² of a reward, for the oracle and for the bound on its error.
    regressor : {"ridge", "lasso", "spike-and-slab", "emvs", "spike-and-slab lasso"} or Estimator, default="ridge"
        The oracle, or an estimator of one's own: a frozen dataclass that is called as ``estimator(x, y, start)``.
    sparsity : int, optional
        s, number of nonzero coefficients; by default the complexity of the oracle is d.
    scale : float, default=0.5
        c, factor of γ_m.
    delta : float, default=0.05
        δ, the probability that a bound on the oracle's error does not hold.
    window : {"last", "all"}, default="last"
        Rewards that the oracle is fitted to: those of the last epoch, as in Algorithm 2, or all, as in Algorithm 1.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> import numpy as np
    >>> policy = FALCON(np.eye(3), seed=1)
    >>> decision = policy.ask()
    >>> policy.tell(decision, 1.0)
    >>> round(decision.probability, 3)
    0.333
    """

    def __init__(
        self,
        actions: object,
        noise_variance: float = 1.0,
        regressor: Regressor = "ridge",
        sparsity: int | None = None,
        scale: float = SCALE,
        delta: float = DELTA,
        window: str = "last",
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        variance = check_positive("noise_variance", noise_variance)
        if sparsity is not None and check_count("sparsity", sparsity) > available.dimension:
            raise ArgumentValueError("sparsity", f"at most the {available.dimension} features", f"{sparsity}")
        complexity = sparse_complexity(available.dimension, sparsity)
        rule = EpochInverseGaps(scale, complexity, variance, delta)
        estimator = offline_oracle(regressor, available, variance)
        super().__init__(
            available, EpochEstimator(available.dimension, estimator, Doubling(window)), rule, seed, journal
        )
