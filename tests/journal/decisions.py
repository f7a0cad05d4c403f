"""Logs and decisions that the tests of journals share."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sparsebandits as sb
from sparsebandits.arguments import LARGEST, FloatArray, frozen
from sparsebandits.policies.actions import ActionSet
from sparsebandits.rules.choice import Reasons
from tests.policies.table import some_actions

ACTIONS = some_actions()
COLUMNS = ("action", "reward", "pscore", "pscore_draws", "actions")


def measure(decision: sb.Decision) -> float:
    """A reward with noise that depends on the decision alone."""
    return float(decision.features.sum() + np.random.default_rng(decision.id).standard_normal())


def assert_same(one: sb.journal.DecisionLog, other: sb.journal.DecisionLog) -> None:
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
        assert getattr(one, name).dtype == getattr(other, name).dtype


def changing_log(rounds: int = 6) -> sb.journal.DecisionLog:
    policy, log = sb.LinTS(ACTIONS, seed=0), sb.journal.DecisionLog()
    for t in range(rounds):
        offered = some_actions(seed=t)
        decision = policy.ask(offered)
        policy.tell(decision, measure(decision))
        log.add(decision, measure(decision), offered)
    return log


def decision_of(number: int, action: int, features: Any, **given: Any) -> sb.Decision:
    """A decision as a policy makes it, with nothing to explain it."""
    none: Any = np.empty(0)
    settings: dict[str, Any] = {
        "probability": 0.5,
        "probability_draws": None,
        "labels": None,
        "feature_names": None,
        "noise_variance": None,
        "policy": "LinTS",
    }
    reasons = Reasons(none.astype(int), none, {}, {}, none.astype(int), none)
    return sb.Decision(id=number, action=action, features=features, reasons=reasons, **{**settings, **given})


def record_fields(record: sb.journal.Record) -> dict[str, Any]:
    """What a record holds, so that two of them can be compared to the bit; times are those of the writing."""
    fields = {name: getattr(record, name) for name in record.__dataclass_fields__ if name != "time"}
    fields["features"] = record.features.tobytes()
    if record.offered is not None:
        names = record.offered.labels, record.offered.feature_names
        fields["offered"] = (record.offered.features.shape, record.offered.features.tobytes(), *names)
    return {**fields, "extra": dict(record.extra)}


def assert_same_records(one: Any, other: Any) -> None:
    assert [record_fields(record) for record in one] == [record_fields(record) for record in other]


numbers = st.floats(-LARGEST, LARGEST)
rewards = st.one_of(numbers, st.none())


@st.composite
def action_sets(draw: st.DrawFn, shape: tuple[int, int] | None = None) -> ActionSet:
    """Actions with any numbers and names."""
    rows, columns = shape or draw(st.tuples(st.integers(1, 4), st.integers(1, 3)))
    features: FloatArray = draw(hnp.arrays(np.float64, (rows, columns), elements=numbers))
    labels = draw(st.one_of(st.none(), st.lists(st.text(), min_size=rows, max_size=rows).map(tuple)))
    names = draw(st.one_of(st.none(), st.lists(st.text(), min_size=columns, max_size=columns).map(tuple)))
    return ActionSet(frozen(features), labels, names)


@st.composite
def rounds(draw: st.DrawFn, fixed_shape: bool = False) -> list[tuple[sb.Decision, ActionSet, float | None]]:
    """Decisions from a few sets of actions, with rewards or None."""
    shape = (3, 2) if fixed_shape else None
    sets = draw(st.lists(action_sets(shape), min_size=1, max_size=3))
    found = []
    for number in draw(st.lists(st.integers(0, 2**60), max_size=6, unique=True)):
        offered = draw(st.sampled_from(sets))
        action = draw(st.integers(0, len(offered) - 1))
        decision = decision_of(
            number,
            action,
            offered.features[action],
            probability=draw(st.floats(0, 1, exclude_min=True)),
            probability_draws=draw(st.one_of(st.none(), st.integers(1, 2**40))),
            labels=None if offered.labels is None else (offered.labels[action],),
            noise_variance=draw(st.one_of(st.none(), st.floats(1e-50, 1e50))),
            policy=draw(st.text()),
        )
        found.append((decision, offered, draw(rewards)))
    return found
