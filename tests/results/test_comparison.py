"""Statistics of a result against plain versions of them, and questions that are refused."""

from math import comb
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sparsebandits as sb
from sparsebandits.results.statistics import group_pulls, mean_interval, sign_test

RNG = np.random.default_rng(0)


def result(trials: int = 8, rounds: int = 40, **changes: Any) -> sb.Result:
    regret = {name: RNG.exponential(scale, (trials, rounds)).cumsum(axis=1) for name, scale in zip("ABC", (1, 2, 1.1))}  # noqa: B905
    return sb.Result(regret, {name: np.full(trials, 0.001) for name in regret}, **changes)


def slow_sign_test(wins: int, losses: int) -> float:
    """The probability, under a fair coin, of a split that is at most as likely as the observed one."""
    n = wins + losses
    return sum(comb(n, k) for k in range(n + 1) if comb(n, k) <= comb(n, wins)) / float(2**n)


@pytest.mark.parametrize(
    ("wins", "losses", "ties"), [(0, 0, 3), (1, 0, 0), (5, 5, 2), (9, 1, 0), (2, 14, 5), (150, 50, 0)]
)
def test_the_sign_test_against_its_definition(wins: int, losses: int, ties: int) -> None:
    found = sign_test(np.repeat([-1.0, 2.0, 0.0], [wins, losses, ties]))
    assert (found.wins, found.losses, found.ties) == (wins, losses, ties)
    assert found.p_value == pytest.approx(slow_sign_test(wins, losses))


def test_the_sign_test_errs_as_seldom_as_it_says() -> None:
    """Of 400 fair comparisons about 3% are below 0.05 (the test is discrete); with ties as wins, far more."""
    rng = np.random.default_rng(1)
    differences = rng.integers(-1, 2, size=(400, 40)).astype(float)
    assert np.mean([sign_test(row).p_value < 0.05 for row in differences]) < 0.07
    assert np.mean([sign_test(np.where(row == 0, -1, row)).p_value < 0.05 for row in differences]) > 0.3


def test_regret_at_rounds() -> None:
    found = result()
    table = found.at([40, 10, 10]).to_dicts()
    assert [row["round"] for row in table] == [10] * 3 + [40] * 3
    for row in table:
        values = found.regret[str(row["policy"])][:, int(str(row["round"])) - 1]
        low, high = mean_interval(values)
        assert list(row.values())[2:] == [float(values.mean()), float(low), float(high), 8]
    assert [row["regret"] for row in table[:3]] == sorted(float(str(row["regret"])) for row in table[:3])


def test_thinned_rounds_are_addressed_by_their_number() -> None:
    rounds = np.array([1, 10, 100, 1000])
    found = result(rounds=4)
    thinned = sb.Result(found.regret, found.seconds, rounds)
    assert thinned.horizon == 1000
    np.testing.assert_array_equal(thinned.regret_at("A", 100), found.regret["A"][:, 2])
    np.testing.assert_array_equal(thinned.final("A"), found.regret["A"][:, 3])
    with pytest.raises(
        ValueError, match="rounds: expected a recorded round, got 50; the nearest recorded rounds are 10 and 100"
    ):
        thinned.at([50])
    with pytest.raises(ValueError, match="at: expected rounds up to the horizon, 1000, got 1001"):
        thinned.compare("A", at=1001)


def test_comparisons_at_a_round() -> None:
    found = result()
    (row,) = (row for row in found.compare("B", at=7).to_dicts() if row["policy"] == "A")
    difference = found.regret["A"][:, 6] - found.regret["B"][:, 6]
    assert row["difference"] == pytest.approx(difference.mean())
    assert (row["95% from"], row["to"]) == pytest.approx([float(end) for end in mean_interval(difference)])
    (won,) = (row for row in found.wins("B", at=7).to_dicts() if row["policy"] == "A")
    wins = sum(a < b for a, b in zip(found.regret["A"][:, 6], found.regret["B"][:, 6], strict=True))
    expected = {"wins": wins, "losses": 8 - wins, "ties": 0}
    assert won == {"policy": "A", "baseline": "B", **expected, "sign test p": won["sign test p"]}
    assert won["sign test p"] == pytest.approx(slow_sign_test(wins, 8 - wins))


def test_fewer_trials_are_compared_on_those_that_both_have() -> None:
    """Fails if the last trials are used, or the mean over all trials of the baseline."""
    found = result()
    fewer = sb.Result({**found.regret, "C": found.regret["C"][:3]}, found.seconds)
    (row,) = (row for row in fewer.compare("A").to_dicts() if row["policy"] == "C")
    assert row["difference"] == pytest.approx((found.final("C")[:3] - found.final("A")[:3]).mean())
    assert row["trials"] == 3
    assert "of 3" in str(fewer.compare("A"))
    assert [row["trials"] for row in fewer.at([40]).to_dicts() if row["policy"] == "C"] == [3]


def test_growth_table() -> None:
    rounds = np.arange(1.0, 201.0)
    regret = {"linear": np.outer([1.0, 2.0], rounds), "none": np.zeros((2, 200)), "root": np.outer([3, 3], rounds**0.5)}
    rows = {row["policy"]: row for row in sb.Result(regret, {}).growth().to_dicts()}
    assert rows["linear"]["exponent"] == pytest.approx(1.0)
    assert rows["linear"]["still growing"] == 2
    assert rows["root"]["exponent"] == pytest.approx(0.5)
    assert rows["root"]["still growing"] == 0
    assert rows["none"]["exponent"] is None
    assert rows["none"]["still growing"] == 0
    assert {row["trials"] for row in rows.values()} == {2}
    assert "2 of 2" in str(sb.Result(regret, {}).growth())


