"""What every public entry asks of its arguments, before any state changes.

Each check returns the argument in the form that the mathematics needs, or raises ``TypeError`` (wrong kind
of thing) or ``ValueError`` (right kind, wrong value) with a message that names the argument, what was
expected and what came.
"""

import math
import operator
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

KINDS = {"O": "objects", "U": "strings", "S": "bytes", "c": "complex numbers", "M": "dates"}

LARGEST = 1e50
"""Largest magnitude of a feature, a reward or a variance: products of a few of them stay finite."""


def shown(value: object) -> str:
    """Describe ``value`` in a few words, for an error message."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return f"a {type(value).__name__} too long to show"
    return text if len(text) <= 60 else f"{text[:57]}..."


def check_number(name: str, value: object) -> float:
    """Require one finite real number no larger than ``LARGEST`` in magnitude."""
    numeric = not isinstance(value, (bool, str, bytes, complex)) and value is not None
    if isinstance(value, (np.ndarray, np.generic)):
        numeric = value.dtype.kind in "fiu" and value.ndim == 0 and not np.ma.is_masked(value)
    if not numeric:
        raise TypeError(f"{name}: expected a number, got {shown(value)}")
    try:
        number = float(cast(Any, value))
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, got {shown(value)}") from None
    except OverflowError:
        number = math.inf
    if not abs(number) <= LARGEST:  # also catches NaN
        raise ValueError(f"{name}: expected a finite number of magnitude at most {LARGEST:g}, got {shown(value)}")
    return number


def check_positive(name: str, value: object) -> float:
    """Require one positive number, between ``1 / LARGEST`` and ``LARGEST``."""
    number = check_number(name, value)
    if number < 1 / LARGEST:
        raise ValueError(f"{name}: expected a positive number (at least {1 / LARGEST:g}), got {shown(value)}")
    return number


def check_between(name: str, value: object, low: float, high: float) -> float:
    """Require one number in the closed interval ``[low, high]``."""
    number = check_number(name, value)
    if not low <= number <= high:
        raise ValueError(f"{name}: expected a number from {low:g} to {high:g}, got {shown(value)}")
    return number


def check_count(name: str, value: object, least: int = 1) -> int:
    """Require one whole number, at least ``least``."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected a whole number, got {shown(value)}")
    try:
        count = operator.index(cast(Any, value))
    except TypeError:
        raise TypeError(f"{name}: expected a whole number, got {shown(value)}") from None
    if count < least:
        raise ValueError(f"{name}: expected a whole number of at least {least}, got {count}")
    return count


def check_choice(name: str, value: object, choices: Sequence[str]) -> str:
    """Require one of a few words."""
    if not isinstance(value, str) or value not in choices:
        expected = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}: expected one of {expected}, got {shown(value)}")
    return value


def check_array(name: str, value: object, ndim: int | None = None, largest: float = LARGEST) -> FloatArray:
    """Require real finite numbers, of ``ndim`` dimensions if given; return them as float64 in C order."""
    if isinstance(value, (str, bytes)) or value is None:
        raise TypeError(f"{name}: expected an array of numbers, got {shown(value)}")
    if np.ma.is_masked(value):
        raise ValueError(f"{name}: expected numbers everywhere, got a masked array with holes")
    try:
        raw = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name}: expected rows of equal length, got {shown(value)}") from None
    if raw.dtype.kind not in "fiub":
        try:  # a table whose columns are of several numeric kinds arrives as objects
            if raw.dtype.kind != "O" or any(isinstance(cell, (str, bytes)) for cell in raw.flat):
                raise TypeError
            raw = raw.astype(np.float64)
        except OverflowError:
            raise ValueError(f"{name}: expected numbers of magnitude at most {LARGEST:g}, got larger ones") from None
        except (TypeError, ValueError):
            kind = KINDS.get(raw.dtype.kind, str(raw.dtype)) if raw.ndim else shown(value)
            raise TypeError(f"{name}: expected an array of numbers, got {kind}") from None
    if ndim is not None and raw.ndim != ndim:
        raise ValueError(f"{name}: expected {ndim} dimension{'s' * (ndim > 1)}, got shape {raw.shape}")
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(raw, dtype=np.float64).reshape(raw.shape)
    # min and max see NaN and infinity too, and allocate nothing
    largest = min(largest, float(np.finfo(np.float64).max))
    if array.size and not (array.min() >= -largest and array.max() <= largest):
        place = np.unravel_index(int(np.argmax(~(np.abs(array) <= largest))), array.shape)
        where = f" at position {tuple(int(i) for i in place)}" if array.ndim else ""
        raise ValueError(
            f"{name}: expected finite numbers of magnitude at most {largest:g}, got {array[place]:g}{where}"
        )
    return array


def check_vector(name: str, value: object, length: int) -> FloatArray:
    """Require a vector of exactly ``length`` finite numbers."""
    array = check_array(name, value)
    if array.shape != (length,):
        raise ValueError(f"{name}: expected shape ({length},), got {array.shape}")
    return array


