"""Rewards with an unknown intercept: it has a flat prior and is integrated out exactly.

    y_i = α + ⟨x_i, θ⟩ + ε_i,   ε_i ~ N(0, σ² / w_i),   p(α) ∝ 1.

Let z̄_k and W_k be the weighted mean and the weight of the first k values. The n − 1 contrasts

    c_k = √(w_{k+1} W_k / W_{k+1}) · (z_{k+1} − z̄_k),

taken of rewards and of features alike, do not depend on α, their noise is again independent, with variance σ², and
their likelihood is that of (θ, σ²) with α integrated out (with equal weights they are Helmert's contrasts). They follow
one after the other, so rewards may come singly, late or in batches, from whatever actions were on offer. Given θ,
α ~ N(ȳ − ⟨x̄, θ⟩, σ² / W), so the mean reward of an action a is ȳ + ⟨a − x̄, θ⟩ in expectation over α.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sparsebandits.arguments import LARGEST, FloatArray
from sparsebandits.layouts import Layout, Number, Reals, read

FARTHEST = LARGEST * (1.0 + 1e-9)
"""Largest mean of features or rewards, with its rounding."""


@dataclass(frozen=True, eq=False)
class Level:
    """The level of rewards: weighted means of what has been observed.

    Attributes
    ----------
    features : array of shape (d,)
        x̄, the mean features; zero before the first reward.
    reward : float
        ȳ, the mean reward.
    weight : float
        W, the sum of weights; zero before the first reward.
    """

    saved: ClassVar[Layout] = {
        "features": Reals("dimension", low=-FARTHEST, high=FARTHEST),
        "reward": Number(-FARTHEST, FARTHEST),
        "weight": Number(low=0.0, high=FARTHEST),
    }

    features: FloatArray
    reward: float = 0.0
    weight: float = 0.0

    def contrasts(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray, "Level"]:
        """Return the contrasts of further observations with those before, and the level after them.

        Parameters
        ----------
        x : array of shape (n, d)
            Features.
        y : array of shape (n,)
            Rewards.
        weights : array of shape (n,), optional
            Weight w of each observation; by default 1.

        Returns
        -------
        x, y : array of shape (n, d), array of shape (n,)
            The contrasts; one fewer if there was no observation before.
        level : Level
            The level after these observations.

        Examples
        --------
        >>> x, y, level = Level(np.zeros(1)).contrasts(np.zeros((3, 1)), np.array([5.0, 7.0, 6.0]))
        >>> y.round(3), level.reward
        (array([1.414, 0.   ]), 6.0)
        """
        if len(y) == 0:
            return x, y, self
        if len(y) == 1 and self.weight > 0:
            return self._contrast(x, y, 1.0 if weights is None else float(weights[0]))
        # Relative to a value among them: values far from zero would lose digits in the sums.
        origin, zero = (self.features, self.reward) if self.weight > 0 else (x[0], float(y[0]))
        rows, rewards = x - origin, y - zero
        own = np.ones(len(y)) if weights is None else weights
        sum_own = np.cumsum(own)
        total = self.weight + sum_own  # W_{k+1}
        before = self.weight + (sum_own - own)  # not total − own: W_k may be far below the rounding of W_{k+1}
        sums, sum_rewards = np.cumsum(own[:, np.newaxis] * rows, axis=0), np.cumsum(own * rewards)
        level = Level(origin + sums[-1] / total[-1], zero + float(sum_rewards[-1] / total[-1]), float(total[-1]))
        first = 0 if self.weight > 0 else 1
        before, own, total = before[first:], own[first:], total[first:]
        scale = np.sqrt(own * before / total)
        means = (sums[first:] - own[:, np.newaxis] * rows[first:]) / before[:, np.newaxis]
        mean_rewards = (sum_rewards[first:] - own * rewards[first:]) / before
        return scale[:, np.newaxis] * (rows[first:] - means), scale * (rewards[first:] - mean_rewards), level

    def _contrast(self, x: FloatArray, y: FloatArray, own: float) -> tuple[FloatArray, FloatArray, "Level"]:
        """Return what :meth:`contrasts` does, to the byte, for the single observation that mostly comes."""
        row, reward, total = x - self.features, y - self.reward, self.weight + own
        level = Level(self.features + own * row[0] / total, self.reward + own * float(reward[0]) / total, total)
        scale = math.sqrt(own * self.weight / total)
        return scale * row, scale * reward, level

    def scaled(self, factor: float) -> "Level":
        """Return the level if every observation so far counts less.

        The recursion above then holds with f W_k in place of W_k, since means do not change. What the contrasts count
        is in ``forgetting.py``.

        Parameters
        ----------
        factor : float
            f, from 0 to 1.

        Returns
        -------
        Level
        """
        return replace(self, weight=factor * self.weight)

    def state(self) -> dict[str, Any]:
        """Return the level as arrays and JSON values."""
        return {"features": self.features, "reward": self.reward, "weight": self.weight}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Level":
        """Return the level whose :meth:`state` is given."""
        return cls(**read(cls.saved, state))
