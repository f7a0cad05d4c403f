"""Draws that follow the posterior by reweighting: importance sampling, one observation at a time."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import scipy  # scipy.optimize, which is slow to import, is loaded on first use

from sparsebandits.arguments import FloatArray, frozen
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.rows import Rows

REMEMBERED = 64
"""Actions whose predictions ⟨x, θ^m⟩ a cloud remembers, since a policy plays few actions again and again."""

LEAST_PART = 0.01
"""Smallest part of an observation that is taken in at a time. A reward hundreds of standard deviations from every
prediction leaves few particles at first, and the sweeps that follow find the rest."""

SMALLEST_PART = 1e-6
"""The same for clicks and counts, whose particles are never redrawn from nothing."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Log weights, with what follows from them.

    Attributes
    ----------
    logs : array of shape (M,)
        Log weights, up to a common constant.
    normalised : array of shape (M,)
        Weights that sum to one.
    log_total : float
        log Σ exp(logs).
    effective_size : float
        Effective sample size, 1 / Σ normalised².
    """

    logs: FloatArray
    normalised: FloatArray
    log_total: float
    effective_size: float

    @classmethod
    def of(cls, logs: FloatArray) -> "Weights":
        """Normalise log weights; a common offset, however large, does no harm.

        Parameters
        ----------
        logs : array of shape (M,)
            Log weights.

        Returns
        -------
        Weights
            The same weights, normalised.
        """
        largest = float(logs.max())
        normalised = np.exp(logs - largest)
        total = float(normalised.sum())
        normalised /= total
        return cls(logs, normalised, largest + math.log(total), 1.0 / float(normalised @ normalised))


class Cloud:
    """Draws that never change, and their weights, which do.

    Parameters
    ----------
    source : array of shape (M, d) or Rows
        Draws of θ, one per row.
    log_weights : array of shape (M,), optional
        Log weights of the draws; equal by default.
    intercepts : array of shape (M,), optional
        Intercepts of the draws, where rewards are clicks or counts.
    log_factors : array of shape (M,), optional
        Log of a factor on the weights of the draws that are handed out, which ``weights`` are without.
    """

    def __init__(
        self,
        source: FloatArray | Rows,
        log_weights: FloatArray | None = None,
        intercepts: FloatArray | None = None,
        log_factors: FloatArray | None = None,
    ) -> None:
        self._source = source if isinstance(source, Rows) else frozen(source)
        self._intercepts = intercepts
        self._log_factors = log_factors
        self.weights = self._normalised(np.zeros(len(source)) if log_weights is None else log_weights)
        self._predictions: dict[bytes, FloatArray] = {}
        self._draws: Draws | None = None

    def _normalised(self, logs: FloatArray) -> Weights:
        """Return the weights of these logs; always by the same code, so that a loaded policy has them to the bit."""
        if not isinstance(self._source, Rows):
            return Weights.of(logs)
        from sparsebandits.posteriors.kernels.weighing import reweighted

        return Weights(*reweighted(logs, np.zeros(len(logs)), 0.0, 0.0))

    def misfit(self, x: FloatArray, y: float) -> FloatArray:
        """Return (y − ⟨x, θ^m⟩)² − y² of each draw, in O(M) if x has been seen before.

        The common y² is left out because it may be so large that differences between draws would be lost in it.

        Parameters
        ----------
        x : array of shape (d,)
            Features of the observation.
        y : float
            Its reward.

        Returns
        -------
        array of shape (M,)
            One number per draw.
        """
        predictions = self._predicted(x)
        return predictions * (predictions - 2.0 * y)

    def concerned(self, x: FloatArray) -> float:
        """Return the effective number of draws that have some coordinate of x: they do not predict zero.

        Parameters
        ----------
        x : array of shape (d,)
            Features of the observation.

        Returns
        -------
        float
            (Σ w)² / Σ w² over these draws; zero if there are none.
        """
        weights = self.weights.normalised[self._predicted(x) != 0.0]
        return float(weights.sum()) ** 2 / max(float(weights @ weights), 1e-300)

    def _predicted(self, x: FloatArray) -> FloatArray:
        key, known = x.tobytes(), self._predictions
        if key not in known:
            latest = known if len(known) < REMEMBERED else dict(islice(known.items(), 1, None))  # without the oldest
            self._predictions = known = {
                **latest,
                key: self._source.products(x) if isinstance(self._source, Rows) else self._source @ x,
            }  # a copy may be reading the other
        return known[key]

    def temper(self, x: FloatArray, y: float, variances: Any, most: float, least: float) -> tuple[float, float]:
        """Reweight by a part of the likelihood of y given x, as large as the effective number of draws allows.

        Parameters
        ----------
        x, y : array of shape (d,), float
            The observation.
        variances : float or array of shape (M,)
            Noise variance of the observation, one for all draws or one per draw.
        most : float
            Part of the observation that is left to take in.
        least : float
            Effective number of draws that must be left; the part is found by bisection.

        Returns
        -------
        part, gained : float, float
            The part that was taken in, and what it adds to the log evidence.
        """
        before, constant = self.weights, 0.0
        if np.ndim(variances) == 0 and isinstance(self._source, Rows):  # in one pass of compiled code
            from sparsebandits.posteriors.kernels.weighing import reweighted

            constant, predictions = -0.5 * (y * y / variances + math.log(2.0 * math.pi * variances)), self._predicted(x)

            def weigh(part: float) -> Weights:
                return Weights(*reweighted(before.logs, predictions, y, -0.5 * part / variances))

        else:
            misfit = self.misfit(x, y)
            if np.ndim(variances) == 0:
                log_likelihood = misfit / (-2.0 * variances)
                constant = -0.5 * (y * y / variances + math.log(2.0 * math.pi * variances))
            else:
                unit = 2.0 ** math.frexp(float(variances[0]))[1]  # so that another unit of rewards changes nothing
                log_likelihood = -0.5 * ((misfit + y * y) / variances + np.log(variances / unit))
                constant = -0.5 * math.log(2.0 * math.pi * unit)

            def weigh(part: float) -> Weights:
                return self._normalised(before.logs + part * log_likelihood)

        part, gained = self._take_in(weigh, most, least, LEAST_PART)
        return part, gained + part * constant

    def temper_by(
        self, log_likelihood: FloatArray, most: float, least: float, smallest: float = SMALLEST_PART
    ) -> tuple[float, float]:
        """Reweight by a part of some log likelihood of each draw, as large as the effective number of draws allows.

        Parameters
        ----------
        log_likelihood : array of shape (M,)
            Log likelihood of an observation under each draw.
        most, least : float
            As for :meth:`temper`.
        smallest : float
            Smallest part that is taken in at a time.

        Returns
        -------
        part, gained : float, float
            The part that was taken in, and what it adds to the log evidence.
        """
        before = self.weights.logs
        return self._take_in(lambda part: self._normalised(before + part * log_likelihood), most, least, smallest)

    def _take_in(
        self, weigh: Callable[[float], Weights], most: float, least: float, smallest: float
    ) -> tuple[float, float]:
        """Reweight by the largest part that leaves enough draws; return it, and what it adds to the log evidence."""
        before, part = self.weights.log_total, most
        after = weigh(part)
        if after.effective_size < least:
            # The effective number falls from above ``least`` at 0 to below it at ``most``.
            part = max(_bisect(weigh, part, least), min(smallest, part))
            after = weigh(part)
        self.reweight(after)
        return part, after.log_total - before

    def etas(self, x: FloatArray) -> FloatArray:
        """Return α + ⟨x, θ^m⟩ of each draw, shape ``(M,)``."""
        found = self._predicted(x)
        return found if self._intercepts is None else found + self._intercepts

    def reweight(self, weights: Weights) -> None:
        """Replace the weights."""
        self.weights = weights
        self._draws = None

    @property
    def final(self) -> Weights:
        """Weights of the draws that are handed out, with the factors."""
        return self.weights if self._log_factors is None else self._normalised(self.weights.logs + self._log_factors)

    @property
    def log_mean_factor(self) -> float:
        """Log of the weighted mean of the factors; zero if there are none."""
        return 0.0 if self._log_factors is None else self.final.log_total - self.weights.log_total

    def draws(self) -> Draws:
        """Return the draws with their weights, and the factors on these."""
        if self._draws is None:
            self._draws = Draws.trusted(self._source, self.final.normalised, self._intercepts)
        return self._draws


def _bisect(weigh: Callable[[float], Weights], most: float, least: float) -> float:
    """Return the part of the likelihood, between 0 and ``most``, that brings the effective number to ``least``."""

    def surplus(part: float) -> float:
        return weigh(part).effective_size - least

    return float(scipy.optimize.brentq(surplus, 0.0, most, xtol=1e-12, rtol=1e-9))
