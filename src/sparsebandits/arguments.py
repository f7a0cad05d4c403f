"""Checks of arguments, made at every public entry before any state changes.

Each check returns the argument in the form that the mathematics needs, or raises an :class:`ArgumentError`, which says
which argument it is about, what was expected and what was given. It is a ``TypeError`` for an argument of the wrong
type and a ``ValueError`` for one of the right type with a wrong value. Code that has to know which argument was
rejected reads the error's ``name``; no code parses its text.
"""

import math
import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

KINDS = {"O": "objects", "U": "strings", "S": "bytes", "c": "complex numbers", "M": "dates"}

LARGEST = 1e50
"""Largest magnitude of a feature, a reward or a variance; products of a few of them stay finite."""

MOST = 10**12
"""Largest count, unless another is given: no computer holds or does more."""

MOST_DRAWS = 10**8
"""Largest number of draws; of two features they take 1.6 GB."""


class ArgumentError(Exception):
    """An argument is not what was expected.

    Parameters
    ----------
    name : str
        The argument, such as ``"horizon"`` or ``"prior.inclusion"``.
    expected : str
        What it should have been, in words.
    got : str
        What was given, in words.

    Examples
    --------
    >>> print(ArgumentValueError("horizon", "a whole number of at least 1", "0"))
    horizon: expected a whole number of at least 1, got 0
    """

    def __init__(self, name: str, expected: str, got: str) -> None:
        super().__init__(name, expected, got)
        self.name, self.expected, self.got = name, expected, got

    def __str__(self) -> str:
        return f"{self.name}: expected {self.expected}, got {self.got}"


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of the wrong type."""


class ArgumentValueError(ArgumentError, ValueError):
    """An argument of the right type with a wrong value."""


class SaveFileError(ValueError):
    """A file is missing, truncated, damaged, or not one of this package."""


def shown(value: object) -> str:
    """Describe a value in a few words, for an error message.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    str
        At most 60 characters; the shape of an array, and the ``repr`` of anything else, shortened if necessary.

    Examples
    --------
    >>> shown(np.eye(3)), shown("three")
    ('an array of shape (3, 3)', "'three'")
    """
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return f"a {type(value).__name__} too long to show"
    return text if len(text) <= 60 else f"{text[:57]}..."


def check_number(name: str, value: object, largest: float = LARGEST) -> float:
    """Require one finite real number.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : object
        The argument.
    largest : float, default=LARGEST
        The largest magnitude that is allowed.

    Returns
    -------
    float

    Raises
    ------
    ArgumentTypeError
        If it is not a number.
    ArgumentValueError
        If it is not finite, or too large.
    """
    numeric = not isinstance(value, (bool, str, bytes, complex)) and value is not None
    if isinstance(value, (np.ndarray, np.generic)):
        numeric = value.dtype.kind in "fiu" and value.ndim == 0 and not np.ma.is_masked(value)
    if not numeric:
        raise ArgumentTypeError(name, "a number", shown(value))
    try:
        number = float(cast(Any, value))
    except (TypeError, ValueError):
        raise ArgumentTypeError(name, "a number", shown(value)) from None
    except OverflowError:
        number = math.inf
    if not abs(number) <= largest:  # also catches NaN
        raise ArgumentValueError(name, f"a finite number of magnitude at most {largest:g}", shown(value))
    return number


def check_positive(name: str, value: object) -> float:
    """Require one positive number, between ``1 / LARGEST`` and ``LARGEST``.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : object
        The argument.

    Returns
    -------
    float

    Raises
    ------
    ArgumentTypeError
        If it is not a number.
    ArgumentValueError
        If it is outside of this range.
    """
    number = check_number(name, value)
    if number < 1 / LARGEST:
        raise ArgumentValueError(name, f"a positive number (at least {1 / LARGEST:g})", shown(value))
    return number


def check_between(name: str, value: object, low: float, high: float) -> float:
    """Require one number in a closed interval.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : object
        The argument.
    low, high : float
        The ends of the interval, which it may be equal to.

    Returns
    -------
    float

    Raises
    ------
    ArgumentTypeError
        If it is not a number.
    ArgumentValueError
        If it is outside of the interval.
    """
    number = check_number(name, value)
    if not low <= number <= high:
        raise ArgumentValueError(name, f"a number from {low:g} to {high:g}", shown(value))
    return number


def check_count(name: str, value: object, least: int = 1, most: int | None = MOST) -> int:
    """Require one whole number.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : object
        The argument.
    least : int, default=1
        The smallest number that is allowed.
    most : int or None, default=MOST
        The largest number that is allowed; None for any, as for a seed.

    Returns
    -------
    int

    Raises
    ------
    ArgumentTypeError
        If it is not a whole number. Booleans and floats are not.
    ArgumentValueError
        If it is smaller than ``least`` or larger than ``most``.

    Examples
    --------
    >>> check_count("horizon", np.int64(100))
    100
    """
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(name, "a whole number", shown(value))
    try:
        count = operator.index(cast(Any, value))
    except TypeError:
        raise ArgumentTypeError(name, "a whole number", shown(value)) from None
    if count < least:
        raise ArgumentValueError(name, f"a whole number of at least {least}", shown(count))
    if most is not None and count > most:
        raise ArgumentValueError(name, f"a whole number of at most {most}", shown(count))
    return count


def check_choice(name: str, value: object, choices: Sequence[str]) -> str:
    """Require one of a few words.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : object
        The argument.
    choices : sequence of str
        The words that are allowed.

    Returns
    -------
    str

    Raises
    ------
    ArgumentValueError
        If it is none of them; the error suggests the one that is spelt alike.
    """
    if not isinstance(value, str) or value not in choices:
        expected = ", ".join(repr(choice) for choice in choices)
        raise ArgumentValueError(name, f"one of {expected}", f"{shown(value)}{did_you_mean(value, choices)}")
    return value


def did_you_mean(value: object, choices: Iterable[str]) -> str:
    """Return the end of a message about a word that is none of some.

    Parameters
    ----------
    value : object
        The word that was given, or anything else.
    choices : iterable of str
        The words that are allowed.

    Returns
    -------
    str
        A question with the word that is spelt alike, whatever its case; empty if there is none.

    Examples
    --------
    >>> did_you_mean("Sparse_IDS", ["sparse-ids", "lin-ucb"])
    "; did you mean 'sparse-ids'?"
    """
    if not isinstance(value, str):
        return ""
    lower = {choice.lower(): choice for choice in choices}
    near = get_close_matches(value.lower(), lower, n=1)
    return f"; did you mean {lower[near[0]]!r}?" if near else ""


def check_flag(name: str, value: object) -> bool:
    """Require true or false.

    Parameters
    ----------
    name : str
        Name of the argument, for the error.
    value : object
        The argument.

    Returns
    -------
    bool
        The argument.

    Raises
    ------
    ArgumentTypeError
        If it is neither.
    """
    if not isinstance(value, bool | np.bool_):
        raise ArgumentTypeError(name, "True or False", shown(value))
    return bool(value)


def check_array(name: str, value: object, ndim: int | None = None, largest: float = LARGEST) -> FloatArray:
    """Require an array of finite real numbers.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : object
        The argument.
    ndim : int, optional
        The number of dimensions; any if not given.
    largest : float, default=LARGEST
        The largest magnitude that is allowed.

    Returns
    -------
    array of float64
        In C order; not a copy if it has this form already.

    Raises
    ------
    ArgumentTypeError
        If it is not an array of numbers.
    ArgumentValueError
        If it has another number of dimensions, missing or infinite values, or numbers that are too large.
    """
    if isinstance(value, (str, bytes)) or value is None:
        raise ArgumentTypeError(name, "an array of numbers", shown(value))
    if np.ma.is_masked(value):
        raise ArgumentValueError(name, "an array without missing values", "a masked array with missing values")
    try:
        raw = np.asarray(value)
    except ValueError:
        raise ArgumentValueError(name, "rows of equal length", shown(value)) from None
    if raw.dtype.kind not in "fiub":
        try:  # a table whose columns are of several numeric kinds arrives as objects
            if raw.dtype.kind != "O" or any(isinstance(cell, (str, bytes)) for cell in raw.flat):
                raise TypeError
            raw = raw.astype(np.float64)
        except OverflowError:
            raise ArgumentValueError(name, f"numbers of magnitude at most {LARGEST:g}", "larger ones") from None
        except (TypeError, ValueError):
            kind = KINDS.get(raw.dtype.kind, str(raw.dtype)) if raw.ndim else shown(value)
            raise ArgumentTypeError(name, "an array of numbers", kind) from None
    if ndim is not None and raw.ndim != ndim:
        raise ArgumentValueError(name, f"{ndim} dimension{'s' * (ndim > 1)}", f"shape {raw.shape}")
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(raw, dtype=np.float64).reshape(raw.shape)
    # min and max see NaN and infinity too, and allocate nothing
    largest = min(largest, float(np.finfo(np.float64).max))
    if array.size and not (array.min() >= -largest and array.max() <= largest):
        place = np.unravel_index(int(np.argmax(~(np.abs(array) <= largest))), array.shape)
        where = f" at position {tuple(int(i) for i in place)}" if array.ndim else ""
        raise ArgumentValueError(name, f"finite numbers of magnitude at most {largest:g}", f"{array[place]:g}{where}")
    return array


def check_vector(name: str, value: object, length: int) -> FloatArray:
    """Require a vector of finite numbers.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : object
        The argument.
    length : int
        The number of entries.

    Returns
    -------
    array of shape (length,)

    Raises
    ------
    ArgumentTypeError
        If it is not an array of numbers.
    ArgumentValueError
        If it has another shape, or numbers that :func:`check_array` rejects.
    """
    array = check_array(name, value)
    if array.shape != (length,):
        raise ArgumentValueError(name, f"shape ({length},)", f"{array.shape}")
    return array


def check_matrix(name: str, value: object, columns: int | None = None) -> FloatArray:
    """Require a matrix of finite numbers with at least one row and one column.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : object
        The argument.
    columns : int, optional
        The number of columns; any if not given.

    Returns
    -------
    array of shape (n, columns)

    Raises
    ------
    ArgumentTypeError
        If it is not an array of numbers.
    ArgumentValueError
        If it has another shape, or numbers that :func:`check_array` rejects.
    """
    array = check_array(name, value, ndim=2)
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise ArgumentValueError(name, "at least one row and one column", f"shape {array.shape}")
    if columns is not None and array.shape[1] != columns:
        raise ArgumentValueError(name, f"{columns} columns, one per feature", f"shape {array.shape}")
    return array


def columns_of(name: str, value: object) -> dict[str, NDArray[Any]] | None:
    """Return the columns of a DataFrame.

    Columns of pandas and polars are read through their own interfaces. Anything else with ``__arrow_c_stream__`` (a
    pyarrow Table, a DuckDB relation) is read through pyarrow, which turns an empty cell among numbers into NaN.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : object
        The argument.

    Returns
    -------
    dict of str to array, or None
        The columns by name, in their order and with their own types; None if the argument is not a DataFrame.

    Raises
    ------
    ArgumentTypeError
        If a column has cells that NumPy cannot hold, or pyarrow is needed and not installed.
    ArgumentValueError
        If two columns have the same name.
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
        twice = sorted(column for column, count in Counter(names).items() if count > 1)
        raise ArgumentValueError(name, "a different name for every column", f"{shown(twice)} more than once")
    columns = {}
    for column in names:
        try:
            columns[column] = np.asarray(next(arrays))
        except Exception as error:  # each library has its own error for a type that NumPy does not have
            got = f"something else in {shown(column)}: {error}"
            raise ArgumentTypeError(name, "numbers or text in every column", got) from None
        if columns[column].ndim != 1:
            got = f"several per cell in {shown(column)}"
            raise ArgumentTypeError(name, "one number or text per cell", got)
    return columns


