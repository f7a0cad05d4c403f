"""What ships: public names, quick import, examples in the README."""

import contextlib
import io
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import sparsebandits as sb

ROOT = Path(__file__).parents[1]


def test_public_names_are_there_and_once() -> None:
    for name in sb.__all__:
        found = getattr(sb, name)
        home = found.__name__ if isinstance(found, ModuleType) else found.__module__
        assert home.startswith("sparsebandits.")
        assert name in dir(sb)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        sb.Nothing  # type: ignore[attr-defined]  # noqa: B018
    assert version("sparsebandits") == sb.__version__


NAMESPACES = (
    "",
    ".advice",
    ".environments",
    ".experiments",
    ".journal",
    ".model",
    ".policies",
    ".policies.rivals",
    ".posteriors",
    ".results",
    ".results.plots",
    ".rules",
    ".theory",
)


def test_no_public_name_is_that_of_a_module_beside_it_and_none_is_listed_twice() -> None:
    """Importing ``rules/x.py`` sets ``rules.x`` to the module, which would hide a public function of that name."""
    seen: dict[str, str] = {}
    for namespace in NAMESPACES:
        module = import_module(f"sparsebandits{namespace}")
        folder = Path(str(module.__file__)).parent
        for name in module.__all__:
            value = getattr(module, name)
            assert isinstance(value, ModuleType) or not (folder / f"{name}.py").exists(), f"{namespace}.{name}"
            if isinstance(value, type):
                assert seen.setdefault(name, namespace) == namespace, name


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = "('numpy', 'scipy', 'matplotlib', 'rich', 'gymnasium')"
    code = f"import sys, sparsebandits; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_policy_does_not_import_what_only_experiments_need() -> None:
    heavy = "('matplotlib', 'joblib', 'numba')"
    code = f"import sys, sparsebandits as sb; sb.LinTS; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_prior_does_not_import_parts_of_scipy_before_they_are_needed() -> None:
    heavy = "('scipy.linalg', 'scipy.optimize', 'scipy.sparse', 'scipy.special')"
    code = f"import sys, sparsebandits as sb; sb.SpikeSlab(0.1, 0.1); print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_an_experiment_does_not_import_what_only_its_result_needs() -> None:
    """Every worker process imports it."""
    heavy = "('matplotlib', 'scipy.stats', 'sklearn', 'pandas', 'numba', 'gymnasium')"
    code = f"import sys, sparsebandits as sb; sb.Experiment; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def examples(document: str) -> list[tuple[str, str | None]]:
    """Each ```python block of a document, with the ```text block that directly follows it, if one does."""
    pattern = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
    return [(code, output or None) for code, output in pattern.findall((ROOT / document).read_text())]


DOCUMENTS = [
    path.relative_to(ROOT).as_posix()
    for path in sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")))
    if "_build" not in path.parts
]


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if examples(name)])
def test_examples_run_and_print_what_they_say(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code, expected in examples(document):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, document, "exec"), names)
        if expected is not None:
            assert printed.getvalue().split() == expected.split()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    page = ROOT / document
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if target.startswith("https://"):
            continue
        assert (page.parent / target).exists(), target
