"""Find constants of Algorithm 1 by regret: ``python -m papers.hao2021.tuning`` (hours).

Each constant has a grid of values. The search goes over the constants in turn; it plays both neighbours of the value at
hand, takes a step if one of them has less mean regret, and goes on in that direction while regret falls. It ends when
no single step lowers the regret: then the best value of every grid is inside it, or at an end that is one by nature (no
thinning, no burn-in, warm or cold). It begins where that of a smaller problem ended (``SEARCHED``). Sparse IDS with the
paper's rule plays, on trials that no comparison uses; all candidates play the same trials. A candidate that has 1.2
times the regret of the best so far on the first four of them plays no more.

Games are kept in ``results/tuning.jsonl`` as they end, so a run that was stopped continues where it was, and
``--report`` repeats the search from them and plays nothing. They are not played again when the code changes: what is
chosen here are settings, and their regret is measured by the experiments. Number of trials and of rounds, the grids,
and when a candidate is dropped were fixed before any game was played, with one exception: values of the spike below
0.0125 were added before the games of figure 2 and of Claim 1, since in four trials of Claim 1, from another seed,
narrower spikes had less regret.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks import games
from numpy.random import SeedSequence

import sparsebandits as sb
from papers.hao2021 import algorithm1, claim1, figure2, figure3
from papers.hao2021.algorithm1 import Constants
from sparsebandits.arguments import FloatArray
from sparsebandits.environments import GaussianActions, HardInstance
from sparsebandits.experiments import PolicyMaker

STORED = Path(__file__).parent / "results" / "tuning.jsonl"
COMMAND = "python -m papers.hao2021.tuning"
SEED, TRIALS, ROUNDS = 20261119, 12, 500
"""No comparison has worlds or noise from this seed."""

FIRST, DROPPED = 4, 1.2
"""Number of trials after which a candidate is dropped, and the ratio of its regret to that of the best there."""

GRIDS: Mapping[str, tuple[Any, ...]] = {
    "spike": (0.0015625, 0.003125, 0.00625, 0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8),
    "slab": (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0),
    "rate": (0.125, 0.25, 0.5, 1.0, 1.5, 1.9),
    "warm": (False, True),
    "chains": (10, 25, 50, 100, 200, 400, 1000),
    "thinning": (1, 2, 4, 8),
    "burn_in": (0, 10, 30, 100),
    "decay": (0.3, 0.45, 0.6, 0.75, 0.9, 1.05),
}
"""Values of each constant, in the order in which constants are tried."""

NATURAL = {"warm": (False, True), "thinning": (1,), "burn_in": (0,)}
"""Ends of grids beyond which there is nothing."""


class Searched(NamedTuple):
    """Where constants are searched.

    Attributes
    ----------
    name : str
        The experiment.
    begins_from : int or None
        Dimension of the search from whose end this one begins; None to begin from the defaults.
    environment : callable
        Returns what instances are drawn from.
    policies : callable
        Returns the policies on Algorithm 1, given its constants.
    """

    name: str
    begins_from: int | None
    environment: Callable[[], GaussianActions | HardInstance]
    policies: Callable[[Constants], Mapping[str, PolicyMaker]]

    @classmethod
    def of_figure3(cls, dimension: int, begins_from: int | None = None) -> "Searched":
        """Return a panel of figure 3."""
        policies = partial(figure3.on_papers_sampler, dimension)
        return cls("figure 3", begins_from, partial(figure3.environment, dimension), policies)


SEARCHED: Mapping[int, Searched] = {
    figure2.DIMENSION: Searched(
        f"figure 2, ε = {figure2.SHOWN:g}",
        20,
        partial(figure2.environment, figure2.SHOWN),
        partial(figure2.on_papers_sampler, figure2.SHOWN),
    ),
    20: Searched.of_figure3(20),
    40: Searched.of_figure3(40, begins_from=20),
    100: Searched.of_figure3(100, begins_from=40),
    claim1.DIMENSION: Searched("Claim 1", 100, claim1.environment, claim1.on_papers_sampler),
}
"""All searches by dimension, in the order of the README's table."""


class Candidate(NamedTuple):
    """Constants that the search has looked at, and their mean regret; infinite if they were dropped."""

    constants: Constants
    regret: float


class Search(NamedTuple):
    """Where a search ended, and what it has looked at, in order."""

    best: Constants
    seen: list[Candidate]


class Neighbour(NamedTuple):
    """A step from the constants where a search ended, and by how much its regret is larger, one number per trial."""

    name: str
    value: Any
    more: FloatArray


def climb(regret: Callable[[Constants, Constants], float], start: Constants) -> Search:
    """Return the constants of which no single step along a grid lowers the regret.

    Parameters
    ----------
    regret : callable
        Returns the mean regret of constants, given the best so far; infinite if they were dropped.
    start : Constants
        Where to begin.

    Returns
    -------
    Search
    """
    seen = {start: regret(start, start)}
    best, unmoved = start, 0

    def is_better(candidate: Constants) -> bool:
        if candidate not in seen:
            seen[candidate] = regret(candidate, best)
        return seen[candidate] < seen[best]

    while unmoved < len(GRIDS):
        for name, grid in GRIDS.items():
            before = best
            for direction in (-1, 1):
                while True:
                    place = grid.index(getattr(best, name)) + direction
                    if not 0 <= place < len(grid):
                        break
                    candidate = replace(best, **{name: grid[place]})
                    if not is_better(candidate):
                        break
                    best = candidate
            unmoved = unmoved + 1 if best == before else 0
            if unmoved == len(GRIDS):
                break
    return Search(best, [Candidate(one, found) for one, found in seen.items()])


