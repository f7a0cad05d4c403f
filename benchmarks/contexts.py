"""Users and items: SparseIDS with contexts against others on the same worlds, ``python -m benchmarks.contexts``.

A user with 20 features arrives in each of 2,000 rounds, and one of 30 items with 10 features is chosen. Of the 200
products of their features 8 matter. Rewards are Gaussian, or clicks with a base rate of 10%.

- SparseIDS is given the items and a table of 500 other users; its features are all columns and all products, its prior
  is the default one.
- All others are given the 200 products of each round. They do not have to find out that columns alone do not matter.
  bayesianbandits knows the noise variance and that θ* has length one. Clicks are clicks for bayesianbandits (its GLM)
  and Vowpal Wabbit, and numbers for those that know no others.
- SquareCB, FALCON, ILOVETOCONBANDITS, the MCP bandit, best subsets, dynamic batches, variational Thompson sampling and
  Vowpal Wabbit: settings are tuned for each family of rewards, on seeds of their own. The MCP bandit makes its
  estimates again when it has 2% more rewards: after each of the first fifty, then less and less often, which on other
  seeds cost next to nothing. Vowpal Wabbit multiplies the features itself.

Games are kept in ``benchmarks/results/contexts.jsonl`` as they end, so a run that was stopped continues where it was;
the tables of docs/contexts.md are written from all of them. Numbers of trials and seeds were fixed before any game of
the comparison was played. The grids of the three strongest rivals were made wider where their best entry was at the
edge, after 13 trials in which SparseIDS had not played. ``--settings``, ``--players`` and ``--trials`` play a part,
``--report`` plays nothing.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

from functools import partial
from pathlib import Path
from typing import Any

import sparsebandits as sb
from benchmarks import games, paired
from benchmarks.paired import Make, Peer, Setting, whole
from benchmarks.peers import BayesianBanditsModel, VowpalWabbitProducts
from sparsebandits.experiments.simulate import Problem

STORED = Path(__file__).parent / "results" / "contexts.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "contexts.md"
COMMAND = "python -m benchmarks.contexts"
SEED, TUNING_SEED = 20261127, 20261126
"""No other comparison has them."""

OURS, SPARSITY = "SparseIDS, contexts", 8


def clicks(problem: Problem) -> bool:
    """Return whether rewards are clicks."""
    return isinstance(problem.rewards, sb.Bernoulli)


def with_contexts(problem: Problem) -> sb.Policy:
    """Return SparseIDS, which is given items and other users."""
    family: dict[str, Any] = {"rewards": sb.Bernoulli()} if clicks(problem) else {}
    return sb.SparseIDS(problem.items, contexts=problem.users, seed=problem.seed, **family)


def bayesianbandits(problem: Problem) -> Peer:
    """Return Thompson sampling on a model of bayesianbandits."""
    import bayesianbandits as bb

    seed, precision = whole(problem.seed), float(problem.actions.shape[1])
    model = (
        bb.BayesianGLM(link="logit", alpha=precision, random_state=seed)
        if clicks(problem)
        else bb.NormalRegressor(alpha=precision, beta=1.0 / problem.noise_variance, random_state=seed)
    )
    return Peer(BayesianBanditsModel(problem.actions, model), problem.actions)


def vowpal_wabbit(options: str, problem: Problem) -> Peer:
    """Return Vowpal Wabbit, which is given items and, in each round, the user."""
    assert problem.items is not None
    return Peer(VowpalWabbitProducts(problem.items, whole(problem.seed), options), problem.actions)


def rival(policy: Any, problem: Problem, **settings: Any) -> sb.Policy:
    """Return one of the rivals, which take clicks as numbers."""
    noise = 0.09 if clicks(problem) else problem.noise_variance  # p (1 − p) at the base rate
    made: sb.Policy = policy(problem.actions, noise_variance=noise, seed=problem.seed, **settings)
    return made


def dynamic_batch(batches: int, problem: Problem) -> sb.Policy:
    settings = {"horizon": problem.horizon, "sparsity": SPARSITY, "batches": batches, "split": False}
    return rival(sb.rivals.DynamicBatch, problem, **settings)


PLAYERS: dict[str, Make] = {
    OURS: with_contexts,
    "bayesianbandits": bayesianbandits,
}
EXPLORATIONS = (
    "--epsilon 0.05",
    "--bag 5",
    "--bag 20",
    "--squarecb --gamma_scale 100",
    "--squarecb --gamma_scale 1000",
    "--squarecb --gamma_scale 10000",
)
LEARNING_RATES = (0.5, 2, 8)
GRIDS: dict[str, dict[str, Make]] = {
    "SquareCB, tuned": {
        f"SquareCB, {regressor}, scale {scale:g}": partial(rival, sb.rivals.SquareCB, regressor=regressor, scale=scale)
        for regressor in ("ridge", "spike-and-slab")
        for scale in (10.0, 30.0, 100.0, 300.0, 1000.0)
    },
    "FALCON, tuned": {
        f"FALCON, scale {scale:g}": partial(
            rival, sb.rivals.FALCON, regressor="lasso", sparsity=SPARSITY, window="all", scale=scale
        )
        for scale in (5.0, 15.0, 50.0, 150.0)
    },
    "ILOVETOCONBANDITS, tuned": {
        f"ILTCB, exploration {exploration:g}": partial(
            rival, sb.rivals.ILTCB, sparsity=SPARSITY, exploration=exploration, psi=0.05
        )
        for exploration in (0.01, 0.03, 0.1)
    },
    "MCP bandit, tuned": {
        f"MCPBandit, penalty {penalty:g}, localisation {width:g}": partial(
            rival, sb.rivals.MCPBandit, all_penalty=penalty, localisation=width, refit_growth=0.02
        )
        for penalty in (0.03, 0.1, 0.3, 1.0)
        for width in (2.0, 5.0, 20.0, 80.0)
    },
    "best subset, tuned": {
        f"BestSubset, width {width:g}": partial(rival, sb.rivals.BestSubset, sparsity=SPARSITY, width=width)
        for width in (0.1, 0.3, 1.0)
    },
    "dynamic batches, tuned": {
        f"DynamicBatch, {batches} batches": partial(dynamic_batch, batches) for batches in (3, 5, 8)
    },
    "variational TS, tuned": {
        f"VariationalTS, rate {rate:g}": partial(rival, sb.rivals.VariationalTS, rate=rate)
        for rate in (0.3, 1.0, 3.0, 10.0)
    },
    "Vowpal Wabbit, tuned": {
        f"{exploration} --learning_rate {rate}": partial(vowpal_wabbit, f"{exploration} --learning_rate {rate}")
        for exploration in EXPLORATIONS
        for rate in LEARNING_RATES
    },
}


def setting(title: str, rewards: str) -> Setting:
    """Return the setting of a family of rewards."""
    return Setting(
        title,
        sb.environments.ContextualActions(20, 10, n_items=30, sparsity=SPARSITY, rewards=rewards),
        rounds=2000,
        players=PLAYERS,
        goals=dict.fromkeys((*GRIDS, "bayesianbandits"), 0.8),
        tuned=GRIDS,
        seed=SEED,
        tuning_seed=TUNING_SEED,
    )


SETTINGS = {"gaussian": setting("Gaussian rewards", "gaussian"), "clicks": setting("Clicks", "logistic")}


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
