"""The paper's sampler: Langevin steps on θ, stochastic approximation of the inclusion probabilities ν.

Hao, Lattimore and Deng (2021), Algorithm 1, after Deng, Zhang, Liang and Lin (2019). With ψ₀ the spike, ψ₁ the slab,

    θ ← θ − η_k ∂Q(θ) + √(2 η_k) ξ,        Q(θ) = −log L + Σ_j (1 − ν_j) |θ_j| / b + ν_j (θ_j − m_j)² / (2 V_j),
    ν ← (1 − ω_k) ν + ω_k P(γ = 1 | θ),

from θ ~ N(0, 0.1 I) and ν = ½, where b = σλ₀ and V = σ²λ₁ in the paper's symbols. It is approximate: γ is not drawn but
averaged, so excluded coordinates spread too widely, and unadjusted Langevin steps have a bias that grows with η.

Deng, Zhang, Liang and Lin take the gradient of −log L from a minibatch S of m rows (Welling and Teh 2011):

    ∂Q̂(θ) = (n/m) Σ_{i ∈ S} x_i (⟨x_i, θ⟩ − y_i) / σ² + the prior's terms,

drawn without replacement in each step, so its expectation is ∂Q (``batch_size=m``; then the rows are kept, not their
sums alone). Its noise adds to that of the steps, so draws spread more widely, the more so the smaller m is. L becomes
L_m, an upper bound of the curvature of every minibatch: (n/m) min(λ_max(X'X), the sum of the m largest ‖x_i‖²)/σ² +
max 1/V. With H the curvature of a minibatch, E H² ≤ L_m E H, so steps of up to 2 / L_m are stable in mean square.

One chain is the printed form. A fixed η diverges as X'X grows, so here η_k is a share of 1 / L, where
L = λ_max(X'X)/σ² + max 1/V; steps of up to 2 / L are stable (the paper is silent on η).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_count,
    check_number,
    check_positive,
    frozen,
    shown,
)
from sparsebandits.layouts import Absent, Layout, Maybe, Reals, read, sizes_of, wrong
from sparsebandits.model.priors import BetaInclusion, LaplaceSpike, SpikeSlab
from sparsebandits.model.rewards import Rewards, known_noise
from sparsebandits.posteriors.diagnostics import Health, effective_draws, split_r_hat
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.engine import Engine
from sparsebandits.posteriors.kernels.inline_random import random_state
from sparsebandits.posteriors.kernels.langevin import langevin_steps, wide_langevin_steps
from sparsebandits.randomness import Seed, copied

Schedule: TypeAlias = Callable[[int], float] | float
"""A number, or a function of the step k = 1, 2, …."""

START_VARIANCE = 0.1
"""Variance of each coordinate at the start of a chain, as in the paper."""

WIDE = 16
"""Number of chains from which on all take each step together, in single precision; 25 take a fifth of the time so."""


class DivergenceError(RuntimeError):
    """Chains diverged, so there are no draws."""


@dataclass(frozen=True)
class PowerDecay:
    """Schedule 1 / k^exponent, which forgets the start and converges (Robbins and Monro 1951).

    Parameters
    ----------
    exponent : float, default=0.6
        Exponent; between one half and one for convergence.

    Examples
    --------
    >>> PowerDecay()(1)
    1.0
    """

    exponent: float = 0.6

    def __post_init__(self) -> None:
        object.__setattr__(self, "exponent", check_positive("exponent", self.exponent))

    def __call__(self, k: int) -> float:
        """Return the step size in step k = 1, 2, …."""
        return float(k**-self.exponent)


class Langevin(Engine):
    """Approximate posterior of θ by Algorithm 1 of the paper, for a :class:`SpikeSlab` with a Laplace spike.

    Parameters
    ----------
    prior : SpikeSlab
        Prior of θ, with a Laplace spike, known inclusion and known slab variance.
    dimension : int
        Number of features d.
    noise_variance : float, default=1.0
        Short form of ``rewards=Gaussian(variance=noise_variance)``.
    n_draws : int, default=10000
        Number of draws M, from all chains together.
    seed : int, SeedSequence or None
        Seed of the chains.
    chains : int, default=1
        Number of chains C that run side by side; 1 is the printed form.
    burn_in : int, default=0
        Steps of each chain that are discarded first; 0 is the printed form.
    thinning : int, default=1
        The paper's T: every T-th step is kept.
    learning_rate : float or callable, default=0.5
        η_k as a share of 1 / L, one number or a function of k = 1, 2, …; 2 and more would diverge.
    step_size : float or callable, default=PowerDecay(0.6)
        ω_k, one number or a function of k = 1, 2, …. A policy can be saved with numbers and :class:`PowerDecay`, not
        with other functions.
    warm_start : bool, default=False
        Continue from where the chains were before the last observation, rather than from the start.
    rewards : Gaussian, optional
        How a reward arises from θ; by default Gaussian noise of variance 1.
    batch_size : int, optional
        Number m of rows of a minibatch, of which each chain draws its own in each step. By default, and while there are
        not more rows, the gradient is that of all rows, as printed.

    Examples
    --------
    >>> prior = SpikeSlab.from_paper(beta=0.2, lambda0=0.1, lambda1=1.0, noise_variance=1.0)
    >>> posterior = Langevin(prior, dimension=2, noise_variance=1.0, seed=0, chains=10, burn_in=50)
    >>> posterior.update(np.tile([1.0, 0.0], (50, 1)), np.full(50, 2.0))
    >>> posterior.mean().round(1)
    array([2., 0.])
    """

    saved: ClassVar[Layout] = {
        **Engine.saved,
        "theta": Maybe(Reals("chains", "dimension", dtypes=("float32", "float64"))),
        "nu": Maybe(Reals("chains", "dimension", dtypes=("float32", "float64"))),
        "draws": Maybe(Reals("n_draws", "dimension")),
        "inclusion": Reals("dimension"),
        "rows": Absent({"x": Reals("kept_rows", "dimension"), "y": Reals("kept_rows")}),
    }

    def __init__(
        self,
        prior: SpikeSlab,
        dimension: int,
        noise_variance: float | None = None,
        n_draws: int = 10_000,
        seed: Seed = None,
        chains: int = 1,
        burn_in: int = 0,
        thinning: int = 1,
        learning_rate: Schedule = 0.5,
        step_size: Schedule = PowerDecay(),  # noqa: B008 - frozen
        warm_start: bool = False,
        rewards: Rewards | None = None,
        batch_size: int | None = None,
    ) -> None:
        if not isinstance(prior, SpikeSlab) or not isinstance(prior.spike, LaplaceSpike):
            raise ArgumentTypeError("prior", "a SpikeSlab with a Laplace spike for Langevin", shown(prior))
        if isinstance(prior.inclusion, BetaInclusion):
            raise ArgumentTypeError("prior", "a known inclusion for Langevin", shown(prior.inclusion))
        prior.refuse_learnt_slab("Langevin")
        super().__init__(prior, dimension, known_noise("Langevin", rewards, noise_variance), n_draws, seed)
        self.chains = check_count("chains", chains)
        if self.n_draws % self.chains:
            raise ArgumentValueError("n_draws", f"a multiple of chains ({self.chains})", f"{self.n_draws}")
        if self.n_draws < 4 * self.chains:
            raise ArgumentValueError("n_draws", f"at least 4 per chain, {4 * self.chains} in all", f"{self.n_draws}")
        self.burn_in = check_count("burn_in", burn_in, least=0)
        self.thinning = check_count("thinning", thinning)
        self.warm_start = bool(warm_start)
        self.batch_size = None if batch_size is None else check_count("batch_size", batch_size)
        steps = self.burn_in + self.thinning * self.n_draws // self.chains
        self.learning_rate, self.step_size = learning_rate, step_size
        self._rates = _scheduled("learning_rate", learning_rate, steps)
        self._weights = _scheduled("step_size", step_size, steps)
        prior.inclusions(dimension)  # refuses a wrong number of them now, and not at the first draw
        absolute = prior.given_noise(self.noise_variance)
        self._spike_scale = absolute.spike.scale  # type: ignore[union-attr]
        self._slab_mean, self._slab_variance = absolute.slab(dimension)
        self._real: Any = np.float32 if self.chains >= WIDE else np.float64
        self._theta: Any = None  # current state of the chains
        self._nu: Any = None
        self._draws: Draws | None = None
        self._inclusion: FloatArray = np.zeros(dimension)
        self._x, self._y = np.empty((0, dimension)), np.empty(0)  # √w times rows and rewards, for minibatches

    @property
    def noise_variance(self) -> float:
        """Noise variance of a reward of weight one."""
        return float(self.rewards.variance)

    def condition(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None, counts: FloatArray | None = None
    ) -> None:
        """Condition on a batch that has been checked; the chains run when they are asked for."""
        self.evidence.absorb(x, y, weights, counts)
        self._draws = None
        if self.batch_size is not None:
            root = np.ones(len(y)) if weights is None else np.sqrt(weights)
            self._x = np.concatenate((self._x, root[:, np.newaxis] * x))
            self._y = np.concatenate((self._y, root * y))

    def forget(self, factor: float) -> None:
        """Let everything so far count less."""
        super().forget(factor)
        self._x, self._y = math.sqrt(factor) * self._x, math.sqrt(factor) * self._y

    @property
    def _batch(self) -> int:
        """Number of rows of a minibatch; 0 for the full gradient."""
        return 0 if self.batch_size is None or self.batch_size >= len(self._y) else self.batch_size

    def draws(self) -> Draws:
        """Return equally weighted draws, chain after chain.

        Returns
        -------
        Draws
            The kept steps of all chains.

        Raises
        ------
        DivergenceError
            If a chain diverged.
        """
        draws = self._draws
        if draws is None:
            run = self._run()
            draws = run["_draws"]
            vars(self).update(run)  # in one step
        return draws

    def inclusions(self) -> FloatArray:
        """Return the mean of ν over the kept steps, shape ``(d,)``."""
        self.draws()
        return self._inclusion

    def health(self) -> Health:
        """Report how far the numbers can be trusted."""
        theta = self.draws().theta
        worst, fewest = split_r_hat(theta, self.chains).max(), effective_draws(theta, self.chains).min()
        verdict = "they agree" if worst < 1.01 else "they have NOT settled: run them longer"
        return Health(
            bool(worst < 1.01),
            f"approximate, whatever its length; {self.chains} chain(s), {self.n_draws} draws worth {fewest:.0f} "
            f"independent ones for the slowest feature; R-hat at most {worst:.3f}: {verdict}",
        )

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return ``size`` draws, chosen at random, shape ``(size, d)``."""
        return self.draws().theta[rng.integers(self.n_draws, size=size)]

    def largest_rate(self) -> float:
        """Return 1 / L, the scale of the learning rate; steps larger than twice of it would diverge."""
        top = float(np.linalg.eigvalsh(self.evidence.gram)[-1]) / self.noise_variance
        if self._batch:
            squares = np.sort(np.square(self._x).sum(axis=1))[-self._batch :]
            top = min(top, float(squares.sum()) / self.noise_variance) * len(self._y) / self._batch
        return 1.0 / (max(top, 0.0) + float((1.0 / self._slab_variance).max()))

    def _run(self) -> dict[str, Any]:
        """Run all chains together; return the attributes that change: draws and what goes with them."""
        shape, rng = (self.chains, self.dimension), copied(self._rng)
        if self._theta is None or not self.warm_start:
            theta = math.sqrt(START_VARIANCE) * rng.standard_normal(shape, dtype=self._real)
            nu = np.full(shape, 0.5, dtype=self._real)
        else:
            theta, nu = self._theta.copy(), self._nu.copy()
        beta, scale = self.prior.inclusions(self.dimension), self._spike_scale
        with np.errstate(divide="ignore"):
            log_odds = (
                np.log(beta) - np.log1p(-beta) + np.log(2.0 * scale) - 0.5 * np.log(2.0 * np.pi * self._slab_variance)
            )
        kept = np.empty((self.chains, self.n_draws // self.chains, self.dimension))
        inclusion = np.zeros(self.dimension)
        root, batch = math.sqrt(self.noise_variance), self._batch
        moment = np.zeros(self.dimension) if batch else self.evidence.moment / self.noise_variance
        take_steps = wide_langevin_steps if self._real is np.float32 else langevin_steps
        take_steps(
            theta,
            nu,
            self._rates * self.largest_rate(),
            self._weights,
            self.burn_in,
            self.thinning,
            np.ascontiguousarray(self.evidence.gram) / self.noise_variance,
            moment,
            self._slab_mean,
            1.0 / self._slab_variance,
            log_odds,
            1.0 / scale,
            kept,
            inclusion,
            self._x / root,
            self._y / root,
            batch,
            random_state(rng),
        )
        if not (np.abs(theta) < 1e30).all():  # what has become infinite stays so, or turns into NaN
            raise DivergenceError(
                f"Langevin diverged at learning rates of up to {self._rates.max():g} / L; stable ones are below 2 / L"
            )
        draws = Draws.trusted(kept.reshape(self.n_draws, self.dimension), np.full(self.n_draws, 1.0 / self.n_draws))
        inclusion = frozen(inclusion / self.n_draws)
        return {"_rng": rng, "_draws": draws, "_inclusion": inclusion, "_theta": theta, "_nu": nu}

    def state(self) -> dict[str, Any]:
        """Return everything that continuing bit for bit needs."""
        return {
            **super().state(),
            "theta": self._theta,
            "nu": self._nu,
            "draws": None if self._draws is None else self._draws.theta,
            "inclusion": self._inclusion,
            **({} if self.batch_size is None else {"rows": {"x": self._x, "y": self._y}}),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = read(Langevin.saved, state, {**sizes_of(vars(self))}, more=True)
        chains = [found[name] for name in ("theta", "nu") if found[name] is not None]
        if len(chains) == 1 or any(one.dtype != self._real for one in chains):
            raise wrong("theta", f"the type {np.dtype(self._real)}, as nu", "others")
        rows = found.get("rows")
        if (rows is None) != (self.batch_size is None):
            raise wrong("rows", "the rows if, and only if, there are minibatches", shown(rows))
        super().restore(state)
        if rows is not None:
            self._x, self._y = rows["x"], rows["y"]
        self._theta, self._nu, self._inclusion = found["theta"], found["nu"], found["inclusion"]
        theta = found["draws"]
        self._draws = None if theta is None else Draws.trusted(theta, np.full(self.n_draws, 1.0 / self.n_draws))


def _scheduled(name: str, schedule: Schedule, steps: int) -> FloatArray:
    """Return the schedule at k = 1 … steps; refuse one that is not positive everywhere."""
    if not callable(schedule):
        return np.full(steps, check_positive(name, schedule))
    values = np.array([check_number(f"{name}({k})", schedule(k)) for k in range(1, steps + 1)])
    if not (values > 0).all():
        raise ArgumentValueError(name, "positive numbers", f"{values.min():g}")
    return values
