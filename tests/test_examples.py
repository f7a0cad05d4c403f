"""The single-file examples run as they are, open with what they show, and show it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
SHOWN = {
    "ask_and_tell": "features with a probability above one half: [2, 7, 11]",
    "compare_policies": "against SparseIDS",
    "decide_table": "hardener: +0.9",
    "off_policy": "WARNING: lack of overlap",
    "own_rule": "after loading: TopTwo(share=0.5), the same decision: True",
}


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_runs(file: Path, tmp_path: Path) -> None:
    source = file.read_text()
    assert ast.get_docstring(ast.parse(source)), "an example opens with what it shows"
    assert len(source.splitlines()) <= 70, "an example is short"
    command = [sys.executable, "-W", "error", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    assert SHOWN.get(file.stem, "") in done.stdout
    if file.stem == "compare_policies":
        assert (tmp_path / "regret.png").stat().st_size > 10_000


def test_every_promised_example_is_there() -> None:
    assert set(SHOWN) <= {file.stem for file in EXAMPLES}
