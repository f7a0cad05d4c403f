"""The policy behind the advice: set up in the units of a table, taught its past rewards, asked for a batch.

The model is that of the policies with two additions, so that a table needs no preparation:

- an intercept with a flat prior, integrated out exactly (``model/features.py``): rewards may have any level;
- priors in the units of the data. With s the standard deviation of the past rewards and s_j that of feature j over the
  actions, the sparse policies have their default prior, in which effects are measured in units of the noise and of s_j,
  and a noise variance around s²; the dense ones have θ_j ~ N(0, s² / (d s_j²)), and noise variance s² unless it is
  given.

A batch is chosen sequentially, no action twice. Thompson sampling draws again among the remaining actions. The other
policies continue as if each chosen action had already given its expected reward, which leaves the mean where it is and
reduces the uncertainty (Ginsbourger, Le Riche and Carraro 2010, "kriging believer"; Desautels, Krause and Burdick
2014).
"""

import re

from sparsebandits.advice.read import History
from sparsebandits.arguments import IntArray, frozen
from sparsebandits.model.priors import GaussianPrior, InverseGammaNoise, default_prior
from sparsebandits.model.rewards import UNKNOWN_NOISE
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Decision
from sparsebandits.policies.linear import LinearIDS, LinTS, LinUCB
from sparsebandits.policies.policy import Policy
from sparsebandits.rules.thompson import Thompson


def _option(name: str) -> str:
    """Return the option value of a policy class: ``"SparseIDS"`` is ``"sparse-ids"``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


SPARSE = {_option(name): name for name in ("SparseIDS", "SparseTS")}  # imported on use, since they load Numba
DENSE = {_option(policy.__name__): policy for policy in (LinearIDS, LinTS, LinUCB)}
POLICIES = (*SPARSE, *DENSE)
"""Values of the option ``policy``."""


def taught_policy(kind: str, past: History, noise_variance: float | None, n_draws: int, seed: int) -> Policy:
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
    """
    make = _sparse if kind in SPARSE else _dense
    policy = make(kind, past, noise_variance, n_draws, seed)
    policy.posterior.absorb(*past.contrasts())
    return policy


def _sparse(kind: str, past: History, noise_variance: float | None, n_draws: int, seed: int) -> Policy:
    from sparsebandits.policies import sparse

    learned = InverseGammaNoise(UNKNOWN_NOISE.shape, UNKNOWN_NOISE.scale * past.scale**2)
    noise = learned if noise_variance is None else noise_variance
    prior = default_prior(past.features - past.features.mean(axis=0))
    policy: type[sparse.SparseIDS | sparse.SparseTS] = getattr(sparse, SPARSE[kind])
    return policy(offered(past), prior, noise, n_draws=n_draws, seed=seed)


def _dense(kind: str, past: History, noise_variance: float | None, n_draws: int, seed: int) -> Policy:
    policy, square = DENSE[kind], past.scale**2
    prior = GaussianPrior(square / (len(past.feature_names) * past.features.var(axis=0)))
    variance = square if noise_variance is None else noise_variance
    if policy is LinearIDS:
        return LinearIDS(offered(past), prior, variance, n_draws=n_draws, seed=seed)
    if policy is LinTS:
        return LinTS(offered(past), prior, variance, probability_draws=n_draws, seed=seed)
    return LinUCB(offered(past), prior, variance, seed=seed)


def offered(past: History, rows: IntArray | None = None) -> ActionSet:
    """Return some actions, or all, with their features relative to the mean over the past rewards."""
    if rows is None:
        return ActionSet(frozen(past.features - past.centre), past.names, past.feature_names)
    names = tuple([past.names[row] for row in rows.tolist()])
    return ActionSet(frozen(past.features[rows] - past.centre), names, past.feature_names)


def chosen(policy: Policy, past: History, left: IntArray, count: int) -> list[tuple[int, Decision]]:
    """Return ``count`` different rows among those left, with their decisions, in order."""
    found: list[tuple[int, Decision]] = []
    while True:
        decision = policy.ask(offered(past, left))
        row = int(left[decision.action])
        found.append((row, decision))
        if len(found) == count:
            return found
        left = left[left != row]
        if not isinstance(policy.rule, Thompson):  # which would draw again in any case
            past = past.with_reward(row, past.expected(row, policy.posterior.mean()))
            x, y = past.contrasts()
            policy.posterior.absorb(x[-1:], y[-1:])
