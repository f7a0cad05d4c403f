"""ILOVETOCONBANDITS: a sparse distribution over policies with small regret and small variance, solved in epochs.

Agarwal, Hsu, Kale, Langford, Li and Schapire (2014), *Taming the Monster: A Fast and Simple Algorithm for Contextual
Bandits*, Algorithms 1 and 2. A policy maps a set of K rows to one of them. With R̂(π) the importance-weighted mean of
rewards in [0, 1] and R̂eg(π) = max R̂ − R̂(π), the weights Q after an epoch of τ rewards solve

    (OP)   Σ_π Q(π) b_π ≤ 2K,    Ê_x[1 / Q^μ(π(x) | x)] ≤ 2K + b_π  for all π,    b_π = R̂eg(π) / (ψ μ),

where Q^μ(a | x) = (1 − Kμ) Σ_{π: π(x) = a} Q(π) + μ. In the next epoch actions are drawn from Q̃^μ, where Q̃ gives what
Q leaves of one to the policy with the largest R̂. With d_τ = log(16 τ² |Π| / δ), μ = min(1 / (2K), √(d_τ / (K τ))), and
ψ = 100. (OP) is solved by coordinate descent (Algorithm 2): from Q = 0,

    1. if Σ_π Q(π) (2K + b_π) > 2K, divide Q by that over 2K;
    2. with V and S the means of 1/Q^μ(π(x) | x) and of its square, and D_π = V − 2K − b_π: if D_π > 0 for some π, add
       (V + D_π) / (2 (1 − Kμ) S) to Q(π), and go on; otherwise stop.

The formulas are those of a formalisation of the paper in Lean that cites its pages; the paper was not available. What
is simplified here:

- Policies are linear, π(x) = argmax_a ⟨a, θ⟩ (the first of rows that tie). The source's oracle maximises a sum of
  scores over policies exactly. Here a *regression* of the scores on the rows of all actions, both centred within each
  round, stands in for it: of importance-weighted rewards for R̂, and of 1/Q^μ(a | x) + r̂(a) / (ψ μ) for D_π. A
  regression of rewards on the chosen rows with weights 1 / p, which has less variance, proposes a policy, too. D_π is
  then computed exactly for what the regressions found and for all policies in play, and the largest counts. So (OP)
  holds for the policies that were tried, and descent stops after ``most_steps``.
- log |Π| is the complexity d of linear policies, or s log d. The range of rewards is that of the rewards so far. If
  sets differ in size, 2K is a mean over rounds, and μ is at most 1 / (2K) in each.
- Epochs end after 2, 4, 8, … rewards, and play is uniform in the first.

The source's constants are made for proofs: with ψ = 100, K = 4 and gaps of 0.3, b_π reaches 2K only at τ of about 10⁷,
and until then all actions have probabilities of about 1 / (2K). Importance weighting needs many rewards, too:
regression on rewards alone, as in FALCON, learns from fewer.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    IntArray,
    check_between,
    check_count,
    check_positive,
    shown,
)
from sparsebandits.layouts import ABOVE_ONE, Count, Layout, Number, Reals, read, wholes, wrong
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Policy, Recorder
from sparsebandits.policies.rivals.epochs import Doubling
from sparsebandits.policies.rivals.falcon import sparse_complexity
from sparsebandits.policies.rivals.lasso import Estimator, Samples, check_weight
from sparsebandits.policies.rivals.oracles import Regressor, offline_oracle
from sparsebandits.policies.rivals.square_cb import drawn
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice
from sparsebandits.rules.rule import Rule

PSI, DELTA = 100.0, 0.05
"""ψ of the source; δ is ours."""

MOST_STEPS = 100
"""Most steps of coordinate descent; Theorem 3 allows 4 log(1 / (Kμ)) / μ, which is more."""

SET, ACTION, PROBABILITY = 0, 1, 2  # columns of the samples


@dataclass(frozen=True, eq=False)
class History:
    """Rounds with rewards, by the set of rows that was offered.

    Attributes
    ----------
    sets : list of array of shape (K, d)
        Each set that was offered.
    shares : array of shape (m,)
        Share of rounds in which each was.
    rewards : list of array of shape (K,)
        Mean over these rounds of the importance-weighted reward of each row.
    """

    sets: list[FloatArray]
    shares: FloatArray
    rewards: list[FloatArray]

    @property
    def sizes(self) -> IntArray:
        """Number of rows K of each set."""
        return np.array([len(one) for one in self.sets])

    def choices(self, policies: FloatArray) -> IntArray:
        """Return the row that each policy chooses of each set, shape ``(p, m)``."""
        return np.array([(policies @ one.T).argmax(axis=1) for one in self.sets], dtype=np.intp).T

    def scores(self, choices: IntArray, values: list[FloatArray]) -> FloatArray:
        """Return the mean score of each policy, given a score for each row of each set; shape ``(p,)``."""
        found = np.array([value[choices[:, place]] for place, value in enumerate(values)])
        return np.asarray(self.shares @ found)

    def regressed(self, values: list[FloatArray], estimator: Estimator) -> FloatArray:
        """Return the coefficients of a regression of scores on rows, both centred within sets, shape ``(d,)``."""
        roots = np.sqrt(self.shares * len(self.shares))
        x = np.concatenate([root * (one - one.mean(axis=0)) for root, one in zip(roots, self.sets, strict=True)])
        y = np.concatenate([root * (one - one.mean()) for root, one in zip(roots, values, strict=True)])
        spread = float(y.std())
        return estimator(x, y / spread if spread > 0.0 else y, np.zeros(x.shape[1])).coefficients


@dataclass(frozen=True, eq=False)
class PolicyMixture:
    """Weights of policies, and the smallest probability of a row.

    Attributes
    ----------
    policies : array of shape (p, d)
        Coefficients of each policy.
    weights : array of shape (p,)
        Q̃(π) of each; they sum to one if there are policies.
    smoothing : float
        μ.
    """

    policies: FloatArray
    weights: FloatArray
    smoothing: float

    def probabilities(self, features: FloatArray) -> FloatArray:
        """Return Q̃^μ(a | x) of each row, shape ``(K,)``; uniform if there is no policy."""
        count = len(features)
        if len(self.policies) == 0:
            return np.full(count, 1.0 / count)
        mu = min(self.smoothing, 1.0 / (2.0 * count))
        return smoothed(self.weights, (self.policies @ features.T).argmax(axis=1), count, mu)


def smoothed(weights: FloatArray, choices: IntArray, count: int, mu: float) -> FloatArray:
    """Return Q^μ(a | x) of each of ``count`` rows.

    Parameters
    ----------
    weights : array of shape (p,)
        Q(π) of each policy.
    choices : int array of shape (p,)
        Row that each policy chooses.
    count : int
        Number of rows K.
    mu : float
        μ.

    Returns
    -------
    array of shape (K,)

    Examples
    --------
    >>> smoothed(np.array([0.25, 0.75]), np.array([0, 2]), count=3, mu=0.1)
    array([0.275, 0.1  , 0.625])
    """
    mass = np.bincount(choices, weights, minlength=count)
    return np.asarray(mu + (1.0 - count * mu) * mass, dtype=np.float64)


def solve(
    history: History, mu: float, psi: float, policies: FloatArray, estimator: Estimator, most_steps: int
) -> tuple[FloatArray, FloatArray]:
    """Solve (OP) by coordinate descent.

    Parameters
    ----------
    history : History
        The rounds so far.
    mu : float
        μ.
    psi : float
        ψ.
    policies : array of shape (p, d)
        Policies to begin with, at least one.
    estimator : Estimator
        Regression that finds further policies.
    most_steps : int
        Most steps.

    Returns
    -------
    policies, weights : array of shape (q, d) and (q,)
        Policies, those to begin with first, and Q(π) of each, which sum to at most one.
    """
    sizes = history.sizes
    mus = np.minimum(mu, 1.0 / (2.0 * sizes))
    double, share = 2.0 * float(history.shares @ sizes), 1.0 - float(history.shares @ (sizes * mus))
    choices, weights = history.choices(policies), np.zeros(len(policies))
    means = history.scores(choices, history.rewards)
    for _ in range(most_steps):
        prices = (means.max() - means) / (psi * mu)  # b_π
        total = float(weights @ (double + prices))
        if total > double:
            weights = weights * (double / total)
        inverse = [
            1.0 / smoothed(weights, choices[:, place], int(sizes[place]), float(mus[place]))
            for place in range(len(sizes))
        ]
        wanted = [one + reward / (psi * mu) for one, reward in zip(inverse, history.rewards, strict=True)]
        found = history.regressed(wanted, estimator)[np.newaxis]
        theirs = history.choices(found)
        if not (choices == theirs).all(axis=1).any():
            policies, choices = np.concatenate((policies, found)), np.concatenate((choices, theirs))
            weights, means = np.append(weights, 0.0), np.append(means, history.scores(theirs, history.rewards))
            prices = (means.max() - means) / (psi * mu)
        first = history.scores(choices, inverse)  # V
        excess = first - double - prices  # D
        best = int(excess.argmax())
        if excess[best] <= 0.0:
            break
        second = history.scores(choices[best : best + 1], [one * one for one in inverse])[0]  # S
        weights[best] += (first[best] + excess[best]) / (2.0 * share * second)
    prices = (means.max() - means) / (psi * mu)
    total = float(weights @ (double + prices))
    return policies, weights * (double / total) if total > double else weights


class PolicyDistribution:
    """Learner: rounds with all their rows, and a distribution over linear policies that is computed when an epoch ends.

    The observation of a decision consists of the number of the set that it was chosen from, the row, and its
    probability. Sets are kept, each once if it comes again at once.

    Parameters
    ----------
    dimension : int
        Number of features d.
    estimator : Estimator
        Regression that finds policies; a frozen dataclass.
    complexity : float
        Logarithm of the number of policies.
    exploration : float, default=1.0
        Factor on μ; 1 is the source's.
    psi : float, default=100.0
        ψ.
    delta : float, default=0.05
        δ.
    most_steps : int, default=100
        Most steps of coordinate descent.
    """

    saved: ClassVar[Layout] = {
        "samples": Samples.saved,
        "rows": Reals("rows", "dimension"),
        "sizes": wholes("sets", low=1),
        "policies": Reals("policies", "dimension"),
        "weights": Reals("policies", low=0.0, high=ABOVE_ONE),
        "smoothing": Number(low=0.0, high=1.0),
        "fitted": Count(high="rewards"),
    }

    def __init__(
        self,
        dimension: int,
        estimator: Estimator,
        complexity: float,
        exploration: float = 1.0,
        psi: float = PSI,
        delta: float = DELTA,
        most_steps: int = MOST_STEPS,
    ) -> None:
        if not callable(estimator):
            raise ArgumentTypeError("estimator", "an estimator", shown(estimator))
        self.dimension = check_count("dimension", dimension)
        self.estimator = estimator
        self.complexity = check_weight("complexity", complexity)
        self.exploration = check_positive("exploration", exploration)
        self.psi = check_positive("psi", psi)
        self.delta = check_between("delta", delta, 1e-300, 1.0)
        self.most_steps = check_count("most_steps", most_steps)
        self.row = 3  # columns of what ``absorb`` takes
        self.samples = Samples(self.row)
        self.sets: tuple[FloatArray, ...] = ()
        self._mixture = PolicyMixture(np.zeros((0, dimension)), np.zeros(0), 0.5)
        self._fitted = 0

    def remembered(self, features: FloatArray) -> int:
        """Keep a set of rows that is offered, and return its number."""
        if not self.sets or (self.sets[-1] is not features and not np.array_equal(self.sets[-1], features)):
            self.sets = (*self.sets, features)
        return len(self.sets) - 1

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Store the rewards, with what was chosen and its probability."""
        self.samples = self.samples.after(x, y)

    def history(self, count: int) -> History:
        """Return the rounds of the first ``count`` rewards, which are scaled to [0, 1]."""
        x, y = self.samples.x[:count], self.samples.y[:count]
        low, high = float(y.min()), float(y.max())
        rewards = (y - low) / (high - low) if high > low else np.zeros(count)
        places, which, times = np.unique(x[:, SET].astype(np.intp), return_inverse=True, return_counts=True)
        sets = [self.sets[place] for place in places]
        means = [np.zeros(len(one)) for one in sets]
        weighted = rewards / x[:, PROBABILITY]
        for place, action, value in zip(which, x[:, ACTION].astype(np.intp), weighted, strict=True):
            means[place][action] += value / times[place]
        return History(sets, times / count, means)

    def _weighted(self, count: int) -> FloatArray:
        """Return the coefficients of a regression of the rewards on the chosen rows, with weights 1 / probability."""
        x, y = self.samples.x[:count], self.samples.y[:count]
        sets = [self.sets[int(place)] for place in x[:, SET]]
        chosen = np.array([one[int(row)] - one.mean(axis=0) for one, row in zip(sets, x[:, ACTION], strict=True)])
        roots, centred = 1.0 / np.sqrt(x[:, PROBABILITY]), y - y.mean()
        spread = float(centred.std()) or 1.0
        return self.estimator(
            roots[:, np.newaxis] * chosen, roots * centred / spread, np.zeros(self.dimension)
        ).coefficients

    def smoothing(self, count: int, n_actions: float) -> float:
        """Return μ after ``count`` rewards on sets of ``n_actions`` rows."""
        logs = math.log(16.0 * count**2 / self.delta) + self.complexity
        return min(1.0 / (2.0 * n_actions), self.exploration * math.sqrt(logs / (n_actions * count)))

    def mixture(self) -> PolicyMixture:
        """Return the distribution that the next decision uses."""
        end = Doubling().end(len(self.samples))
        if end > self._fitted:
            history = self.history(end)
            mu = self.smoothing(end, float(history.shares @ history.sizes))
            greedy = np.array([history.regressed(history.rewards, self.estimator), self._weighted(end)])
            start = np.concatenate((greedy, self._mixture.policies))
            policies, weights = solve(history, mu, self.psi, start, self.estimator, self.most_steps)
            best = int(history.scores(history.choices(policies), history.rewards).argmax())
            weights = weights.copy()
            weights[best] += max(1.0 - float(weights.sum()), 0.0)
            used = weights > 0.0
            mixture = PolicyMixture(policies[used], weights[used], mu)
            vars(self).update(_mixture=mixture, _fitted=end)  # in one step
        return self._mixture

    def notes(self) -> dict[str, float]:
        """Return what explanations say about the distribution."""
        mixture = self._mixture
        return {
            "rewards in the estimate": float(self._fitted),
            "policies in play": float(len(mixture.policies)),
            "smallest probability": mixture.smoothing,
        }

    def state(self) -> dict[str, Any]:
        """Return rounds and distribution."""
        rows = np.concatenate(self.sets) if self.sets else np.zeros((0, self.dimension))
        return {
            "samples": self.samples.state(),
            "rows": np.ascontiguousarray(rows),
            "sizes": np.array([len(one) for one in self.sets], dtype=np.int64),
            "policies": self._mixture.policies,
            "weights": self._mixture.weights,
            "smoothing": self._mixture.smoothing,
            "fitted": self._fitted,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = read(self.saved, state, {"dimension": self.dimension}, more=True)
        x, sizes = found["samples"]["x"], found["sizes"]
        if x.shape[1] != self.row or int(sizes.sum()) != len(found["rows"]):
            raise wrong("samples.x", "a set, a row and a probability, and as many rows as sets have", "others")
        numbers = x[:, :PROBABILITY]
        known = (numbers == np.round(numbers)).all() and (numbers >= 0).all() and (x[:, SET] < len(sizes)).all()
        if (
            not known
            or not (x[:, ACTION] < sizes[x[:, SET].astype(np.intp)]).all()
            or not (x[:, PROBABILITY] > 0).all()
        ):
            raise wrong("samples.x", "rows of the sets, with positive probabilities", "others")
        self.samples.restore(state["samples"])
        self.sets = tuple(np.split(found["rows"], np.cumsum(sizes)[:-1])) if len(sizes) else ()
        self._mixture = PolicyMixture(found["policies"], found["weights"], found["smoothing"])
        self._fitted = found["fitted"]


@dataclass(frozen=True)
class SmoothedPolicies(Rule):
    """Draw a row from the smoothed distribution over policies."""

    def check(self, posterior: Any) -> None:
        """Require a :class:`PolicyDistribution`."""
        if not isinstance(posterior, PolicyDistribution):
            raise ArgumentTypeError("posterior", "a PolicyDistribution for SmoothedPolicies", shown(posterior))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Draw a row."""
        learner, features = beliefs.posterior, beliefs.features
        mixture = learner.mixture()
        weights = mixture.probabilities(features)
        mean = mixture.weights @ mixture.policies if len(mixture.policies) else np.zeros(features.shape[1])
        choice = drawn(weights, features @ mean, mean, beliefs, rng, **learner.notes())
        observation = np.array([learner.remembered(features), choice.action, choice.probability], dtype=np.float64)
        return Choice(choice.action, choice.probability, choice.reasons, observation=observation)


class ILTCB(Policy):
    """ILOVETOCONBANDITS ("importance-weighted low-variance epoch-timed oracleized contextual bandits").

    The algorithm of Agarwal, Hsu, Kale, Langford, Li and Schapire (2014), on linear policies that a regression finds.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    noise_variance : float, default=1.0
        Noise variance of a reward. Accepted as by every policy, but nothing depends on it: scores are standardised.
    regressor : {"ridge", "lasso", "spike-and-slab", "emvs", "spike-and-slab lasso"} or Estimator, default="ridge"
        The regression that finds policies, or an estimator of one's own: a frozen dataclass that is called as
        ``estimator(x, y, start)``.
    sparsity : int, optional
        s, number of nonzero coefficients; by default the complexity of policies is d.
    exploration : float, default=1.0
        Factor on μ; 1 is the source's, smaller values are tuning.
    psi : float, default=100.0
        ψ.
    delta : float, default=0.05
        δ, the probability that the regret bound does not hold.
    most_steps : int, default=100
        Most steps of coordinate descent.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> policy = ILTCB(np.eye(3), seed=1)
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
        exploration: float = 1.0,
        psi: float = PSI,
        delta: float = DELTA,
        most_steps: int = MOST_STEPS,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        check_positive("noise_variance", noise_variance)
        if sparsity is not None and check_count("sparsity", sparsity) > available.dimension:
            raise ArgumentValueError("sparsity", f"at most the {available.dimension} features", f"{sparsity}")
        learner = PolicyDistribution(
            available.dimension,
            offline_oracle(regressor, available, 1.0),
            sparse_complexity(available.dimension, sparsity),
            exploration,
            psi,
            delta,
            most_steps,
        )
        super().__init__(available, learner, SmoothedPolicies(), seed, journal)
