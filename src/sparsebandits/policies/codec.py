"""Parts of a policy as plain data, and back: one codec for everything that is saved.

A policy is made of parts: a set of actions, a posterior, a rule, priors, pending decisions. Every part is a frozen
dataclass, or an object that keeps the arguments of its constructor under their own names. So what has to be saved
follows from the parts themselves, and nothing is written down twice.

    frozen dataclass   ->  {"part": class, "fields": {...}}
    learner            ->  {"part": class, "fields": {argument: value}}     its state is saved beside it
    tuple, list        ->  {"tuple": [...]}, {"list": [...]}
    mapping            ->  {"mapping": {...}}
    array, number, text, None: as they are

Nothing in a file is executed. Classes are looked up by name among the public names of this package, and among those
that the caller of ``load`` passes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from inspect import signature
from typing import Any

import numpy as np

from sparsebandits import lazy
from sparsebandits.arguments import ArgumentTypeError, shown
from sparsebandits.files import SaveFileError

NAMESPACES = (
    "sparsebandits",
    "sparsebandits.model",
    "sparsebandits.posteriors",
    "sparsebandits.rules",
    "sparsebandits.policies",
    "sparsebandits.policies.rivals",
)
"""Where the classes of saved parts are looked up."""

NOT_SAVED = ("seed", "noise_variance")
"""Engine arguments that are not saved: the random state is saved instead of the seed, and ``rewards`` has the noise."""


def encode(name: str, value: Any) -> Any:
    """Return a part as arrays and JSON values.

    Parameters
    ----------
    name : str
        Where the part belongs, such as ``"rule.width"``, for the error.
    value : object
        The part.

    Returns
    -------
    object
        Arrays and JSON values that :class:`Decoder` turns back into the part.

    Raises
    ------
    ArgumentTypeError
        If the part cannot be saved.
    """
    if value is None or isinstance(value, bool | int | float | str | np.ndarray):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        if all(one is None or isinstance(one, bool | int | float | str) for one in value):
            return {kind: list(value)}
        return {kind: {str(i): encode(f"{name}[{i}]", one) for i, one in enumerate(value)}}
    if isinstance(value, Mapping):
        return {"mapping": {str(key): encode(f"{name}.{key}", one) for key, one in value.items()}}
    if is_dataclass(value) and not isinstance(value, type):
        return _part(name, value, [field.name for field in fields(value)])
    if hasattr(value, "absorb"):
        return encode_learner(name, value)
    raise ArgumentTypeError(
        name, "a number, text, an array or a frozen dataclass, so that it can be saved", shown(value)
    )


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
    encoded = {one: encode(f"{name}.{one}", getattr(value, one)) for one in names}
    return {"part": type(value).__name__, "fields": encoded}


class Decoder:
    """Inverse of :func:`encode`.

    Parameters
    ----------
    own : sequence of classes, optional
        Classes of the caller, in addition to those of this package.
    """

    def __init__(self, own: Sequence[type] = ()) -> None:
        self._own = {part.__name__: part for part in own}

    def __call__(self, value: Any) -> Any:
        """Return the value that was encoded."""
        if not isinstance(value, dict):
            return value
        if "part" in value:
            return self.part(value["part"])(**{name: self(one) for name, one in value["fields"].items()})
        if "mapping" in value:
            return {name: self(one) for name, one in value["mapping"].items()}
        (kind, items), *_ = value.items()
        values = items if isinstance(items, list) else [self(one) for one in items.values()]
        return tuple(values) if kind == "tuple" else values

    def part(self, name: str) -> type[Any]:
        """Return the class with this name.

        Parameters
        ----------
        name : str
            Name of the class.

        Returns
        -------
        type
            The class.

        Raises
        ------
        SaveFileError
            If there is no such class.
        """
        found = self._own.get(name) or lazy.find(name, NAMESPACES)
        if not isinstance(found, type):
            raise SaveFileError(f"path: expected parts of this package, got {name!r}; pass its class to load")
        return found
