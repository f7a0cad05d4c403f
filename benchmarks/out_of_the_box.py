"""What a policy does on tables as people have them: ``python -m benchmarks.out_of_the_box`` (about an hour).

Levels and units, ties, batches, outliers, collinear columns, and hyperparameters that nobody knows, each beside what
version 0.1 did or beside a policy that knows more. Games are kept as lines of JSON in
``benchmarks/results/out_of_the_box.jsonl``, so that a run that was stopped continues; the tables in
docs/measurements.md are made from them. The number of trials of each setting was fixed before these games were played,
and no default was chosen on these seeds. ``--settings`` and ``--trials`` play a part, ``--report`` plays nothing.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from unittest.mock import patch

import numpy as np
from numpy.random import Generator, SeedSequence
from sklearn.linear_model import ARDRegression

import sparsebandits as sb
from benchmarks import games
from sparsebandits.arguments import FloatArray
from sparsebandits.results.statistics import mean_interval
from sparsebandits.rules.best import Best

STORED = Path(__file__).parent / "results" / "out_of_the_box.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "measurements.md"
COMMAND = "python -m benchmarks.out_of_the_box"
SEED = 20261116
FIRST = 1000
"""First trial; those before were played with priors that are no longer the default."""

DRAWS = 2000
IDS = partial(sb.SparseIDS, rule="information-ratio")
"""The paper's rule, with which priors were compared; version 0.1 had no other."""

World: TypeAlias = sb.environments.Instance
Make: TypeAlias = Callable[[World, int], sb.Policy]


def gaussian(d: int, s: int, k: int = 200, correlation: float = 0.6, variance: float = 2.0) -> Callable[[int], World]:
    """Return the worlds of the paper's figure 3, with other numbers."""
    family = sb.environments.GaussianActions(d, s, k, correlation, variance)

    def make(trial: int) -> World:
        return family.sample(SeedSequence([SEED, trial]))

    return make


def one_hot(last: bool, variance: float = 0.25) -> Callable[[int], World]:
    """Return tables of 24 rows with a column each, of which the three good ones come last or first."""

    def make(trial: int) -> World:
        theta = np.zeros(24)
        theta[-3:] = 1.0 + 0.2 * np.random.default_rng([SEED, trial]).standard_normal(3)
        return World(np.eye(24), theta if last else theta[::-1].copy(), variance)

    return make


def categories(trial: int) -> World:
    """Return a table of 60 rows of zeros and ones, in which 3 of 20 columns matter."""
    rng = np.random.default_rng([SEED, trial])
    actions, theta = (rng.random((60, 20)) < 0.3).astype(float), np.zeros(20)
    theta[rng.choice(20, 3, replace=False)] = rng.choice([-1.0, 1.0], 3)
    return World(actions, theta, 0.5)


def spectra(smooth: bool) -> Callable[[int], World]:
    """Return smooth curves as rows: 150 spectra of 12 bumps at 100 channels; the effect is of 4 channels, or smooth."""

    def make(trial: int) -> World:
        rng = np.random.default_rng([SEED, trial])
        channel = np.linspace(0.0, 1.0, 100)
        bumps = np.exp(-0.5 * ((channel - rng.random((12, 1))) / rng.uniform(0.03, 0.15, (12, 1))) ** 2)
        actions = rng.gamma(2.0, 0.5, (150, 12)) @ bumps
        theta = np.zeros(100)
        if smooth:
            theta[:] = np.sin(2 * np.pi * (channel * rng.uniform(1, 3) + rng.random())) / 20
        else:
            theta[rng.choice(100, 4, replace=False)] = rng.choice([-1.0, 1.0], 4)
        means = actions @ theta
        return World(actions, theta, float(means.var()) / 400)  # a signal of 20 standard deviations of the noise

    return make


# Policies


def former_prior(features: FloatArray) -> sb.SpikeSlab:
    """Return the default prior of version 0.1."""
    d = features.shape[1]
    few = min(5.0, d / 2)
    squares = np.mean(features * features, axis=0)
    slab = sb.InverseGammaSlab(2.0, 2.0 / few, of_noise=True, relative=tuple(1.0 / squares))
    return sb.SpikeSlab(sb.BetaInclusion(1.0, d / few - 1.0), slab)


