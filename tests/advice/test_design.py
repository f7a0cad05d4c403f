"""The exploration of a set of actions, as the command design says it."""

import numpy as np
import pandas as pd
import pytest

from sparsebandits.advice.design import Exploration


def test_exploration_of_a_set_with_names() -> None:
    corners = pd.DataFrame({"x": [1.0, 1.0, -1.0, 0.1], "y": [1.0, -1.0, 1.0, 0.2]}, index=["a", "b", "c", "d"])
    found = Exploration.of(corners)
    assert "C_min = 1, certified: no distribution has more than 1" in found.report()
    assert "Exploratory: C_min ≥ 1." in found.report()
    assert found.weights()[0] == {"row": 1, "action": "a", "weight": pytest.approx(0.5)}, "alone on its axis"
    assert "d" not in [row["action"] for row in found.weights()]
    assert found.to_dict()["weights"] == found.weights()
    assert str(found.table()).splitlines()[0].split() == ["row", "action", "weight"]
    lines = found.to_csv().splitlines()
    assert lines[0] == "row,action,weight"
    assert [float(line.split(",")[2]) for line in lines[1:]] == found.design.weights.tolist()
    assert "… and 2 more" in found.report(1)
    assert Exploration.of(np.eye(2)).to_csv() == "row,weight\n1,0.5\n2,0.5\n"


def test_exploration_of_a_set_that_does_not_span() -> None:
    frame = pd.DataFrame({"net": [1.0, 2.0, 3.0], "tax": [0.4, 0.2, 0.9], "zero": 0.0})
    frame["gross"] = 2.5 * frame["net"] - frame["tax"]
    found = Exploration.of(frame)
    report = found.report()
    assert "C_min = 0: the actions span 2 of 4 dimensions" in report
    assert "zero is zero in all actions" in report
    assert [one["feature"] for one in found.to_dict()["unseen"]] == ["net", "zero"]
    assert "net = 0.4 · tax + 0.4 · gross in all actions" in report
    assert not found.to_dict()["exploratory"]
    few = Exploration.of(np.arange(1.0, 9.0)[np.newaxis])
    assert "… and 2 more features like these" in few.report()
    assert "feature 1 = 0.125 · feature 8 in all actions" in few.report()
