"""Parts of a policy as plain data, and back: one codec for everything that is saved.

A policy is made of parts: a set of actions, a posterior, a rule, priors, pending decisions. Every part is a frozen
dataclass, or an object that keeps the arguments of its constructor under their own names. So what has to be saved
follows from the parts themselves, and nothing is written down twice.

    frozen dataclass   ->  {"part": class, "package": name, "fields": {...}}
    learner            ->  the same, from its constructor's arguments; its state is saved beside it
    tuple, list        ->  {"tuple": [...]}, {"list": [...]}
    mapping            ->  {"mapping": {...}}
    function           ->  {"function": name}, in fields that a class lists as ``functions``; ``load`` is given it
    array, number, text, None: as they are

Nothing in a file is executed. Classes are looked up by name among the public names of this package, and among those
that the caller of ``load`` passes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from inspect import signature
from types import FunctionType
from typing import Any

import numpy as np

from sparsebandits import lazy
from sparsebandits.arguments import ArgumentTypeError, SaveFileError, shown
from sparsebandits.layouts import read, sizes_of, wrong

NAMESPACES = (
    "sparsebandits",
    "sparsebandits.features",
    "sparsebandits.model",
    "sparsebandits.posteriors",
    "sparsebandits.rules",
    "sparsebandits.policies",
    "sparsebandits.policies.rivals",
)
"""Where the classes of saved parts are looked up."""

OURS = "sparsebandits"
PLAIN = (bool, int, float, str)
SAVABLE = "a number, text, an array or a frozen dataclass of them, so that it can be saved"

NOT_SAVED = ("seed", "noise_variance")
"""Engine arguments that are not saved: the random state is saved instead of the seed, and ``rewards`` has the noise."""


def encode(name: str, value: Any) -> Any:
    """Return a part as arrays and JSON values.

    Parameters
    ----------
    name : str
        Where the value stands, such as ``"rule.level"``.
    value : object
        Part to encode.

    Raises
    ------
    ArgumentTypeError
        If the value cannot be saved, or would be another value after loading.
    """
    if value is None or type(value) in PLAIN:
        return value
    if type(value) is np.ndarray and value.dtype.kind in "fiub":
        return value
    if isinstance(value, np.generic) and type(value.item()) in PLAIN:
        return value.item()
    if type(value) in (tuple, list):
        kind = type(value).__name__
        if all(one is None or type(one) in PLAIN for one in value):
            return {kind: list(value)}
        return {kind: {str(i): encode(f"{name}[{i}]", one) for i, one in enumerate(value)}}
    if isinstance(value, Mapping) and all(type(key) is str and "/" not in key and "\0" not in key for key in value):
        return {"mapping": {key: encode(f"{name}.{key}", one) for key, one in value.items()}}
    if is_dataclass(value) and not isinstance(value, type) and _frozen(value):
        return _part(name, value, [field.name for field in fields(value)])
    if hasattr(value, "absorb"):
        return encode_learner(name, value)
    raise ArgumentTypeError(name, SAVABLE, shown(value))


def check_savable(name: str, encoded: Any, part: Any) -> None:
    """Refuse a part that would be another one after loading: it is made again from its fields and compared.

    Parts of this package do make themselves again (``tests/policies/test_parts.py``).
    """
    if package_of(type(part)) == OURS:
        return
    try:
        again = encode(name, Decoder([*_classes(part)])(encoded))
    except Exception as error:
        raise ArgumentTypeError(name, SAVABLE, f"{shown(part)}: {error}") from error
    if not _equal(encoded, again):
        raise ArgumentTypeError(name, SAVABLE, f"{shown(part)}, whose fields do not make it again")


def _frozen(value: Any) -> bool:
    """Return whether an instance of a dataclass is frozen and made from its fields alone."""
    frozen: bool = type(value).__dataclass_params__.frozen
    return frozen and all(field.init for field in fields(value))


def _classes(part: Any) -> Iterator[type]:
    """Yield the classes that a part is made of."""
    if is_dataclass(part) and not isinstance(part, type):
        yield type(part)
        for field in fields(part):
            yield from _classes(getattr(part, field.name))
    elif type(part) in (tuple, list):
        for one in part:
            yield from _classes(one)
    elif isinstance(part, Mapping):
        for one in part.values():
            yield from _classes(one)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return type(one) is type(other) and (one == other or (one != one and other != other))


def settings_of(learner: Any) -> list[str]:
    """Return the names of the arguments of a learner's constructor that are saved."""
    taken = signature(type(learner)).parameters
    left_out = NOT_SAVED if "rewards" in taken else NOT_SAVED[:1]
    return [one for one in taken if one not in left_out]


