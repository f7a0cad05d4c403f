"""Explore the sparsity, then commit: Hao, Lattimore and Wang (2020, Algorithm 1).

    1. μ maximises σ_min(E_μ[aa']), which is then C_min (``theory.exploratory_design``).
    2. n₁ rounds are played from μ.
    3. θ̂ minimises (1/n₁) Σ (Y − ⟨a, θ⟩)² + λ‖θ‖₁.
    4. argmax_a ⟨a, θ̂⟩ is played for ever.

Their Theorem 4.2, for noise of variance σ² (they have 1) and |⟨a, θ*⟩| ≤ R_max, takes

    n₁ = n^(2/3) (s² σ² log(2d))^(1/3) R_max^(−2/3) (2 / C_min²)^(1/3),  at most n,
    λ  = 4σ √(log(d) / n₁).

They assume features between −1 and 1. The formulas are used as they stand for others too; there, and in general, n₁ is
of the right order at best (it minimises a bound), so ``exploration`` is worth tuning.
"""

import math
from collections.abc import Mapping
from typing import Any

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
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Choice, Reasons
from sparsebandits.policies.policy import Policy
from sparsebandits.policies.rivals.lasso import CROSS_VALIDATION, cross_validated_penalty, lasso
from sparsebandits.randomness import Seed
from sparsebandits.theory import exploratory_design

PENALTIES = ("theorem", CROSS_VALIDATION)


def exploration_length(
    horizon: int, dimension: int, sparsity: int, noise_variance: float, bound: float, c_min: float
) -> int:
    """Return n₁ of Theorem 4.2, rounded up, from 1 to ``horizon``.

    >>> exploration_length(1000, dimension=100, sparsity=2, noise_variance=1.0, bound=1.0, c_min=1.0)
    349
    """
    if c_min == 0.0:
        return horizon
    constant = 2.0 * sparsity**2 * noise_variance * math.log(2 * dimension)
    length = math.cbrt(constant) * math.pow(horizon / (bound * c_min), 2 / 3)
    return max(1, math.ceil(min(length, horizon)))


def theorem_penalty(dimension: int, noise_variance: float, rounds: int) -> float:
    """Return λ of Theorem 4.2.

    >>> round(theorem_penalty(100, noise_variance=1.0, rounds=400), 4)
    0.4292
    """
    return 4.0 * math.sqrt(noise_variance * math.log(dimension) / rounds)


class ExploreThenCommit:
    """The rule. It commits as soon as ``exploration`` rewards have come, in whatever order, and learns no more."""

    def __init__(self, own: FloatArray, noise_variance: float, exploration: int, penalty: str | float) -> None:
        self.own = own
        self.noise_variance = noise_variance
        self.exploration = exploration
        self.penalty = penalty
        self.features: FloatArray = np.empty((0, own.shape[1]))  # of the rewards so far, until it commits
        self.rewards: FloatArray = np.empty(0)
        self.coefficients: FloatArray | None = None  # θ̂, once it has committed
        self._own_weights: FloatArray | None = None  # saved, since a solver's last bits depend on the machine

    def choose(self, actions: ActionSet, rng: Generator) -> Choice:
        """Draw from the exploration distribution of ``actions``, or play the best by θ̂; the lower row wins a tie."""
        if self.coefficients is not None:
            mean = actions.features @ self.coefficients
            action = int(mean.argmax())
            parts = actions.features[action] * self.coefficients
            return Choice(action, 1.0, Reasons.top(action, mean, {"estimated mean": mean}, parts))
        weights = self._weights_of(actions.features)
        edges = weights.cumsum()
        action = int(np.searchsorted(edges, rng.random() * edges[-1], side="right"))
        columns = {"exploration probability": weights}
        notes = {"rewards until it commits": float(self.exploration - len(self.rewards))}
        reasons = Reasons.top(action, weights, columns, np.zeros(actions.dimension), notes)
        return Choice(action, float(weights[action]), reasons)

    def learn(self, features: FloatArray, rewards: FloatArray) -> None:
        """Keep the rewards until there are enough; then fit θ̂ to all of them and forget them."""
        if self.coefficients is not None:
            return
        self.features = np.concatenate((self.features, features))
        self.rewards = np.concatenate((self.rewards, rewards))
        if len(self.rewards) >= self.exploration:
            self.coefficients = self._fitted()
            self.features, self.rewards, self._own_weights = self.features[:0], self.rewards[:0], None

    def _fitted(self) -> FloatArray:
        rounds, dimension = self.features.shape
        if self.penalty == CROSS_VALIDATION and rounds > 1:  # one reward cannot be split into folds
            penalty = cross_validated_penalty(self.features, self.rewards)
        elif isinstance(self.penalty, str):
            penalty = theorem_penalty(dimension, self.noise_variance, rounds) / 2.0
        else:
            penalty = self.penalty / 2.0
        return lasso(self.features, self.rewards, penalty, np.zeros(dimension))

    def _weights_of(self, features: FloatArray) -> FloatArray:
        if features is not self.own:
            return exploratory_design(features).weights
        if self._own_weights is None:
            self._own_weights = exploratory_design(features).weights
        return self._own_weights

    def state(self) -> dict[str, Any]:
        """Return the rewards so far or the estimate, and the weights of the policy's own actions if they are known."""
        state: dict[str, Any] = {"features": self.features, "rewards": self.rewards}
        if self.coefficients is not None:
            state["coefficients"] = self.coefficients
        if self._own_weights is not None:
            state["weights"] = self._own_weights
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        self.features, self.rewards = state["features"], state["rewards"]
        self.coefficients = state.get("coefficients")
        self._own_weights = state.get("weights")


class ESTC(Policy):
    """Explore from the best-conditioned distribution, fit the Lasso, commit.

    Parameters
    ----------
    actions : array or DataFrame ``(K, d)``, one row an action
    noise_variance : variance of a reward around its mean
    horizon : n, rounds that will be played; needed unless ``exploration`` is given
    sparsity : s, coefficients that are not zero; needed unless ``exploration`` is given
    exploration : rewards after which it commits; by default n₁ of the theorem
    penalty : "theorem", "cross-validation", or λ itself
    bound : R_max, the largest magnitude of a mean reward; by default the largest norm of an action, which is right
        if ‖θ*‖ ≤ 1
    seed : integer, SeedSequence, or None for fresh entropy

    If the actions do not span the space, the theorem does not hold; C_min is then taken within their span.

    >>> import numpy as np
    >>> policy = ESTC(np.eye(3), exploration=2, seed=0)
    >>> for reward in (1.0, 2.0):
    ...     policy.tell(policy.ask(), reward)
    >>> policy.ask().probability
    1.0
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
            bound = min(float(np.sqrt(np.square(available.features).sum(axis=1).max())) or 1.0, LARGEST)
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
            c_min = exploratory_design(available.features).c_span
            exploration = exploration_length(horizon, available.dimension, sparsity, noise, bound, c_min)
        exploration = check_count("exploration", exploration)
        arguments = {
            "noise_variance": noise,
            "horizon": horizon,
            "sparsity": sparsity,
            "exploration": exploration,
            "penalty": penalty,
            "bound": bound,
        }
        super().__init__(available, ExploreThenCommit(available.features, noise, exploration, penalty), arguments, seed)
