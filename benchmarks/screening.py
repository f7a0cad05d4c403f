"""Decision rules and priors that were tried before the defaults were chosen, on worlds that no comparison uses.

``python -m benchmarks.screening TABLE`` plays the games of a table that are missing in
``benchmarks/results/screening.jsonl``, and writes it in docs/rules.md. Players of one trial have the same instance, the
same noise, and 2,000 draws. ``CostToGo`` and ``InformationDirected`` are what became of the rules, and
:class:`Variant` has the others.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence

import sparsebandits as sb
from benchmarks import games
from sparsebandits.arguments import FloatArray
from sparsebandits.policies.sparse import SparsePolicy
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.cost_to_go import costs
from sparsebandits.rules.optima import OptimaMemory
from sparsebandits.rules.rule import Rule

STORED = Path(__file__).parent / "results" / "screening.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "rules.md"
COMMAND = "python -m benchmarks.screening"
SEED = 20261001
DRAWS = 2000
SHOWN = (100, 250, 500, 1000)
"""Rounds at which regret is noted."""


@dataclass(frozen=True)
class Variant(Rule):
    """A rule of least cost, or of least ratio, with parts that can be exchanged.

    Parameters
    ----------
    form : {"linear", "exponential", "greedy learns", "rounds", "ratio"}
        How doubt shrinks: linearly; exponentially; linearly, and also while the greedy action is played. "rounds" is
        linear in whole rounds, of which at least one is played, as in ``CostToGo``. Or the information ratio.
    share : float
        κ, the share of Var⟨a, θ⟩ beside v; NaN for v as it comes from the draws.
    factor : float
        N_a is this factor times H / I_a.
    ahead : tuple of two floats, or a number
        R is the first plus the second times the rounds played; or the number of rounds in all.
    """

    form: str = "linear"
    share: float = 0.05
    factor: float = 0.5
    ahead: tuple[float, float] | float = 500.0

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Choose the action of least cost, or of least ratio."""
        known, t = beliefs.information, beliefs.decisions
        variance = known.gain if np.isnan(self.share) else known.unbiased_gain + self.share * known.reward_variance
        regret, least = known.expected_regret, float(known.expected_regret.min())
        rounds = self.ahead[0] + self.ahead[1] * t if isinstance(self.ahead, tuple) else max(self.ahead - t, 1.0)
        if self.form == "ratio":
            with np.errstate(divide="ignore", invalid="ignore"):
                cost = np.where(regret > 0, regret**2 / variance, 0.0)
        else:
            information = 0.5 * np.log1p(variance / beliefs.noise_variances)
            entropy = known.unbiased_entropy * self.factor / 0.5
            if self.form == "rounds":
                cost = costs(regret, information, entropy, rounds).total
            elif self.form == "linear" or least <= 0 or entropy <= 0:
                cost = linear(regret, information, entropy, rounds)
            else:
                until = np.minimum(0.5 * entropy / np.maximum(information, 1e-12), 1e9)
                cost = FORMS[self.form](regret - least, least, until, rounds, int(regret.argmin()))
        action = int(np.nanargmin(cost))
        reasons = Reasons.top(
            action, known.optimal_probability, {"expected regret": regret}, beliefs.features[action] * known.mean
        )
        return Choice(action, 1.0, reasons)


def linear(regret: FloatArray, information: FloatArray, entropy: float, rounds: float) -> FloatArray:
    """Return the least cost if doubt shrinks linearly, also within a round, and no round need be played."""
    least = float(regret.min())
    apart = regret - least
    if least <= 0.0 or entropy <= 0.0 or rounds <= 1.0:
        return apart * rounds
    with np.errstate(divide="ignore", invalid="ignore"):
        until = 0.5 * entropy / information
        best = np.where(apart > 0.0, rounds - until * apart / least, rounds)
        play = np.clip(best, 0.0, np.minimum(until, rounds))
        share = np.where(np.isfinite(until), play / until, 0.0)
    return np.asarray(apart * play + least * (play - 0.5 * play * share + (1.0 - share) * (rounds - play)))


