"""The MCP bandit: forced samples and the minimax concave penalty, which does not shrink large coefficients.

Wang, Wei and Yao (2018), *Minimax Concave Penalized Multi-Armed Bandit Model with High-Dimensional Covariates*. The
Lasso bandit of Bastani and Bayati (``lasso_bandit.py``, with its forced rounds T_i, its candidates within h/2 and its
penalties λ_1 and λ_2t = λ_20 √((log t + log d) / t)), in which each estimate minimises

    ‖y − Xθ‖² / (2n) + Σ_j P(|θ_j|),    P'(u) = max(λ − u / a, 0),    P(0) = 0      (Zhang 2010),

by the two-step weighted Lasso, which is one step of local linear approximation (Zou and Li 2008):

    1. θ¹ is the Lasso with penalty λ;
    2. θ̂ minimises ‖y − Xθ‖² / (2n) + Σ_j P'(|θ¹_j|) |θ_j|, where coefficients with |θ¹_j| ≥ a λ are not penalised.

Of the paper, only the abstract was available, which names the algorithm and the two steps. So q, h, λ_1 and λ_20 are
the defaults of :class:`LassoBandit`, which say where they come from, and a = 3 is the default of the R package
springer, which reports that results are not sensitive to it.

The source has one parameter per arm. Here actions share one θ, so ``parameters="shared"`` is the default: one forced
and one all-sample regression, and q uniformly drawn forced rounds per block. ``"disjoint"`` is the published form.
"""

import math

import numpy as np

from sparsebandits.arguments import FloatArray, check_choice, check_count, check_positive
from sparsebandits.atomic import forked
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Policy, Recorder
from sparsebandits.policies.rivals.lasso import check_weight, lasso, least_squares
from sparsebandits.policies.rivals.lasso_bandit import PARAMETERS, ForcedSamples, ForcedSampling
from sparsebandits.randomness import Seed

CONCAVITY = 3.0
"""a, the default of the R package springer."""


def weighted_lasso(x: FloatArray, y: FloatArray, weights: FloatArray, start: FloatArray) -> FloatArray:
    """Minimise ‖y − Xθ‖² / (2n) + Σ_j w_j |θ_j|; coefficients of weight zero are not penalised.

    Parameters
    ----------
    x : array of shape (n, d)
        Features.
    y : array of shape (n,)
        Rewards.
    weights : array of shape (d,)
        Penalty w of each coefficient, at least zero.
    start : array of shape (d,)
        Estimate from which the search starts.

    Returns
    -------
    array of shape (d,)
        The minimiser. Of several, the one with the smallest norm of unpenalised coefficients.
    """
    free, held = np.flatnonzero(weights == 0.0), np.flatnonzero(weights > 0.0)
    theta = np.zeros(x.shape[1])
    rest, columns = y, x[:, held]
    if len(free):  # what is left after a regression on the unpenalised features
        target = np.column_stack((y, columns))
        residual = target - x[:, free] @ np.linalg.lstsq(x[:, free], target)[0]
        rest, columns = residual[:, 0].copy(), residual[:, 1:]
    if len(held):
        largest = float(weights.max())
        shares = weights[held] / largest  # columns over tiny weights would overflow
        theta[held] = lasso(columns / shares, rest, largest, start[held] * shares) / shares
    if len(free):
        theta[free] = least_squares(x[:, free], y - x[:, held] @ theta[held])
    return theta


def concave_estimate(
    x: FloatArray, y: FloatArray, penalty: float, concavity: float, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the estimate of the two-step weighted Lasso.

    Parameters
    ----------
    x : array of shape (n, d)
        Features.
    y : array of shape (n,)
        Rewards.
    penalty : float
        λ.
    concavity : float
        a.
    start : array of shape (d,)
        Estimate from which the search starts.

    Returns
    -------
    estimate, first : array of shape (d,)
        θ̂, and θ¹ of the first step.
    """
    first = lasso(x, y, penalty, start)
    weights = np.maximum(penalty - np.abs(first) / concavity, 0.0)
    return weighted_lasso(x, y, weights, first), first


class ConcaveSamples(ForcedSamples):
    """Learner: forced-sample and all-sample estimates with the minimax concave penalty.

    Parameters
    ----------
    dimension : int
        Number of features d.
    n_arms : int or None
        Number of arms; None for one parameter that all rows share.
    forced_penalty, all_penalty : float
        λ_1 and λ_20.
    refit_growth : float
        Share of new rewards at which the estimates are made again.
    concavity : float, default=3.0
        a.
    """

    def __init__(
        self,
        dimension: int,
        n_arms: int | None,
        forced_penalty: float,
        all_penalty: float,
        refit_growth: float,
        concavity: float = CONCAVITY,
    ) -> None:
        super().__init__(dimension, n_arms, forced_penalty, all_penalty, refit_growth)
        self.concavity = check_positive("concavity", concavity)

    def fit(self, x: FloatArray, y: FloatArray, penalty: float, start: FloatArray) -> FloatArray:
        """Return the two-step weighted Lasso of some of the rewards."""
        return concave_estimate(x, y, penalty, self.concavity, start)[0]


class MCPBandit(Policy):
    """The MCP bandit of Wang, Wei and Yao (2018).

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per arm. In sets that change, the row number is the arm.
    noise_variance : float, default=1.0
        Noise variance σ² of a reward; only the default of ``all_penalty`` uses it.
    forced_samples : int, default=1
        q, number of forced samples in each block, of each arm if arms have parameters of their own.
    localisation : float, default=5.0
        h, in the unit of rewards.
    forced_penalty : float, default=0.05
        λ_1.
    all_penalty : float, optional
        λ_20; by default σ.
    concavity : float, default=3.0
        a; the Lasso bandit is the limit of large a, with twice its penalties.
    parameters : {"shared", "disjoint"}, default="shared"
        One parameter for all rows, or one per arm, as published.
    refit_growth : float, default=0.0
        Share of new rewards at which the estimates are made again; 0 is after every reward, as published.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> policy = MCPBandit(np.eye(3), seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        noise_variance: float = 1.0,
        forced_samples: int = 1,
        localisation: float = 5.0,
        forced_penalty: float = 0.05,
        all_penalty: float | None = None,
        concavity: float = CONCAVITY,
        parameters: str = "shared",
        refit_growth: float = 0.0,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        variance = check_positive("noise_variance", noise_variance)
        kind = check_choice("parameters", parameters, PARAMETERS)
        scale = math.sqrt(variance) if all_penalty is None else check_weight("all_penalty", all_penalty)
        rule = ForcedSampling(check_count("forced_samples", forced_samples), check_weight("localisation", localisation))
        learner = ConcaveSamples(
            available.dimension,
            len(available) if kind == "disjoint" else None,
            check_weight("forced_penalty", forced_penalty),
            scale,
            check_weight("refit_growth", refit_growth),
            concavity,
        )
        super().__init__(available, learner, rule, seed, journal)

    @property
    def coefficients(self) -> FloatArray:
        """All-sample estimates that the next decision uses: one row per arm, or a single row if arms share one."""
        with self._lock:
            estimates: FloatArray = forked(self.posterior).estimates(self.posterior.n_arms or 1)[1]
        return estimates.copy()
