"""Var ⟨a, θ⟩ of every action under a Gaussian posterior, kept up to date at O(K d) a reward (Sherman and Morrison)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors.conjugate import Conjugate

CANCELLED = 1e-7
"""A variance that has shrunk to this share of what it was has lost too many digits to subtraction."""

REFRESH_EVERY = 1024
"""Rank-one updates of the actions' variances before they are computed afresh."""


class ActionVariances:
    """The variances of one action set at a time, which follow the posterior that learns through :meth:`absorb`."""

    def __init__(self, posterior: Conjugate) -> None:
        self.posterior = posterior
        self._watched: FloatArray | None = None  # the action set whose variances are kept
        self._variances: FloatArray = np.empty(0)
        self._fresh: FloatArray = np.empty(0)  # as they were when computed afresh
        self._age = 0

    def of(self, features: FloatArray) -> FloatArray:
        """Return Var ⟨a, θ⟩ for each row of ``features``, shape ``(K,)``."""
        if self._watched is not features:
            if self._watched is None or not np.array_equal(self._watched, features):
                self._variances, self._age = self.posterior.variances(features), 0
                self._fresh = self._variances.copy()
            self._watched = features
        return self._variances

    def absorb(self, features: FloatArray, rewards: FloatArray) -> None:
        """Condition the posterior on a batch that has been checked, and the variances with it."""
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

    def state(self) -> dict[str, Any]:
        """Return the watched actions and their variances."""
        if self._watched is None:
            return {}
        return {
            "features": self._watched,
            "variances": self._variances.copy(),
            "fresh": self._fresh,
            "age": self._age,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        self._watched = state.get("features")
        self._variances = state.get("variances", np.empty(0)).copy()  # changes in place
        self._fresh = state.get("fresh", np.empty(0))
        self._age = int(state.get("age", 0))
