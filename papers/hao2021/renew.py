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
    """Return digests of the code, and what it gives: without the paper's sampler ("exact"), and on it ("own").

    That is the first data set of figure 1, and the regret of a short game of each policy.
    """
    scale = SCALES["full"]
    plays: dict[str, tuple[Any, Mapping[str, PolicyMaker | Tuning], Mapping[str, PolicyMaker]]] = {
        claim1.NAME: (claim1.environment(), claim1.policies(scale), claim1.on_papers_sampler()),
        "figure2": (figure2.environment(1.0), figure2.policies(1.0), figure2.on_papers_sampler(1.0)),
    }
    for d in figure3.DIMENSIONS:
        makers = figure3.policies(d, scale), figure3.on_papers_sampler(d)
        plays[figure3.name_of(d)] = (figure3.environment(d), *makers)
    exact: dict[str, Any] = {}
    own: dict[str, Any] = {"figure1": figure1.found(0)}
    for name, (environment, policies, on_papers_sampler) in plays.items():
        for found, makers_of_it in ((exact, policies), (own, on_papers_sampler)):
            found.update({f"{name}, {who}": _short_game(environment, make) for who, make in makers_of_it.items()})
    return {
        "exact": {"code": current.code(papers_sampler=False), "games": exact},
        "own": {"code": current.code(papers_sampler=True), "games": {**exact, **own}},
    }


def _short_game(environment: Any, make: PolicyMaker | Tuning) -> list[float]:
    """Return the regret of a policy, or of its first candidate, over some rounds."""
    of_world, of_game = SeedSequence(0).spawn(2)
    play = make.make(make.candidates[0]) if isinstance(make, Tuning) else make
    regret: list[float] = sb.simulate(play, environment.sample(of_world), ROUNDS, of_game).regret.tolist()
    return regret


def note_same(checkout: Path) -> None:
    """Note that this code gives the same as that of the results, which a checkout has; say where it does not."""
    program = "import json\nfrom papers.hao2021 import renew\nprint(json.dumps(renew.first_games()))"
    before, now = sources.printed_by(checkout, program), json.loads(json.dumps(first_games()))
    noted, refused = current.same(), set[str]()
    for part, found in now.items():
        games, former = found["games"], before[part]["code"]
        differing = [name for name in games if before[part]["games"].get(name) != games[name]]
        refused.update(differing)
        origins = [code for code, same in noted.items() if former in (code, *same)] or [former]
        for origin in origins if not differing and former != found["code"] else ():
            noted.setdefault(origin, []).append(found["code"])
    current.SAME.write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")
    if refused:
        raise SystemExit(f"these differ, so run them again: {', '.join(sorted(refused))}")


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
