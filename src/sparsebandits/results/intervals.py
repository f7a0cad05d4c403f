"""Intervals over trials: the bootstrap, bias-corrected and accelerated (Efron 1987), with a fixed seed.

Tables and figures use these functions alone, so that they agree.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy  # its stats, heavy, are imported on first use

from sparsebandits.arguments import FloatArray

RESAMPLES = 2000


def mean_interval(values: FloatArray, confidence: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper ends for the mean over the first axis of ``values``, of which rows are independent.

    With fewer than two rows there is no interval (NaN); where all rows are equal it is a point.
    """
    shape = values.shape[1:]
    if len(values) < 2:
        return np.full(shape, np.nan), np.full(shape, np.nan)
    low = np.array(values[0], dtype=np.float64)
    high = low.copy()
    varied = np.ptp(values, axis=0) > 1e-12 * np.abs(values).max(axis=0)  # else rounding is all there is
    if varied.any():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", scipy.stats.DegenerateDataWarning)
            interval = scipy.stats.bootstrap(
                (values[:, varied] if shape else values,),
                np.mean,
                axis=0,
                n_resamples=RESAMPLES,
                batch=100,
                confidence_level=confidence,
                vectorized=True,
                rng=np.random.default_rng(0),
            ).confidence_interval
        low[varied], high[varied] = interval.low, interval.high
    return low, high


def statistic_interval(
    rows: FloatArray, statistic: Callable[[FloatArray], FloatArray], confidence: float = 0.95
) -> tuple[float, float]:
    """Return lower and upper ends for a statistic of independent ``rows``; whole rows are resampled.

    ``statistic`` turns (…, rows, columns) into (…). With fewer than two rows there is no interval, nor where the
    statistic of some resampled rows does not exist (NaN); where it is always the same, the interval is a point.
    """
    estimate = float(statistic(rows))
    if len(rows) < 2 or np.isnan(estimate):
        return np.nan, np.nan

    def of_numbers(numbers: Any, axis: int = -1) -> FloatArray:  # scipy resamples row numbers, along the last axis
        return statistic(rows[numbers])

    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", scipy.stats.DegenerateDataWarning)
        found = scipy.stats.bootstrap(
            (np.arange(len(rows)),),
            of_numbers,
            n_resamples=RESAMPLES,
            batch=100,
            confidence_level=confidence,
            vectorized=True,
            rng=np.random.default_rng(0),
        )
    if np.ptp(found.bootstrap_distribution) <= 1e-12 * max(1.0, abs(estimate)):  # rounding is all there is
        return estimate, estimate
    return float(found.confidence_interval.low), float(found.confidence_interval.high)
