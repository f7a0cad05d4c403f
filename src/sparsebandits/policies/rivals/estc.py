"""Explore the sparsity, then commit: Hao, Lattimore and Wang (2020, Algorithm 1).

    1. μ maximises σ_min(E_μ[aa']), which is then C_min (``theory.exploratory_design``).
    2. n₁ rounds are played from μ.
    3. θ̂ minimises (1/n₁) Σ (Y − ⟨a, θ⟩)² + λ‖θ‖₁.
    4. argmax_a ⟨a, θ̂⟩ is played in all later rounds.

Their Theorem 4.2, for noise of variance σ² (they have 1) and |⟨a, θ*⟩| ≤ R_max, takes

    n₁ = n^(2/3) (s² σ² log(2d))^(1/3) R_max^(−2/3) (2 / C_min²)^(1/3),  at most n,
    λ  = 4σ √(log(d) / n₁).

They assume features between −1 and 1. The formulas are used unchanged for other features too. In any case n₁ is of the
right order at best (it minimises a bound), so ``exploration`` is worth tuning.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    LARGEST,
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_count,
    check_number,
    check_positive,
    shown,
)
from sparsebandits.layouts import ABOVE_ONE, Absent, Layout, Reals, read, wrong
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.items import Items
from sparsebandits.policies.policy import Policy, Recorder
from sparsebandits.policies.rivals.lasso import CROSS_VALIDATION, check_weight, cross_validated_penalty, lasso
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.optima import pick
from sparsebandits.rules.rule import Rule
from sparsebandits.theory.design import DEPENDENT, exploratory_design

PENALTIES = ("theorem", CROSS_VALIDATION)


def exploration_length(
    horizon: int, dimension: int, sparsity: int, noise_variance: float, bound: float, c_min: float
) -> int:
    """Return n₁ of Theorem 4.2, rounded up, from 1 to ``horizon``.

    Parameters
    ----------
    horizon : int
        Number of rounds n.
    dimension : int
        Number of features d.
    sparsity : int
        Number of nonzero coefficients s.
    noise_variance : float
        σ².
    bound : float
        R_max, the largest magnitude of a mean reward.
    c_min : float
        C_min, the smallest eigenvalue of the best exploration distribution.

    Returns
    -------
    int
        Number of exploration rounds; ``horizon`` if C_min is zero.

    Examples
    --------
    >>> exploration_length(1000, dimension=100, sparsity=2, noise_variance=1.0, bound=1.0, c_min=1.0)
    349
    """
    if c_min == 0.0:
        return horizon
    constant = 2.0 * sparsity**2 * noise_variance * math.log(2 * dimension)
    length = math.cbrt(constant) * math.pow(horizon / (bound * c_min), 2 / 3)
    return max(1, math.ceil(min(length, horizon)))


class Explored(NamedTuple):
    """How well a set of actions can be explored.

    Attributes
    ----------
    c_min : float
        Smallest eigenvalue of E[aa']; zero if the actions do not span the space.
    c_span : float
        The smallest one within their span.
    """

    c_min: float
    c_span: float


def explored(actions: ActionSet, level: FloatArray | float = 0.0, unit: float = 1.0) -> Explored:
    """Return C_min of a set of actions: of the best design, or of uniform play if actions depend on the context.

    With contexts, the design of each of them is needed for the best exploration, and there may be many. Uniform play is
    cheap and has at most that C_min.

    Parameters
    ----------
    actions : ActionSet
        The actions; of items, under the contexts that may come.
    level : array of shape (d,), default=0.0
        What the actions count relative to.
    unit : float, default=1.0
        Unit of the features.

    Returns
    -------
    Explored

    Examples
    --------
    >>> round(explored(ActionSet.of([[1.0, 0.0], [0.0, 2.0]])).c_min, 4)
    0.8
    """
    if not isinstance(actions, Items):
        design = exploratory_design((actions.features - level) / unit)
        return Explored(design.c_min, design.c_span)
    rows = (actions.sample() - level) / unit
    singular = np.linalg.svd(np.linalg.qr(rows, mode="r"), compute_uv=False)
    spanned = singular[singular > DEPENDENT * singular[0]]
    c_span = float(spanned[-1] ** 2 / len(rows)) if len(spanned) else 0.0
    return Explored(c_span if len(spanned) == actions.dimension else 0.0, c_span)


def theorem_penalty(dimension: int, noise_variance: float, rounds: int) -> float:
    """Return λ of Theorem 4.2.

    Parameters
    ----------
    dimension : int
        Number of features d.
    noise_variance : float
        σ².
    rounds : int
        Number of exploration rounds n₁.

    Returns
    -------
    float
        λ, in the paper's form of the Lasso.

    Examples
    --------
    >>> round(theorem_penalty(100, noise_variance=1.0, rounds=400), 4)
    0.4292
    """
    return 4.0 * math.sqrt(noise_variance * math.log(dimension) / rounds)


class LassoOnce:
    """Learner: stores rewards until there are enough, then fits θ̂ to all of them once and discards them.

    Parameters
    ----------
    dimension : int
        Number of features d.
    noise_variance : float
        Noise variance of a reward.
    exploration : int
        Number of rewards after which θ̂ is fitted, in whatever order they come.
    penalty : "theorem", "cross-validation" or float
        λ, or how it is chosen.
    """

    saved: ClassVar[Layout] = {
        "features": Reals("rewards", "dimension"),
        "rewards": Reals("rewards"),
        "coefficients": Absent(Reals("dimension")),
        "designed": Absent(Reals("rows", "dimension", order="")),
        "weights": Absent(Reals("rows", low=0.0, high=ABOVE_ONE)),
    }

    def __init__(self, dimension: int, noise_variance: float, exploration: int, penalty: str | float) -> None:
        self.dimension = check_count("dimension", dimension)
        self.noise_variance = check_positive("noise_variance", noise_variance)
        self.exploration = check_count("exploration", exploration)
        self.penalty = penalty if penalty in PENALTIES else check_weight("penalty", penalty)
        self.row = dimension  # columns of what ``absorb`` takes
        self.features: FloatArray = np.empty((0, dimension))  # of the rewards so far, until θ̂ is fitted
        self.rewards: FloatArray = np.empty(0)
        self.coefficients: FloatArray | None = None  # θ̂, once it is fitted
        self._designed: tuple[FloatArray, FloatArray] | None = None  # actions and their weights

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Store the rewards until there are enough, then fit; ignore later ones."""
        if self.coefficients is not None:
            return
        self.features = np.concatenate((self.features, x))
        self.rewards = np.concatenate((self.rewards, y))
        if len(self.rewards) >= self.exploration:
            self.coefficients = self._fitted()
            self.features, self.rewards, self._designed = self.features[:0], self.rewards[:0], None

    def _fitted(self) -> FloatArray:
        rounds, dimension = self.features.shape
        if self.penalty == CROSS_VALIDATION and rounds > 1:  # one reward cannot be split into folds
            penalty = cross_validated_penalty(self.features, self.rewards)
        elif isinstance(self.penalty, str):
            penalty = theorem_penalty(dimension, self.noise_variance, rounds) / 2.0
        else:
            penalty = self.penalty / 2.0
        return lasso(self.features, self.rewards, penalty, np.zeros(dimension))

    def design(self, features: FloatArray) -> FloatArray:
        """Return the exploration distribution of a set of actions; that of the last set is remembered.

        Parameters
        ----------
        features : array of shape (K, d)
            One row per action.

        Returns
        -------
        array of shape (K,)
            Probability of each action.
        """
        known = None if self._designed is None else self._designed[0]
        if known is not features and (known is None or not np.array_equal(known, features)):
            self._designed = features, exploratory_design(features).weights
        assert self._designed is not None
        return self._designed[1]

    def state(self) -> dict[str, Any]:
        """Return rewards or estimate, and the last design, since the last bits of a solver depend on the machine."""
        state: dict[str, Any] = {"features": self.features, "rewards": self.rewards}
        if self.coefficients is not None:
            state["coefficients"] = self.coefficients
        if self._designed is not None:
            state["designed"], state["weights"] = self._designed
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = read(self.saved, state, {"dimension": self.dimension}, more=True)
        fitted, designed = "coefficients" in found, {"designed", "weights"} & found.keys()
        if len(found["rewards"]) > (0 if fitted else self.exploration) or len(designed) == 1:
            raise wrong("learnt", "rewards until there is an estimate, and a design with its weights", "others")
        self.features, self.rewards = found["features"], found["rewards"]
        self.coefficients = found.get("coefficients")
        self._designed = (found["designed"], found["weights"]) if designed else None


@dataclass(frozen=True)
class ExploreThenCommit(Rule):
    """Draw from the exploration distribution, then play the best action under θ̂ (one of those that tie)."""

    def check(self, posterior: Any) -> None:
        """Require :class:`LassoOnce`."""
        if not isinstance(posterior, LassoOnce):
            raise ArgumentTypeError("posterior", "a LassoOnce for ExploreThenCommit", shown(posterior))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Explore, or play the best action."""
        learner, features = beliefs.posterior, beliefs.features
        if learner.coefficients is not None:
            mean = features @ learner.coefficients
            action, probability = pick(mean, rng)
            contributions = features[action] * learner.coefficients
            return Choice(action, probability, Reasons.top(action, mean, {"estimated mean": mean}, contributions))
        weights = learner.design(features)
        edges = weights.cumsum()
        action = int(np.searchsorted(edges, rng.random() * edges[-1], side="right"))
        columns = {"exploration probability": weights}
        notes = {"rewards until it commits": float(learner.exploration - len(learner.rewards))}
        reasons = Reasons.top(action, weights, columns, np.zeros(features.shape[1]), notes)
        return Choice(action, float(weights[action]), reasons)


class ESTC(Policy):
    """Explore-the-sparsity-then-commit of Hao, Lattimore and Wang (2020).

    Explore from the best-conditioned distribution over actions, fit the Lasso once, and commit to its best action.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    noise_variance : float, default=1.0
        Noise variance of a reward.
    horizon : int, optional
        n, number of rounds that will be played; needed unless ``exploration`` is given.
    sparsity : int, optional
        s, number of nonzero coefficients; needed unless ``exploration`` is given.
    exploration : int, optional
        Number of rewards after which it commits; by default n₁ of the theorem.
    penalty : "theorem", "cross-validation" or float, default="theorem"
        λ, or how it is chosen.
    bound : float, optional
        R_max, the largest magnitude of a mean reward; by default the largest norm of an action, which is valid if
        ‖θ*‖ ≤ 1.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Notes
    -----
    If the actions do not span the space, the theorem does not apply; C_min is then computed within their span. With
    contexts, the default ``exploration`` takes C_min from uniform play under the contexts that may come. It is at most
    that of the best exploration, so it explores for longer.

    Examples
    --------
    >>> import numpy as np
    >>> policy = ESTC(np.eye(3), exploration=2, seed=0)
    >>> for reward in (1.0, 2.0):
    ...     policy.tell(policy.ask(), reward)
    >>> bool(policy.ask().probability > 0.3)  # 1, unless actions tie under the estimate
    True
    """

    def __init__(
        self,
        actions: object,
        noise_variance: float = 1.0,
        horizon: int | None = None,
        sparsity: int | None = None,
        exploration: int | None = None,
        penalty: str | float = "theorem",
        bound: float | None = None,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        noise = check_positive("noise_variance", noise_variance)
        if isinstance(penalty, str):
            if penalty not in PENALTIES:
                known = ", ".join(repr(one) for one in PENALTIES)
                raise ArgumentValueError("penalty", f"{known} or a number", shown(penalty))
        else:
            penalty = check_number("penalty", penalty)
            if penalty < 0:
                raise ArgumentValueError("penalty", "a number of at least zero", repr(penalty))
        if bound is None:
            bound = min(float(np.sqrt(np.square(available.sample()).sum(axis=1).max())) or 1.0, LARGEST)
        bound = check_positive("bound", bound)
        for name, value in (("horizon", horizon), ("sparsity", sparsity)):
            if exploration is None and value is None:
                raise ArgumentTypeError(name, "a whole number, as exploration is not given either", "None")
        if exploration is None or horizon is not None:
            horizon = check_count("horizon", horizon)
        if exploration is None or sparsity is not None:
            sparsity = check_count("sparsity", sparsity)
            if sparsity > available.dimension:
                raise ArgumentValueError("sparsity", f"at most the {available.dimension} features", f"{sparsity}")
        if exploration is None and horizon is not None and sparsity is not None:
            c_min = explored(available).c_span
            exploration = exploration_length(horizon, available.dimension, sparsity, noise, bound, c_min)
        exploration = check_count("exploration", exploration)
        learner = LassoOnce(available.dimension, noise, exploration, penalty)
        super().__init__(available, learner, ExploreThenCommit(), seed, journal)
