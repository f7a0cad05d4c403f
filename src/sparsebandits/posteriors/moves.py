"""Moves that leave a spike-and-slab posterior unchanged, for an ensemble of particles or chains.

:class:`Moves` changes θ, γ and, where they are learnt, β, V and σ² of an :class:`Ensemble`. The work is done by the
kernels of ``point_mass.py``, ``collapsed.py``, ``continuous.py``, ``blocked.py``, ``reversible_jump.py`` and
``rows.py``.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import LARGEST, FloatArray, IntArray
from sparsebandits.model import limits
from sparsebandits.model.counts import Counts
from sparsebandits.model.families import Linked, Poisson
from sparsebandits.model.priors import (
    BetaInclusion,
    GaussianSpike,
    InverseGamma,
    InverseGammaNoise,
    InverseGammaSlab,
    LaplaceSpike,
    SpikeSlab,
)
from sparsebandits.model.rewards import Rewards
from sparsebandits.posteriors.engine import TIED
from sparsebandits.posteriors.ensemble import Ensemble, Sums, joined
from sparsebandits.posteriors.kernels import rows as of_rows
from sparsebandits.posteriors.kernels.blocked import blocked_sweep
from sparsebandits.posteriors.kernels.collapsed import collapsed_sweep
from sparsebandits.posteriors.kernels.continuous import GAUSSIAN, LAPLACE, continuous_sweeps
from sparsebandits.posteriors.kernels.inline_random import random_state
from sparsebandits.posteriors.kernels.point_mass import point_mass_sweep
from sparsebandits.posteriors.kernels.reversible_jump import LOGIT, POISSON, PROBIT, jumping_sweeps
from sparsebandits.posteriors.rows import Rows
from sparsebandits.posteriors.threads import BLOCK, in_blocks

POINT_MASS = 0  # beside GAUSSIAN and LAPLACE

LEAST_BETA = 1e-12
"""Smallest inclusion probability, and distance from one, where the slab variance depends on it."""

SWAPS = 4
"""Attempts of each member to exchange a coordinate for a correlated one, in each sweep over models."""

VISITS = 0.7
"""Probability that a reversible sweep over models visits coordinates."""

EXCHANGES = 0.5
"""Probability that one that does not exchanges them, if the prior has a size; otherwise it swaps them."""

Sweep = Callable[[Ensemble, Sums, Generator], None]

SINGLE = 1e4
"""Size of coefficients in posterior standard deviations (without the prior), √n |θ| / σ, up to which a sweep over
coordinates is in single precision: its rounding errors are below a thousandth of such a deviation."""

FAR = 1e3
"""Squared mean of a slab, in its variances, up to which single precision does."""

MOST_AT_ONCE = 2**20
"""Number of coefficients that are drawn from the prior at a time."""


class Moves:
    """Moves for one prior and one family of rewards.

    Parameters
    ----------
    prior : SpikeSlab
        Prior of θ.
    dimension : int
        Number of features d.
    rewards : Gaussian
        How a reward arises from θ.
    threads : int, default=1
        Number of threads that sweep over members with a point-mass spike.
    """

    def __init__(self, prior: SpikeSlab, dimension: int, rewards: Rewards, threads: int = 1) -> None:
        self.prior = replace(prior, hierarchy=None)  # which is a weight of the draws that are handed out
        self._threads = threads
        self.dimension = dimension
        self.noise = rewards.variance  # an engine sets it anew when the unit of the rewards is known
        self._linked = rewards if isinstance(rewards, Linked) else None
        self._slab_mean, self._slab_variance = prior.slab(dimension)
        self.slab_deviation = np.sqrt(self._slab_variance)  # in units of √V, where that is learnt
        self._log_odds = np.zeros(dimension)
        self._size_log_odds = np.zeros(dimension)
        # Sweeps over models integrate a Beta inclusion out, unless V depends on it.
        learnt = isinstance(prior.inclusion, BetaInclusion)
        self._of_total = learnt and isinstance(prior.slab_variance, InverseGammaSlab) and prior.slab_variance.of_total
        if learnt and not self._of_total:
            others = np.arange(dimension)
            self._size_log_odds = np.log(prior.inclusion.a + others) - np.log(
                prior.inclusion.b + dimension - 1 - others
            )
        elif not learnt:
            self._log_odds = logit(prior.inclusions(dimension))
        self._sized = prior.size is not None
        if self._sized:  # join only if there is room, leave only if enough remain
            (low, high), others = prior.size_range(dimension), np.arange(dimension)
            self._size_log_odds[others < low] = np.inf
            self._size_log_odds[others >= high] = -np.inf
        self._kind, self._width = POINT_MASS, 0.0
        if isinstance(prior.spike, GaussianSpike):
            self._kind, self._width = GAUSSIAN, prior.spike.variance
        elif isinstance(prior.spike, LaplaceSpike):
            self._kind, self._width = LAPLACE, prior.spike.scale
        self.over_models = self._kind == POINT_MASS  # whether :meth:`models` serves this prior

    @property
    def learn(self) -> bool:
        """Whether there are hyperparameters to be learnt."""
        return any(
            isinstance(part, BetaInclusion | InverseGamma)
            for part in (self.prior.inclusion, self.prior.slab_variance, self.noise)
        )

    def learnt(self) -> list[str]:
        """Return the names of the hyperparameters that are learnt, as :meth:`Ensemble.learnt` has them."""
        learnt = {
            "inclusion": isinstance(self.prior.inclusion, BetaInclusion),
            "slab_variance": isinstance(self.prior.slab_variance, InverseGammaSlab),
            "noise_variance": isinstance(self.noise, InverseGammaNoise),
        }
        return [name for name, whether in learnt.items() if whether]

    def from_prior(self, rng: Generator, size: int) -> Ensemble:
        """Return draws from the prior.

        Parameters
        ----------
        rng : Generator
            Source of randomness.
        size : int
            Number of members M.

        Returns
        -------
        Ensemble
            Independent members.
        """
        at_once = max(1, MOST_AT_ONCE // self.dimension)
        drawn = [self._drawn(rng, min(at_once, size - start)) for start in range(0, size, at_once)]
        return drawn[0] if len(drawn) == 1 else joined(drawn)

    def _drawn(self, rng: Generator, size: int) -> Ensemble:
        drawn = self.prior.sample(rng, size, self.dimension)
        noise = self.noise.sample(rng, size) if isinstance(self.noise, InverseGammaNoise) else None
        theta = drawn.theta
        if self.prior.of_noise:
            deviation = np.sqrt(self._noise_of(noise, size))[:, np.newaxis]
            centre = np.where(drawn.included, self._slab_mean, 0.0)
            theta = centre + deviation * (theta - centre)
        sparse, intercepts = self._kind == POINT_MASS, None
        if self._linked is not None and self._linked.intercept:
            intercepts = rng.normal(0.0, math.sqrt(self._linked.intercept_variance), size)
        return Ensemble(
            Rows.of(theta) if sparse else theta,
            None if sparse else drawn.included,
            drawn.beta,
            drawn.slab_variances,
            noise,
            intercepts,
        )

    def rescaled(self, members: Ensemble, unit: float) -> Ensemble:
        """Return members whose noise variances are ``unit``² times as large, and whose θ is scaled where it has σ.

        Parameters
        ----------
        members : Ensemble
            Members with learnt noise variances.
        unit : float
            Unit of the rewards.

        Returns
        -------
        Ensemble
            The members in that unit.
        """
        assert members.noise_variances is not None
        coefficients: Any = members.coefficients
        if self.prior.of_noise and isinstance(coefficients, Rows):
            centres = self._slab_mean[coefficients.columns]
            coefficients = replace(coefficients, values=centres + unit * (coefficients.values - centres))
        elif self.prior.of_noise:
            centre = np.where(members.inside, self._slab_mean, 0.0)
            coefficients = centre + unit * (coefficients - centre)
        return replace(members, coefficients=coefficients, noise_variances=members.noise_variances * (unit * unit))

    def coordinates(
        self,
        members: Ensemble,
        sums: Sums,
        rng: Generator,
        passed: FloatArray | None = None,
        relaxation: float = 0.0,
        order: IntArray | None = None,
    ) -> None:
        """Sweep over the coordinates of θ, in place.

        If the prior has a size, this is a sweep over models: single coordinates could hardly move.

        Parameters
        ----------
        members : Ensemble
            Members, which are changed in place.
        sums : Sums
            The data.
        rng : Generator
            Source of randomness.
        passed : array of shape (M, n, d), optional
            Filled with θ after each of n further sweeps, which are made first.
        relaxation : float, default=0.0
            How far coordinates are thrown to the other side of their mean, from 0 (each is drawn independently of its
            old value) to below 1, for a Gaussian or Laplace spike.
        order : int array of shape (d,), optional
            Coordinates in the order of the visits; by default a random one.
        """
        if self._sized:
            self.models(members, sums, rng, order)
            return
        order = rng.permutation(self.dimension) if order is None else order
        if self._kind == POINT_MASS:
            self._coordinates_of_rows(members, sums, rng, order)
        else:
            continuous_sweeps(
                np.empty((len(members), 0, self.dimension)) if passed is None else passed,
                members.coefficients,
                members.included,
                self._precisions(members),
                order,
                sums.gram,
                sums.moment,
                self._slab_mean,
                self._slab_variance,
                self._scales(members),
                self._log_odds,
                self._shared_log_odds(members),
                self._kind,
                self._widths(members),
                relaxation,
                random_state(rng),
            )

    def _coordinates_of_rows(self, members: Ensemble, sums: Sums, rng: Generator, order: IntArray) -> None:
        """Sweep over the coordinates of compressed rows, in single precision where that is enough.

        Coefficients are in units in which their posterior standard deviations, without the prior, are about one. Units
        are powers of two, so that the unit of features or rewards changes nothing.
        """
        scales, precisions = self._scales(members), self._precisions(members)
        low, high = float(precisions.min()), float(precisions.max())
        root = float(_power_of_two(math.sqrt(math.sqrt(low) * math.sqrt(high))))  # about 1/σ
        slab = self._slab_variance * float(scales.max())
        units = _power_of_two(1.0 / np.sqrt(np.maximum(sums.squares * root * root, 1.0 / slab)))
        slab_mean, slab_variance = self._slab_mean / units, self._slab_variance / (units * units)
        reach = np.sqrt(slab) / units + np.abs(slab_mean) + np.abs(sums.moment) * units * root * root
        far = float(
            (self._slab_mean**2 / (self._slab_variance * float(scales.min()))).max()
        )  # means cancel in the odds
        single = bool(reach.max() < SINGLE) and far < FAR and high < 1e20 * low
        gram, moment = sums.scaled(units * root, single)
        shared = self._shared_log_odds(members)
        states, relative = self._states(len(members), rng), precisions / (root * root)
        moment = moment * gram.dtype.type(root)

        def sweep(block: slice) -> Rows:
            begins, ends, columns, values = members.rows.arrays
            found = point_mass_sweep(
                (begins[block], ends[block], columns, values),
                units,
                relative[block],
                order,
                gram,
                moment,
                slab_mean,
                slab_variance,
                scales[block],
                self._log_odds,
                shared[block],
                states[block.start],
            )
            return Rows.after(found, self.dimension)

        members.coefficients = Rows.joined(in_blocks(sweep, len(members), self._threads))

    def _states(self, size: int, rng: Generator) -> dict[int, Any]:
        """Return a random state for each block of members, by where it starts."""
        return {start: random_state(rng) for start in range(0, size, BLOCK)}

    def reversible(self, over_models: bool, rng: Generator) -> tuple[Sweep, Sweep]:
        """Return a sweep of :meth:`coordinates` or :meth:`models`, and its reverse.

        Going through coordinates in one order is the reverse of going through them in the other. Visits that are
        followed by swaps would have swaps that are followed by visits as their reverse; so it is one of these, at
        random.

        Parameters
        ----------
        over_models : bool
            Whether it sweeps over models.
        rng : Generator
            Source of randomness.

        Returns
        -------
        tuple of two callables
            They take members, sums and a generator, and change members in place.
        """
        order = rng.permutation(self.dimension)
        orders = order, order[::-1].copy()
        if not over_models and not self._sized:
            return partial(self.coordinates, order=orders[0]), partial(self.coordinates, order=orders[1])
        if rng.random() < VISITS:
            return partial(self.models, order=orders[0], of="visits"), partial(
                self.models, order=orders[1], of="visits"
            )
        of = "exchanges" if self._sized and rng.random() < EXCHANGES else "swaps"
        return partial(self.models, of=of), partial(self.models, of=of)

    def models(
        self, members: Ensemble, sums: Sums, rng: Generator, order: IntArray | None = None, of: str = "all"
    ) -> None:
        """Sweep over models with θ (and a Beta inclusion) integrated out, then draw θ.

        Members with the same model share the work, unless each has variances of its own.

        Parameters
        ----------
        members : Ensemble
            Members, which are changed in place.
        sums : Sums
            The data.
        rng : Generator
            Source of randomness.
        order : int array of shape (d,), optional
            Coordinates in the order of the visits; by default a random one.
        of : {"all", "visits", "swaps", "exchanges"}, default="all"
            What the sweep consists of: visits to all coordinates, swaps of correlated ones, exchanges of one for any
            other if the prior has a size, or all of these, one after the other.
        """
        size, rows = len(members), members.rows
        first, counts, listed = np.arange(size), np.ones(size, dtype=np.intp), np.arange(size)
        if members.noise_variances is None and members.slab_variances is None:
            address = rng.integers(0, 2**64, size=self.dimension, dtype=np.uint64)
            hashes = rows.sums(address)  # equal for equal models, and for others with probability 2^-64
            # Among members with the same model, the kernel returns those that stayed before those that left. In random
            # order every member is equally likely to be among either, so that chains stay exchangeable.
            listed = rng.permutation(size)
            listed = listed[np.argsort(hashes[listed], kind="stable")]
            starts = np.flatnonzero(np.diff(hashes[listed], prepend=~hashes[listed[0]]))
            first, counts = listed[starts], np.diff(starts, append=size)
        order, scales = rng.permutation(self.dimension) if order is None else order, self._scales(members)[first]
        precisions, states = self._precisions(members)[first], self._states(len(first), rng)
        shared = self._shared_log_odds(members)[first] if self._of_total else np.zeros(len(first))
        spread = (self._slab_variance * float(scales.max()) + self._slab_mean**2) * sums.squares
        gram = sums.gram_for_models(float(precisions.max()) * max(float(spread.max()), sums.square))
        neighbours = sums.neighbours

        def sweep(block: slice) -> Rows:
            found = collapsed_sweep(
                (rows.begins[first[block]], rows.ends[first[block]], rows.columns),
                counts[block],
                self.dimension,
                precisions[block],
                order,
                of in ("all", "visits"),
                SWAPS if of in ("all", "swaps") else 0,
                self._sized and of in ("all", "exchanges"),
                neighbours,
                gram,
                sums.moment,
                self._slab_mean,
                self._slab_variance,
                scales[block],
                self._log_odds,
                self._size_log_odds,
                shared[block],
                states[block.start],
            )
            return Rows.after(found, self.dimension)

        after = Rows.joined(in_blocks(sweep, len(first), self._threads))
        place = np.empty(size, dtype=np.intp)
        place[listed] = np.arange(size)  # each takes the place of a member that had its model
        members.coefficients = after.take(place)

    def jumps(
        self,
        members: Ensemble,
        counts: Counts,
        sums: Sums,
        rng: Generator,
        passed: FloatArray,
        passed_intercepts: FloatArray,
        first: int = 0,
    ) -> None:
        """Sweep over the coefficients of clicks or counts by reversible jumps and slice sampling, for a point mass.

        Nothing here is approximated, so no surrogate is needed; a sweep costs O(d) passes over the distinct rows.

        Parameters
        ----------
        members : Ensemble
            Members, which are changed in place.
        counts : Counts
            The data.
        sums : Sums
            Sums of them (:meth:`Sums.of_counts`).
        rng : Generator
            Source of randomness.
        passed : array of shape (M, n, d)
            Filled with θ after each of n sweeps, of which there is at least one.
        passed_intercepts : array of shape (M, n)
            Filled with α after each of them; zero if there is none.
        first : int, default=0
            Number of these sweeps that only bring chains from where they start to where the posterior is.
        """
        family = self._linked
        assert family is not None
        code = POISSON if isinstance(family, Poisson) else LOGIT if family.link == "logit" else PROBIT
        jumping_sweeps(
            passed,
            passed_intercepts,
            members.theta.copy(),
            np.zeros(len(members)) if members.intercepts is None else members.intercepts.copy(),
            (code, counts.successes, counts.trials),
            np.array(counts.rows.T, order="C"),
            sums.neighbours,
            self._slab_mean,
            self._slab_variance,
            self._scales(members),
            self._log_odds,
            self._shared_log_odds(members),
            family.intercept_variance if family.intercept else 0.0,
            first,
            random_state(rng),
        )
        members.coefficients = Rows.of(passed[:, -1])
        if members.intercepts is not None:
            members.intercepts = passed_intercepts[:, -1].copy()

    def block(self, members: Ensemble, sums: Sums, rng: Generator) -> None:
        """Sweep over γ with θ integrated out, then draw θ in one block, for a Gaussian or Laplace spike.

        Parameters
        ----------
        members : Ensemble
            Members, which are changed in place.
        sums : Sums
            The data.
        rng : Generator
            Source of randomness.

        Raises
        ------
        ArithmeticError
            If features are so large and so nearly copies of each other that rounding hides the prior.
        """
        shape, included = members.theta.shape, members.inside
        widths = np.broadcast_to(self._widths(members)[:, np.newaxis], shape)
        variances = widths.copy()
        if self._kind == LAPLACE:  # given γ = 1, W is from its prior
            variances = rng.exponential(2.0 * widths**2)
            outside = ~included
            variances[outside] = spike_variances(rng, members.theta[outside], widths[outside])
            variances = np.clip(variances, 1e-100, 1e100)
        try:
            blocked_sweep(
                members.coefficients,
                included,
                variances,
                self._precisions(members),
                rng.permutation(self.dimension),
                sums.gram,
                sums.moment,
                self._slab_mean,
                self._slab_variance,
                self._scales(members),
                self._log_odds,
                self._shared_log_odds(members),
                random_state(rng),
            )
        except np.linalg.LinAlgError:
            raise ArithmeticError(TIED) from None

    def redraw(self, members: Ensemble, sums: Sums, rng: Generator) -> None:
        """Sweep with θ integrated out, and draw θ given γ: little is left of where the members were.

        For other spikes than a point mass, a sweep over coordinates follows. Given W, which is from its prior while γ
        is one, a large coefficient cannot go from the slab to a Laplace spike, whose tail is the heavier one.

        Parameters
        ----------
        members : Ensemble
            Members, which are changed in place.
        sums : Sums
            The data.
        rng : Generator
            Source of randomness.
        """
        if self.over_models:
            self.models(members, sums, rng)
        else:
            self.block(members, sums, rng)
            self.coordinates(members, sums, rng)

    def hyperparameters(self, members: Ensemble, sums: Sums, rng: Generator) -> None:
        """Draw β given γ, V given γ and θ, and σ² given θ (and γ and V), where they are learnt.

        Parameters
        ----------
        members : Ensemble
            Members, which are changed in place.
        sums : Sums
            The data.
        rng : Generator
            Source of randomness.
        """
        beta, slab, noise = self.prior.inclusion, self.prior.slab_variance, self.noise
        if isinstance(beta, BetaInclusion):
            size = self._slab_counts(members)
            drawn = rng.beta(beta.a + size, beta.b + self.dimension - size)
            members.beta = self._accepted(members, drawn, rng) if self._of_total else drawn
        if isinstance(slab, InverseGammaSlab) or self.prior.of_noise:
            among, squares = self._slab_sums(members)
            scaled = squares / self._variances(members) if self.prior.of_noise else squares
        if isinstance(noise, InverseGammaNoise):
            misfit = sums.square - 2.0 * members.products(sums.moment) + self.quadratic_forms(members, sums)
        if isinstance(slab, InverseGammaSlab):
            drawn = slab.given(rng, among, scaled, self._expected_sizes(members))
            members.slab_variances = np.minimum(drawn, self._largest_slab(members, sums))
        if isinstance(noise, InverseGammaNoise):
            count, total = np.full(len(members), sums.count), np.maximum(misfit, 0.0)
            if self.prior.of_noise:  # slab and spike depend on this variance too
                count = count + among
                total = total + (squares if members.slab_variances is None else squares / members.slab_variances)
                if self._kind != POINT_MASS:
                    count, total = count + self.dimension - among, total + self._spike_sums(members, rng)
            members.noise_variances = noise.given(rng, count, total)

    def _accepted(self, members: Ensemble, drawn: FloatArray, rng: Generator) -> FloatArray:
        """Return β after a Metropolis step whose proposals are drawn given γ, where the prior of V depends on β.

        The step leaves β given γ and V unchanged: V | β ~ IG(a, b / (β d)) has a density in proportion to
        β^-a exp(−b / (β d V)).
        """
        slab, old, new = self.prior.slab_variance, members.beta, np.clip(drawn, LEAST_BETA, 1.0 - LEAST_BETA)
        assert old is not None
        assert members.slab_variances is not None
        rate = slab.scale / (self.dimension * members.slab_variances)
        log_ratio = -slab.shape * np.log(new / old) - rate * (1.0 / new - 1.0 / old)
        return np.where(np.log(rng.random(len(new))) < log_ratio, new, old)

    def _largest_slab(self, members: Ensemble, sums: Sums) -> Any:
        """Return where V ends: beyond it, rounding hides the data (``model/limits.py``)."""
        largest = float((sums.squares * self._slab_variance).max())
        noise = 1.0 if self.prior.of_noise else self._variances(members)
        return limits.MOST * noise / max(largest, limits.MOST / LARGEST)

    def _expected_sizes(self, members: Ensemble) -> Any:
        """Return the number of features that are expected to matter, Σβ_j, of each member, if V is of their total."""
        if not self.prior.slab_variance.of_total:
            return 1.0
        if members.beta is None:
            return self.dimension * max(float(self.prior.inclusions(self.dimension).mean()), LEAST_BETA)
        return self.dimension * members.beta

    def _slab_counts(self, members: Ensemble) -> IntArray:
        """Return how many coordinates of each member are in the slab."""
        return members.rows.counts if members.included is None else members.included.sum(axis=1)

    def _slab_sums(self, members: Ensemble) -> tuple[FloatArray, FloatArray]:
        """Return how many coordinates of each member are in the slab, and Σ(θ_j − m_j)² / r_j over them."""
        counts = self._slab_counts(members).astype(np.float64)
        if members.included is None:
            return counts, of_rows.slab_sums(members.rows.arrays, self._slab_mean, self._slab_variance)
        apart = np.where(members.included, members.theta - self._slab_mean, 0.0)
        return counts, np.einsum("mj,mj,j->m", apart, apart, 1.0 / self._slab_variance)

    def _spike_sums(self, members: Ensemble, rng: Generator) -> FloatArray:
        """Return Σ θ_j² / W_j over the coordinates of each member in the spike, where θ_j has the variance σ²W_j.

        W_j is τ² for a Gaussian spike. For a Laplace spike it is drawn given θ_j and σ, so that σ² given W is inverse
        gamma: with W, the joint law of θ, σ² and the data is the same.
        """
        included = members.inside
        apart = np.where(included, 0.0, members.theta)
        squares = apart * apart
        if self._kind == GAUSSIAN:
            return np.asarray(squares.sum(axis=1) / self._width)
        outside, variances = ~included, self._variances(members)[:, np.newaxis]
        widths = np.broadcast_to(self._widths(members)[:, np.newaxis], apart.shape)
        absolute = spike_variances(rng, apart[outside], widths[outside])  # σ²W
        squares[outside] /= absolute
        return np.asarray((squares * variances).sum(axis=1))

    def quadratic_forms(self, members: Ensemble, sums: Sums) -> FloatArray:
        """Return θ'X'Xθ of each member.

        Parameters
        ----------
        members : Ensemble
            The members.
        sums : Sums
            The data.

        Returns
        -------
        array of shape (M,)
        """
        if members.included is None:
            return np.asarray(of_rows.quadratic_forms(members.rows.arrays, sums.gram))
        return np.asarray(np.einsum("mj,mj->m", members.theta @ sums.gram, members.theta))

    def inclusion(self, members: Ensemble, weights: FloatArray) -> FloatArray:
        """Return P(γ_j = 1 | θ_j, β, V, σ²), averaged over the members.

        Parameters
        ----------
        members : Ensemble
            The members.
        weights : array of shape (M,)
            Their weights, which sum to one.

        Returns
        -------
        array of shape (d,)
            Inclusion probabilities.
        """
        if members.included is None:
            certain = np.isposinf(self._log_odds)
            return np.where(certain, 1.0, np.minimum(members.rows.of_columns(weights), 1.0))
        given = members.beta, members.slab_variances, self._variances(members)
        return np.asarray(weights @ self.prior.inclusion_given(members.theta, *given))

    def _scales(self, members: Ensemble) -> FloatArray:
        """Return the factor on the slab's variance of each member."""
        scales = np.ones(len(members)) if members.slab_variances is None else members.slab_variances
        return scales * self._variances(members) if self.prior.of_noise else scales

    def _widths(self, members: Ensemble) -> FloatArray:
        """Return the variance of a Gaussian spike, or the scale of a Laplace spike, of each member."""
        if not self.prior.of_noise or self._kind == POINT_MASS:
            return np.full(len(members), self._width)
        variances = self._variances(members)
        return self._width * (variances if self._kind == GAUSSIAN else np.sqrt(variances))

    def _variances(self, members: Ensemble) -> FloatArray:
        """Return the noise variance of each member."""
        return self._noise_of(members.noise_variances, len(members))

    def _noise_of(self, learnt: FloatArray | None, size: int) -> FloatArray:
        return np.broadcast_to(np.asarray(self.noise if learnt is None else learnt, dtype=np.float64), size)

    def _shared_log_odds(self, members: Ensemble) -> FloatArray:
        """Return the log odds that each member adds for all coordinates, those of its own β."""
        return np.zeros(len(members)) if members.beta is None else logit(members.beta)

    def _precisions(self, members: Ensemble) -> FloatArray:
        return 1.0 / self._variances(members)


