"""Regression oracles, for policies that reduce bandits to regression: ridge, Lasso, or a spike-and-slab estimate.

An *online* oracle learns reward by reward and is asked before each decision (:class:`SquareCB`). An *offline* oracle is
fitted to given data at the start of an epoch (:class:`FALCON`, :class:`ILTCB`). All of them are linear, f(a) = ⟨a, θ̂⟩.

    name                    online                                    offline
    "ridge"                 the Gaussian posterior N(0, 1/d) of θ     the same estimate in closed form
    "lasso"                 the Lasso with the universal penalty, fitted again
    "spike-and-slab"        the posterior mean of particles           the same, from all data at once
    "emvs"                  the posterior mode under a Gaussian spike and slab, fitted again
    "spike-and-slab lasso"  the posterior mode under a Laplace spike and slab, fitted again
"""

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, FloatArray, check_choice, check_count, check_positive, shown
from sparsebandits.model.priors import BetaInclusion, GaussianPrior, GaussianSpike, SpikeSlab, default_prior
from sparsebandits.model.rewards import Gaussian
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.rivals.emvs import EMVS, SLAB, SPIKE
from sparsebandits.policies.rivals.lasso import Estimate, Estimator, LassoEstimator, least_squares
from sparsebandits.policies.rivals.lasso_greedy import PlainLasso
from sparsebandits.policies.rivals.spike_slab_lasso import SpikeSlabLasso
from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.posteriors.particles import Particles
from sparsebandits.randomness import ENGINE_STREAM, Seed, child

REGRESSORS = ("ridge", "lasso", "spike-and-slab", "emvs", "spike-and-slab lasso")
Regressor: TypeAlias = str | Estimator
"""Name of an oracle, or an estimator that is a frozen dataclass."""

DRAWS = 1000
"""Number of particles of the spike-and-slab oracle."""


@dataclass(frozen=True)
class Ridge:
    """Ridge regression: the minimiser of ‖y − Xθ‖² + penalty · ‖θ‖².

    Hoerl and Kennard (1970).

    Parameters
    ----------
    penalty : float
        The penalty; σ² over the prior variance makes it a posterior mean.

    Examples
    --------
    >>> Ridge(1.0)(np.eye(2), np.array([2.0, 4.0]), np.zeros(2)).coefficients
    array([1., 2.])
    """

    penalty: float

    def __post_init__(self) -> None:
        check_positive("penalty", self.penalty)

    def __call__(self, x: FloatArray, y: FloatArray, start: FloatArray) -> Estimate:
        """Return the ridge estimate, from whichever of X'X and XX' is smaller."""
        count, dimension = x.shape
        try:
            if count < dimension:
                found = x.T @ np.linalg.solve(x @ x.T + self.penalty * np.eye(count), y)
            else:
                found = np.linalg.solve(x.T @ x + self.penalty * np.eye(dimension), x.T @ y)
        except np.linalg.LinAlgError:  # features so large and collinear that the penalty is below their rounding
            found = least_squares(x, y)
        coefficients = np.asarray(found, dtype=np.float64)
        return Estimate(coefficients, coefficients, self.penalty)


@dataclass(frozen=True)
class SpikeSlabMean:
    """Posterior mean under a spike-and-slab prior.

    Mitchell and Beauchamp (1988) for the prior.

    Parameters
    ----------
    prior : SpikeSlab
        Prior of θ.
    noise_variance : float
        Noise variance of a reward.
    n_draws : int, default=1000
        Number of particles.
    seed : int, default=0
        Seed of the particles; the estimate is a function of the data.
    """

    prior: SpikeSlab
    noise_variance: float
    n_draws: int = DRAWS
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.prior, SpikeSlab):
            raise ArgumentTypeError("prior", "a SpikeSlab", shown(self.prior))
        check_positive("noise_variance", self.noise_variance)
        check_count("n_draws", self.n_draws)
        check_count("seed", self.seed, least=0)

    def __call__(self, x: FloatArray, y: FloatArray, start: FloatArray) -> Estimate:
        """Return the posterior mean given these data alone."""
        rewards = Gaussian(self.noise_variance)
        engine = Particles(self.prior, x.shape[1], rewards=rewards, n_draws=self.n_draws, seed=self.seed)
        engine.absorb(x, y)
        return Estimate(engine.mean(), start, 0.0)


