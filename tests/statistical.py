"""Thresholds that follow from an error rate, in one place."""

import numpy as np
from scipy import stats

from sparsebandits.arguments import FloatArray

FAMILY_WISE = 1e-5
"""Chance that a correct implementation fails one statistical check, over all numbers that it compares."""


def assert_means_agree(found: FloatArray, expected: FloatArray, standard_error: FloatArray) -> None:
    """Fail if any of the estimates is further from its expectation than chance allows, family-wise."""
    z = np.abs(np.asarray(found) - expected) / standard_error
    limit = stats.norm.isf(FAMILY_WISE / (2 * z.size))
    assert z.max() < limit, f"largest z-score {z.max():.2f}, limit {limit:.2f}"
