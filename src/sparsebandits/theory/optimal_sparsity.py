"""Whether best actions are sparse: the second condition of Theorem 1.

Hao, Lattimore and Deng (2021): a set of actions "has sparse optimal actions if the optimal action is s-sparse almost
surely with respect to the prior", that is, if x* = argmax_a ⟨a, θ⟩ has at most s nonzero entries for almost all θ. With
C_min > 0 it gives the n^(2/3) term of the bound (``bounds.py``). It enters the proof through the largest norm L of an
action that may be best, which is reported too (``mixture.py``).

Under a prior with finitely many values of θ the condition is decided exactly, up to ties that are judged as everywhere
in this package: values that differ by 10⁻¹² of the terms they are summed from are equal. Under any other prior draws
can refute it, and bound the probability that it fails, but not prove it. It holds for every prior if all actions are
s-sparse.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_choice,
    check_columns,
    check_count,
    check_matrix,
    column_order,
    shown,
)
from sparsebandits.model.hypotheses import Hypotheses
from sparsebandits.model.priors import GaussianPrior, SpikeSlab
from sparsebandits.posteriors.draws import Draws
from sparsebandits.randomness import Seed, stream
from sparsebandits.rules.optima import ROUNDING

BLOCK = 4_000_000
"""Number of mean rewards that are computed at a time."""

CONFIDENCE = 0.95

ANY, SPARSEST = "any", "sparsest"


@dataclass(frozen=True)
class OptimalSparsity:
    """Whether, and with which probability, the best action is s-sparse. Printing it says what was checked.

    Attributes
    ----------
    sparsity : int
        s.
    probability : float
        Probability that the best action has at most s nonzero entries; if not ``exact``, the share of the draws by
        weight.
    interval : tuple of two floats, or None
        The 95% confidence interval of Clopper and Pearson for that probability. None if it is exact, and for draws of a
        posterior, which are weighted or depend on each other.
    most : int
        The largest number of nonzero entries of a best action, over all values of θ that were checked; those of draws
        may have missed larger ones, so a bound needs ``exact``.
    longest : float
        L, the largest Euclidean norm of a best action, likewise; see :func:`ratio_bounds`.
    ties : {"any", "sparsest"}
        Which of the actions that tie count.
    holds : bool or None
        Whether the condition of Theorem 1 holds: True if that is certain, False if a value of θ was found under which
        the best action has more than s nonzero entries, None if draws found none, which is no proof.
    exact : bool
        Whether all values that θ may have were checked.
    checked : int
        Number of values of θ, or of draws, that were checked.
    statement : str
        What was checked, in words.
    """

    sparsity: int
    probability: float
    interval: tuple[float, float] | None
    most: int
    longest: float
    ties: str
    holds: bool | None
    exact: bool
    checked: int
    statement: str

    def __str__(self) -> str:
        answer = {True: "yes", False: "no", None: "not refuted"}[self.holds]
        return f"Sparse optimal actions (s = {self.sparsity}): {answer}. {self.statement}"


class Values(NamedTuple):
    """Values of θ, their weights, whether they are all there are, and whether they are independent draws."""

    theta: FloatArray
    weights: FloatArray
    exact: bool
    independent: bool


def sparse_optimal_actions(
    actions: object,
    belief: object,
    sparsity: int,
    ties: str = ANY,
    n_draws: int = 10_000,
    seed: Seed = 0,
) -> OptimalSparsity:
    """Check whether the best action is s-sparse almost surely, the second condition of Theorem 1.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    belief : Hypotheses, SpikeSlab, GaussianPrior, Draws or engine
        The distribution of θ. :class:`Hypotheses`, and engines or :class:`Draws` that hold all values of θ, are checked
        exactly; of any other prior draws are made, and of an engine those that it has are taken.
    sparsity : int
        s, the number of nonzero entries that is allowed.
    ties : {"any", "sparsest"}, default="any"
        What counts where several actions are best. "any" asks whether all of them are s-sparse, which suffices however
        x* is chosen among them. "sparsest" asks whether one of them is, so that some choice of x* is s-sparse. They
        differ under priors that allow θ = 0, where all actions are best.
    n_draws : int, default=10_000
        Number of draws from a prior that has infinitely many values.
    seed : int, SeedSequence or None, default=0
        Seed of these draws.

    Returns
    -------
    OptimalSparsity

    Raises
    ------
    ArgumentError
        If actions and belief do not fit together, or if a prior in units of the noise has slab means, so that the best
        action depends on the noise variance (use ``prior.given_noise(...)``).

    Examples
    --------
    Of these actions the last is dense. It is best only if both coefficients are positive:

    >>> actions = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [0.8, 0.8]]
    >>> found = sparse_optimal_actions(actions, Hypotheses([[1.0, 0.0], [0.0, -1.0], [1.0, 1.0]]), sparsity=1)
    >>> round(found.probability, 3), found.most, found.holds
    (0.667, 2, False)
    >>> print(sparse_optimal_actions(actions, Hypotheses([[1.0, 0.0], [0.0, -1.0]]), sparsity=1))
    Sparse optimal actions (s = 1): yes. All 2 values of θ were checked: the best action has at most 1 nonzero entry.
    """
    columns, names = check_columns("actions", actions)
    features = check_matrix("actions", columns)
    s = check_count("sparsity", sparsity)
    which = check_choice("ties", ties, (ANY, SPARSEST))
    values = _values(belief, names, features.shape[1], check_count("n_draws", n_draws), seed)
    nonzero = np.count_nonzero(features, axis=1)
    norms = np.linalg.norm(features, axis=1)
    counts, lengths = _of_best(values.theta, features, nonzero, norms, which)
    within = counts <= s
    probability = 1.0 if within.all() else float(values.weights @ within)
    most = int(counts.max())
    everywhere = int(nonzero.max()) <= s
    holds = True if everywhere or (values.exact and within.all()) else None if within.all() else False
    interval = None
    if values.independent and not everywhere:
        hits, tail = int(within.sum()), (1.0 - CONFIDENCE) / 2.0
        low = float(stats.beta.ppf(tail, hits, len(within) - hits + 1)) if hits else 0.0
        high = float(stats.beta.ppf(1.0 - tail, hits + 1, len(within) - hits)) if hits < len(within) else 1.0
        interval = (low, high)
    statement = _statement(values, most, s, probability, interval, everywhere, len(features))
    return OptimalSparsity(
        s, probability, interval, most, float(lengths.max()), which, holds, values.exact, len(counts), statement
    )


def _values(belief: Any, names: Any, dimension: int, n_draws: int, seed: Seed) -> Values:
    """Return the values of θ to check; those of weight zero are left out."""
    exact, independent = False, False
    if isinstance(belief, Hypotheses):
        table = belief.matched(names)
        theta, weights, exact = table.theta, table.weights, True
    elif isinstance(belief, SpikeSlab | GaussianPrior):
        theta, independent = _from_prior(belief, dimension, n_draws, seed), True
        weights = np.full(n_draws, 1.0 / n_draws)
    else:
        draws = belief.draws() if callable(getattr(belief, "draws", None)) else belief
        if not isinstance(draws, Draws):
            expected = "a prior (Hypotheses, SpikeSlab, GaussianPrior), an engine or Draws"
            raise ArgumentTypeError("belief", expected, shown(belief))
        theta, weights, exact = draws.theta, draws.weights, draws.exact
        columns = getattr(belief, "feature_names", None)
        if names is not None and columns is not None:
            theta = theta[:, column_order("belief", names, columns)]
    if theta.shape[1] != dimension:
        raise ArgumentValueError("belief", f"{dimension} coefficients, as actions have features", f"{theta.shape[1]}")
    kept = weights > 0.0
    return Values(theta[kept], weights[kept], exact, independent)


def _from_prior(prior: SpikeSlab | GaussianPrior, dimension: int, n_draws: int, seed: Seed) -> FloatArray:
    """Return independent draws; at σ = 1 in units of the noise, since a factor on θ does not change best actions."""
    rng = stream(seed)
    if isinstance(prior, GaussianPrior):
        mean, variance = prior.moments(dimension)
        return np.asarray(mean + np.sqrt(variance) * rng.standard_normal((n_draws, dimension)))
    if prior.of_noise and np.any(prior.slab_mean):
        expected = "a prior in units of θ where it has slab means; use prior.given_noise(noise_variance)"
        raise ArgumentValueError("belief", expected, "one in units of the noise")
    return prior.sample(rng, n_draws, dimension).theta


def _of_best(
    theta: FloatArray, features: FloatArray, nonzero: Any, norms: FloatArray, ties: str
) -> tuple[Any, FloatArray]:
    """Return the number of nonzero entries and the norm of the best action under each θ.

    Of actions that tie, those that count are all, of which the largest numbers are returned, or the sparsest, of which
    the longest is.
    """
    counts, lengths = np.empty(len(theta), dtype=np.int64), np.empty(len(theta))
    step = max(1, BLOCK // len(features))
    for start in range(0, len(theta), step):
        part = theta[start : start + step]
        values, error = part @ features.T, ROUNDING * (np.abs(part) @ np.abs(features).T)
        best = values + error >= (values - error).max(axis=1, keepdims=True)
        if ties == SPARSEST:
            fewest = np.where(best, nonzero, features.shape[1] + 1).min(axis=1, keepdims=True)
            best &= nonzero <= fewest
        counts[start : start + step] = np.where(best, nonzero, 0).max(axis=1)
        lengths[start : start + step] = np.where(best, norms, 0.0).max(axis=1)
    return counts, lengths


def _statement(
    values: Values,
    most: int,
    s: int,
    probability: float,
    interval: tuple[float, float] | None,
    everywhere: bool,
    n_actions: int,
) -> str:
    """Say what was checked."""
    entries = f"{most} nonzero {'entry' if most == 1 else 'entries'}"
    if everywhere:
        return f"All {n_actions} actions have at most {s} nonzero {'entry' if s == 1 else 'entries'}, whatever θ is."
    if values.exact:
        found = "" if probability == 1.0 else f"; it has at most {s} with probability {probability:.4g}"
        return f"All {len(values.theta)} values of θ were checked: the best action has at most {entries}{found}."
    kind = "independent draws from the prior" if values.independent else "draws of θ"
    share = f"at most {s} in a share of {probability:.4g} of them"
    text = f"{len(values.theta)} {kind} were checked: the best action has at most {entries}, and {share}"
    if interval is not None:
        text += f" (95% interval of the probability {interval[0]:.4g} to {interval[1]:.4g})"
    return text + (". Draws are no proof that there is no other θ." if most <= s else ".")
