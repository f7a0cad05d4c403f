"""DataFrames of pandas, polars and Arrow, wherever actions or observations are taken: the same numbers and names."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sparsebandits as sb
from sparsebandits.policies.actions import ActionSet

COLUMNS: dict[str, list[Any]] = {"price": [1.0, 2.5, -1.0], "size": [3, -4, 0], "sale": [True, False, True]}
NUMBERS = np.array([[1.0, 3.0, 1.0], [2.5, -4.0, 0.0], [-1.0, 0.0, 1.0]])


class OnlyArrow:
    """A table of a library that nobody here has heard of."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


MAKERS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas on Arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "a batch": lambda columns: pa.record_batch(columns),
    "another's": OnlyArrow,
}
frames = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@frames
def test_actions_and_observations(make: Callable[[dict[str, list[Any]]], Any]) -> None:
    policy = sb.LinTS(make(COLUMNS), seed=0)
    np.testing.assert_array_equal(policy.actions.features, NUMBERS)
    assert policy.actions.feature_names == ("price", "size", "sale")
    turned = {name: COLUMNS[name] for name in ("size", "sale", "price")}
    np.testing.assert_array_equal(policy.actions.matched(make(turned)).features, NUMBERS)
    assert policy.ask(make(turned)).features.tolist() in NUMBERS.tolist()
    posterior = sb.Conjugate(sb.GaussianPrior(), 3, seed=0)
    posterior.update(make(COLUMNS), [1.0, 2.0, 3.0])
    assert [row["feature"] for row in posterior.summary()] == ["price", "size", "sale"]


@frames
def test_what_is_no_number_is_named(make: Callable[[dict[str, list[Any]]], Any]) -> None:
    for wrong in (["red", "blue"], [None, 2.0], [float("nan"), 2.0], [1, None]):
        with pytest.raises((TypeError, ValueError), match=r"^actions: expected .*numbers in every column.* 'colour'"):
            ActionSet.of(make({"price": [1.0, 2.0], "colour": wrong}))


def test_a_series_is_no_table_and_a_chunked_array_is_refused() -> None:
    posterior = sb.Conjugate(sb.GaussianPrior(), 3, seed=0)
    posterior.update(pl.Series([1.0, 2.0, 3.0]), 1.0)
    posterior.update(pd.Series([1.0, 2.0, 3.0]), 1.0)
    assert posterior.feature_names is None
    with pytest.raises(TypeError, match="x: expected a table, got ChunkedArray"):
        posterior.update(pa.chunked_array([[1.0, 2.0, 3.0]]), 1.0)
    with pytest.raises(
        ValueError, match=r"actions: expected a different name for every column, got \['a'\] more than once"
    ):
        ActionSet.of(pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]))


def test_pandas_and_polars_do_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    table = OnlyArrow(COLUMNS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for make in (pd.DataFrame, pl.DataFrame):
        np.testing.assert_array_equal(ActionSet.of(make(COLUMNS)).features, NUMBERS)
    with pytest.raises(
        TypeError, match=r"actions: expected pyarrow to be installed \(pip install 'sparsebandits\[results\]'\)"
    ):
        ActionSet.of(table)
