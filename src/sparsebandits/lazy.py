"""Import public names on first use, from the one list that type checkers read too.

Importing the package must not load Numba, SciPy or Matplotlib, which take a second or more. So each public namespace
lists its names as ordinary imports under ``if TYPE_CHECKING:``, where editors and type checkers find them, and
:func:`names` reads the same lines to import each name when it is first asked for.
"""

import ast
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any


def names(
    namespace: str, moved: dict[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a namespace, from its ``if TYPE_CHECKING:`` block.

    Parameters
    ----------
    namespace : str
        The module's ``__name__``.
    moved : dict of str to str, optional
        Names that have moved, each with the namespace below this one that has it now; they are still found, with a
        deprecation warning.

    Returns
    -------
    __getattr__, __dir__, __all__ : callable, callable, list of str
        What the namespace assigns to these names.
    """
    homes, moved = _listed(namespace), moved or {}

    def get(name: str) -> Any:
        if name in moved:
            short = namespace.replace("sparsebandits", "sb", 1)
            warnings.warn(f"{short}.{name} is now {short}.{moved[name]}.{name}", DeprecationWarning, stacklevel=2)
            return getattr(getattr(sys.modules[namespace], moved[name]), name)
        if name not in homes:
            known = {one.lower(): one for one in (*homes, *moved)}
            near = get_close_matches(name.lower(), known, n=1)
            hint = "".join(f"; did you mean {known[one]!r}?" for one in near)
            raise AttributeError(f"module {namespace!r} has no attribute {name!r}{hint}")
        module, member = homes[name]
        value = _imported(namespace, module, member)
        vars(sys.modules[namespace])[name] = value
        return value

    return get, lambda: sorted({*vars(sys.modules[namespace]), *homes}), sorted(homes)


def _listed(namespace: str) -> dict[str, tuple[str, str]]:
    """Return the module of each name and its name there."""
    loader: Any = vars(sys.modules[namespace])["__loader__"]
    return {
        alias.asname or alias.name: (line.module, alias.name)
        for block in ast.parse(loader.get_source(namespace)).body
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for line in block.body
        if isinstance(line, ast.ImportFrom) and line.module is not None
        for alias in line.names
    }


def _imported(namespace: str, module: str, member: str) -> Any:
    """Do what ``from module import member`` does; a member of the namespace itself is one of its modules."""
    if module != namespace:
        home = import_module(module)
        if hasattr(home, member):
            return getattr(home, member)
    return import_module(f"{module}.{member}")


def find(name: str, namespaces: Sequence[str]) -> Any:
    """Return the first public object with this name in any of the namespaces, or None.

    Parameters
    ----------
    name : str
        Public name.
    namespaces : sequence of str
        Modules to search, in order.

    Returns
    -------
    object or None
        What the name stands for; None if no namespace has it.
    """
    for namespace in namespaces:
        module = import_module(namespace)
        if name in module.__all__:
            return getattr(module, name)
    return None


def public(room: str, namespaces: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield the public names that are defined in a package, each with the object that it stands for.

    Parameters
    ----------
    room : str
        Package, such as ``"sparsebandits.policies"``.
    namespaces : sequence of str
        Modules whose public names are searched.

    Yields
    ------
    name, value : str, object
        A public name whose object is defined in the package.
    """
    for namespace in namespaces:
        module = import_module(namespace)
        for name, (home, _) in _listed(namespace).items():
            if home.startswith(f"{room}."):
                yield name, getattr(module, name)
