"""Provenance of results: sources, commit, versions and processor. Nothing here affects a result."""

import hashlib
import os
import platform
import subprocess
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


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
