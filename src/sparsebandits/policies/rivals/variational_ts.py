"""Thompson sampling from a variational spike-and-slab posterior, for many features and fresh rows in each round.

Chakraborty, Roy and Tewari (2023), *Thompson Sampling for High-Dimensional Sparse Linear Contextual Bandits*. The prior
of each coefficient is zero with probability 1 − w and a Laplace(λ) slab otherwise, with odds w / (1 − w) = 1 / d^u. The
posterior is approximated by independent coordinates,

    q(θ_j) = γ_j N(μ_j, σ_j²) + (1 − γ_j) δ_0,

and fitted by coordinate ascent (Ray and Szabó 2022, equations 16 and 17, as in the R package sparsevb). With G = X'X/s²
and g = X'y/s² for noise variance s², and m = γμ, coordinate j minimises

    f(μ, σ) = G_jj (μ² + σ²) / 2 − (g_j − Σ_{k≠j} G_jk m_k) μ + λ E|N(μ, σ²)| − log σ,
    log odds of γ_j = log(w / (1 − w)) + 1/2 + log(π/2) / 2 + log λ − min f,

until no binary entropy of a γ_j changes by more than 10⁻⁵. With a Gaussian slab N(0, τ²), τ = ``rate``, the same has a
closed form (Carbonetto and Stephens 2012, equations 8 to 10; sparsevb adds 1/2 to the log odds there, which is not in
the equations nor here). One draw from q is made, and the best row under it is played.

The paper's text was not available; u = 1.001, λ = 1, five uniform rounds, a restart every five rounds and the noise
variance from the residuals of the last fit are those of the authors' program, as is ``growing`` (λ √t, with λ from 0.2
to 0.5). Where that starts from two cross-validations, this starts from ridge regression under N(0, 1) and from the
Lasso with the universal penalty, which are much cheaper; residuals are those of the posterior mean, not of 30 draws.

Its experiments: d = 1000, s = 5, K = 10, 400 rounds, unit noise, new rows N(0, Σ) with Σ_ij = 0.3^|i−j|, normalised θ*:
``ChangingActions(GaussianActions(1000, 5, n_actions=10, correlation=0.3, noise_variance=1.0))``.
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
    check_flag,
    check_positive,
    shown,
)
from sparsebandits.layouts import ABOVE_ONE, Count, Layout, Number, Reals, read
from sparsebandits.model.evidence import Evidence
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import Policy, Recorder
from sparsebandits.policies.rivals.lasso import Samples, check_weight, lasso
from sparsebandits.policies.rivals.lasso_greedy import universal_penalty
from sparsebandits.policies.rivals.oracles import Ridge
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.optima import pick, tied
from sparsebandits.rules.rule import Rule

SLABS = ("laplace", "gaussian")

EXPONENT, RATE, UNIFORM_ROUNDS, RESTART = 1.001, 1.0, 5, 5
"""u, λ, T0 and T1 of the authors' program."""

TOLERANCE, SWEEPS = 1e-5, 1000
"""Change of a binary entropy, in bits, at which coordinate ascent stops, and most sweeps: those of sparsevb."""

NEWTON_STEPS, NEAR, DECREMENT = 100, 0.01, 1e-20
"""Most Newton steps for one coordinate, and the squared decrements below which they are taken in full, and stop."""

LEAST_RESIDUAL = 1e-6
"""Smallest noise variance that residuals give, as a share of the mean square of rewards: with few rewards, a fit may be
perfect."""

LARGEST_ODDS = 700.0
"""Largest log odds, whose exponential is finite."""

ROOT = math.sqrt(2.0 / math.pi)