def logit(probability: FloatArray) -> FloatArray:
    """Return log(p / (1 − p)), ±inf where p is 0 or 1 (``scipy.special`` has it, and takes long to import)."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probability) - np.log1p(-probability))


def _power_of_two(values: Any) -> Any:
    """Return the power of two next to each positive number."""
    return np.exp2(np.round(np.log2(values)))


def spike_variances(rng: Generator, theta: FloatArray, scales: FloatArray) -> FloatArray:
    """Return draws of W_j given θ_j, where θ_j ~ N(0, W_j) and W_j is exponential, so that θ_j is Laplace.

    Parameters
    ----------
    rng : Generator
        Source of randomness.
    theta : array of shape (N,)
        Coefficients in the spike.
    scales : array of shape (N,)
        Scale b of each Laplace density; W has the mean 2b².

    Returns
    -------
    array of shape (N,)
        Variances.

    References
    ----------
    Park and Casella (2008), *The Bayesian Lasso*: 1/W is inverse Gaussian with mean 1/(b|θ|) and shape 1/b².
    """
    size = np.maximum(np.abs(theta), 1e-100)
    inverse = rng.wald(1.0 / (scales * size), scales**-2.0)
    return np.asarray(1.0 / np.maximum(inverse, 1e-100))  # near θ = 0 rounding may give zero
