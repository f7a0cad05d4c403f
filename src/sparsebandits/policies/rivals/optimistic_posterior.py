"""The optimistic posterior, which Feel-Good Thompson sampling and SOIDS share.

After t rounds with a fixed set of actions it is

    Q⁺(θ) ∝ prior(θ) · likelihood(θ)^η · exp(λ_t · t · min(b, max_a ⟨a, θ⟩) / σ)

(Zhang 2021; Neu, Papini and Schwartz 2024; Schwartz, Flynn and Neu 2025). Here it is a reweighting of the posterior's
draws. λ is in units of the noise (the papers have σ = 1), so that the unit of rewards does not matter.

- **Rounds.** t is the number of rewards that the posterior has learnt from: in Zhang's loss a past round adds its
  likelihood and its optimism together. Decisions that await their reward count for neither;
  in a batch, those before count as rewarded, as their expected rewards are believed.
- **Changing actions.** The papers sum the maximum over each past round's own actions. A rule has no memory of those,
  so t times the maximum over the *current* actions is used: exact for a fixed set, an approximation otherwise.
- **Intercept.** The mean reward of a under θ is then ȳ + ⟨a − x̄, θ⟩ up to the error of the level, which is normal with
  a variance that does not depend on θ. Without a cap, integrating it out changes no weight, so the tilt by
  max_a ⟨a − x̄, θ⟩ is exact; with a cap the level is taken at its mean.
- **Degeneracy.** The tilt moves the posterior by several of its standard deviations if λ is large. Then few draws have
  all the weight. Their effective number, before and after, is among the notes of each decision.
- **η.** ``tempered`` divides the noise variance by η. That needs a known noise variance: if it is learnt, the learnt
  value takes up any factor on the weights, and nothing is tempered.

**Learning rate.** In what was available of the papers (docs/rivals.md) there are no constants, so they are derived
here, for σ = 1 and η = 1/4. Let C = log 1/prior(neighbourhood of θ*), Δ the expected regret and I the information gain
½ Var⟨a, θ⟩ of the played distribution, both under Q⁺. The log normaliser of Q⁺ is at most C, and by Cauchy-Schwarz with
E √(p_θ/p_θ*) = exp(−δ²/8) for means that differ by δ, each round adds at least I/8 + bias²/16 − λ (E max − max*) to it,
up to O(λ²). So the regret of t rounds is at most C/λ + Σ (Δ − I/8λ) + O(λt), and

    Δ² ≤ ρ₂ I  ⇒  C/λ + 2ρ₂λt,               least at  λ⁽²⁾ = √(C / 2ρ₂t)
    Δ³ ≤ ρ₃ I  ⇒  C/λ + (2/3)√(8ρ₃λ/3)·t,    least at  λ⁽³⁾ = (3/2) (C² / ρ₃t²)^(1/3)

At the minimum both are of the order C/λ, so the larger λ has the smaller bound: λ_t = max(λ⁽²⁾, λ⁽³⁾), which gives the
rates √(sdT) and (sT)^(2/3) of Schwartz et al. A distribution with the first ratio is that of Thompson sampling, with
ρ₂ = 2 min(d, K) (Russo and Van Roy 2016, rank argument). With the second it is Thompson sampling mixed with the best
exploratory design, with ρ₃ = 108 max|a_j|² R s / C_min for draws with s nonzero coefficients and |⟨a, θ⟩| ≤ R: two
draws differ in 2s coordinates. With a share ε of the design and V the variance of θ, Δ ≤ 2 max|a_j| √(sV) + 2Rε
and I ≥ ½ ε C_min V; take the best ε.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_between,
    check_count,
    check_number,
    check_positive,
    shown,
)
from sparsebandits.model.families import Linked
from sparsebandits.model.priors import SpikeSlab, default_prior
from sparsebandits.model.rewards import Gaussian, Rewards, rewards_of
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.rivals.estc import explored
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.particles import FEW_DRAWS
from sparsebandits.rules.beliefs import Beliefs

NO_DESIGN = 1e-12
"""C_min, in units of the largest feature, below which no design explores all features."""


@dataclass(frozen=True)
class LearningRate:
    """Time-dependent λ_t = scale · max(λ⁽²⁾, λ⁽³⁾), in units of the noise.

    Parameters
    ----------
    sparsity : float
        s, the number of coefficients that matter.
    dimension : int
        d, the number of features.
    ratio2 : float
        ρ₂, a bound on Δ²/I.
    ratio3 : float, optional
        ρ₃, a bound on Δ³/I; by default there is none, and λ_t = λ⁽²⁾.
    scale : float, default=1.0
        Factor on λ_t; 1 is the derivation's, other values are tuning.

    Examples
    --------
    >>> rate = LearningRate(sparsity=4, dimension=40, ratio2=80)
    >>> round(rate.at(1), 3), round(rate.at(100), 3)
    (0.302, 0.037)
    """

    sparsity: float
    dimension: int
    ratio2: float
    ratio3: float | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", check_count("dimension", self.dimension))
        sparsity = check_between("sparsity", self.sparsity, 1e-9, float(self.dimension))
        object.__setattr__(self, "sparsity", sparsity)
        object.__setattr__(self, "ratio2", check_positive("ratio2", self.ratio2))
        if self.ratio3 is not None:
            object.__setattr__(self, "ratio3", check_positive("ratio3", self.ratio3))
        object.__setattr__(self, "scale", check_positive("scale", self.scale))

    def complexity(self, rounds: int) -> float:
        """Return C = s log(ed/s) + (s/2) log(1 + t): which features matter, and their coefficients to within 1/√t.

        Parameters
        ----------
        rounds : int
            t.

        Returns
        -------
        float
            C, in nats.
        """
        s = self.sparsity
        return s * (1.0 + math.log(self.dimension / s)) + 0.5 * s * math.log1p(rounds)

    def at(self, rounds: int) -> float:
        """Return λ_t.

        Parameters
        ----------
        rounds : int
            t, at least 1.

        Returns
        -------
        float
            λ_t.
        """
        c = self.complexity(rounds)
        rate = math.sqrt(c / (2.0 * self.ratio2 * rounds))
        if self.ratio3 is not None:
            rate = max(rate, 1.5 * math.cbrt(c * c / (self.ratio3 * rounds**2)))
        return self.scale * rate


Rate: TypeAlias = float | LearningRate


def check_optimism(optimism: object) -> Rate:
    """Require a number of at least zero or a :class:`LearningRate`."""
    if isinstance(optimism, LearningRate):
        return optimism
    if isinstance(optimism, str | type):
        raise ArgumentTypeError("optimism", "a number or a LearningRate", shown(optimism))
    number = check_number("optimism", optimism)
    if number < 0:
        raise ArgumentValueError("optimism", "a number of at least zero", repr(number))
    return number


def check_learns_by_draws(rule: str, posterior: Any) -> None:
    """Require an engine, which counts the rewards that it has learnt from; rewards have to be linear in θ."""
    if not (hasattr(posterior, "evidence") and hasattr(posterior, "draws")):
        raise ArgumentTypeError("posterior", f"an engine, such as Particles, for {rule}", type(posterior).__name__)
    if isinstance(getattr(posterior, "rewards", None), Linked):
        raise ArgumentTypeError("rewards", f"Gaussian ones for {rule}", shown(posterior.rewards))


def rounds_of(posterior: Any) -> int:
    """Return t, the number of rewards that an engine has learnt from."""
    level = posterior.level
    return int(posterior.evidence.count) + (level is not None and level.weight > 0.0)  # the first set the level


def optimistic_values(beliefs: Beliefs, cap: float | None = None) -> FloatArray:
    """Return min(b, max_a ⟨a, θ⟩) of each draw; with an intercept, of the mean reward ȳ + ⟨a − x̄, θ⟩.

    Parameters
    ----------
    beliefs : Beliefs
        The posterior and the actions.
    cap : float, optional
        b, in units of the rewards; by default there is none.

    Returns
    -------
    array of shape (M,)
        Mean reward of the best action under each draw, or ``cap`` if that is smaller.
    """
    values = beliefs.best.optima.value
    if beliefs.level is not None and beliefs.centre is not None:
        values = values - beliefs.draws.theta @ beliefs.centre + beliefs.level.reward
    return values if cap is None else np.minimum(values, cap)


def tilted(draws: Draws, values: FloatArray, strength: float) -> Draws:
    """Return draws whose weights are multiplied by exp(strength · values).

    Parameters
    ----------
    draws : Draws
        Weighted draws of θ.
    values : array of shape (M,)
        Value of each draw.
    strength : float
        Factor on the values, at least zero.

    Returns
    -------
    Draws
        The same draws with other weights; the given ones if the strength is zero.

    Examples
    --------
    >>> draws = Draws([[0.0], [1.0]], [0.5, 0.5])
    >>> tilted(draws, draws.theta[:, 0], math.log(3.0)).weights
    array([0.25, 0.75])
    """
    if strength == 0.0:
        return draws
    with np.errstate(divide="ignore"):  # weights may have underflowed
        logs = np.log(draws.weights) + strength * (values - values.max())
    weights = np.exp(logs - logs.max())
    return Draws.trusted(draws.source, weights / weights.sum(), exact=draws.exact)


def optimistic_posterior(
    beliefs: Beliefs, optimism: Rate, cap: float | None, likelihood: float
) -> tuple[Draws, dict[str, float]]:
    """Return draws of Q⁺, and notes on the tilt.

    Parameters
    ----------
    beliefs : Beliefs
        The posterior and the actions.
    optimism : float or LearningRate
        λ, or λ_t.
    cap : float or None
        b.
    likelihood : float
        η by which the posterior is tempered: its noise variance is σ²/η.

    Returns
    -------
    draws, notes : Draws, dict
        The posterior's draws, reweighted; λ, and the effective number of draws before and after.
    """
    rounds, draws = rounds_of(beliefs.posterior), beliefs.draws
    rate = 0.0 if rounds == 0 else optimism.at(rounds) if isinstance(optimism, LearningRate) else optimism
    deviation = math.sqrt(likelihood * float(beliefs.posterior.noise_variance))  # σ
    found = tilted(draws, optimistic_values(beliefs, cap), rate * rounds / deviation)
    notes = {
        "optimism": rate,
        "effective draws": found.effective_sample_size,
        "effective draws before the tilt": draws.effective_sample_size,
    }
    return found, notes


def default_rate(
    actions: ActionSet, prior: object, intercept: bool, sparsity: float | None, bound: float | None = None
) -> LearningRate:
    """Return the learning rate of the module's docstring for a set of actions.

    Parameters
    ----------
    actions : ActionSet
        The actions.
    prior : SpikeSlab or None
        Prior of θ, whose expected number of coefficients is the default sparsity; by default that of a sparse policy.
    intercept : bool
        Whether rewards have an intercept, so that actions count relative to their mean.
    sparsity : float or None
        s, if it is given.
    bound : float, optional
        R/σ, for λ⁽³⁾; by default there is only λ⁽²⁾.

    Returns
    -------
    LearningRate
        The learning rate.
    """
    dimension = actions.dimension
    level = actions.features.mean(axis=0) if intercept else 0.0
    features = actions.sample() - level
    if sparsity is None:
        known = default_prior(features) if prior is None else prior
        expected = float(known.inclusions(dimension).sum()) if isinstance(known, SpikeSlab) else 1.0
        sparsity = min(max(expected, 1.0), float(dimension))
    few, largest = check_between("sparsity", sparsity, 1e-9, float(dimension)), float(np.abs(features).max())
    ratio3 = None
    if bound is not None and largest > 0.0:
        c_min = explored(actions, level, largest).c_min  # in units of the largest feature
        if c_min > NO_DESIGN:
            ratio3 = 108.0 * bound * few / c_min
    return LearningRate(few, dimension, 2.0 * min(dimension, len(actions)), ratio3)


def tempered(
    actions: ActionSet,
    prior: SpikeSlab | None,
    noise_variance: object,
    rewards: Rewards | None,
    intercept: bool,
    likelihood: object,
) -> tuple[SpikeSlab | None, object, Rewards | None, float]:
    """Return prior, noise variance and rewards of a posterior with the likelihood to the power η.

    Parameters
    ----------
    actions : ActionSet
        The policy's actions.
    prior : SpikeSlab or None
        The argument ``prior``.
    noise_variance : float, array of shape (K,), InverseGammaNoise or None
        The argument ``noise_variance``.
    rewards : Gaussian or None
        The argument ``rewards``.
    intercept : bool
        The argument ``intercept``.
    likelihood : float
        η.

    Returns
    -------
    prior, noise_variance, rewards, likelihood : SpikeSlab or None, object, Gaussian or None, float
        What the posterior is made with; the arguments themselves if η is 1. A prior in units of the noise stays in
        units of σ, not of σ/√η.

    Raises
    ------
    ArgumentError
        If η is not 1 and the noise variance is not one known number.
    """
    power = check_positive("likelihood", likelihood)
    if power == 1.0:
        return prior, noise_variance, rewards, power
    several = np.ndim(noise_variance) > 0 or actions.noise_variances is not None  # type: ignore[arg-type]
    known = None if several else rewards_of(rewards, noise_variance)
    if not isinstance(known, Gaussian) or not known.known:
        got = f"{power:g} with {shown(rewards if noise_variance is None else noise_variance)}"
        raise ArgumentValueError("likelihood", "1 unless there is one known noise variance", got)
    if prior is None:
        prior = default_prior(actions.sample() - (actions.features.mean(axis=0) if intercept else 0.0))
    if isinstance(prior, SpikeSlab):
        prior = prior.given_noise(known.variance)
    return prior, None, replace(known, variance=known.variance / power), power


def health_of_tilt(draws: Draws) -> Health:
    """Report how many draws a tilted posterior is worth.

    Parameters
    ----------
    draws : Draws
        The draws with their tilted weights.

    Returns
    -------
    Health
        Whether there are enough of them.
    """
    size = draws.effective_sample_size
    verdict = "good" if size >= FEW_DRAWS else "DOUBTFUL, take more draws or less optimism"
    return Health(size >= FEW_DRAWS, f"After the optimistic tilt: {verdict}: worth {size:.0f} independent draws")