def check_matrix(name: str, value: object, columns: int | None = None) -> FloatArray:
    """Require a matrix with at least one row and one column, and exactly ``columns`` of them if given."""
    array = check_array(name, value, ndim=2)
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise ValueError(f"{name}: expected at least one row and one column, got shape {array.shape}")
    if columns is not None and array.shape[1] != columns:
        raise ValueError(f"{name}: expected {columns} columns, one a feature, got shape {array.shape}")
    return array


def columns_of(name: str, value: object) -> dict[str, NDArray[Any]] | None:
    """Return the columns of a DataFrame by name, as it has them, or None if ``value`` is something else.

    pandas and polars are asked in their own words. Anything else with ``__arrow_c_stream__`` (a pyarrow Table, a DuckDB
    relation) comes through pyarrow, in which an empty cell among numbers becomes NaN.
    """
    table = cast(Any, value)
    if hasattr(table, "columns") and hasattr(table, "to_numpy"):  # pandas and polars have both
        names = [str(column) for column in table.columns]
        arrays = (table[column].to_numpy() for column in table.columns)
    elif hasattr(table, "__arrow_c_stream__") and len(getattr(table, "shape", (0, 0))) == 2:  # a Series has one
        table = _through_arrow(name, table)
        names = list(table.column_names)
        arrays = (column.to_numpy() for column in table.columns)
    else:
        return None
    if len(set(names)) < len(names):
        twice = sorted({column for column in names if names.count(column) > 1})
        raise ValueError(f"{name}: expected columns with names of their own, got more than one of {shown(twice)}")
    columns = {}
    for column in names:
        try:
            columns[column] = np.asarray(next(arrays))
        except Exception as error:  # each library has its own for a kind that NumPy has not
            why = f"got others in {shown(column)}: {error}"
            raise TypeError(f"{name}: expected numbers or text in every column, {why}") from None
        if columns[column].ndim != 1:
            got = f"several in each of {shown(column)}"
            raise TypeError(f"{name}: expected one number or text in a cell, got {got}")
    return columns


def _through_arrow(name: str, value: object) -> Any:
    try:
        import pyarrow
    except ImportError:
        kind, hint = type(value).__name__, "pip install 'sparsebandits[results]'"
        raise TypeError(f"{name}: a {kind} needs pyarrow ({hint}); a pandas or polars DataFrame does not") from None
    try:
        return pyarrow.table(value)
    except (TypeError, ValueError) as error:  # pyarrow's own errors are among them
        raise TypeError(f"{name}: expected a table, got {type(value).__name__}: {error}") from None


def check_columns(name: str, value: object) -> tuple[object, tuple[str, ...] | None]:
    """Return an array as it is, or the numbers of a DataFrame with the names of its columns."""
    columns = columns_of(name, value)
    if columns is None:
        return value, None
    for column, values in columns.items():
        if values.dtype.kind not in "fiub":
            raise TypeError(f"{name}: expected numbers in every column, got others in {shown(column)}")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(f"{name}: expected finite numbers in every column, got others in {shown(column)}")
    if not columns:
        raise ValueError(f"{name}: expected at least one row and one column, got no columns")
    return np.column_stack([values.astype(np.float64) for values in columns.values()]), tuple(columns)


def column_order(name: str, wanted: Sequence[str], got: Sequence[str]) -> list[int]:
    """Return where each wanted column is; refuse a table that lacks one or has others."""
    missing = [column for column in wanted if column not in got]
    unknown = [column for column in got if column not in wanted]
    if missing or unknown:
        lacks = f" without {shown(missing)}" if missing else ""
        besides = f"{' and' if missing else ''} with {shown(unknown)} besides" if unknown else ""
        raise ValueError(f"{name}: expected the columns {shown(tuple(wanted))}, got a table{lacks}{besides}")
    return [list(got).index(column) for column in wanted]


def check_observations(x: object, y: object, dimension: int) -> tuple[FloatArray, FloatArray]:
    """Require one observation ``(d,), scalar`` or a batch ``(n, d), (n,)``; return a batch."""
    features = check_array("x", x)
    if features.ndim == 1:
        features = features[np.newaxis]
        rewards = np.array([check_number("y", y)])
    else:
        rewards = check_array("y", y)
        if rewards.ndim != 1:
            hint = "; y.ravel() would do" if rewards.shape == (len(features), 1) else ""
            raise ValueError(f"y: expected one dimension, got shape {rewards.shape}{hint}")
    if features.ndim != 2 or features.shape[1] != dimension:
        raise ValueError(
            f"x: expected shape ({dimension},), or (n, {dimension}) for a batch, got {np.shape(cast(Any, x))}"
        )
    if len(rewards) != len(features):
        raise ValueError(f"y: expected {len(features)} rewards, one a row of x, got {len(rewards)}")
    return features, rewards


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same array, which nobody may now write to."""
    array.flags.writeable = False
    return array
