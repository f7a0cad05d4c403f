"""The namespaces of theory and environments: every name once, imported on first use."""

import pkgutil
import subprocess
import sys
from importlib import import_module
from inspect import ismodule
from types import ModuleType

import pytest

import sparsebandits as sb

NAMESPACES = [sb.theory, sb.environments]


@pytest.mark.parametrize("namespace", NAMESPACES, ids=lambda namespace: str(namespace.__name__))
def test_every_name_is_found_whatever_was_imported_before(namespace: ModuleType) -> None:
    """A module of the same name would hide the function once something has imported it."""
    for module in pkgutil.iter_modules(namespace.__path__):
        import_module(f"{namespace.__name__}.{module.name}")
    assert len(namespace.__all__) > 5
    assert len(set(namespace.__all__)) == len(namespace.__all__)
    for name in namespace.__all__:
        assert not ismodule(getattr(namespace, name)), name
        assert name in dir(namespace)


@pytest.mark.parametrize("namespace", NAMESPACES, ids=lambda namespace: str(namespace.__name__))
def test_a_namespace_imports_nothing_by_itself(namespace: ModuleType) -> None:
    code = f"import sys, {namespace.__name__}; print([m for m in ('numpy', 'scipy', 'numba') if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_name_of_the_theory_that_is_misspelt() -> None:
    with pytest.raises(AttributeError, match="did you mean 'regret_bound'"):
        sb.theory.regret_bond  # type: ignore[attr-defined]  # noqa: B018
