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
from sparsebandits.atomic import forked
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

LEAST_RESIDUAL = 1e-6
"""Smallest noise variance that residuals give, as a share of the mean square of rewards: with few rewards, a fit may be
perfect."""


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
    from sparsebandits.posteriors.kernels.mean_field import ascend  # compiled code, as elsewhere

    laplace = slab == "laplace"
    constant = log_odds + (0.5 + 0.5 * math.log(math.pi / 2.0) + math.log(rate) if laplace else 0.0)
    fitted = gram @ (start.inclusion * start.mean)
    found = MeanField(start.mean.copy(), start.deviation.copy(), start.inclusion.copy())
    ascend(
        np.ascontiguousarray(gram),
        moment,
        laplace,
        float(rate),
        constant,
        *(found.mean, found.deviation, found.inclusion, fitted),
        order,
        TOLERANCE,
        SWEEPS,
    )
    return found


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
            field: MeanField = forked(self.posterior).posterior()
        return field.inclusion * field.mean
