"""Search a pool for its best candidates, measuring one at a time and none twice.

A stored measurement is the same each time, so a candidate that has been measured leaves the set of actions:
``policy.ask(actions=...)`` gets the remaining rows. A search starts with a few random candidates, the same for every
policy under the same seed, and ends when the ten best have been found.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import BayesianRidge

import sparsebandits as sb
from sparsebandits.arguments import FloatArray, IntArray
from studies.real_data.pools import Pool

FIRST = 5
"""Number of random candidates measured before a policy is asked."""


def first_rows(pool: Pool, seed: int) -> IntArray:
    """Return the rows that every search under this seed starts with."""
    return np.random.default_rng([seed, 0]).permutation(len(pool))[:FIRST]


def searched(policy: sb.Policy, pool: Pool, first: IntArray) -> IntArray:
    """Return the rows in the order in which the policy measures them, until all of the top are found."""
    left = np.arange(len(pool))
    missing = set(pool.top.tolist())
    order: list[int] = []
    for measured in range(len(pool)):
        offered = first[measured : measured + 1] if measured < len(first) else left
        decision = policy.ask(actions=pool.features[offered])
        row = int(offered[decision.action])  # decision.action counts the rows that were offered
        policy.tell(decision, pool.reward[row])
        left = left[left != row]
        missing.discard(row)
        order.append(row)
        if not missing:
            break
    return np.array(order)


def listed(ranking: IntArray, pool: Pool, first: IntArray) -> IntArray:
    """Return the first rows and then the others in the order of a fixed ranking, which does not learn."""
    order = np.concatenate((first, ranking[~np.isin(ranking, first)]))
    return order[: 1 + np.flatnonzero(np.isin(order, pool.top))[-1]]


@dataclass(frozen=True)
class Hindsight:
    """The ridge regression of largest marginal likelihood on the whole pool, which no searcher has."""

    noise_variance: float
    prior_variance: float
    ranking: IntArray  # rows, largest fitted value first

    @classmethod
    def of(cls, pool: Pool) -> "Hindsight":
        """Fit the regression (MacKay 1992, in scikit-learn's ``BayesianRidge``)."""
        fit = BayesianRidge(fit_intercept=False).fit(pool.features, pool.reward)
        fitted = fit.predict(pool.features)
        return cls(1.0 / float(fit.alpha_), 1.0 / float(fit.lambda_), np.argsort(-fitted, kind="stable"))


Searcher = Callable[[Pool, int], IntArray]
"""Maps a pool and a seed to the rows in the order of measurement."""


def by_policy(make: Callable[[FloatArray, int], sb.Policy]) -> Searcher:
    """Return the searcher of a policy, given a constructor from features and seed."""
    return lambda pool, seed: searched(make(pool.features, seed), pool, first_rows(pool, seed))


def searchers(pool: Pool, n_draws: int) -> dict[str, Searcher]:
    """Return the searchers by name.

    Policies with their defaults; two that are "told", that is, given the hyperparameters that are best in hindsight;
    and two fixed rankings.
    """
    known = Hindsight.of(pool)
    told: dict[str, Any] = {"prior": sb.GaussianPrior(known.prior_variance), "noise_variance": known.noise_variance}
    return {
        "sparse IDS": by_policy(lambda features, seed: sb.SparseIDS(features, n_draws=n_draws, seed=seed)),
        "sparse TS": by_policy(lambda features, seed: sb.SparseTS(features, n_draws=n_draws, seed=seed)),
        "LinTS": by_policy(lambda features, seed: sb.LinTS(features, seed=seed)),
        "LinUCB": by_policy(lambda features, seed: sb.LinUCB(features, seed=seed)),
        "LinTS, told": by_policy(lambda features, seed: sb.LinTS(features, seed=seed, **told)),
        "LinUCB, told": by_policy(lambda features, seed: sb.LinUCB(features, seed=seed, **told)),
        "random": lambda pool, seed: listed(
            np.random.default_rng([seed, 1]).permutation(len(pool)), pool, first_rows(pool, seed)
        ),
        "fit to all": lambda pool, seed: listed(known.ranking, pool, first_rows(pool, seed)),
    }


def found_at(order: IntArray, pool: Pool) -> IntArray:
    """Return the number of measurements after which each of the top was found, in order, shape (10,)."""
    return 1 + np.flatnonzero(np.isin(order, pool.top))


def best_rows(order: IntArray, pool: Pool) -> list[tuple[int, int]]:
    """Return (number of measurements, row) for each candidate that was better than all before it."""
    best = np.maximum.accumulate(pool.reward[order])
    news = np.flatnonzero(np.concatenate(([True], best[1:] > best[:-1])))
    return [(int(at) + 1, int(order[at])) for at in news]