def former(policy: Any) -> Make:
    """Make a policy as version 0.1 did, ties apart."""

    def make(world: World, seed: int) -> sb.Policy:
        rewards = sb.Gaussian(sb.InverseGammaNoise(1.0, 0.1))
        made: sb.Policy = policy(
            world.actions, former_prior(world.actions), rewards=rewards, n_draws=DRAWS, seed=seed, intercept=False
        )
        return made

    return make


def default(policy: Any, **settings: Any) -> Make:
    """Make a policy that is told nothing but the actions."""

    def make(world: World, seed: int) -> sb.Policy:
        made: sb.Policy = policy(world.actions, n_draws=DRAWS, seed=seed, **settings)
        return made

    return make


def knowing(policy: Any, intercept: bool = False) -> Make:
    """Make a policy that is told the share of features that matter, their size and the noise."""

    def make(world: World, seed: int) -> sb.Policy:
        matters = np.flatnonzero(world.theta)
        prior = sb.SpikeSlab(len(matters) / len(world.theta), float(np.mean(world.theta[matters] ** 2)))
        made: sb.Policy = policy(
            world.actions, prior, world.noise_variance, n_draws=DRAWS, seed=seed, intercept=intercept
        )
        return made

    return make


@contextmanager
def first_row_wins() -> Iterator[None]:
    """Break ties as version 0.1 did."""

    def resolved(self: Best, of_cells: FloatArray, mean: FloatArray) -> Any:
        kept = np.flatnonzero(of_cells > 0)
        action = self.optima.members[self.optima.member_starts[:-1]][kept]
        order = np.argsort(action, kind="stable")
        return kept[order], action[order], np.ones(len(kept))

    with patch.object(Best, "_resolved", resolved):
        yield


class ARD:
    """Automatic relevance determination with Thompson sampling: a fit per decision, one draw from its posterior."""

    def __init__(self, rng: Generator) -> None:
        self._rng = rng

    def choose(self, offered: FloatArray, x: FloatArray, y: FloatArray) -> int:
        """Return the row on offer that is best under one draw, given past rows and rewards."""
        fit = ARDRegression().fit(x, y)
        kept = fit.lambda_ < fit.threshold_lambda
        theta = np.zeros(x.shape[1])
        theta[kept] = self._rng.multivariate_normal(fit.coef_[kept], fit.sigma_, method="svd") if kept.any() else 0.0
        return int((offered @ theta).argmax())


# Games


def regret(
    world: World,
    policy: sb.Policy,
    rounds: int,
    seed: int,
    batch: int = 1,
    told: Callable[[float], float] = float,
    outlier: int | None = None,
    together: bool = False,
) -> float:
    """Return the regret of a game in the units of the world, whose rewards are passed through a function."""
    noise = np.sqrt(world.noise_variance) * np.random.default_rng([SEED, seed, 1]).standard_normal(rounds)
    if outlier is not None:
        noise[outlier] = 100.0 * np.sqrt(world.noise_variance)
    means, total = world.means, 0.0
    for start in range(0, rounds, batch):
        decisions = policy.ask(n=batch) if together else tuple(policy.ask() for _ in range(batch))
        rewards = [told(float(means[one.action] + noise[start + i])) for i, one in enumerate(decisions)]
        policy.tell(decisions, rewards)
        total += sum(means.max() - means[one.action] for one in decisions)
    return float(total)


def found_of_top(world: World, policy: sb.Policy | ARD, seed: int, first: int = 5, measured: int = 20) -> int:
    """Return how many of the ten best rows are among 20 that are measured, none twice; the first five are random."""
    rng = np.random.default_rng([SEED, seed, 2])
    rewards = world.means + np.sqrt(world.noise_variance) * rng.standard_normal(len(world.actions))
    order = rng.permutation(len(rewards))[:first].tolist()
    left = np.setdiff1d(np.arange(len(rewards)), order)
    if isinstance(policy, sb.Policy):
        policy.posterior.update(world.actions[order], rewards[order])
    while len(order) < measured:
        if isinstance(policy, ARD):
            row = int(left[policy.choose(world.actions[left], world.actions[order], rewards[order])])
        else:
            decision = policy.ask(world.actions[left])
            row = int(left[decision.action])
            policy.tell(decision, float(rewards[row]))
        order.append(row)
        left = left[left != row]
    return len(set(order) & set(np.argsort(-world.means)[:10].tolist()))


