"""Optimism for linear bandits: play argmax_a ⟨a, θ̂⟩ + w · sd(⟨a, θ⟩).

With a Gaussian prior N(m, Λ⁻¹) and noise variance σ², the posterior mean θ̂ is the ridge estimate and the posterior
standard deviation of ⟨a, θ⟩ is σ‖a‖ in the norm of V⁻¹, V = σ²Λ + X'X. The width w is a constant, tuned as in the
experiments of Hao, Lattimore and Deng (2021), or the radius √β_t / σ of Abbasi-Yadkori, Pál and Szepesvári (2011,
Theorem 2), under which the truth stays inside all bounds with probability 1 − δ:

    √β_t = σ √(2 log(1/δ) + log det V_t − log det V_0) + ‖θ* − m‖ in the norm of V_0.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_between,
    check_number,
    check_positive,
    shown,
)
from sparsebandits.model.priors import GaussianPrior
from sparsebandits.policies.action_variances import ActionVariances
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Choice, Reasons
from sparsebandits.policies.policy import ENGINE_STREAM, Policy
from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.randomness import Seed, child


@dataclass(frozen=True)
class ConfidenceRadius:
    """The width of Abbasi-Yadkori et al. (2011): confidence 1 − ``delta`` if ‖θ* − prior mean‖ ≤ ``norm_bound``.

    >>> round(ConfidenceRadius(delta=0.05).width(log_det_ratio=0.0, least_prior_variance=1.0), 3)
    3.448
    """

    delta: float = 0.05
    norm_bound: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_between("delta", self.delta, 1e-300, 1.0))
        object.__setattr__(self, "norm_bound", check_positive("norm_bound", self.norm_bound))

    def width(self, log_det_ratio: float, least_prior_variance: float) -> float:
        """Return √β_t / σ, where ``log_det_ratio`` is log det V_t − log det V_0."""
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


class ConfidenceBounds:
    """Ridge regression with ⟨a, θ̂⟩ ± w · sd(⟨a, θ⟩) for every action; what rules of confidence bounds learn through."""

    def __init__(self, posterior: Conjugate, width: Width, least_prior_variance: float) -> None:
        self.posterior = posterior
        self.variances = ActionVariances(posterior)
        self._width = width
        self._least_prior_variance = least_prior_variance

    @property
    def width(self) -> float:
        """Posterior standard deviations between estimate and bound, w."""
        if isinstance(self._width, ConfidenceRadius):
            return self._width.width(self.posterior.log_det_ratio, self._least_prior_variance)
        return self._width

    def learn(self, features: FloatArray, rewards: FloatArray) -> None:
        """Update the posterior, and the variances of the actions."""
        self.variances.absorb(features, rewards)

    def state(self) -> dict[str, Any]:
        """Return posterior and watched variances."""
        return {"posterior": self.posterior.state(), "watched": self.variances.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        self.posterior.restore(state["posterior"])
        self.variances.restore(state["watched"])


class Optimism(ConfidenceBounds):
    """The rule."""

    def choose(self, actions: ActionSet, rng: Generator) -> Choice:
        """Play the action with the largest upper bound; the lower row wins a tie."""
        width, coefficients = self.width, self.posterior.mean()
        mean = actions.features @ coefficients
        bonus = width * np.sqrt(self.variances.of(actions.features))
        bound = mean + bonus
        action = int(bound.argmax())
        columns = {"upper bound": bound, "posterior mean": mean, "bonus": bonus}
        parts = actions.features[action] * coefficients
        return Choice(action, 1.0, Reasons.top(action, bound, columns, parts, {"width": width}))


class LinUCB(Policy):
    """Optimism with a fixed width or with a confidence radius.

    Parameters
    ----------
    actions : array or DataFrame ``(K, d)``, one row an action
    prior : of θ; by default N(0, 1/d) for each coordinate
    noise_variance : variance of a reward around its mean
    width : posterior standard deviations added to the mean, or a :class:`ConfidenceRadius`
    seed : of ``posterior.draws()``; the policy itself makes no random choice

    >>> import numpy as np
    >>> policy = LinUCB(np.eye(3))
    >>> policy.ask().action
    0
    """

    def __init__(
        self,
        actions: object,
        prior: GaussianPrior | None = None,
        noise_variance: float = 1.0,
        width: Width = 2.0,
        seed: Seed = None,
    ) -> None:
        available = ActionSet.of(actions)
        prior = GaussianPrior(1.0 / available.dimension) if prior is None else prior
        width = check_width(width)
        posterior = Conjugate(prior, available.dimension, noise_variance, seed=child(seed, ENGINE_STREAM))
        rule = Optimism(posterior, width, float(np.min(prior.variance)))
        arguments = {"prior": prior, "noise_variance": posterior.noise_variance, "width": width}
        super().__init__(available, rule, arguments, seed)
        posterior.feature_names = available.feature_names
        self.posterior = posterior
