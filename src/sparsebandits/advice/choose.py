"""The policy behind the advice: made for a table, taught its past rewards, asked for a batch.

The sparse policies are those that ``sb.SparseIDS(table)`` and ``sb.SparseTS(table)`` give. The dense ones get a prior
in the units of the data: with s the standard deviation of the past rewards and s_j that of feature j over the actions,
θ_j ~ N(0, s² / (d s_j²)), and noise variance s² unless it is given (with s = 1 for clicks and counts). All have an
intercept. A batch has no action twice.
"""

import re
from typing import Any

import numpy as np

from sparsebandits.advice.read import History
from sparsebandits.arguments import FloatArray
from sparsebandits.model.families import Bernoulli, Linked, Poisson
from sparsebandits.model.priors import GaussianPrior, SpikeSlab
from sparsebandits.policies.linear import LinearIDS, LinTS, LinUCB
from sparsebandits.policies.policy import Policy
from sparsebandits.rules.rule import Rule


def _option(name: str) -> str:
    """Return the option value of a policy class: ``"SparseIDS"`` is ``"sparse-ids"``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


SPARSE = tuple(_option(name) for name in ("SparseIDS", "SparseTS"))  # imported on use, since they load Numba
DENSE = {_option(policy.__name__): policy for policy in (LinearIDS, LinTS, LinUCB)}
POLICIES = (*SPARSE, *DENSE)
"""Values of the option ``policy``."""

FAMILIES: dict[str, Linked | None] = {"gaussian": None, "bernoulli": Bernoulli(), "poisson": Poisson()}
"""Values of the option ``family``, besides "auto"."""

ALIKE = 5
"""Number of rewards that are all 0, or all 1, from which on they are taken as clicks."""

CLICKS = "all past rewards are 0 or 1, so they are taken as clicks; family gaussian takes them as numbers"


def looks_like_clicks(rewards: FloatArray) -> bool:
    """Return whether rewards are all 0 or 1, and enough of them to tell.

    Parameters
    ----------
    rewards : array of shape (n,)
        Past rewards.

    Returns
    -------
    bool

    Examples
    --------
    >>> looks_like_clicks(np.array([0.0, 1.0, 0.0])), looks_like_clicks(np.array([1.0]))
    (True, False)
    """
    only = bool(np.isin(rewards, (0.0, 1.0)).all())
    return only and (len(np.unique(rewards)) == 2 or len(rewards) >= ALIKE)


def taught_policy(
    kind: str,
    past: History,
    noise_variance: float | None,
    n_draws: int,
    seed: int,
    horizon: int | None = None,
    family: Linked | None = None,
    rule: Rule | None = None,
    prior: SpikeSlab | None = None,
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
    family : Linked, optional
        Clicks or counts; by default rewards are Gaussian.
    rule : Rule, optional
        A rule for another goal than large rewards, for "sparse-ids".
    prior : SpikeSlab, optional
        Prior of the sparse policies; by default their own.
    """
    if rule is not None:
        policy = _with_rule(past, noise_variance, n_draws, seed, rule, prior)
    elif kind in SPARSE:
        policy = _sparse(kind, past, noise_variance, n_draws, seed, horizon, family, prior)
    else:
        policy = _dense(kind, past, noise_variance, n_draws, seed, family)
    if len(past.rewards):
        policy.posterior.absorb(past.features[past.tried], past.rewards)
    return policy


def _sparse(
    kind: str,
    past: History,
    noise_variance: float | None,
    n_draws: int,
    seed: int,
    horizon: int | None,
    family: Linked | None,
    prior: SpikeSlab | None,
) -> Policy:
    from sparsebandits.policies import sparse

    common: dict[str, Any] = {"n_draws": n_draws, "seed": seed, "rewards": family}
    if kind == "sparse-ids":
        return sparse.SparseIDS(past.actions, prior, noise_variance, horizon=horizon, **common)
    return sparse.SparseTS(past.actions, prior, noise_variance, **common)


def _with_rule(
    past: History, noise_variance: float | None, n_draws: int, seed: int, rule: Rule, prior: SpikeSlab | None
) -> Policy:
    from sparsebandits.policies.sparse import SparsePolicy

    return SparsePolicy(past.actions, rule, prior, noise_variance, n_draws=n_draws, seed=seed)


def _dense(
    kind: str, past: History, noise_variance: float | None, n_draws: int, seed: int, family: Linked | None
) -> Policy:
    policy, square = DENSE[kind], past.scale**2 if family is None else 1.0
    prior = GaussianPrior(square / (len(past.feature_names) * past.features.var(axis=0)))
    noise = {"rewards": family} if family is not None else {"noise_variance": noise_variance or square}
    if policy is LinearIDS:
        return LinearIDS(past.actions, prior, n_draws=n_draws, seed=seed, **noise)
    if policy is LinTS:
        return LinTS(past.actions, prior, probability_draws=n_draws, seed=seed, **noise)
    return LinUCB(past.actions, prior, seed=seed, **noise)
