"""Decision rules on one posterior, and dense rivals: regret, Bayes regret and locked trials.

``python -m benchmarks.rules [SETTING ...]`` plays the games that are missing in ``benchmarks/results/rules.jsonl``, in
the order of trials, so that it may be stopped at any time, and prints the tables. Players of
one trial have the same instance and the same noise. Defaults were chosen on other seeds.

Bayes regret is the sum of what the posterior expects of the regret of each decision: the same expectation where the
prior is right, with a smaller error. A trial is locked if the mean gap of its last fifty rounds is above 0.3.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.random import SeedSequence

import sparsebandits as sb
from benchmarks import games
from sparsebandits.arguments import FloatArray
from sparsebandits.results.statistics import mean_interval

STORED = Path(__file__).parent / "results" / "rules.jsonl"
SEED = 20261118
TRIALS = 400
LAST, LOCKED = 50, 0.3

World: TypeAlias = sb.environments.Instance
Make: TypeAlias = Callable[[World, int, int], sb.Policy]
"""Makes a policy, given a world, the number of rounds and a seed."""


@dataclass(frozen=True)
class Setting:
    """A family of worlds, and who plays in it.

    Attributes
    ----------
    dimension, sparsity, actions, correlation, variance
        The family: ``GaussianActions``.
    rounds : int
        Number of rounds.
    known : bool
        Whether sparse policies know the share of features that matter, their size and the noise.
    """

    dimension: int
    sparsity: int
    rounds: int = 500
    known: bool = True
    actions: int = 200
    correlation: float = 0.6
    variance: float = 2.0

    def world(self, trial: int) -> World:
        """Return the instance of a trial."""
        family = sb.environments.GaussianActions(
            self.dimension, self.sparsity, self.actions, self.correlation, self.variance
        )
        return family.sample(SeedSequence([SEED, trial]))

    @property
    def name(self) -> str:
        """What the setting is called in tables and on the command line."""
        told = "known" if self.known else "unknown"
        return f"d{self.dimension}-s{self.sparsity}-n{self.rounds}-{told}"


SETTINGS = {
    one.name: one
    for one in (
        *(Setting(d, d // 10, n) for d in (20, 40, 100) for n in (500, 1000)),
        *(Setting(d, s, 500, known=False) for d, s in ((40, 4), (100, 10), (100, 2))),
    )
}


def sparse(world: World, rounds: int, seed: int, known: bool, rule: str, ahead: bool = False) -> sb.Policy:
    """Return sparse IDS; a rule that looks ahead may be told the number of rounds."""
    told: dict[str, Any] = {}
    if known:
        matters = np.flatnonzero(world.theta)
        told["prior"] = sb.SpikeSlab(len(matters) / len(world.theta), float(np.mean(world.theta[matters] ** 2)))
        told |= {"noise_variance": world.noise_variance, "intercept": False}
    if ahead:
        told["horizon"] = rounds
    return sb.SparseIDS(world.actions, rule=rule, seed=seed, **told)


def dense(world: World, rounds: int, seed: int, known: bool, policy: Any) -> sb.Policy:
    """Return a dense policy, which knows the noise, or takes it for one as its default does."""
    told: dict[str, Any] = {"noise_variance": world.noise_variance, "intercept": False} if known else {}
    made: sb.Policy = policy(world.actions, seed=seed, **told)
    return made


def players(setting: Setting) -> Mapping[str, Make]:
    """Return who plays, by name; the first is what others are compared with."""
    known = setting.known
    return {
        "information ratio": partial(sparse, known=known, rule="information-ratio"),
        "cost to go": partial(sparse, known=known, rule="cost-to-go", ahead=True),
        "cost to go, end unknown": partial(sparse, known=known, rule="cost-to-go"),
        "LinUCB": partial(dense, known=known, policy=sb.LinUCB),
        "LinearIDS": partial(dense, known=known, policy=sb.LinearIDS),
    }


def play(setting: str, player: str, trial: int) -> dict[str, Any]:
    """Play one game."""
    one = SETTINGS[setting]
    world = one.world(trial)
    policy = players(one)[player](world, one.rounds, trial)
    noise = np.sqrt(world.noise_variance) * np.random.default_rng([SEED, trial, 1]).standard_normal(one.rounds)
    means, gaps, expected = world.means, np.empty(one.rounds), 0.0
    for t in range(one.rounds):
        decision = policy.ask()
        gaps[t] = means.max() - means[decision.action]
        expected += decision.diagnostics.get("expected regret", np.nan)
        policy.tell(decision, float(means[decision.action] + noise[t]))
    found = {"regret": float(gaps.sum()), "bayes": None if np.isnan(expected) else expected}
    return {"setting": setting, "player": player, "trial": trial, **found, "last": float(gaps[-LAST:].mean())}


def table(lines: Sequence[Mapping[str, Any]], setting: Setting) -> str:
    """Return the table of a setting, of the trials that all have played."""
    by: dict[str, dict[int, Any]] = {name: {} for name in players(setting)}
    for line in lines:
        if line["setting"] == setting.name:
            by[line["player"]][line["trial"]] = line
    trials = sorted(set.intersection(*(set(one) for one in by.values())))
    base = next(iter(by))
    rows = [
        f"**{setting.name}** ({len(trials)} trials)",
        "",
        "| | regret | to the information ratio | Bayes regret | to the information ratio | locked |",
        "|---|---|---|---|---|---|",
    ]
    if len(trials) < 2:
        return rows[0]
    for name, kept in by.items():
        regret = np.array([kept[t]["regret"] for t in trials])
        first = np.array([by[base][t]["regret"] for t in trials])
        locked = np.mean([kept[t]["last"] > LOCKED for t in trials])
        bayes = [kept[t]["bayes"] for t in trials]
        cells = [_mean(regret), _ratio(regret, first)]
        if None in bayes:
            cells += ["", ""]
        else:
            cells += [_mean(np.array(bayes)), _ratio(np.array(bayes), np.array([by[base][t]["bayes"] for t in trials]))]
        rows.append(f"| {name} | {' | '.join(cells)} | {locked:.0%} |")
    return "\n".join(rows)


def _mean(values: FloatArray) -> str:
    low, high = mean_interval(values)
    return f"{values.mean():.0f} ({low:.0f} to {high:.0f})"


def _ratio(values: FloatArray, base: FloatArray) -> str:
    found, error = games.ratio(values, base)
    return f"{found:.2f} ± {error:.2f}"


def main() -> None:
    """Play what is missing, and write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rules")
    parser.add_argument("settings", nargs="*", metavar="SETTING", help=f"some of {', '.join(SETTINGS)}")
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--workers", type=int, default=2)
    told = parser.parse_args()
    chosen = told.settings or list(SETTINGS)
    jobs = [
        (name, player, trial) for trial in range(told.trials) for name in chosen for player in players(SETTINGS[name])
    ]
    lines = games.played(STORED, play, jobs, ("setting", "player", "trial"), told.workers)
    print("\n\n".join(table(lines, SETTINGS[name]) for name in chosen))


if __name__ == "__main__":
    main()
