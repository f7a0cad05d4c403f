"""A cloud of draws that follows the posterior by reweighting: importance sampling, one likelihood at a time."""

import numpy as np

from sparsebandits.checks import FloatArray
from sparsebandits.posteriors.draws import Draws

REMEMBERED = 64
"""Actions whose predictions ⟨x, θ^m⟩ a cloud remembers: a policy plays few actions again and again."""


class Cloud:
    """Draws ``theta`` of shape ``(M, d)`` with log weights ``(M,)``. The draws never change, only their weights."""

    def __init__(self, theta: FloatArray, log_weights: FloatArray | None = None) -> None:
        self.theta = theta
        self.log_weights = np.zeros(len(theta)) if log_weights is None else log_weights
        self._predictions: dict[bytes, FloatArray] = {}
        self._draws: Draws | None = None

    def reweight(self, x: FloatArray, y: float, noise_variance: float) -> None:
        """Multiply each weight by the likelihood of reward ``y`` for action ``x``: O(M) if x has been played before."""
        residual = y - self._predicted(x)
        self.log_weights -= residual * residual / (2.0 * noise_variance)
        self._draws = None

    def draws(self) -> Draws:
        """Return the draws with their normalised weights."""
        if self._draws is None:
            weights = np.exp(self.log_weights - self.log_weights.max())
            weights /= weights.sum()
            self._draws = Draws.trusted(self.theta, weights)
        return self._draws

    def _predicted(self, x: FloatArray) -> FloatArray:
        key = x.tobytes()
        if key not in self._predictions:
            if len(self._predictions) == REMEMBERED:
                del self._predictions[next(iter(self._predictions))]  # the oldest
            self._predictions[key] = self.theta @ x
        return self._predictions[key]
