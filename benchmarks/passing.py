"""How far to look ahead where other actions are on offer in each round, ``python -m benchmarks.passing --trials 24``.

The rule of least cost to go counts with as many rounds as are left, 200 + t if their number is not known, in which the
same actions are on offer. A user who is one of many does not come back: then it counts with ``passing`` rounds. Here
SparseIDS is played with several such numbers, and with all rounds, as if its actions came back.

Worlds are those of ``benchmarks.contexts``, and one with fresh rows in each round, with seeds that no other comparison
has: the default was chosen here. Games are kept in ``benchmarks/results/passing.jsonl`` as they end, so a run that was
stopped continues; the tables of docs/rules.md are written from all of them. The number of trials was fixed at 24 before
any game was played.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

from functools import partial
from pathlib import Path
from typing import Any

import sparsebandits as sb
from benchmarks import contexts, games, paired
from benchmarks.paired import Make, Setting
from sparsebandits.experiments.simulate import Problem
from sparsebandits.rules.cost_to_go import PASSING

STORED = Path(__file__).parent / "results" / "passing.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "rules.md"
COMMAND = "python -m benchmarks.passing --trials 24"
SEED = 20261132

ALL = 1_000_000
"""More rounds than are ever left."""


def looking_ahead(passing: int, problem: Problem) -> sb.Policy:
    """Return SparseIDS with contexts, or with rows of each round, and with a number of rounds to look ahead."""
    rule = sb.rules.CostToGo(passing=passing)
    rewards = sb.Bernoulli() if contexts.clicks(problem) else None
    if problem.users is None:
        return sb.policies.SparsePolicy(problem.actions, rule, rewards=rewards, seed=problem.seed)
    return sb.policies.SparsePolicy(problem.items, rule, rewards=rewards, seed=problem.seed, contexts=problem.users)


def named(passing: int) -> str:
    """Return the name of a player."""
    return "all rounds" if passing == ALL else f"{passing} rounds"


PLAYERS: dict[str, Make] = {named(n): partial(looking_ahead, n) for n in (PASSING, 3, 30, ALL)}


ROWS = sb.environments.GaussianActions(100, 5, n_actions=20, correlation=0.3, noise_variance=1.0)
SETTINGS = {
    **{
        name: Setting(f"Users and items: {one.title}", one.family, one.rounds, PLAYERS, seed=SEED)
        for name, one in contexts.SETTINGS.items()
    },
    "rows": Setting(
        "100 features of which 5 matter, 20 fresh rows",
        sb.environments.ChangingActions(ROWS),
        rounds=1000,
        players=PLAYERS,
        seed=SEED,
    ),
}


def play(name: str, player: str, trial: int, rounds: int | None = None) -> dict[str, Any]:
    """Play one game; ``rounds`` is for tests, and by default what the setting says."""
    found = paired.game(PLAYERS[player], SETTINGS[name], SEED, trial, rounds)
    return {"setting": name, "player": player, "trial": trial, **found}


def tables(lines: paired.Lines) -> str:
    """Return the tables of regret, by setting."""
    return "\n\n".join(paired.table(lines, name, one) for name, one in SETTINGS.items())


def write(lines: paired.Lines) -> None:
    """Put the tables into the page."""
    text = tables(lines)
    print(text)
    games.write_tables(PAGE, COMMAND, text)


if __name__ == "__main__":
    paired.run(COMMAND, STORED, SETTINGS, play, write)