@dataclass(frozen=True)
class Setting:
    """What is played: named players on worlds.

    Attributes
    ----------
    title : str
        What the table of this setting says.
    world : callable
        Maps a trial to a world.
    players : mapping of str to callable
        Each maps a world and a trial to what is measured.
    trials : int
        Number of trials.
    measures : str
        What is measured.
    """

    title: str
    world: Callable[[int], World]
    players: Mapping[str, Callable[[World, int], float]]
    trials: int
    measures: str = "regret"


def game(make: Make, rounds: int, **how: Any) -> Callable[[World, int], float]:
    return lambda world, trial: regret(world, make(world, trial), rounds, trial, **how)


def with_former_ties(player: Callable[[World, int], float]) -> Callable[[World, int], float]:
    def play(world: World, trial: int) -> float:
        with first_row_wins():
            return player(world, trial)

    return play


def first_is_zero(make: Make) -> Callable[[World, int], float]:
    """Return whether the first decision is the first row."""
    return lambda world, trial: float(make(world, trial).ask().action == 0)


def favour(make: Make, rewards: int = 60) -> Callable[[World, int], float]:
    """Return P(optimal) of the first row after rewards of pure noise."""

    def play(world: World, trial: int) -> float:
        rng = np.random.default_rng([SEED, trial, 4])
        policy = make(world, trial)
        policy.posterior.update(
            world.actions[rng.integers(len(world.actions), size=rewards)], rng.standard_normal(rewards)
        )
        return float(policy.predict().optimal_probability[0])

    return play


def moved(make: Make, rewards: int = 20) -> Callable[[World, int], float]:
    """Return by how much P(optimal) of the best row changes when the table is turned upside down."""

    def play(world: World, trial: int) -> float:
        best, found = int(world.means.argmax()), []
        x, y = _some_rewards(world, trial, rewards)
        for order in (np.arange(len(world.actions)), np.arange(len(world.actions))[::-1]):
            policy = make(World(world.actions[order], world.theta, world.noise_variance), trial)
            policy.posterior.update(x, y)
            found.append(policy.predict().optimal_probability[order == best][0])
        return float(abs(found[0] - found[1]))

    return play


def _some_rewards(world: World, trial: int, count: int) -> tuple[FloatArray, FloatArray]:
    """Return rows at random and their rewards."""
    rng = np.random.default_rng([SEED, trial, 6])
    rows = rng.integers(len(world.actions), size=count)
    return world.actions[rows], world.means[rows] + np.sqrt(world.noise_variance) * rng.standard_normal(count)


def relevant(make: Make, unit: float, rewards: int = 60) -> Callable[[World, int], float]:
    """Return the mean inclusion of features that matter, after some rewards in another unit."""

    def play(world: World, trial: int) -> float:
        policy = make(world, trial)
        x, y = _some_rewards(world, trial, rewards)
        policy.posterior.update(x, unit * y)
        return float(policy.posterior.inclusion()[world.theta != 0].mean())

    return play


def irrelevant(make: Make, rounds: int) -> Callable[[World, int], float]:
    """Return the mean inclusion of features that do not matter, after a game."""

    def play(world: World, trial: int) -> float:
        policy = make(world, trial)
        regret(world, policy, rounds, trial)
        return float(policy.posterior.inclusion()[world.theta == 0].mean())

    return play


def priors(d: int, s: int, rounds: int, trials: int, **more: Any) -> Setting:
    players = {
        "hyperparameters known, no intercept": game(knowing(IDS), rounds),
        "hyperparameters known, intercept": game(knowing(IDS, True), rounds),
        "nothing known, no intercept": game(default(IDS, intercept=False), rounds),
        "nothing known, intercept": game(default(IDS), rounds),
    }
    if d <= 100:
        players["version 0.1"] = game(former(IDS), rounds)
    facts = ", ".join(f"{name} {value:g}" for name, value in more.items())
    return Setting(
        f"d = {d}, s = {s}, {rounds} rounds{', ' * bool(facts)}{facts}", gaussian(d, s, **more), players, trials
    )


def on_smooth_curves(smooth: bool) -> Setting:
    def searched(make: Make) -> Callable[[World, int], float]:
        return lambda world, trial: found_of_top(world, make(world, trial), trial)

    players: dict[str, Callable[[World, int], float]] = {
        "SparseIDS(table)": searched(default(sb.SparseIDS)),
        "SparseTS(table)": searched(default(sb.SparseTS)),
        "ARD regression with Thompson sampling": lambda world, trial: found_of_top(
            world, ARD(np.random.default_rng([SEED, trial, 3])), trial
        ),
        "version 0.1": searched(former(IDS)),
    }
    what = "a smooth curve" if smooth else "four channels"
    title = f"collinear spectra, the effect is {what}: found of the ten best after 20 measurements"
    return Setting(title, spectra(smooth), players, 60, "found")


