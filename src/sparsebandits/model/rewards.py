"""How a reward arises from the coefficients: the second half of the model, beside the prior.

    Y = α + ⟨a, θ⟩ + ε,   ε ~ N(0, σ² / w),

where α is an intercept, if there is one, and w is the weight of the observation: 1, unless this reward is known to be
more or less noisy than others. Hao, Lattimore and Deng (2021) have α = 0 and w = 1. Nothing outside this
module and the engines that serve it needs to know the noise.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, check_flag, check_positive, shown
from sparsebandits.model.families import Bernoulli, Poisson
from sparsebandits.model.forgetting import Discount, brief, check_forgetting
from sparsebandits.model.priors import InverseGammaNoise

UNKNOWN_NOISE = InverseGammaNoise(0.5, 0.01, of_rewards=True)
"""Prior used when the noise variance is not given. It takes its scale from the first rewards, so they may be in any
unit."""

TAILS = 5.0
"""Limit of what is out of line, for policies that learn the noise and whose ``rewards`` are not given. Normal rewards
are beyond it once in two million."""


@dataclass(frozen=True)
class Gaussian:
    """Gaussian rewards around α + ⟨a, θ⟩.

    Parameters
    ----------
    variance : float or InverseGammaNoise, default=InverseGammaNoise(0.5, 0.01, of_rewards=True)
        σ², the noise variance of a reward of weight one, or a prior if it is to be learnt.
    intercept : bool, default=False
        Whether there is an unknown intercept α, which has a flat prior and is integrated out. For a policy, its
        argument ``intercept`` decides.
    tails : float, optional
        Standard deviations of the other rewards up to which a reward counts in full; beyond, it counts as one at this
        limit does (``model/tails.py``). By default all rewards count in full.
    forgetting : Discount, optional
        How old rewards are discounted (``model/forgetting.py``); by default, and with an infinite half-life, they are
        not.

    Examples
    --------
    >>> Gaussian(variance=2.0)
    Gaussian(variance=2.0, intercept=False, tails=None)
    """

    variance: Any = UNKNOWN_NOISE
    intercept: bool = False
    tails: float | None = None
    forgetting: Discount | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.variance, InverseGammaNoise):
            if self.variance is None or isinstance(self.variance, str):
                raise ArgumentTypeError("variance", "a number or an InverseGammaNoise", shown(self.variance))
            object.__setattr__(self, "variance", check_positive("variance", self.variance))
        object.__setattr__(self, "intercept", check_flag("intercept", self.intercept))
        if self.tails is not None:
            object.__setattr__(self, "tails", check_positive("tails", self.tails))
        object.__setattr__(self, "forgetting", check_forgetting(self.forgetting))

    def __repr__(self) -> str:
        return brief(self)

    @property
    def known(self) -> bool:
        """Whether σ² is known, not learnt."""
        return not isinstance(self.variance, InverseGammaNoise)

    def mean(self, eta: Any) -> Any:
        """Return η = α + ⟨a, θ⟩ itself."""
        return eta


Rewards: TypeAlias = Gaussian | Bernoulli | Poisson
"""Families of rewards."""


def known_noise(engine: str, rewards: object, noise_variance: object) -> Rewards:
    """Return the rewards of an engine that needs a known noise variance.

    Parameters
    ----------
    engine : str
        Name of the engine, for the error.
    rewards : Gaussian or None
        The engine's argument ``rewards``.
    noise_variance : float or None
        The engine's argument ``noise_variance``; 1 if neither is given.

    Returns
    -------
    Gaussian
        Rewards with a known variance.

    Raises
    ------
    ArgumentTypeError
        If the noise variance is to be learnt.
    """
    if isinstance(noise_variance, InverseGammaNoise):
        raise ArgumentTypeError("noise_variance", f"a number for {engine}", shown(noise_variance))
    found = rewards_of(rewards, noise_variance, default=1.0)
    if not isinstance(found, Gaussian) or not found.known:
        raise ArgumentTypeError("rewards", f"Gaussian rewards of known variance for {engine}", shown(found))
    return found


def rewards_of(rewards: object, noise_variance: object = None, default: Any = UNKNOWN_NOISE) -> Rewards:
    """Return the rewards of a constructor that takes ``rewards`` and the short form ``noise_variance``.

    Parameters
    ----------
    rewards : Gaussian or None
        The argument ``rewards``.
    noise_variance : float, InverseGammaNoise or None, default=None
        The argument ``noise_variance``.
    default : float or InverseGammaNoise, default=InverseGammaNoise(0.5, 0.01, of_rewards=True)
        Noise variance if neither is given.

    Returns
    -------
    Gaussian
        The rewards.

    Raises
    ------
    ArgumentError
        If both are given, or if one is not of its kind.
    """
    if rewards is None:
        given = default if noise_variance is None else noise_variance
        if isinstance(given, InverseGammaNoise):
            return Gaussian(given)
        if isinstance(given, str):
            raise ArgumentTypeError("noise_variance", "a number or an InverseGammaNoise", shown(given))
        return Gaussian(check_positive("noise_variance", given))
    if not isinstance(rewards, Gaussian | Bernoulli | Poisson):
        families = "a family of rewards: Gaussian(), Bernoulli() for clicks or Poisson() for counts"
        raise ArgumentTypeError("rewards", families, shown(rewards))
    if noise_variance is not None:
        noise = "which has the noise" if isinstance(rewards, Gaussian) else "which have none"
        raise ArgumentValueError("noise_variance", f"none beside rewards, {noise}", shown(noise_variance))
    return rewards
