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

It holds on every path, whatever the rewards. Assumed are ‖θ*‖₀ ≤ s, ‖θ*‖ ≤ M, and an exact evidence: enumeration
computes it, particles estimate it. log det is at most the sum over G's diagonal (Hadamard), so the maximum is a sort.
The first two terms of B_t are the forecaster's squared loss beyond its mix loss, which is observed, and small.

Other forecasters serve too, such as the modes of EMVS and of the spike-and-slab Lasso (``forecaster=``). They have no
evidence, and so no bound on their regret: B_t is a number of the user's, or the realised regret, which is a heuristic.

Rewards may come late. The forecaster predicts a reward when it arrives, in the order of arrival; the theorem holds if
that order does not depend on rewards that have not arrived yet.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

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
from sparsebandits.layouts import Anything, Layout, Number, read
from sparsebandits.model.priors import (
    EXPECTED_FEATURES,
    BetaInclusion,
    GaussianPrior,
    InverseGammaNoise,
    InverseGammaSlab,
    PointMass,
    SpikeSlab,
)
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.linear import with_rewards
from sparsebandits.policies.policy import Policy, Recorder
from sparsebandits.policies.rivals.forecasts import EstimateForecaster
from sparsebandits.policies.rivals.oracles import Regressor, offline_oracle
from sparsebandits.policies.sparse import sparse_engine
from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.posteriors.enumeration import Enumeration
from sparsebandits.posteriors.particles import Particles
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.optima import pick
from sparsebandits.rules.rule import Rule
from sparsebandits.tables import Rows

FORECASTERS = ("particles", "enumeration")  # the engines that give the evidence
REGRETS = ("theory", "realised")


def conversion(regret: float, noise_variance: float, delta: float) -> float:
    """Return β_t for a regret of at most B_t.

    Parameters
    ----------
    regret : float
        Bound B_t on the regret of the forecaster.
    noise_variance : float
        σ².
    delta : float
        Probability δ that the set misses θ*.

    Returns
    -------
    float
        β_t.

    Examples
    --------
    >>> round(conversion(0.0, 1.0, 0.05), 1)
    139.8
    """
    inside = math.sqrt(8.0 * noise_variance) + math.sqrt(1.0 + regret)
    return 1.0 + 2.0 * regret + 32.0 * noise_variance * math.log(inside / delta)


@dataclass(frozen=True, eq=False)
class Complexity:
    """The largest C(S) over supports of at most s coordinates, as a function of the diagonal of G.

    Coordinates that the prior always includes do not count towards s; those that it never includes are zero.

    Attributes
    ----------
    noise_variance : float
        σ².
    snr : array of shape (d,)
        Slab variance over noise variance.
    free : bool array of shape (d,)
        Coordinates that are included with a probability between 0 and 1.
    forced : bool array of shape (d,)
        Coordinates that are always included.
    coordinate : array
        Contribution of each free coordinate to 2 log(1/π(S)) if it is included.
    support : array of shape (s + 1,)
        For each size of S, the remaining terms of 2 log(1/π(S)) plus a bound on ‖θ* − μ‖² in D_S⁻¹.
    """

    noise_variance: float
    snr: FloatArray
    free: NDArray[np.bool_]
    forced: NDArray[np.bool_]
    coordinate: FloatArray
    support: FloatArray

    @classmethod
    def of(cls, prior: SpikeSlab, dimension: int, noise_variance: float, bound: float, sparsity: int) -> "Complexity":
        """Compute what does not depend on data.

        Parameters
        ----------
        prior : SpikeSlab
            Prior π of the forecaster.
        dimension : int
            Number of features d.
        noise_variance : float
            σ².
        bound : float
            M, with ‖θ*‖ ≤ M.
        sparsity : int
            s, with ‖θ*‖₀ ≤ s.

        Returns
        -------
        Complexity
            The terms of C(S).
        """
        mean, variance = prior.given_noise(noise_variance).slab(dimension)
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
        """Return the largest C(S).

        Parameters
        ----------
        diagonal : array of shape (d,)
            Diagonal of G.

        Returns
        -------
        float
            max C(S) over |S| ≤ s.
        """
        volume = np.log1p(self.snr * diagonal)
        price = np.sort(volume[self.free] + self.coordinate)[::-1]
        dearest = np.concatenate(([0.0], np.cumsum(price)))[: len(self.support)]
        return self.noise_variance * float((self.support + dearest).max() + volume[self.forced].sum())


