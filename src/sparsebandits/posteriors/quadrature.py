"""The posterior of clicks and counts by quadrature, for a handful of features: the truth that samplers are tested with.

Given the model γ, the coefficients b = (θ_γ, α) have a prior N(m, D) and a log-concave likelihood. In units of the
prior, the integrand falls at least as fast from its mode b̂ as the prior does from its mean,

    log f(b) ≤ log f(b̂) − ½ (b − b̂)' D⁻¹ (b − b̂),

so a box around b̂ holds all but a negligible part of the mass for sure. Its axes are the eigenvectors of the Hessian at
b̂ in units of the prior. It is fitted to where the integrand is not negligible, and integrated over by the trapezoidal
rule, which converges exponentially fast for smooth integrands that vanish at the ends (Trefethen and
Weideman 2014, *The exponentially convergent trapezoidal rule*). The number of nodes grows until nothing changes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy  # scipy.special, which is slow to import, is loaded on first use
from numpy.random import Generator
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.model.counts import Counts
from sparsebandits.model.families import FARTHEST, Linked

DEPTH = 26.0
"""Log of how far below its maximum the integrand is negligible."""

RADIUS = (2.0 * DEPTH) ** 0.5
"""Distance from the mode in units of the prior beyond which it is negligible for sure."""

COARSE = 13
"""Number of nodes per axis by which the box is fitted to where the integrand is not negligible."""

FITS = 8
"""How often the box is fitted; its ends may move out again if they had moved in too far."""

FEWEST = 17
"""Number of nodes per axis at first."""

GAUSSIAN = 27
"""Number of nodes along an axis that the data say nothing about: the integrand is Gaussian there, and the error of the
trapezoidal rule is below 1e-12."""

GROWTH = 1.35
"""Factor on the number of nodes per axis."""

CHANGE = 1e-5
"""Largest change of log evidence, means and second moments, in units of the prior, at which the number of nodes is
enough. As the rule converges exponentially, the error is then about CHANGE ** GROWTH, 2e-7."""

MOST = 2**25
"""Largest number of nodes; beyond it the integral is given as it is."""

MOST_STEPS = 200
"""Largest number of Newton steps to the mode; a dozen is usual."""

BLOCK = 2**16
"""Number of nodes at which the integrand is computed at a time."""


@dataclass(frozen=True, eq=False)
class Model:
    """A model γ and the prior of its coefficients.

    Attributes
    ----------
    included : bool array of shape (d,)
        γ.
    log_prior : float
        Log of its prior probability.
    members : bool array of shape (d,)
        Coordinates of θ that are not exactly zero.
    mean, variance : array of shape (r,)
        Prior mean and variance of these coordinates.
    """

    included: NDArray[np.bool_]
    log_prior: float
    members: NDArray[np.bool_]
    mean: FloatArray
    variance: FloatArray


@dataclass(frozen=True, eq=False)
class Nodes:
    """Points with weights whose sums are integrals over the posterior.

    Attributes
    ----------
    theta : array of shape (N, d)
        Coefficients θ.
    intercepts : array of shape (N,) or None
        Intercepts α, if rewards have one.
    included : bool array of shape (N, d)
        γ.
    weights : array of shape (N,)
        Weights, which sum to one.
    log_evidence : float
        log p(y).
    """

    left_out: ClassVar[float] = 0.0  # models that were not enumerated

    theta: FloatArray
    intercepts: FloatArray | None
    included: NDArray[np.bool_]
    weights: FloatArray
    log_evidence: float

    def mean(self) -> FloatArray:
        """Return E[θ], shape ``(d,)``."""
        return self.weights @ self.theta

    def second_moment(self) -> FloatArray:
        """Return E[θθ'], shape ``(d, d)``."""
        return np.asarray((self.theta.T * self.weights) @ self.theta)

    def inclusions(self) -> FloatArray:
        """Return P(γ_j = 1), shape ``(d,)``."""
        return self.weights @ self.included

    def etas(self, x: FloatArray) -> FloatArray:
        """Return η = α + ⟨x_k, θ⟩ of each node for each row of ``x``, shape ``(N, K)``."""
        found = self.theta @ x.T
        return found if self.intercepts is None else found + self.intercepts[:, np.newaxis]

    def sample(self, rng: Generator, size: int) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Return nodes that are chosen by weight: θ, the noise variance (which is one) and α of each."""
        picked = rng.choice(len(self.weights), size=size, p=self.weights)
        return self.theta[picked], np.ones(size), None if self.intercepts is None else self.intercepts[picked]

    def extent(self) -> str:
        """Say over what the posterior was computed."""
        return f"over all models, by quadrature with {len(self.weights)} nodes"


def quadrature(family: Linked, counts: Counts, models: Iterable[Model]) -> Nodes:
    """Return the posterior of θ, γ and α as nodes with weights.

    Parameters
    ----------
    family : Linked
        Family of the rewards.
    counts : Counts
        The data.
    models : iterable of Model
        All models, whose prior probabilities sum to one.

    Returns
    -------
    Nodes
        Points and weights.

    Examples
    --------
    >>> from sparsebandits.model.families import Bernoulli
    >>> counts, one = Counts(1), np.ones(1)
    >>> counts.absorb(np.ones((4, 1)), np.array([1.0, 1.0, 1.0, 0.0]))
    >>> nodes = quadrature(Bernoulli(), counts, [Model(one > 0, 0.0, one > 0, 0.0 * one, one)])
    >>> round(nodes.log_evidence, 4), nodes.mean().round(4)
    (-2.8392, array([0.5335]))
    """
    logs, thetas, intercepts, included = [], [], [], []
    for model in models:
        mean, variance, x = model.mean, model.variance, counts.rows[:, model.members]
        if family.intercept:
            mean, variance = np.append(mean, 0.0), np.append(variance, family.intercept_variance)
            x = np.column_stack((x, np.ones(len(x))))
        points, log_weights = _integrated(_Integrand(family, counts, x, mean, variance))
        theta = np.zeros((len(points), counts.dimension))
        theta[:, model.members] = points[:, : int(model.members.sum())]
        thetas.append(theta)
        intercepts.append(points[:, -1:])
        included.append(np.broadcast_to(model.included, theta.shape))
        logs.append(model.log_prior + log_weights)
    found = np.concatenate(logs)
    total = float(scipy.special.logsumexp(found))
    weights = np.exp(found - total)
    return Nodes(
        np.concatenate(thetas),
        np.concatenate(intercepts)[:, 0] if family.intercept else None,
        np.concatenate(included),
        weights / weights.sum(),
        total + counts.log_base,
    )


class _Integrand:
    """Likelihood times prior of some coefficients b, as a function of z = D^-½ (b − m)."""

    def __init__(self, family: Linked, counts: Counts, x: FloatArray, mean: FloatArray, variance: FloatArray) -> None:
        self._family, self._successes, self._trials = family, counts.successes, counts.trials
        self._mean, self._deviation = mean, np.sqrt(variance)
        self._x, self._offset = x * self._deviation, x @ mean

    def coefficients(self, z: FloatArray) -> FloatArray:
        """Return b at some points, both of shape ``(N, r)``."""
        return self._mean + self._deviation * z

    def log(self, z: FloatArray) -> FloatArray:
        """Return the log of the integrand at some points ``(N, r)``, shape ``(N,)``."""
        eta = np.clip(self._offset + z @ self._x.T, -FARTHEST, FARTHEST)
        likelihood = self._family.log_likelihood(eta, self._successes, self._trials).sum(axis=1)
        return np.asarray(likelihood - 0.5 * ((z * z).sum(axis=1) + z.shape[1] * np.log(2.0 * np.pi)))

    def mode(self) -> tuple[FloatArray, FloatArray]:
        """Return the mode, by Newton's method with steps that are halved until they lead up, and the Hessian there."""
        z, shares = np.zeros(self._x.shape[1]), np.exp2(-np.arange(60.0))[:, np.newaxis]
        for _ in range(MOST_STEPS):
            slope, drift, information = self._family.slopes(np.clip(self._offset + self._x @ z, -FARTHEST, FARTHEST))
            gradient = self._x.T @ (self._successes * slope - self._trials * drift) - z
            hessian = (self._x.T * (self._trials * information)) @ self._x + np.eye(len(z))
            step = np.linalg.solve(hessian, gradient)
            leads_up = self.log(z + shares * step) > self.log(z[np.newaxis])
            if not leads_up.any():
                break
            z = z + shares[leads_up.argmax()] * step
        return z, hessian


@dataclass(frozen=True, eq=False)
class _Box:
    """A box around the mode of an integrand, along the eigenvectors of its Hessian."""

    integrand: _Integrand
    mode: FloatArray
    vectors: FloatArray
    top: float
    low: FloatArray
    high: FloatArray

    def axes(self, counts: IntArray) -> list[FloatArray]:
        return [np.linspace(*given) for given in zip(self.low, self.high, counts, strict=True)]

    def logs(self, counts: IntArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield nodes ``(N, r)`` and the log of the integrand there, block after block."""
        axes, total = self.axes(counts), int(counts.prod())
        for start in range(0, total, BLOCK):
            places = np.unravel_index(np.arange(start, min(start + BLOCK, total)), counts)
            along = np.stack([axis[place] for axis, place in zip(axes, places, strict=True)], axis=1)
            z = self.mode + along @ self.vectors.T
            yield z, self.integrand.log(z)

    def fitted(self) -> "_Box":
        """Return the box whose ends are one node beyond the outermost ones that are not negligible, on each axis."""
        counts = np.full(len(self.mode), COARSE)
        logs = np.concatenate([logs for _, logs in self.logs(counts)]).reshape(counts)
        ends = []
        for i, axis in enumerate(self.axes(counts)):
            profile = np.moveaxis(logs, i, 0).reshape(COARSE, -1).max(axis=1)
            inside, apart = axis[profile > self.top - DEPTH], axis[1] - axis[0]
            ends.append((inside[0] - apart, inside[-1] + apart))
        low, high = np.clip(np.transpose(ends), -RADIUS, RADIUS)
        return replace(self, low=low, high=high)

    def nodes(self, counts: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return nodes that are not negligible ``(N, r)``, and the logs of what they contribute to the integral."""
        log_volume = float(np.log((self.high - self.low) / (counts - 1)).sum())
        kept = [(z[some], logs[some]) for z, logs in self.logs(counts) if (some := logs > self.top - DEPTH).any()]
        return np.concatenate([z for z, _ in kept]), np.concatenate([logs for _, logs in kept]) + log_volume


def _integrated(integrand: _Integrand) -> tuple[FloatArray, FloatArray]:
    """Return coefficients ``(N, r)`` and the logs of what they contribute to the integral ``(N,)``."""
    mode, hessian = integrand.mode()
    log_top = integrand.log(mode[np.newaxis])
    if len(mode) == 0:
        return np.empty((1, 0)), log_top
    eigenvalues, vectors = np.linalg.eigh(hessian)
    radius = np.full(len(mode), RADIUS)
    box = _Box(integrand, mode, vectors, float(log_top[0]), -radius, radius)
    for _ in range(FITS):
        box = box.fitted()
    informed = eigenvalues > 1.0 + 1e-9
    counts, moments, last = np.where(informed, FEWEST, GAUSSIAN), np.zeros(1), np.full(1, np.inf)
    while np.abs(moments - last).max() > CHANGE and counts.prod() < MOST:
        z, logs = box.nodes(counts)
        last, moments = moments, _moments(z, logs)
        counts = np.where(informed, (GROWTH * counts).astype(int), counts)
    return integrand.coefficients(z), logs


def _moments(z: FloatArray, logs: FloatArray) -> FloatArray:
    """Return log of the sum of the weights, and means and second moments, as one vector."""
    total = scipy.special.logsumexp(logs)
    weights = np.exp(logs - total)
    return np.concatenate(([total], weights @ z, ((z.T * weights) @ z).ravel()))
