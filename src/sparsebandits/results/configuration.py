"""Configurations as plain data: one text and one hash per configuration, and where two of them differ.

A configuration is what the results of a trial depend on: environment, policy, horizon, seed and what is recorded, as
nested dicts and lists of JSON values. :mod:`sparsebandits.experiments.description` makes one from objects.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from sparsebandits.arguments import shown

HASH_DIGITS = 32


def canonical(configuration: Any) -> str:
    """Return the configuration as JSON text that does not depend on the order of keys, with 2.0 written as 2."""
    return json.dumps(_whole(configuration), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _whole(value: Any) -> Any:
    """Write whole floats as integers, so that ``width = 2`` and ``width = 2.0`` are the same configuration."""
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def hashed(configuration: Any) -> str:
    """Return the hash of a configuration.

    Examples
    --------
    >>> hashed({"width": 2.0, "kind": "LinUCB"}) == hashed({"kind": "LinUCB", "width": 2})
    True
    """
    return hashlib.sha256(canonical(configuration).encode()).hexdigest()[:HASH_DIGITS]


def differences(there: Any, here: Any) -> str:
    """Describe in words where two configurations differ; the text is empty if they are equal.

    Examples
    --------
    >>> differences({"horizon": 5, "policy": {"width": 1.0}}, {"horizon": 5, "policy": {"width": 2.0, "ridge": 1.0}})
    'policy.ridge is missing there and 1 here; policy.width is 1 there and 2 here'
    """
    one, other = (dict(_leaves(json.loads(canonical(configuration)), "")) for configuration in (there, here))
    found = [
        f"{path} is {one.get(path, 'missing')} there and {other.get(path, 'missing')} here"
        for path in sorted({*one, *other})
        if one.get(path) != other.get(path)
    ]
    return "; ".join(found)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield each value that is not a dict, with its dotted path."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else key)
    else:
        yield path, shown(value)
