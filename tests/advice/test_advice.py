"""Advice from a table: the model is right, a batch has different actions, and every form of table gives the same."""

import json
import subprocess
import sys
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sparsebandits as sb
from sparsebandits.advice.choose import POLICIES
from sparsebandits.posteriors.diagnostics import Health

every_policy = pytest.mark.parametrize("policy", POLICIES)
DENSE = ("linear-ids", "lin-ts", "lin-ucb")


def table(n_actions: int = 12, features: int = 4, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    names = [f"f{j}" for j in range(features)]
    numbers = rng.standard_normal((n_actions, features)) * 10.0 ** np.arange(features) + 7.0
    return pd.DataFrame(numbers, columns=names, index=[f"a{k}" for k in range(n_actions)])


def past(frame: pd.DataFrame, count: int, seed: int = 1, noise: float = 0.3) -> pd.DataFrame:
    """Return rewards around 500 that depend on feature f0, and a little on f1."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(len(frame), size=count)
    numbers = frame.to_numpy()[rows]
    rewards = 500.0 + 2.0 * numbers[:, 0] + 0.05 * numbers[:, 1] + noise * rng.standard_normal(count)
    return pd.DataFrame({"action": frame.index[rows], "reward": rewards})


def chosen(advice: sb.Advice) -> list[str]:
    return [one.name for one in advice.recommendations]


def test_what_is_learned() -> None:
    """Planted: no intercept and features that are not centred; expected rewards are off by many deviations."""
    frame = table(30, 6)
    rewards = past(frame, 40)
    advice = sb.decide(frame, rewards, n_draws=2000, seed=0)
    found = {effect.name: effect for effect in advice.features}
    assert {effect.name for effect in advice.features[:2]} == {"f0", "f1"}
    assert found["f0"].inclusion > 0.99
    assert found["f0"].mean == pytest.approx(2.0, abs=0.3)
    assert found["f5"].inclusion < 0.5
    (one,) = advice.recommendations
    truth = 500.0 + 2.0 * frame.loc[one.name, "f0"] + 0.05 * frame.loc[one.name, "f1"]
    assert one.expected_reward == pytest.approx(truth, abs=4 * (one.sd or 0.0))
    assert 0.03 < (one.sd or 0.0) < 0.3, "between σ / √n and σ"
    assert advice.about["noise_variance"] == pytest.approx(0.09, rel=0.6)
    assert chosen(advice)[0] == (500.0 + 2.0 * frame["f0"] + 0.05 * frame["f1"]).idxmax()
    text = str(advice)
    for part in (
        "30 actions, 6 features, 40 past rewards",
        f"Next: {one.name} (expected reward",
        "P(optimal)",
        "from f0",
    ):
        assert part in text


@every_policy
def test_units_and_level_of_rewards_and_features_do_not_matter(policy: str) -> None:
    """Planted: a noise prior that does not scale with the rewards, s in place of s², features that are not centred."""
    frame = table(20)
    rewards = past(frame, 15)
    options: dict[str, Any] = {"policy": policy, "seed": 3, "n_draws": 1000, "batch": 3}
    advice = sb.decide(frame, rewards, **options)
    changed = sb.decide(frame * 0.25 - 1e3, rewards.assign(reward=rewards["reward"] * 1e-3 - 7.0), **options)
    assert chosen(advice)[0] == chosen(changed)[0]
    for one, other in zip(advice.recommendations, changed.recommendations, strict=True):
        if policy in DENSE:
            assert one.name == other.name
        if one.name == other.name:
            assert other.expected_reward == pytest.approx(
                (one.expected_reward or 0.0) * 1e-3 - 7.0, abs=1e-3 * (one.sd or 0.0)
            )
            assert other.sd == pytest.approx((one.sd or 0.0) * 1e-3, rel=0.3 if policy not in DENSE else 1e-6)


@every_policy
@pytest.mark.parametrize("count", [0, 1, 9])
def test_a_batch_has_different_actions(policy: str, count: int) -> None:
    """Planted: asking the policy again without removing what it chose."""
    frame = table()
    advice = sb.decide(frame, past(frame, count), policy=policy, batch=len(frame), n_draws=300, seed=0)
    assert sorted(chosen(advice)) == sorted(frame.index)
    assert all(frame.index[one.action] == one.name for one in advice.recommendations)
    assert (
        chosen(sb.decide(frame, past(frame, count), policy=policy, batch=2, n_draws=300, seed=0)) == chosen(advice)[:2]
    )
    with pytest.raises(ValueError, match="batch: expected at most 12, the number of actions, got 13"):
        sb.decide(frame, past(frame, count), policy=policy, batch=13, seed=0)


def test_a_batch_of_lin_ucb_against_its_definition() -> None:
    """The mean as before, deviations as if the chosen had been measured. Planted: no learning in between."""
    frame = table(15)
    rewards = past(frame, 6, noise=3.0)
    advice = sb.decide(frame, rewards, policy="lin-ucb", batch=5, seed=0, noise_variance=4.0)
    x, y = frame.to_numpy(), rewards["reward"].to_numpy()
    tried = [frame.index.get_loc(name) for name in rewards["action"]]
    prior = y.var() / (4 * x.var(axis=0))
    mean = np.zeros(4)
    expected: list[str] = []
    for _ in range(5):
        seen = x[tried]
        apart = seen - seen.mean(axis=0)
        covariance = np.linalg.inv(np.diag(1 / prior) + apart.T @ apart / 4.0)
        if not expected:
            mean = covariance @ apart.T @ (y - y.mean()) / 4.0
        around = x - seen.mean(axis=0)
        bound = around @ mean + 2.0 * np.sqrt(np.einsum("ij,jk,ik->i", around, covariance, around))
        bound[[row for row in range(15) if frame.index[row] in expected]] = -np.inf
        tried.append(int(bound.argmax()))
        expected.append(frame.index[tried[-1]])
    assert chosen(advice) == expected


def test_untried_actions_only() -> None:
    frame = table()
    rewards = past(frame, 9)
    left = sorted(set(frame.index) - set(rewards["action"]))
    assert sorted(chosen(sb.decide(frame, rewards, policy="lin-ts", untried=True, batch=len(left), seed=0))) == left
    with pytest.raises(ValueError, match="the number of untried actions"):
        sb.decide(frame, rewards, policy="lin-ts", untried=True, batch=len(left) + 1)


def test_every_form_of_table_and_of_rewards_gives_the_same(tmp_path: Path) -> None:
    frame = table(8)
    wide = frame.assign(reward_1=[500.0, np.nan, 510.0, np.nan, 495.5, np.nan, np.nan, 505.0])
    wide["Reward 2"] = [501.0, *[np.nan] * 7]
    named = wide.reset_index(names="offer")
    options: dict[str, Any] = {"policy": "lin-ucb", "batch": 3, "seed": 0}
    expected = sb.decide(wide, **options).to_dict()
    assert expected["observations"] == 5
    named.to_csv(tmp_path / "a.csv", index=False)
    wide.to_csv(tmp_path / "index.csv")
    named.to_parquet(tmp_path / "a.parquet", index=False)
    wide.to_parquet(tmp_path / "index.parquet")
    whole = named.assign(reward_1=named["reward_1"].astype(object), **{"Reward 2": named["Reward 2"].astype("Float64")})
    for form in (
        named,
        named.iloc[::1].set_axis(range(5, 13)),  # an index that is left over from filtering
        whole,
        pl.from_pandas(named),
        pa.Table.from_pandas(named),
        tmp_path / "a.csv",
        str(tmp_path / "a.parquet"),
        tmp_path / "index.csv",
        tmp_path / "index.parquet",
    ):
        assert sb.decide(form, **options).to_dict() == expected
    pairs = [("a0", 500.0), ("a2", 510.0), ("a4", 495.5), ("a7", 505.0), ("a0", 501.0)]
    long = pd.DataFrame(pairs, columns=["which", "score"])
    long.to_csv(tmp_path / "r.csv", index=False)
    for rewards in (long, pl.from_pandas(long), pa.Table.from_pandas(long), tmp_path / "r.csv"):
        answer = sb.decide(frame, rewards, **options).to_dict()
        assert {**answer, "notes": expected["notes"]} == expected
    mapping = {"a0": [500.0, 501.0], "a2": 510.0, "a4": np.float64(495.5), "a7": np.array([505])}
    assert chosen(sb.decide(frame, mapping, **options)) == [one["action"] for one in expected["next"]]
    given = named.rename(columns={"reward_1": "x1", "Reward 2": "x2"}).assign(note="as text")
    told = sb.decide(given, name="offer", reward_columns=["x?"], ignore=["no*"], **options)
    assert told.to_dict()["next"] == expected["next"]


def test_rows_without_names_have_numbers(tmp_path: Path) -> None:
    plain = table(5).reset_index(drop=True)
    plain.to_csv(tmp_path / "a.csv", index=False)
    from_file = sb.decide(tmp_path / "a.csv", {5: 3.0, 1: [1.0, 2.0]}, policy="lin-ucb", seed=0)
    from_frame = sb.decide(plain, {4: 3.0, 0: [1.0, 2.0]}, policy="lin-ucb", seed=0)
    assert from_file.recommendations[0].action == from_frame.recommendations[0].action
    assert int(from_file.recommendations[0].name) == int(from_frame.recommendations[0].name) + 1
    identified = plain.assign(id=range(100, 105))
    assert (
        chosen(sb.decide(identified, {104: 3.0, 100: [1.0, 2.0]}, name="id", policy="lin-ucb", seed=0))[0][:2] == "10"
    )


def test_rewards_go_to_the_action_that_was_meant(tmp_path: Path) -> None:
    plain = table(6).reset_index(drop=True)
    options: dict[str, Any] = {"policy": "lin-ucb", "seed": 0, "batch": 4}
    rewards = {2: [3.0, 2.0], 4: 1.0}
    part = sb.decide(plain.iloc[2:], rewards, **options)  # with the RangeIndex 2, 3, 4, 5
    assert {one.name: one.tried for one in part.recommendations} == {"2": 2, "3": 0, "4": 1, "5": 0}
    # names that are numbers, in a column that both tables have
    numbered = plain.assign(id=range(6)).iloc[:, [4, 0, 1, 2, 3]]
    numbered.to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "r.csv").write_text("id,reward\n2,3\n2,2\n4,1\n")
    shared = sb.decide(tmp_path / "a.csv", tmp_path / "r.csv", **options)
    told = sb.decide(plain, rewards, **options)
    assert chosen(shared) == chosen(told)
    assert "id" not in [effect.name for effect in shared.features]
    assert told.notes == ("actions have no names, so rewards are matched to rows by number, the first being 0",)
    assert "id" not in [effect.name for effect in sb.decide(numbered, **options).features]
    # labels that are missing or not text
    assert chosen(sb.decide(plain.set_axis(np.arange(6) / 2), {1: 3.0}, policy="lin-ucb"))[0] in "0 0.5 1 1.5 2 2.5"
    with pytest.raises(ValueError, match="expected a name for each action, got an empty cell in row 1"):
        sb.decide(plain.set_axis(["a", None, "b", "c", "d", "e"]))


def test_a_column_that_is_the_same_for_all_is_left_out_whatever_its_number() -> None:
    for count in range(2, 40):  # the deviation of 0.1, 0.1, 0.1 is not zero, to a computer
        advice = sb.decide(table(count).assign(c=0.1), policy="lin-ucb", n_draws=10, seed=0)
        assert advice.notes[0] == "c is the same for all actions and is left out"


def test_notes(tmp_path: Path) -> None:
    frame = table(5).assign(one=1.0)
    (tmp_path / "none.csv").write_text("action,reward\n")
    cases: list[tuple[Any, str]] = [
        (None, "there are no past rewards yet"),
        (tmp_path / "none.csv", "there are no past rewards yet"),
        ({"a1": 3.0}, "one past reward gives the level of rewards, but no information about the features yet"),
        ({"a1": [3.0, 3.0], "a2": 3.0}, "all 3 past rewards are 3; they say little about the features"),
    ]
    for rewards, note in cases:
        advice = sb.decide(frame, rewards, n_draws=100, seed=0)
        assert advice.notes[0] == "one is the same for all actions and is left out"
        assert note in advice.notes[1]
        assert "one" not in [effect.name for effect in advice.features]
        assert advice.recommendations[0].expected_reward is None, "nothing is known of the unit of rewards"
        assert note in str(advice)
        said = advice.to_dict()
        json.dumps(said, allow_nan=False)
        assert [row["feature"] for row in said["features"]] == [effect.name for effect in advice.features]
        assert said["next"][0]["why"]["candidates"][0]["chosen"]
    assert any(note.startswith("the sampling is DOUBTFUL") for note in advice.notes)


def test_features_are_data_and_print_as_a_table() -> None:
    advice = sb.decide(table(), past(table(), 9), policy="lin-ucb", seed=0)
    said = advice.to_dict()["features"]
    assert list(said[0]) == ["feature", "P(included)", "mean", "sd", "2.5%", "97.5%", "P(positive)", "standardized"]
    assert [tuple(row.values())[:-1] for row in said] == [astuple(effect)[:-1] for effect in advice.features]
    assert str(advice.feature_table()) in str(advice)
    assert len(str(advice.feature_table(2)).splitlines()) == 3
    assert pd.DataFrame(advice.features)["name"].tolist() == [row["feature"] for row in said]


def test_features_are_compared_whatever_their_units() -> None:
    """A column in grams and one in tonnes: effects of one unit cannot be compared, those of a deviation can."""
    frame = table()
    column = frame.select_dtypes("number").columns[0]
    grams = frame.assign(**{column: frame[column] * 1e6})
    one, other = (sb.decide(each, past(frame, 9), policy="lin-ucb", seed=0) for each in (frame, grams))
    mine, theirs = ({effect.name: effect for effect in advice.features} for advice in (one, other))
    assert theirs[column].mean == pytest.approx(mine[column].mean / 1e6)
    for name, effect in mine.items():
        assert theirs[name].standardized == pytest.approx(effect.standardized)
        assert effect.standardized == pytest.approx(effect.mean * frame[name].std(ddof=0))
    figures = [sb.plots.effects(advice).axes[0] for advice in (one, other)]
    assert figures[0].get_xlabel() == "effect of one standard deviation on the reward, with 95% interval"
    points, same = (np.asarray(axes.lines[1].get_xdata(), float) for axes in figures)
    np.testing.assert_allclose(points, same)
    assert "standardized: mean effect of one standard deviation of the feature" in str(one)


def test_reasons_say_what_they_count_with() -> None:
    """Two probabilities of being the best are printed, with and without pending trials; the heading says which."""
    frame, rewards = table(), past(table(), 9)
    name = sb.decide(frame, rewards, policy="lin-ucb", seed=0).recommendations[0].name
    quick: dict[str, Any] = {"policy": "lin-ucb", "seed": 0}
    waiting = sb.decide(frame, rewards, pending=[name], **quick)
    heading = f"as if the pending trial of {name} had given the expected reward:"
    assert f"Why {waiting.recommendations[0].name}, {heading}" in str(waiting)
    assert "as if the pending trial" in waiting._repr_html_()
    assert "as if the pending trial" in waiting.to_html()
    assert waiting.about["pending"] == [name]
    assert "pending" not in str(sb.decide(frame, rewards, **quick))
    drawn = sb.decide(frame, rewards, pending=[name], policy="lin-ts", seed=0)
    assert "as if" not in str(drawn), "Thompson sampling does not count with them"


def test_reasons_in_json_are_those_that_are_printed() -> None:
    """Planted: candidates in the order in which the decision keeps them, not by score."""
    (one,) = sb.decide(table(), past(table(), 9), seed=0, n_draws=300).recommendations
    printed = one.explanation.table.printed
    said = one.to_dict()["why"]["candidates"]
    assert [list(row) for row in said] == [["chosen", "action", *printed.columns[2:]]] * len(printed.rows)
    for row, (mark, name, *numbers) in zip(said, printed.rows, strict=True):
        finite = [number if isinstance(number, float) and np.isfinite(number) else None for number in numbers]
        assert list(row.values()) == [mark == "*", name, *finite]


@pytest.mark.parametrize("health", [Health(False, "poor"), Health(True, "not DOUBTFUL")], ids=str)
def test_doubt_is_a_flag_and_not_a_word(health: Health, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sb.Conjugate, "health", lambda _: health)
    notes = sb.decide(table(), past(table(), 9), policy="lin-ucb", seed=0).notes
    assert (f"the sampling is {health}" in notes) == (not health.good)


def test_names_of_policies_are_those_of_their_classes() -> None:
    assert POLICIES == ("sparse-ids", "sparse-ts", "linear-ids", "lin-ts", "lin-ucb")
    for policy in POLICIES:
        made = sb.decide(table(), policy=policy, n_draws=100, seed=0).about["policy"]
        assert made.lower() == policy.replace("-", "")


def test_seeds() -> None:
    frame = table(30)
    rewards = past(frame, 3)
    first = sb.decide(frame, rewards, policy="lin-ts", batch=5)
    assert chosen(sb.decide(frame, rewards, policy="lin-ts", batch=5, seed=first.about["seed"])) == chosen(first)
    assert sb.decide(frame, rewards, policy="lin-ts").about["seed"] != first.about["seed"]


def test_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    advice = sb.decide(table(), {"a1": [1.0, 2.0]}, policy="lin-ts", batch=2, seed=7)
    advice.append_to(log)
    first = log.read_bytes()
    log.write_bytes(first + b'{"cut')
    advice.append_to(log)
    assert log.read_bytes().startswith(first)
    journal = sb.journal.JsonLines(log)
    entries = journal.records()
    assert len({entry.id for entry in entries}) == 4, "each with an id of its own"
    assert [entry.extra["place"] for entry in entries] == [1, 2, 1, 2]
    assert [entry.label for entry in entries[:2]] == chosen(advice)
    for entry, one in zip(entries, advice.recommendations * 2, strict=True):
        assert (entry.action, entry.probability, entry.reward) == (one.action, one.probability, None)
        assert entry.probability_draws == one.decision.probability_draws
        np.testing.assert_array_equal(entry.features, table().to_numpy()[one.action])
        assert entry.extra["expected_reward"] == one.expected_reward
        assert (entry.extra["sd"], entry.extra["tried"]) == (one.sd, one.tried)
    assert (entries[0].policy, entries[0].extra["batch"]) == ("LinTS", 2)
    assert entries[0].time is not None
    assert {**entries[0].extra, "policy": "LinTS"}.keys() >= advice.about.keys()
    assert (entries[0].extra["seed"], entries[0].extra["observations"]) == (7, 2)
    assert entries[0].extra["versions"]["sparsebandits"] == sb.__version__
    journal.rewarded(entries[1].id, 2.5)  # whoever wants it there may write the reward too
    assert [entry.reward for entry in sb.journal.JsonLines(log).records()] == [None, 2.5, None, None]
    before = log.read_bytes()
    for wrong in (tmp_path, tmp_path / "no" / "log", "/dev/full", "a\0b"):
        with pytest.raises(OSError, match="path: expected a file that can be appended to, got"):
            advice.append_to(wrong)
    assert log.read_bytes() == before


def test_a_log_is_never_another_file(tmp_path: Path) -> None:
    advice = sb.decide(table(), {"a1": [1.0, 2.0]}, policy="lin-ucb", seed=7)
    log = tmp_path / "log"
    for content in ("offer,price\na,1\n", "offer,price", '{"time": "2024-01-01T00:00:00+00:00", "place": 1}\n'):
        log.write_text(content)
        with pytest.raises(
            sb.SaveFileError, match=r"^path: expected a journal of decisions, got a file of which line 1"
        ):
            advice.append_to(log)
        assert log.read_text() == content


def test_batches_of_several_processes_are_all_there(tmp_path: Path) -> None:
    code = (
        "import sys, pandas as pd, sparsebandits as sb\n"
        "table = pd.DataFrame({'x': [1.0, 2.0, 4.0], 'y': [3.0, 1.0, 2.0]})\n"
        "advice = sb.decide(table, policy='lin-ucb', batch=3, seed=1)\n"
        "for _ in range(10):\n"
        "    advice.append_to(sys.argv[1])\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "log")]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    records = sb.journal.JsonLines(tmp_path / "log").records()
    assert [record.extra["place"] for record in records] == [1, 2, 3] * 20, "batches stay together"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"actions": np.eye(3)}, "actions: expected a DataFrame or the path of a file, got an array of shape"),
        ({"actions": None}, "actions: expected a DataFrame or the path of a file, got None"),
        ({"actions": pd.DataFrame({"a": [1.0]})}, "actions: expected at least two actions to choose from, got one"),
        ({"actions": pd.DataFrame({"a": []})}, "actions: expected one row per action, got none"),
        ({"actions": pd.DataFrame()}, "actions: expected at least one column, got none"),
        (
            {"actions": pd.DataFrame({"a": [1.0, 1.0]})},
            "expected actions with different features, got the same numbers",
        ),
        ({"actions": pd.DataFrame({"a": [1.0, None]})}, "expected actions with different features"),
        ({"actions": pd.DataFrame({"a": [1.0, 1e13]})}, "magnitude at most 1e+12, got 1e+13 in row 1, column 'a'"),
        ({"actions": pd.DataFrame({"a": [0.0, 1e-13]})}, "expected features in a larger unit, got a spread of 5e-14"),
        ({"actions": pd.DataFrame({"a": [0.0, 1e-300]})}, "expected features in a larger unit, got a spread of"),
        (
            {"actions": pd.DataFrame({"a": ["1", "2", "x"], "b": [1, 2, 4]})},
            "expected numbers, got 'x' in row 2, column 'a'; leave a cell empty if its number is unknown, or say",
        ),
        ({"actions": pl.DataFrame({"a": [{"x": 1}, {"x": 2}]})}, "expected one number or text per cell, got several"),
        (
            {"actions": pl.DataFrame({"a": [1, 2]}, schema={"a": pl.Int128})},
            "actions: expected numbers or text in every column, got something else in 'a'",
        ),
        ({"actions": pd.DataFrame({"a": [10**5000, 2]})}, "magnitude at most 1e+12, got inf in row 0, column 'a'"),
        ({"actions": table().set_axis(["x"] * 12)}, "or always with the same features, got 'x' in row 1 and in row 0"),
        (
            {"rewards": {"b": 1.0}},
            "rewards: expected names of the actions, got 'b' in row 0, column 'action'",
        ),
        ({"rewards": {"a1": "good"}}, "rewards: expected numbers, got 'good' in row 0, column 'reward'"),
        ({"rewards": {"a1": [[1.0, 2.0], [3.0]]}}, "rewards: expected numbers, got '[1.0, 2.0]' in row 0"),
        (
            {"rewards": {"a1": [[1.0, 2.0], [3.0, 4.0]]}},
            "rewards: expected numbers, got '[1.0, 2.0]' in row 0",
        ),
        ({"rewards": {"a1": 1e-300}}, "rewards: expected rewards in a larger unit, got a spread of 1e-300"),
        (
            {"rewards": pd.DataFrame({"reward": [1.0], "action": ["a1"]})},
            "rewards: expected two columns, the action and its reward, got 'reward' before 'action'",
        ),
        ({"rewards": {f"a{k}": 1.0 for k in range(12)}, "untried": True}, "untried: expected actions without a past"),
        ({"rewards": {"a1": np.inf}}, "got inf in row 0, column 'reward'"),
        ({"rewards": pd.DataFrame({"a": ["a1"]})}, "rewards: expected two columns, the action and its reward, got 1"),
        ({"rewards": 3.0}, "rewards: expected a DataFrame or the path of a file, got 3.0"),
        ({"name": "nome"}, "actions: expected a column 'nome', got 'f0', 'f1', 'f2', 'f3'"),
        ({"reward_columns": "score"}, "actions: expected a column 'score', got 'f0'"),
        ({"ignore": ["f*"]}, "actions: expected at least one column of features, got none"),
        ({"ignore": [3]}, "ignore: expected names of columns, got 3"),
        ({"ignore": 3}, "ignore: expected names of columns, got 3"),
        ({"reward_columns": 3}, "reward_columns: expected names of columns, got 3"),
        ({"batch": 0}, "batch: expected a whole number of at least 1, got 0"),
        ({"policy": "best"}, "policy: expected one of 'sparse-ids', 'sparse-ts'"),
        ({"policy": "SparseIDS"}, "'lin-ucb', got 'SparseIDS'; did you mean 'sparse-ids'?"),
        ({"effects": "interaction"}, "got 'interaction'; did you mean 'interactions'?"),
        ({"family": "binomial"}, "'poisson', got 'binomial'"),
        ({"family": "Poisson"}, "got 'Poisson'; did you mean 'poisson'?"),
        ({"columns": {"f0": "categorical"}}, "got 'categorical'; did you mean 'category'?"),
        ({"noise_variance": -1.0}, "noise_variance: expected a positive number"),
        ({"n_draws": 3}, "n_draws: expected a whole number of at least 10, got 3"),
        ({"seed": -1}, "seed: expected a whole number of at least 0, got -1"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        sb.decide(**{"actions": table(), **arguments})
    assert message in str(caught.value)


def test_a_note_says_when_rewards_may_have_been_taken_for_features(tmp_path: Path) -> None:
    file = tmp_path / "recipes.csv"
    file.write_text("recipe,flour,taste\na,1,3\nb,2,5\nc,4,4\n")
    advice = sb.decide(file, seed=0, n_draws=100)
    assert advice.about["observations"] == 0
    assert any("no column is taken to hold rewards; features are flour, taste" in note for note in advice.notes)
    assert not any("no column" in note for note in sb.decide(file, reward_columns="taste", seed=0, n_draws=100).notes)
    file.write_text("recipe,flour,score\na,1,3\nb,2,5\nc,4,4\n")
    assert sb.decide(file, seed=0, n_draws=100).about["observations"] == 3


def test_text_that_can_be_read_is_no_longer_refused() -> None:
    """Numbers as text, dates, an empty column, and rewards as text."""
    frame = table().assign(text=[f"{k % 5}" for k in range(12)], when=pd.Timestamp(0), empty="")
    advice = sb.decide(frame, {"a1": "3.1", "a2": 2.0}, policy="lin-ucb", seed=0)
    assert "text" in [effect.name for effect in advice.features]
    assert {"when", "empty"}.isdisjoint(effect.name for effect in advice.features)
    assert advice.about["observations"] == 2


def test_the_horizon_says_how_much_learning_is_worth() -> None:
    table = pd.DataFrame({"x": [0.0, 1.0, 2.0, 5.0], "y": [1.0, 0.0, 1.0, 3.0]}, index=list("abcd"))
    rewards = {"a": 1.0, "b": [2.0, 2.2], "c": 2.5}
    long, short = (sb.decide(table, rewards, seed=0, n_draws=500, horizon=n) for n in (1000, 1))
    assert long.recommendations[0].decision.diagnostics["rounds ahead"] == long.about["horizon"] == 1000
    every = sb.decide(table, rewards, seed=0, n_draws=500, batch=4).recommendations
    assert short.recommendations[0].expected_reward == max(one.expected_reward or 0.0 for one in every)
    with pytest.raises(ValueError, match=r"^horizon: expected none"):
        sb.decide(table, rewards, policy="lin-ucb", horizon=5)
    for batch, horizon in ((1, 0), (3, 2)):
        with pytest.raises(ValueError, match=r"^horizon: expected"):
            sb.decide(table, rewards, batch=batch, horizon=horizon)
