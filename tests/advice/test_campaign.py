"""Campaigns: recommendations, rewards, what is pending, and one file that keeps all of it."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sparsebandits as sb
from sparsebandits.advice import campaign as module
from sparsebandits.arguments import SaveFileError

QUICK: dict[str, Any] = {"policy": "lin-ucb", "seed": 0}


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(8, 2)), columns=["x", "y"], index=list("abcdefgh"))
    return frame.assign(kind=["red", "blue"] * 4, reward=[1.0, 2.0, *[np.nan] * 6])


def test_recommendations_are_those_of_decide_with_the_same_rewards() -> None:
    campaign = sb.Campaign(table(), **QUICK)
    first = campaign.recommend(2)
    names = [one.name for one in first.recommendations]
    assert names == [one.name for one in sb.decide(table(), batch=2, **QUICK).recommendations]
    assert campaign.pending == names
    campaign.tell({names[0]: 3.0, names[1]: 2.5})
    assert campaign.pending == []
    second = campaign.recommend()
    told = sb.decide(table(), {names[0]: [3.0], names[1]: [2.5]}, **QUICK)
    assert second.recommendations[0].name == told.recommendations[0].name
    assert second.about["observations"] == 4
    assert list(campaign.told) == [{"action": names[0], "reward": 3.0}, {"action": names[1], "reward": 2.5}]


def test_what_is_pending_counts() -> None:
    campaign = sb.Campaign(table(), untried=True, **QUICK)
    names = [campaign.recommend().recommendations[0].name for _ in range(6)]
    assert sorted(names) == list("cdefgh")
    with pytest.raises(ValueError, match="untried: expected actions without a past reward"):
        campaign.recommend()
    campaign.withdraw(names[0])
    assert campaign.recommend().recommendations[0].name == names[0]
    campaign.withdraw()
    assert campaign.pending == []


def test_a_reward_can_be_taken_back() -> None:
    campaign = sb.Campaign(table(), **QUICK)
    campaign.tell("c", 100.0)
    campaign.tell("c", 3.0)
    assert campaign.take_back("c") == 3.0
    assert [row["reward"] for row in campaign.told] == [100.0]
    with pytest.raises(ValueError, match="a candidate whose reward was told"):
        campaign.take_back("d")


def test_advice_changes_nothing() -> None:
    campaign = sb.Campaign(table(), **QUICK)
    assert campaign.advice(2).recommendations[0].name == campaign.recommend().recommendations[0].name
    assert len(campaign.pending) == 1


def test_a_saved_campaign_is_kept_in_its_file(tmp_path: Path) -> None:
    """A reward that was told after ``save`` was in memory only."""
    campaign, name = sb.Campaign(table(), **QUICK), str(table().index[0])
    campaign.save(tmp_path / "one.campaign")
    campaign.tell(name, 4.0)
    campaign.save(tmp_path / "copy.campaign")
    campaign.tell(name, 5.0)
    assert [len(sb.Campaign.load(tmp_path / f"{one}.campaign").told) for one in ("one", "copy")] == [2, 1]


@pytest.mark.parametrize("kind", ["frame", "csv", "xlsx"])
def test_one_file_keeps_all_of_it(kind: str, tmp_path: Path) -> None:
    source: Any = table()
    if kind == "csv":
        source = tmp_path / "t.csv"
        text = table().rename_axis("name").reset_index().to_csv(index=False, sep=";", decimal=",")
        source.write_text(text, encoding="latin-1")
    elif kind == "xlsx":
        source = tmp_path / "t.xlsx"
        table().assign(day=pd.date_range("2025-01-01", periods=8)).rename_axis("name").to_excel(source)
    path = tmp_path / "coatings.campaign"
    campaign = sb.Campaign(source, path=path, **QUICK)
    name = campaign.recommend(2).recommendations[0].name
    campaign.tell(name, 2.5)
    copy = sb.Campaign.load(path)
    assert (copy.pending, list(copy.told)) == (campaign.pending, list(campaign.told))
    mine, theirs = campaign.advice(3), copy.advice(3)
    assert json.dumps(mine.to_dict()) == json.dumps(theirs.to_dict())
    copy.tell(copy.pending[0], 1.0)
    assert len(sb.Campaign.load(path).told) == 2, "a loaded campaign is kept in its file"


def test_a_failed_write_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = sb.Campaign(table(), path=tmp_path / "c", **QUICK)

    def fail(path: Path, content: bytes) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(module, "write_atomically", fail)
    with pytest.raises(OSError, match="disk full"):
        campaign.tell("a", 1.0)
    with pytest.raises(OSError, match="disk full"):
        campaign.recommend()
    assert (list(campaign.told), campaign.pending) == ([], [])


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "c"
    sb.Campaign(table(), path=path, **QUICK).tell("a", 1.0)
    with pytest.raises(ValueError, match=r"a new file, or Campaign\.load"):
        sb.Campaign(table(), path=path, **QUICK)
    assert len(sb.Campaign.load(path).told) == 1


@pytest.mark.parametrize("name", ["z", 3, None])
def test_unknown_candidates_are_refused(name: Any) -> None:
    campaign = sb.Campaign(table(), **QUICK)
    with pytest.raises((ValueError, TypeError)):
        campaign.tell({"a": 1.0, name: 2.0})
    with pytest.raises((ValueError, TypeError)):
        campaign.tell("a", np.nan)
    with pytest.raises((ValueError, TypeError)):
        campaign.tell("a", None)
    assert len(campaign.told) == 0


def test_unknown_options_are_refused() -> None:
    with pytest.raises(TypeError, match=r"one of the options .*; did you mean 'policy'\?"):
        sb.Campaign(table(), policies="lin-ucb")
    with pytest.raises(TypeError, match="one of the options"):
        sb.Campaign(table(), **QUICK).recommend(name="x")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "sparse"}, "policy: expected one of"),
        ({"n_draws": 2}, "n_draws: expected"),
        ({"seed": -1}, "seed: expected"),
        ({"horizon": 0}, "horizon: expected"),
        ({"horizon": 5, "policy": "lin-ucb"}, "horizon: expected none"),
        ({"noise_variance": -1.0}, "noise_variance: expected"),
        ({"noise_variance": 1.0, "family": "bernoulli"}, "noise_variance: expected none"),
        ({"family": "normal"}, "family: expected one of"),
        ({"family": "bernoulli"}, "rewards"),
        ({"untried": "yes"}, "untried: expected"),
        ({"minimize": 1}, "minimize: expected"),
        ({"minimize": True, "target": 1.0}, "target: expected no other goal"),
        ({"minimize": True, "cost": "price"}, "cost: expected no other goal"),
        ({"minimize": True, "family": "poisson"}, "family: expected gaussian"),
        ({"cost": "price", "policy": "lin-ucb"}, 'cost: expected none for a policy other than "sparse-ids"'),
        ({"target": 1e40}, "target: expected a finite number of magnitude at most 1e+12"),
        ({"target": "close"}, "target: expected a number"),
        ({"effects": "cubic"}, "effects: expected one of"),
        ({"effects": "quadratic", "policy": "lin-ucb"}, 'effects: expected "linear"'),
        ({"where": "z < 3"}, "a column 'z'"),
        ({"where": "price < 0"}, "where: expected constraints that some action satisfies"),
        ({"where": 3}, "where: expected"),
        ({"cost": "z"}, "a column 'z'"),
        ({"columns": {"x": "ignored"}}, "columns: expected one of"),
        ({"ignore": ["z"]}, "a column 'z'"),
    ],
)
def test_all_options_are_checked_at_once(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "c"
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        sb.Campaign(table().assign(price=2.0), path=path, **options)
    assert not path.exists()


def test_what_is_accepted_can_be_recommended_with_and_written(tmp_path: Path) -> None:
    """Options of other types than JSON has, and one that depends on the rewards."""
    path, frame = tmp_path / "c", table().assign(price=2.0, clicks=1.0)
    options: dict[str, Any] = {"ignore": pd.Index(["clicks"]), "where": ("price < 3",), "columns": {"kind": "category"}}
    options |= {"seed": np.int64(3), "target": np.float32(1.5), "n_draws": np.int32(200), "effects": "quadratic"}
    campaign = sb.Campaign(frame, path=path, **options)
    mine, theirs = campaign.advice(), sb.Campaign.load(path).advice()
    assert json.dumps(mine.to_dict()) == json.dumps(theirs.to_dict())
    assert mine.about["effects"] == "quadratic"
    clicks = sb.Campaign(frame.drop(columns="reward"), family="bernoulli", n_draws=200, seed=0)
    with pytest.raises(ValueError, match="rewards"):
        clicks.tell("a", 0.5)
    assert list(clicks.told) == []


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    """Whatever is cut off or replaced: refused, or the same campaign."""
    path = tmp_path / "c"
    campaign = sb.Campaign(table(), path=path, **QUICK)
    campaign.tell("a", 1.0)
    whole = path.read_text(encoding="utf-8")
    for end in range(0, len(whole) - 1, 37):
        path.write_text(whole[:end], encoding="utf-8")
        with pytest.raises(SaveFileError):
            sb.Campaign.load(path)
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 300).tolist():  # a digit for a digit, a letter for a letter
        flipped = whole[:place] + chr(ord(whole[place]) ^ 1) + whole[place + 1 :]
        path.write_text(flipped, encoding="utf-8")
        try:
            assert list(sb.Campaign.load(path).told) == list(campaign.told)
            assert json.loads(flipped) == json.loads(whole)
        except SaveFileError:
            pass
    state = json.loads(whole)
    del state["digest"]
    for wrong in (
        {**state, "kind": "other"},
        {**state, "version": 99},
        {**state, "told": [["zz", 1.0]]},
        {**state, "told": [["a", "one"]]},
        {**state, "pending": ["zz"]},
        {**state, "options": {"policies": 1}},
        {**state, "table": {**state["table"], "rows": [1]}},
        {key: value for key, value in state.items() if key != "table"},
    ):
        path.write_text(json.dumps({**wrong, "digest": module._digest(wrong)}), encoding="utf-8")
        with pytest.raises(SaveFileError):
            sb.Campaign.load(path)


def test_two_who_have_it_open_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "c"
    sb.Campaign(table(), path=path, **QUICK)
    one, other = sb.Campaign.load(path), sb.Campaign.load(path)
    one.tell("a", 1.0)
    with pytest.raises(SaveFileError, match="changed by someone else"):
        other.tell("b", 2.0)
    assert [row["action"] for row in sb.Campaign.load(path).told] == ["a"]
    assert list(other.told) == []
