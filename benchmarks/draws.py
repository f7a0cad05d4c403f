"""How many draws decide as well as 10,000: ``python -m benchmarks.draws``.

SparseIDS with its default rule and 1,000, 2,000, 4,000 and 10,000 draws plays the same worlds with the same noise, with
known hyperparameters and with the default prior. Games are appended to ``benchmarks/results/draws.jsonl`` as they end,
so a run that was stopped continues where it was. The tables of docs/rules.md are written from all games that are
stored. Trial 0 of every setting comes first, then trial 1, and so on.

``--large`` plays larger problems in place of the usual ones. ``--settings`` and ``--draws`` restrict what is played:
``python -m benchmarks.draws --draws 2000 10000 --settings known-d100 default-d100``. ``--report`` plays nothing.

Bayes regret is what a judge expects of the regret of each decision: a posterior with known hyperparameters that has
seen the same rewards. Its draws are its own, with one seed for all players of a trial, so that a player with few draws
is not judged by the draws that it decided with. Milliseconds of processor time in ``ask`` and ``tell`` are stored too;
on a busy machine they say little, and speed is compared in ``former.py``.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.random import SeedSequence

import sparsebandits as sb
from benchmarks import games
from benchmarks.rules import FEWEST, mean_ratio, ratio
from sparsebandits.arguments import FloatArray
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.optima import OptimaMemory

STORED = Path(__file__).parent / "results" / "draws.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "rules.md"
COMMAND = "python -m benchmarks.draws"
COMMANDS = {"usual": COMMAND, "large": f"{COMMAND}, large"}
"""Marks of the two tables in the page."""

SEED = 20261119
"""No other comparison has it."""
DRAWS = (1000, 2000, 4000, 10_000)
MOST = DRAWS[-1]
"""The number of draws that others are compared with."""
KEYS = ("setting", "draws", "trial")
MEASURED = ("regret", "bayes")
EMPTY = "Not played yet."


@dataclass(frozen=True)
class Setting:
    """A family of worlds and what players know of them.

    Attributes
    ----------
    title : str
        Name in the table.
    family : GaussianActions
        Where worlds are sampled from.
    known : bool
        Whether prior, noise variance and level of rewards are given; otherwise the player has the default prior.
    rounds, trials : int
        Rounds of a game, and number of games for each number of draws.
    judges : int
        Draws of the judge.
    """

    title: str
    family: sb.environments.GaussianActions
    known: bool
    rounds: int = 500
    trials: int = 400
    judges: int = 1000

    @property
    def prior(self) -> sb.SpikeSlab:
        """The prior with the true share of features that matter and their mean square."""
        return sb.SpikeSlab(self.family.sparsity / self.family.dimension, 1.0 / self.family.sparsity)


def settings() -> dict[str, dict[str, Setting]]:
    """Return the settings of both tables by name."""
    usual = {}
    for name, title in (("known", "Known hyperparameters"), ("default", "Default prior")):
        for d in (20, 40, 100):
            family = sb.environments.GaussianActions(d, d // 10)
            usual[f"{name}-d{d}"] = Setting(f"{title}, d = {d}, s = {d // 10}", family, known=name == "known")
    large = {
        f"large-d{d}": Setting(
            f"Known hyperparameters, d = {d}, s = 10, K = 2000",
            sb.environments.GaussianActions(d, 10, n_actions=2000),
            known=True,
            rounds=300,
            trials=30,
            judges=4000,  # more features need more draws, which is what the table is to show
        )
        for d in (500, 1000)
    }
    return {"usual": usual, "large": large}


GROUPS = settings()
SETTINGS = {name: one for group in GROUPS.values() for name, one in group.items()}


def play(setting: str, draws: int, trial: int, rounds: int | None = None) -> dict[str, Any]:
    """Play one game; ``rounds`` is for tests, and by default what the setting says."""
    one = SETTINGS[setting]
    count = one.rounds if rounds is None else rounds
    world = one.family.sample(SeedSequence([SEED, trial]))
    known: dict[str, Any] = {"prior": one.prior, "noise_variance": world.noise_variance}
    told = {**known, "intercept": False} if one.known else {}
    policy = sb.SparseIDS(world.actions, n_draws=draws, seed=trial, **told)
    seed = SeedSequence([SEED, trial, 2])
    judge, memory = sb.Particles(dimension=one.family.dimension, n_draws=one.judges, seed=seed, **known), OptimaMemory()
    noise = np.sqrt(world.noise_variance) * np.random.default_rng([SEED, trial, 1]).standard_normal(count)
    regret = bayes = seconds = 0.0
    for t in range(count):
        begun = process_time()
        decision = policy.ask()
        seconds += process_time() - begun
        reward = float(world.means[decision.action] + noise[t])
        regret += float(world.gaps[decision.action])
        bayes += float(Beliefs(judge, world.actions, memory=memory).expected_regret[decision.action])
        judge.update(decision.features, reward)
        begun = process_time()
        policy.tell(decision, reward)
        seconds += process_time() - begun
    game = {"setting": setting, "draws": draws, "trial": trial}
    return {**game, "regret": round(regret, 3), "bayes": round(bayes, 3), "ms": round(1000 * seconds / count, 4)}


def jobs(names: Sequence[str], draws: Sequence[int], trials: int) -> list[tuple[str, int, int]]:
    """Return what is to be played, trial by trial."""
    return [
        (name, n, trial) for trial in range(trials) for name in names for n in draws if trial < SETTINGS[name].trials
    ]


def paired(lines: Iterable[Mapping[str, Any]], setting: str, draws: int) -> tuple[FloatArray, FloatArray]:
    """Return regret and Bayes regret with so many draws, and those with 10,000, of the same trials.

    Trials count up to the first that one of them has not played, so that which games count does not depend on how long
    they take.
    """
    by: dict[int, dict[int, list[float]]] = {draws: {}, MOST: {}}
    for line in lines:
        if line["setting"] == setting and line["draws"] in by and line["trial"] < SETTINGS[setting].trials:
            by[line["draws"]][line["trial"]] = [line[name] for name in MEASURED]
    common = set(by[draws]) & set(by[MOST])
    trials = range(next(t for t in range(SETTINGS[setting].trials + 1) if t not in common))
    mine, most = (np.array([by[n][t] for t in trials]).reshape(-1, len(MEASURED)) for n in (draws, MOST))
    return mine, most


def table(lines: Iterable[Mapping[str, Any]], group: str) -> str:
    """Return the table of a group of settings, without rows of fewer than ten trials."""
    kept, names = list(lines), GROUPS[group]
    rows, pairs = [], {}
    for name, one in names.items():
        for draws in DRAWS:
            mine, most = pairs[name, draws] = paired(kept, name, draws)
            if len(mine) < FEWEST:
                continue
            cells = [one.title, f"{draws:,}", f"{len(mine)}"]
            for i in range(2):
                cells += [f"{mine[:, i].mean():.1f}", "" if draws == MOST else str(ratio(mine[:, i], most[:, i]))]
            rows.append(f"| {' | '.join(cells)} |")
    for draws in DRAWS[:-1]:
        every = [pairs[name, draws] for name in names]
        fewest = min(len(mine) for mine, _ in every)
        if fewest >= FEWEST:
            means = [str(mean_ratio((mine[:, i], most[:, i]) for mine, most in every)) for i in range(2)]
            rows.append(f"| All, geometric mean | {draws:,} | {fewest} | | {means[0]} | | {means[1]} |")
    if not rows:
        return EMPTY
    head = "| | draws | trials | regret | ratio to 10,000 draws | Bayes regret | ratio to 10,000 draws |"
    return "\n".join([head, "|---|---|---|---|---|---|---|", *rows])


def main() -> None:
    """Play what is missing, and write both tables."""
    parser = argparse.ArgumentParser(prog=COMMAND)
    parser.add_argument("--large", action="store_true", help="play the large settings in place of the usual ones")
    parser.add_argument("--settings", nargs="+", choices=tuple(SETTINGS), metavar="SETTING", help=", ".join(SETTINGS))
    parser.add_argument("--draws", nargs="+", type=int, choices=DRAWS, default=DRAWS, help="numbers of draws")
    parser.add_argument("--trials", type=int, default=1000, help="at most so many of each setting")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--report", action="store_true", help="play nothing")
    told = parser.parse_args()
    chosen = told.settings or list(GROUPS["large" if told.large else "usual"])
    missing = [] if told.report else jobs(chosen, told.draws, told.trials)
    lines = games.played(STORED, play, missing, KEYS, told.workers)
    for group, command in COMMANDS.items():
        games.write_tables(PAGE, command, table(lines, group))


if __name__ == "__main__":
    main()
