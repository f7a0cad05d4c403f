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
    flags,
    read,
    wholes,
    wrong,
)
from sparsebandits.policies.actions import ActionSet, Region
from sparsebandits.policies.decision import Decision
from sparsebandits.policies.items import Items
from sparsebandits.rules.choice import NO_ROW, Mixture, Reasons

ACTIONS: Layout = {
    "features": Reals("rows", "dimension", low=-LARGEST, high=LARGEST, order=""),
    "labels": Maybe(Names("rows")),
    "feature_names": Maybe(Names("dimension")),
    "noise_variances": Maybe(Reals("rows", low=1 / LARGEST, high=LARGEST)),
    "feedback": Maybe(flags("rows", "rows")),
}

POLICY: Layout = {
    "rng": GENERATOR,
    "rewards": Reals("asked", low=-LARGEST, high=LARGEST, missing=True),
    "evidence": Absent(Reals("asked", low=-math.inf, high=math.inf, missing=True)),
    "start": Absent(Number(low=-LARGEST, high=LARGEST)),
    "recent": Absent(Reals("recent", "columns", low=-LARGEST, high=LARGEST)),
    "shown": Absent(
        {
            "id": wholes("told", low=0),
            "action": wholes("told", low=0),
            "reward": Reals("readings", low=-LARGEST, high=LARGEST),
        }
    ),
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
"""``context``, ``available`` and ``observed`` are checked below."""

OBSERVED: Layout = {
    "observation": Reals("observed", "dimension", low=-LARGEST, high=LARGEST, order=""),
    "observed_noise": Maybe(Reals("observed", low=1 / LARGEST, high=LARGEST)),
    "observed_labels": Maybe(Names("observed")),
}
"""Of decisions with a feedback graph."""


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
    if isinstance(actions, Items):
        actions.check()
    if not (isinstance(actions, Region) or len(actions.features)) or actions.dimension == 0:
        raise wrong("actions", "at least one action with a feature", shown(actions.features))
    return actions


def _check_asked(decision: Decision) -> None:
    """Refuse a context that is no row of a table, and available actions that are no rows."""
    context, available = decision.context, decision.available
    cells = () if context is None else context.values() if isinstance(context, Mapping) else (None,)
    if not all(isinstance(one, str | bool) or (isinstance(one, float) and math.isfinite(one)) for one in cells):
        raise wrong("context", "numbers, booleans and text by name", shown(context))
    rows = () if available is None else available if isinstance(available, tuple) else (None,)
    if not all(type(row) is int and row >= 0 for row in rows) or (
        available is not None and decision.action not in rows
    ):
        raise wrong("available", "rows of actions, the chosen one among them", shown(available))


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
    told = found.get("shown", {"id": ()})["id"]  # with a feedback graph, a decision need not show its own reward
    awaited = np.setdiff1d(np.flatnonzero(np.isnan(found["rewards"])), told).tolist()
    if awaited != list(pending):
        raise wrong("pending", f"the {len(awaited)} decisions without a reward", f"{len(pending)} others")
    for number, decision in pending.items():
        _check_decision(number, decision, sizes)
    return found


def check_feedback(
    actions: ActionSet, record: Mapping[str, Any], pending: Mapping[int, Decision]
) -> dict[int, tuple[int, tuple[float, ...]]]:
    """Return what decisions with a feedback graph have shown, from a file; refuse what the graph does not show.

    Parameters
    ----------
    actions : ActionSet
        The actions of the policy, with its graph if there is one.
    record : mapping
        What :func:`check_record` returned.
    pending : mapping of int to Decision
        The pending decisions by id.

    Returns
    -------
    dict of int to (int, tuple of float)
        Action and rewards by id; empty if there is no graph.

    Raises
    ------
    SaveFileError
        If decisions or rewards are not those of the graph.
    """
    for decision in pending.values():
        if actions.feedback is not None and not 0 <= decision.action < len(actions):
            raise wrong("action", f"a row below {len(actions)}", shown(decision.action))
        rows = actions.observed(decision.action)
        if decision.observed != rows:
            raise wrong("observed", f"the rows {rows} that the graph shows", shown(decision.observed))
        if rows is not None:
            own, noise = {"observed": len(rows), "dimension": actions.dimension}, actions.noise_variances
            read(OBSERVED, {"observed_labels": None, **vars(decision)}, own, more=True)
            if (decision.observed_noise is None) != (noise is None):
                raise wrong("observed_noise", "numbers if, and only if, actions have noise variances", "others")
    if (actions.feedback is None) != ("shown" not in record):
        raise wrong("shown", "rewards if, and only if, there is a feedback graph", "others")
    if actions.feedback is None:
        return {}
    saved = record["shown"]
    ids, chosen, rewards = saved["id"].tolist(), saved["action"].tolist(), saved["reward"].tolist()
    told = set(range(len(record["rewards"]))) - set(pending)
    if len(ids) != len(told) or set(ids) != told or any(action >= len(actions) for action in chosen):
        raise wrong("shown", f"the {len(told)} decisions that were told", f"{len(ids)} others")
    found, start = {}, 0
    for number, action in zip(ids, chosen, strict=True):
        rows = actions.observed(action) or ()
        values = tuple(rewards[start : start + len(rows)])
        start += len(rows)
        expected = dict(zip(rows, values, strict=False)).get(action, math.nan)
        if not np.array_equal(record["rewards"][number], expected, equal_nan=True):
            raise wrong("shown", f"the reward of decision {number}", "another one")
        found[number] = (action, values)
    if start != len(rewards):
        raise wrong("shown", f"{start} rewards", f"{len(rewards)}")
    return found


def _check_decision(number: int, decision: Any, sizes: Mapping[str, int]) -> None:
    if not isinstance(decision, Decision) or not isinstance(decision.reasons, Reasons) or decision.id != number:
        raise wrong("pending", f"a decision with the id {number}", shown(decision))
    reasons = decision.reasons
    among = {"candidates": len(reasons.candidates), "drivers": len(reasons.drivers)}
    with_graph = decision.observed is not None
    learnt = {name: value for name, value in vars(decision).items() if not (with_graph and name == "observation")}
    read(DECISION, {"observation": None, **learnt}, {**sizes, **among}, more=True)
    read(REASONS, vars(reasons), among, more=True)
    if decision.observation is None and sizes.get("row", sizes["dimension"]) != sizes["dimension"]:
        raise wrong("observation", f"{sizes['row']} numbers", "none")
    _check_asked(decision)
    if reasons.mixture is not None:
        mixed = read(MIXTURE, vars(reasons.mixture) if isinstance(reasons.mixture, Mixture) else None)
        if not {mixed["first"], mixed["second"]} <= set(reasons.candidates.tolist()):
            raise wrong("mixture", "two of the candidates", shown(reasons.mixture))
    for name, column in reasons.columns.items():
        if not isinstance(column, np.ndarray) or column.shape != (among["candidates"],):
            raise wrong(name, f"{among['candidates']} numbers", shown(column))
    if not all(isinstance(value, int | float) for value in reasons.notes.values()):
        raise wrong("notes", "numbers", shown(reasons.notes))
