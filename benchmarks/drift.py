"""Worlds that change: SparseIDS with forgetting against others on the same worlds, ``python -m benchmarks.drift``.

Worlds are those of the paper's figure 3 (40 features of which 4 matter, 200 actions, noise variance 2) whose θ* is
replaced by another every 500 rounds, or turns slowly into another within 1,500 rounds; 3,000 rounds. A third setting
does not change, and shows what forgetting costs there.

- SparseIDS has its default prior: it learns sparsity, effect size, noise and the level of rewards.
- The others know the noise variance, that the level is zero, and that ‖θ*‖ is 1. LinTS and bayesianbandits have the
  prior N(0, 1/d) of each coefficient and the same half-life as SparseIDS.
- bayesianbandits plays Thompson sampling on its ``NormalRegressor`` with both of its uniform forgetting rules, and on
  ``EmpiricalBayesNormalRegressor``, which goes on to learn noise and prior variance.
- D-LinUCB (Russac, Vernade and Cappé 2019): half-life, width and penalty are tuned for each setting, on seeds of their
  own, and the best of the grid plays; beside it, with the half-life of SparseIDS, the best of width and penalty.
- SparseIDS with a tuned half-life shows what a half-life of 250 costs; SparseIDS that is informed of sparsity, effect
  size, noise and level, as the others are of what they use, shows what it costs to learn them from rewards that are
  forgotten.

Games are kept in ``benchmarks/results/drift.jsonl`` as they end, so a run that was stopped continues where it was; the
tables of docs/drift.md are written from all of them. Numbers of trials, seeds and grids were fixed before any game of
the comparison was played. ``--settings``, ``--players`` and ``--trials`` play a part, ``--report`` plays nothing.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import sparsebandits as sb
from benchmarks import games, paired
from benchmarks.paired import Make, Peer, Setting, whole
from benchmarks.peers import BayesianBanditsModel
from sparsebandits.experiments.simulate import Problem

STORED = Path(__file__).parent / "results" / "drift.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "drift.md"
COMMAND = "python -m benchmarks.drift"
SEED, TUNING_SEED = 20261125, 20261123
"""No other comparison has them."""

HALF_LIFE, LONG_HALF_LIFE = 250, 1000
OURS, TUNED = f"SparseIDS, half-life {HALF_LIFE}", "D-LinUCB, tuned"
HALF_LIVES = (15, 30, 60, 125, 250)
WIDTHS, PENALTIES = (0.02, 0.05, 0.1), (1.0, 10.0, 80.0)
"""Grid of D-LinUCB, centred by a look at four worlds of the tuning. A penalty of 80 is noise variance over prior
variance, which makes its estimate a posterior mean; a width of about 0.1 is then two standard deviations."""


def sparse_ids(problem: Problem, half_life: float | None = None) -> sb.Policy:
    """Return SparseIDS, which is given the actions only."""
    forgetting: dict[str, Any] = {} if half_life is None else {"forgetting": sb.Discount(half_life=half_life)}
    return sb.SparseIDS(problem.actions, seed=problem.seed, **forgetting)


def informed(half_life: float, problem: Problem) -> sb.Policy:
    """Return SparseIDS that knows sparsity, effect size, noise and the level of rewards."""
    known: dict[str, Any] = {"noise_variance": problem.noise_variance, "intercept": False}
    forgetting = sb.Discount(half_life=half_life)
    return sb.SparseIDS(problem.actions, sb.SpikeSlab(0.1, 0.25), forgetting=forgetting, seed=problem.seed, **known)


def lin_ts(problem: Problem) -> sb.Policy:
    known: dict[str, Any] = {"noise_variance": problem.noise_variance, "intercept": False}
    return sb.LinTS(problem.actions, seed=problem.seed, forgetting=sb.Discount(half_life=HALF_LIFE), **known)


def bayesianbandits(rule: str, learnt: bool, problem: Problem) -> Peer:
    """Return Thompson sampling on a normal regression of bayesianbandits, with one of its forgetting rules."""
    import bayesianbandits as bb

    forgetting = getattr(bb, rule)(0.5 ** (1.0 / HALF_LIFE))
    settings: dict[str, Any] = {"forgetting": forgetting, "random_state": whole(problem.seed)}
    precisions = {"alpha": float(problem.actions.shape[1]), "beta": 1.0 / problem.noise_variance}
    model = (bb.EmpiricalBayesNormalRegressor if learnt else bb.NormalRegressor)(**precisions, **settings)
    return Peer(BayesianBanditsModel(problem.actions, model), problem.actions)


def d_linucb(half_life: float, width: float, penalty: float, problem: Problem) -> sb.Policy:
    return sb.rivals.DLinUCB(
        problem.actions,
        sb.Discount(half_life=half_life),
        problem.noise_variance,
        penalty=penalty,
        width=width,
        seed=problem.seed,
    )


PLAYERS: dict[str, Make] = {
    OURS: partial(sparse_ids, half_life=HALF_LIFE),
    "SparseIDS": sparse_ids,
    f"LinTS, half-life {HALF_LIFE}": lin_ts,
    "bayesianbandits, exponential": partial(bayesianbandits, "ExponentialForgetting", False),
    "bayesianbandits, stabilised": partial(bayesianbandits, "StabilizedForgetting", False),
    "bayesianbandits, empirical Bayes": partial(bayesianbandits, "StabilizedForgetting", True),
}
GRID: dict[int, dict[str, Make]] = {
    half_life: {
        f"D-LinUCB, half-life {half_life}, width {width}, penalty {penalty:g}": partial(
            d_linucb, half_life, width, penalty
        )
        for width, penalty in product(WIDTHS, PENALTIES)
    }
    for half_life in HALF_LIVES
}
TUNED_PLAYERS: dict[str, dict[str, Make]] = {
    TUNED: {name: make for grid in GRID.values() for name, make in grid.items()},
    f"D-LinUCB, half-life {HALF_LIFE}": GRID[HALF_LIFE],
    "SparseIDS, half-life tuned": {
        f"SparseIDS, half-life of {half_life}": partial(sparse_ids, half_life=half_life) for half_life in HALF_LIVES
    },
    "SparseIDS, informed, half-life tuned": {
        f"SparseIDS, informed, half-life of {half_life}": partial(informed, half_life) for half_life in HALF_LIVES
    },
}
FAMILY = sb.environments.GaussianActions(dimension=40, sparsity=4)


def setting(title: str, every: int, change: str) -> Setting:
    """Return a setting in which the world changes."""
    return Setting(
        title,
        sb.environments.Drifting(FAMILY, every, change),
        rounds=3000,
        players=PLAYERS,
        goals={"SparseIDS": 0.6, **dict.fromkeys((*[n for n in PLAYERS if n.startswith("bayesian")], TUNED), 0.9)},
        tuned=TUNED_PLAYERS,
        seed=SEED,
        tuning_seed=TUNING_SEED,
    )


SETTINGS = {
    "abrupt": setting("Another θ* every 500 rounds", 500, "abrupt"),
    "rotation": setting("θ* turns into another within 1,500 rounds", 1500, "rotation"),
    "none": Setting(
        "θ* does not change",
        FAMILY,
        rounds=2000,
        players={
            f"SparseIDS, half-life {LONG_HALF_LIFE}": partial(sparse_ids, half_life=LONG_HALF_LIFE),
            "SparseIDS": sparse_ids,
        },
        seed=SEED,
    ),
}


def play(name: str, player: str, trial: int, rounds: int | None = None) -> dict[str, Any]:
    """Play one game; ``rounds`` is for tests, and by default what the setting says."""
    make, seed, kept = paired.part(STORED, name, SETTINGS[name], player)
    found = paired.game(make, SETTINGS[name], seed, trial, rounds)
    return {"setting": name, "player": player, "trial": trial, **kept, **found}


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
