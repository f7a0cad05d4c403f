"""Greedy play on any regression: EMVS, the spike-and-slab Lasso, ridge, or an estimator of one's own.

Fit θ̂ to all rewards, play argmax_a ⟨a, θ̂⟩, after some uniform rounds. It is :class:`LassoGreedy` with another estimate,
and has its weakness: with a fixed set of actions nothing makes it explore. No published source; those of the estimates
are with them.
"""

from sparsebandits.arguments import check_count, check_positive
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Recorder
from sparsebandits.policies.rivals.lasso import GreedyLasso, LassoEstimator, LassoPolicy
from sparsebandits.policies.rivals.oracles import Regressor, offline_oracle
from sparsebandits.randomness import Seed


class RegressionGreedy(LassoPolicy):
    """Greedy play on a regression.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    noise_variance : float, default=1.0
        Noise variance of a reward.
    regressor : {"ridge", "lasso", "spike-and-slab", "emvs", "spike-and-slab lasso"} or Estimator, default="emvs"
        The regression, or an estimator such as ``EMVS(prior)``: a frozen dataclass that is called as
        ``estimator(x, y, start)``.
    exploration : int, default=0
        Number of uniformly random decisions before the greedy ones.
    refit_growth : float, default=0.0
        Share of new rewards at which it is fitted again; 0 is after every reward.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> import numpy as np
    >>> policy = RegressionGreedy(np.eye(3), 0.1, regressor="spike-and-slab lasso", exploration=6, seed=1)
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
        regressor: Regressor = "emvs",
        exploration: int = 0,
        refit_growth: float = 0.0,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        estimator = offline_oracle(regressor, available, check_positive("noise_variance", noise_variance))
        uniform = check_count("exploration", exploration, least=0)
        learner = LassoEstimator(available.dimension, estimator, refit_growth)
        super().__init__(available, learner, GreedyLasso(uniform), seed, journal)
