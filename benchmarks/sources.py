"""The modules of the package that a module depends on, and a digest of their code.

Compiled kernels that are kept on disk, and the stored calibration run, are valid only for the code that they were made
with. That is not just the module at hand but every module that it imports, directly or not. The digest of all of them
is the key of both: it changes with any line of code among them, and not with a comment or a docstring.

The files are read, not imported: the key of the kernel cache has to be known before Numba is.
"""

import ast
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "src"


def modules_in(folder: str, source: Path = SOURCE) -> list[str]:
    """Return the names of the modules that stand directly in a folder below ``source``, in order."""
    paths = sorted(path for path in (source / folder).glob("*.py") if path.stem != "__init__")
    return [".".join(path.relative_to(source).with_suffix("").parts) for path in paths]


def import_closure(
    modules: Iterable[str], source: Path = SOURCE, without: Container[str] = ()
) -> dict[str, ast.Module]:
    """Return these modules and all modules below ``source`` that they import, directly or not: name and syntax tree.

    Modules in ``without`` are left out, and so is what only they import.

    An import counts wherever it stands: at the top, in a function, or for the type checker alone. A package counts only
    where one of its names is imported from it; then all names that it lists are followed. (Importing a module also runs
    the ``__init__`` of each package around it, but those of this library only list names.)
    """
    found: dict[str, ast.Module] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = _file(name, source)
        if name not in found and name not in without and path is not None:
            found[name] = ast.parse(path.read_text(encoding="utf-8"))
            waiting.extend(_imported(name, found[name], source))
    return found


def digest(modules: Iterable[str], source: Path = SOURCE, without: Container[str] = ()) -> str:
    """Return a digest of the code of these modules and of all that they import, without comments and docstrings."""
    trees = import_closure(modules, source, without)
    code = [(name, _plain(trees[name])) for name in sorted(trees)]
    return hashlib.sha256(repr(code).encode()).hexdigest()[:16]


def printed_by(checkout: Path, program: str) -> Any:
    """Return the JSON value in the last line that a program prints with the code of another checkout."""
    paths = os.pathsep.join(map(str, (checkout / "src", checkout)))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": paths},
        cwd=checkout,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def _file(name: str, source: Path) -> Path | None:
    """Return the file of a module or package, or None if it is not below ``source``."""
    path = source.joinpath(*name.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _imported(name: str, tree: ast.Module, source: Path) -> Iterator[str]:
    """Yield the names of the modules that one module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module is None or node.level:
                raise ValueError(f"{name}: expected absolute imports only, got a relative one in line {node.lineno}")
            for alias in node.names:
                member = f"{node.module}.{alias.name}"
                yield node.module if _file(member, source) is None else member


def _plain(node: Any) -> Any:
    """Return a syntax tree as nested tuples that are the same in every version of Python, without docstrings.

    ``ast.dump`` is not: each version has fields of its own, empty where old syntax is used, so empty ones are left out.
    """
    if isinstance(node, list):
        return tuple(_plain(part) for part in node if not _is_text(part))
    if isinstance(node, ast.AST):
        fields = ((name, _plain(value)) for name, value in ast.iter_fields(node))
        return type(node).__name__, *(field for field in fields if field[1] not in (None, ()))
    return node


def _is_text(node: Any) -> bool:
    """Return whether a statement is a constant on its own: a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