def laplace_coordinate(
    curvature: float, pull: float, rate: float, mean: float, deviation: float
) -> tuple[float, float, float]:
    """Minimise f(μ, σ) for a Laplace slab, by damped Newton steps; f is convex.

    Parameters
    ----------
    curvature : float
        G_jj.
    pull : float
        g_j − Σ_{k≠j} G_jk m_k.
    rate : float
        λ.
    mean, deviation : float
        μ and σ to start from.

    Returns
    -------
    mean, deviation, value : float
        The minimiser, and the minimum.

    Examples
    --------
    >>> mean, deviation, _ = laplace_coordinate(100.0, 100.0, rate=1.0, mean=0.0, deviation=1.0)
    >>> round(mean, 3), round(deviation, 3)  # the slab shrinks a clear effect by λ / G
    (0.99, 0.1)
    """
    if curvature == 0.0:  # a column of zeros
        mean, deviation = 0.0, 1.0 / (rate * ROOT)
    value = _objective(curvature, pull, rate, mean, deviation)
    for _ in range(NEWTON_STEPS if curvature > 0.0 else 0):
        z = mean / deviation
        density = rate * ROOT * math.exp(-0.5 * z * z)
        by_mean = curvature * mean - pull + rate * math.erf(z * math.sqrt(0.5))
        by_deviation = curvature * deviation + density - 1.0 / deviation
        mean_mean = curvature + density / deviation
        mixed = -density * z / deviation
        deviation_deviation = curvature + (density * z * z + 1.0 / deviation) / deviation
        determinant = mean_mean * deviation_deviation - mixed * mixed
        mean_step = (deviation_deviation * by_mean - mixed * by_deviation) / determinant
        deviation_step = (mean_mean * by_deviation - mixed * by_mean) / determinant
        decrement = by_mean * mean_step + by_deviation * deviation_step
        step = 1.0 if deviation_step < 0.9 * deviation else 0.9 * deviation / deviation_step  # σ stays positive
        after = _objective(curvature, pull, rate, mean - step * mean_step, deviation - step * deviation_step)
        while decrement >= NEAR and after > value - 0.25 * step * decrement:  # E|N| bends where it is not quadratic
            step *= 0.5
            after = _objective(curvature, pull, rate, mean - step * mean_step, deviation - step * deviation_step)
        mean, deviation, value = mean - step * mean_step, deviation - step * deviation_step, after
        if not decrement > DECREMENT:
            break
    return mean, deviation, value


def _objective(curvature: float, pull: float, rate: float, mean: float, deviation: float) -> float:
    """Return f(μ, σ)."""
    z = mean / deviation
    absolute = mean * math.erf(z * math.sqrt(0.5)) + deviation * ROOT * math.exp(-0.5 * z * z)
    quadratic = 0.5 * curvature * (mean * mean + deviation * deviation) - pull * mean
    return quadratic + rate * absolute - math.log(deviation)


def gaussian_coordinate(curvature: float, pull: float, scale: float) -> tuple[float, float, float]:
    """Minimise the same for a Gaussian slab N(0, τ²).

    Parameters
    ----------
    curvature, pull : float
        As for :func:`laplace_coordinate`.
    scale : float
        τ.

    Returns
    -------
    mean, deviation, evidence : float
        The minimiser, and the log Bayes factor of the slab.
    """
    variance = 1.0 / (curvature + 1.0 / (scale * scale))
    mean = variance * pull
    return mean, math.sqrt(variance), 0.5 * (math.log(variance) + mean * pull) - math.log(scale)


def entropies(probabilities: FloatArray) -> FloatArray:
    """Return the binary entropy of each probability, in bits."""
    clipped = np.clip(probabilities, 1e-10, 1.0 - 1e-10)
    return np.asarray(-(clipped * np.log2(clipped) + (1.0 - clipped) * np.log2(1.0 - clipped)))


@dataclass(frozen=True, eq=False)
class MeanField:
    """The variational posterior q.

    Attributes
    ----------
    mean, deviation, inclusion : array of shape (d,)
        μ, σ and γ of each coordinate.
    """

    mean: FloatArray
    deviation: FloatArray
    inclusion: FloatArray

    def draw(self, count: int, rng: Generator) -> FloatArray:
        """Return draws of θ, shape ``(count, d)``."""
        shape = (count, len(self.mean))
        slab = self.mean + self.deviation * rng.standard_normal(shape)
        return np.where(rng.random(shape) < self.inclusion, slab, 0.0)


def coordinate_ascent(
    gram: FloatArray, moment: FloatArray, slab: str, rate: float, log_odds: float, start: MeanField, order: IntArray
) -> MeanField:
    """Fit q by coordinate ascent.

    Parameters
    ----------
    gram : array of shape (d, d)
        G = X'X over the noise variance.
    moment : array of shape (d,)
        g = X'y over the noise variance.
    slab : {"laplace", "gaussian"}
        Kind of slab.
    rate : float
        λ of a Laplace slab, or the standard deviation of a Gaussian one.
    log_odds : float
        Prior log odds of inclusion.
    start : MeanField
        Where to start.
    order : int array of shape (d,)
        Order of the coordinates within a sweep.

    Returns
    -------
    MeanField
        A fixed point.
    """
    means, deviations, inclusions = start.mean.tolist(), start.deviation.tolist(), start.inclusion.tolist()
    constant = log_odds
    if slab == "laplace":
        constant += 0.5 + 0.5 * math.log(math.pi / 2.0) + math.log(rate)
    diagonal, target, places = np.diag(gram).tolist(), moment.tolist(), order.tolist()
    fitted = gram @ (start.inclusion * start.mean)
    before = entropies(start.inclusion)
    for _ in range(SWEEPS):
        for j in places:
            old = inclusions[j] * means[j]
            pull = target[j] - fitted.item(j) + diagonal[j] * old
            if slab == "laplace":
                mean, deviation, value = laplace_coordinate(diagonal[j], pull, rate, means[j], deviations[j])
                odds = constant - value
            else:
                mean, deviation, value = gaussian_coordinate(diagonal[j], pull, rate)
                odds = constant + value
            inclusion = 1.0 / (1.0 + math.exp(min(-odds, LARGEST_ODDS)))
            means[j], deviations[j], inclusions[j] = mean, deviation, inclusion
            change = inclusion * mean - old
            if change != 0.0:
                fitted += change * gram[j]
        after = entropies(np.array(inclusions))
        if float(np.abs(after - before).max()) <= TOLERANCE:
            break
        before = after
    return MeanField(np.array(means), np.array(deviations), np.array(inclusions))


