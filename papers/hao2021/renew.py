"""Bring the committed results up to date: ``python -m papers.hao2021.renew`` (hours); see ``current.py``.

Experiments that are out of date are run again; an interrupted run continues with the same command. With ``--only``,
only some experiments are, and the tables of README.md are written when all results are there.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks import sources

import sparsebandits as sb
from papers.hao2021 import current, figure1
from papers.hao2021.runner import EXPERIMENTS, setups
from papers.hao2021.runs import LANGEVIN, SCALES
from papers.hao2021.verdicts import RESULTS, write_readme
from sparsebandits.experiments import PolicyMaker, Tuning

PROGRAM = "import json\nfrom papers.hao2021 import renew\nprint(json.dumps(renew.first_games()))"


def first_games() -> dict[str, Any]:
    """Return digests of the code, and what it gives: without the paper's sampler ("exact"), and on it ("own").

    That is the first data set of figure 1, and the regret of the first trial of each policy and of each candidate.
    """
    code = {"exact": current.code(papers_sampler=False), "own": current.code(papers_sampler=True)}
    exact: dict[str, Any] = {}
    own: dict[str, Any] = {"figure1": figure1.found(0)}
    for setup in setups(SCALES["full"]):
        for part, (plan, _) in setup.plans().items():
            makers: dict[str, PolicyMaker] = {}
            for name, policy in plan.policies.items():
                if isinstance(policy, Tuning):
                    makers.update({f"{name}, {one}": policy.make(one) for one in policy.candidates})
                else:
                    makers[name] = policy
            played = sb.Experiment(plan.environment, makers, plan.horizon, 1, plan.seed).run(workers=2)
            found = own if part.endswith(LANGEVIN) else exact
            found.update({f"{part}, {name}": curves[0].tolist() for name, curves in played.regret.items()})
    games = {"exact": exact, "own": {**exact, **own}}
    return {part: {"code": code[part], "games": games[part]} for part in code}


def note_same(checkout: Path) -> None:
    """Note that this code gives the same as that of the results, which a checkout has; say where it does not."""
    before, now = sources.printed_by(checkout, PROGRAM), json.loads(json.dumps(first_games()))
    noted, refused = current.same(), set[str]()
    for part, found in now.items():
        games, former = found["games"], before[part]["code"]
        differing = [name for name in games if before[part]["games"].get(name) != games[name]]
        refused.update(differing)
        origins = [code for code, same in noted.items() if former in (code, *same)] or [former]
        for origin in origins if not differing and former != found["code"] else ():
            same = noted.setdefault(origin, [])
            same.extend({found["code"]}.difference(same))
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
