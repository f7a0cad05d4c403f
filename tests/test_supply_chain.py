"""Lock files pin everything with hashes, the build backend too, and name no host; CI installs nothing else."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
PIN = re.compile(r"^[a-z0-9._-]+==[^ ;]+(?: ; .*)? \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS, ids=[lock.stem for lock in LOCKS])
def test_every_line_of_a_lock_is_a_pin_with_hashes(lock: Path) -> None:
    text = lock.read_text()
    left = [line for line in PIN.sub("", text).splitlines() if line and not line.lstrip().startswith("#")]
    assert left == []
    assert "://" not in text
    if lock.stem != "tools":
        assert re.search(r"^hatchling==", text, re.MULTILINE), "the build backend"


def test_ci_installs_locked_packages_alone() -> None:
    text = (ROOT / ".github/workflows/ci.yml").read_text()
    installs = re.findall(r"pip install (.*?)(?:  #.*)?$", text, re.MULTILINE)
    windows = '-e ".[test]"'  # for which the locks lack packages
    assert windows in installs
    for line in set(installs) - {windows}:
        assert line.startswith(("--no-deps --require-hashes -r requirements/", "--no-deps --no-build-isolation ")), line
    assert re.findall(r"python -m build(.*)", text) == [" --no-isolation"]


def test_make_resolves_nothing() -> None:
    """Pip would look for the newest version of a pin that something needs with an extra, such as ``coverage[toml]``."""
    installs = re.findall(r"pip install (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert len(installs) == 7
    assert all("--no-deps" in line for line in installs)
