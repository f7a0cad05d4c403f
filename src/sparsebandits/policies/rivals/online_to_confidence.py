"""Optimism over the confidence set that a sparse online forecaster gives: online-to-confidence-set conversion.

Abbasi-Yadkori, Pál and Szepesvári (2012); Lattimore and Szepesvári, *Bandit Algorithms*, ch. 23 (Eq. 23.8 to 23.11).
A forecaster predicts Ŷ_s before it uses the reward Y_s = ⟨A_s, θ*⟩ + noise. Let L_t(θ) = Σ (Y_s − ⟨A_s, θ⟩)². If its
regret ρ_t(θ*) = Σ (Y_s − Ŷ_s)² − L_t(θ*) is at most B_t for all t, the noise is σ-subgaussian and ‖θ*‖ ≤ M, then with
probability 1 − δ, for all t at once,

    ‖θ*‖² + Σ (Ŷ_s − ⟨A_s, θ*⟩)² ≤ M² + β_t,   β_t = 1 + 2B_t + 32σ² log((σ√8 + √(1 + B_t)) / δ).

That is the ellipsoid ‖θ − θ̂_t‖² ≤ M² + β_t − ‖θ̂_t‖² − Σ (Ŷ_s − ⟨A_s, θ̂_t⟩)², in the norm of V_t = I + Σ A_s A_s',
around the ridge fit θ̂_t to the *predictions*. The action with the largest ⟨a, θ⟩ over it is played.

The forecaster is exponential weights under a sparsity prior π: the posterior mean of a spike-and-slab engine that
knows σ², which weighs θ by exp(−L_t(θ) / 2σ²). SeqSEW (Gerchinovitz 2013) clips predictions and has the slower rate
1 / 8b² for |Y_s| ≤ b; noise has no such b. A bound without either follows from the evidence m_t = ∫ exp(−L_t / 2σ²) dπ:
for every distribution q, −log m_t ≤ E_q L_t / 2σ² + KL(q, π) (Donsker and Varadhan; Kakade and Ng 2004 for Gaussian
regression). With G = Σ A_s A_s', slab N(μ, D) and q a Gaussian around θ* with covariance (D⁻¹ + G/σ²)⁻¹ on the support
S of θ*, zero elsewhere:

    −2σ² log m_t ≤ L_t(θ*) + C(S),   C(S) = σ² (2 log(1/π(S)) + log det(I + D_S G_S / σ²) + ‖θ* − μ‖² in D_S⁻¹),
    ρ_t(θ*) ≤ B_t = Σ (Y_s − Ŷ_s)² + 2σ² log m_t + max over |S| ≤ s of C(S).

It holds on every path, whatever the rewards. Assumed are ‖θ*‖₀ ≤ s, ‖θ*‖ ≤ M, and an exact evidence: enumeration has
it, particles estimate it. log det is at most the sum over G's diagonal (Hadamard), so the maximum is a sort. The
first two terms of B_t are the forecaster's squared loss beyond its mix loss, which is observed, and small.

Rewards may come late. The forecaster predicts when a reward is told, in the order of telling; the theorem holds if
that order does not depend on rewards that have not been told.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import betaln

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_between,
    check_choice,
    check_count,
    check_number,
    check_positive,
    shown,
)
from sparsebandits.model.priors import (
    BetaInclusion,
    GaussianPrior,
    InverseGammaNoise,
    InverseGammaSlab,
    PointMass,
    SpikeSlab,
)
from sparsebandits.policies.action_variances import ActionVariances
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Choice, Reasons
from sparsebandits.policies.policy import Policy
from sparsebandits.policies.sparse import EXPECTED_FEATURES, sparse_posterior
from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.posteriors.enumeration import Enumeration
from sparsebandits.posteriors.particles import Particles
from sparsebandits.randomness import Seed

FORECASTERS = ("particles", "enumeration")  # the engines that know the evidence
REGRETS = ("theory", "realised")


def conversion(regret: float, noise_variance: float, delta: float) -> float:
    """Return β_t for a regret of at most B_t.

    >>> round(conversion(0.0, 1.0, 0.05), 1)
    139.8
    """
    inside = math.sqrt(8.0 * noise_variance) + math.sqrt(1.0 + regret)
    return 1.0 + 2.0 * regret + 32.0 * noise_variance * math.log(inside / delta)


@dataclass(frozen=True, eq=False)
class Complexity:
    """The largest C(S) over supports of at most s coordinates, as a function of the diagonal of G.

    Coordinates that the prior always includes do not count towards s; those that it never includes are zero.
    """

    noise_variance: float  # σ²
    snr: FloatArray  # (d,): slab variance over noise variance
    free: NDArray[np.bool_]  # (d,): included with a probability between 0 and 1
    forced: NDArray[np.bool_]  # (d,): always included
    coordinate: FloatArray  # of each free coordinate that is included, in 2 log(1/π(S))
    support: FloatArray  # (s + 1,): the rest of 2 log(1/π(S)), for each size of S, and ‖θ* − μ‖² at most

    @classmethod
    def of(cls, prior: SpikeSlab, dimension: int, noise_variance: float, bound: float, sparsity: int) -> "Complexity":
        """Gather what does not depend on data."""
        mean, variance = prior.slab(dimension)
        beta = prior.inclusions(dimension)
        free, forced = (beta > 0) & (beta < 1), beta == 1
        size = np.arange(min(sparsity, int(free.sum())) + 1)
        if isinstance(prior.inclusion, BetaInclusion):
            a, b = prior.inclusion.a, prior.inclusion.b
            coordinate = np.zeros(int(free.sum()))
            support = np.asarray(-2.0 * (betaln(a + size, b + dimension - size) - betaln(a, b)))
        else:
            coordinate = 2.0 * (np.log1p(-beta[free]) - np.log(beta[free]))
            support = np.full(len(size), -2.0 * float(np.log1p(-beta[free]).sum()))
        furthest = bound + float(np.linalg.norm(mean[beta > 0]))  # ‖θ* − μ‖ on any support
        far = furthest**2 / float(np.min(variance[beta > 0], initial=np.inf))
        return cls(noise_variance, variance / noise_variance, free, forced, coordinate, support + far)

    def largest(self, diagonal: FloatArray) -> float:
        """Return max C(S), where ``diagonal`` is that of G, shape ``(d,)``."""
        volume = np.log1p(self.snr * diagonal)
        price = np.sort(volume[self.free] + self.coordinate)[::-1]
        dearest = np.concatenate(([0.0], np.cumsum(price)))[: len(self.support)]
        return self.noise_variance * float((self.support + dearest).max() + volume[self.forced].sum())


class OptimismOverForecasts:
    """The rule: a forecaster, and the ellipsoid around the ridge fit to its forecasts."""

    def __init__(
        self,
        posterior: Particles | Enumeration,
        delta: float,
        bound: float,
        sparsity: int,
        regret: str | float,
        scale: float,
    ) -> None:
        self.posterior = posterior  # the forecaster
        self.delta, self.bound, self.sparsity, self.regret, self.scale = delta, bound, sparsity, regret, scale
        self.complexity = Complexity.of(posterior.prior, posterior.dimension, posterior.noise_variance, bound, sparsity)
        self.fit = Conjugate(GaussianPrior(1.0), posterior.dimension, 1.0)  # θ̂ and V⁻¹
        self.variances = ActionVariances(self.fit)
        self.loss = 0.0  # Σ (Y − Ŷ)²
        self.misfit = 0.0  # ‖θ̂‖² + Σ (Ŷ − ⟨A, θ̂⟩)²

    def choose(self, actions: ActionSet, rng: Generator) -> Choice:
        """Play the action with the largest ⟨a, θ⟩ in the confidence set; the lower row wins a tie."""
        coefficients, regret = self.fit.mean(), self.regret_bound()
        radius = self.radius(regret)
        estimate = actions.features @ coefficients
        width = radius * np.sqrt(self.variances.of(actions.features))
        index = estimate + width
        action = int(index.argmax())
        columns = {"index": index, "estimate": estimate, "width": width}
        notes = {"radius": radius, "regret of the forecaster": regret}
        return Choice(action, 1.0, Reasons.top(action, index, columns, actions.features[action] * coefficients, notes))

    def learn(self, features: FloatArray, rewards: FloatArray) -> None:
        """Forecast each reward, in order, before it is used."""
        for row, reward in zip(features, rewards.tolist(), strict=True):
            forecast = float(row @ self.posterior.mean())
            self.loss += (reward - forecast) ** 2
            x = row[np.newaxis]
            # The least of ‖θ‖² + Σ (Ŷ − ⟨A, θ⟩)² grows by this (Azoury and Warmuth 2001): no difference of large sums.
            self.misfit += (forecast - float(row @ self.fit.mean())) ** 2 / (1.0 + float(self.fit.variances(x)[0]))
            self.variances.absorb(x, np.array([forecast]))
            self.posterior.absorb(x, np.array([reward]))

    def radius(self, regret: float) -> float:
        """Return the radius of the ellipsoid, times the scale, if the forecaster's regret is at most ``regret``."""
        beta = conversion(regret, self.posterior.noise_variance, self.delta)
        return self.scale * math.sqrt(max(self.bound**2 + beta - self.misfit, 0.0))  # an empty set is its centre

    def regret_bound(self) -> float:
        """Return B_t, at least zero."""
        if not isinstance(self.regret, str):
            return self.regret
        evidence = self.posterior.evidence
        if self.regret == "realised":  # against what the forecaster would predict now
            theta = self.posterior.mean()
            hindsight = evidence.square - float(2.0 * evidence.moment @ theta - theta @ evidence.gram @ theta)
            return max(self.loss - hindsight, 0.0)
        noise = self.posterior.noise_variance
        log_evidence = self.posterior.log_evidence + 0.5 * evidence.count * math.log(2.0 * math.pi * noise)
        return max(self.loss + 2.0 * noise * log_evidence + self.complexity.largest(np.diag(evidence.gram)), 0.0)

    def state(self) -> dict[str, Any]:
        """Return forecaster, fit and sums."""
        return {
            "posterior": self.posterior.state(),
            "fit": self.fit.state(),
            "watched": self.variances.state(),
            "loss": self.loss,
            "misfit": self.misfit,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        self.posterior.restore(state["posterior"])
        self.fit.restore(state["fit"])
        self.variances.restore(state["watched"])
        self.loss, self.misfit = float(state["loss"]), float(state["misfit"])


class OnlineToConfidence(Policy):
    """Optimism over the confidence set of a sparse online forecaster.

    Parameters
    ----------
    actions : array or DataFrame ``(K, d)``, one row an action
    prior : a :class:`SpikeSlab`, of the forecaster; by default inclusion s / d and slab variance M² / s
    noise_variance : of a reward around its mean: a number, or one number an action
    engine : "particles", or "enumeration" (small d)
    n_draws : of the engine
    delta : the set misses θ* with at most this probability
    bound : M, with ‖θ*‖ ≤ M
    sparsity : s, with ‖θ*‖₀ ≤ s; by default what the prior expects, rounded up, or without a prior at most five
    regret : B_t: "theory" is the bound derived above; "realised" is the loss beyond that of the forecaster's present
        estimate, a heuristic; a number is taken as given
    scale : factor on the radius; 1 is the theorem, less is tuning
    engine_options : further arguments of the engine
    seed : of the engine; the policy itself makes no random choice

    >>> policy = OnlineToConfidence(np.eye(3), seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        prior: SpikeSlab | None = None,
        noise_variance: object = 1.0,
        engine: str = "particles",
        n_draws: int = 10_000,
        delta: float = 0.05,
        bound: float = 1.0,
        sparsity: int | None = None,
        regret: str | float = "theory",
        scale: float = 1.0,
        engine_options: Mapping[str, Any] | None = None,
        seed: Seed = None,
    ) -> None:
        available = ActionSet.of(actions)
        dimension = available.dimension
        size, few = check_positive("bound", bound), None if sparsity is None else check_count("sparsity", sparsity)
        if few is not None and few > dimension:
            raise ArgumentValueError("sparsity", f"at most the {dimension} features", f"{few}")
        if prior is None:
            few = max(1, min(int(EXPECTED_FEATURES), dimension // 2)) if few is None else few
            prior = SpikeSlab(few / dimension, size**2 / few)
        if noise_variance is None or isinstance(noise_variance, InverseGammaNoise):
            raise ArgumentTypeError("noise_variance", "a number or one an action", shown(noise_variance))
        available, posterior, arguments = sparse_posterior(
            available,
            prior,
            noise_variance,
            check_choice("engine", engine, FORECASTERS),
            engine_options,
            n_draws,
            seed,
        )
        if few is None:
            inclusion = prior.inclusions(dimension)
            few = max(1, math.ceil(inclusion[inclusion < 1].sum() - 1e-9))  # 40 times 0.1 is 4, whatever rounding says
        rule = OptimismOverForecasts(
            posterior,  # type: ignore[arg-type]
            check_between("delta", delta, 1e-300, 1.0),
            size,
            few,
            _checked_regret(regret, prior),
            check_positive("scale", scale),
        )
        if isinstance(posterior, Enumeration) and few > posterior.max_size < dimension and rule.regret == "theory":
            raise ArgumentValueError("sparsity", f"at most the engine's max_size, {posterior.max_size}", f"{few}")
        names = ("delta", "bound", "sparsity", "regret", "scale")
        super().__init__(available, rule, arguments | {name: getattr(rule, name) for name in names}, seed)
        self.posterior = posterior


def _checked_regret(regret: object, prior: SpikeSlab) -> str | float:
    if not isinstance(regret, str):
        number = check_number("regret", regret)
        if number < 0:
            raise ArgumentValueError("regret", "a number of at least zero", repr(number))
        return number
    known = check_choice("regret", regret, REGRETS)
    if known == "theory" and (
        isinstance(prior.slab_variance, InverseGammaSlab) or not isinstance(prior.spike, PointMass)
    ):
        raise ArgumentValueError(
            "prior", "a known slab_variance and a point-mass spike where regret='theory'", shown(prior)
        )
    return known