class ForecastEllipsoid:
    """Learner: a forecaster, and the ellipsoid around the ridge fit to its forecasts.

    Parameters
    ----------
    forecaster : Particles, Enumeration or EstimateForecaster
        What predicts each reward before it learns from it; engines give the evidence, which regret="theory" needs.
    delta : float
        Largest probability that the set misses θ*.
    bound : float
        M, with ‖θ*‖ ≤ M.
    sparsity : int
        s, with ‖θ*‖₀ ≤ s.
    regret : "theory", "realised" or float
        B_t, or how it is computed.
    """

    saved: ClassVar[Layout] = {
        "forecaster": Anything(),
        "fit": Conjugate.saved,
        "loss": Number(low=0.0),
        "misfit": Number(low=0.0),
    }
    learners = ("forecaster", "fit")

    def __init__(
        self,
        forecaster: Particles | Enumeration | EstimateForecaster,
        delta: float,
        bound: float,
        sparsity: int,
        regret: str | float,
    ) -> None:
        if not isinstance(forecaster, Particles | Enumeration | EstimateForecaster):
            raise ArgumentTypeError("forecaster", "Particles, Enumeration or EstimateForecaster", shown(forecaster))
        self.forecaster = forecaster
        self.row = forecaster.dimension  # columns of what ``absorb`` takes
        self.dimension, self.prior, self.rewards = forecaster.dimension, forecaster.prior, forecaster.rewards
        self.delta, self.bound = check_between("delta", delta, 1e-300, 1.0), check_positive("bound", bound)
        self.sparsity, self.regret = check_count("sparsity", sparsity), _checked_regret(regret, forecaster.prior)
        self.complexity = (
            None
            if forecaster.prior is None
            else Complexity.of(forecaster.prior, forecaster.dimension, forecaster.noise_variance, bound, sparsity)
        )
        self.fit = Conjugate(GaussianPrior(1.0), forecaster.dimension, 1.0, seed=0)  # θ̂ and V⁻¹; never drawn from
        self.loss = 0.0  # Σ (Y − Ŷ)²
        self.misfit = 0.0  # ‖θ̂‖² + Σ (Ŷ − ⟨A, θ̂⟩)²

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Forecast each reward, in order, before learning from it."""
        if weights is not None:  # the theorem has one noise variance: scaled by √w, all rewards have it
            x, y = x * np.sqrt(weights)[:, np.newaxis], y * np.sqrt(weights)
        for row, reward in zip(x, y.tolist(), strict=True):
            forecast = float(row @ self.forecaster.mean())
            self.loss += (reward - forecast) ** 2
            one = row[np.newaxis]
            # The least of ‖θ‖² + Σ (Ŷ − ⟨A, θ⟩)² grows by this (Azoury and Warmuth 2001): no difference of large sums.
            self.misfit += (forecast - float(row @ self.fit.mean())) ** 2 / (1.0 + float(self.fit.variances(one)[0]))
            self.fit.absorb(one, np.array([forecast]))
            self.forecaster.absorb(one, np.array([reward]))

    def inclusion(self) -> FloatArray:
        """Return the forecaster's P(γ_j = 1), shape ``(d,)``."""
        return self.forecaster.inclusions()

    def summary(self) -> Rows:
        """Return the forecaster's summary of each coefficient."""
        return self.forecaster.summary()

    def radius(self, regret: float) -> float:
        """Return the radius of the ellipsoid.

        Parameters
        ----------
        regret : float
            Bound B_t on the regret of the forecaster.

        Returns
        -------
        float
            The radius; zero if the set is empty.
        """
        beta = conversion(regret, self.forecaster.noise_variance, self.delta)
        return math.sqrt(max(self.bound**2 + beta - self.misfit, 0.0))  # an empty set is replaced by its centre

    def regret_bound(self) -> float:
        """Return B_t, at least zero."""
        if not isinstance(self.regret, str):
            return self.regret
        evidence = self.forecaster.evidence
        if self.regret == "realised":  # against what the forecaster would predict now
            theta = self.forecaster.mean()
            hindsight = evidence.square - float(2.0 * evidence.moment @ theta - theta @ evidence.gram @ theta)
            return float(max(self.loss - hindsight, 0.0))
        assert not isinstance(self.forecaster, EstimateForecaster)  # for which regret="theory" is refused
        assert self.complexity is not None
        noise = self.forecaster.noise_variance
        log_evidence = self.forecaster.log_evidence + 0.5 * evidence.count * math.log(2.0 * math.pi * noise)
        if math.isnan(log_evidence):  # particles that were redrawn have no estimate; it is at most zero
            log_evidence = 0.0
        penalty = self.complexity.largest(np.diag(evidence.gram))
        return float(max(self.loss + 2.0 * noise * log_evidence + penalty, 0.0))

    def state(self) -> dict[str, Any]:
        """Return forecaster, fit and sums."""
        return {
            "forecaster": self.forecaster.state(),
            "fit": self.fit.state(),
            "loss": self.loss,
            "misfit": self.misfit,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        found = read(self.saved, state, more=True)
        self.forecaster.restore(found["forecaster"])
        self.fit.restore(found["fit"])
        self.loss, self.misfit = found["loss"], found["misfit"]


@dataclass(frozen=True)
class OptimismOverForecasts(Rule):
    """Play the action with the largest ⟨a, θ⟩ over the confidence set; actions that tie are equally likely.

    Parameters
    ----------
    scale : float, default=1.0
        Factor on the radius; 1 is the theorem's, smaller values are tuning.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        check_positive("scale", self.scale)

    def check(self, posterior: Any) -> None:
        """Require a :class:`ForecastEllipsoid`."""
        if not isinstance(posterior, ForecastEllipsoid):
            raise ArgumentTypeError("posterior", "a ForecastEllipsoid for OptimismOverForecasts", shown(posterior))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Play the action with the largest index."""
        learner, features = beliefs.posterior, beliefs.features
        coefficients, regret = learner.fit.mean(), learner.regret_bound()
        radius = self.scale * learner.radius(regret)
        estimate = features @ coefficients
        width = radius * np.sqrt(learner.fit.variances(features))
        index = estimate + width
        action, probability = pick(index, rng)
        columns = {"index": index, "estimate": estimate, "width": width}
        notes = {"radius": radius, "regret of the forecaster": regret}
        return Choice(action, probability, Reasons.top(action, index, columns, features[action] * coefficients, notes))


class OnlineToConfidence(Policy):
    """Optimism over the confidence set of a sparse online forecaster.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    prior : SpikeSlab, optional
        Prior of the engine; by default inclusion s / d and slab variance M² / s.
    noise_variance : float or array of shape (K,), default=1.0
        Noise variance of a reward, or one per action.
    engine : {"particles", "enumeration"}, default="particles"
        Engine of the forecaster; "enumeration" is for small d.
    n_draws : int, default=10000
        Number of draws of the engine.
    delta : float, default=0.05
        Largest probability that the set misses θ*.
    bound : float, default=1.0
        M, with ‖θ*‖ ≤ M.
    sparsity : int, optional
        s, with ‖θ*‖₀ ≤ s; by default the number that the prior expects, rounded up; at most five without a prior.
    regret : "theory", "realised" or float, default="theory"
        B_t: "theory" is the bound derived in the module's docstring; "realised" is the loss in excess of that of the
        forecaster's current estimate, a heuristic; a number is used as it is.
    scale : float, default=1.0
        Factor on the radius; 1 is the theorem's, smaller values are tuning.
    engine_options : mapping, optional
        Further arguments of the engine.
    forecaster : {"ridge", "lasso", "spike-and-slab", "emvs", "spike-and-slab lasso"} or Estimator, optional
        An estimate that forecasts in place of an engine, fitted again after every reward. It takes no ``prior`` and no
        ``engine_options``, makes no use of ``engine``, ``n_draws`` and ``sparsity``, and needs ``regret="realised"`` or
        a number.
    seed : int, SeedSequence or None
        Seed of the engine; the policy itself makes no random choice.
    journal : Recorder, optional
        Where decisions and rewards are recorded.

    Examples
    --------
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
        forecaster: Regressor | None = None,
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        available = ActionSet.of(actions)
        dimension = available.dimension
        size, few = check_positive("bound", bound), None if sparsity is None else check_count("sparsity", sparsity)
        if few is not None and few > dimension:
            raise ArgumentValueError("sparsity", f"at most the {dimension} features", f"{few}")
        if noise_variance is None or isinstance(noise_variance, InverseGammaNoise):
            raise ArgumentTypeError("noise_variance", "a number or one per action", shown(noise_variance))
        available, rewards = with_rewards(available, None, noise_variance, 1.0, intercept=False)
        name = check_choice("engine", engine, FORECASTERS)
        draws = check_count("n_draws", n_draws)
        level = check_between("delta", delta, 1e-300, 1.0)
        if forecaster is not None:
            if prior is not None or engine_options is not None:
                raise ArgumentTypeError("forecaster", "None where prior or engine_options are given", shown(forecaster))
            variance = float(rewards.variance)
            estimator = offline_oracle(forecaster, available, variance, "forecaster")
            estimates = EstimateForecaster(dimension, estimator, variance)
            learner = ForecastEllipsoid(estimates, level, size, few or 1, _checked_regret(regret, None))
        else:
            if prior is None:
                few = max(1, min(int(EXPECTED_FEATURES), dimension // 2)) if few is None else few
                prior = SpikeSlab(few / dimension, size**2 / few)
            posterior = sparse_engine(prior, dimension, rewards, name, engine_options, draws, seed)
            assert isinstance(posterior, Particles | Enumeration)
            if few is None:
                inclusion = prior.inclusions(dimension)
                few = max(
                    1, math.ceil(inclusion[inclusion < 1].sum() - 1e-9)
                )  # 40 times 0.1 is 4, whatever rounding says
            learner = ForecastEllipsoid(posterior, level, size, few, _checked_regret(regret, prior))
            if isinstance(posterior, Enumeration) and few > posterior.max_size < dimension and regret == "theory":
                raise ArgumentValueError("sparsity", f"at most the engine's max_size, {posterior.max_size}", f"{few}")
        rule = OptimismOverForecasts(check_positive("scale", scale))
        super().__init__(available, learner, rule, seed, journal)


def _checked_regret(regret: object, prior: SpikeSlab | None) -> str | float:
    if not isinstance(regret, str):
        number = check_number("regret", regret)
        if number < 0:
            raise ArgumentValueError("regret", "a number of at least zero", repr(number))
        return number
    known = check_choice("regret", regret, REGRETS)
    if known == "theory" and prior is None:
        raise ArgumentValueError("regret", "'realised' or a number for a forecaster without evidence", repr(known))
    if (
        prior is not None
        and known == "theory"
        and (
            isinstance(prior.slab_variance, InverseGammaSlab)
            or not isinstance(prior.spike, PointMass)
            or prior.size is not None
        )
    ):
        raise ArgumentValueError(
            "prior", "a known slab_variance, a point-mass spike and no size where regret='theory'", shown(prior)
        )
    return known
