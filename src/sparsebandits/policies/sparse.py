"""Sparse information-directed sampling and sparse Thompson sampling.

Hao, Lattimore and Deng (2021), Algorithms 2 and 3, on any engine for the spike-and-slab posterior: the rules of
``ids.py`` and ``thompson.py`` with that posterior. ``engine="langevin"``, a prior of ``SpikeSlab.from_paper`` and
``selection="deterministic"`` are the paper's algorithm, with what it leaves open as in docs/paper.md;
``engine="particles"`` is exact but for the number of particles, and cheaper.

Whoever knows neither sparsity nor noise nor the size of effects leaves ``prior`` and ``noise_variance`` out, and all
three are learnt (:func:`default_prior`).
"""

from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any, TypeAlias

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, FloatArray, check_array, check_choice, shown
from sparsebandits.model.priors import BetaInclusion, InverseGammaNoise, InverseGammaSlab, SpikeSlab, check_noise
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.ids import InformationDirected
from sparsebandits.policies.policy import ENGINE_STREAM, Policy
from sparsebandits.policies.thompson import Thompson
from sparsebandits.posteriors.enumeration import Enumeration
from sparsebandits.posteriors.gibbs import Gibbs
from sparsebandits.posteriors.langevin import Langevin
from sparsebandits.posteriors.particles import Particles
from sparsebandits.randomness import Seed, child

SparseEngine: TypeAlias = Particles | Gibbs | Langevin | Enumeration
ENGINES: dict[str, type[SparseEngine]] = {
    "particles": Particles,
    "gibbs": Gibbs,
    "langevin": Langevin,
    "enumeration": Enumeration,
}

EXPECTED_FEATURES = 5.0
"""How many features are expected to matter by who does not know; the data correct it."""


def default_prior(features: FloatArray) -> SpikeSlab:
    """Return a prior that learns how many features matter, and how much they do.

    A feature matters with probability β ~ Beta(1, d/5 − 1), about five of them are expected to; the variance of their
    coefficients is inverse gamma, around where five of them move rewards as much as the noise does, whatever the units
    of the features.
    """
    dimension = features.shape[1]
    few = min(EXPECTED_FEATURES, dimension / 2)
    squares = np.mean(features * features, axis=0)
    squares = np.clip(np.where(squares > 0, squares, 1.0), 1e-25, 1e25)
    slab = InverseGammaSlab(2.0, 2.0 / few, of_noise=True, relative=tuple(1.0 / squares))
    return SpikeSlab(BetaInclusion(1.0, dimension / few - 1.0), slab)


DEFAULT_NOISE = InverseGammaNoise(1.0, 0.1)
"""Of who does not know the noise variance. After n rewards it is learnt down to about 0.2 / n, and up to any size; so
rewards much smaller than one are better scaled up."""


GIVEN_TO_ENGINES = ("prior", "dimension", "noise_variance", "n_draws", "seed")


def _in_units_of(prior: SpikeSlab, noise_variance: float) -> SpikeSlab:
    """Return the prior with a slab in units of this noise variance, for an engine to which the noise is one."""
    slab = getattr(prior, "slab_variance", None)
    if not isinstance(slab, InverseGammaSlab) or not slab.of_noise:
        return prior
    return replace(prior, slab_variance=replace(slab, scale=slab.scale * noise_variance, of_noise=False))


