"""Rows are data with stable keys; what is printed is made from them and never read back."""

import json

import numpy as np

import sparsebandits as sb
from sparsebandits.results import Rows

CURVES = np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 7.0]])
RESULT = sb.Result({"A": CURVES, "B": 2 * CURVES[:, ::-1].cumsum(axis=1)}, {"A": np.ones(2), "B": np.ones(2)})

KEYS = {
    "table": ["policy", "final regret", "95% from", "to", "seconds a decision"],
    "at": ["policy", "round", "regret", "95% from", "to", "trials"],
    "compare": ["policy", "baseline", "difference", "95% from", "to", "ratio", "wins", "trials"],
    "wins": ["policy", "baseline", "wins", "losses", "ties", "sign test p"],
    "growth": ["policy", "exponent", "95% from", "to", "still growing", "trials"],
    "pull_table": ["policy", "pulls", "95% from", "to", "median", "fewest", "most"],
}


def every(baseline: str) -> dict[str, Rows]:
    pulls = {name: np.array([[1, 2], [0, 3]]) for name in "AB"}
    counted = sb.Result(RESULT.regret, RESULT.seconds, pulls=pulls)
    return {
        "table": counted.table(),
        "at": counted.at([1, 3]),
        "compare": counted.compare(baseline),
        "wins": counted.wins(baseline),
        "growth": counted.growth(),
        "pull_table": counted.pull_table([0]),
    }


def test_keys_do_not_depend_on_names() -> None:
    """Scripts that read the JSON rely on these keys. Planted bug: a heading such as "against B" as a key."""
    for baseline in ("A", "B"):
        for name, rows in every(baseline).items():
            assert [list(row) for row in rows.to_dicts()] == [KEYS[name]] * len(rows), name


def test_numbers_are_numbers() -> None:
    """Planted bug: a printed cell such as "1 of 2" in the data."""
    for rows in every("A").values():
        for row in rows:
            words = [value for value in row.values() if isinstance(value, str)]
            assert set(words) <= {"A", "B"}
    assert "0 of 2" in str(RESULT.compare("A"))
    assert "of 2" in str(RESULT.growth())


def test_rows_are_a_sequence_and_json() -> None:
    rows = Rows.of([{"policy": "A", "regret": 1.5}, {"policy": "B", "regret": np.nan}], {"regret": "regret, mean"})
    assert len(rows) == 2
    assert [row["policy"] for row in rows] == ["A", "B"]
    assert rows[0] == {"policy": "A", "regret": 1.5}
    assert [row["policy"] for row in rows[1:]] == ["B"]
    assert json.loads(json.dumps(rows.to_dicts(), allow_nan=False))[1] == {"policy": "B", "regret": None}
    assert str(rows).splitlines()[0].split() == ["policy", "regret,", "mean"]
    assert repr(rows) == "Rows(2 of policy, regret)"
    assert list(rows.to_pandas().columns) == ["policy", "regret"]
    assert Rows.of([{"a": 1}]) == Rows.of([{"a": 1}]) != Rows.of([{"a": 2}])


def test_seconds_may_be_unknown() -> None:
    assert sb.Result(RESULT.regret, {}).table().to_dicts()[0]["seconds a decision"] is None
