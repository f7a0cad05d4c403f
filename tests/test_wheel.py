"""What is shipped: a wheel with the package and nothing else, and an sdist from which the same wheel can be built.

``make wheel-check`` also installs it, under every Python that can be found (``tests/wheel_check.py``).
"""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import sparsebandits as sb

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sparsebandits"
NAME = f"sparsebandits-{sb.__version__}"
LARGEST_SDIST = 12_000_000
LEFT_OVER = ("__pycache__", ".numba_cache", ".pytest_cache", ".hypothesis", "_build", ".venv", ".git", "out", "dist")


def build(out: Path, *what: str) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def no_left_overs(names: list[str]) -> None:
    for name in names:
        assert not set(PurePosixPath(name).parts) & set(LEFT_OVER), name
        assert not name.endswith((".pyc", ".nbi", ".nbc", ".tmp")), name


def test_wheel_and_sdist(tmp_path: Path) -> None:
    """One test, since a build takes a second or two."""
    build(tmp_path / "both")  # the sdist, and a wheel from it
    build(tmp_path / "tree", "--wheel")
    wheel = f"{NAME}-py3-none-any.whl"
    assert (tmp_path / "both" / wheel).read_bytes() == (tmp_path / "tree" / wheel).read_bytes()

    shipped = zipfile.ZipFile(tmp_path / "both" / wheel).namelist()
    no_left_overs(shipped)
    modules = {f"sparsebandits/{path.relative_to(PACKAGE).as_posix()}" for path in PACKAGE.rglob("*.py")}
    about = f"{NAME}.dist-info"
    others = {f"{about}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
    assert set(shipped) == modules | others | {"sparsebandits/py.typed"}

    source = tmp_path / "both" / f"{NAME}.tar.gz"
    assert source.stat().st_size < LARGEST_SDIST
    with tarfile.open(source) as archive:
        held = [name.removeprefix(f"{NAME}/") for name in archive.getnames()]
    no_left_overs(held)
    wanted = ("LICENSE", "README.md", "pyproject.toml", "Makefile", "tests/test_wheel.py", "docs/conf.py")
    assert set(wanted) <= set(held)