def _through_arrow(name: str, value: object) -> Any:
    """Return a pyarrow Table."""
    try:
        import pyarrow
    except ImportError:
        kind, hint = type(value).__name__, "pip install 'sparsebandits[results]'"
        raise ArgumentTypeError(
            name, f"pyarrow to be installed ({hint}), or a pandas or polars DataFrame", f"a {kind}"
        ) from None
    try:
        return pyarrow.table(value)
    except (TypeError, ValueError) as error:  # pyarrow's own errors are among them
        raise ArgumentTypeError(name, "a table", f"{type(value).__name__}: {error}") from None


def check_flags(name: str, value: object) -> BoolArray:
    """Require a matrix of booleans, or of zeros and ones.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : object
        The argument.

    Returns
    -------
    bool array of shape (n, m)
        A copy.

    Raises
    ------
    ArgumentTypeError
        If it is not an array of numbers.
    ArgumentValueError
        If it has other entries, none at all, or another number of dimensions.
    """
    found = check_array(name, value, ndim=2)
    if found.size == 0 or not ((found == 0.0) | (found == 1.0)).all():
        raise ArgumentValueError(name, "zeros and ones", shown(value))
    return np.asarray(found == 1.0)


def check_columns(name: str, value: object) -> tuple[object, tuple[str, ...] | None]:
    """Return the numbers of a DataFrame and the names of its columns.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : object
        The argument.

    Returns
    -------
    values : object
        An array of shape (rows, columns); the argument itself if it is not a DataFrame.
    names : tuple of str, or None
        The names of the columns; None if the argument is not a DataFrame.

    Raises
    ------
    ArgumentTypeError
        If a column has something else than numbers.
    ArgumentValueError
        If there are no columns, or a column has numbers that are not finite.
    """
    columns = columns_of(name, value)
    if columns is None:
        return value, None
    for column, values in columns.items():
        if values.dtype.kind not in "fiub":
            raise ArgumentTypeError(name, "numbers in every column", f"something else in {shown(column)}")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ArgumentValueError(name, "finite numbers in every column", f"NaN or infinity in {shown(column)}")
    if not columns:
        raise ArgumentValueError(name, "at least one row and one column", "no columns")
    return np.column_stack([values.astype(np.float64) for values in columns.values()]), tuple(columns)


