"""The documentation site builds without a warning, holds every page and name, and says what was measured."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sparsebandits as sb

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def test_the_site_builds_and_holds_everything(tmp_path: Path) -> None:
    """Warnings are errors: a broken link, a page that no list holds, a name of ours that is not known.

    One test, since a build takes a dozen seconds.
    """
    site = tmp_path / "html"
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", str(DOCS), str(site)]
    built = subprocess.run([*command, "-d", str(tmp_path / "doctrees")], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr

    index = (site / "index.html").read_text()
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).with_suffix(".html").as_posix()
        assert name == "index.html" or f'href="{name}"' in index, f"{name} is in no list of contents"

    reference = "".join(page.read_text() for page in (site / "api").glob("*.html"))
    names = [f"sparsebandits.{name}" for name in sb.__all__] + [f"sparsebandits.theory.{n}" for n in sb.theory.__all__]
    assert [name for name in names if f'id="{name}"' not in reference] == [], "put these on a page of docs/api"

    assert "<math" in (site / "mathematics.html").read_text()
    for page in site.rglob("*.html"):  # nothing is fetched from elsewhere, formulas are drawn by the browser
        assert re.search(r'<(script|link|img)[^>]+(src|href)="https?:', page.read_text()) is None


@pytest.mark.parametrize("extension", sorted((DOCS / "extensions").glob("*.py")), ids=lambda path: path.stem)
def test_examples_of_the_extensions(extension: Path) -> None:
    """Pytest looks for examples in src and tests alone."""
    done = subprocess.run(
        [sys.executable, "-m", "doctest", str(extension)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def measured() -> Iterator[tuple[str, Path, str]]:
    """Each figure of the tables in docs/choose.md, and the page that it is said to be from."""
    for line in (DOCS / "choose.md").read_text().splitlines():
        row = re.fullmatch(r"\|.*\|([^|]+)\| \[[^]]+\]\((\w+)\.md\) \|", line)
        if row is not None and row[2] != "benchmarks":  # whose figures change with the machine, and are rounded here
            source = ROOT / "papers/hao2021/README.md" if row[2] == "reproduction" else DOCS / f"{row[2]}.md"
            for figure in re.findall(r"(?<![\w.^])\d+(?:\.\d+)?(?![\w.])", row[1]):
                yield figure, source, line


def test_figures_are_those_of_the_page_that_they_are_from() -> None:
    found = list(measured())
    assert len(found) > 40
    for figure, source, line in found:
        assert re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d]|\.\d)", source.read_text()), (figure, line)
