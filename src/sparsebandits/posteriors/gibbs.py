"""The posterior by Markov chain Monte Carlo: exact Gibbs moves from dispersed starts, for one-off fits.

George and McCulloch (1993, 1997). Chains start from the prior. For a point-mass spike each step is a sweep over models
with θ integrated out and coordinates exchanged in pairs; for the other spikes it is an over-relaxed sweep over the
coordinates of θ, and now and then one over γ with θ drawn in a block, which frees chains where correlated features hold
them. For clicks and counts each step is a sweep of reversible jumps and slice sampling
(``kernels/reversible_jump.py``), which has nothing in common with how ``Particles`` moves: each checks the other.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, FloatArray, check_count, frozen, shown
from sparsebandits.layouts import ABOVE_ONE, LEAST_POSITIVE, Absent, Layout, Maybe, Reals, wrong
from sparsebandits.model.families import Linked
from sparsebandits.model.limits import check_prior
from sparsebandits.model.priors import InverseGammaNoise, PointMass, SpikeSlab
from sparsebandits.model.rewards import Rewards, rewards_of
from sparsebandits.posteriors.diagnostics import Health, effective_draws, split_r_hat
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.engine import Engine
from sparsebandits.posteriors.ensemble import Ensemble, Sums
from sparsebandits.posteriors.moves import Moves
from sparsebandits.randomness import Seed, copied

BLOCK_EVERY = 100
"""One in at least so many sweeps draws θ in a block; the others go through its coordinates."""

BLOCK_EVERY_PER_FEATURE = 2
"""The same per feature, so that blocks take about a quarter of the time.

One block costs as much as 85 sweeps over coordinates at d = 100, and 340 at d = 500.
"""

FIRST = 5
"""Number of sweeps that bring chains of clicks or counts from prior draws to where the posterior is."""

AT_ONCE = 100
"""Number of sweeps of clicks or counts between which Ctrl-C is heard."""

RELAXATION = 0.6
"""How far a sweep throws a coordinate to the other side of its mean (``kernels/continuous.py``).

