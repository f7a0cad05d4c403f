"""Who plays, in which settings, and what is kept of a game."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.random import SeedSequence

import sparsebandits as sb
from papers.hao2022 import instances
from papers.hao2022.instances import World
from sparsebandits.rules import ContextualInformationDirected, InformationDirected, Rule, Thompson

SEED, TRIALS = 20220714, 50
CONDITIONAL, CONTEXTUAL = "conditional IDS", "contextual IDS"
INFORMED = ", mutual information"
MARKS = 8
"""Number of rounds at which regret is kept, at equal distances."""


@dataclass(frozen=True)
class Setting:
    """An instance and the number of rounds.

    Attributes
    ----------
    title : str
        What it is called.
    rounds : int
        n.
    make : callable
        Makes the world from a generator.
    """

    title: str
    rounds: int
    make: Callable[[np.random.Generator], World]


SETTINGS = {
    **{
        f"example 1, k = {k}": Setting(
            f"Example 1, k = {k}",
            500,
            lambda rng, k=k: instances.under_exploration(k),  # type: ignore[misc]
        )
        for k in (20, 50, 100)
    },
    **{
        f"example 2, k = {k}": Setting(
            f"Example 2, k = {k}",
            1000,
            lambda rng, k=k: instances.over_exploration(k, 1000),  # type: ignore[misc]
        )
        for k in (16, 64)
    },
    **{
        f"theorem 6.3, p = {p}, Δ = {effect}": Setting(
            f"Theorem 6.3, p = {p}, Δ = {effect}",
            1000,
            lambda rng, p=p, effect=effect: instances.sparse_linear(p, effect, rng),  # type: ignore[misc]
        )
        for p in (100, 300)
        for effect in (0.5, 0.9)
    },
    **{
        f"theorem 5.3, k = {k}": Setting(
            f"Theorem 5.3, k = {k}",
            1000,
            lambda rng, k=k: instances.graph(k, 1000),  # type: ignore[misc]
        )
        for k in (20, 60)
    },
}


def rule_of(player: str, world: World) -> Rule:
    """Return the rule of a player."""
    gain = "mutual-information" if player.endswith(INFORMED) else "variance"
    if player.startswith(CONDITIONAL):
        return InformationDirected(selection="randomised", gain=gain)
    if player.startswith(CONTEXTUAL):
        return ContextualInformationDirected(gain=gain, available=world.contexts)
    return Thompson()


PLAYERS = (CONTEXTUAL, CONDITIONAL, CONTEXTUAL + INFORMED, CONDITIONAL + INFORMED, "Thompson sampling", "LinUCB")


def policy_of(player: str, world: World, seed: SeedSequence) -> sb.Policy:
    """Return a player. LinUCB knows the noise and not the hypotheses; all others have them as their prior."""
    if player == "LinUCB":
        return sb.LinUCB(world.offered, noise_variance=world.noise_variance, intercept=False, seed=seed)
    table = sb.Table(sb.Hypotheses(world.theta), noise_variance=world.noise_variance)
    return sb.Policy(world.offered, table, rule_of(player, world), seed=seed)


def play(name: str, player: str, trial: int, rounds: int | None = None) -> dict[str, Any]:
    """Play one game.

    Parameters
    ----------
    name : str
        Name of the setting.
    player : str
        Name of the player.
    trial : int
        Number of the trial: players of a trial have the same world, contexts and noise.
    rounds : int, optional
        Number of rounds, for tests; by default what the setting says.

    Returns
    -------
    dict
        Regret at some rounds, and milliseconds per decision.
    """
    setting = SETTINGS[name]
    count = setting.rounds if rounds is None else rounds
    of_world, of_noise, of_policy = SeedSequence([SEED, trial]).spawn(3)
    rng, noise = np.random.default_rng(of_world), np.random.default_rng(of_noise)
    world = setting.make(rng)
    means = world.actions @ world.theta[rng.integers(len(world.theta))]
    policy = policy_of(player, world, of_policy)
    regret, started = np.empty(count), perf_counter()
    for t in range(count):
        offered = world.contexts[noise.integers(2)]
        rewards = means + np.sqrt(world.noise_variance) * noise.standard_normal(len(means))
        decision = policy.ask(available=offered)
        if decision.observed is None:
            policy.tell(decision, rewards[decision.action])
        else:
            policy.tell(decision, {row: rewards[row] for row in decision.observed})
        regret[t] = means[list(offered)].max() - means[decision.action]
    total = np.cumsum(regret)
    marks = [count * (mark + 1) // MARKS for mark in range(MARKS)]
    return {
        "setting": name,
        "player": player,
        "trial": trial,
        "rounds": marks,
        "regret": [round(float(total[mark - 1]), 4) for mark in marks],
        "ms": round(1000 * (perf_counter() - started) / count, 3),
    }
