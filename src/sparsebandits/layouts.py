"""What a saved state looks like: names, types, shapes and ranges, in one form that every ``restore`` reads by.

A layout is a dict of fields. The shape of an array is written in the names of settings, such as ``("n_draws",
"dimension")``; a name that is no setting stands for any number, the same wherever it occurs. Reading a state by its
layout returns arrays that nobody else holds, or raises SaveFileError: nothing that was
not checked reaches an engine, and so no compiled kernel sees an array that it was not written for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from sparsebandits.arguments import SaveFileError, shown

LARGEST_FLOAT = float(np.finfo(np.float64).max)

LARGEST_ENTRY = 1e150
"""Largest magnitude of an entry of an array, whose square is finite; sums of squares of features are below it."""

LEAST_POSITIVE = 1e-307
"""Lower end of variances, whose reciprocals are finite."""

ABOVE_ONE = 1.0 + 1e-9
"""Upper end of probabilities that are sums of many numbers, each with its rounding."""

Sizes: TypeAlias = dict[str, int]


class Field(Protocol):
    """Interface of one entry of a layout."""

    def read(self, name: str, value: Any, sizes: Sizes) -> Any:
        """Return the value if it is what the layout says; raise SaveFileError otherwise.

        Parameters
        ----------
        name : str
            Where the value stands, for the error.
        value : object
            What the file has there.
        sizes : dict of str to int
            Numbers that shapes are written in; names that are new get the number of the array.
        """


Layout: TypeAlias = Mapping[str, "Field | Layout"]


def read(layout: Layout, state: Any, sizes: Mapping[str, int] | None = None, more: bool = False) -> dict[str, Any]:
    """Return a state that has been checked.

    Parameters
    ----------
    layout : Layout
        Names and fields of the state.
    state : mapping
        What the file has.
    sizes : mapping of str to int, optional
        Numbers that the shapes of arrays are written in.
    more : bool, default=False
        Whether the state may have further entries, which are left out.

    Returns
    -------
    dict
        The entries of the layout; arrays are copies.

    Raises
    ------
    SaveFileError
        If something is missing, or not as the layout says.

    Examples
    --------
    >>> layout = {"mean": Reals("d"), "root": Reals("d", "d")}
    >>> read(layout, {"mean": np.ones(2), "root": np.eye(2)})["mean"]
    array([1., 1.])
    >>> read(layout, {"mean": np.ones(2), "root": np.eye(3)})
    Traceback (most recent call last):
        ...
    sparsebandits.arguments.SaveFileError: path: expected root to have the shape (2, 2), got an array of shape (3, 3)
    """
    return _read(layout, "", state, dict(sizes or {}), more)


def _read(layout: Layout, where: str, state: Any, sizes: Sizes, more: bool = False) -> dict[str, Any]:
    if not isinstance(state, Mapping):
        raise wrong(where or "a state", "entries by name", shown(state))
    unknown = [] if more else [name for name in state if name not in layout]
    if unknown:
        raise wrong(where or "a state", f"nothing but {', '.join(layout)}", shown(unknown[0]))
    found = {}
    for name, field in layout.items():
        path = f"{where}.{name}" if where else name
        if name in state:
            value = state[name]
            found[name] = (
                _read(field, path, value, sizes) if isinstance(field, Mapping) else field.read(path, value, sizes)
            )
        elif not isinstance(field, Absent):
            raise wrong(path, "an entry", "none")
    return found


def wrong(name: str, expected: str, got: str) -> SaveFileError:
    """Return the error that an entry of a file is not as it should be."""
    return SaveFileError(f"path: expected {name} to have {expected}, got {got}")


@dataclass(frozen=True, init=False)
class Reals:
    """An array of real numbers in double precision.

    Parameters
    ----------
    *shape : str or int
        Its shape, in names of settings.
    low, high : float
        Smallest and largest number; by default those whose square is finite.
    order : {"C", "F", ""}, default="C"
        Memory order; "" for either.
    missing : bool, default=False
        Whether numbers may be NaN.
    dtypes : tuple of str
        Types that are allowed.
    least : str, optional
        Name of the setting that the length must reach, where the array may be longer.
    """

    shape: tuple[str | int, ...]
    low: float
    high: float
    order: str
    missing: bool
    dtypes: tuple[str, ...]
    least: str | None

    def __init__(
        self,
        *shape: str | int,
        low: float = -LARGEST_ENTRY,
        high: float = LARGEST_ENTRY,
        order: str = "C",
        missing: bool = False,
        dtypes: tuple[str, ...] = ("float64",),
        least: str | None = None,
    ) -> None:
        for name, value in (
            *(("shape", shape), ("low", low), ("high", high), ("order", order)),
            *(("missing", missing), ("dtypes", dtypes), ("least", least)),
        ):
            object.__setattr__(self, name, value)

    def read(self, name: str, value: Any, sizes: Sizes) -> Any:
        """Return a copy of the array."""
        if not isinstance(value, np.ndarray) or value.dtype.name not in self.dtypes or not value.dtype.isnative:
            raise wrong(name, f"the type {' or '.join(self.dtypes)}", _described(value))
        named = len(value.shape) == len(self.shape)
        for one, length in zip(self.shape, value.shape, strict=False) if named else ():
            named = named and length == (sizes.setdefault(one, length) if isinstance(one, str) else one)
        if not named:
            expected = ", ".join(str(sizes.get(one, one) if isinstance(one, str) else one) for one in self.shape)
            raise wrong(name, f"the shape ({expected}{',' * (len(self.shape) == 1)})", shown(value))
        if self.least is not None and len(value) < sizes[self.least]:
            raise wrong(name, f"at least {sizes[self.least]} numbers, as {self.least} says", f"{len(value)}")
        contiguous = {"C": value.flags.c_contiguous, "F": value.flags.f_contiguous}
        if not contiguous.get(self.order, True):
            raise wrong(name, f"its numbers in {self.order} order", "another one")
        if value.dtype.kind == "b":
            fits = bool((value.view(np.uint8) <= 1).all())  # other bytes would be booleans that no one has made
        else:
            low, high = np.float64(self.low), np.float64(self.high)  # so that single precision is compared in double
            fits = bool((((value >= low) & (value <= high)) | (self.missing & (value != value))).all())
        if not fits:
            raise wrong(name, f"numbers from {self.low:g} to {self.high:g}", "others")
        return value.copy(order="K")


def flags(*shape: str | int) -> Reals:
    """Return the field of an array of booleans."""
    return Reals(*shape, low=0, high=1, dtypes=("bool",))


def wholes(*shape: str | int, low: int = -(2**53), high: int = 2**53) -> Reals:
    """Return the field of an array of whole numbers."""
    return Reals(*shape, low=low, high=high, dtypes=("int64", "int32"))


@dataclass(frozen=True)
class Number:
    """One number.

    Parameters
    ----------
    low, high : float
        Smallest and largest number; by default all finite numbers.
    """

    low: float = -LARGEST_FLOAT
    high: float = LARGEST_FLOAT

    def read(self, name: str, value: Any, sizes: Sizes) -> float:
        """Return the number."""
        if type(value) is bool or not isinstance(value, int | float) or not self.low <= value <= self.high:
            raise wrong(name, f"a number from {self.low:g} to {self.high:g}", shown(value))
        return float(value)


@dataclass(frozen=True)
class Count:
    """One whole number.

    Parameters
    ----------
    low : int, default=0
        Smallest number.
    high : int or str, default=2**63 - 1
        Largest number, or the name of the setting that it is.
    """

    low: int = 0
    high: int | str = 2**63 - 1

    def read(self, name: str, value: Any, sizes: Sizes) -> int:
        """Return the number."""
        high = sizes[self.high] if isinstance(self.high, str) else self.high
        if type(value) is bool or not isinstance(value, int | np.integer) or not self.low <= value <= high:
            raise wrong(name, f"a whole number from {self.low} to {high}", shown(value))
        return int(value)


@dataclass(frozen=True)
class Names:
    """Names of features, one for each.

    Parameters
    ----------
    size : str
        How many there are, as the name of a setting.
    """

    size: str

    def read(self, name: str, value: Any, sizes: Sizes) -> tuple[str, ...]:
        """Return the names."""
        if not isinstance(value, list | tuple) or not all(type(one) is str for one in value):
            raise wrong(name, "names", shown(value))
        if len(value) != sizes.setdefault(self.size, len(value)):
            raise wrong(name, f"{sizes[self.size]} names", f"{len(value)}")
        return tuple(value)


@dataclass(frozen=True)
class Maybe:
    """Something, or None.

    Parameters
    ----------
    field : Field or Layout
        What it is if it is not None.
    """

    field: "Field | Layout"

    def read(self, name: str, value: Any, sizes: Sizes) -> Any:
        """Return what there is, or None."""
        if value is None:
            return None
        if isinstance(self.field, Mapping):
            return _read(self.field, name, value, sizes)
        return self.field.read(name, value, sizes)


@dataclass(frozen=True)
class Word:
    """A text, or one text.

    Parameters
    ----------
    text : str, optional
        What it has to be.
    """

    text: str | None = None

    def read(self, name: str, value: Any, sizes: Sizes) -> str:
        """Return the text."""
        if not isinstance(value, str) or self.text not in (None, value):
            raise wrong(name, "a text" if self.text is None else f"the text {self.text!r}", shown(value))
        return value


class Absent(Maybe):
    """Something that may be missing, and is not None where it is there."""

    def read(self, name: str, value: Any, sizes: Sizes) -> Any:
        """Return the value."""
        if value is None:
            raise wrong(name, "a value if it is there", "None")
        return super().read(name, value, sizes)


@dataclass(frozen=True)
class Anything:
    """What is checked by whom it belongs to."""

    def read(self, name: str, value: Any, sizes: Sizes) -> Any:
        """Return the value."""
        return value


GENERATOR: Layout = {
    "bit_generator": Word("PCG64"),
    "state": {"state": Count(high=2**128 - 1), "inc": Count(high=2**128 - 1)},
    "has_uint32": Count(high=1),
    "uinteger": Count(high=2**32 - 1),
}
"""State of a random generator."""


def sizes_of(settings: Mapping[str, Any]) -> dict[str, int]:
    """Return the whole numbers among some settings, which shapes may be written in."""
    return {name: value for name, value in settings.items() if type(value) is int}


def _described(value: Any) -> str:
    return f"the type {value.dtype}" if isinstance(value, np.ndarray) else shown(value)
