"""Games of decision rules on one posterior, and of dense rivals: who plays where, and one game.

Players of one trial have the same instance and the same noise. The number of trials was fixed before these games were
played, and the defaults were chosen on other seeds (``benchmarks/screening.py``). ``benchmarks/rules.py`` plays them.

"information ratio" is the paper's rule. Bayes regret is the sum of what a posterior with known hyperparameters expects
of the regret of each decision, given what the player had seen. It has a smaller error than regret, and would have the
same expectation if worlds came from the prior, which they do not quite (docs/rules.md).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.random import SeedSequence
from papers.hao2021 import claim1, figure2

import sparsebandits as sb
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.optima import OptimaMemory

SEED = 20261118
LAST = 50
"""Rounds at the end of a game whose mean gap is kept."""
JUDGES = 1000
"""Draws of the posterior that judges players who do not know the hyperparameters."""

World: TypeAlias = sb.environments.Instance
RATIO = "information ratio"


@dataclass(frozen=True)
class Setting:
    """A family of worlds, and who plays in it.

    Attributes
    ----------
    title : str
        What its table is called.
    family : environment
        Where worlds are sampled from.
    players : mapping of str to callable
        Each makes a policy, given the world, the prior that is right for the family and a seed.
    trials : int
        Number of trials.
    marks : tuple of int
        Numbers of rounds at which a game is looked at.
    prior : SpikeSlab, optional
        The right prior; by default the one of the paper's figure 3.
    judged : bool
        Whether the Bayes regret of sparse players is that of a posterior with known hyperparameters, or their own.
    """

    title: str
    family: Any
    players: Mapping[str, "Player"]
    trials: int = 400
    marks: tuple[int, ...] = (500,)
    prior: sb.SpikeSlab | None = None
    judged: bool = False

    def right_prior(self) -> sb.SpikeSlab:
        """Return the prior that knows the share of features that matter and their size."""
        share = self.family.sparsity / self.family.dimension
        return sb.SpikeSlab(share, 1.0 / self.family.sparsity) if self.prior is None else self.prior


@dataclass(frozen=True)
class Player:
    """How a policy is made, and for how many rounds.

    Attributes
    ----------
    make : callable
        A policy class.
    known : tuple of str
        What it is told: "prior", "noise", "level" (that the mean reward is ⟨a, θ⟩).
    horizon : int or None
        Number of rounds that it is told; it plays as many, and others play to the last mark.
    options : mapping
        Further arguments.
    """

    make: Callable[..., sb.Policy]
    known: tuple[str, ...] = ()
    horizon: int | None = None
    options: tuple[tuple[str, Any], ...] = ()

    def policy(self, world: World, prior: sb.SpikeSlab, seed: int) -> sb.Policy:
        """Return the policy of a trial."""
        told: dict[str, Any] = dict(self.options)
        if "prior" in self.known:
            told["prior"] = prior
        if "noise" in self.known:
            told["noise_variance"] = world.noise_variance
        if "level" in self.known:
            told["intercept"] = False
        if self.horizon is not None:
            told["horizon"] = self.horizon
        return self.make(world.actions, seed=seed, **told)


def knowing(horizons: Iterable[int], rivals: bool = True) -> dict[str, Player]:
    """Return who plays where hyperparameters are known; the first is what others are compared with."""
    all_of_it = ("prior", "noise", "level")
    found = {RATIO: Player(sb.SparseIDS, all_of_it, options=(("rule", "information-ratio"),))}
    found |= {f"SparseIDS, horizon={n}": Player(sb.SparseIDS, all_of_it, n) for n in horizons}
    found["SparseIDS"] = Player(sb.SparseIDS, all_of_it)
    if rivals:
        found["LinUCB, width 2"] = Player(sb.LinUCB, all_of_it[1:])
        found["LinearIDS"] = Player(sb.LinearIDS, all_of_it[1:])
    return found


def unknowing(horizon: int) -> dict[str, Player]:
    """Return who plays with defaults, the level of rewards unknown too."""
    return {
        RATIO: Player(sb.SparseIDS, options=(("rule", "information-ratio"),)),
        f"SparseIDS, horizon={horizon}": Player(sb.SparseIDS, horizon=horizon),
        "SparseIDS": Player(sb.SparseIDS),
        "LinUCB, width 2": Player(sb.LinUCB),
        "LinUCB, noise given": Player(sb.LinUCB, ("noise",)),
        "LinearIDS": Player(sb.LinearIDS),
    }


Family: TypeAlias = sb.environments.GaussianActions
OTHERS = {
    "independent features": Family(40, 4, correlation=0.0),
    "K = 50": Family(40, 4, n_actions=50),
    "K = 2000": Family(40, 4, n_actions=2000),
    "s/d = 0.02": Family(100, 2),
    "s/d = 0.2": Family(40, 8),
    "noise variance 0.25": Family(40, 4, noise_variance=0.25),
    "noise variance 8": Family(40, 4, noise_variance=8.0),
}


def settings() -> dict[str, Setting]:
    """Return all settings by name."""
    found = {
        f"d{d}": Setting(
            f"Known hyperparameters, d = {d}, s = {d // 10}",
            Family(d, d // 10),
            knowing((500, 1000)),
            marks=(500, 1000),
        )
        for d in (20, 40, 100)
    }
    for d, s in ((40, 4), (100, 10), (100, 2)):
        title = f"Unknown hyperparameters, d = {d}, s = {s}"
        found[f"unknown-d{d}-s{s}"] = Setting(title, Family(d, s), unknowing(500), judged=True)
    for name, family in OTHERS.items():
        title = f"{name} (d = {family.dimension}, s = {family.sparsity}, K = {family.n_actions})"
        players = {**knowing((500,)), "SparseTS": Player(sb.SparseTS, ("prior", "noise", "level"))}
        found[name] = Setting(title, family, players, 100)
    for epsilon in figure2.EPSILONS:
        prior = figure2.informed_prior(figure2.DIMENSION, figure2.SPARSITY, epsilon)
        title, players = f"Illustrative example, ε = {epsilon:g}", knowing((1000,), False)
        found[f"example-{epsilon:g}"] = Setting(title, figure2.environment(epsilon), players, 100, (1000,), prior)
    prior = figure2.informed_prior(claim1.DIMENSION, claim1.SPARSITY, claim1.EPSILON)
    players = knowing((1000,), False)
    found["claim1"] = Setting("Claim 1's instance", claim1.environment(), players, 100, (1000,), prior)
    return found


SETTINGS = settings()
GROUPS = {
    "known": [name for name in SETTINGS if name.startswith("d")],
    "unknown": [name for name in SETTINGS if name.startswith("unknown")],
    "others": list(OTHERS),
    "example": [name for name in SETTINGS if name.startswith(("example", "claim"))],
}


def play(setting: str, player: str, trial: int) -> dict[str, Any]:
    """Play one game."""
    one, prior = SETTINGS[setting], SETTINGS[setting].right_prior()
    who = one.players[player]
    rounds = who.horizon or one.marks[-1]
    world = one.family.sample(SeedSequence([SEED, trial]))
    policy = who.policy(world, prior, trial)
    judge, memory = None, OptimaMemory()
    if one.judged and who.make is sb.SparseIDS:
        judge = sb.Particles(prior, one.family.dimension, world.noise_variance, n_draws=JUDGES, seed=trial)
    noise = np.sqrt(world.noise_variance) * np.random.default_rng([SEED, trial, 1]).standard_normal(rounds)
    means, gaps, expected = world.means, np.empty(rounds), np.empty(rounds)
    for t in range(rounds):
        decision = policy.ask()
        reward = float(means[decision.action] + noise[t])
        gaps[t] = means.max() - means[decision.action]
        if judge is None:  # the player's own posterior, if its prior is right
            expected[t] = decision.diagnostics.get("expected regret", np.nan) if "prior" in who.known else np.nan
        else:
            expected[t] = Beliefs(judge, world.actions, memory=memory).expected_regret[decision.action]
            judge.update(decision.features, reward)
        policy.tell(decision, reward)
    at = {
        str(n): [
            None if np.isnan(value) else round(float(value), 3)
            for value in (gaps[:n].sum(), expected[:n].sum(), gaps[max(n - LAST, 0) : n].mean())
        ]
        for n in one.marks
        if n <= rounds
    }
    return {"setting": setting, "player": player, "trial": trial, "at": at}