def offline_oracle(
    regressor: Regressor, actions: ActionSet, noise_variance: float, argument: str = "regressor"
) -> Estimator:
    """Return the offline oracle with a name.

    Parameters
    ----------
    regressor : {"ridge", "lasso", "spike-and-slab", "emvs", "spike-and-slab lasso"} or Estimator
        Its name; an estimator is returned as it is.
    actions : ActionSet
        Actions, from whose features the default prior is made.
    noise_variance : float
        Noise variance σ² of a reward.
    argument : str, default="regressor"
        What the caller's argument is called, for errors.

    Returns
    -------
    Estimator
        A frozen dataclass.

    Raises
    ------
    ArgumentError
        If there is no oracle with this name.
    """
    if not isinstance(regressor, str):
        if not callable(regressor) or isinstance(regressor, type):
            expected = f"one of {', '.join(REGRESSORS)}, or an estimator such as EMVS(prior)"
            raise ArgumentTypeError(argument, expected, shown(regressor))
        return regressor
    name = check_choice(argument, regressor, REGRESSORS)
    if name == "ridge":
        return Ridge(noise_variance * actions.dimension)  # prior variance 1/d
    if name == "lasso":
        return PlainLasso(math.sqrt(noise_variance), 1.0)
    if name == "emvs":
        return EMVS(SpikeSlab(BetaInclusion(), SLAB, spike=GaussianSpike(SPIKE)), noise_variance)
    if name == "spike-and-slab lasso":
        return SpikeSlabLasso(noise_variance)
    return SpikeSlabMean(default_prior(actions.sample()), noise_variance)


def online_oracle(regressor: Regressor, actions: ActionSet, noise_variance: float, growth: float, seed: Seed) -> Any:
    """Return the online oracle with a name.

    Parameters
    ----------
    regressor : {"ridge", "lasso", "spike-and-slab", "emvs", "spike-and-slab lasso"} or Estimator
        Its name; an estimator is fitted again as rewards come.
    actions : ActionSet
        Actions, from whose features the default prior is made.
    noise_variance : float
        Noise variance σ² of a reward.
    growth : float
        Share of new rewards at which an estimator is fitted again; ridge and particles learn from each reward.
    seed : int, SeedSequence or None
        Seed of the policy, from which that of the particles is derived.

    Returns
    -------
    Conjugate, LassoEstimator or Particles
        A learner whose coefficients :func:`coefficients_of` returns.

    Raises
    ------
    ArgumentError
        If there is no oracle with this name.
    """
    dimension, rewards = actions.dimension, Gaussian(noise_variance)
    if regressor == "ridge":
        return Conjugate(
            GaussianPrior(1.0 / dimension), dimension, rewards=rewards, n_draws=DRAWS, seed=child(seed, ENGINE_STREAM)
        )
    if regressor == "spike-and-slab":
        prior = default_prior(actions.sample())
        return Particles(prior, dimension, rewards=rewards, n_draws=DRAWS, seed=child(seed, ENGINE_STREAM))
    return LassoEstimator(dimension, offline_oracle(regressor, actions, noise_variance), growth)


def coefficients_of(learner: Any) -> FloatArray:
    """Return the coefficients θ̂ of an oracle, shape ``(d,)``: the estimate, or the posterior mean of an engine."""
    found = learner.estimate().coefficients if hasattr(learner, "estimate") else learner.mean()
    return np.asarray(found, dtype=np.float64)


def check_oracle(posterior: Any, rule: str) -> None:
    """Require a learner with an estimate or a posterior mean.

    Parameters
    ----------
    posterior : object
        The learner.
    rule : str
        Name of the rule that needs it.

    Raises
    ------
    ArgumentTypeError
        If it has neither.
    """
    if not (hasattr(posterior, "estimate") or hasattr(posterior, "mean")):
        raise ArgumentTypeError("posterior", f"a learner with coefficients for {rule}", type(posterior).__name__)
