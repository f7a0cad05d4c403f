"""A thousand features, fresh rows in each round: SparseIDS against variational Thompson sampling and the Lassos.

``python -m benchmarks.many_features``. The setting is that of Chakraborty, Roy and Tewari (2023): 1,000 features, of
which 5 matter, 10 rows N(0, Σ) with Σ_ij = 0.3^|i−j| in each of 400 rounds, unit noise, θ* of length one.

- SparseIDS has its default prior and is given the rows of a round only.
- Variational Thompson sampling has the settings of its authors' program, and estimates the noise as that does.
- The Lasso rivals know the noise variance, share one parameter among all rows, and have the constants of their sources.
  They make their estimates again when they have a tenth more rewards.

Games are kept in ``benchmarks/results/many_features.jsonl`` as they end, so a run that was stopped continues where it
was; the table of docs/contexts.md is written from all of them. The number of trials and the seed were fixed before any
game was played.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

from functools import partial
from pathlib import Path
from typing import Any

import sparsebandits as sb
from benchmarks import games, paired
from benchmarks.paired import Make, Setting
from sparsebandits.experiments.simulate import Problem

STORED = Path(__file__).parent / "results" / "many_features.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "contexts.md"
COMMAND = "python -m benchmarks.many_features"
SEED, OURS, SPARSITY = 20261128, "SparseIDS", 5


def default(policy: Any, problem: Problem, **settings: Any) -> sb.Policy:
    """Return a policy that is given nothing but rows."""
    made: sb.Policy = policy(problem.actions, seed=problem.seed, **settings)
    return made


def informed(policy: Any, problem: Problem, **settings: Any) -> sb.Policy:
    """Return a policy that knows the noise variance."""
    return default(policy, problem, noise_variance=problem.noise_variance, **settings)


PLAYERS: dict[str, Make] = {
    OURS: partial(default, sb.SparseIDS),
    "VariationalTS": partial(default, sb.rivals.VariationalTS),
    "VariationalTS, growing": partial(default, sb.rivals.VariationalTS, growing=True, rate=0.2),
    "LassoGreedy": partial(informed, sb.rivals.LassoGreedy, refit_growth=0.1),
    "SALasso": partial(informed, sb.rivals.SALasso, refit_growth=0.1),
    "ThresholdedLasso": partial(informed, sb.rivals.ThresholdedLasso, refit_growth=0.1),
    "LassoBandit": partial(informed, sb.rivals.LassoBandit, parameters="shared", refit_growth=0.1),
    "DRLasso": partial(informed, sb.rivals.DRLasso, refit_growth=0.1),
    "MCPBandit": partial(informed, sb.rivals.MCPBandit, refit_growth=0.1),
}
SETTINGS = {
    "chakraborty": Setting(
        "1,000 features of which 5 matter, 10 fresh rows",
        sb.environments.ChangingActions(
            sb.environments.GaussianActions(1000, SPARSITY, n_actions=10, correlation=0.3, noise_variance=1.0)
        ),
        rounds=400,
        players=PLAYERS,
        goals=dict.fromkeys((name for name in PLAYERS if name != OURS), 0.9),
        seed=SEED,
    )
}


def play(name: str, player: str, trial: int, rounds: int | None = None) -> dict[str, Any]:
    """Play one game; ``rounds`` is for tests, and by default what the setting says."""
    make, seed, kept = paired.part(STORED, name, SETTINGS[name], player)
    found = paired.game(make, SETTINGS[name], seed, trial, rounds)
    return {"setting": name, "player": player, "trial": trial, **kept, **found}


def tables(lines: paired.Lines) -> str:
    """Return the table of regret."""
    return paired.table(lines, "chakraborty", SETTINGS["chakraborty"])


def write(lines: paired.Lines) -> None:
    """Put the table into the page."""
    text = tables(lines)
    print(text)
    games.write_tables(PAGE, COMMAND, text)


if __name__ == "__main__":
    paired.run(COMMAND, STORED, SETTINGS, play, write)
