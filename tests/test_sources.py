"""The key of the kernel cache and of the calibration run: it follows imports, and ignores comments and docstrings."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import calibration
from benchmarks.sources import SOURCE, digest, import_closure, modules_in

ENGINES, KERNELS = "sparsebandits/posteriors", "sparsebandits/posteriors/kernels"

INDIRECT = [
    (ENGINES, "model/priors.py"),
    (ENGINES, "model/evidence.py"),
    (ENGINES, "randomness.py"),
    (ENGINES, "posteriors/engine.py"),
    (ENGINES, "posteriors/kernels/compiled.py"),
    (ENGINES, "posteriors/kernels/inline_random.py"),
    (KERNELS, "posteriors/kernels/compiled.py"),
    (KERNELS, "posteriors/kernels/inline_random.py"),
    (KERNELS, "arguments.py"),
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    shutil.copytree(SOURCE, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src"


@pytest.mark.parametrize(("folder", "changed"), INDIRECT)
def test_code_that_is_imported_indirectly_counts(folder: str, changed: str, source: Path) -> None:
    before = digest(modules_in(folder, source), source)
    path = source / "sparsebandits" / changed
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}\n\n# A remark.\n", encoding="utf-8")
    assert digest(modules_in(folder, source), source) == before
    path.write_text(text.replace('"""', '"""Changed: ', 1), encoding="utf-8")  # the module's docstring
    assert digest(modules_in(folder, source), source) == before
    path.write_text(f"{text}\nADDED = 1\n", encoding="utf-8")
    assert digest(modules_in(folder, source), source) != before


def test_code_that_is_not_imported_does_not_count(source: Path) -> None:
    before = digest(modules_in(ENGINES, source), source)
    for name in ("policies/policy.py", "files.py", "theory/bounds.py", "__init__.py"):
        with (source / "sparsebandits" / name).open("a", encoding="utf-8") as file:
            file.write("\nADDED = 1\n")
    assert digest(modules_in(ENGINES, source), source) == before


def test_the_calibration_run_has_the_digest_of_the_engines() -> None:
    assert calibration.digest() == digest(modules_in(ENGINES))


@pytest.mark.parametrize("folder", [ENGINES, KERNELS])
def test_the_closure_holds_what_python_imports(folder: str) -> None:
    program = f"import sys\nimport {', '.join(modules_in(folder))}\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    ours = {name for name in loaded if name.startswith("sparsebandits.")}
    packages = {name for name in ours if (SOURCE / name.replace(".", "/")).is_dir()}
    assert ours - packages - {"sparsebandits.lazy"} <= set(import_closure(modules_in(folder)))


def test_numba_compiles_nothing_outside_of_the_kernels() -> None:
    """The kernel cache is named after the code in one folder, so all kernels have to stand there."""
    kernels = SOURCE / KERNELS
    elsewhere = [path for path in SOURCE.rglob("*.py") if kernels not in path.parents]
    assert not [path.name for path in elsewhere if "njit" in path.read_text(encoding="utf-8")]


def test_names_from_a_package_are_followed(tmp_path: Path) -> None:
    for name, text in {
        "house/__init__.py": "from house.hall import lamp\n",
        "house/hall.py": "lamp = 1\n",
        "house/attic.py": "def light():\n    from house import lamp\n    return lamp\n",
        "house/cellar.py": "import house.attic\n",
        "house/shed.py": "from . import hall\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert modules_in("house", tmp_path) == ["house.attic", "house.cellar", "house.hall", "house.shed"]
    assert sorted(import_closure(["house.cellar"], tmp_path)) == ["house", "house.attic", "house.cellar", "house.hall"]
    with pytest.raises(ValueError, match=r"house\.shed: expected absolute imports only, got a relative one in line 1"):
        import_closure(["house.shed"], tmp_path)