GRID = np.linspace(0.0, 1.0, 41) ** 2


def exponential(apart: FloatArray, least: float, until: FloatArray, rounds: float, _: int) -> FloatArray:
    """Return the least cost if doubt is exp(−m / N)."""
    m = GRID * rounds
    left = np.exp(-m / until[:, None])
    cost = apart[:, None] * m + least * until[:, None] * (1 - left) + least * left * (rounds - m)
    return np.asarray(cost.min(axis=1))


def greedy_learns(apart: FloatArray, least: float, until: FloatArray, rounds: float, greedy: int) -> FloatArray:
    """Return the least cost if doubt shrinks further while the greedy action is played."""
    m = GRID * np.minimum(until, rounds)[:, None]
    doubt, ahead = 1 - m / until[:, None], rounds - m
    length = np.minimum(ahead, doubt * until[greedy])
    cost = apart[:, None] * m + least * (m - m * m / (2 * until[:, None]))
    cost += least * (doubt * length - length * length / (2 * until[greedy]))
    return np.asarray(cost.min(axis=1))


FORMS: dict[str, Callable[..., FloatArray]] = {"exponential": exponential, "greedy learns": greedy_learns}


def oracle(world: Any) -> dict[str, Any]:
    """Return the prior and the noise that a policy with known hyperparameters has."""
    matters = np.flatnonzero(world.theta)
    prior = sb.SpikeSlab(len(matters) / len(world.theta), float(np.mean(world.theta[matters] ** 2)))
    return {"prior": prior, "noise_variance": world.noise_variance, "intercept": False}


def ruled(world: Any, seed: int, rule: Rule, draws: int = DRAWS) -> sb.Policy:
    """Return a policy that knows the hyperparameters."""
    return SparsePolicy(world.actions, rule, n_draws=draws, seed=seed, **oracle(world))


def unknowing(
    world: Any,
    seed: int,
    rule: Rule,
    total: tuple[float, float] = (0.5, 0.125),
    few: float = 5.0,
    intercept: bool = True,
    share: float = 1.0,
    noise: tuple[float, float] | None = None,
) -> sb.Policy:
    """Return a policy that learns the hyperparameters, with a prior of all effects together."""
    features = world.actions - (world.actions.mean(axis=0) if intercept else 0.0)
    d = features.shape[1]
    scale = tuple(1.0 / np.mean(features * features, axis=0))
    slab = sb.InverseGammaSlab(*total, of_noise=True, relative=scale, of_total=True)
    inclusion = sb.BetaInclusion(share, share * (d / min(few, d / 4) - 1.0))
    prior = sb.SpikeSlab(inclusion, slab)
    learnt = None if noise is None else sb.InverseGammaNoise(*noise, of_rewards=True)
    return SparsePolicy(world.actions, rule, prior, learnt, n_draws=DRAWS, seed=seed, intercept=intercept)


def dense(world: Any, seed: int, policy: Any, given: bool) -> sb.Policy:
    """Return a dense policy with its defaults, or given the noise."""
    made: sb.Policy = policy(world.actions, seed=seed, **({"noise_variance": world.noise_variance} if given else {}))
    return made


