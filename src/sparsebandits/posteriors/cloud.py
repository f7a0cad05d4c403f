"""A cloud of draws that follows the posterior by reweighting: importance sampling, one likelihood at a time."""

import math
from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors.draws import Draws

REMEMBERED = 64
"""Actions whose predictions ⟨x, θ^m⟩ a cloud remembers: a policy plays few actions again and again."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Log weights ``(M,)`` with what follows from them."""

    logs: FloatArray
    normalised: FloatArray  # sum to one
    log_total: float  # log Σ exp(logs)
    effective_size: float  # 1 / Σ normalised²

    @classmethod
    def of(cls, logs: FloatArray) -> "Weights":
        """Normalise log weights; any common offset is safe."""
        largest = float(logs.max())
        normalised = np.exp(logs - largest)
        total = float(normalised.sum())
        normalised /= total
        return cls(logs, normalised, largest + math.log(total), 1.0 / float(normalised @ normalised))


class Cloud:
    """Draws ``theta`` of shape ``(M, d)`` that never change, and their weights, which do."""

    def __init__(self, theta: FloatArray, log_weights: FloatArray | None = None) -> None:
        self.theta = theta
        self.weights = Weights.of(np.zeros(len(theta)) if log_weights is None else log_weights)
        self._predictions: dict[bytes, FloatArray] = {}
        self._draws: Draws | None = None

    def misfit(self, x: FloatArray, y: float) -> FloatArray:
        """Return (y − ⟨x, θ^m⟩)² − y² of each draw: O(M) if x has been seen before.

        The common y² is left out because it may be so large that differences between draws would be lost in it.
        """
        key = x.tobytes()
        if key not in self._predictions:
            if len(self._predictions) == REMEMBERED:
                del self._predictions[next(iter(self._predictions))]  # the oldest
            self._predictions[key] = self.theta @ x
        predictions = self._predictions[key]
        return predictions * (predictions - 2.0 * y)

    def reweight(self, weights: Weights) -> None:
        """Take other weights."""
        self.weights = weights
        self._draws = None

    def draws(self) -> Draws:
        """Return the draws with their weights."""
        if self._draws is None:
            self._draws = Draws.trusted(self.theta, self.weights.normalised)
        return self._draws
