"""What is learnt from decisions and what was told of them: rows, and numbers per reward.

A decision has one reward, that of its action, or the rewards of all actions that it shows if there is a feedback graph
(``feedback.py``); that may be none at all. Arrays here have one entry per reward, in the order of decisions.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from sparsebandits.arguments import FloatArray
from sparsebandits.policies.decision import Decision

Reading: TypeAlias = float | tuple[float, ...]
"""What was told of a decision: its reward, or those of all actions that it shows."""


def learnt_rows(decision: Decision) -> FloatArray:
    """Return the rows that are learnt from with the rewards of a decision.

    Parameters
    ----------
    decision : Decision
        The decision.

    Returns
    -------
    array of shape (n, d)
    """
    if decision.observation is None:
        return decision.features[np.newaxis]
    return decision.observation if decision.observed is not None else decision.observation[np.newaxis]


def several(reading: Reading) -> tuple[float, ...]:
    """Return all rewards of a decision.

    Parameters
    ----------
    reading : float or tuple of float
        What was told of it.

    Returns
    -------
    tuple of float
    """
    return reading if isinstance(reading, tuple) else (reading,)


def own_reward(decision: Decision, reading: Reading) -> float:
    """Return the reward of the chosen action itself.

    Parameters
    ----------
    decision : Decision
        The decision.
    reading : float or tuple of float
        What was told of it.

    Returns
    -------
    float
        NaN if the decision does not show it.
    """
    if not isinstance(reading, tuple):
        return reading
    return dict(zip(decision.observed or (), reading, strict=True)).get(decision.action, math.nan)


def record_reward(journal: Any, decision: Decision, reading: Reading, own: float) -> None:
    """Let a journal record what was told of a decision.

    Parameters
    ----------
    journal : Recorder
        The journal.
    decision : Decision
        The decision.
    reading : float or tuple of float
        What was told of it.
    own : float
        The reward of the chosen action itself, which is recorded if there is no feedback graph.
    """
    if decision.observed is None:
        journal.rewarded(decision, own)
        return
    by_row = dict(zip(decision.observed, several(reading), strict=True))
    journal.rewarded(decision, by_row.get(decision.action), by_row)


def of_each(decisions: Sequence[Decision], of: Callable[[Decision], float | None]) -> FloatArray:
    """Return a number of each decision, once per reward that it shows.

    Parameters
    ----------
    decisions : sequence of Decision
        The decisions.
    of : function
        Gives the number.

    Returns
    -------
    array of shape (n,)
    """
    times = [1 if one.observed is None else len(one.observed) for one in decisions]
    return np.repeat(np.array([of(one) for one in decisions], dtype=np.float64), times)


def exposures(decisions: Sequence[Decision]) -> FloatArray | None:
    """Return the exposure of each reward, 1 by default.

    Parameters
    ----------
    decisions : sequence of Decision
        The decisions.

    Returns
    -------
    array of shape (n,) or None
        None if no decision has an exposure.
    """
    if all(one.exposure is None for one in decisions):
        return None
    return of_each(decisions, lambda one: 1.0 if one.exposure is None else one.exposure)


def evidence_of_exposures(counts: FloatArray, exposed: FloatArray) -> list[float]:
    """Return what is missing in the log evidence of counts with an exposure, which engines have up to a constant.

    An engine takes a count y at exposure n for n rewards of y / n, with −n log Γ(y / n + 1) for y log n − log y!.

    Parameters
    ----------
    counts, exposed : array of shape (n,)
        The counts and their exposures.

    Returns
    -------
    list of float
        What is missing, of each count.
    """
    return [
        y * math.log(n) - math.lgamma(y + 1.0) + n * math.lgamma(y / n + 1.0)
        for y, n in zip(counts.tolist(), exposed.tolist(), strict=True)
    ]