class VariationalSpikeSlab:
    """Learner: the variational posterior of all rewards, fitted again before a decision if there are new ones.

    Parameters
    ----------
    dimension : int
        Number of features d.
    slab : {"laplace", "gaussian"}, default="laplace"
        Kind of slab.
    rate : float, default=1.0
        λ of a Laplace slab, or the standard deviation of a Gaussian one.
    exponent : float, default=1.001
        u, with prior odds of inclusion 1 / d^u.
    growing : bool, default=False
        Whether the rate of a Laplace slab is λ √t after t rewards.
    restart : int, default=5
        Number of rewards after which coordinate ascent starts anew, not from the last fit.
    noise_variance : float, optional
        s²; by default it is estimated from the residuals of the last fit.
    """

    saved: ClassVar[Layout] = {
        "samples": Samples.saved,
        "evidence": Evidence.saved,
        "mean": Reals("dimension"),
        "deviation": Reals("dimension", low=0.0),
        "inclusion": Reals("dimension", low=0.0, high=ABOVE_ONE),
        "noise": Number(low=0.0),
        "fitted": Count(high="rewards"),
    }

    def __init__(
        self,
        dimension: int,
        slab: str = "laplace",
        rate: float = RATE,
        exponent: float = EXPONENT,
        growing: bool = False,
        restart: int = RESTART,
        noise_variance: float | None = None,
    ) -> None:
        self.dimension = check_count("dimension", dimension)
        self.slab = check_choice("slab", slab, SLABS)
        self.rate = check_positive("rate", rate)
        self.exponent = check_weight("exponent", exponent)
        self.growing = check_flag("growing", growing)
        self.restart = check_count("restart", restart)
        self.noise_variance = None if noise_variance is None else check_positive("noise_variance", noise_variance)
        self.row = dimension  # columns of what ``absorb`` takes
        self.samples = Samples(dimension)
        self.evidence = Evidence(dimension)
        self._field = MeanField(np.zeros(dimension), np.ones(dimension), np.zeros(dimension))
        self._noise = 0.0 if noise_variance is None else noise_variance  # zero until it is estimated
        self._fitted = 0

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Store the rewards, and add them to the sums."""
        self.samples = self.samples.after(x, y)
        self.evidence = self.evidence.copied()
        self.evidence.absorb(x, y)

    def posterior(self) -> MeanField:
        """Return q, fitted to all rewards so far; before the first reward all of it is the spike."""
        count = len(self.samples)
        if count > self._fitted:
            least = LEAST_RESIDUAL * self.evidence.square / count or 1.0
            noise = self._noise or self.evidence.square / count or 1.0  # rewards alone before the first fit
            gram, moment = self.evidence.gram / noise, self.evidence.moment / noise
            fresh = self._fitted == 0 or count // self.restart > self._fitted // self.restart
            start = self._start(noise) if fresh else self._field
            rate = self.rate * math.sqrt(count) if self.growing and self.slab == "laplace" else self.rate
            order = np.argsort(-np.abs(start.mean), kind="stable")
            log_odds = -self.exponent * math.log(self.dimension)
            field = coordinate_ascent(gram, moment, self.slab, rate, log_odds, start, order)
            if self.noise_variance is None:
                theta = field.inclusion * field.mean
                residual = float(np.square(self.samples.y - self.samples.x @ theta).mean())
                noise = max(residual, least)
            vars(self).update(_field=field, _noise=float(noise), _fitted=count)  # in one step
        return self._field

    def _start(self, noise: float) -> MeanField:
        """Return where a restart begins: means of ridge regression, inclusions of the Lasso."""
        x, y = self.samples.x, self.samples.y
        mean = Ridge(noise)(x, y, np.zeros(self.dimension)).coefficients
        chosen = lasso(x, y, universal_penalty(x, math.sqrt(noise)), np.zeros(self.dimension)) != 0.0
        inclusion = np.where(chosen, 1.0, np.count_nonzero(chosen) / self.dimension)
        return MeanField(mean, np.ones(self.dimension), inclusion)

    def notes(self) -> dict[str, float]:
        """Return what explanations say about the fit."""
        return {
            "rewards in the fit": float(self._fitted),
            "noise variance": self._noise,
            "expected number of features": float(self._field.inclusion.sum()),
        }

    def state(self) -> dict[str, Any]:
        """Return data, sums and fit."""
        return {
            "samples": self.samples.state(),
            "evidence": self.evidence.state(),
            "mean": self._field.mean,
            "deviation": self._field.deviation,
            "inclusion": self._field.inclusion,
            "noise": self._noise,
            "fitted": self._fitted,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = read(self.saved, state, {"dimension": self.dimension}, more=True)
        self.samples.restore(state["samples"])
        self.evidence.restore(state["evidence"])
        self._field = MeanField(found["mean"], found["deviation"], found["inclusion"])
        self._noise, self._fitted = found["noise"], found["fitted"]


@dataclass(frozen=True)
class VariationalThompson(Rule):
    """Play the best row under one draw from the variational posterior, after some uniform rounds.

    The probability of the row is estimated from further draws, from a stream of their own. Rows that tie under a draw
    share it: under θ = 0 all of them do.

    Parameters
    ----------
    uniform_rounds : int, default=5
        Number of uniformly random decisions at the start.
    probability_draws : int, default=100
        Number of further draws.
    """

    draws_afresh: ClassVar[bool] = True

    uniform_rounds: int = UNIFORM_ROUNDS
    probability_draws: int = 100

    def __post_init__(self) -> None:
        check_count("uniform_rounds", self.uniform_rounds, least=0)
        check_count("probability_draws", self.probability_draws)

    def check(self, posterior: Any) -> None:
        """Require a :class:`VariationalSpikeSlab`."""
        if not isinstance(posterior, VariationalSpikeSlab):
            raise ArgumentTypeError("posterior", "a VariationalSpikeSlab for VariationalThompson", shown(posterior))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Play the best row under one draw, or a random one at the start."""
        learner, features = beliefs.posterior, beliefs.features
        if beliefs.decisions < self.uniform_rounds:
            action, probability = pick(np.zeros(len(features)), rng)
            columns = {"probability": np.full(len(features), probability)}
            nothing = np.zeros(features.shape[1])
            return Choice(action, probability, Reasons.top(action, columns["probability"], columns, nothing))
        field = learner.posterior()
        values = features @ field.draw(1, rng)[0]
        action, share = pick(values, rng)
        own = np.random.Generator(np.random.PCG64(int(rng.integers(2**63))))
        ties = tied(field.draw(self.probability_draws, own) @ features.T)
        hits = share + float((ties[:, action] / ties.sum(axis=1)).sum())  # the played draw counts as one more
        mean = field.inclusion * field.mean
        columns = {"sampled value": values, "posterior mean": features @ mean}
        reasons = Reasons.top(action, values, columns, features[action] * mean, learner.notes())
        draws = 1 + self.probability_draws
        return Choice(action, min(hits / draws, 1.0), reasons, probability_draws=draws)


