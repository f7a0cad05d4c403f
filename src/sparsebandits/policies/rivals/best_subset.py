"""Best-subset bandit: optimism on the features that the best subset selects, in epochs of doubling length.

Wang, Chen, Fang, Wang and Li (2020), *Nearly Dimension-Independent Sparse Linear Bandit over Small Action Spaces via
Best Subset Selection*: LinUCB in doubly growing epochs, with the parameter estimated by best subset selection. When an
epoch ends (after 2, 4, 8, … rewards),

    θ̂ = argmin ‖y − Xθ‖²  over ‖θ‖₀ ≤ s,    S its s features,

and in the next epoch the row with the largest

    ⟨a, θ̂⟩ + w σ √(a_S' V⁻¹ a_S),    V = λI + Σ a_S a_S'  over all rewards so far,

is played. Of the paper, only the abstract was available, which names the epochs, LinUCB and best subset selection. The
bonus is that of LinUCB on the selected features, and w = 1 and λ = 1 are ours. The paper's second algorithm, in the
SupLinUCB framework, is not here.

The best subset is exact, by enumeration, if there are at most ``most_subsets`` of them. Otherwise it is found by
splicing (Zhu, Wen, Zhu, Zhang and Wang 2020): from the s features most correlated with the rewards, the k selected
features that matter least are exchanged for the k others that would matter most, k = 1 … s, as long as that lowers the
loss. Features that are not selected are not explored: it needs new rows in each round, whose variety explores for it.
"""

import math
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    IntArray,
    check_count,
    check_positive,
    shown,
)
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Recorder
from sparsebandits.policies.rivals.epochs import Doubling, EpochEstimator
from sparsebandits.policies.rivals.lasso import Estimate, LassoPolicy, check_weight, least_squares, solve_penalised
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.optima import pick
from sparsebandits.rules.rule import Rule

MOST_SUBSETS = 100_000
"""Number of subsets up to which all of them are tried: about a second."""

CHUNK = 10_000
"""Number of subsets whose normal equations are solved at a time."""

RIDGE = 1e-10
"""Added to the normal equations of features of unit length, so that collinear features can be solved."""

GAIN = 1e-9
"""Share of the loss by which an exchange has to lower it, so that rounding does not go round in circles."""


def explained(gram: FloatArray, moment: FloatArray, subsets: IntArray) -> FloatArray:
    """Return how much each subset of features lowers the sum of squares.

    Parameters
    ----------
    gram : array of shape (d, d)
        X'X, positive definite.
    moment : array of shape (d,)
        X'y.
    subsets : int array of shape (m, s)
        The subsets.

    Returns
    -------
    array of shape (m,)
    """
    blocks = gram[subsets[:, :, np.newaxis], subsets[:, np.newaxis, :]]
    right = moment[subsets]
    return np.asarray((np.linalg.solve(blocks, right[:, :, np.newaxis])[:, :, 0] * right).sum(axis=1))


def every_subset(gram: FloatArray, moment: FloatArray, size: int) -> IntArray:
    """Return the best subset of a size, by enumeration.

    Parameters
    ----------
    gram : array of shape (d, d)
        X'X, positive definite.
    moment : array of shape (d,)
        X'y.
    size : int
        Number of features.

    Returns
    -------
    int array of shape (size,)
    """
    best, found = -math.inf, np.arange(size)
    subsets = combinations(range(len(moment)), size)
    while chunk := list(islice(subsets, CHUNK)):
        some = np.array(chunk, dtype=np.intp).reshape(len(chunk), size)
        values = explained(gram, moment, some)
        place = int(values.argmax())
        if values[place] > best:
            best, found = float(values[place]), some[place]
    return found


def spliced_subset(gram: FloatArray, moment: FloatArray, size: int) -> IntArray:
    """Return a good subset of a size, by splicing.

    Parameters
    ----------
    gram : array of shape (d, d)
        X'X, positive definite.
    moment : array of shape (d,)
        X'y.
    size : int
        Number of features.

    Returns
    -------
    int array of shape (size,)
        A subset that no exchange of splicing improves.
    """
    squares = np.diag(gram)
    chosen = np.sort(np.argsort(-(moment**2) / squares, kind="stable")[:size])
    value = float(explained(gram, moment, chosen[np.newaxis])[0])
    while True:
        others = np.setdiff1d(np.arange(len(moment)), chosen)
        theta = np.linalg.solve(gram[np.ix_(chosen, chosen)], moment[chosen])
        backward = squares[chosen] * theta**2  # what each selected feature is worth
        slopes = moment[others] - gram[np.ix_(others, chosen)] @ theta
        forward = slopes**2 / squares[others]  # what each other feature would be worth
        least, most = np.argsort(backward, kind="stable"), np.argsort(-forward, kind="stable")
        exchanged = [
            np.sort(np.concatenate((chosen[least[k:]], others[most[:k]]))) for k in range(1, min(size, len(others)) + 1)
        ]
        if not exchanged:
            return chosen
        values = explained(gram, moment, np.array(exchanged))
        place = int(values.argmax())
        if not values[place] > value + GAIN * abs(value):
            return chosen
        chosen, value = exchanged[place], float(values[place])


