"""D-LinUCB: optimism with discounted least squares, for coefficients that change over time.

Russac, Vernade and Cappé (2019), *Weighted Linear Bandits for Non-Stationary Environments*, Algorithm 1. A reward of
age s counts γ^s, and with

    V = λI + Σ γ^s aa',   Ṽ = λI + Σ γ^2s aa',   θ̂ = V⁻¹ Σ γ^s y a,
    β = √λ S + σ √(2 log(1/δ) + d log(1 + L² Σ γ^2s / (λ d))),

the action with the largest ⟨a, θ̂⟩ + β √(a'V⁻¹ṼV⁻¹a) is played. S bounds ‖θ‖ and L bounds ‖a‖. The paper writes
(1 − γ^2t) / (1 − γ²) for Σ γ^2s, which is the same after t rewards that came in time; the sum also holds for late ones
and for ages in seconds.

The formulas are those of the authors' program (github.com/YRussac/WeightedLinearBandits), which has L = 1, and so are
the defaults δ = 0.01, λ = 0.1 and S = 1. Its line for Ṽ takes V in place of the old Ṽ, unlike the formulas above; what
a second public implementation has agrees with these. The text of the paper was not available. For its bound on the
regret over T rounds, γ = 1 − (B / (d T))^(2/3), where B is the length of the path of θ; as a half-life this is
log 2 / log(1/γ).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    LARGEST,
    ArgumentTypeError,
    FloatArray,
    check_between,
    check_count,
    check_positive,
    shown,
)
from sparsebandits.layouts import Absent, Layout, Number, read
from sparsebandits.model.evidence import Evidence
from sparsebandits.model.forgetting import Discount
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Policy, Recorder
from sparsebandits.policies.rivals.lasso import solve_penalised
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.optima import pick
from sparsebandits.rules.rule import Rule


class DiscountedLeastSquares:
    """Learner: the discounted sums of least squares.

    Parameters
    ----------
    dimension : int
        Number of features d.
    forgetting : Discount
        How rewards are discounted; an infinite half-life gives plain least squares.
    penalty : float, default=0.1
        λ.
    noise_variance : float, default=1.0
        σ².
    """

    saved: ClassVar[Layout] = {
        "evidence": Evidence.saved,
        "squared": Evidence.saved,
        "clock": Absent(Number(low=-LARGEST, high=LARGEST)),
    }

    def __init__(self, dimension: int, forgetting: Discount, penalty: float = 0.1, noise_variance: float = 1.0) -> None:
        if not isinstance(forgetting, Discount):
            raise ArgumentTypeError("forgetting", "a Discount, such as Discount(half_life=500)", shown(forgetting))
        self.dimension = check_count("dimension", dimension)
        self.forgetting = forgetting
        self.penalty = check_positive("penalty", penalty)
        self.noise_variance = check_positive("noise_variance", noise_variance)
        self.row = self.dimension  # columns of what ``absorb`` takes
        self.clock: float | None = None  # time of the newest reward
        self.evidence = Evidence(self.dimension)  # Σ γ^s aa', Σ γ^s y a
        self.squared = Evidence(self.dimension)  # Σ γ^2s aa', Σ γ^2s

    def absorb(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None, times: FloatArray | None = None
    ) -> None:
        """Add a batch to the sums, which are discounted up to the newest reward."""
        passage = self.forgetting.passage(self.clock, times, len(y))
        x, y, shares = x[passage.order], y[passage.order], passage.shares
        self.evidence = self.evidence.scaled(passage.factor)
        self.evidence.absorb(x, y, shares, shares)
        self.squared = self.squared.scaled(passage.factor**2)
        self.squared.absorb(x, y, shares**2, shares**2)
        self.clock = passage.clock

    def coefficients(self) -> FloatArray:
        """Return θ̂, shape ``(d,)``."""
        return solve_penalised(self.evidence.gram, self.penalty, self.evidence.moment[:, np.newaxis])[:, 0]

    def lengths(self, x: FloatArray) -> FloatArray:
        """Return √(a'V⁻¹ṼV⁻¹a) of each row.

        Parameters
        ----------
        x : array of shape (K, d)
            Rows.

        Returns
        -------
        array of shape (K,)
        """
        solved = solve_penalised(self.evidence.gram, self.penalty, x.T)  # V⁻¹a
        squares = np.einsum("dk,dk->k", solved, self.squared.gram @ solved + self.penalty * solved)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def state(self) -> dict[str, Any]:
        """Return the sums."""
        clock = {} if self.clock is None else {"clock": self.clock}
        return {"evidence": self.evidence.state(), "squared": self.squared.state(), **clock}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = read(self.saved, state, {"dimension": self.dimension})
        self.evidence.restore(state["evidence"])
        self.squared.restore(state["squared"])
        self.clock = found.get("clock")


@dataclass(frozen=True)
class DiscountedOptimism(Rule):
    """Play the action with the largest upper bound; actions that tie are equally likely.

    Parameters
    ----------
    delta : float, default=0.01
        δ, the probability that the truth is not within the bounds.
    bound : float, default=1.0
        S, with ‖θ‖ ≤ S at all times.
    length : float, default=1.0
        L, with ‖a‖ ≤ L for all actions.
    width : float, default=1.0
        Factor on the radius β; 1 is the theorem's, smaller values are tuning.

    Examples
    --------
    >>> DiscountedOptimism(width=0.3)
    DiscountedOptimism(delta=0.01, bound=1.0, length=1.0, width=0.3)
    """

    delta: float = 0.01
    bound: float = 1.0
    length: float = 1.0
    width: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_between("delta", self.delta, 1e-300, 1.0))
        object.__setattr__(self, "bound", check_positive("bound", self.bound))
        object.__setattr__(self, "length", check_positive("length", self.length))
        object.__setattr__(self, "width", check_between("width", self.width, 0.0, LARGEST))

    def check(self, posterior: Any) -> None:
        """Require :class:`DiscountedLeastSquares`."""
        if not isinstance(posterior, DiscountedLeastSquares):
            expected = "DiscountedLeastSquares for DiscountedOptimism"
            raise ArgumentTypeError("posterior", expected, type(posterior).__name__)

    def radius(self, learner: DiscountedLeastSquares) -> float:
        """Return β.

        Parameters
        ----------
        learner : DiscountedLeastSquares
            The learner.

        Returns
        -------
        float
        """
        d, penalty = learner.dimension, learner.penalty
        growth = d * math.log1p(self.length**2 * learner.squared.count / (penalty * d))
        deviation = math.sqrt(learner.noise_variance)
        return math.sqrt(penalty) * self.bound + deviation * math.sqrt(2.0 * math.log(1.0 / self.delta) + growth)

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Play the action with the largest upper bound."""
        learner, features = beliefs.posterior, beliefs.features
        coefficients, radius = learner.coefficients(), self.width * self.radius(learner)
        estimate, bonus = features @ coefficients, radius * learner.lengths(features)
        upper = estimate + bonus
        action, probability = pick(upper, rng)
        columns = {"upper bound": upper, "estimate": estimate, "bonus": bonus}
        contributions = features[action] * coefficients
        return Choice(action, probability, Reasons.top(action, upper, columns, contributions, {"radius": radius}))


class DLinUCB(Policy):
    """Optimism with discounted least squares, for a world that changes.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    forgetting : Discount
        How rewards are discounted: γ = 2^(−1/half-life).
    noise_variance : float, default=1.0
        Noise variance σ² of a reward.
    penalty : float, default=0.1
        λ.
    delta : float, default=0.01
        δ, the probability that the truth is not within the bounds.
    bound : float, default=1.0
        S, with ‖θ‖ ≤ S at all times.
    length : float, optional
        L, with ‖a‖ ≤ L for all actions; by default the largest ‖a‖ of ``actions``, under the
        contexts that may come if there are contexts.
    width : float, default=1.0
        Factor on the radius β; 1 is the theorem's, smaller values are tuning.
    seed : int, SeedSequence or None
        Seed of the choice among actions that tie.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> policy = DLinUCB(np.eye(3), Discount(half_life=100), seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        forgetting: Discount,
        noise_variance: float = 1.0,
        penalty: float = 0.1,
        delta: float = 0.01,
        bound: float = 1.0,
        length: float | None = None,
        width: float = 1.0,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        learner = DiscountedLeastSquares(available.dimension, forgetting, penalty, noise_variance)
        if length is None:
            length = float(np.linalg.norm(available.sample(), axis=1).max()) or 1.0  # any, if all are zero
        super().__init__(available, learner, DiscountedOptimism(delta, bound, length, width), seed, journal)
