"""SL-UCB on the unit ball: search for the support with random signs, then play a linear UCB on what was found.

Carpentier and Munos (2012), *Bandit theory meets compressed sensing for high-dimensional stochastic linear bandit*,
AISTATS (arXiv 1205.4094). Rewards are ⟨x, θ + η_t⟩ with a noise vector η_t (``environments/unit_ball.py``), ‖x‖ ≤ 1.

    search    x = ε/√d with independent random signs ε;  θ̂_k = Σ √d ε_k y / T,  an interval θ̂_k ± W for every k;
    support   A = {k: |θ̂_k| > W}, fixed when the search ends;
    optimism  argmax of ⟨x, ν⟩ over ‖x‖ ≤ 1 and ν in an ellipsoid, on the coordinates of A (ConfidenceBall of Dani,
              Hayes and Kakade 2008, with the ellipsoid of Abbasi-Yadkori, Pál and Szepesvári 2011).

Of the paper, only the abstract and the beginning of the introduction were available, so its constants are not printed
here. Those in use are derived, with B ≥ ‖θ‖ and independent σ_k²-subgaussian entries of η_t with Σ σ_k² ≤ σ²:

W. √d ε_k y = θ_k + η_k + ε_k Σ_{j≠k} ε_j (θ_j + η_j). Given the signs, the part with η is σ²-subgaussian; the part
with θ is a sum of independent signs, ‖θ‖²-subgaussian. So each term is θ_k plus noise with variance proxy
κ² = B² + σ², free of d, which is the width of ``hypercube_elimination.py`` with failure probability δ/2d:

    W = √(2κ² (1/T + 1/T²) log(2d √(2T + 1) / δ)).

All intervals contain the truth for all T at once with probability 1 − δ/2; then A has no coordinate too many, and those
missed have |θ_k| ≤ 2W. If all that is known of the noise is ‖η_t‖ ≤ σ, the same argument, with the signs drawn after
η_t, gives κ² = (B + σ)² + σ²: pass B + σ as ``norm_bound``.

End of the search. A round of search has regret ‖θ‖ on average. In a later one, what was missed adds to the regret of
the linear bandit on A ‖θ‖ − ‖θ_A‖ ≤ ‖θ_{not A}‖²/‖θ‖ ≤ 4sW²/‖θ‖, if s coordinates were missed. The search ends when its
own cost T‖θ‖ has reached that of ending it,

    T · Σ_k (|θ̂_k| − W)₊² ≥ 4 s (n − T) W²,

where the sum is at most ‖θ‖². For large n, T‖θ‖ is then of order κ√(s n log(d/δ)), and what is missed costs as much.
With s = 1, the default, both together are of order κ s √(n log(d/δ)): the paper's rate s√n, without knowing s.

Ellipsoid. On A rewards are linear in θ_A, and ⟨x, η_t⟩ is σ²-subgaussian for ‖x‖ ≤ 1. With V = λI + Σ xx' over the
rounds after the search, and probability 1 − δ/2,

    ‖θ_A − θ̂_A‖_V ≤ r = σ √(2 log(2/δ) + log det V − |A| log λ) + √λ B.

λ = 1 is the start of ConfidenceBall, the sum of bb' over a barycentric spanner, for which the unit ball has the
coordinate axes.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq

from sparsebandits.arguments import (
    ArgumentTypeError,
    BoolArray,
    FloatArray,
    check_between,
    check_count,
    check_positive,
    shown,
)
from sparsebandits.layouts import Layout, Number, Reals, flags, read, wrong
from sparsebandits.policies.actions import Ball
from sparsebandits.policies.policy import Policy, Recorder
from sparsebandits.policies.rivals.hypercube_elimination import half_width
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import NO_ROW, Choice, Reasons
from sparsebandits.rules.rule import Rule

ALIKE = 1e-9
"""Relative difference of eigenvalues, and relative size of a component, that are rounding."""


def optimistic_point(
    centre: FloatArray, precision: FloatArray, radius: float, rng: Generator
) -> tuple[FloatArray, float, float]:
    """Return the action of the unit ball with the largest upper bound over an ellipsoid, exactly.

    max over ‖x‖ ≤ 1 and (ν − c)'V(ν − c) ≤ r² of ⟨x, ν⟩ is the largest ‖ν‖, at x = ν/‖ν‖. With u = ν − c, a maximum
    satisfies (μV − I) u = c with μ at least 1/l, where l is the smallest eigenvalue of V; u'Vu = r² determines μ. If c
    has no part in the eigenspace of l, all points at some distance from it along that space may be largest. Then one is
    drawn among those in the direction of a coordinate axis, either way: a finite number, so that it has a probability.

    Parameters
    ----------
    centre : array of shape (k,)
        c.
    precision : array of shape (k, k)
        V, positive definite.
    radius : float
        r, positive.
    rng : Generator
        Decides between points that tie.

    Returns
    -------
    point : array of shape (k,)
        x.
    upper : float
        ‖ν‖, its upper bound.
    probability : float
        That of the point; 1 if no other ties with it.

    Examples
    --------
    >>> x, upper, p = optimistic_point(np.array([3.0, 0.0]), np.eye(2), 1.0, np.random.default_rng(0))
    >>> x, round(upper, 9), p
    (array([1., 0.]), 4.0, 1.0)
    """
    values, vectors = np.linalg.eigh(precision)
    least = max(float(values[0]), np.finfo(np.float64).tiny)
    relative = np.maximum(values / least, 1.0)
    lowest = relative <= 1.0 + ALIKE
    along = vectors.T @ centre
    if np.linalg.norm(along[lowest]) <= ALIKE * np.linalg.norm(along):
        along[lowest] = 0.0

    def apart(shift: float) -> FloatArray:
        """Return u at μ = (1 + shift) / l, in the basis of eigenvectors."""
        below = shift * relative + np.where(lowest, 0.0, relative - 1.0)
        return np.divide(along, below, out=np.zeros_like(along), where=below > 0.0)

    def excess(shift: float) -> float:
        """Return √(u'Vu) − r, which falls as the shift grows."""
        return float(np.linalg.norm(np.sqrt(values) * apart(shift))) - radius

    probability = 1.0
    if not along[lowest].any() and excess(0.0) <= 0.0:
        u = apart(0.0)
        left = math.sqrt(max(radius * radius - float(np.square(np.sqrt(values) * u).sum()), 0.0) / least)
        direction, probability = _axis(vectors[:, lowest], rng)
        u[lowest] = left * direction
    else:
        # Both ends follow from keeping the lowest terms only, and from leaving out the part that has no shift.
        low = math.sqrt(least) * float(np.linalg.norm(along[lowest])) / radius
        high = least * float(np.linalg.norm(along / np.sqrt(values))) / radius
        u = apart(float(brentq(excess, low * (1.0 - ALIKE), high * (1.0 + ALIKE), xtol=1e-300, rtol=1e-14)))
    point = vectors @ (along + u)
    upper = float(np.linalg.norm(point))
    return point / upper, upper, probability


def _axis(space: FloatArray, rng: Generator) -> tuple[FloatArray, float]:
    """Return a direction within a space, drawn among the projections of the coordinate axes and their negatives.

    ``space`` has an orthonormal basis in its columns. Axes that project to the same direction count once each.
    """
    lengths = np.linalg.norm(space, axis=1)
    directions = space[lengths > ALIKE] / lengths[lengths > ALIKE, np.newaxis]  # of each axis, in the basis
    both = np.vstack((directions, -directions))
    drawn = both[int(rng.integers(len(both)))]
    return drawn, float((both @ drawn >= 1.0 - ALIKE).mean())


class SupportSearch:
    """Learner: an interval for each θ_k during the search, then least squares on the support that was found.

    An observation is an action and 1 if it was chosen to search, 0 otherwise. What comes late from the search, after it
    has ended, does not change the support.

    Parameters
    ----------
    dimension : int
        Number of features d.
    noise_variance : float
        σ².
    horizon : int
        n, the number of rounds.
    norm_bound : float
        B.
    delta : float
        δ.
    sparsity : int
        s, the number of coordinates that the end of the search allows for.
    threshold : float
        Factor on W.
    penalty : float
        λ.
    """

    saved: ClassVar[Layout] = {
        "rounds": Number(low=0.0),
        "totals": Reals("dimension"),
        "support": flags("dimension"),
        "gram": Reals("found", "found"),
        "moment": Reals("found"),
    }

    def __init__(
        self,
        dimension: int,
        noise_variance: float,
        horizon: int,
        norm_bound: float,
        delta: float,
        sparsity: int,
        threshold: float,
        penalty: float,
    ) -> None:
        self.dimension = check_count("dimension", dimension)
        self.noise_variance = check_positive("noise_variance", noise_variance)
        self.horizon = check_count("horizon", horizon)
        self.norm_bound = check_positive("norm_bound", norm_bound)
        self.delta = check_between("delta", delta, 1e-300, 1.0)
        self.sparsity = check_count("sparsity", sparsity)
        self.threshold = check_positive("threshold", threshold)
        self.penalty = check_positive("penalty", penalty)
        self.row = self.dimension + 1  # columns of what ``absorb`` takes
        self.rounds = 0.0  # T
        self.totals = np.zeros(self.dimension)  # Σ √d ε y
        self.support: BoolArray = np.zeros(self.dimension, dtype=np.bool_)  # A; empty during the search
        self.gram = np.zeros((0, 0))  # Σ xx' after the search, on A
        self.moment = np.zeros(0)  # Σ yx

    @property
    def searching(self) -> bool:
        """Whether the support has not been fixed yet."""
        return not self.support.any()

    def intervals(self) -> tuple[FloatArray, float]:
        """Return the estimates of the search and the half-width of their intervals.

        Returns
        -------
        estimate : array of shape (d,)
            θ̂; zero before any reward.
        width : float
            W, times the factor; infinite before any reward.
        """
        certainty = 2.0 * self.dimension / self.delta  # one over the probability that the interval of one k fails
        width = half_width(np.array([self.rounds]), certainty, self.noise_variance, self.norm_bound)[0]
        return self.totals / max(self.rounds, 1.0), self.threshold * float(width) if self.rounds else math.inf

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Add a batch to the sums of its phase; end the search if it has cost enough."""
        points, searched = x[:, :-1], x[:, -1] > 0.5
        self.rounds = self.rounds + float(searched.sum())
        self.totals = self.totals + self.dimension * (y[searched] @ points[searched])
        if not self.searching:
            points, rewards = points[~searched][:, self.support], y[~searched]
            self.gram = self.gram + points.T @ points
            self.moment = self.moment + rewards @ points
            return
        estimate, width = self.intervals()
        clear = np.maximum(np.abs(estimate) - width, 0.0)
        left = max(self.horizon - self.rounds, 0.0)
        if clear.any() and self.rounds * float(clear @ clear) >= 4.0 * self.sparsity * left * width * width:
            self.support = clear > 0.0
            found = int(self.support.sum())
            self.gram, self.moment = np.zeros((found, found)), np.zeros(found)

    def ellipsoid(self) -> tuple[FloatArray, FloatArray, float]:
        """Return the confidence ellipsoid of the coefficients of the support.

        Returns
        -------
        centre : array of shape (k,)
            The penalised least squares estimate.
        precision : array of shape (k, k)
            V.
        radius : float
            r.
        """
        precision = self.gram + self.penalty * np.eye(len(self.moment))
        growth = float(np.linalg.slogdet(precision / self.penalty)[1])
        deviation = math.sqrt(self.noise_variance)
        radius = deviation * math.sqrt(2.0 * math.log(2.0 / self.delta) + growth)
        radius += math.sqrt(self.penalty) * self.norm_bound
        return np.asarray(np.linalg.solve(precision, self.moment), dtype=np.float64), precision, radius

    def state(self) -> dict[str, Any]:
        """Return sums and support."""
        arrays = {name: getattr(self, name).copy() for name in ("totals", "support", "gram", "moment")}
        return {"rounds": self.rounds, **arrays}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = read(self.saved, state, {"dimension": self.dimension}, more=True)
        if int(found["support"].sum()) != len(found["moment"]):
            raise wrong("moment", "one number per coordinate of the support", f"{len(found['moment'])}")
        gram = found["gram"]
        if not np.array_equal(gram, gram.T) or (len(gram) and np.linalg.eigvalsh(gram)[0] < -ALIKE * np.trace(gram)):
            raise wrong("gram", "a sum of squares", "another matrix")
        vars(self).update(found)


@dataclass(frozen=True)
class SearchThenOptimism(Rule):
    """Play random signs during the search, then the point of the unit ball with the largest upper bound.

    Parameters
    ----------
    width : float, default=1.0
        Factor on the radius r; 1 is what is proved, smaller values are tuning.
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", check_positive("width", self.width))

    def check(self, posterior: Any) -> None:
        """Require :class:`SupportSearch`."""
        if not isinstance(posterior, SupportSearch):
            raise ArgumentTypeError("posterior", "SupportSearch for SearchThenOptimism", shown(posterior))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Choose a point of the unit ball."""
        learner = beliefs.posterior
        estimate, width = learner.intervals()
        coefficients = estimate
        notes = {"rounds of search": learner.rounds, "coordinates found": float(learner.support.sum())}
        if learner.searching:
            features = (2.0 * rng.integers(2, size=learner.dimension) - 1.0) / math.sqrt(learner.dimension)
            probability = 0.5**learner.dimension
        else:
            centre, precision, radius = learner.ellipsoid()
            features, coefficients = np.zeros(learner.dimension), np.zeros(learner.dimension)
            radius *= self.width
            features[learner.support], upper, probability = optimistic_point(centre, precision, radius, rng)
            coefficients[learner.support] = centre
            notes |= {"radius": radius, "upper bound": upper}
        columns = {
            "in the support": learner.support.astype(np.float64),
            "estimate": coefficients,
            "estimate of the search": estimate,
            "half-width": np.full(learner.dimension, width),
        }
        reasons = Reasons.of_coordinates(
            np.abs(estimate) + learner.support * (1.0 + np.abs(estimate).max()),  # the support first
            columns,
            features * coefficients,
            notes,
        )
        observation = np.append(features, float(learner.searching))
        return Choice(NO_ROW, probability, reasons, features=features, observation=observation)


class SLUCB(Policy):
    """SL-UCB, where the actions are all points of the unit ball, few coordinates matter, and noise is a vector.

    The ``features`` of a decision are a point of the ball. It has no row number, so ``action`` is −1, and ``label`` has
    its signs. During the search its probability is 2^−d, which is 0 in floating point from d = 1075 on. Afterwards it
    is 1, except in the few rounds in which points tie: then one of the at most 2|A| directions of coordinate axes is
    drawn.

    Parameters
    ----------
    actions : int or list of str
        The dimension d, or the names of d features.
    noise_variance : float, default=1.0
        σ², the mean squared norm of the noise vector, or the square of a bound on it (see ``norm_bound``). It does not
        grow with d; noise that is added to the reward itself is not what this policy is made for.
    horizon : int
        n, the number of rounds.
    norm_bound : float, default=1.0
        B, at least ‖θ‖. If entries of the noise vector depend on each other and only ‖η‖ ≤ σ is known, at least
        ‖θ‖ + σ.
    delta : float, default=0.05
        δ, the probability that an interval or the ellipsoid does not contain the truth.
    sparsity : int, default=1
        s, the number of coordinates that the end of the search allows for; with 1, regret is of order s√n for any s.
    threshold : float, default=1.0
        Factor on the half-width W of the search; 1 is what is proved, smaller values are tuning.
    width : float, default=1.0
        Factor on the radius r of the ellipsoid; 1 is what is proved, smaller values are tuning.
    penalty : float, default=1.0
        λ.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> policy = SLUCB(["price", "size", "age", "weight"], horizon=1000, seed=1)
    >>> decision = policy.ask()
    >>> decision.features, decision.label, decision.probability
    (array([-0.5,  0.5,  0.5, -0.5]), '-++-', 0.0625)
    >>> policy.tell(decision, 1.0)
    """

    def __init__(
        self,
        actions: object,
        noise_variance: float = 1.0,
        *,
        horizon: int,
        norm_bound: float = 1.0,
        delta: float = 0.05,
        sparsity: int = 1,
        threshold: float = 1.0,
        width: float = 1.0,
        penalty: float = 1.0,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        ball = Ball.of(actions)
        learner = SupportSearch(
            ball.dimension, noise_variance, horizon, norm_bound, delta, sparsity, threshold, penalty
        )
        super().__init__(ball, learner, SearchThenOptimism(width), seed, journal)