More makes means converge faster and squares slower. With Laplace spikes as wide as the likelihood, at d = 100 and
n = 300, the slowest mean has twice as many effective draws per sweep as without; the log likelihood and the number of
features in the slab have about as many as without.
"""


class Gibbs(Engine):
    """Posterior of θ under a :class:`SpikeSlab` prior, by Markov chain Monte Carlo.

    Parameters
    ----------
    prior : SpikeSlab
        Prior of θ; for clicks and counts with a point-mass spike and without a size.
    dimension : int
        Number of features d.
    noise_variance : float or InverseGammaNoise, default=1.0
        Short form of ``rewards=Gaussian(variance=noise_variance)``.
    n_draws : int, default=10000
        Number of draws, from all chains together.
    seed : int, SeedSequence or None
        Seed of the chains.
    chains : int, default=4
        Number of chains.
    burn_in : int, default=200
        Steps of each chain that are discarded first.
    rewards : Gaussian, Bernoulli or Poisson, optional
        How a reward arises from θ; by default Gaussian noise of variance 1.

    Examples
    --------
    >>> posterior = Gibbs(SpikeSlab(inclusion=0.5, slab_variance=1.0), dimension=2, noise_variance=1.0, seed=0)
    >>> posterior.update([1.0, 0.0], 3.0)
    >>> bool(abs(posterior.inclusion()[0] - 0.87) < 0.03), bool(posterior.r_hat().max() < 1.01)
    (True, True)
    """

    def __init__(
        self,
        prior: SpikeSlab,
        dimension: int,
        noise_variance: float | InverseGammaNoise | None = None,
        n_draws: int = 10_000,
        seed: Seed = None,
        chains: int = 4,
        burn_in: int = 200,
        rewards: Rewards | None = None,
    ) -> None:
        if not isinstance(prior, SpikeSlab):
            raise ArgumentTypeError("prior", "a SpikeSlab", shown(prior))
        prior.refuse_hierarchy("Gibbs")
        super().__init__(prior, dimension, rewards_of(rewards, noise_variance, default=1.0), n_draws, seed)
        if isinstance(self.rewards, Linked) and (not isinstance(prior.spike, PointMass) or prior.size is not None):
            expected = "a point-mass spike and no size, for clicks and counts by Gibbs; or take Particles"
            raise ArgumentValueError("prior", expected, shown(prior))
        check_prior(prior, self.dimension, self.noise)
        self.chains = check_count("chains", chains)
        self.burn_in = check_count("burn_in", burn_in, least=0)
        if self.n_draws % self.chains:
            raise ArgumentValueError("n_draws", f"a multiple of chains ({self.chains})", f"{self.n_draws}")
        if self.n_draws < 4 * self.chains:
            raise ArgumentValueError("n_draws", f"at least 4 per chain, {4 * self.chains} in all", f"{self.n_draws}")
        self._moves = Moves(prior, dimension, self.rewards)
        self._draws: Draws | None = None
        self._inclusion: FloatArray = np.empty(dimension)
        self._learnt: dict[str, FloatArray] = {}

    saved: ClassVar[Layout] = {
        **Engine.saved,
        "drawn": Maybe(
            {
                "theta": Reals("n_draws", "dimension"),
                "intercepts": Absent(Reals("n_draws")),
                "inclusion": Reals("dimension", low=0.0, high=ABOVE_ONE),
                "learnt": {
                    "inclusion": Absent(Reals("n_draws", low=0.0, high=1.0)),
                    "slab_variance": Absent(Reals("n_draws", low=LEAST_POSITIVE)),
                    "noise_variance": Absent(Reals("n_draws", low=LEAST_POSITIVE)),
                },
            }
        ),
    }

    def condition(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None, counts: FloatArray | None = None
    ) -> None:
        """Condition on a batch that has been checked; the chains run when they are asked for."""
        self.check_limits(x, y, weights)
        self.evidence.absorb(x, y, weights, counts)
        self._draws = None

    @property
    def noise_variance(self) -> float:
        """Noise variance of a reward of weight one, or its posterior mean if it is learnt."""
        if self.rewards.known:
            return float(self.rewards.variance)
        self.draws()
        return float(self._learnt["noise_variance"].mean())

    def draws(self) -> Draws:
        """Return equally weighted draws, chain after chain."""
        draws = self._draws
        if draws is None:
            run = self._run()
            draws = run["_draws"]
            vars(self).update(run)  # in one step
        return draws

    def inclusions(self) -> FloatArray:
        """Return P(γ_j = 1), shape ``(d,)``."""
        self.draws()
        return self._inclusion

    def learnt(self) -> Mapping[str, FloatArray]:
        """Return draws of the hyperparameters that are learnt, by name, each of shape ``(M,)``."""
        self.draws()
        return self._learnt

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return ``size`` draws, chosen at random, shape ``(size, d)``."""
        return self.draws().theta[rng.integers(self.n_draws, size=size)]

    def r_hat(self) -> FloatArray:
        """Return the split R-hat of each coordinate, and of the intercept if there is one; chains that agree have 1."""
        return split_r_hat(self._coefficients(), self.chains)

    def _coefficients(self) -> FloatArray:
        """Return draws of θ and, if there is one, of the intercept."""
        draws = self.draws()
        return draws.theta if draws.intercepts is None else np.column_stack((draws.theta, draws.intercepts))

    def health(self) -> Health:
        """Report how far the numbers can be trusted."""
        worst, fewest = self.r_hat().max(), effective_draws(self._coefficients(), self.chains).min()
        verdict = "the chains agree" if worst < 1.01 else "the chains DISAGREE: run them longer"
        return Health(
            bool(worst < 1.01),
            f"{self.chains} chains, {self.n_draws} draws worth {fewest:.0f} independent ones for the slowest feature; "
            f"R-hat at most {worst:.3f}: {verdict}",
        )

    def _run(self) -> dict[str, Any]:
        """Run all chains together; return the attributes that change: draws and what goes with them."""
        rng, linked = copied(self._rng), isinstance(self.rewards, Linked)
        sums = Sums.of_counts(self.evidence) if linked else Sums(self.evidence)
        self._moves.noise = self.noise  # in the unit of the rewards
        members = self._moves.from_prior(rng, self.chains)
        steps = self.burn_in + self.n_draws // self.chains
        theta, intercepts = np.empty((self.chains, steps, self.dimension)), np.empty((self.chains, steps))
        learnt = {name: np.empty((self.chains, steps)) for name in members.learnt()}
        included = np.zeros(self.dimension)
        every = max(BLOCK_EVERY, BLOCK_EVERY_PER_FEATURE * self.dimension)
        step = 0
        if linked:
            some = np.empty((self.chains, FIRST, self.dimension)), np.empty((self.chains, FIRST))
            self._moves.jumps(members, self.evidence, sums, rng, *some, first=FIRST)
        while step < steps:
            last = step
            if linked:
                last = step if self._moves.learn else min(step + AT_ONCE, steps) - 1
                some = theta[:, step : last + 1], intercepts[:, step : last + 1]
                self._moves.jumps(members, self.evidence, sums, rng, *some)
            elif self._moves.over_models:
                self._moves.models(members, sums, rng)
            elif step % every == 0:
                self._moves.block(members, sums, rng)
            elif self._moves.learn:
                self._moves.coordinates(members, sums, rng, relaxation=RELAXATION)
            else:  # all sweeps up to the next block at once
                last = min(step + every - step % every, steps) - 1
                self._moves.coordinates(members, sums, rng, theta[:, step:last], RELAXATION)
            self._moves.hyperparameters(members, sums, rng)
            theta[:, last] = members.theta
            for name, values in members.learnt().items():
                learnt[name][:, last] = values
            if last >= self.burn_in:
                included += self._included(members, theta[:, max(step, self.burn_in) : last + 1])
            step = last + 1
        kept = theta[:, self.burn_in :].reshape(self.n_draws, -1)
        levels = None if members.intercepts is None else intercepts[:, self.burn_in :].reshape(-1)
        return {
            "_rng": rng,
            "_draws": Draws.trusted(kept, np.full(self.n_draws, 1.0 / self.n_draws), levels),
            "_inclusion": frozen(included / (steps - self.burn_in)),
            "_learnt": {name: values[:, self.burn_in :].reshape(-1) for name, values in learnt.items()},
        }

    def _included(self, members: Ensemble, theta: FloatArray) -> FloatArray:
        """Return P(γ_j = 1 | θ), summed over some steps ``(chains, ·, d)`` and averaged over chains."""
        if self._moves.learn:
            return self._moves.inclusion(members, np.full(self.chains, 1.0 / self.chains))
        flat, variance = theta.reshape(-1, self.dimension), self.rewards.variance
        given = self.prior.inclusion_given(flat, noise_variance=variance)
        return np.asarray(given.sum(axis=0) / self.chains)

    def state(self) -> dict[str, Any]:
        """Return everything that continuing bit for bit needs."""
        drawn = None
        if self._draws is not None:
            drawn = {"theta": self._draws.theta, "inclusion": self._inclusion, "learnt": self._learnt}
            if self._draws.intercepts is not None:
                drawn["intercepts"] = self._draws.intercepts
        return {**super().state(), "drawn": drawn}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        drawn = self._found(Gibbs.saved, state)["drawn"]
        super().restore(state)
        self.check_saved_limits()
        self._draws = None
        if drawn is not None:
            if list(drawn["learnt"]) != self._moves.learnt():
                raise wrong("drawn.learnt", "what the prior learns", ", ".join(drawn["learnt"]) or "nothing")
            self.check_intercepts(drawn)
            weights = np.full(self.n_draws, 1.0 / self.n_draws)
            self._draws = Draws.trusted(drawn["theta"], weights, drawn.get("intercepts"))
            self._inclusion, self._learnt = drawn["inclusion"], drawn["learnt"]