UNITS: dict[str, Callable[[float], float]] = {
    "as they are": float,
    "plus 60": lambda reward: reward + 60.0,
    "times 0.001": lambda reward: reward * 1e-3,
    "minus 5, times 10,000": lambda reward: (reward - 5.0) * 1e4,
    "times 1e-6": lambda reward: reward * 1e-6,
    "times 1e6": lambda reward: reward * 1e6,
}
SPARSE = gaussian(15, 3, 80, 0.0, 0.5)
TIES: dict[str, Callable[[World, int], float]] = {
    "SparseTS(table)": game(default(sb.SparseTS), 150),
    "SparseTS(table), but the first row wins ties": with_former_ties(game(default(sb.SparseTS), 150)),
    "SparseTS, version 0.1": with_former_ties(game(former(sb.SparseTS), 150)),
    "SparseIDS(table)": game(default(sb.SparseIDS), 150),
    "SparseIDS, version 0.1": with_former_ties(game(former(IDS), 150)),
}
SETTINGS: dict[str, Setting] = {
    "units": Setting(
        "rewards in any unit and at any level: d = 15, s = 3, 80 actions, noise variance 0.5, 150 rounds",
        SPARSE,
        {
            **{
                f"{name}: SparseIDS(table)": game(default(sb.SparseIDS), 150, told=told) for name, told in UNITS.items()
            },
            **{f"{name}: version 0.1": game(former(IDS), 150, told=told) for name, told in UNITS.items()},
        },
        40,
    ),
    "outlier": Setting(
        "one reward at 100 standard deviations, after 50 of 300 rounds, same worlds",
        SPARSE,
        {
            "none: SparseIDS(table)": game(default(sb.SparseIDS), 300),
            "one: SparseIDS(table)": game(default(sb.SparseIDS), 300, outlier=50),
            "none: version 0.1": game(former(IDS), 300),
            "one: version 0.1": game(former(IDS), 300, outlier=50),
        },
        40,
    ),
    "no outlier": Setting(
        "what is out of line is the truth: one-hot table of 24 rows, three good ones, noise variance 1e-6, 150 rounds",
        one_hot(True, 1e-6),
        {
            "SparseIDS(table)": game(default(sb.SparseIDS), 150),
            "SparseIDS, all rewards count in full": game(default(sb.SparseIDS, rewards=sb.Gaussian()), 150),
        },
        40,
    ),
    "one-hot, good rows last": Setting(
        "one-hot table of 24 rows, the good ones last, 150 rounds",
        one_hot(True),
        TIES,
        60,
    ),
    "one-hot, good rows first": Setting(
        "the same table upside down",
        one_hot(False),
        TIES,
        60,
    ),
    "zeros and ones": Setting(
        "60 rows of zeros and ones, 3 of 20 columns matter, 150 rounds",
        categories,
        TIES,
        60,
    ),
    "first decisions": Setting(
        "share of policies whose first decision is the first of 33 rows (1/33 is 0.03); 20 features",
        gaussian(20, 2, 33, 0.0),
        {
            "SparseTS(table)": first_is_zero(default(sb.SparseTS)),
            "SparseTS, version 0.1": with_former_ties(first_is_zero(former(sb.SparseTS))),
        },
        400,
        "share",
    ),
    "upside down": Setting(
        "change of P(optimal) of the best of 60 rows of zeros and ones, after 20 rewards, when the table is reversed",
        categories,
        {
            "SparseIDS(table)": moved(default(sb.SparseIDS)),
            "SparseIDS, version 0.1": with_former_ties(moved(former(IDS))),
        },
        40,
        "difference",
    ),
    "hundredths": Setting(
        "mean P(included) of features that matter after 60 rewards in other units: d = 15, s = 3, noise variance 0.5",
        SPARSE,
        {
            **{
                f"times {unit:g}: {name}": relevant(make, unit)
                for name, make in {"SparseIDS(table)": default(sb.SparseIDS), "version 0.1": former(IDS)}.items()
                for unit in (1.0, 0.01, 0.0001, 100.0)
            },
        },
        40,
        "probability",
    ),
    "pure noise": Setting(
        "P(optimal) of the first of 33 rows after 60 rewards of pure noise; 20 features",
        gaussian(20, 2, 33, 0.0),
        {
            "SparseIDS(table)": favour(default(sb.SparseIDS)),
            "SparseIDS, version 0.1": with_former_ties(favour(former(IDS))),
        },
        40,
        "probability",
    ),
    "batches": Setting(
        "ten decisions at a time, 20 times: d = 40, s = 4, 200 actions, independent features, noise variance 1",
        gaussian(40, 4, 200, 0.0, 1.0),
        {
            "SparseIDS, ask(n=10)": game(default(sb.SparseIDS), 200, batch=10, together=True),
            "SparseIDS, ten times ask()": game(default(sb.SparseIDS), 200, batch=10),
            "SparseTS, ask(n=10)": game(default(sb.SparseTS), 200, batch=10, together=True),
            "SparseIDS, one at a time": game(default(sb.SparseIDS), 200),
        },
        40,
    ),
    "d = 8": priors(8, 2, 60, 150, k=60, correlation=0.0, variance=0.25),
    "d = 8, inclusions": Setting(
        "d = 8: mean P(included) of features that do not matter, after 60 rounds",
        gaussian(8, 2, 60, 0.0, 0.25),
        {
            "SparseIDS(table)": irrelevant(default(sb.SparseIDS), 60),
            "version 0.1": irrelevant(former(IDS), 60),
            "hyperparameters known": irrelevant(knowing(IDS), 60),
        },
        40,
        "probability",
    ),
    "d = 20, all matter": priors(20, 20, 300, 150),
    "d = 20, strong": priors(20, 2, 100, 150, variance=0.05),
    "d = 40": priors(40, 4, 500, 150),
    "d = 100": priors(100, 10, 500, 150),
    "d = 100, s = 2": priors(100, 2, 500, 150),
    "d = 100, s = 25": priors(100, 25, 500, 150),
    "d = 200": priors(200, 4, 60, 100),
    "d = 500": priors(500, 5, 100, 40),
    "spectra": on_smooth_curves(False),
    "spectra, smooth": on_smooth_curves(True),
}