def neighbours(dimension: int, stored: Path = STORED) -> list[Neighbour]:
    """Return what a search found on each side of the constants where it ended.

    Parameters
    ----------
    dimension : int
        Dimension of the experiment.
    stored : path
        File with the games.

    Returns
    -------
    list of Neighbour
        By constant, the lower side first.
    """
    best = search(dimension, stored, workers=None).best
    regrets = _found(stored, dimension, best)
    found = []
    for name, grid in GRIDS.items():
        place = grid.index(getattr(best, name))
        for other in (place - 1, place + 1):
            if not 0 <= other < len(grid):
                continue
            played = _found(stored, dimension, replace(best, **{name: grid[other]}))
            more = [played[trial] - regrets[trial] for trial in range(TRIALS) if trial in played]
            found.append(Neighbour(name, grid[other], np.array(more)))
    return found


def at_edge(constants: Constants) -> list[str]:
    """Return the names of constants at an end of their grid that is not one by nature.

    Examples
    --------
    >>> at_edge(Constants(spike=0.8, thinning=1))
    ['spike']
    """
    ends = {name: (grid[0], grid[-1]) for name, grid in GRIDS.items()}
    values = asdict(constants)
    return [name for name in ends if values[name] in ends[name] and values[name] not in NATURAL.get(name, ())]


def play(dimension: int, constants: Constants, trial: int) -> dict[str, Any]:
    """Play one game of sparse IDS on Algorithm 1."""
    root = SeedSequence([SEED, dimension, trial])
    of_world, of_game = root.spawn(2)
    experiment = SEARCHED[dimension]
    maker = experiment.policies(constants)[algorithm1.IDS]
    trace = sb.simulate(maker, experiment.environment().sample(of_world), ROUNDS, of_game)
    return {**_settings(dimension, constants), "trial": trial, "regret": round(float(trace.regret[-1]), 3)}


def _settings(dimension: int, constants: Constants) -> dict[str, Any]:
    """Return what games have in common that are trials of the same constants."""
    return {"seed": SEED, "rounds": ROUNDS, "dimension": dimension, "constants": asdict(constants)}


def search(dimension: int, stored: Path = STORED, workers: int | None = 2) -> Search:
    """Return what the search finds at a dimension.

    Parameters
    ----------
    dimension : int
        Dimension of the experiment.
    stored : path
        File with the games.
    workers : int or None
        Number of processes that play what is missing; None to play nothing.

    Raises
    ------
    LookupError
        If games are missing and nothing is to be played.
    """
    before = SEARCHED[dimension].begins_from
    start = Constants() if before is None else search(before, stored, workers).best
    return climb(partial(_mean_regret, dimension, stored, workers), start)


def _mean_regret(dimension: int, stored: Path, workers: int | None, constants: Constants, best: Constants) -> float:
    """Return the mean regret of constants over all trials; infinite if they are dropped after the first of them."""
    first = _played(dimension, stored, workers, constants, FIRST)
    if np.mean(first) > DROPPED * np.mean(_played(dimension, stored, workers, best, FIRST)):
        return math.inf
    return float(np.mean(_played(dimension, stored, workers, constants, TRIALS)))


def _played(dimension: int, stored: Path, workers: int | None, constants: Constants, trials: int) -> list[float]:
    """Return the regrets of the first trials, and play those that are missing."""
    found = _found(stored, dimension, constants)
    missing = [(dimension, constants, trial) for trial in range(trials) if trial not in found]
    if missing and workers is None:
        raise LookupError(f"{COMMAND} has not played {constants} at d = {dimension}")
    if missing and workers is not None:
        games.played(stored, play, missing, (), workers)
        found = _found(stored, dimension, constants)
    return [found[trial] for trial in range(trials)]


def _found(stored: Path, dimension: int, constants: Constants) -> dict[int, float]:
    """Return the regret of each trial that has been played."""
    wanted = _settings(dimension, constants).items()
    return {line["trial"]: line["regret"] for line in games.stored(stored) if wanted <= line.items()}


def report(dimension: int, found: Search) -> str:
    """Return a line on where a search ended, and one per candidate, best first."""
    edge = at_edge(found.best)
    ended = f"d = {dimension}: {found.best}{'; at the edge: ' + ', '.join(edge) if edge else ''}"
    lines = [
        f"{_shown(one.regret):>8}  {_steps(one.constants, found.best)}"
        for one in sorted(found.seen, key=lambda candidate: candidate.regret)
    ]
    return "\n".join([ended, *lines])


def _shown(regret: float) -> str:
    return f"{regret:.1f}" if math.isfinite(regret) else "dropped"


def _steps(constants: Constants, best: Constants) -> str:
    """Return in what constants differ from the best."""
    other = [f"{name} {value}" for name, value in asdict(constants).items() if value != getattr(best, name)]
    return ", ".join(other) or "the best"


def main(arguments: Sequence[str] | None = None) -> None:
    """Search and report."""
    parser = argparse.ArgumentParser(prog=COMMAND)
    parser.add_argument("--dimensions", type=int, nargs="+", choices=tuple(SEARCHED), default=list(SEARCHED))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--report", action="store_true", help="play nothing")
    told = parser.parse_args(arguments)
    for dimension in told.dimensions:
        print(report(dimension, search(dimension, workers=None if told.report else told.workers)), flush=True)


if __name__ == "__main__":
    main()
