"""What the parts of a saved policy have to be, besides what their constructors check: actions and pending decisions."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sparsebandits.arguments import LARGEST, shown
from sparsebandits.layouts import (
    ABOVE_ONE,
    GENERATOR,
    Absent,
    Count,
    Layout,
    Maybe,
    Names,
    Number,
    Reals,
    Word,
    read,
    wholes,
    wrong,
)
from sparsebandits.policies.actions import ActionSet, Cube
from sparsebandits.policies.decision import Decision
from sparsebandits.rules.choice import NO_ROW, Mixture, Reasons

ACTIONS: Layout = {
    "features": Reals("rows", "dimension", low=-LARGEST, high=LARGEST, order=""),
    "labels": Maybe(Names("rows")),
    "feature_names": Maybe(Names("dimension")),
    "noise_variances": Maybe(Reals("rows", low=1 / LARGEST, high=LARGEST)),
}

POLICY: Layout = {
    "rng": GENERATOR,
    "rewards": Reals("asked", low=-LARGEST, high=LARGEST, missing=True),
    "evidence": Absent(Reals("asked", low=-math.inf, high=math.inf, missing=True)),
    "start": Absent(Number(low=-LARGEST, high=LARGEST)),
}

DECISION: Layout = {
    "id": Count(),
    "action": Count(low=NO_ROW),
    "features": Reals("dimension", low=-LARGEST, high=LARGEST, order=""),
    "probability": Number(low=0.0, high=ABOVE_ONE),
    "probability_draws": Maybe(Count(low=1)),
    "labels": Maybe(Names("candidates")),
    "feature_names": Maybe(Names("drivers")),
    "noise_variance": Maybe(Number(low=1 / LARGEST, high=LARGEST)),
    "policy": Word(),
    "observation": Maybe(Reals("row")),
    "time": Maybe(Number(low=-LARGEST, high=LARGEST)),
    "exposure": Maybe(Number(low=1 / LARGEST, high=LARGEST)),
}

REASONS: Layout = {
    "candidates": wholes("candidates", low=0),
    "drivers": wholes("drivers", low=0),
    "score": Reals("candidates", low=-math.inf, high=math.inf, missing=True),
    "contributions": Reals("drivers", low=-math.inf, high=math.inf, missing=True),
    "about": Word(),
}

MIXTURE: Layout = {"first": Count(), "second": Count(), "probability": Number(low=0.0, high=ABOVE_ONE)}


def check_actions(actions: Any) -> ActionSet:
    """Return a set of actions from a file; refuse it if its parts do not fit together."""
    if not isinstance(actions, ActionSet):
        raise wrong("actions", "a set of actions", shown(actions))
    read(ACTIONS, vars(actions), more=True)
    if not (isinstance(actions, Cube) or len(actions.features)) or actions.dimension == 0:
        raise wrong("actions", "at least one action with a feature", shown(actions.features))
    return actions


def check_record(state: Mapping[str, Any], pending: Mapping[int, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return what a policy has recorded, from a file; refuse decisions that are not its own.

    Parameters
    ----------
    state : mapping
        The state of the policy.
    pending : mapping of int to Decision
        Its pending decisions by id.
    sizes : mapping of str to int
        ``asked``, ``dimension``, and ``row`` if it is known how long a learner's observations are.

    Returns
    -------
    dict
        The state of the random generator and the rewards.

    Raises
    ------
    SaveFileError
        If decisions, or rewards that are missing, are not those that await their reward.
    """
    found = read(POLICY, state, sizes, more=True)
    awaited = np.flatnonzero(np.isnan(found["rewards"])).tolist()
    if awaited != list(pending):
        raise wrong("pending", f"the {len(awaited)} decisions without a reward", f"{len(pending)} others")
    for number, decision in pending.items():
        _check_decision(number, decision, sizes)
    return found


def _check_decision(number: int, decision: Any, sizes: Mapping[str, int]) -> None:
    if not isinstance(decision, Decision) or not isinstance(decision.reasons, Reasons) or decision.id != number:
        raise wrong("pending", f"a decision with the id {number}", shown(decision))
    reasons = decision.reasons
    among = {"candidates": len(reasons.candidates), "drivers": len(reasons.drivers)}
    read(DECISION, vars(decision), {**sizes, **among}, more=True)
    read(REASONS, vars(reasons), among, more=True)
    if decision.observation is None and sizes.get("row", sizes["dimension"]) != sizes["dimension"]:
        raise wrong("observation", f"{sizes['row']} numbers", "none")
    if reasons.mixture is not None:
        mixed = read(MIXTURE, vars(reasons.mixture) if isinstance(reasons.mixture, Mixture) else None)
        if not {mixed["first"], mixed["second"]} <= set(reasons.candidates.tolist()):
            raise wrong("mixture", "two of the candidates", shown(reasons.mixture))
    for name, column in reasons.columns.items():
        if not isinstance(column, np.ndarray) or column.shape != (among["candidates"],):
            raise wrong(name, f"{among['candidates']} numbers", shown(column))
    if not all(isinstance(value, int | float) for value in reasons.notes.values()):
        raise wrong("notes", "numbers", shown(reasons.notes))
