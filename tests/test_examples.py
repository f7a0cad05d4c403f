"""The single-file examples run as they are, open with what they show, and show it."""

import ast
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SHOWN = {
    "ask_and_tell": "features with a probability above one half: [2, 7, 11]",
    "campaign": "later: Campaign(60 candidates, 21 rewards told, 0 pending); taken back: 99.0",
    "clicks": "leading features: [2, 7]",
    "compare_policies": "against SparseIDS",
    "contexts": "for age 70: film",
    "curved_effects": "quadratic are among the effects",
    "decide_table": "hardener: +0.9",
    "drift": "features that matter at the end (truth: 4 and 9): [4, 9]",
    "messy_table": "numbers have decimal commas",
    "off_policy": "WARNING: lack of overlap",
    "own_rule": "after loading: TopTwo(share=0.5), the same decision: True",
    "target_and_cost": "close to 7.4: D31, expected 7.5",
}
MOST_BYTES = 600_000
"""Size of all pictures of the gallery together."""


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_runs(file: Path, tmp_path: Path) -> None:
    source = file.read_text()
    assert ast.get_docstring(ast.parse(source)), "an example opens with what it shows"
    assert len(source.splitlines()) <= 70, "an example is short"
    command = [sys.executable, "-W", "error", str(file), "figure.png"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    assert SHOWN[file.stem] in done.stdout
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_no_figure_without_a_path(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / "decide_table.py")]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path, timeout=300)
    assert list(tmp_path.iterdir()) == []


def test_every_promised_example_is_there() -> None:
    assert set(SHOWN) == {file.stem for file in EXAMPLES}


def test_the_gallery_has_every_example() -> None:
    """Whoever changes an example runs ``python docs/figures/gallery.py``."""
    script = runpy.run_path(str(ROOT / "docs" / "figures" / "gallery.py"))
    assert sorted(name for names in script["GROUPS"].values() for name in names) == sorted(SHOWN)
    assert (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8") == script["page"]()
    pictures = sorted((ROOT / "docs" / "gallery").iterdir())
    assert [picture.name for picture in pictures] == [f"{name}.png" for name in sorted(SHOWN)]
    assert sum(picture.stat().st_size for picture in pictures) < MOST_BYTES
