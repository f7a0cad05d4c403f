"""The exact posterior under a spike-and-slab prior: every model, or every model up to a size.

Given which coordinates are in the slab (the model γ), θ is Gaussian and the evidence of the model is closed form, so
the posterior is a mixture over models (George and McCulloch 1997). Samplers are tested against this
engine, and it can be used as such for small d.

For a model with prior means m and variances D of its coordinates (a point-mass spike drops the others, a Gaussian spike
gives them mean 0 and its variance), with P = X'X/σ² + D⁻¹ and b = X'y/σ² + D⁻¹m:

    log p(y | γ) = const − ½ log det D − ½ log det P + ½ b'P⁻¹b − ½ m'D⁻¹m.

If the prior is in units of the noise, D is in multiples of σ². A Beta prior on the inclusion integrates out in closed
form; an inverse-gamma prior on the noise is integrated by quadrature over log σ².

For clicks and counts nothing is closed form given the model: ``quadrature.py`` integrates over its coefficients, for up
to four features.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Any, ClassVar

import numpy as np
import scipy  # scipy.special, which is slow to import, is loaded on first use
from numpy.random import Generator

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, FloatArray, IntArray, check_count, shown
from sparsebandits.layouts import LEAST_POSITIVE, Absent, Layout, Maybe, Reals
from sparsebandits.model.families import Linked
from sparsebandits.model.limits import check_prior
from sparsebandits.model.priors import (
    BetaInclusion,
    GaussianSpike,
    InverseGammaNoise,
    PointMass,
    SpikeSlab,
)
from sparsebandits.model.rewards import Rewards, rewards_of
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.engine import TIED, Engine
from sparsebandits.posteriors.quadrature import Model, Nodes, quadrature
from sparsebandits.randomness import Seed, copied

CHUNK = 20_000
"""Number of models whose matrices are in memory at a time."""

MOST_MODELS = 2**20
"""Number of models that are enumerated by default: all of them at d = 20."""

NEGLIGIBLE = 1e-13
"""Total posterior mass of the least likely models, which count in the evidence but not in moments and draws."""

NODES = 48
"""Number of nodes of the quadrature over log σ²."""

MOST_FEATURES = 4
"""Largest number of features for clicks and counts."""


@dataclass(frozen=True, eq=False)
class Models:
    """Models of equal size.

    Attributes
    ----------
    included : int array of shape (N, k)
        Coordinates in the slab, one model per row.
    log_weight : array of shape (N,)
        log p(y, γ) of each model, up to a constant.
    noise_variance : float
        Noise variance that it is given.
    """

    included: IntArray
    log_weight: FloatArray
    noise_variance: float


@dataclass(frozen=True, eq=False)
class Component:
    """Models of equal size, with the Gaussian posterior of θ in each.

    Attributes
    ----------
    included : int array of shape (N, k)
        Coordinates in the slab, one model per row.
    members : int array of shape (N, r)
        Coordinates that are not exactly zero.
    weight : array of shape (N,)
        Posterior probability of each model; sums to one over all components of a mixture.
    mean : array of shape (N, r)
        Posterior mean of the members.
    root : array of shape (N, r, r)
        Square root of their posterior covariance, which is root root'.
    noise_variance : float
        Noise variance that it is given.
    """

    included: IntArray
    members: IntArray
    weight: FloatArray
    mean: FloatArray
    root: FloatArray
    noise_variance: float


@dataclass(frozen=True, eq=False)
class Mixture:
    """The posterior as a mixture of Gaussians.

    Attributes
    ----------
    dimension : int
        Number of features d.
    parts : list of Component
        Its models, but for those of negligible mass.
    max_size : int
        Largest size of a model.
    log_evidence : float
        log p(y), summed over the models that were enumerated.
    left_out : float
        Upper bound on the posterior mass of other models.
    """

    dimension: int
    parts: list[Component]
    max_size: int
    log_evidence: float
    left_out: float

    def mean(self) -> FloatArray:
        """Return E[θ], shape ``(d,)``."""
        mean = np.zeros(self.dimension)
        for part in self.parts:
            np.add.at(mean, part.members, part.weight[:, np.newaxis] * part.mean)
        return mean

    def second_moment(self) -> FloatArray:
        """Return E[θθ'], shape ``(d, d)``."""
        moment = np.zeros((self.dimension, self.dimension))
        for part in self.parts:
            block = part.root @ part.root.transpose(0, 2, 1) + part.mean[:, :, np.newaxis] * part.mean[:, np.newaxis]
            rows, columns = part.members[:, :, np.newaxis], part.members[:, np.newaxis]
            np.add.at(moment, (rows, columns), part.weight[:, np.newaxis, np.newaxis] * block)
        return moment

    def inclusions(self) -> FloatArray:
        """Return P(γ_j = 1), shape ``(d,)``."""
        inclusion = np.zeros(self.dimension)
        for part in self.parts:
            np.add.at(inclusion, part.included, part.weight[:, np.newaxis])
        return inclusion

    def sample(self, rng: Generator, size: int) -> tuple[FloatArray, FloatArray, None]:
        """Return independent draws of θ, and the noise variance of each; there is no intercept."""
        weights = np.concatenate([part.weight for part in self.parts])
        chosen = np.sort(rng.choice(len(weights), size=size, p=weights / weights.sum()))
        theta, noise = np.zeros((size, self.dimension)), np.empty(size)
        start = 0
        for part in self.parts:
            rows = np.flatnonzero((chosen >= start) & (chosen < start + len(part.weight)))
            which = chosen[rows] - start
            normals = rng.standard_normal(part.mean[which].shape)
            values = part.mean[which] + np.einsum("nij,nj->ni", part.root[which], normals)
            theta[rows[:, np.newaxis], part.members[which]] = values
            noise[rows] = part.noise_variance
            start += len(part.weight)
        order = rng.permutation(size)
        return theta[order], noise[order], None

    def extent(self) -> str:
        """Say over what the posterior was computed."""
        models = sum(len(part.weight) for part in self.parts)
        return f"over models of up to {self.max_size} features, of which {models} carry the mass"


class Enumeration(Engine):
    """Exact posterior of θ for a :class:`SpikeSlab` prior with a point-mass or Gaussian spike.

    Parameters
    ----------
    prior : SpikeSlab
        Prior of θ, with a known slab variance and a point-mass or Gaussian spike.
    dimension : int
        Number of features d; at most 4 for clicks and counts.
    noise_variance : float or InverseGammaNoise, default=1.0
        Short form of ``rewards=Gaussian(variance=noise_variance)``.
    n_draws : int, default=10000
        Number of draws that :meth:`draws` gives.
    seed : int, SeedSequence or None
        Seed of those draws.
    max_size : int, optional
        Largest number of included coordinates. By default d up to d = 20 (14 if the noise is learnt, which takes a
        quadrature); for larger d the largest size with no more models than that. Models beyond it have posterior mass
        of at most :attr:`left_out`, which is certified, not estimated. For clicks and counts all models are enumerated.
    rewards : Gaussian, Bernoulli or Poisson, optional
        How a reward arises from θ; by default Gaussian noise of variance 1.

    Examples
    --------
    >>> posterior = Enumeration(SpikeSlab(inclusion=0.5, slab_variance=1.0), dimension=2, noise_variance=1.0, seed=0)
    >>> posterior.update([1.0, 0.0], 3.0)
    >>> posterior.inclusion().round(3), posterior.mean().round(3), posterior.left_out
    (array([0.87, 0.5 ]), array([1.305, 0.   ]), 0.0)
    """

    picks_from_draws = False

    saved: ClassVar[Layout] = {
        **Engine.saved,
        "drawn": Maybe(
            {
                "theta": Reals("n_draws", "dimension"),
                "noise": Reals("n_draws", low=LEAST_POSITIVE),
                "intercepts": Absent(Reals("n_draws")),
            }
        ),
    }

    def __init__(
        self,
        prior: SpikeSlab,
        dimension: int,
        noise_variance: float | InverseGammaNoise | None = None,
        n_draws: int = 10_000,
        seed: Seed = None,
        max_size: int | None = None,
        rewards: Rewards | None = None,
    ) -> None:
        if not isinstance(prior, SpikeSlab) or not isinstance(prior.spike, PointMass | GaussianSpike):
            raise ArgumentTypeError(
                "prior", "a SpikeSlab with a point-mass or Gaussian spike for Enumeration", shown(prior)
            )
        prior.refuse_learnt_slab("Enumeration")
        super().__init__(
            prior, dimension, rewards_of(rewards, noise_variance, default=1.0), n_draws, seed, least_draws=1
        )
        check_prior(prior, self.dimension, self.noise)
        if isinstance(self.rewards, Linked):
            if dimension > MOST_FEATURES:
                expected = f"at most {MOST_FEATURES} for clicks and counts, which take quadrature; or take Gibbs"
                raise ArgumentValueError("dimension", expected, shown(dimension))
            if max_size is not None:
                raise ArgumentValueError("max_size", "none for clicks and counts", shown(max_size))
        self._slab_mean, self._slab_variance = prior.slab(dimension)
        beta = prior.inclusions(dimension)
        self._forced = np.flatnonzero(beta == 1)
        self._free = np.flatnonzero((beta > 0) & (beta < 1))
        low, high = prior.size_range(dimension)
        self._fewest, self._most = low - len(self._forced), high - len(self._forced)  # of the free coordinates
        self._log_in_range = 0.0  # log P(size in range)
        if prior.size is not None:
            self._log_in_range = float(
                scipy.special.logsumexp(prior.log_unconditioned_sizes(dimension)[low : high + 1])
            )
        self.max_size = self._affordable_size() if max_size is None else check_count("max_size", max_size, least=0)
        if self.max_size < self._fewest:
            if max_size is None:
                raise ArgumentValueError("prior", f"a size with at most {MOST_MODELS} models", shown(prior.size))
            raise ArgumentValueError("max_size", f"at least {self._fewest}, given the prior's size", str(self.max_size))
        if self.max_size < len(self._free) and isinstance(prior.spike, GaussianSpike):
            raise ArgumentValueError(
                "max_size", f"{len(self._free)}, since a Gaussian spike needs every model", str(self.max_size)
            )
        if prior.hierarchy is not None and self.max_size < self._most:
            raise ArgumentValueError(
                "max_size", f"{self._most}, since a hierarchy needs every model", str(self.max_size)
            )
        self._log_mean_factor = 0.0  # log E h(γ) without the hierarchy
        if prior.hierarchy is not None:
            logs = [self._log_prior(included) for included in self._models()]
            self._log_mean_factor = float(scipy.special.logsumexp(np.concatenate(logs)))
        self._mixture: Mixture | Nodes | None = None
        self._drawn: Draws | None = None  # until the next observation
        self._noise_drawn: FloatArray = np.empty(0)  # the noise variances of those draws

    def condition(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None, counts: FloatArray | None = None
    ) -> None:
        """Condition on a batch that has been checked; observations weigh 1 by default."""
        self.check_limits(x, y, weights)
        self.evidence.absorb(x, y, weights, counts)
        self._mixture = self._drawn = None

    @property
    def noise_variance(self) -> float:
        """Noise variance of a reward of weight one, or its posterior mean if it is learnt."""
        if self.rewards.known:
            return float(self.rewards.variance)
        return float(sum(variance * weight for variance, weight in self._noise_weights()))

    @property
    def log_evidence(self) -> float:
        """Log evidence log p(y), summed over the models that were enumerated."""
        return self._solve().log_evidence

    @property
    def left_out(self) -> float:
        """Certified upper bound on the posterior mass of the models that were not enumerated."""
        return self._solve().left_out

    @property
    def nodes(self) -> Nodes:
        """Nodes of the quadrature for clicks and counts, a weighted sum over which is any posterior mean.

        Raises
        ------
        TypeError
            If rewards are Gaussian, and nothing is integrated numerically.
        """
        found = self._solve()
        if not isinstance(found, Nodes):
            raise TypeError("nodes: there are none for Gaussian rewards, whose models are integrated in closed form")
        return found

    def mean(self) -> FloatArray:
        """Return E[θ], shape ``(d,)``."""
        return self._solve().mean()

    def second_moment(self) -> FloatArray:
        """Return E[θθ'], shape ``(d, d)``."""
        return self._solve().second_moment()

    def inclusions(self) -> FloatArray:
        """Return P(γ_j = 1), shape ``(d,)``."""
        return self._solve().inclusions()

    def health(self) -> Health:
        """Report how far the numbers can be trusted."""
        reach = self._solve().extent()
        if self.left_out > 0.05:
            return Health(
                False,
                f"NOT certified: computed {reach}, but larger ones could have up to {self.left_out:.2g} of it; "
                f"take a larger max_size, or Gibbs",
            )
        return Health(True, f"exact {reach}; at most {self.left_out:.1e} of it is left out")

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return ``size`` independent draws of θ, shape ``(size, d)``."""
        return self._solve().sample(rng, size)[0]

    def draws(self) -> Draws:
        """Return equally weighted independent draws."""
        draws = self._drawn
        if draws is None:
            rng = copied(self._rng)
            theta, noise, intercepts = self._solve().sample(rng, self.n_draws)
            draws = Draws.trusted(theta, np.full(self.n_draws, 1.0 / self.n_draws), intercepts)
            vars(self).update(_rng=rng, _drawn=draws, _noise_drawn=noise)  # in one step
        return draws

    def learnt(self) -> Mapping[str, FloatArray]:
        """Return draws of the noise variance, of shape ``(M,)``, if it is learnt."""
        if self.rewards.known:
            return {}
        self.draws()
        return {"noise_variance": self._noise_drawn}

    def covariance_times(self, x: FloatArray) -> FloatArray:
        """Return Cov[θ] x, exactly."""
        mean = self.mean()
        return np.asarray((self.second_moment() - np.outer(mean, mean)) @ x)

    # Implementation

    def _affordable_size(self) -> int:
        most = MOST_MODELS if self.rewards.known else MOST_MODELS // NODES
        total, size = 0, self._fewest - 1
        while size < self._most and total + comb(len(self._free), size + 1) <= most:
            size += 1
            total += comb(len(self._free), size)
        return size

    def _solve(self) -> Mixture | Nodes:
        if self._mixture is None:
            try:
                self._mixture = (
                    self._integrated(self.rewards) if isinstance(self.rewards, Linked) else self._enumerated()
                )
            except np.linalg.LinAlgError:
                raise ArithmeticError(TIED) from None
        return self._mixture

    def _integrated(self, family: Linked) -> Nodes:
        """Return the posterior of clicks or counts."""
        models = []
        for chunk in self._models():
            members, mean, variance = self._prior_of(chunk, 1.0)
            for i, log_prior in enumerate(self._log_prior(chunk)):
                inside, some = (np.isin(np.arange(self.dimension), one[i]) for one in (chunk, members))
                models.append(Model(inside, float(log_prior), some, mean[i], variance[i]))
        return quadrature(family, self.evidence, models)

    def _enumerated(self) -> Mixture:
        """Return the posterior of Gaussian rewards."""
        nodes = self._nodes()
        tables = [table for variance, log_weight in nodes for table in self._tables(variance, log_weight)]
        log_evidence = float(scipy.special.logsumexp(np.concatenate([table.log_weight for table in tables])))
        beyond = (
            np.exp(self._log_bound_beyond(variance) + log_weight - log_evidence) for variance, log_weight in nodes
        )
        parts = list(self._components(tables, log_evidence))
        return Mixture(self.dimension, parts, self.max_size, log_evidence, float(min(sum(beyond), 1.0)))

    def _models(self) -> Iterator[IntArray]:
        """Yield all models in chunks of equal size, each row the coordinates in the slab, ascending."""
        for size in range(self._fewest, min(self.max_size, self._most) + 1):
            subsets = combinations(self._free.tolist(), size)
            while chunk := list(islice(subsets, CHUNK)):
                free = np.array(chunk, dtype=np.intp).reshape(len(chunk), size)
                forced = np.broadcast_to(self._forced, (len(chunk), len(self._forced)))
                yield np.sort(np.concatenate((forced, free), axis=1), axis=1)

    def _tables(self, noise_variance: float, log_offset: float) -> Iterator[Models]:
        for included in self._models():
            log_weight = self._log_prior(included) + self._log_likelihood(included, noise_variance) + log_offset
            yield Models(included, log_weight, noise_variance)

    def _log_prior(self, included: IntArray) -> FloatArray:
        if self.prior.hierarchy is None:
            return self._log_plain_prior(included)
        count, size = included.shape
        rows = np.repeat(np.arange(count), size)
        factors = self.prior.hierarchy.of_entries(rows, included.ravel(), count)
        return np.asarray(self._log_plain_prior(included) + factors - self._log_mean_factor)

    def _log_plain_prior(self, included: IntArray) -> FloatArray:
        size = included.shape[1]
        inclusion = self.prior.inclusion
        if isinstance(inclusion, BetaInclusion):
            betaln = scipy.special.betaln
            value = betaln(inclusion.a + size, inclusion.b + self.dimension - size) - betaln(inclusion.a, inclusion.b)
            return np.full(len(included), value - self._log_in_range)
        beta = self.prior.inclusions(self.dimension)
        log_odds = np.zeros(self.dimension)
        log_odds[self._free] = np.log(beta[self._free]) - np.log1p(-beta[self._free])
        none = np.log1p(-beta[self._free]).sum() - self._log_in_range
        return np.asarray(log_odds[included].sum(axis=1) + none)

    def _prior_of(self, included: IntArray, noise_variance: float) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return members of each model, and their prior mean and variance."""
        unit = noise_variance if self.prior.of_noise else 1.0
        if not isinstance(self.prior.spike, GaussianSpike):
            members = included
            mean, variance = self._slab_mean[members], self._slab_variance[members]
        else:
            count = len(included)
            members = np.broadcast_to(np.arange(self.dimension), (count, self.dimension))
            mean, variance = (
                np.zeros((count, self.dimension)),
                np.full((count, self.dimension), self.prior.spike.variance),
            )
            rows = np.arange(count)[:, np.newaxis]
            mean[rows, included], variance[rows, included] = self._slab_mean[included], self._slab_variance[included]
        return members, mean, variance * unit

    def _system(self, included: IntArray, noise_variance: float) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """Return members, prior mean, prior variance and posterior precision of each model."""
        members, mean, variance = self._prior_of(included, noise_variance)
        precision = self.evidence.gram[members[:, :, np.newaxis], members[:, np.newaxis]] / noise_variance
        np.einsum("nii->ni", precision)[:] += 1.0 / variance
        return members, mean, variance, precision

    def _log_likelihood(self, included: IntArray, noise_variance: float) -> FloatArray:
        members, mean, variance, precision = self._system(included, noise_variance)
        count, size = members.shape
        shift = self.evidence.moment[members] / noise_variance + mean / variance  # b
        # Cholesky of [[P, b], [b', c]] has L⁻¹b as its last row; c only has to be large enough.
        augmented = np.empty((count, size + 1, size + 1))
        augmented[:, :size, :size] = precision
        augmented[:, size, :size] = augmented[:, :size, size] = shift
        augmented[:, size, size] = 1.0 + 2.0 * (shift * shift * variance).sum(axis=1)
        factor = np.linalg.cholesky(augmented)
        explained = (factor[:, size, :size] ** 2).sum(axis=1)
        log_det = 2.0 * np.log(np.einsum("nii->ni", factor)[:, :size]).sum(axis=1) + np.log(variance).sum(axis=1)
        constant = self._log_constant(noise_variance) + self.evidence.square / noise_variance
        return np.asarray(0.5 * (explained - log_det - (mean * mean / variance).sum(axis=1) - constant))

    def _log_constant(self, noise_variance: float) -> float:
        """Return Σ log(2πσ² / w)."""
        return float(self.evidence.count * np.log(2.0 * np.pi * noise_variance) - self.evidence.log_weight)

    def _components(self, tables: list[Models], log_evidence: float) -> Iterator[Component]:
        """Yield what moments and draws need, for the models that carry all but a negligible mass."""
        log_weights = np.concatenate([table.log_weight for table in tables]) - log_evidence
        ascending = np.sort(np.exp(log_weights))
        dropped = int(np.searchsorted(np.cumsum(ascending), NEGLIGIBLE))
        least = ascending[min(dropped, len(ascending) - 1)]
        kept_mass = ascending[dropped:].sum()
        for table in tables:
            weight = np.exp(table.log_weight - log_evidence)
            rows = np.flatnonzero(weight >= least)
            if len(rows) == 0:
                continue
            members, mean, variance, precision = self._system(table.included[rows], table.noise_variance)
            shift = self.evidence.moment[members] / table.noise_variance + mean / variance
            inverse = np.linalg.inv(np.linalg.cholesky(precision)) if members.shape[1] else precision
            root = inverse.transpose(0, 2, 1)  # L^{-T}
            posterior_mean = np.einsum("nij,nkj,nk->ni", root, root, shift)
            yield Component(
                table.included[rows], members, weight[rows] / kept_mass, posterior_mean, root, table.noise_variance
            )

    def _log_bound_beyond(self, noise_variance: float) -> float:
        """Return an upper bound on the log of Σ p(y, γ) over the models that are too large to enumerate.

        For a model of size s, p(y | γ) is at most the likelihood at the least-squares fit of all coordinates, times
        Occam's factor det(I + D½ G D½ / σ²)^-½, whose determinant is at least the product of the s smallest
        eigenvalues of the full matrix (Cauchy's interlacing).
        """
        if self.max_size >= self._most:
            return float("-inf")
        active = np.concatenate((self._forced, self._free))
        gram = self.evidence.gram[np.ix_(active, active)]
        scale = np.sqrt(self._slab_variance[active] * (noise_variance if self.prior.of_noise else 1.0))
        eigenvalues = np.linalg.eigvalsh(np.eye(len(active)) + scale[:, np.newaxis] * gram * scale / noise_variance)
        log_occam = -0.5 * np.cumsum(np.log(np.maximum(np.sort(eigenvalues), 1.0)))
        moment = self.evidence.moment[active]
        residual = self.evidence.square - float(moment @ np.linalg.pinv(gram, hermitian=True) @ moment)
        residual = max(residual - 1e-9 * self.evidence.square, 0.0)
        log_fit = -0.5 * (self._log_constant(noise_variance) + residual / noise_variance)
        sizes = np.arange(self.max_size + 1, self._most + 1) + len(self._forced)
        log_prior = self.prior.log_size_probabilities(self.dimension)[sizes]
        return float(scipy.special.logsumexp(log_prior + log_occam[sizes - 1] + log_fit))

    def _nodes(self) -> list[tuple[float, float]]:
        """Return the noise variances to integrate over, with the log of prior density times quadrature weight."""
        noise = self.noise
        if not isinstance(noise, InverseGammaNoise):
            return [(noise, 0.0)]
        shape, scale = noise.shape, noise.scale

        def log_prior(u: FloatArray) -> FloatArray:  # of u = log σ²
            return np.asarray(shape * np.log(scale) - scipy.special.gammaln(shape) - shape * u - scale * np.exp(-u))

        centre = np.log((scale + self.evidence.square / 2) / (shape + self.evidence.count / 2))
        # Below the mode of a perfect fit, scale / (shape + n/2), the integrand falls like exp(−scale/σ²).
        low, high = np.log(scale / (shape + self.evidence.count / 2)) - 7.0, centre + 80.0
        for _ in range(4):  # zoom in on where the integrand is not negligible
            u = np.linspace(low, high, NODES)
            heights = np.array([self._log_height(float(v)) for v in np.exp(u)]) + log_prior(u)
            inside = np.flatnonzero(heights > heights.max() - 36.0)
            low, high = u[max(inside[0] - 1, 0)], u[min(inside[-1] + 1, NODES - 1)]
        u = np.linspace(low, high, 2 * NODES)
        return list(zip(np.exp(u).tolist(), (log_prior(u) + np.log(u[1] - u[0])).tolist(), strict=True))

    def _log_height(self, noise_variance: float) -> float:
        return float(
            scipy.special.logsumexp(np.concatenate([table.log_weight for table in self._tables(noise_variance, 0.0)]))
        )

    def _noise_weights(self) -> list[tuple[float, float]]:
        nodes = self._nodes()
        heights = np.array([self._log_height(variance) + log_weight for variance, log_weight in nodes])
        weights = np.exp(heights - scipy.special.logsumexp(heights))
        return [(variance, float(weight)) for (variance, _), weight in zip(nodes, weights, strict=True)]

    def state(self) -> dict[str, Any]:
        """Return everything that continuing bit for bit needs."""
        drawn = None
        if self._drawn is not None:
            intercepts = {} if self._drawn.intercepts is None else {"intercepts": self._drawn.intercepts}
            drawn = {"theta": self._drawn.theta, "noise": self._noise_drawn, **intercepts}
        return {**super().state(), "drawn": drawn}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        drawn = self._found(Enumeration.saved, state)["drawn"]
        super().restore(state)
        self.check_saved_limits()
        self._mixture = self._drawn = None
        if drawn is not None:
            self.check_intercepts(drawn)
            weights = np.full(self.n_draws, 1.0 / self.n_draws)
            self._drawn = Draws.trusted(drawn["theta"], weights, drawn.get("intercepts"))
            self._noise_drawn = drawn["noise"]
