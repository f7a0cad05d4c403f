"""Reproduce experiments of the paper: what ``python -m papers.hao2021`` and ``sparsebandits reproduce`` run."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from papers.hao2021 import claim1, figure1, figure2, figure3
from papers.hao2021.runs import SCALES, Report, Scale, Setup
from papers.hao2021.verdicts import verdicts
from sparsebandits.arguments import check_choice

EXPERIMENTS: Mapping[str, Callable[[Path, str, int], Report]] = {
    "claim1": claim1.main,
    "figure1": figure1.main,
    "figure2": figure2.main,
    "figure3": figure3.main,
}
ALL = "all"


def setups(scale: Scale) -> list[Setup]:
    """Return what all experiments but figure 1 compare."""
    return [claim1.setup(scale), *figure2.setups(scale).values(), *figure3.setups(scale).values()]


def reproduce(what: str, scale: str, out: Path, workers: int, as_json: bool) -> None:
    """Run an experiment, or all of them, and print its table; after all of them, print the verdicts too.

    Parameters
    ----------
    what : str
        A name in ``EXPERIMENTS``, or "all".
    scale : str
        "full", as large as in the paper, or "smoke", a few short trials.
    out : Path
        Directory of the results; what is finished there is not run again.
    workers : int
        Processes on this machine.
    as_json : bool
        Print one JSON object instead of text.
    """
    check_choice("what", what, (*EXPERIMENTS, ALL))
    check_choice("scale", scale, tuple(SCALES))
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"out: cannot create the directory {out}: {error.strerror}") from error
    found: dict[str, Any] = {}
    for name in EXPERIMENTS if what == ALL else (what,):
        report = EXPERIMENTS[name](out, scale, workers)
        files = [str(file) for file in report.files]
        found[name] = {"table": report.table.to_dicts(), "files": files}
        if not as_json:
            print(f"{report.table}\n\nWritten: {', '.join(files)}\n")
    if what == ALL:
        found["claims"] = verdicts(out)
    if as_json:
        print(json.dumps(found, indent=2))
        return
    for title, text in found.get("claims", {}).items():
        print(f"{title}\n\n{text}\n")
    if scale == "smoke":
        print("Smoke test: a few short trials show that everything runs; their numbers are no evidence.")
