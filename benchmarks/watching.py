"""Watch calls inside the package from outside, by putting watchers into the places that the calls go through."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from time import process_time
from typing import Any, TypeAlias

Watcher: TypeAlias = Callable[[float, tuple[Any, ...], Any], None]
"""Told after each call: its seconds of processor time, its arguments by position, and what it returned."""


@contextmanager
def watched(watchers: Mapping[str, Watcher]) -> Iterator[None]:
    """Tell each watcher of the calls of one place, named ``module:function`` or ``module:Class.method``."""
    found = [(*_place(name), watcher) for name, watcher in watchers.items()]
    kept = [(owner, name, vars(owner)[name]) for owner, name, _ in found]
    try:
        for owner, name, watcher in found:
            setattr(owner, name, _watching(vars(owner)[name], getattr(owner, name), watcher))
        yield
    finally:
        for owner, name, was in kept:
            setattr(owner, name, was)


def _place(name: str) -> tuple[Any, str]:
    """Return the module or class, and the name in it."""
    module, _, path = name.partition(":")
    owner: Any = import_module(module)
    *classes, last = path.split(".")
    for part in classes:
        owner = getattr(owner, part)
    return owner, last


def _watching(kept: Any, call: Any, watcher: Watcher) -> Any:
    def timed(*given: Any, **named: Any) -> Any:
        begun = process_time()
        result = call(*given, **named)
        watcher(process_time() - begun, given, result)
        return result

    return staticmethod(timed) if isinstance(kept, classmethod | staticmethod) else timed
