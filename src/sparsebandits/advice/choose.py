"""The policy behind the advice: made for a table, taught its past rewards, asked for a batch.

The sparse policies are those that ``sb.SparseIDS(table)`` and ``sb.SparseTS(table)`` give. The dense ones get a prior
in the units of the data: with s the standard deviation of the past rewards and s_j that of feature j over the actions,
θ_j ~ N(0, s² / (d s_j²)), and noise variance s² unless it is given. All have an intercept. A batch has no action twice.
"""

import re

from sparsebandits.advice.read import History
from sparsebandits.model.priors import GaussianPrior
from sparsebandits.policies.linear import LinearIDS, LinTS, LinUCB
from sparsebandits.policies.policy import Policy


def _option(name: str) -> str:
    """Return the option value of a policy class: ``"SparseIDS"`` is ``"sparse-ids"``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


SPARSE = tuple(_option(name) for name in ("SparseIDS", "SparseTS"))  # imported on use, since they load Numba
DENSE = {_option(policy.__name__): policy for policy in (LinearIDS, LinTS, LinUCB)}
POLICIES = (*SPARSE, *DENSE)
"""Values of the option ``policy``."""


def taught_policy(
    kind: str, past: History, noise_variance: float | None, n_draws: int, seed: int, horizon: int | None = None
) -> Policy:
    """Return a policy with priors in the units of the data, after the past rewards.

    Parameters
    ----------
    kind : str
        One of ``POLICIES``.
    past : History
        Actions and past rewards.
    noise_variance : float or None
        Variance of a reward around its mean, if it is known.
    n_draws : int
        Number of posterior draws.
    seed : int
        Seed of the policy.
    horizon : int, optional
        Number of trials to come, for "sparse-ids".
    """
    if kind in SPARSE:
        policy = _sparse(kind, past, noise_variance, n_draws, seed, horizon)
    else:
        policy = _dense(kind, past, noise_variance, n_draws, seed)
    if len(past.rewards):
        policy.posterior.absorb(past.features[past.tried], past.rewards)
    return policy


def _sparse(
    kind: str, past: History, noise_variance: float | None, n_draws: int, seed: int, horizon: int | None
) -> Policy:
    from sparsebandits.policies import sparse

    if kind == "sparse-ids":
        return sparse.SparseIDS(past.actions, None, noise_variance, n_draws=n_draws, seed=seed, horizon=horizon)
    return sparse.SparseTS(past.actions, None, noise_variance, n_draws=n_draws, seed=seed)


def _dense(kind: str, past: History, noise_variance: float | None, n_draws: int, seed: int) -> Policy:
    policy, square = DENSE[kind], past.scale**2
    prior = GaussianPrior(square / (len(past.feature_names) * past.features.var(axis=0)))
    variance = square if noise_variance is None else noise_variance
    if policy is LinearIDS:
        return LinearIDS(past.actions, prior, variance, n_draws=n_draws, seed=seed)
    if policy is LinTS:
        return LinTS(past.actions, prior, variance, probability_draws=n_draws, seed=seed)
    return LinUCB(past.actions, prior, variance, seed=seed)
