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
from typing import Any

import numpy as np
from numpy.random import Generator

from sparsebandits.checks import FloatArray, check_between, check_number, check_positive
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Choice, Reasons
from sparsebandits.policies.policy import ENGINE_STREAM, Policy
from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.priors import GaussianPrior
from sparsebandits.randomness import Seed, child

CANCELLED = 1e-7
"""A variance that has shrunk to this share of what it was has lost too many digits to subtraction."""

REFRESH_EVERY = 1024
"""Rank-one updates of the actions' variances before they are computed afresh."""


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


class Optimism:
    """The rule. For the policy's own actions, Var ⟨a, θ⟩ is kept up to date at O(K d) a reward."""

    def __init__(self, posterior: Conjugate, width: "float | ConfidenceRadius", least_prior_variance: float) -> None:
        self.posterior = posterior
        self.width = width
        self.least_prior_variance = least_prior_variance
        self._watched: FloatArray | None = None  # the action set whose variances are kept
        self._variances: FloatArray = np.empty(0)
        self._fresh: FloatArray = np.empty(0)  # as they were when computed afresh
        self._age = 0

    def choose(self, actions: ActionSet, rng: Generator) -> Choice:
        """Play the action with the largest upper bound; the lower row wins a tie."""
        width = self.width
        if isinstance(width, ConfidenceRadius):
            width = width.width(self.posterior.log_det_ratio, self.least_prior_variance)
        coefficients = self.posterior.mean()
        mean = actions.features @ coefficients
        bonus = width * np.sqrt(self._variances_of(actions.features))
        bound = mean + bonus
        action = int(bound.argmax())
        columns = {"upper bound": bound, "posterior mean": mean, "bonus": bonus}
        parts = actions.features[action] * coefficients
        return Choice(action, 1.0, Reasons.top(action, bound, columns, parts, {"width": width}))

    def learn(self, features: FloatArray, rewards: FloatArray) -> None:
        """Update the posterior, and the variances of the watched actions (Sherman and Morrison)."""
        if len(rewards) == 1 and self._watched is not None and self._age < REFRESH_EVERY:
            direction = self.posterior.covariance_times(features[0])  # Σx
            change = self._watched @ direction
            self._variances -= change * change / (features[0] @ direction + self.posterior.noise_variance)
            self._age += 1
            if (self._variances < CANCELLED * self._fresh).any():
                self._watched = None
        else:
            self._watched = None
        self.posterior.absorb(features, rewards)

    def _variances_of(self, features: FloatArray) -> FloatArray:
        if self._watched is not features:
            if self._watched is None or not np.array_equal(self._watched, features):
                self._variances, self._age = self.posterior.variances(features), 0
                self._fresh = self._variances.copy()
            self._watched = features
        return self._variances

    def state(self) -> dict[str, Any]:
        """Return posterior and watched variances."""
        watched = {}
        if self._watched is not None:
            watched = {
                "features": self._watched,
                "variances": self._variances.copy(),
                "fresh": self._fresh,
                "age": self._age,
            }
        return {"posterior": self.posterior.state(), "watched": watched}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        self.posterior.restore(state["posterior"])
        watched = state["watched"]
        self._watched = watched.get("features")
        self._variances = watched.get("variances", np.empty(0)).copy()  # changes in place
        self._fresh = watched.get("fresh", np.empty(0))
        self._age = int(watched.get("age", 0))


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
        width: "float | ConfidenceRadius" = 2.0,
        seed: Seed = None,
    ) -> None:
        available = ActionSet.of(actions)
        prior = GaussianPrior(1.0 / available.dimension) if prior is None else prior
        if not isinstance(width, ConfidenceRadius):
            width = check_number("width", width)
            if width < 0:
                raise ValueError(f"width: expected a number of at least zero, got {width!r}")
        posterior = Conjugate(prior, available.dimension, noise_variance, seed=child(seed, ENGINE_STREAM))
        rule = Optimism(posterior, width, float(np.min(prior.variance)))
        arguments = {"prior": prior, "noise_variance": posterior.noise_variance, "width": width}
        super().__init__(available, rule, arguments, seed)
        posterior.feature_names = available.feature_names
        self.posterior = posterior