def slow_pulls(pulls: NDArray[Any], group: set[int]) -> list[int]:
    return [sum(int(count) for action, count in enumerate(row) if action in group) for row in pulls]


def test_pulls_of_a_group() -> None:
    pulls = RNG.integers(0, 20, size=(6, 9))
    for group in ({0}, {2, 5, 8}):
        mask = np.array([action in group for action in range(9)])
        for actions in (sorted(group), np.array(sorted(group)), mask, np.tile(mask, (6, 1)), np.tile(mask, (9, 1))):
            assert group_pulls(pulls, actions).tolist() == slow_pulls(pulls, group)
    varying = RNG.random((6, 9)) < 0.5
    assert group_pulls(pulls, varying).tolist() == [
        slow_pulls(p[None], set(np.flatnonzero(m)))[0] for p, m in zip(pulls, varying, strict=True)
    ]
    found = result(6, pulls={"A": pulls, "B": pulls + 1})
    rows = found.pull_table([0, 1]).to_dicts()
    counts = slow_pulls(pulls, {0, 1})
    assert [row["policy"] for row in rows] == ["B", "A"]
    assert rows[1]["pulls"] == float(np.mean(counts))
    assert (rows[1]["fewest"], rows[1]["most"]) == (min(counts), max(counts))


@pytest.mark.parametrize(
    ("actions", "kind", "message"),
    [
        ([9], ValueError, "actions: expected row numbers from 0 to 8"),
        ([-1], ValueError, "actions: expected row numbers from 0 to 8"),
        ([], TypeError, "actions: expected booleans or row numbers"),
        ([0.5], TypeError, "actions: expected booleans or row numbers"),
        ([[1], [2, 3]], TypeError, "actions: expected booleans or row numbers"),
        ("abc", TypeError, "actions: expected booleans or row numbers"),
        ([True, False], ValueError, r"actions: expected \(9,\) or \(6, 9\) booleans, got shape \(2,\)"),
    ],
)  # fmt: skip
def test_invalid_groups_are_refused(actions: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        group_pulls(np.zeros((6, 9), dtype=int), actions)


def test_invalid_results_are_refused() -> None:
    curve = np.ones((2, 3))
    bad: list[tuple[Any, Any, str]] = [
        ({}, None, "regret: expected the curves of at least one policy"),
        ({"A": np.ones(3)}, None, r"regret\['A'\]: expected shape \(trials, rounds\), got \(3,\)"),
        ({"A": np.ones((0, 3))}, None, r"regret\['A'\]: expected shape"),
        (
            {"A": curve, "B": np.ones((2, 4))},
            None,
            r"regret: expected the same number of rounds for every policy, got \[3, 4\]",
        ),
        ({"A": curve}, np.array([1, 2]), "rounds: expected 3 increasing numbers from 1"),
        ({"A": curve}, np.array([0, 1, 2]), "rounds: expected 3 increasing numbers from 1"),
        ({"A": curve}, np.array([1, 3, 2]), "rounds: expected 3 increasing numbers from 1"),
    ]
    for regret, rounds, message in bad:
        with pytest.raises(ValueError, match=message):
            sb.Result(regret, {}, rounds)


def test_unanswerable_questions_are_refused(tmp_path: Any) -> None:
    found = result()
    many: Any
    for many, kind in (([], ValueError), (5, TypeError), ("10", TypeError), ([0], ValueError), ([1.5], TypeError)):
        with pytest.raises(kind, match="rounds: expected"):
            found.at(many)
    with pytest.raises(ValueError, match="rounds: expected rounds up to the horizon, 40, got 41"):
        found.at([10, 41])
    with pytest.raises(ValueError, match="pulls: expected a result with counts of actions"):
        found.pulls_of([0])
    for method in (found.compare, found.wins):
        with pytest.raises(ValueError, match="baseline: expected one of A, B, C, got 'D'"):
            method("D")
    alone = sb.Result({"A": found.regret["A"]}, found.seconds)
    assert len(alone.compare("A")) == len(alone.wins("A")) == 0
    assert str(alone.compare("A")).startswith("against A")
    with pytest.raises(ValueError, match="baseline: expected another policy to compare it with, got 'A' alone"):
        alone.plot_differences(tmp_path / "x.png", "A")


def test_one_trial_has_no_intervals() -> None:
    found = result(trials=1)
    for table in (found.table(), found.at([3]), found.compare("A"), found.growth()):
        assert {row["95% from"] for row in table.to_dicts()} == {None}
    assert {row["sign test p"] for row in found.wins("A").to_dicts()} == {1.0}


def test_methods_draw(tmp_path: Any) -> None:
    found = result(pulls={name: RNG.integers(0, 9, (8, 4)) for name in "ABC"})
    found.plot(tmp_path / "1.png", "t")
    found.plot_differences(tmp_path / "2.svg", "B", "t")
    found.plot_at(tmp_path / "3.png", [10, 40], "t")
    found.plot_pulls(tmp_path / "4.svg", [0, 3], "t", "two actions")
    assert all(file.stat().st_size > 1000 for file in tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) == 4
