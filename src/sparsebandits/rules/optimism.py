"""Optimism for linear bandits: play argmax_a ⟨a, θ̂⟩ + w · sd(⟨a, θ⟩).

With a Gaussian prior N(m, Λ⁻¹) and noise variance σ², the posterior mean θ̂ is the ridge estimate and the posterior
standard deviation of ⟨a, θ⟩ is σ‖a‖ in the norm of V⁻¹, V = σ²Λ + X'X. The width w is a constant, tuned as in the
experiments of Hao, Lattimore and Deng (2021), or the radius √β_t / σ of Abbasi-Yadkori, Pál and Szepesvári (2011,
Theorem 2), under which the truth stays inside all bounds with probability 1 − δ:

    √β_t = σ √(2 log(1/δ) + log det V_t − log det V_0) + ‖θ* − m‖ in the norm of V_0.
"""

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    check_between,
    check_number,
    check_positive,
    shown,
)
from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.optima import pick
from sparsebandits.rules.rule import Rule


@dataclass(frozen=True)
class ConfidenceRadius:
    """The width of Abbasi-Yadkori et al. (2011), with confidence 1 − ``delta`` if ‖θ* − prior mean‖ ≤ ``norm_bound``.

    Parameters
    ----------
    delta : float, default=0.05
        Largest probability that the truth ever leaves the bounds.
    norm_bound : float, default=1.0
        Bound on ‖θ* − m‖.

    Examples
    --------
    >>> round(ConfidenceRadius(delta=0.05).width(log_det_ratio=0.0, least_prior_variance=1.0), 3)
    3.448
    """

    delta: float = 0.05
    norm_bound: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_between("delta", self.delta, 1e-300, 1.0))
        object.__setattr__(self, "norm_bound", check_positive("norm_bound", self.norm_bound))

    def width(self, log_det_ratio: float, least_prior_variance: float) -> float:
        """Return the width √β_t / σ.

        Parameters
        ----------
        log_det_ratio : float
            log det V_t − log det V_0.
        least_prior_variance : float
            Smallest prior variance of a coordinate.

        Returns
        -------
        float
            Number of posterior standard deviations between estimate and bound.
        """
        return math.sqrt(2.0 * math.log(1.0 / self.delta) + log_det_ratio) + self.norm_bound / math.sqrt(
            least_prior_variance
        )


Width: TypeAlias = float | ConfidenceRadius


def check_width(width: object) -> Width:
    """Require a number of at least zero or a :class:`ConfidenceRadius`."""
    if isinstance(width, ConfidenceRadius):
        return width
    if isinstance(width, str | type):
        raise ArgumentTypeError("width", "a number or a ConfidenceRadius", shown(width))
    number = check_number("width", width)
    if number < 0:
        raise ArgumentValueError("width", "a number of at least zero", repr(number))
    return number


def current_width(width: Width, posterior: Any) -> float:
    """Return w, the number of posterior standard deviations between estimate and bound.

    Parameters
    ----------
    width : float or ConfidenceRadius
        The rule's width.
    posterior : Engine
        The posterior; a :class:`Conjugate` if the width is a confidence radius.

    Returns
    -------
    float
        w.
    """
    if isinstance(width, ConfidenceRadius):
        return width.width(posterior.log_det_ratio, float(np.min(posterior.prior.variance)))
    return width


def check_bounded(width: Width, posterior: object) -> None:
    """Refuse a confidence radius where the posterior is not Gaussian in closed form."""
    if isinstance(width, ConfidenceRadius) and not isinstance(posterior, Conjugate):
        got = f"a ConfidenceRadius on {type(posterior).__name__}"
        raise ArgumentTypeError("width", "a number, or a Conjugate posterior for a ConfidenceRadius", got)
    if isinstance(width, ConfidenceRadius) and isinstance(posterior, Conjugate) and posterior.rewards.intercept:
        raise ArgumentValueError("intercept", "False with a ConfidenceRadius, which is proved without one", "True")
    if isinstance(width, ConfidenceRadius) and isinstance(posterior, Conjugate) and posterior.forgetting is not None:
        expected = "None with a ConfidenceRadius, which is proved for a world that does not change (see DLinUCB)"
        raise ArgumentValueError("forgetting", expected, shown(posterior.forgetting))


@dataclass(frozen=True)
class Optimism(Rule):
    """Play the action with the largest upper bound; actions that tie are equally likely.

    Abbasi-Yadkori, Pál and Szepesvári (2011).

    Parameters
    ----------
    width : float or ConfidenceRadius, default=2.0
        Number of posterior standard deviations added to the mean.

    Examples
    --------
    >>> Optimism(width=1.5)
    Optimism(width=1.5)
    """

    width: Width = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", check_width(self.width))

    def check(self, posterior: Any) -> None:
        """Refuse a confidence radius on a posterior that has none."""
        super().check(posterior)
        check_bounded(self.width, posterior)

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Play the action with the largest upper bound."""
        width = current_width(self.width, beliefs.posterior)
        bonus = width * beliefs.deviations
        bound = beliefs.means + bonus
        action, probability = pick(beliefs.differences + bonus, rng)
        columns = {"upper bound": bound, "posterior mean": beliefs.means, "bonus": bonus}
        contributions = beliefs.features[action] * beliefs.coefficients
        return Choice(action, probability, Reasons.top(action, bound, columns, contributions, {"width": width}))
