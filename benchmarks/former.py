"""SparseIDS now against SparseIDS of version 0.1, side by side: ``make bench SECTIONS=former`` (two minutes).

Version 0.1, before its speed was worked on, is installed in an environment of its own (``make .former/installed``,
which needs the history of the repository). A process of each version plays games on request (``former_player.py``), one
game at a time, in turns, every other repeat in reverse, so both have the same load. The problem is the one of
``decisions.py`` with K = 200, with the same instance and the same noise; each repeat has another seed of the policies.
What counts is the processor time in ``ask`` and ``tell``, and ratios are taken within a repeat.

Version 0.1 has one rule, the paper's, and 10,000 draws by default.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import sparsebandits as sb
from benchmarks.decisions import DIMENSION, INSTANCE_SEED, NOISE_SEED, ROUNDS, SPARSITY
from benchmarks.section import Figures, around, run, short, target, targets_table
from sparsebandits.tables import Cell, Table

ACTIONS = 200
PLAYER = Path(__file__).parent / "former_player.py"
PYTHON = Path(__file__).parents[1] / ".former" / "bin" / "python"
FORMER_VERSION = "0.1.0"
REPEATS = 5
WARM_UP = 50
"""Rounds of the games that compile and load kernels; particles move in them."""
MOST = 10_000


class Game(NamedTuple):
    """Who plays: the version, whether hyperparameters are known, draws and rule (None for the default)."""

    name: str
    former: bool
    known: bool
    draws: int | None = None
    rule: str | None = None


FORMER_KNOWN = Game("version 0.1, known hyperparameters, 10,000 draws", True, True, MOST)
FORMER_DEFAULT = Game("version 0.1, default prior, 10,000 draws", True, False, MOST)
KNOWN = Game("now, known hyperparameters, default rule and draws", False, True)
KNOWN_MOST = Game("now, known hyperparameters, default rule, 10,000 draws", False, True, MOST)
KNOWN_PAPERS = Game(
    "now, known hyperparameters, the paper's rule, 10,000 draws", False, True, MOST, "information-ratio"
)
DEFAULT = Game("now, default prior, rule and draws", False, False)
GAMES = (FORMER_KNOWN, KNOWN, KNOWN_MOST, KNOWN_PAPERS, DEFAULT, FORMER_DEFAULT)
GOALS = (
    ("known hyperparameters, default draws / 10,000", KNOWN, FORMER_KNOWN, 4.0),
    ("known hyperparameters, 10,000 draws / 10,000", KNOWN_MOST, FORMER_KNOWN, 2.0),
    ("the same with the paper's rule", KNOWN_PAPERS, FORMER_KNOWN, 2.0),
    ("default prior, default draws / 10,000", DEFAULT, FORMER_DEFAULT, 4.0),
)
"""Name, who plays now, the former version that it is compared with, and how many times as fast it should be."""


class Player:
    """A process that plays games under one version of the package; use it in a ``with``."""

    def __init__(self, python: Path) -> None:
        environment = dict(os.environ)
        if python != Path(sys.executable):
            environment.pop("PYTHONPATH", None)  # it may lead to the source of today
        self._process = subprocess.Popen(
            [python, "-P", PLAYER],  # -P: modules of this folder have names that others have too
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.versions = self._answer()

    def __enter__(self) -> "Player":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # closes its input, and it ends

    def play(self, request: Figures) -> Figures:
        """Return the outcome of a game."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Figures:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"expected an answer of {PLAYER.name}, got its end; its message is above")
        answer: Figures = json.loads(line)
        return answer


def measure(quick: bool, python: Path = PYTHON, expected: str = FORMER_VERSION) -> Figures:
    """Return the seconds of all games; ``python`` has the former version."""
    rounds, repeats, warm_up = (10, 1, 10) if quick else (ROUNDS[ACTIONS], REPEATS, WARM_UP)
    instance = sb.environments.GaussianActions(DIMENSION, SPARSITY, ACTIONS).sample(INSTANCE_SEED)
    seconds: dict[str, list[float]] = {game.name: [] for game in GAMES}
    draws: dict[str, int] = {}
    with ExitStack() as stack:
        path = Path(stack.enter_context(TemporaryDirectory())) / "instance.npz"
        np.savez(path, actions=instance.actions, means=instance.means)
        now = stack.enter_context(Player(Path(sys.executable)))
        former = stack.enter_context(Player(python))
        if former.versions["sparsebandits"] != expected:
            raise RuntimeError(f"expected version {expected} in .former, got {former.versions['sparsebandits']}")
        for repeat in range(-1, repeats):  # −1 is the warm-up
            print(f"repeat {repeat + 1} of {repeats}" if repeat >= 0 else "warm-up", file=sys.stderr)
            for game in GAMES if repeat % 2 == 0 else reversed(GAMES):
                request: dict[str, Any] = {
                    "instance": str(path),
                    "noise_variance": instance.noise_variance,
                    "noise_seed": NOISE_SEED,
                    "sparsity": SPARSITY if game.known else None,
                    "n_draws": game.draws,
                    "rule": game.rule,
                    "seed": max(repeat, 0),
                    "rounds": rounds if repeat >= 0 else warm_up,
                }
                outcome = (former if game.former else now).play(request)
                draws[game.name] = outcome["draws"]
                if repeat >= 0:
                    seconds[game.name].append(outcome["seconds"])
        versions = former.versions
    return {
        "rounds": rounds,
        "former": versions,
        "games": [{"name": name, "draws": draws[name], "seconds": found} for name, found in seconds.items()],
        "targets": targets(seconds),
    }


def targets(seconds: dict[str, list[float]]) -> list[Figures]:
    """Return how many times as fast as the former version each is, repeat by repeat."""
    return [
        target(name, [b / a for a, b in zip(seconds[mine.name], seconds[other.name], strict=True)], wanted)
        for name, mine, other, wanted in GOALS
    ]


def page(figures: Figures) -> str:
    """Return the text of this section."""
    rounds, versions = figures["rounds"], ", ".join(f"{name} {number}" for name, number in figures["former"].items())

    def ms(found: Sequence[float]) -> tuple[Cell, ...]:
        return tuple(short(1000 * value / rounds) for value in (median(found), min(found), max(found)))

    rows: list[tuple[Cell, ...]] = [(game["name"], game["draws"], *ms(game["seconds"])) for game in figures["games"]]
    return "\n".join(
        (
            "SparseIDS now and in version 0.1: milliseconds of processor time per round",
            f"K = {ACTIONS}, d = {DIMENSION}, {rounds} rounds, {len(figures['games'][0]['seconds'])} repeats in turns",
            around(figures),
            f"Version 0.1 with {versions}",
            "",
            str(Table(("SparseIDS", "draws", "median", "min", "max"), rows)),
            "",
            "Times as fast as version 0.1",
            "",
            targets_table(figures["targets"]),
        )
    )


if __name__ == "__main__":
    if not PYTHON.exists():
        sys.exit("python -m benchmarks.former needs version 0.1 in an environment of its own: make .former/installed")
    run("former", measure, page)
