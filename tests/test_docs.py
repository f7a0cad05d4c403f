"""The documentation site builds without warnings, has every page and public name, and quotes measured figures."""

import inspect
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import sparsebandits as sb

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def public_names() -> dict[int, list[str]]:
    """Return the full public names of each public class and function, by its identity.

    Some have two: ``sb.Experiment`` is in ``sb.experiments`` too.
    """
    spaces = {"sparsebandits": sb} | {
        f"sparsebandits.{name}": found for name in sb.__all__ if isinstance(found := getattr(sb, name), ModuleType)
    }
    names: dict[int, list[str]] = {}
    for space, module in spaces.items():
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        for name in getattr(module, "__all__", [name for name in own if not name.startswith("_")]):
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                names.setdefault(id(value), []).append(f"{space}.{name}")
    return names


def test_the_site_builds_and_holds_everything(tmp_path: Path) -> None:
    """Warnings are errors: a broken link, a page in no table of contents, an unknown name of the package.

    One test, because a build takes a dozen seconds.
    """
    site = tmp_path / "html"
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", str(DOCS), str(site)]
    built = subprocess.run([*command, "-d", str(tmp_path / "doctrees")], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr

    index = (site / "index.html").read_text()
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).with_suffix(".html").as_posix()
        assert name == "index.html" or f'href="{name}"' in index, f"{name} is in no table of contents"

    reference = "".join(page.read_text() for page in (site / "api").glob("*.html"))
    ids = Counter(re.findall(r'id="(sparsebandits\.[^"]+)"', reference))
    times = {" or ".join(names): sum(ids[name] for name in names) for names in public_names().values()}
    assert len(times) > 150
    assert [name for name, count in times.items() if count == 0] == [], "put these on a page of docs/api"
    assert [name for name, count in times.items() if count > 1] == [], "these are on two pages of docs/api"

    assert "<math" in (site / "mathematics.html").read_text()
    for page in site.rglob("*.html"):  # nothing is fetched from the network; browsers draw formulas themselves
        assert re.search(r'<(script|link|img)[^>]+(src|href)="https?:', page.read_text()) is None


@pytest.mark.parametrize("extension", sorted((DOCS / "extensions").glob("*.py")), ids=lambda path: path.stem)
def test_examples_of_the_extensions(extension: Path) -> None:
    """Pytest collects examples from src and tests only."""
    done = subprocess.run(
        [sys.executable, "-m", "doctest", str(extension)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def measured() -> Iterator[tuple[str, Path, str]]:
    """Yield each figure in the tables of docs/choose.md, with the page that it is quoted from."""
    for line in (DOCS / "choose.md").read_text().splitlines():
        row = re.fullmatch(r"\|.*\|([^|]+)\| \[[^]]+\]\((\w+)\.md\) \|", line)
        if row is not None and row[2] != "benchmarks":  # its figures change with the machine, and are rounded here
            source = ROOT / "papers/hao2021/README.md" if row[2] == "reproduction" else DOCS / f"{row[2]}.md"
            for figure in re.findall(r"(?<![\w.^])\d+(?:\.\d+)?(?![\w.])", row[1]):
                yield figure, source, line


def test_figures_are_those_of_the_page_that_they_are_from() -> None:
    found = list(measured())
    assert len(found) > 40
    for figure, source, line in found:
        assert re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d]|\.\d)", source.read_text()), (figure, line)
