"""The Lasso bandit: an arm is a row number, each arm has its own parameter, and every arm gets forced samples.

Bastani and Bayati (2020), the algorithm of section 3. In round t arm i shows the context x_i. With K arms, T_i the
forced and S_i all rounds in which arm i was played,

    T_i = {(2ⁿ − 1) K q + j : n = 0, 1, …; j = q (i − 1) + 1, …, q i};
    if t is in T_i for some i, arm i is played; otherwise, with θ(·, λ) the minimiser of ‖y − Xθ‖² / n + λ‖θ‖₁ over the
    rewards of such rounds,
        candidates = {i : ⟨x_i, θ(T_i, λ_1)⟩ ≥ max_j ⟨x_j, θ(T_j, λ_1)⟩ − h / 2},
        the candidate with the largest ⟨x_i, θ(S_i, λ_2t)⟩ is played, λ_2t = λ_20 √((log t + log d) / t).

The source has one context per round for all arms: repeat it in every row, or put it into the block of the row's arm
with zeros elsewhere, and this is its algorithm. Rows that differ between arms are used as they are, so what is learnt
about one arm says nothing about the others.

q = 1, h = 5 and λ_1 = 0.05 are the values in the program of Kim and Paik (2019), with λ_20 = 0.05 and noise of standard
deviation 0.05. The theorem's λ_20 is proportional to the standard deviation σ and its λ_1 is not, so the default is
λ_20 = σ. That program shows each arm the rows of all arms, end to end, and uses λ as the penalty of scikit-learn, which
is twice the source's.

It is not suited to arms that share one parameter, as everywhere else in this package: K parameters are learnt instead
of one, and all of the first 2 K q rounds are forced. On a fixed action set a row never changes, so the estimates are K
shrunken averages: a bandit without features. ``parameters="shared"``, which is not in the source, pools the arms: one
forced-sample and one all-sample Lasso, and q uniformly drawn forced rounds where the source has K q.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    ArgumentTypeError,
    FloatArray,
    IntArray,
    check_choice,
    check_count,
    check_positive,
    shown,
)
from sparsebandits.atomic import forked
from sparsebandits.layouts import Count, Layout, Reals, read, wrong
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Policy, Recorder
from sparsebandits.policies.rivals.lasso import Samples, check_weight, lasso, refit_is_due, root_log_rate
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.optima import pick
from sparsebandits.rules.rule import Rule

PARAMETERS = ("disjoint", "shared")
ARM, FORCED, CONTEXT = 0, 1, 2  # columns of the samples

LARGEST_ARM = 2**31 - 1
"""Largest number of an arm in a saved policy."""


def forced_arm(number: int, n_arms: int, forced_samples: int) -> int | None:
    """Return the arm that a round forces, or None.

    Parameters
    ----------
    number : int
        Number of the round, from one.
    n_arms : int
        Number of arms K.
    forced_samples : int
        q, number of forced samples of each arm in each block.

    Returns
    -------
    int or None
        The arm, counted from zero; None if the round is not forced.

    Examples
    --------
    >>> [forced_arm(t, n_arms=2, forced_samples=1) for t in range(1, 11)]
    [0, 1, 0, 1, None, None, 0, 1, None, None]
    """
    block, place = divmod(number - 1, n_arms * forced_samples)
    blocks = block + 1  # a power of two where the block is (2ⁿ − 1) K q rounds from the start
    return place // forced_samples if blocks & (blocks - 1) == 0 else None


class ForcedSamples:
    """Learner: for each arm a Lasso on its forced samples and one on all its samples.

    Parameters
    ----------
    dimension : int
        Number of features d.
    n_arms : int or None
        Number of arms; None for one parameter that all rows share.
    forced_penalty, all_penalty : float
        λ_1 and λ_20.
    refit_growth : float
        Share of new rewards at which the Lassos are fitted again.
    """

    saved: ClassVar[Layout] = {
        "samples": Samples.saved,
        "forced": Reals("arms", "dimension"),
        "all": Reals("arms", "dimension"),
        "fitted": Count(high="rewards"),
    }

    def __init__(
        self, dimension: int, n_arms: int | None, forced_penalty: float, all_penalty: float, refit_growth: float
    ) -> None:
        self.dimension = check_count("dimension", dimension)
        self.n_arms = None if n_arms is None else check_count("n_arms", n_arms)
        self.forced_penalty = check_weight("forced_penalty", forced_penalty)
        self.all_penalty = check_weight("all_penalty", all_penalty)
        self.refit_growth = check_weight("refit_growth", refit_growth)
        self.row = CONTEXT + dimension  # columns of what ``absorb`` takes
        self.samples = Samples(self.row)
        self._forced, self._all = np.zeros((0, dimension)), np.zeros((0, dimension))  # as many arms as have been fitted
        self._fitted = 0

    def arms_of(self, rows: int) -> IntArray:
        """Return the arm of each row, for an action set with so many rows."""
        return np.arange(rows) if self.n_arms is not None else np.zeros(rows, dtype=np.intp)

    def estimates(self, n_arms: int) -> tuple[FloatArray, FloatArray]:
        """Return the estimates of at least ``n_arms`` arms.

        Parameters
        ----------
        n_arms : int
            Number of arms that are needed.

        Returns
        -------
        forced, everything : array of shape (K, d)
            θ(T_i, λ_1) and θ(S_i, λ_2t), one arm per row.
        """
        count = len(self.samples)
        if refit_is_due(count, self._fitted, self.refit_growth):
            x, y = self.samples.x, self.samples.y
            arms, forced, contexts = x[:, ARM].astype(np.intp), x[:, FORCED] == 1.0, x[:, CONTEXT:]
            all_forced, everything = (padded(c, int(arms.max()) + 1).copy() for c in (self._forced, self._all))
            penalty = self.all_penalty * root_log_rate(count, contexts.shape[1])
            for arm in np.unique(arms):
                rows = arms == arm
                everything[arm] = self.fit(contexts[rows], y[rows], penalty, everything[arm])
                if forced[self._fitted :][rows[self._fitted :]].any():
                    rows &= forced
                    all_forced[arm] = self.fit(contexts[rows], y[rows], self.forced_penalty, all_forced[arm])
            vars(self).update(_forced=all_forced, _all=everything, _fitted=count)  # in one step
        return padded(self._forced, n_arms), padded(self._all, n_arms)

    def fit(self, x: FloatArray, y: FloatArray, penalty: float, start: FloatArray) -> FloatArray:
        """Return the estimate θ(·, λ) from some of the rewards.

        Parameters
        ----------
        x : array of shape (n, d)
            Contexts.
        y : array of shape (n,)
            Rewards.
        penalty : float
            λ.
        start : array of shape (d,)
            Estimate from which the search starts.

        Returns
        -------
        array of shape (d,)
            The estimate.
        """
        return lasso(x, y, penalty / 2.0, start)

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Store the rewards, with their arms and whether they were forced."""
        self.samples = self.samples.after(x, y)

    def state(self) -> dict[str, Any]:
        """Return data and estimates."""
        return {
            "samples": self.samples.state(),
            "forced": self._forced.copy(),
            "all": self._all.copy(),
            "fitted": self._fitted,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = read(self.saved, state, {"dimension": self.dimension}, more=True)
        arms = found["samples"]["x"][:, :CONTEXT]
        if not ((arms == np.round(arms)) & (arms >= 0) & (arms <= [LARGEST_ARM, 1])).all():
            raise wrong("samples.x", "an arm and whether it was forced in its first columns", "other numbers")
        self.samples.restore(state["samples"])
        self._forced, self._all, self._fitted = found["forced"], found["all"], found["fitted"]


def padded(coefficients: FloatArray, n_arms: int) -> FloatArray:
    """Return coefficients with zeros for arms that have not been seen.

    Parameters
    ----------
    coefficients : array of shape (k, d)
        Coefficients of the first k arms, one per row.
    n_arms : int
        Number of rows that are needed.

    Returns
    -------
    array of shape (max(k, n_arms), d)
        Coefficients, one arm per row.
    """
    missing = n_arms - len(coefficients)
    if missing <= 0:
        return coefficients
    return np.concatenate((coefficients, np.zeros((missing, coefficients.shape[1]))))


@dataclass(frozen=True)
class ForcedSampling(Rule):
    """Play the forced arm, or the best candidate; ties are broken uniformly at random.

    Parameters
    ----------
    forced_samples : int
        q, number of forced samples of each arm in each block.
    localisation : float
        h, in the unit of rewards.
    """

    forced_samples: int
    localisation: float

    def __post_init__(self) -> None:
        check_count("forced_samples", self.forced_samples)
        check_weight("localisation", self.localisation)

    def check(self, posterior: Any) -> None:
        """Require :class:`ForcedSamples`."""
        if not isinstance(posterior, ForcedSamples):
            raise ArgumentTypeError("posterior", "ForcedSamples for ForcedSampling", shown(posterior))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Play the forced arm, or the best candidate."""
        learner, features = beliefs.posterior, beliefs.features
        arms = learner.arms_of(len(features))
        arm = forced_arm(beliefs.decisions + 1, learner.n_arms or 1, self.forced_samples)
        if arm is not None and arm in arms:  # a changing set may lack it
            allowed = arms == arm
            action, probability = pick(allowed.astype(np.float64), rng)
            columns = {"probability": allowed * probability}
            nothing = np.zeros(features.shape[1])
            reasons = Reasons.top(action, columns["probability"], columns, nothing, {"forced": 1.0})
        else:
            forced, everything = learner.estimates(int(arms.max()) + 1)
            first = np.einsum("ij,ij->i", features, forced[arms])
            second = np.einsum("ij,ij->i", features, everything[arms])
            candidates = first >= first.max() - self.localisation / 2.0
            action, probability = pick(np.where(candidates, second, -np.inf), rng)
            columns = {
                "all-sample estimate": second,
                "forced-sample estimate": first,
                "candidate": candidates.astype(np.float64),
            }
            contributions = features[action] * everything[arms[action]]
            reasons = Reasons.top(action, second, columns, contributions, {"forced": 0.0})
            arm = None
        observation = np.concatenate(([arms[action], arm is not None], features[action]))
        return Choice(action, probability, reasons, observation=observation)


class LassoBandit(Policy):
    """The Lasso bandit of Bastani and Bayati (2020).

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per arm; K fixes the forced rounds. In sets that change, the row number is the arm.
    noise_variance : float, default=1.0
        Noise variance σ² of a reward; only the default of ``all_penalty`` uses it.
    forced_samples : int, default=1
        q, number of forced samples of each arm in each block.
    localisation : float, default=5.0
        h, in the unit of rewards.
    forced_penalty : float, default=0.05
        λ_1.
    all_penalty : float, optional
        λ_20; by default σ.
    parameters : {"disjoint", "shared"}, default="disjoint"
        One parameter per arm, as published, or one for all rows.
    refit_growth : float, default=0.0
        Share of new rewards at which the Lassos are fitted again; 0 is after every reward, as published.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> import numpy as np
    >>> policy = LassoBandit(np.ones((3, 1)))
    >>> [policy.ask().action for _ in range(3)]
    [0, 1, 2]
    """

    def __init__(
        self,
        actions: object,
        noise_variance: float = 1.0,
        forced_samples: int = 1,
        localisation: float = 5.0,
        forced_penalty: float = 0.05,
        all_penalty: float | None = None,
        parameters: str = "disjoint",
        refit_growth: float = 0.0,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        variance = check_positive("noise_variance", noise_variance)
        kind = check_choice("parameters", parameters, PARAMETERS)
        scale = math.sqrt(variance) if all_penalty is None else check_weight("all_penalty", all_penalty)
        rule = ForcedSampling(check_count("forced_samples", forced_samples), check_weight("localisation", localisation))
        learner = ForcedSamples(
            available.dimension,
            len(available) if kind == "disjoint" else None,
            check_weight("forced_penalty", forced_penalty),
            scale,
            check_weight("refit_growth", refit_growth),
        )
        super().__init__(available, learner, rule, seed, journal)

    @property
    def coefficients(self) -> FloatArray:
        """All-sample estimates that the next decision uses: one row per arm, or a single row if arms are pooled."""
        with self._lock:
            estimates: FloatArray = forked(self.posterior).estimates(self.posterior.n_arms or 1)[1]
        return estimates.copy()
