"""What a public class can write, it can read: numbers at the border of what is accepted, in every file that is saved.

Policies of every kind are saved and continued in ``tests/policies/test_save_and_load.py``; here are the numbers.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sparsebandits as sb
from sparsebandits.arguments import LARGEST, ArgumentError
from sparsebandits.rules import Choice, Reasons, Rule
from tests.journal.decisions import ACTIONS, assert_same, assert_same_records, decision_of
from tests.policies.table import fingerprint, some_actions

ABOVE = float(np.nextafter(1.0, 2.0))  # 1.0000000000000002
BORDERS = [0.0, -0.0, 5e-324, 1e-308, 1.0, ABOVE, 1 / 3, LARGEST, -LARGEST]

numbers = st.one_of(st.sampled_from(BORDERS), st.floats(-LARGEST, LARGEST))
probabilities = st.one_of(
    st.sampled_from([5e-324, 1e-300, 1.0, ABOVE, 1.0 + 1e-9]), st.floats(0.0, 1.0, exclude_min=True)
)
texts = st.text(st.characters(), max_size=5)


def test_rounding_above_one_is_one() -> None:
    none: Any = np.empty(0)
    reasons = Reasons(none.astype(int), none, {}, {}, none.astype(int), none)
    assert Choice(0, ABOVE, reasons).probability == 1.0
    assert Choice(0, 1.0 + 1e-8, reasons).probability > 1.0, "that is no rounding, and the policy refuses it"


@dataclass(frozen=True)
class Certain(Rule):
    """A rule whose probabilities are sums with rounding."""

    def choose(self, beliefs: Any, rng: np.random.Generator) -> Choice:
        """Play the first row."""
        score = np.zeros(len(beliefs.features))
        return Choice(0, sum([0.1] * 10) + 2.0**-52 * 2, Reasons.top(0, score, {}, np.zeros(beliefs.features.shape[1])))


def test_a_policy_gives_probabilities_that_its_log_can_hold(tmp_path: Path) -> None:
    policy, log = sb.policies.LinearPolicy(ACTIONS, Certain(), seed=0), sb.journal.DecisionLog(ACTIONS)
    decision = policy.ask()
    assert decision.probability == 1.0
    log.add(decision, 1.0)
    log.save(tmp_path / "log")
    assert_same(sb.journal.DecisionLog.load(tmp_path / "log"), log)
    assert_same(sb.journal.DecisionLog.from_open_bandit(log.to_open_bandit()), log)


@given(st.lists(st.tuples(probabilities, numbers, st.integers(0, 5)), min_size=1, max_size=4))
@example([(ABOVE, LARGEST, 0)])
def test_logs(rounds: list[tuple[float, float, int]]) -> None:
    log = sb.journal.DecisionLog(ACTIONS)
    for number, (probability, reward, action) in enumerate(rounds):
        log.add(decision_of(number, action, ACTIONS[action], probability=probability), reward)
    with tempfile.TemporaryDirectory() as directory:
        log.save(f"{directory}/log")
        assert_same_records(sb.journal.DecisionLog.load(f"{directory}/log").records(), log.records())
        assert_same_records(sb.journal.JsonLines(f"{directory}/log").records(), log.records())
    assert len(sb.journal.DecisionLog.from_open_bandit(log.to_open_bandit())) == len(log)


@given(
    st.one_of(st.integers(0, 10**40), texts),
    probabilities,
    st.one_of(st.none(), numbers),
    st.one_of(st.none(), texts),
    st.dictionaries(texts, st.one_of(st.none(), st.booleans(), numbers, texts), max_size=2),
)
def test_journals(number: int | str, probability: float, reward: float | None, label: str | None, extra: Any) -> None:
    record = sb.journal.Record(
        number, 0, np.array([0.0, -0.0, 5e-324]), probability, label=label, reward=reward, extra=extra
    )
    with tempfile.TemporaryDirectory() as directory:
        sb.journal.JsonLines(f"{directory}/journal").extend([record])
        assert_same_records(sb.journal.JsonLines(f"{directory}/journal").records(), [record])


@given(
    st.dictionaries(texts, st.integers(1, 3), min_size=1, max_size=3),
    st.integers(1, 4),
    st.sampled_from([0.0, np.nan, np.inf, -np.inf, 1e308, 5e-324, -0.0]),
    st.booleans(),
)
def test_results(trials: dict[str, int], rounds: int, number: float, counted: bool) -> None:
    curves = {name: np.full((count, rounds), number) for name, count in trials.items()}
    pulls = {name: np.full((count, 2), 2**31 - 1) for name, count in trials.items()} if counted else None
    result = sb.Result(curves, {}, np.arange(2, rounds + 2), pulls, about={"note": list(trials)})
    with tempfile.TemporaryDirectory() as directory:
        try:
            result.write(f"{directory}/result")
        except ValueError:  # names that are no Unicode
            return
        back = sb.Result.load(f"{directory}/result")
    assert list(back.regret) == list(trials)
    assert all(back.regret[name].tobytes() == curves[name].tobytes() for name in curves)
    assert back.about == result.about
    if pulls is not None and back.pulls is not None:
        assert all(np.array_equal(back.pulls[name], pulls[name]) for name in pulls)


@settings(max_examples=15)
@given(st.lists(numbers, min_size=1, max_size=4), st.sampled_from(["LinTS", "LinearIDS", "SparseIDS"]))
@example([LARGEST, -LARGEST, 0.0], "SparseIDS")
def test_policies(rewards: list[float], name: str) -> None:
    options = {} if name == "LinTS" else {"n_draws": 20}
    policy = getattr(sb, name)(some_actions(), seed=0, **options)
    with tempfile.TemporaryDirectory() as directory, np.errstate(all="ignore"):
        for reward in rewards:
            try:
                policy.tell(policy.ask(), reward)
            except (ArithmeticError, ArgumentError):
                return
            policy.ask()
            policy.save(f"{directory}/policy")
            assert fingerprint(sb.load(f"{directory}/policy")) == fingerprint(policy)


@pytest.mark.parametrize("points", [None, 1, 2, 7, 40])
def test_directories(points: int | None, tmp_path: Path) -> None:
    environment = sb.environments.GaussianActions(dimension=3, sparsity=1, n_actions=4)
    made = sb.Experiment(environment, {"LinTS": sb.LinTS}, 20, 2, points=points, record=True).run(tmp_path)
    back = sb.Result.load(tmp_path)
    assert back.regret["LinTS"].tobytes() == made.regret["LinTS"].tobytes()
