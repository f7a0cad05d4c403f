"""Describe policies and environments as plain data, which can be compared, hashed and written with results.

A policy or an environment is ``{"kind": class, setting: value, ...}``, where ``kind`` is the bare name of a class of
this package, or ``module.name`` of any other. Experiment files (:mod:`sparsebandits.experiments.plan`) use the same
words, and :mod:`sparsebandits.results.configuration` hashes and compares descriptions.
"""

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np

from sparsebandits.arguments import shown
from sparsebandits.experiments.simulate import maker_parts


def describe(name: str, value: object) -> Any:
    """Return ``value`` as JSON values.

    Parameters
    ----------
    name : str
        What ``value`` is called in an error.
    value : object
        A policy, an environment or one of their settings.

    Raises
    ------
    TypeError
        If a name and settings do not identify ``value``, for example if it is a lambda.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, np.generic | np.ndarray):
        return describe(name, value.tolist())
    if isinstance(value, Mapping):
        return {str(key): describe(f"{name}.{key}", item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [describe(f"{name}[{place}]", item) for place, item in enumerate(value)]
    if isinstance(value, type):
        return {"kind": kind(value)}
    parts = maker_parts(value)
    if parts is not None:
        return {**describe(name, parts[0]), **describe(name, parts[1])}
    if isinstance(value, partial):
        return {
            **describe(name, value.func),
            "arguments": describe(name, value.args),
            **describe(name, value.keywords),
        }
    if is_dataclass(value):
        settings = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        return {"kind": kind(type(value)), **describe(name, settings)}
    if hasattr(value, "__qualname__"):
        return {"kind": _named(name, value)}
    if hasattr(value, "__dict__") and not callable(value):
        return {"kind": kind(type(value)), **describe(name, vars(value))}
    raise _indescribable(name, value)


def kind(value: type | Callable[..., Any]) -> str:
    """Return the name of a class or function: bare if it is of this package, else with its module."""
    ours = value.__module__.split(".")[0] == __name__.split(".")[0]
    return value.__qualname__ if ours else f"{value.__module__}.{value.__qualname__}"


def untracked(described: Any) -> list[str]:
    """Return the classes and functions of a description that are not of this package, each once, in order.

    The digest of the sources that is kept with results does not cover them.

    Parameters
    ----------
    described : object
        What :func:`describe` returned.

    Returns
    -------
    list of str
        Their names as ``module.name``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> untracked(describe("it", {"a": Fraction, "b": [Fraction]}))
    ['fractions.Fraction']
    """
    if isinstance(described, list):
        return sorted({name for one in described for name in untracked(one)})
    if not isinstance(described, dict):
        return []
    found = {name for one in described.values() for name in untracked(one)}
    name = described.get("kind")
    if isinstance(name, str) and "." in name and name.split(".")[0] in sys.modules:  # else a method of ours, as C.make
        found.add(name)
    return sorted(found)


def _named(name: str, function: Any) -> str:
    """Return the name of a function if it identifies it; refuse lambdas, closures and bound methods."""
    bound = getattr(function, "__self__", None)
    if "<lambda>" in function.__qualname__ or getattr(function, "__closure__", None) or hasattr(bound, "__dict__"):
        raise _indescribable(name, function)
    return kind(function)


def _indescribable(name: str, value: object) -> TypeError:
    return TypeError(
        f"{name}: expected something that a name and settings identify, since they are written with the results (a "
        f"class, maker(...), a function of a module, a dataclass), got {shown(value)}"
    )