def column_order(name: str, wanted: Sequence[str], got: Sequence[str]) -> list[int]:
    """Return the positions of the columns of a table that are wanted.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    wanted : sequence of str
        The names of the columns that the table has to have.
    got : sequence of str
        The names of the columns that it has.

    Returns
    -------
    list of int
        One position per wanted column.

    Raises
    ------
    ArgumentValueError
        If a column is missing, or the table has others.

    Examples
    --------
    >>> column_order("actions", ("age", "dose"), ("dose", "age"))
    [1, 0]
    """
    missing = [column for column in wanted if column not in got]
    unknown = [column for column in got if column not in wanted]
    if missing or unknown:
        lacks = f" without {shown(missing)}" if missing else ""
        extra = f"{' and' if missing else ''} with {shown(unknown)} in addition" if unknown else ""
        raise ArgumentValueError(name, f"the columns {shown(tuple(wanted))}", f"a table{lacks}{extra}")
    return [list(got).index(column) for column in wanted]


def order_by_name(name: str, wanted: Sequence[str], got: Sequence[str], what: str = "labels") -> list[int]:
    """Return the positions of rows or columns in the order of the actions or of their features.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    wanted : sequence of str
        The names of the actions or of their features.
    got : sequence of str
        The names that the rows or columns of the argument have. The default names 0, 1, … count as none, unless they
        are the wanted ones.
    what : str, default="labels"
        What the names are, for the error.

    Returns
    -------
    list of int
        One position per wanted name; all positions in their own order if the argument has no names.

    Raises
    ------
    ArgumentValueError
        If the names are others.

    Examples
    --------
    >>> order_by_name("rewards", ("tea", "milk"), ("milk", "tea"))
    [1, 0]
    >>> order_by_name("rewards", ("tea", "milk"), ("0", "1"))
    [0, 1]
    """
    same = len(set(got)) == len(got) and set(got) == set(wanted)
    if list(got) == list(wanted) or (not same and list(got) == [str(row) for row in range(len(got))]):
        return list(range(len(got)))
    if not same:
        raise ArgumentValueError(name, f"the {what} of the actions, each once, or no {what}", shown(tuple(got)))
    place = {label: row for row, label in enumerate(got)}
    return [place[label] for label in wanted]


