"""Estimates as online forecasters, for :class:`OnlineToConfidence`: each reward is predicted by the last estimate.

Abbasi-Yadkori, Pál and Szepesvári (2012) make a confidence set of any forecaster.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from sparsebandits.arguments import FloatArray, check_positive
from sparsebandits.atomic import forked
from sparsebandits.layouts import Layout
from sparsebandits.model.evidence import Evidence
from sparsebandits.model.rewards import Gaussian
from sparsebandits.policies.rivals.lasso import Estimator, LassoEstimator
from sparsebandits.tables import Rows


class EstimateForecaster(LassoEstimator):
    """Learner: an estimate that is made again after every reward, and the sums of all rewards.

    Parameters
    ----------
    dimension : int
        Number of features d.
    estimator : Estimator
        How θ is estimated, such as :class:`EMVS`; a frozen dataclass.
    noise_variance : float
        Noise variance of a reward.
    """

    saved: ClassVar[Layout] = {**LassoEstimator.saved, "evidence": Evidence.saved}
    prior = None

    def __init__(self, dimension: int, estimator: Estimator, noise_variance: float) -> None:
        super().__init__(dimension, estimator)
        self.noise_variance = check_positive("noise_variance", noise_variance)
        self.rewards = Gaussian(self.noise_variance)
        self.evidence = Evidence(self.dimension)

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Store the rewards, and add them to the sums."""
        super().absorb(x, y, weights)
        self.evidence = self.evidence.copied()
        self.evidence.absorb(x, y)

    def mean(self) -> FloatArray:
        """Return the estimate of θ, shape ``(d,)``."""
        return self.estimate().coefficients

    def inclusions(self) -> FloatArray:
        """Return one where the estimate is not zero, otherwise zero, shape ``(d,)``."""
        return np.asarray(forked(self).mean() != 0.0, dtype=np.float64)

    def summary(self) -> Rows:
        """Return the estimate of each coefficient."""
        estimates = forked(self).mean().tolist()
        return Rows.of([{"feature": str(j), "estimate": value} for j, value in enumerate(estimates)])

    def state(self) -> dict[str, Any]:
        """Return data, estimate and sums."""
        return {**super().state(), "evidence": self.evidence.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        super().restore(state)
        self.evidence.restore(state["evidence"])
