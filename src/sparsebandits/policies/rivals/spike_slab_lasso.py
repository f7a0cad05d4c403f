"""The spike-and-slab Lasso: the posterior mode under a Laplace spike and a Laplace slab, by coordinate ascent.

Ročková and George (2018), *The Spike-and-Slab LASSO*. Each θ_j has the density λ₀/2 exp(−λ₀|θ_j|) in the spike and
λ₁/2 exp(−λ₁|θ_j|) in the slab, λ₁ < λ₀, with weight w of the slab. The mode minimises ‖y − Xθ‖²/(2σ²) − log π(θ), whose
penalty adapts to each coefficient: with z_j = x_j'(y − Σ_{k≠j} x_k θ_k), p* the probability of the slab given θ_j,

    p*(θ_j) = 1 / (1 + (1 − w)/w · λ₀/λ₁ · exp(−|θ_j|(λ₀ − λ₁))),   λ*(θ_j) = p* λ₁ + (1 − p*) λ₀,
    θ_j ← (|z_j| − σ² λ*(θ_j))₊ sign(z_j) / ‖x_j‖²   if |z_j| > Δ_j, else 0,
    Δ_j = √(2 ‖x_j‖² σ² log(1/p*(0))) + σ² λ₁   if (λ*(0) − λ₁)² > 2 ‖x_j‖²/σ² · log(1/p*(0)), else σ² λ*(0).

The first Δ is for a coordinate with two modes (g(0) > 0 in the authors' program). Zero is the larger of them up to the
minimum over t > 0 of ‖x_j‖² t/2 + σ² (log π(0) − log π(t))/t, where log π(0) − log π(t) = λ₁ t + log p*(t) − log p*(0);
as p*(t) ≤ 1, that is at most Δ_j, and close to it. Above Δ, a step is the maximum for the tangent of the penalty, which
is concave in |θ_j|, so it raises the posterior.

With w ~ Beta(a, b), w is replaced by its mean given θ, about (a + number of θ_j ≠ 0) / (a + b + d): then each
coefficient's penalty depends on how many others are not zero.

λ₀ increases along a ladder from λ₁, where it is the Lasso, each mode being the start of the next (dynamic posterior
exploration); the last one is the estimate. The authors' program updates w after every ten coordinates, this does so
after each sweep, which has the same fixed points.
"""

from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import (
    ArgumentValueError,
    FloatArray,
    check_between,
    check_count,
    check_positive,
)
from sparsebandits.model.priors import BetaInclusion
from sparsebandits.policies.rivals.emvs import PosteriorMode, check_data
from sparsebandits.policies.rivals.lasso import Estimate

SLAB_PENALTY, RUNGS = 1.0, 100
"""λ₁ and number of λ₀ of the authors' program."""

TOLERANCE, SWEEPS = 1e-7, 500
"""Change of a coefficient at which a mode is found, as a share of the largest one, and most sweeps for each λ₀."""


@dataclass(frozen=True)
class SpikeSlabLasso:
    """Posterior mode under a Laplace spike and slab (Ročková and George 2018), as an estimator.

    Parameters
    ----------
    noise_variance : float, default=1.0
        Noise variance σ² of a reward.
    slab_penalty : float, default=1.0
        λ₁, in one over the unit of θ.
    spike_penalty : float, optional
        Largest λ₀, at least λ₁; by default λ₁ times the number of rewards, as in the authors' program.
    inclusion : float or BetaInclusion, optional
        Weight w of the slab, or its prior; by default Beta(1, d), as in the authors' program.
    rungs : int, default=100
        Number of values of λ₀, equally spaced from λ₁ to the largest.

    Examples
    --------
    >>> x = np.random.default_rng(0).standard_normal((60, 5))
    >>> mode = SpikeSlabLasso(noise_variance=0.1).fit(x, x @ np.array([1.0, 0.0, 0.0, -1.0, 0.0]))
    >>> mode.coefficients.round(2) + 0.0
    array([ 1.,  0.,  0., -1.,  0.])
    """

    noise_variance: float = 1.0
    slab_penalty: float = SLAB_PENALTY
    spike_penalty: float | None = None
    inclusion: float | BetaInclusion | None = None
    rungs: int = RUNGS

    def __post_init__(self) -> None:
        check_positive("noise_variance", self.noise_variance)
        slab = check_positive("slab_penalty", self.slab_penalty)
        if self.spike_penalty is not None and check_positive("spike_penalty", self.spike_penalty) < slab:
            raise ArgumentValueError("spike_penalty", f"at least slab_penalty ({slab:g})", f"{self.spike_penalty:g}")
        if self.inclusion is not None and not isinstance(self.inclusion, BetaInclusion):
            check_between("inclusion", self.inclusion, 1e-300, 1.0)
        check_count("rungs", self.rungs)

    def __call__(self, x: FloatArray, y: FloatArray, start: FloatArray) -> Estimate:
        """Return the mode; it is a function of the data, whatever ``start`` is."""
        coefficients = self._mode(x, y).coefficients
        return Estimate(coefficients, coefficients, float(self.ladder(len(y))[-1]))

    def ladder(self, count: int) -> FloatArray:
        """Return the spike penalties λ₀, increasing from λ₁, for a number of rewards."""
        last = self.slab_penalty * max(count, 1) if self.spike_penalty is None else self.spike_penalty
        return np.append(np.linspace(self.slab_penalty, last, self.rungs)[:-1], float(last))

    def fit(self, x: object, y: object) -> PosteriorMode:
        """Return the mode at the end of the ladder.

        Parameters
        ----------
        x : array of shape (n, d)
            Features; there may be no rows.
        y : array of shape (n,)
            Rewards.

        Returns
        -------
        PosteriorMode
            The mode.

        Raises
        ------
        ArgumentError
            If they are not finite numbers, or their shapes do not fit.
        """
        return self._mode(*check_data(x, y))

    def _mode(self, x: FloatArray, y: FloatArray) -> PosteriorMode:
        """Return the mode for data that have been checked."""
        from sparsebandits.posteriors.kernels.spike_slab_lasso import explore, penalty_at  # compiled code

        dimension, spikes = x.shape[1], self.ladder(len(y))
        prior = BetaInclusion(1.0, float(dimension)) if self.inclusion is None else self.inclusion
        a, b = (prior.a, prior.b) if isinstance(prior, BetaInclusion) else (0.0, 0.0)
        start = prior.mean if isinstance(prior, BetaInclusion) else float(prior)
        theta = np.zeros(dimension)
        weight = explore(
            np.ascontiguousarray(x.T @ x),
            np.ascontiguousarray(x.T @ y),
            float(self.noise_variance),
            float(self.slab_penalty),
            spikes,
            float(a),
            float(b),
            start,
            theta,
            np.zeros(dimension),
            TOLERANCE,
            SWEEPS,
        )
        slab, spike = float(self.slab_penalty), float(spikes[-1])
        if spike == slab:
            inclusion = np.full(dimension, weight)
        else:
            penalties = np.array([penalty_at(size, weight, slab, spike) for size in np.abs(theta)])
            inclusion = (spike - penalties) / (spike - slab)
        return PosteriorMode(theta, inclusion, float(weight), float(self.noise_variance))