def check_observations(x: object, y: object, dimension: int) -> tuple[FloatArray, FloatArray]:
    """Require one observation or a batch of observations.

    Parameters
    ----------
    x : array of shape (d,) or (n, d)
        The features of one observation, or one row of features per observation.
    y : float or array of shape (n,)
        The reward of one observation, or one reward per row of ``x``.
    dimension : int
        The number of features d.

    Returns
    -------
    x : array of shape (n, d)
    y : array of shape (n,)

    Raises
    ------
    ArgumentTypeError
        If they are not numbers.
    ArgumentValueError
        If their shapes do not fit, or there are numbers that :func:`check_array` rejects.
    """
    features = check_array("x", x)
    if features.ndim == 0:
        raise ArgumentValueError("x", f"shape ({dimension},), or (n, {dimension}) for a batch", shown(x))
    if features.ndim == 1:
        features = features[np.newaxis]
        rewards = np.array([check_number("y", y)])
    else:
        rewards = check_array("y", y)
        if rewards.ndim != 1:
            hint = "; use y.ravel()" if rewards.shape == (len(features), 1) else ""
            raise ArgumentValueError("y", "one dimension", f"shape {rewards.shape}{hint}")
    if features.ndim != 2 or features.shape[1] != dimension:
        raise ArgumentValueError(
            "x", f"shape ({dimension},), or (n, {dimension}) for a batch", f"{np.shape(cast(Any, x))}"
        )
    if len(rewards) != len(features):
        raise ArgumentValueError("y", f"{len(features)} rewards, one per row of x", f"{len(rewards)}")
    return features, rewards


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same array after making it read-only.

    Parameters
    ----------
    array : array
        Any array; its memory is not copied.

    Returns
    -------
    array
        The argument itself.
    """
    array.flags.writeable = False
    return array