def play(name: str, player: str, trial: int) -> dict[str, Any]:
    """Return what one player reaches in one trial."""
    setting = SETTINGS[name]
    found = setting.players[player](setting.world(FIRST + trial), FIRST + trial)
    return {"setting": name, "player": player, "trial": trial, "found": round(float(found), 4)}


def page(lines: list[dict[str, Any]]) -> str:
    """Return the tables as text; ratios are to the first player of a setting, over the trials that both have."""
    blocks = []
    for name, setting in SETTINGS.items():
        found: dict[str, dict[int, float]] = {player: {} for player in setting.players}
        for line in lines:
            if line["setting"] == name and line["player"] in found and line["trial"] < setting.trials:
                found[line["player"]][line["trial"]] = line["found"]
        base = next(iter(found.values()))
        if not base:
            continue
        rows = [
            f"| {setting.title} | {setting.measures} | 95% | ratio to the first | trials |",
            "|---|---|---|---|---|",
        ]
        for player, played in found.items():
            trials = sorted(set(played) & set(base))
            if not trials:
                continue
            values, other = np.array([played[t] for t in trials]), np.array([base[t] for t in trials])
            low, high = mean_interval(values)
            digits = 0 if values.mean() >= 20 else 2
            relative = "" if played is base else "{:.2f} ± {:.2f}".format(*games.ratio(values, other))
            rows.append(
                f"| {player} | {values.mean():.{digits}f} | {low:.{digits}f} to {high:.{digits}f} "
                f"| {relative} | {len(trials)} |"
            )
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000, help="at most so many of each setting")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--settings", nargs="+", choices=tuple(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--players", nargs="+", help="those whose names contain one of these words")
    parser.add_argument("--report", action="store_true")
    given = parser.parse_args()
    jobs = [
        (name, player, trial)
        for trial in range(given.trials)
        for name in given.settings
        for player in SETTINGS[name].players
        if trial < SETTINGS[name].trials
        if given.players is None or any(word in player for word in given.players)
    ]
    jobs = [] if given.report else jobs
    lines = games.played(STORED, play, jobs, ("setting", "player", "trial"), given.workers)
    tables = page(lines)
    print(tables)
    games.write_tables(PAGE, COMMAND, tables)


if __name__ == "__main__":
    main()
