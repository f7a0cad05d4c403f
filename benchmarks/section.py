"""One section of the page of benchmarks: measured by a module of its own, kept as JSON, shown as text.

A section is a module with ``measure(quick) -> figures`` and ``page(figures) -> text``. :func:`run` is its command line:
it measures, adds the circumstances, writes ``benchmarks/results/<name>.json`` and prints the text. ``--quick`` is for
trying a section: everything small, nothing written. ``python -m benchmarks.page`` puts the texts into README.md.
"""

import argparse
import json
import os
import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

from sparsebandits.files import write_atomically
from sparsebandits.tables import Cell, Table

RESULTS = Path(__file__).parent / "results"
Figures: TypeAlias = dict[str, Any]
"""What a section has measured: numbers, words, lists and dicts, as JSON has them."""


def run(
    name: str,
    measure: Callable[[bool], Figures],
    page: Callable[[Figures], str],
    packages: Sequence[str] = (),
    arguments: Sequence[str] | None = None,
) -> None:
    """Measure a section and print it; ``packages`` are those whose versions matter besides our own."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}")
    parser.add_argument("--quick", action="store_true", help="a small version, not written to benchmarks/results")
    quick = parser.parse_args(arguments).quick
    RESULTS.mkdir(exist_ok=True)
    figures = {"circumstances": circumstances(packages), **measure(quick)}
    print(page(figures))
    if not quick:
        write_atomically(RESULTS / f"{name}.json", (json.dumps(figures, indent=1, ensure_ascii=False) + "\n").encode())


def circumstances(packages: Sequence[str] = ()) -> Figures:
    """Return what a figure depends on besides the code."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": {package: release(package) for package in ("sparsebandits", "numpy", "scipy", "numba", *packages)},
    }


def around(figures: Figures) -> str:
    """Return the circumstances as two lines."""
    c = figures["circumstances"]
    versions = ", ".join(f"{package} {number}" for package, number in c["versions"].items())
    return (
        f"{c['cpu']}, {c['cores']} cores, load {c['load']} at the start, one thread, {c['date']}\n"
        f"Python {c['python']}, {versions}"
    )


def cpu_model() -> str:
    """Return the processor's name, as far as the system tells it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def release(package: str) -> str:
    """Return the installed version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "source tree" if package == "sparsebandits" else "not installed"


def target(name: str, figures: Sequence[float], wanted: float, at_most: bool = False) -> Figures:
    """Return a goal with the median and range of its repeats, and whether the median meets it."""
    ordered = sorted(figures)
    half = len(ordered) // 2
    middle = ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    met = middle <= wanted if at_most else middle >= wanted
    return {
        "target": name,
        "figure": middle,
        "min": ordered[0],
        "max": ordered[-1],
        "wanted": wanted,
        "at_most": at_most,
        "met": met,
    }


def targets_table(targets: Sequence[Figures]) -> str:
    """Return goals as a table."""
    rows: list[tuple[Cell, ...]] = [
        (
            t["target"],
            short(t["figure"]),
            short(t["min"]),
            short(t["max"]),
            f"{'at most' if t['at_most'] else 'at least'} {t['wanted']:g}",
            "yes" if t["met"] else "no",
        )
        for t in targets
    ]
    return str(Table(("target", "figure", "min", "max", "wanted", "met"), rows))


def short(figure: float | None) -> float | int | None:
    """Return large figures as whole numbers and small ones with three digits."""
    return figure if figure is None else round(figure) if abs(figure) >= 100 else float(f"{figure:.3g}")