@dataclass(frozen=True)
class SubsetFit:
    """Estimator of :class:`BestSubset`.

    Parameters
    ----------
    size : int
        s.
    most_subsets : int, default=100000
        Number of subsets up to which all of them are tried.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    >>> SubsetFit(1)(x, np.array([2.0, 2.0, 0.0]), np.zeros(3)).coefficients.round(3)
    array([2., 0., 0.])
    """

    size: int
    most_subsets: int = MOST_SUBSETS

    def __post_init__(self) -> None:
        check_count("size", self.size)
        check_count("most_subsets", self.most_subsets)

    def __call__(self, x: FloatArray, y: FloatArray, start: FloatArray) -> Estimate:
        """Return least squares on the best subset; in place of a Lasso, 1 for each selected feature and 0 elsewhere."""
        dimension = x.shape[1]
        size = min(self.size, dimension)
        lengths = np.linalg.norm(x, axis=0)
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        unit = x / lengths  # so that units of features do not matter
        gram = unit.T @ unit
        gram[np.diag_indices(dimension)] += RIDGE
        exact = math.comb(dimension, size) <= self.most_subsets
        subset = (every_subset if exact else spliced_subset)(gram, unit.T @ y, size)
        coefficients, selected = np.zeros(dimension), np.zeros(dimension)
        coefficients[subset], selected[subset] = least_squares(unit[:, subset], y) / lengths[subset], 1.0
        return Estimate(coefficients, selected, 0.0)


@dataclass(frozen=True)
class SubsetOptimism(Rule):
    """Play the row with the largest upper bound on the selected features; rows that tie are equally likely.

    Parameters
    ----------
    width : float
        w σ, factor of the bonus in the unit of rewards.
    penalty : float, default=1.0
        λ.
    """

    width: float
    penalty: float = 1.0

    def __post_init__(self) -> None:
        check_weight("width", self.width)
        check_positive("penalty", self.penalty)

    def check(self, posterior: Any) -> None:
        """Require an :class:`EpochEstimator`."""
        if not isinstance(posterior, EpochEstimator):
            raise ArgumentTypeError("posterior", "an EpochEstimator for SubsetOptimism", shown(posterior))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Play the row with the largest upper bound."""
        learner, features = beliefs.posterior, beliefs.features
        estimated = learner.estimate()
        coefficients, selected = estimated.coefficients, np.flatnonzero(estimated.lasso)
        past, rows = learner.samples.x[:, selected], features[:, selected]
        solved = solve_penalised(past.T @ past, self.penalty, rows.T)  # V⁻¹a_S
        lengths = np.sqrt(np.maximum(np.einsum("ks,sk->k", rows, solved), 0.0))
        estimate, bonus = features @ coefficients, self.width * lengths
        upper = estimate + bonus
        action, probability = pick(upper, rng)
        columns = {"upper bound": upper, "estimate": estimate, "bonus": bonus}
        contributions = features[action] * coefficients
        return Choice(action, probability, Reasons.top(action, upper, columns, contributions, learner.notes()))


class BestSubset(LassoPolicy):
    """The best-subset bandit of Wang, Chen, Fang, Wang and Li (2020).

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    sparsity : int
        s, number of features that are selected.
    noise_variance : float, default=1.0
        Noise variance σ² of a reward; the bonus is proportional to its square root.
    width : float, default=1.0
        w, factor of the bonus.
    penalty : float, default=1.0
        λ, added to the matrix of the bonus.
    most_subsets : int, default=100000
        Number of subsets up to which all of them are tried; splicing finds the subset if there are more.
    window : {"last", "all"}, default="all"
        Rewards that θ̂ is fitted to when an epoch ends: those of the epoch, or all.
    seed : int, SeedSequence or None
        Seed of the choice among rows that tie.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> policy = BestSubset(np.eye(3), sparsity=2, seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        sparsity: int,
        noise_variance: float = 1.0,
        width: float = 1.0,
        penalty: float = 1.0,
        most_subsets: int = MOST_SUBSETS,
        window: str = "all",
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        if check_count("sparsity", sparsity) > available.dimension:
            raise ArgumentValueError("sparsity", f"at most the {available.dimension} features", f"{sparsity}")
        deviation = math.sqrt(check_positive("noise_variance", noise_variance))
        rule = SubsetOptimism(check_weight("width", width) * deviation, penalty)
        learner = EpochEstimator(available.dimension, SubsetFit(sparsity, most_subsets), Doubling(window))
        super().__init__(available, learner, rule, seed, journal)