RATIO = Variant("ratio", np.nan)
PLAYERS: dict[str, dict[str, Callable[..., sb.Policy]]] = {
    "horizon": {
        "ratio": partial(ruled, rule=RATIO),
        "linear, 5%": partial(ruled, rule=Variant()),
        "linear, plain": partial(ruled, rule=Variant(share=np.nan)),
        "linear, 5%, 0.35": partial(ruled, rule=Variant(factor=0.35)),
        "linear, 5%, 0.8": partial(ruled, rule=Variant(factor=0.8)),
        "exponential, 5%": partial(ruled, rule=Variant("exponential")),
        "exponential, 5%, 0.25": partial(ruled, rule=Variant("exponential", factor=0.25)),
        "greedy learns, 5%": partial(ruled, rule=Variant("greedy learns")),
    },
    "open": {
        "ratio": partial(ruled, rule=RATIO),
        "ratio, 5%": partial(ruled, rule=Variant("ratio", 0.05)),
        "ratio, 20%": partial(ruled, rule=Variant("ratio", 0.2)),
        "500": partial(ruled, rule=Variant(ahead=(500, 0))),
        "50 + t": partial(ruled, rule=Variant(ahead=(50, 1))),
        "200 + t": partial(ruled, rule=Variant(ahead=(200, 1))),
        "100 + 3t": partial(ruled, rule=Variant(ahead=(100, 3))),
        "100 + t, 10%": partial(ruled, rule=Variant(share=0.1, ahead=(100, 1))),
        "200 + t, 20%": partial(ruled, rule=Variant(share=0.2, ahead=(200, 1))),
    },
}
PLAYERS["priors"] = {
    "default, ratio": partial(unknowing, rule=RATIO),
    "default, cost to go": partial(unknowing, rule=Variant()),
    "no intercept, cost to go": partial(unknowing, rule=Variant(), intercept=False),
    "total IG(1, 1/2), cost to go": partial(unknowing, rule=Variant(), total=(1.0, 0.5)),
    "total IG(2, 1), cost to go": partial(unknowing, rule=Variant(), total=(2.0, 1.0)),
    "ten features, cost to go": partial(unknowing, rule=Variant(), few=10.0),
    "half, cost to go": partial(unknowing, rule=Variant(), share=0.5),
    "more noise, cost to go": partial(unknowing, rule=Variant(), noise=(1.0, 0.2)),
    "LinUCB": partial(dense, policy=sb.LinUCB, given=False),
    "LinUCB, noise given": partial(dense, policy=sb.LinUCB, given=True),
    "LinearIDS": partial(dense, policy=sb.LinearIDS, given=False),
}
PLAYERS["draws"] = {f"{n}": partial(ruled, rule=Variant(), draws=n) for n in (10_000, 4000, 2000, 1000)}
PLAYERS["fine"] = {
    "linear, 5%": partial(ruled, rule=Variant()),
    "linear, 2%": partial(ruled, rule=Variant(share=0.02)),
    "linear, 10%": partial(ruled, rule=Variant(share=0.1)),
    "linear, 5%, 0.35": partial(ruled, rule=Variant(factor=0.35)),
    "linear, 5%, 0.8": partial(ruled, rule=Variant(factor=0.8)),
    "linear, 5%, 800 rounds": partial(ruled, rule=Variant(ahead=800.0)),
    "linear, 5%, 400 + 100": partial(ruled, rule=Variant(ahead=(500.0, -0.8))),
}
PLAYERS["short"] = {
    "ratio": partial(ruled, rule=RATIO),
    **{
        f"{factor:g}, {name}": partial(ruled, rule=Variant("rounds", factor=factor, ahead=ahead))
        for factor in (0.5, 0.8, 1.2)
        for name, ahead in (("end known", 100.0), ("200 + t", (200.0, 1.0)), ("100 + t", (100.0, 1.0)))
    },
}
PLAYERS["ahead"] = {
    "ratio": partial(ruled, rule=RATIO),
    **{
        f"{factor:g}, {ahead} + t": partial(ruled, rule=Variant("rounds", factor=factor, ahead=(ahead, 1.0)))
        for factor, ahead in ((0.5, 200), (0.8, 100), (0.8, 200), (1.2, 100), (1.2, 200), (1.2, 400))
    },
}
PLAYERS["ratio"] = {f"{n}": partial(ruled, rule=RATIO, draws=n) for n in (10_000, 4000, 2000)}
JUDGED = ("priors", "draws", "ratio")
"""Tables in which Bayes regret is what the posterior with known hyperparameters expects, given what a player saw."""
LOOKED_AT = {
    "horizon": (500,),
    "open": SHOWN,
    "priors": (500,),
    "draws": (500,),
    "fine": (500,),
    "short": (100,),
    "ahead": SHOWN,
    "ratio": (500,),
}
WORLDS = {
    "horizon": ((40, 4), (100, 10)),
    "open": ((40, 4), (100, 10)),
    "priors": ((40, 4), (100, 10), (100, 2)),
    "draws": ((20, 2), (40, 4), (100, 10)),
    "fine": ((40, 4),),
    "short": ((20, 2), (40, 4), (100, 10)),
    "ahead": ((20, 2), (40, 4), (100, 10)),
    "ratio": ((40, 4), (100, 10)),
}


