"""Provenance of results: sources, commit, versions and processor. Nothing here affects a result."""

import hashlib
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "joblib", "pyarrow", "distributed")


def package_version() -> str:
    """Return the version of this package."""
    return str(import_module("sparsebandits").__version__)


@cache
def sources_digest() -> str:
    """Return a digest of the names and contents of all modules of this package."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


@cache
def commit() -> str | None:
    """Return the commit of the checkout that holds this package, with "-dirty" if files have changed; else None."""
    try:
        _git("ls-files", "--error-unmatch", "__init__.py")  # an installed copy may be inside another repository
        return _git("describe", "--always", "--abbrev=40", "--dirty", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str) -> str:
    answer = subprocess.run(["git", *arguments], cwd=PACKAGE, capture_output=True, text=True, check=True)
    return answer.stdout.strip()


@cache
def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def now() -> str:
    """Return the current time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def surroundings() -> dict[str, Any]:
    """Return versions, commit, system and processor of this run, as JSON values."""
    return {
        "version": package_version(),
        "commit": commit(),
        "sources": sources_digest(),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cores": os.cpu_count(),
    }


def with_run(
    before: Mapping[str, Any],
    run: Mapping[str, Any],
    notes: Mapping[str, Any],
    shared: Mapping[str, Any],
    policies: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a provenance with the entry of a run, which replaces an earlier one with the same id.

    Parameters
    ----------
    before : mapping
        The provenance before.
    run : mapping
        The entry; its ``id`` is that of no other run.
    notes : mapping
        What is noted of the run. Notes by policy, such as what was tuned, are added to those of other policies.
    shared, policies : mapping
        The configuration that all policies share, and that of each policy.

    Returns
    -------
    dict
        The provenance after.
    """
    known, runs, noted = before.get("configuration"), before.get("runs"), before.get("notes")
    earlier = known.get("policies") if isinstance(known, Mapping) else None
    entries = [one for one in runs if isinstance(one, Mapping)] if isinstance(runs, list) else []
    place = next((i for i, one in enumerate(entries) if one.get("id") == run["id"]), len(entries))
    return {
        "configuration": {**shared, "policies": {**(earlier if isinstance(earlier, Mapping) else {}), **policies}},
        "notes": _merged(noted if isinstance(noted, Mapping) else {}, notes),
        "runs": [*entries[:place], run, *entries[place + 1 :]],
    }


def _merged(before: Mapping[str, Any], notes: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the notes of two runs; notes by policy may be about other policies in each run."""
    merged = {**before, **notes}
    for key in before.keys() & notes.keys():
        if isinstance(before[key], Mapping) and isinstance(notes[key], Mapping):
            merged[key] = {**before[key], **notes[key]}
    return merged


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