def encode_learner(name: str, learner: Any) -> Any:
    """Return the settings of a learner, which it keeps under the names of its constructor's arguments.

    Parameters
    ----------
    name : str
        Where the learner belongs, for the error.
    learner : Engine or other learner
        The learner.

    Returns
    -------
    dict
        Its class and settings; its state is saved separately.

    Raises
    ------
    ArgumentTypeError
        If the learner has no attribute for one of the arguments, or if a setting cannot be saved.
    """
    arguments = settings_of(learner)
    missing = [one for one in arguments if not hasattr(learner, one)]
    if missing:
        expected = f"{type(learner).__name__} to keep each argument of its constructor as an attribute"
        raise ArgumentTypeError(name, expected, f"none called {missing[0]!r}")
    return _part(name, learner, arguments)


def _part(name: str, value: Any, names: Sequence[str]) -> dict[str, Any]:
    encoded = {one: encode(f"{name}.{one}", getattr(value, one)) for one in names if one not in _functions(value)}
    encoded |= {one: {"function": function.__name__} for one, function in _functions(value).items()}
    return {"part": type(value).__name__, "package": package_of(type(value)), "fields": encoded}


def _functions(value: Any) -> dict[str, FunctionType]:
    """Return the fields of a part that are functions, where its class says that they may be."""
    found = {one: getattr(value, one) for one in getattr(type(value), "functions", ())}
    return {one: function for one, function in found.items() if isinstance(function, FunctionType)}


def package_of(part: type) -> str:
    """Return the package that a class belongs to."""
    return part.__module__.split(".")[0]


class Decoder:
    """Inverse of :func:`encode`.

    Parameters
    ----------
    own : sequence of classes and functions, optional
        Those of the caller, in addition to those of this package.
    """

    def __init__(self, own: Sequence[Any] = ()) -> None:
        self._own = {part.__name__: part for part in own}

    def __call__(self, value: Any) -> Any:
        """Return the value that was encoded."""
        if not isinstance(value, dict):
            return value
        if "part" in value:
            return self.part(value["part"], value["package"])(
                **{name: self(one) for name, one in value["fields"].items()}
            )
        if "function" in value:
            return self.function(value["function"])
        if "mapping" in value:
            return {name: self(one) for name, one in value["mapping"].items()}
        (kind, items), *_ = value.items()
        values = items if isinstance(items, list) else [self(one) for one in items.values()]
        return tuple(values) if kind == "tuple" else values

    def learner(self, encoded: Mapping[str, Any], learnt: Any, dimension: int) -> Any:
        """Return a learner with the settings that were saved, if what it had learnt fits them.

        That is checked before the learner is made, since making it may take memory in proportion to its settings: the
        arrays in the file show that it had that much.

        Parameters
        ----------
        encoded : mapping
            What :func:`encode_learner` returned.
        learnt : mapping
            The state of the learner.
        dimension : int
            Number of features of the actions.

        Returns
        -------
        Engine or other learner
            The learner, to be restored.

        Raises
        ------
        SaveFileError
            If its settings, or what it had learnt, are those of another learner.
        """
        made, settings = self.part(encoded["part"], encoded["package"]), {}
        for name, value in encoded["fields"].items():
            inner = isinstance(value, dict) and hasattr(self.part_of(value), "absorb")
            settings[name] = self.learner(value, learnt[name], dimension) if inner else self(value)
        if settings.get("dimension", dimension) != dimension:
            raise wrong("posterior", f"{dimension} features, as the actions", shown(settings["dimension"]))
        if hasattr(made, "saved"):
            read(made.saved, learnt, {"dimension": dimension, **sizes_of(settings)}, more=package_of(made) != OURS)
        return made(**settings)

    def function(self, name: str) -> FunctionType:
        """Return the caller's function of this name."""
        found = self._own.get(name)
        if not isinstance(found, FunctionType):
            raise SaveFileError(f"path: expected the function {name!r} beside it; pass it to load")
        return found

    def part_of(self, value: Mapping[str, Any]) -> type[Any] | None:
        """Return the class of an encoded part; None if it is something else."""
        return self.part(value["part"], value["package"]) if "part" in value else None

    def part(self, name: str, package: str) -> type[Any]:
        """Return the class of this name and package: the caller's own, or one of the parts of this package."""
        found = self._own.get(name)
        if found is None or (package == OURS and package_of(found) != OURS):
            found = lazy.find(name, NAMESPACES) if package == OURS else None
        if not isinstance(found, type) or not (
            is_dataclass(found) or hasattr(found, "absorb") or hasattr(found, "ask")
        ):
            raise SaveFileError(f"path: expected parts of this package, got {name!r}; pass its class to load")
        return found
