"""Regret and speed of ours and of other packages on the same instances: ``python -m benchmarks.regret``.

The instances are those of Figure 3 (K = 200, correlation 0.6, noise variance 2), a tenth of whose features matter; each
competitor of ``decisions.py`` plays 500 rounds of each, with the same noise. LinTS that is given the features that
matter is the floor. Speed is that of processor time, since two workers run side by side.

Every game is kept in ``benchmarks/results/regret.jsonl`` as it ends, and a run that was stopped goes on from there; the
file is deleted when the figures are written. Delete it by hand to begin anew. ``python -m benchmarks.regret --again
SparseIDS`` plays the games of ours whose names begin so again, in the stored figures, and leaves all else as it is: the
peers need not be installed, and no speed is measured. Competitors that the stored figures do not have yet are added.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median, stdev
from time import process_time

import numpy as np
from joblib import Parallel, delayed

import sparsebandits as sb
from benchmarks.competitors import LIBRARIES, LIBRARY, LIN_TS, NOISE_KNOWN_IDS, OURS, listed, play, reason
from benchmarks.peers import PEERS, Problem
from benchmarks.section import RESULTS, Figures, around, circumstances, run
from sparsebandits.files import write_atomically
from sparsebandits.randomness import INSTANCE_STREAM, NOISE_STREAM, child
from sparsebandits.tables import Cell, Table

SEED = 2021
SPARSITIES = {40: 4, 100: 10}
"""How many features matter, by dimension."""

HORIZON, TRIALS, WORKERS = 500, 20, 2
GAMES = RESULTS / "regret.jsonl"
FLOOR = replace(LIN_TS, name="LinTS, given the support", note="a floor: it sees the features that matter and no others")
ENTRIES = {entry.name: entry for entry in (*OURS, NOISE_KNOWN_IDS, FLOOR, *PEERS)}


def instance_of(dimension: int, trial: int) -> sb.environments.Instance:
    environment = sb.environments.GaussianActions(dimension, SPARSITIES[dimension])
    return environment.sample(child(SEED, trial, INSTANCE_STREAM))


def restricted(instance: sb.environments.Instance) -> sb.environments.Instance:
    """Return the same means from the features that matter alone."""
    support = np.flatnonzero(instance.theta)
    return sb.environments.Instance(instance.actions[:, support], instance.theta[support], instance.noise_variance)


def game(name: str, dimension: int, trial: int, rounds: int) -> Figures:
    """Return the regret and the rate of one competitor on one instance."""
    entry, instance = ENTRIES[name], instance_of(dimension, trial)
    if name == FLOOR.name:
        instance = restricted(instance)
    problem = Problem(instance.actions, instance.noise_variance, SPARSITIES[dimension], seed=trial)
    outcome: Figures = {"name": name, "dimension": dimension, "trial": trial}
    try:
        rate, regret = play(entry.make(problem), instance, rounds, child(SEED, trial, NOISE_STREAM), process_time)
    except Exception as error:
        return {**outcome, "problem": reason(entry, error)}
    return {**outcome, "rate": rate, "regret": regret}


def read(path: Path | None) -> list[Figures]:
    """Return the games that have been kept; a line that was cut short is not one."""
    text = path.read_text() if path is not None and path.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def play_all(trials: int, rounds: int, path: Path | None) -> list[Figures]:
    """Return all games; those that are not in the file at ``path`` are played and appended to it."""
    games = read(path)
    done = {(g["name"], g["dimension"], g["trial"]) for g in games}
    jobs = [
        (name, dimension, trial)
        for trial in range(trials)
        for dimension in SPARSITIES
        for name, entry in ENTRIES.items()
        if (name, dimension, trial) not in done and trial < (math.ceil(trials / 2) if entry.slow else trials)
    ]
    parallel = Parallel(n_jobs=WORKERS, return_as="generator_unordered", batch_size=1)
    for outcome in parallel(delayed(game)(*job, rounds) for job in jobs):
        games.append(outcome)
        print(
            f"{len(games)} of {len(done) + len(jobs)}: {outcome['name']}, d = {outcome['dimension']}", file=sys.stderr
        )
        if path is not None and "problem" not in outcome:
            with path.open("a") as file:
                file.write("\n" + json.dumps(outcome))  # on a line of its own, also after one that was cut short
    return games


def measure(quick: bool) -> Figures:
    """Return the regrets and rates of all competitors by dimension."""
    RESULTS.mkdir(exist_ok=True)
    trials, rounds = (2, 10) if quick else (TRIALS, HORIZON)
    games = play_all(trials, rounds, None if quick else GAMES)
    return {"rounds": rounds, "trials": trials, "settings": [setting(games, d, trials, rounds) for d in SPARSITIES]}


def absent(competitors: Sequence[Figures]) -> list[Figures]:
    """Return those of ours that the stored figures do not have, without games."""
    present = {one["name"] for one in competitors}
    return [
        {"name": entry.name, "library": entry.library, "problem": None, "regrets": [], "rates": []}
        for entry in ENTRIES.values()
        if entry.library == LIBRARY and entry.name not in present
    ]


def again(start: str) -> None:
    """Play the games of our competitors whose names begin with ``start`` again, and store their regrets."""
    path = RESULTS / "regret.json"
    figures = json.loads(path.read_text())
    for part in figures["settings"]:
        part["competitors"] += absent(part["competitors"])
        for one in part["competitors"]:
            if one["library"] == LIBRARY and one["name"].startswith(start):
                jobs = [(one["name"], part["dimension"], trial, HORIZON) for trial in range(figures["trials"])]
                played = Parallel(n_jobs=WORKERS)(delayed(game)(*job) for job in jobs)
                one["regrets"], one["added"] = [g["regret"] for g in played], circumstances()["date"][:10]
    write_atomically(path, (json.dumps(figures, indent=1, ensure_ascii=False) + "\n").encode())
    print(page(figures))


def setting(games: Sequence[Figures], dimension: int, trials: int, rounds: int) -> Figures:
    """Return the games of one dimension, gathered by competitor in the order of trials."""
    competitors = []
    for name, entry in ENTRIES.items():
        own = [g for g in games if (g["name"], g["dimension"]) == (name, dimension)]
        played = sorted((g for g in own if "regret" in g), key=lambda g: g["trial"])
        competitors.append(
            {
                "name": name,
                "library": entry.library,
                "problem": next((g["problem"] for g in own if "problem" in g), None),
                "regrets": [g["regret"] for g in played],
                "rates": [g["rate"] for g in played],
            }
        )
    random = [rounds * float(instance_of(dimension, trial).gaps.mean()) for trial in range(trials)]
    return {
        "dimension": dimension,
        "sparsity": SPARSITIES[dimension],
        "competitors": competitors,
        "random": random,
    }


def row(name: str, regrets: Sequence[float], rates: Sequence[float]) -> tuple[Cell, ...]:
    error = stdev(regrets) / len(regrets) ** 0.5 if len(regrets) > 1 else None
    return (
        name,
        len(regrets),
        round(fmean(regrets), 1),
        None if error is None else round(error, 1),
        round(median(rates)) if rates else None,
    )


def ahead(competitors: Sequence[Figures]) -> list[str]:
    """Return for each of our policies a line with the peers that have less regret, a star where they are faster too.

    Regrets are compared on the instances that both have played.
    """

    def below(peer: Figures, mine: Figures) -> bool:
        shared = min(len(peer["regrets"]), len(mine["regrets"]))  # the first trials are the ones that all play
        return shared > 0 and fmean(peer["regrets"][:shared]) < fmean(mine["regrets"][:shared])

    lines = []
    peers = [c for c in competitors if c["library"] != LIBRARY and c["regrets"]]
    for mine in competitors:
        if mine["library"] == LIBRARY and mine["name"] != FLOOR.name:
            less = [peer for peer in peers if below(peer, mine)]
            timed = bool(mine["rates"])  # not if it was added to the stored games later
            both = {peer["name"] for peer in less if timed and median(peer["rates"]) > median(mine["rates"])}
            names = [f"{peer['name']}{'*' if peer['name'] in both else ''}" for peer in less]
            lines.append(listed(f"Less regret than {mine['name']}", names))
    return lines


def page(figures: Figures) -> str:
    """Return the text of this section: one table per dimension, least regret first."""
    parts = [
        f"Regret after {figures['rounds']} rounds (K = 200, noise variance 2), decisions per second of processor time",
        around(figures),
    ]
    for part in figures["settings"]:
        measured = [c for c in part["competitors"] if c["regrets"]]
        rows = [row(c["name"], c["regrets"], c["rates"]) for c in measured]
        rows.append(row("playing at random", part["random"], []))
        rows.sort(key=lambda cells: float(cells[2] or 0.0))
        missing = [f"{c['name']}, {c['problem']}" for c in part["competitors"] if c["problem"]]
        parts += [
            "",
            f"d = {part['dimension']}, s = {part['sparsity']}",
            "",
            str(Table(("competitor", "trials", "regret", "± s.e.", "per second"), rows)),
            "",
            *ahead(part["competitors"]),
            *([listed("Not measured", missing)] if missing else []),
        ]
    parts += [
        "",
        "Regret is a mean over trials, with its standard error; the rate is a median. Fewer trials are the first ones.",
        "Less regret: by the means over the trials that both have played, however close; * is faster too.",
        f"{FLOOR.name}: {FLOOR.note}.",
    ]
    later = {c["name"]: c["added"] for part in figures["settings"] for c in part["competitors"] if "added" in c}
    parts += [
        f"{name}: played later ({when}), so its speed, if there is one, is of before." for name, when in later.items()
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    if "--again" in sys.argv:
        again(sys.argv[sys.argv.index("--again") + 1])
        sys.exit()
    run("regret", measure, page, LIBRARIES)
    if "--quick" not in sys.argv:
        GAMES.unlink()
