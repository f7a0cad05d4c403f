"""What a decision costs where users come with contexts: ``python -m benchmarks.context_speed``.

Users with 20 features, 30 items with 10, all 200 products as features, the default prior and number of draws; Gaussian
rewards, 300 rounds. Conditional IDS, which is the default, and contextual IDS over a table of 200 users, or over the
latest 200. For each seed all of them play, one after the other. Processor time in ``ask`` and ``tell`` counts.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

from statistics import median
from time import process_time
from typing import Any

import numpy as np

import sparsebandits as sb
from benchmarks.section import Figures, around, run, short, target, targets_table
from sparsebandits.randomness import IndexedNormals
from sparsebandits.tables import Cell, Table

ROUNDS, SEEDS, CONTEXTS = 300, 3, 200
WORLDS = sb.environments.ContextualActions(20, 10, n_items=30, sparsity=8)
WANTED = 15.0
"""Milliseconds that a decision over 200 remembered contexts may take on average."""

CONDITIONAL, TABLE, LATEST = "conditional IDS", "contextual IDS, a table", "contextual IDS, the latest"


def policy_of(player: str, world: Any, seed: int) -> sb.Policy:
    """Return a player."""
    products = sb.features.cross()
    if player == CONDITIONAL:
        users = world.contexts.rows(CONTEXTS, first=ROUNDS)
        return sb.SparseIDS(world.contexts.items, contexts=users, features=products, seed=seed)
    users = world.contexts.rows(CONTEXTS, first=ROUNDS) if player == TABLE else list(world.contexts.names)
    rule = sb.rules.ContextualInformationDirected(contexts=CONTEXTS)
    return sb.policies.SparsePolicy(world.contexts.items, rule, contexts=users, features=products, seed=seed)


def milliseconds(player: str, count: int, seed: int) -> list[float]:
    """Return the processor time of each round."""
    world: Any = WORLDS.sample(seed)
    policy, noise, found = policy_of(player, world, seed), IndexedNormals(seed), []
    for t in range(count):
        context = world.contexts.row(t)
        begun = process_time()
        decision = policy.ask(context=context)
        asked = process_time()
        reward = world.outcome(t, decision.action, world.offered(t)[decision.action]).reward(t, world.rewards, noise)
        rewarded = process_time()
        policy.tell(decision, reward)
        found.append(1000.0 * (asked - begun + process_time() - rewarded))
    return found


def measure(quick: bool) -> Figures:
    """Measure all players."""
    count, seeds = (15, 1) if quick else (ROUNDS, SEEDS)
    runs = []
    for player in (CONDITIONAL, TABLE, LATEST):
        milliseconds(player, 10, 0)  # compiles
        each = [np.array(milliseconds(player, count, seed)) for seed in range(seeds)]
        runs.append({"player": player, "mean": [float(ms.mean()) for ms in each], "last": [ms[-1] for ms in each]})
    goals = [target(f"{one['player']}, ms", one["mean"], WANTED, at_most=True) for one in runs[1:]]
    return {"rounds": count, "seeds": seeds, "runs": runs, "targets": goals}


def page(figures: Figures) -> str:
    """Return the text of this section."""
    rows: list[tuple[Cell, ...]] = [
        (one["player"], *(short(number(one["mean"])) for number in (median, min, max))) for one in figures["runs"]
    ]
    head = f"Users and items, d = 200, K = 30, {CONTEXTS} contexts; milliseconds per round, {figures['seeds']} seeds"
    table = Table(("policy", "median", "min", "max"), rows)
    return "\n".join((head, around(figures), "", str(table), "", targets_table(figures["targets"])))


if __name__ == "__main__":
    run("context_speed", measure, page)
