"""Install a wheel into a clean environment of every Python that can be found, and see that it works there.

    python tests/wheel_check.py dist/*.whl

``make wheel-check`` builds the wheel first. It needs the network for what the wheel depends on, so it is no test of the
suite. Pythons are looked for on the path and among those of pyenv; those older than 3.11 are passed over.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

OLDEST, NEWEST = 11, 20
SMOKE = """
import sys
import sparsebandits as sb

assert "site-packages" in sb.__file__, sb.__file__
policy = sb.SparseIDS([[1.0, 0.0], [0.0, 1.0]], n_draws=200, seed=0)
for _ in range(3):
    policy.tell(policy.ask(), 1.0)
policy.save("policy")
assert sb.load("policy").ask().action == policy.ask().action
print(f"Python {sys.version.split()[0]}: asked, told, saved and loaded")
"""


def pythons() -> dict[str, Path]:
    """Return one interpreter a minor version, from 3.11 on."""
    found: dict[str, Path] = {}
    for minor in range(OLDEST, NEWEST):
        name = f"python3.{minor}"
        here = [Path(sys.executable)] if sys.version_info[:2] == (3, minor) else []
        path = shutil.which(name)
        pyenv = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/{name}"))
        candidates = [*here, *([Path(path)] if path else []), *pyenv]
        working = [one for one in candidates if answers(one, minor)]
        if working:
            found[f"3.{minor}"] = working[0]
    return found


def answers(python: Path, minor: int) -> bool:
    """Whether this is a Python 3.``minor`` that runs (a shim of pyenv may stand for none) and has venv."""
    code = "import venv, sys; print(sys.version_info[1])"
    said = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return said.stdout.strip() == str(minor)


def check(python: Path, wheel: Path) -> str:
    """Install and try the wheel below a directory that is deleted afterwards; return what went wrong, or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        clean = Path(folder) / "clean"
        steps: list[list[str | Path]] = [
            [python, "-m", "venv", clean],
            [clean / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel],
            [clean / "bin/python", "-I", "-c", SMOKE],
            [clean / "bin/sparsebandits", "--version"],
            [clean / "bin/sparsebandits", "demo", "--trials", "1", "--horizon", "5", "--dimension", "6", "--json"],
        ]
        for step in steps:
            done = subprocess.run(step, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return f"{' '.join(map(str, step))}\n{done.stdout}{done.stderr}"
            if step[1:] and step[1] == "-I":
                print(done.stdout.strip(), flush=True)
    return ""


def main() -> int:
    """Check the wheel under all Pythons; return how many failed."""
    wheels = [Path(name).resolve() for name in sys.argv[1:] if re.fullmatch(r".*\.whl", name)]
    if len(wheels) != 1 or not wheels[0].is_file():
        print(f"expected the name of one wheel, got {sys.argv[1:]}", file=sys.stderr)
        return 2
    wrong = {version: check(python, wheels[0]) for version, python in pythons().items()}
    for version, message in wrong.items():
        if message:
            print(f"Python {version} failed: {message}", file=sys.stderr)
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(main())