def sparse_posterior(
    actions: ActionSet,
    prior: SpikeSlab | None,
    noise_variance: object,
    engine: str,
    engine_options: Mapping[str, Any] | None,
    n_draws: int,
    seed: Seed,
) -> tuple[ActionSet, SparseEngine, dict[str, Any]]:
    """Return the actions with their noise, the posterior, and what a saved policy has to remember of them."""
    name = check_choice("engine", engine, tuple(ENGINES))
    defaults = [what for what, given in (("prior", prior), ("noise_variance", noise_variance)) if given is None]
    prior = default_prior(actions.features) if prior is None else prior
    if engine_options is not None and not isinstance(engine_options, Mapping):
        raise ArgumentTypeError("engine_options", "a mapping of names to values", shown(engine_options))
    options: dict[str, Any] = dict(engine_options or {})
    taken = [option for option in signature(ENGINES[name]).parameters if option not in GIVEN_TO_ENGINES]
    if not set(options) <= set(taken):
        raise ArgumentTypeError("engine_options", f"what {name} takes ({', '.join(taken) or 'none'})", shown(options))
    noise: Any = DEFAULT_NOISE if noise_variance is None else noise_variance
    of_engine: Any
    if isinstance(noise, list | tuple):
        noise = check_array("noise_variance", noise)
    if np.ndim(noise) > 0:  # one an action: rewards are divided by their deviation before the posterior sees them
        actions = actions.with_noise(noise)
        noise, of_engine = actions.noise_variances, 1.0
        prior = _in_units_of(prior, float(np.median(noise)))
    else:
        noise = of_engine = check_noise(noise)
    try:
        posterior = ENGINES[name](prior, actions.dimension, of_engine, n_draws, child(seed, ENGINE_STREAM), **options)
    except ArgumentTypeError as error:
        if error.name in defaults:  # the rejected argument was a default
            got = f"the policy's default, {error.got}: give one that {name} serves"
            raise ArgumentTypeError(error.name, error.expected, got) from None
        raise
    posterior.feature_names = actions.feature_names
    arguments = {
        "prior": prior,
        "noise_variance": noise,
        "engine": name,
        "engine_options": options,
        "n_draws": posterior.n_draws,
    }
    return actions, posterior, arguments


class SparseIDS(Policy):
    """Information-directed sampling when few features matter.

    Parameters
    ----------
    actions : array or DataFrame ``(K, d)``, one row an action
    prior : a :class:`SpikeSlab`; by default one that learns how many features matter, and how much
    noise_variance : of a reward around its mean: a number, one number an action (a Series is matched to the rows of a
        DataFrame by name), an :class:`InverseGammaNoise` if it is to be learnt, which is the default
    engine : "particles" (exact but for their number, the default), "langevin" (the paper's; needs a Laplace spike and a
        known noise variance), "gibbs" (chains anew after each reward, so slow), or "enumeration" (small d; needs a
        known slab variance)
    n_draws : posterior draws from which regret and information are computed
    exponent : λ of the information ratio, at least 2
    selection : "deterministic" minimises the ratio over actions, "randomised" over distributions; the default has the
        smaller measured regret at d = 40, at d = 100 they were not told apart (docs/measurements.md)
    gain : "variance" or "mutual-information"
    engine_options : further arguments of the engine, such as ``{"chains": 100}`` for "langevin"; "particles" has none
    seed : integer, SeedSequence, or None for fresh entropy

    Features may be of any units where the prior is left out; a prior of one's own is in the units of the features.
    Rewards much smaller than one are better scaled up where the noise is to be learnt.

    >>> policy = SparseIDS(np.eye(3), seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        prior: SpikeSlab | None = None,
        noise_variance: object = None,
        engine: str = "particles",
        n_draws: int = 10_000,
        exponent: float = 2.0,
        selection: str = "deterministic",
        gain: str = "variance",
        engine_options: Mapping[str, Any] | None = None,
        seed: Seed = None,
    ) -> None:
        available, posterior, arguments = sparse_posterior(
            ActionSet.of(actions), prior, noise_variance, engine, engine_options, n_draws, seed
        )
        rule = InformationDirected(posterior, exponent, selection, gain)
        arguments |= {"exponent": rule.exponent, "selection": rule.selection, "gain": rule.gain}
        super().__init__(available, rule, arguments, seed)
        self.posterior = posterior


class SparseTS(Policy):
    """Thompson sampling when few features matter: the best action under one draw from the spike-and-slab posterior.

    Parameters are those of :class:`SparseIDS`, without those of the information ratio.

    >>> policy = SparseTS(np.eye(3), seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        prior: SpikeSlab | None = None,
        noise_variance: object = None,
        engine: str = "particles",
        n_draws: int = 10_000,
        engine_options: Mapping[str, Any] | None = None,
        seed: Seed = None,
    ) -> None:
        available, posterior, arguments = sparse_posterior(
            ActionSet.of(actions), prior, noise_variance, engine, engine_options, n_draws, seed
        )
        super().__init__(available, Thompson(posterior, 1.0), arguments, seed)
        self.posterior = posterior