def play(table: str, player: str, dimension: int, sparsity: int, trial: int) -> dict[str, Any]:
    """Play one game."""
    rounds = LOOKED_AT[table][-1]
    world = sb.environments.GaussianActions(dimension, sparsity).sample(SeedSequence([SEED, trial]))
    policy = PLAYERS[table][player](world, trial)
    noise = np.sqrt(world.noise_variance) * np.random.default_rng([SEED, trial, 1]).standard_normal(rounds)
    known = oracle(world)
    judge = sb.Particles(known["prior"], dimension, known["noise_variance"], n_draws=1000, seed=trial)
    world.actions.flags.writeable = False
    memory = OptimaMemory()
    means, gaps, expected = world.means, np.empty(rounds), np.empty(rounds)
    for t in range(rounds):
        decision = policy.ask()
        gaps[t] = means.max() - means[decision.action]
        if table in JUDGED:
            expected[t] = Beliefs(judge, world.actions, memory=memory).expected_regret[decision.action]
        else:
            expected[t] = decision.diagnostics.get("expected regret", np.nan)
        reward = float(means[decision.action] + noise[t])
        policy.tell(decision, reward)
        if table in JUDGED:
            judge.update(decision.features, reward)
    at = [n for n in SHOWN if n <= rounds]
    sums = [[round(float(one[:n].sum()), 3) for n in at] for one in (gaps, expected)]
    last = float(gaps[-50:].mean())
    game = {"table": table, "player": player, "dimension": dimension, "sparsity": sparsity, "trial": trial}
    return {**game, "regret": sums[0], "bayes": sums[1], "last": round(last, 3)}


def show(lines: list[dict[str, Any]], table: str) -> str:
    """Return the table: ratios of Bayes regret to the first player, with standard errors, at the rounds looked at."""
    rounds = LOOKED_AT[table]
    head = "Bayes regret after " + ", ".join(str(n) for n in rounds) + " rounds, to the first"
    rows: dict[str, list[str]] = {name: [] for name in PLAYERS[table]}
    worlds = []
    for d, s in WORLDS[table]:
        by: dict[str, dict[int, Any]] = {name: {} for name in PLAYERS[table]}
        for one in lines:
            if one["table"] == table and (one["dimension"], one["sparsity"]) == (d, s) and one["player"] in by:
                by[one["player"]][one["trial"]] = one["bayes"]
        trials = sorted(set.intersection(*(set(one) for one in by.values())))
        worlds.append(f"d = {d}, s = {s} ({len(trials)} trials)")
        first = np.array([next(iter(by.values()))[t] for t in trials])
        for name, kept in by.items():
            mine = np.array([kept[t] for t in trials])
            ratios = [games.ratio(mine[:, SHOWN.index(n)], first[:, SHOWN.index(n)]) for n in rounds]
            rows[name].append("; ".join("{:.2f} ± {:.2f}".format(*one) for one in ratios))
    lines_of = [f"| {head} | {' | '.join(worlds)} |", "|---|" + "---|" * len(worlds)]
    return "\n".join(lines_of + [f"| {name} | {' | '.join(cells)} |" for name, cells in list(rows.items())[1:]])


def main() -> None:
    """Play what is missing, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screening")
    parser.add_argument("table", choices=tuple(PLAYERS))
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--report", action="store_true", help="play nothing")
    told = parser.parse_args()
    jobs = [
        (told.table, player, d, s, trial)
        for trial in range(told.first, told.first + told.trials)
        for d, s in WORLDS[told.table]
        for player in PLAYERS[told.table]
    ]
    keys = ("table", "player", "dimension", "sparsity", "trial")
    lines = games.played(STORED, play, [] if told.report else jobs, keys, told.workers)
    games.write_tables(PAGE, f"{COMMAND} {told.table}", show(lines, told.table))


if __name__ == "__main__":
    main()
