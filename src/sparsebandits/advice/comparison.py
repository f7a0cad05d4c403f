"""Which expansion of the features the past rewards speak for: the one with the largest evidence.

All expansions have the same prior odds and the same rewards, with the same level and unit, so that the odds of two of
them are p(y | one) / p(y | other). The evidence is an estimate by particles: with 2,000 of them the standard error of
its logarithm is about 0.4, so odds below three to one say little.

The time of a fit grows with the number of columns, so expansions of more than 300 are not compared: with 60 columns
these are the 1,830 squares and products. To look for promising products first would not do, since the same rewards
would speak for them twice.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sparsebandits.advice.expansion import EFFECTS, MOST_TERMS, Expansion, expand
from sparsebandits.arguments import ArgumentValueError, FloatArray, IntArray, check_vector
from sparsebandits.model.families import Linked
from sparsebandits.randomness import Seed

FEWEST_REWARDS = 10
"""Number of rewards below which features stay as they are: fewer hardly tell a curve from a line."""

MOST_COMPARED = 300
"""Largest number of columns of an expansion that is compared: products of up to 23 columns, splines of up to 75. One
such fit to 100 rewards takes about a second, and that of the policy, with 10,000 particles, about five."""

PARTICLES = 2000
"""Number of particles of each fit."""


def best_expansion(
    features: object,
    names: Sequence[str],
    continuous: Sequence[bool] | None,
    sources: Sequence[str] | None,
    tried: IntArray,
    rewards: object,
    noise_variance: float | None = None,
    family: Linked | None = None,
    n_draws: int = PARTICLES,
    seed: Seed = 0,
) -> tuple[Expansion, dict[str, float]]:
    """Return the expansion with the largest evidence, and the log evidence of all.

    Parameters
    ----------
    features, names, continuous, sources
        As for :func:`~sparsebandits.advice.expansion.expand`.
    tried : int array of shape (n,)
        Row of the action of each past reward.
    rewards : array of shape (n,)
        The past rewards.
    noise_variance : float, optional
        Variance of a reward around its mean; by default it is learnt.
    family : Bernoulli or Poisson, optional
        Clicks or counts; by default rewards are Gaussian.
    n_draws : int, default=2000
        Number of particles of each fit.
    seed : int, SeedSequence or None, default=0
        Seed of the particles.

    Returns
    -------
    expansion : Expansion
        The best one; "linear" if there are fewer than ten rewards.
    log_evidence : dict of str to float
        Log evidence of each expansion that was compared, by its name. One with more than 300 columns is not among them,
        unless it is the features themselves; with fewer than ten rewards there are none.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = rng.uniform(-1.0, 1.0, (60, 3))
    >>> tried = np.arange(40)
    >>> rewards = 3.0 * table[tried, 0] ** 2 + rng.normal(0.0, 0.2, 40)
    >>> best, log_evidence = best_expansion(table, ["a", "b", "c"], None, None, tried, rewards)
    >>> best.how, log_evidence["quadratic"] - log_evidence["linear"] > 10.0
    ('quadratic', True)
    """
    values = check_vector("rewards", rewards, len(tried))
    if len(values) < FEWEST_REWARDS:
        return expand(features, names, continuous, sources, "linear"), {}
    found: dict[str, tuple[float, Expansion]] = {}
    most = min(max(MOST_COMPARED, len(names)), MOST_TERMS)
    for how in EFFECTS:
        try:
            one = expand(features, names, continuous, sources, how, most)
        except ArgumentValueError:
            if not found:  # the features themselves are at fault, not the number of their terms
                raise
            continue
        found[how] = _log_evidence(one, tried, values, noise_variance, family, n_draws, seed), one
    best = max(found.values(), key=lambda pair: -math.inf if math.isnan(pair[0]) else pair[0])[1]
    return best, {how: log_evidence for how, (log_evidence, _) in found.items()}


def odds(log_evidence: Mapping[str, float], one: str, other: str) -> float:
    """Return how many times as likely one expansion is as another, given the rewards.

    Parameters
    ----------
    log_evidence : mapping of str to float
        What :func:`best_expansion` returned.
    one, other : str
        Names of two expansions.

    Returns
    -------
    float

    Examples
    --------
    >>> round(odds({"linear": -23.0, "quadratic": -20.0}, "quadratic", "linear"))
    20
    """
    return float(np.exp(np.clip(log_evidence[one] - log_evidence[other], -700.0, 700.0)))


def _log_evidence(
    expansion: Expansion,
    tried: IntArray,
    rewards: FloatArray,
    noise_variance: float | None,
    family: Linked | None,
    n_draws: int,
    seed: Seed,
) -> float:
    from sparsebandits.policies.sparse import SparseTS  # which loads Numba

    prior = expansion.prior(family)
    common: dict[str, Any] = {"n_draws": n_draws, "seed": seed, "rewards": family}
    policy = SparseTS(expansion.features, prior, noise_variance, **common)
    policy.posterior.absorb(expansion.features[tried], rewards)
    return float(policy.posterior.log_evidence)
