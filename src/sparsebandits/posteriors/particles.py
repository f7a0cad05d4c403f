"""The posterior as weighted particles: sequential Monte Carlo over the observations.

Chopin (2002) for the scheme, Del Moral, Doucet and Jasra (2006) for tempering. Particles start as prior draws, and an
observation multiplies each weight by its likelihood. When the effective number of particles would fall below a share of
them, only the part of the observation that brings it there is taken in (found by bisection), the particles are
resampled and moved by Gibbs sweeps that leave the posterior so far unchanged, and then the rest of the observation is
taken in. The scheme is asymptotically exact in the number of particles. The product of mean weights estimates the
evidence; it is consistent, and biased by a few per cent at worst because the parts are chosen by the particles
themselves.

A :class:`Hierarchy` of the prior is a factor h(γ). The particles follow the posterior without it, and are weighted by
it when they are handed out. With E₀ for means without it, the evidence is p₀(y) E₀[h | y] / E₀[h].

Which sweeps a move consists of depends on what they achieve. First comes a sweep over the coordinates of θ, which is
cheap. More follow while particles are correlated with where they were (in inclusions, coefficients or predictions).
Where one more such sweep would not be enough, sweeps over models follow, with θ integrated out, which do not get stuck
where features are correlated.

A reward thousands of standard deviations from every prediction would need as many parts. If even a small part leaves a
handful of particles, the rest is taken in at once, and the particles are redrawn by Gibbs sweeps over models until
their means stay where they are. This gives the posterior, but no estimate of the evidence.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import MOST_DRAWS, ArgumentTypeError, FloatArray, IntArray, check_count, shown
from sparsebandits.atomic import forked
from sparsebandits.layouts import (
    ABOVE_ONE,
    LARGEST_FLOAT,
    LEAST_POSITIVE,
    Absent,
    Count,
    Layout,
    Maybe,
    Number,
    Reals,
    flags,
    wrong,
)
from sparsebandits.model.counts import Counts
from sparsebandits.model.evidence import Evidence
from sparsebandits.model.families import FARTHEST, Linked
from sparsebandits.model.limits import check_prior
from sparsebandits.model.priors import InverseGammaNoise, InverseGammaSlab, SpikeSlab
from sparsebandits.model.rewards import Gaussian, Rewards, rewards_of
from sparsebandits.posteriors.cloud import LEAST_PART, SMALLEST_PART, Cloud
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.engine import Engine
from sparsebandits.posteriors.ensemble import Ensemble, Sums
from sparsebandits.posteriors.kernels.memory import correlations
from sparsebandits.posteriors.moves import Moves
from sparsebandits.posteriors.rows import ROWS, Rows
from sparsebandits.posteriors.surrogate import Surrogate, log_likelihoods
from sparsebandits.randomness import Seed, copied

LEAST_SHARE = 0.35
"""Share of the particles that the effective number must not fall below. With 0.5 and a correlation of 0.7, errors are 3
to 19% smaller at 1.3 to 1.6 times as many sweeps (``python -m benchmarks.moves``, docs/measurements.md)."""

FORGOTTEN = 0.6
"""Correlation of particles before and after a move below which the move may stop."""

MOST_SWEEPS = 10
"""Largest number of sweeps in one move."""

FEWEST = 30
"""Effective number of particles after the smallest part of a reward below which they are redrawn: copies of fewer have
an error in common that moves do not show. Rewards within tens of standard deviations never come here."""

ENOUGH = 0.8
"""Share of the particles that are wanted with which a move contents itself."""

NEAR = 4.0
"""Number of prior draws in a slab within a noise standard deviation below which weights may miss a feature."""

MOST_REDRAWS = 40
"""Largest number of sweeps that redraw the particles."""

DRIFT = 4.0
"""Standard errors by which means may differ between two moments, a move apart, when particles have been redrawn."""

FEW_DRAWS = 300
"""Effective draws below which probabilities are accurate to a few per cent at best, and :meth:`health` says so."""

MOST_THREADS = 1024
"""Largest number of threads."""

WATCHED = 500
"""Number of particles on which the correlation is measured."""


def systematic(weights: FloatArray, rng: Generator, count: int | None = None) -> IntArray:
    """Return the indices of systematic resampling, from one uniform number.

    Parameters
    ----------
    weights : array of shape (M,)
        Weights of the particles, which sum to one.
    rng : Generator
        Source of randomness.
    count : int, optional
        Number N of particles afterwards; by default as many as before.

    Returns
    -------
    int array of shape (N,)
        Indices in which each particle occurs about N times its weight.

    References
    ----------
    Kitagawa (1996), *Monte Carlo filter and smoother for non-Gaussian nonlinear state space models*.
    """
    size = len(weights) if count is None else count
    positions = (rng.random() + np.arange(size)) / size
    return np.minimum(np.searchsorted(np.cumsum(weights), positions), len(weights) - 1)


@dataclass(frozen=True, eq=False)
class Observation:
    """One observation, or a part of it.

    Attributes
    ----------
    x, y : array of shape (d,), float
        Features and reward.
    weight : float
        Its weight: that of its noise, times what is left of it if old rewards are discounted.
    count : float
        What it counts in n.
    part : float
        The part that counts.
    """

    x: FloatArray
    y: float
    weight: float
    count: float
    part: float = 1.0

    def added_to(self, counts: Counts) -> Counts:
        """Return counts with this observation."""
        found = counts.copied()
        found.absorb(self.x[np.newaxis], np.array([self.y]), np.array([self.part * self.weight]))
        return found


def _sums(evidence: Evidence, one: Observation | None) -> Sums:
    if one is None:
        return Sums(evidence)
    return Sums(evidence, one.x, one.y, one.part * one.weight, one.part * one.count)


class Particles(Engine):
    """Posterior of θ under a :class:`SpikeSlab` prior, as weighted particles.

    Parameters
    ----------
    prior : SpikeSlab
        Prior of θ.
    dimension : int
        Number of features d.
    noise_variance : float or InverseGammaNoise, default=1.0
        Short form of ``rewards=Gaussian(variance=noise_variance)``.
    n_draws : int, default=10000
        Number of particles.
    most_draws : int, optional
        Largest number of particles: a rule may ask for more than ``n_draws`` (:meth:`want`), and gets them in the next
        move. By default the number is fixed.
    threads : int, default=1
        Number of threads for moves, and for the best action under each particle. Draws are the same to the byte for any
        number. It pays for large problems; experiments use processes instead.
    seed : int, SeedSequence or None
        Seed of the particles.
    rewards : Gaussian, optional
        How a reward arises from θ; by default Gaussian noise of variance 1.

    Attributes
    ----------
    log_evidence : float
        Estimate of log p(y); NaN after a reward so far from all predictions that the particles were redrawn.
    sweeps : int
        Number of sweeps of the last move.
    memory : float
        Correlation of particles before and after that move.

    Examples
    --------
    >>> posterior = Particles(SpikeSlab(inclusion=0.5, slab_variance=1.0), dimension=2, noise_variance=1.0, seed=0)
    >>> posterior.update([1.0, 0.0], 3.0)
    >>> bool(abs(posterior.inclusion()[0] - 0.87) < 0.03)
    True
    """

    saved: ClassVar[Layout] = {
        **Engine.saved,
        "log_evidence": Maybe(Number()),
        "sweeps": Count(),
        "memory": Number(low=-ABOVE_ONE, high=ABOVE_ONE),
        "particles": {
            "rows": Maybe(ROWS),
            "theta": Maybe(Reals("particles", "dimension")),
            "included": Maybe(flags("particles", "dimension")),
            "beta": Maybe(Reals("particles", low=0.0, high=1.0)),
            "slab_variances": Maybe(Reals("particles", low=LEAST_POSITIVE)),
            "noise_variances": Maybe(Reals("particles", low=LEAST_POSITIVE)),
            "intercepts": Absent(Reals("particles")),
        },
        "log_weights": Reals("particles", low=-math.inf, high=LARGEST_FLOAT, least="n_draws"),
        "wanted": Count(),
        "fits": Absent(Reals("particles")),
    }

    def __init__(
        self,
        prior: SpikeSlab,
        dimension: int,
        noise_variance: float | InverseGammaNoise | None = None,
        n_draws: int = 10_000,
        seed: Seed = None,
        rewards: Rewards | None = None,
        most_draws: int | None = None,
        threads: int = 1,
    ) -> None:
        if not isinstance(prior, SpikeSlab):
            raise ArgumentTypeError("prior", "a SpikeSlab", shown(prior))
        super().__init__(prior, dimension, rewards_of(rewards, noise_variance, default=1.0), n_draws, seed)
        self.most_draws = None if most_draws is None else check_count("most_draws", most_draws, n_draws, MOST_DRAWS)
        self.threads = check_count("threads", threads, most=MOST_THREADS)
        self._wanted = self.n_draws
        check_prior(prior, self.dimension, self.noise)
        self.log_evidence = 0.0
        self.sweeps = 0  # of the last move
        self.memory = 0.0  # correlation of particles before and after that move
        self._moves = Moves(prior, dimension, self.rewards, self.threads)
        self._resolution = _squared_resolution(prior, dimension, self.n_draws)
        self._particles = self._moves.from_prior(self._rng, n_draws)
        self._cloud = self._weighted()
        # The discounted log likelihood of each particle, if rewards are discounted.
        self._fits: FloatArray | None = None if self.rewards.forgetting is None else np.zeros(n_draws)

    def _weighted(self, log_weights: FloatArray | None = None) -> Cloud:
        """Return the particles with weights, equal by default; those handed out have the factor of the hierarchy."""
        particles, factors = self._particles, None
        if self.prior.hierarchy is not None:
            row, column, _ = particles.rows.entries()
            factors = self.prior.hierarchy.of_entries(row, column, len(particles))
        return Cloud(particles.coefficients, log_weights, particles.intercepts, factors)

    @property
    def noise_variance(self) -> float:
        """Noise variance of a reward of weight one, or its posterior mean if it is learnt."""
        learnt = self._particles.noise_variances
        return float(self.rewards.variance if learnt is None else self._cloud.final.normalised @ learnt)

    def forget(self, factor: float) -> None:
        """Raise the likelihood so far to a power, in parts with a move after each where few particles would be left."""
        assert self._fits is not None
        self._cloud, past, taken = forked(self._cloud), self.evidence, 0.0
        while taken < 1.0:
            least = LEAST_SHARE * len(self._particles)
            part, _ = self._cloud.temper_by((factor - 1.0) * self._fits, 1.0 - taken, least)
            taken = min(taken + part, 1.0)
            if taken < 1.0 or self._cloud.weights.effective_size < least:
                self.evidence = past.scaled(1.0 + taken * (factor - 1.0))
                self._resample_and_move(None, lost=False)
                self._fits = self._log_likelihoods(past, None)
        self.evidence, self._fits = past.scaled(factor), factor * self._fits

    def condition(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None, counts: FloatArray | None = None
    ) -> None:
        """Condition on a batch that has been checked, one observation after the other.

        An observation is taken in whole if enough effective particles remain, else in parts with a move after each.

        Parameters
        ----------
        x : array of shape (n, d)
            Features.
        y : array of shape (n,)
            Rewards.
        weights : array of shape (n,), optional
            Weight of each observation; by default 1.
        counts : array of shape (n,), optional
            What each observation counts in n; by default 1.
        """
        if not len(y):
            return
        self.check_limits(x, y, weights)
        self._cloud = forked(self._cloud)
        weights = np.ones(len(y)) if weights is None else weights
        counts = np.ones(len(y)) if counts is None else counts
        summed, self.gained = 0, -self._cloud.log_mean_factor
        log_base = self.evidence.log_base if isinstance(self.rewards, Linked) else 0.0
        for i, numbers in enumerate(zip(x, y.tolist(), weights.tolist(), counts.tolist(), strict=True)):
            one, taken = Observation(*numbers), 0.0
            while taken < 1.0:
                before, least = self._cloud.weights, LEAST_SHARE * len(self._particles)
                part, gained = self._take_in(one, 1.0 - taken, least)
                size, taken = self._cloud.weights.effective_size, min(taken + part, 1.0)
                gaussian = not isinstance(self.rewards, Linked)
                lost = gaussian and (size < min(FEWEST, least / 2.0) or self._blind(one.x, one.weight))
                if lost:
                    self._cloud.reweight(before)
                    gained, taken = math.nan, 1.0
                self.gained += gained
                # The last part can leave too few effective particles as well, if it was the smallest there is.
                if lost or taken < 1.0 or size < least:
                    summed = self._sum(x, y, weights, counts, summed, i)
                    self._resample_and_move(replace(one, part=taken), lost)
        self._sum(x, y, weights, counts, summed, len(y))
        if isinstance(self.rewards, Linked):
            self.gained += self.evidence.log_base - log_base
        self.gained += self._cloud.log_mean_factor
        self.log_evidence += self.gained

    def _take_in(self, one: "Observation", most: float, least: float) -> tuple[float, float]:
        """Reweight by a part of an observation; return the part, and what it adds to the log evidence."""
        if isinstance(self.rewards, Gaussian) and self._fits is None:
            variances = self._noise_variances_of(self._particles)
            return self._cloud.temper(one.x, one.y, variances / one.weight, most, least)
        log_likelihood = self._log_likelihood_of(one)
        smallest = LEAST_PART if isinstance(self.rewards, Gaussian) else SMALLEST_PART
        part, gained = self._cloud.temper_by(log_likelihood, most, least, smallest)
        if self._fits is not None:
            self._fits = self._fits + part * log_likelihood
        return part, gained

    def _log_likelihood_of(self, one: "Observation") -> FloatArray:
        """Return the log likelihood of an observation under each particle, shape ``(M,)``."""
        eta = self._cloud.etas(one.x)
        if isinstance(self.rewards, Linked):
            found = self.rewards.log_likelihood(np.clip(eta, -FARTHEST, FARTHEST), one.y, 1.0)
            return np.asarray(one.weight * found)
        variances = self._noise_variances_of(self._particles)
        apart = one.y - eta
        own = math.log(one.weight / one.count) if one.count > 0.0 else 0.0  # of the weight of its noise
        scale = np.log(2.0 * math.pi * variances) - own
        return np.asarray(-0.5 * (one.weight * apart * apart / variances + one.count * scale))

    def _log_likelihoods(self, evidence: Any, one: "Observation | None") -> FloatArray:
        """Return the log likelihood of all that has been learnt, and of a part of an observation, of each particle.

        Up to a constant that is the same for all of them.
        """
        particles, rewards = self._particles, self.rewards
        if isinstance(rewards, Linked):
            counts = evidence if one is None else one.added_to(evidence)
            return log_likelihoods(rewards, counts, particles)
        sums, variances = _sums(evidence, one), self._noise_variances_of(particles)
        squares = sums.square - 2.0 * particles.products(sums.moment) + self._moves.quadratic_forms(particles, sums)
        return np.asarray(-0.5 * (squares / variances + sums.count * np.log(variances)))

    def _sum(self, x: FloatArray, y: FloatArray, weights: FloatArray, counts: FloatArray, start: int, end: int) -> int:
        """Add rows of a batch to the sums, one by one; return the row to continue from."""
        plain = self._fits is None and not (weights != 1.0).any()
        for i in range(start, end):
            one = slice(i, i + 1)
            self.evidence.absorb(
                x[one], y[one], None if plain else weights[one], None if self._fits is None else counts[one]
            )
        return end

    def draws(self) -> Draws:
        """Return the particles with their weights; ``theta`` is the same array until the particles have moved."""
        return self._cloud.draws()

    def inclusions(self) -> FloatArray:
        """Return P(γ_j = 1), shape ``(d,)``."""
        return self._moves.inclusion(self._particles, self._cloud.final.normalised)

    def learnt(self) -> Mapping[str, FloatArray]:
        """Return draws of the hyperparameters that are learnt, by name, each of shape ``(M,)``."""
        return self._particles.learnt()

    def health(self) -> Health:
        """Report how far the sampling can be trusted; whether the model is right is another question."""
        distinct = self._particles.distinct()
        size = self._cloud.final.effective_size
        worth = f"{len(self._particles)} particles, {distinct} distinct, worth {size:.0f} independent draws"
        moved = "not moved yet"
        if self.sweeps > 0:
            done = "forgot" if self.memory < FORGOTTEN else "did NOT forget"
            moved = (
                f"in the last move, of {self.sweeps} sweep(s), they {done} where they were "
                f"(correlation {self.memory:.2f}, should be below {FORGOTTEN:g})"
            )
        good = size >= FEW_DRAWS and (self.sweeps == 0 or self.memory < FORGOTTEN)
        return Health(good, f"{'good' if good else 'DOUBTFUL, take more particles (n_draws)'}: {worth}; {moved}")

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return ``size`` particles chosen by weight, shape ``(size, d)``."""
        draws = self.draws()
        picked = rng.choice(len(draws), size=size, p=draws.weights)
        return draws.source.take(picked).dense if isinstance(draws.source, Rows) else draws.source[picked]

    def want(self, number: int) -> None:
        """Ask for a number of particles, which there will be after the next move.

        Parameters
        ----------
        number : int
            How many would be enough; more than ``most_draws`` there never are. The largest number counts: with fewer,
            what had been found would have to be found again.
        """
        self._wanted = max(self._wanted, min(number, self.n_draws if self.most_draws is None else self.most_draws))

    def _next_number(self) -> int:
        """Return the number of particles after the next move: as many as now, unless many more are wanted."""
        now = len(self._particles)
        return now if now >= ENOUGH * self._wanted else self._wanted

    def believer(self) -> "Particles":
        """Return a copy with a fixed noise variance, which may be told rewards that have not been seen."""
        other = super().believer()
        assert isinstance(other, Particles)
        other._moves = Moves(other.prior, other.dimension, other.rewards, other.threads)
        if not self.rewards.known:
            other._particles = replace(other._particles, noise_variances=None)
            if other._fits is not None:
                other._fits = other._log_likelihoods(other.evidence, None)
        return other

    def set_unit(self, unit: float) -> None:
        """Set the unit of the rewards: σ² and what is measured by it become that much larger.

        Rewards of zero may have come before. They fit any unit, and weigh on the particles again where θ does not scale
        with the noise.
        """
        super().set_unit(unit)
        self._moves = forked(self._moves)
        self._moves.noise = self.noise
        before = self._log_likelihood()
        particles = self._moves.rescaled(self._particles, unit)
        self._particles, logs = particles, self._cloud.weights.logs - before
        self._cloud = self._weighted(logs + self._log_likelihood())
        if self._fits is not None:
            self._fits = self._log_likelihoods(self.evidence, None)
        self.log_evidence -= self.evidence.count * math.log(unit)
        if self._cloud.weights.effective_size < LEAST_SHARE * len(self._particles):
            self._resample_and_move(None, lost=False)

    def _log_likelihood(self) -> FloatArray:
        """Return the log likelihood of each particle given rewards that were all zero, up to a common constant."""
        squares = self._moves.quadratic_forms(self._particles, Sums(self.evidence))
        return np.asarray(-0.5 * squares / self._noise_variances_of(self._particles))

    # Implementation

    def _noise_variances_of(self, particles: Ensemble) -> Any:
        return self.rewards.variance if particles.noise_variances is None else particles.noise_variances

    def _blind(self, x: FloatArray, weight: float) -> bool:
        """Return whether weights say next to nothing of the observation, since the slab is too wide for the particles.

        Of those that had a coordinate of x, few or none were near the rewards, and weights of the others do not change.
        Reweighting would never find that the coordinate matters.
        """
        if self._resolution is None:
            return False
        noise = 1.0 if self.prior.of_noise else self.rewards.variance if self.rewards.known else self.noise_variance
        return weight * float((x * x * self._resolution).max()) > noise and self._cloud.concerned(x) < FEWEST

    def _resample_and_move(self, one: "Observation | None", lost: bool) -> None:
        """Resample, and move under the posterior given all evidence and a part of an observation.

        If the particles are ``lost``, since none is near that posterior, they are redrawn.
        """
        self._rng = copied(self._rng)
        particles = self._particles.take(systematic(self._cloud.weights.normalised, self._rng, self._next_number()))
        x, surrogate = np.zeros(self.dimension) if one is None else one.x, None
        if isinstance(self.rewards, Linked):
            counts = self.evidence if one is None else one.added_to(self.evidence)
            surrogate = Surrogate(self.rewards, counts, particles)
            sums = surrogate.sums
        else:
            sums = _sums(self.evidence, one)
        if lost:
            self._redraw(particles, sums, x)
        else:
            self._move(particles, sums, x, surrogate)
        self._particles = particles
        self._cloud = self._weighted()
        if self._fits is not None:
            self._fits = self._log_likelihoods(self.evidence, one)

    def _move(self, particles: Ensemble, sums: Sums, x: FloatArray, surrogate: Surrogate | None) -> None:
        """Sweep until the particles have forgotten where they were, in place."""
        before = self._remembered(particles, x)
        over_models, self.sweeps, self.memory = False, 0, 1.0
        while self.sweeps < MOST_SWEEPS and self.memory >= FORGOTTEN:
            if surrogate is not None:
                surrogate.step(self._moves.reversible(over_models, self._rng), particles, self._rng)
            elif over_models:
                self._moves.models(particles, sums, self._rng)
            else:
                self._moves.coordinates(particles, sums, self._rng)
            self._moves.hyperparameters(particles, sums, self._rng)
            last, self.memory = self.memory, before.correlation(self._remembered(particles, x))
            self.sweeps += 1
            another = self.memory * self.memory / last  # what another sweep like this would leave
            over_models = over_models or (self._moves.over_models and another >= FORGOTTEN)

    def _redraw(self, particles: Ensemble, sums: Sums, x: FloatArray) -> None:
        """Sweep until the particles have forgotten where they were, and their means do not change meanwhile, in place.

        Particles that all come from one place forget it before they have arrived: they do so together.
        """
        self.sweeps, self.memory = 0, 1.0
        # Hyperparameters of the former place come first: with a noise that is far too small, most features would enter.
        self._moves.hyperparameters(particles, sums, self._rng)
        earlier = particles.copy()
        before = self._remembered(earlier, x)
        while self.sweeps < MOST_REDRAWS:
            self._moves.redraw(particles, sums, self._rng)
            self._moves.hyperparameters(particles, sums, self._rng)
            self.sweeps += 1
            memory = before.correlation(self._remembered(particles, x))
            if memory >= FORGOTTEN:
                continue
            if _drift(earlier, particles, x) < DRIFT:
                self.memory = memory
                return
            earlier = particles.copy()
            before = self._remembered(earlier, x)

    def _remembered(self, particles: Ensemble, x: FloatArray) -> "_Memory":
        return _Memory(particles, x, self._moves.slab_deviation)

    def state(self) -> dict[str, Any]:
        """Return everything that continuing bit for bit needs."""
        return {
            **super().state(),
            "log_evidence": None if math.isnan(self.log_evidence) else self.log_evidence,
            "sweeps": self.sweeps,
            "memory": self.memory,
            "particles": self._particles.state(),
            "log_weights": self._cloud.weights.logs,
            "wanted": self._wanted,
            **({} if self._fits is None else {"fits": self._fits}),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = self._found(Particles.saved, state)
        particles = Ensemble.restored(found["particles"], self.dimension)
        if isinstance(particles.coefficients, Rows) is not isinstance(self._particles.coefficients, Rows):
            raise wrong("particles", "rows if, and only if, the spike is a point mass", "other coefficients")
        if particles.learnt().keys() != self._particles.learnt().keys():
            raise wrong("particles", "what the prior learns", ", ".join(particles.learnt()) or "nothing learnt")
        if (particles.intercepts is None) is not (self._particles.intercepts is None):
            raise wrong("particles", "intercepts if, and only if, the rewards have them", "others")
        if found["log_weights"].max() == -math.inf:
            raise wrong("log_weights", "a particle of positive weight", "none")
        most = self.n_draws if self.most_draws is None else self.most_draws
        if not self.n_draws <= min(len(particles), found["wanted"]) <= max(len(particles), found["wanted"]) <= most:
            raise wrong("particles", f"{self.n_draws} to {most} of them", f"{len(particles)} and {found['wanted']}")
        if ("fits" in found) is (self._fits is None):
            raise wrong("fits", "log likelihoods if, and only if, rewards are discounted", "others")
        super().restore(state)
        self.check_saved_limits()
        self._fits = found.get("fits")
        self._wanted = found["wanted"]
        self.log_evidence = math.nan if found["log_evidence"] is None else found["log_evidence"]
        self.sweeps, self.memory = found["sweeps"], found["memory"]
        self._particles = particles
        self._cloud = self._weighted(found["log_weights"])
        self._moves.noise = self.noise


class _Memory:
    """Inclusions, coefficients and predictions for one action of some particles, as they were at one moment.

    Coefficients are in units of their slabs' standard deviations, so that the units of features do not matter.
    """

    def __init__(self, particles: Ensemble, x: FloatArray, slab_deviation: FloatArray) -> None:
        size = len(particles)
        self._some = particles.take(np.linspace(0, size - 1, min(WATCHED, size)).astype(int))
        self._predictions, self._deviation = self._some.products(x), slab_deviation
        if self._some.intercepts is not None:
            self._predictions = self._predictions + self._some.intercepts

    def correlation(self, later: "_Memory") -> float:
        """Return the largest of the three correlations with a later moment, pooled over coordinates by variance."""
        one, other = self._some, later._some
        if isinstance(one.coefficients, Rows):
            found: Any = correlations(one.rows.arrays, other.rows.arrays, self._deviation)
        else:
            theta = one.theta / self._deviation, other.theta / self._deviation
            found = _correlation(one.inside, other.inside), _correlation(*theta)
        return float(max(*found, _correlation(self._predictions, later._predictions)))


def _correlation(before: Any, after: Any) -> float:
    one, other = before - before.mean(axis=0), after - after.mean(axis=0)
    scale = float(np.sqrt((one * one).sum()) * np.sqrt((other * other).sum()))
    return float((one * other).sum()) / scale if scale > 0 else 0.0


def _squared_resolution(prior: SpikeSlab, dimension: int, n_draws: int) -> FloatArray | None:
    """Return the square of the width in which a slab has NEAR prior draws, about; None where it is learnt."""
    if isinstance(prior.slab_variance, InverseGammaSlab):
        return None
    inside = n_draws * prior.inclusions(dimension) / NEAR
    return np.where(inside > 0, prior.slab(dimension)[1] / np.maximum(inside, 1e-100) ** 2, 0.0)


def _drift(before: Ensemble, after: Ensemble, x: FloatArray) -> float:
    """Return the largest change of a mean of inclusions, coefficients and hyperparameters, in standard errors."""
    return max(_change(one, other) for one, other in zip(_watched(before, x), _watched(after, x), strict=True))


def _watched(particles: Ensemble, x: FloatArray) -> list[tuple[Any, Any]]:
    """Return mean and squared standard error of what is watched."""
    numbers = [particles.products(x), *(np.log(values) for values in particles.learnt().values())]
    return [*particles.column_moments(), *((one.mean(), one.var() / len(one)) for one in numbers)]


def _change(before: tuple[Any, Any], after: tuple[Any, Any]) -> float:
    difference, error = np.abs(after[0] - before[0]), np.sqrt(before[1] + after[1])
    scaled = np.where(difference > 0, np.inf, 0.0)  # where nothing varies
    return float(np.divide(difference, error, out=scaled, where=error > 0).max())
