"""Bring the committed results up to date: ``python -m papers.hao2021.renew`` (hours); see ``current.py``.

Experiments that are out of date are run again; an interrupted run continues with the same command. With ``--only``,
only some experiments are, and the tables of README.md are written when all results are there.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import sources
from numpy.random import SeedSequence

import sparsebandits as sb
from papers.hao2021 import claim1, current, figure1, figure2, figure3
from papers.hao2021.runner import EXPERIMENTS
from papers.hao2021.runs import SCALES
from papers.hao2021.verdicts import RESULTS, write_readme
from sparsebandits.experiments import PolicyMaker, Tuning

ROUNDS = 300
"""Rounds of the games by which code is found to give the same."""


def first_games() -> dict[str, Any]:
    """Return the digest of the code, the first data set of figure 1, and the regret of a short game of each policy."""
    scale, found = SCALES["full"], {"figure1": figure1.found(0)}
    plays: dict[str, tuple[Any, Mapping[str, PolicyMaker | Tuning]]] = {
        "claim1": (claim1.environment(), {**claim1.policies(scale), **claim1.on_papers_sampler()}),
        "figure2": (figure2.environment(1.0), {**figure2.policies(1.0), **figure2.on_papers_sampler(1.0)}),
    }
    for d in figure3.DIMENSIONS:
        makers = {**figure3.policies(d, scale), **figure3.on_papers_sampler(d)}
        plays[figure3.name_of(d)] = (figure3.environment(d), makers)
    for name, (environment, policies) in plays.items():
        of_world, of_game = SeedSequence(0).spawn(2)
        world = environment.sample(of_world)
        for policy, make in policies.items():
            play = make.make(make.candidates[0]) if isinstance(make, Tuning) else make
            found[f"{name}, {policy}"] = sb.simulate(play, world, ROUNDS, of_game).regret.tolist()
    return {"code": current.code(), "games": found}


def note_same(checkout: Path) -> None:
    """Note that this code gives the same as that of the results, which a checkout has; refuse if it does not."""
    program = "import json\nfrom papers.hao2021 import renew\nprint(json.dumps(renew.first_games()))"
    before, now = sources.printed_by(checkout, program), json.loads(json.dumps(first_games()))
    differing = [name for name in now["games"] if before["games"].get(name) != now["games"][name]]
    if differing:
        raise SystemExit(f"these differ, so run them again: {', '.join(differing)}")
    noted = current.same()
    for codes in (one for key, one in noted.items() if before["code"] in (key, *one)):
        codes.append(now["code"])
    if not any(before["code"] in (key, *one) for key, one in noted.items()):
        noted[before["code"]] = [now["code"]]
    current.SAME.write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Run what is out of date, or note that nothing is."""
    parser = argparse.ArgumentParser(prog="python -m papers.hao2021.renew")
    parser.add_argument("--only", nargs="+", choices=tuple(EXPERIMENTS), default=list(EXPERIMENTS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--same", type=Path, metavar="CHECKOUT", help="note that this code gives the same as that one")
    told = parser.parse_args()
    if told.same is not None:
        note_same(told.same.resolve())
        return
    for name in told.only:
        print(EXPERIMENTS[name](RESULTS, "full", told.workers).table)
    write_readme()


if __name__ == "__main__":
    main()