class VariationalTS(Policy):
    """Thompson sampling from a variational spike-and-slab posterior (Chakraborty, Roy and Tewari 2023).

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    noise_variance : float, optional
        Noise variance of a reward; by default it is estimated from the residuals, as in the authors' program.
    slab : {"laplace", "gaussian"}, default="laplace"
        Kind of slab.
    rate : float, default=1.0
        λ of the Laplace slab λ/2 exp(−λ|θ|), or the standard deviation of the Gaussian one, in the unit of θ.
    exponent : float, default=1.001
        u, with prior odds 1 / d^u that a feature matters.
    growing : bool, default=False
        Whether the rate of a Laplace slab is λ √t after t rewards.
    restart : int, default=5
        Number of rewards after which coordinate ascent starts anew, not from the last fit.
    uniform_rounds : int, default=5
        Number of uniformly random decisions at the start.
    probability_draws : int, default=100
        Number of draws from which the probability of a decision is estimated.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
    >>> policy = VariationalTS(np.eye(3), seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        noise_variance: float | None = None,
        slab: str = "laplace",
        rate: float = RATE,
        exponent: float = EXPONENT,
        growing: bool = False,
        restart: int = RESTART,
        uniform_rounds: int = UNIFORM_ROUNDS,
        probability_draws: int = 100,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        learner = VariationalSpikeSlab(available.dimension, slab, rate, exponent, growing, restart, noise_variance)
        super().__init__(available, learner, VariationalThompson(uniform_rounds, probability_draws), seed, journal)

    @property
    def coefficients(self) -> FloatArray:
        """Variational posterior mean of θ that the next decision uses, shape ``(d,)``."""
        with self._lock:
            field: MeanField = self.posterior.posterior()
        return field.inclusion * field.mean
