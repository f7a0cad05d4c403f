"""Clicks: sparse IDS with Bernoulli rewards against others on the same worlds, ``python -m benchmarks.clicks``.

Worlds are ``LogisticActions`` with 40 features of which 4 matter, 200 actions and 2,000 rounds, at base rates of 3% and
10%. Everybody has the default prior and learns an intercept; nobody knows the base rate or how many features matter.

- SparseIDS and SparseTS with Bernoulli rewards; SparseIDS with its default, Gaussian rewards; Thompson sampling by
  Laplace's approximation (LinTS with Bernoulli rewards, prior N(0, 1/d) of each coefficient).
- bayesianbandits: Thompson sampling on its ``BayesianGLM`` with both approximations, and on ``EmpiricalBayesGLM``, each
  with all defaults, on the features and a column of ones.
- Vowpal Wabbit: contextual bandit with action features. Exploration, loss and learning rate are tuned for each base
  rate, on seeds of their own, and the best of the grid plays.

Games are kept in ``benchmarks/results/clicks.jsonl`` as they end, so a run that was stopped continues where it was; the
tables of docs/clicks.md are written from all of them. Numbers of trials, seeds and grid were fixed before any game of
the comparison was played. After 500 rounds, click probabilities that two players predict are compared with true ones.
``--settings``, ``--players`` and ``--trials`` play a part, ``--report`` plays nothing.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import sparsebandits as sb
from benchmarks import click_calibration, games, paired
from benchmarks.paired import Make, Peer, Setting, whole
from benchmarks.peers import BayesianBanditsModel, VowpalWabbit
from sparsebandits.experiments.simulate import Problem

STORED = Path(__file__).parent / "results" / "clicks.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "clicks.md"
COMMAND = "python -m benchmarks.clicks"
CALIBRATION = f"{COMMAND}, calibration"
"""Marks of the tables in the page."""

SEED, TUNING_SEED = 20261124, 20261121
"""No other comparison has them."""

LOOK = 500
"""Round after which predicted probabilities are looked at."""

OURS, LAPLACE, TUNED = "SparseIDS, clicks", "Laplace TS", "Vowpal Wabbit, tuned"
LOOKED_AT = (OURS, LAPLACE)

LOGISTIC = "--loss_function logistic --logistic_min -1 --logistic_max 0"  # costs are −1 for a click, and 0
EXPLORATIONS = (
    "--epsilon 0.02",
    "--epsilon 0.1",
    "--bag 5",
    "--bag 10",
    "--bag 20",
    "--squarecb --gamma_scale 100",
    "--squarecb --gamma_scale 1000",
    "--squarecb --gamma_scale 10000",
)
LEARNING_RATES = (0.5, 2, 8, 32)
"""Centred by a look at five worlds of the tuning, where bags of 10 at a rate of 8 and a scale of 1000 did well."""


def ours(policy: Any, **settings: Any) -> Make:
    """Return a maker of one of our policies, which is given the actions only."""
    return lambda problem: policy(problem.actions, seed=problem.seed, **settings)


def glm(estimator: str, approximator: str | None = None) -> Make:
    """Return a maker of Thompson sampling on a model of bayesianbandits, with its defaults."""

    def make(problem: Problem) -> Peer:
        import bayesianbandits as bb

        settings = {} if approximator is None else {"approximator": getattr(bb, approximator)()}
        model = getattr(bb, estimator)(link="logit", random_state=whole(problem.seed), **settings)
        rows = np.insert(problem.actions, 0, 1.0, axis=1)
        return Peer(BayesianBanditsModel(rows, model), problem.actions)

    return make


def vowpal_wabbit(options: str, problem: Problem) -> Peer:
    return Peer(VowpalWabbit(problem.actions, whole(problem.seed), options), problem.actions)


PLAYERS: dict[str, Make] = {
    OURS: ours(sb.SparseIDS, rewards=sb.Bernoulli()),
    "SparseTS, clicks": ours(sb.SparseTS, rewards=sb.Bernoulli()),
    "SparseIDS, Gaussian": ours(sb.SparseIDS),
    LAPLACE: ours(sb.LinTS, rewards=sb.Bernoulli()),
    "bayesianbandits GLM, Laplace": glm("BayesianGLM", "LaplaceApproximator"),
    "bayesianbandits GLM, R-VGA": glm("BayesianGLM", "RVGAApproximator"),
    "bayesianbandits GLM, empirical Bayes": glm("EmpiricalBayesGLM"),
}
GRID: dict[str, Make] = {
    options: partial(vowpal_wabbit, options)
    for options in (
        " ".join(filter(None, (exploration, f"--learning_rate {rate}", loss)))
        for exploration, rate, loss in product(EXPLORATIONS, LEARNING_RATES, ("", LOGISTIC))
    )
}


def setting(base_rate: float, of_gaussian: float) -> Setting:
    """Return the setting of a base rate, with the largest ratio to our own Gaussian default that is wanted."""
    rivals = (LAPLACE, "bayesianbandits GLM, Laplace", "bayesianbandits GLM, R-VGA", TUNED)
    return Setting(
        f"Base rate {base_rate:.0%}",
        sb.environments.LogisticActions(dimension=40, sparsity=4, n_actions=200, base_rate=base_rate, signal=1.0),
        rounds=2000,
        players=PLAYERS,
        goals={**dict.fromkeys(rivals, 0.6), "SparseIDS, Gaussian": of_gaussian},
        tuned={TUNED: GRID},
        seed=SEED,
        tuning_seed=TUNING_SEED,
    )


SETTINGS = {"3%": setting(0.03, 0.75), "10%": setting(0.1, 1.0)}


class Looked:
    """A policy whose predictions are compared with the truth after some rewards.

    Parameters
    ----------
    policy : Policy
        The policy.
    world : Instance
        The world, which the policy does not see.
    after : int
        Number of rewards.
    """

    def __init__(self, policy: sb.Policy, world: sb.environments.Instance, after: int) -> None:
        self._policy, self._world, self._left = policy, world, after
        self.found: dict[str, Any] = {}

    def ask(self) -> sb.Decision:
        """Ask the policy."""
        return self._policy.ask()

    def tell(self, decision: sb.Decision, reward: float) -> None:
        """Tell the policy, and look."""
        self._policy.tell(decision, reward)
        self._left -= 1
        if self._left == 0:
            self.found = click_calibration.look(self._policy, self._world)


def play(name: str, player: str, trial: int, rounds: int | None = None) -> dict[str, Any]:
    """Play one game; ``rounds`` is for tests, and by default what the setting says."""
    one, looked = SETTINGS[name], []
    make, seed, kept = paired.part(STORED, name, one, player)

    def looked_at(problem: Problem) -> Looked:
        world, _ = paired.world_of(one, seed, trial)
        looked.append(Looked(make(problem), world, min(LOOK, problem.horizon)))
        return looked[0]

    found = paired.game(looked_at if player in LOOKED_AT else make, one, seed, trial, rounds)
    seen = {"calibration": looked[0].found} if looked else {}
    return {"setting": name, "player": player, "trial": trial, **kept, **found, **seen}


def calibration(lines: paired.Lines) -> str:
    """Return the tables of predicted probabilities, by base rate."""
    blocks = []
    for name, one in SETTINGS.items():
        looks: dict[str, dict[int, Any]] = {player: {} for player in LOOKED_AT}
        for line in lines:
            if line["setting"] == name and "calibration" in line and line["trial"] < paired.TRIALS:
                looks[line["player"]][line["trial"]] = line["calibration"]
        shown = {player: [found[t] for t in sorted(found)] for player, found in looks.items() if len(found) > 1}
        blocks.append(click_calibration.tables(shown, one.title) if shown else f"{one.title}: {paired.EMPTY}")
    return "\n\n".join(blocks)


def tables(lines: paired.Lines) -> str:
    """Return the tables of regret, by base rate."""
    return "\n\n".join(paired.table(lines, name, one) for name, one in SETTINGS.items())


def write(lines: paired.Lines) -> None:
    """Put the tables into the page."""
    for command, text in ((COMMAND, tables(lines)), (CALIBRATION, calibration(lines))):
        print(text, end="\n\n")
        games.write_tables(PAGE, command, text)


if __name__ == "__main__":
    paired.run(COMMAND, STORED, SETTINGS, play, write)
