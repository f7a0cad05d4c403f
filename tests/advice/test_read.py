"""Files of actions: what is read, and that errors name line and column."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sparsebandits.advice.read import read_actions
from sparsebandits.policies.actions import ActionSet

FRAME = pd.DataFrame({"price": [1.0, 2.5], "size": [3, -4]}, index=["small", "large"])


def written(path: Path, text: str) -> ActionSet:
    path.write_text(text, encoding="utf-8")
    return read_actions(path)


def test_csv(tmp_path: Path) -> None:
    file = tmp_path / "actions.csv"
    named = written(file, "ad,price,size\nsmall,1.0,3\n\nlarge,2.5,-4e0\n")
    assert (named.labels, named.feature_names) == (("small", "large"), ("price", "size"))
    np.testing.assert_array_equal(named.features, FRAME.to_numpy())
    assert not named.features.flags.writeable
    plain = written(file, '\ufeff"price", size\n1.0,3\n2.5,-4')
    assert (plain.labels, plain.feature_names) == (None, ("price", "size"))
    np.testing.assert_array_equal(plain.features, FRAME.to_numpy())


def test_columns_that_are_no_features_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "actions.csv"
    file.write_text("ad,price,reward_1,reward_2\nsmall,1,,3\nlarge,2,4,\n")
    with pytest.raises(
        ValueError, match=r"got an empty cell in line 2, column 'reward_1'.*; a feature needs a value in every row"
    ):
        read_actions(file)
    found = read_actions(file, ignore="reward_*")
    assert (found.labels, found.feature_names) == (("small", "large"), ("price",))
    with pytest.raises(ValueError, match=r"expected a column 'rewards_1'.*did you mean 'reward_1'"):
        read_actions(file, ignore=["rewards_1"])


@pytest.mark.parametrize("index", [True, False])
def test_what_pandas_writes(index: bool, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    labels = ("small", "large") if index else None
    for frame in (FRAME, FRAME.rename(columns={"price": "0", "size": "1"})):
        frame.to_csv(tmp_path / "a.csv", index=index)
        frame.to_parquet(tmp_path / "a.parquet", index=index)
        for file in ("a.csv", "a.parquet"):
            actions = read_actions(tmp_path / file)
            assert (actions.labels, actions.feature_names) == (labels, tuple(frame.columns))
            np.testing.assert_array_equal(actions.features, FRAME.to_numpy())
    numbered = FRAME.reset_index(drop=True)
    numbered.to_csv(tmp_path / "a.csv")
    assert read_actions(tmp_path / "a.csv").labels == ("0", "1"), "an index is not a feature"


def test_a_first_column_of_text_in_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = FRAME.reset_index(names="ad")
    for kind in ("str", "category"):
        frame.astype({"ad": kind}).to_parquet(tmp_path / "a.parquet", index=False)
        actions = read_actions(tmp_path / "a.parquet")
        assert (actions.labels, actions.feature_names) == (("small", "large"), ("price", "size"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a line of column names and lines of cells, got nothing"),
        ("a,b\n", "expected one line per action after the column names, got none"),
        ("1.5,2\n3,4\n", "expected a first line of column names, got the number '1.5'"),
        ("x,a,b\nu,1,2\nv,3\n", "expected 3 cells, one per column, got 2 in line 3"),
        ("x,a,b\nu,1,2\nv,3,four\n", "got 'four' in line 3, column 'b'"),
        ("a,b\n1,2\nv,3\n", "got 'v' in line 3, column 'a'"),
        ("a,b\n1,2\n,3\n", "got an empty cell in line 3, column 'a'"),
        (
            "x,a,b\nu,1,2\nv,nan,4\n",
            "expected finite numbers of magnitude at most 1e+50, got nan in line 3, column 'a'",
        ),
        (
            "x,a,b\nu,1,2\nv,3,-inf\n",
            "expected finite numbers of magnitude at most 1e+50, got -inf in line 3, column 'b'",
        ),
        ("x,a\nu,1e60\n", "1e+50"),
        ("x,a,b\nu,1_000,2\n", "got '1_000' in line 2, column 'a'"),
        ('x,a,b\nu,1,0.5\nv,"2,5",0.75\nw,3,0.25\n', "got '2,5' in line 3, column 'a' of"),
        ('x,a,b\nu,1,0.5\nv,"2,5",0.75\nw,3,0.25\n', "; numbers are written with a decimal point"),
        ("x;a;b\nu;1,5;2\nv;2,5;1.5\n", "got '1.5' in line 3, column 'b'"),
        ("x,a,b\nu,1,2\nv,3\nw,1,2,3\n", "expected 3 cells, one per column, got 2 in line 3, 4 in line 4 of"),
        ("x\nu\nv\n", "expected at least one column of numbers, got none"),
        ('a,b\n"1,2\n', "expected CSV, got something else"),
    ],
)
def test_what_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^file: expected") as caught:
        written(tmp_path / "actions.csv", text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("x;a;b\nu;1,5;2\nv;2,25;3\n", {"a": [1.5, 2.25], "b": [2, 3]}),
        ("x\ta\nu\t1\nv\t0.5\n", {"a": [1, 0.5]}),
        ("x,a,a,a 2\nu,1,2,3\nv,4,5,6\n", {"a": [1, 4], "a 3": [2, 5], "a 2": [3, 6]}),
        ("x,a,,b,\nu,1,2,3,\nv,4,5,6,\n", {"a": [1, 4], "column 3": [2, 5], "b": [3, 6]}),
        ("x,2023,2024\nu,1,2\nv,4,5\n", {"2023": [1, 4], "2024": [2, 5]}),
        ("a title\nx,a,b\n\nu,1,2\n,,\nv,4,5\n", {"a": [1, 4], "b": [2, 5]}),
        ("a,b\nu,1,2\nv,4,5\n", {"a": [1, 4], "b": [2, 5]}),
    ],
)
def test_text_files_of_other_programs(text: str, columns: dict[str, list[float]], tmp_path: Path) -> None:
    found = written(tmp_path / "actions.txt", text)
    assert (found.labels, found.feature_names) == (("u", "v"), tuple(columns))
    np.testing.assert_array_equal(found.features.T, list(columns.values()))


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"^file: expected a text, Excel or Parquet file, got .*no.csv: No such file"):
        read_actions(tmp_path / "no.csv")
    with pytest.raises(OSError, match=r"^file: expected a text, Excel or Parquet file, got .*: Is a directory"):
        read_actions(tmp_path)
    (tmp_path / "b").write_bytes(b"\x00\x01\xfe\xff\x00" * 40)
    with pytest.raises(ValueError, match="expected text, an Excel workbook or Parquet"):
        read_actions(tmp_path / "b")


def test_parquet_that_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    file = tmp_path / "a.parquet"
    frames = {
        "got an empty cell in row 2, column 'price'": pd.DataFrame({"price": pd.array([1, None], dtype="Int64")}),
        "got an empty cell in row 1, column 'price'": pd.DataFrame({"price": [np.inf - np.inf]})
        .astype(object)
        .astype(float),
        "got datetime64[us] in row 1, column 'when'": pd.DataFrame(
            {"price": [1.0], "when": pd.to_datetime(["2020-01-01"])}
        ),
        "expected one row per action, got none": FRAME.iloc[:0].reset_index(drop=True),
        "expected at least one column of numbers, got none": pd.DataFrame({"ad": ["small"]}),
    }
    for message, frame in frames.items():
        frame.to_parquet(file, index=False)
        with pytest.raises((ValueError, TypeError), match=r"^file: expected") as caught:
            read_actions(file)
        assert message in str(caught.value)
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ValueError, match="expected a complete Parquet file"):
        read_actions(file)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(OSError, match=r"needs pyarrow \(pip install 'sparsebandits\[results\]'\)"):
        read_actions(file)
