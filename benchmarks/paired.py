"""Paired trials of policies and of peers by ``sb.simulate``: how they are played, tuned, kept and compared.

Players of a trial have the same world and the same noise. The first player of a setting is the one that is compared
with all others. Players may be tuned: every entry of their grid is played on worlds of their own, with other seeds, and
the entry with the least mean regret takes part in the comparison. Games are kept as lines of JSON (``games.py``).
"""

import argparse
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.random import SeedSequence

import sparsebandits as sb
from benchmarks import games
from benchmarks.peers import Competitor
from benchmarks.rules import Estimate, ratio
from sparsebandits.arguments import FloatArray
from sparsebandits.experiments.simulate import Problem
from sparsebandits.randomness import INSTANCE_STREAM, child
from sparsebandits.results.statistics import mean_interval

TRIALS, TUNING_TRIALS = 100, 10
"""Trials of each player, and of each entry of a grid."""

EVERY = 500
"""Cumulative regret is kept every so many rounds."""

MOST_DIGITS = 6
"""Largest number of digits of a ratio."""

KEYS = ("setting", "player", "trial")
EMPTY = "Not played yet."
EXPECTED_WARNINGS = ("all rewards so far are 0 or 1", "Posterior approximation did not converge")
"""Of a Gaussian model that is given clicks on purpose, and of bayesianbandits with its default number of steps."""

Make: TypeAlias = Callable[[Problem], Any]
"""Makes a policy, or a :class:`Peer`, from what it may know."""

Lines: TypeAlias = Iterable[Mapping[str, Any]]


class Asked(NamedTuple):
    """The decision of a peer, as ``sb.simulate`` reads it."""

    action: int
    features: FloatArray
    probability: float = np.nan
    diagnostics: Mapping[str, float] = {}  # never written to


class Peer:
    """A competitor of another package, as ``sb.simulate`` expects a policy.

    Parameters
    ----------
    competitor : Competitor
        Asks for rows and is told rewards.
    actions : array of shape (K, d)
        The actions.
    """

    def __init__(self, competitor: Competitor, actions: FloatArray) -> None:
        self._competitor, self._actions = competitor, actions

    def ask(self, offered: FloatArray | None = None) -> Asked:
        """Return the row that the competitor plays, of other actions if some are offered."""
        if offered is not None:
            self._actions = offered
            self._competitor.offer(offered)  # type: ignore[attr-defined]  # those that take other actions have it
        action = self._competitor.ask()
        return Asked(action, self._actions[action])

    def tell(self, decision: Asked, reward: float) -> None:
        """Pass the reward on."""
        self._competitor.tell(decision.action, reward)


def whole(seed: SeedSequence) -> int:
    """Return a seed as a number that fits into 31 bits, which every package takes."""
    return int(seed.generate_state(1)[0]) >> 1


@dataclass(frozen=True)
class Setting:
    """A family of worlds, and who plays in it.

    Attributes
    ----------
    title : str
        What its table is called.
    family : environment
        Where worlds are sampled from.
    rounds : int
        Number of rounds.
    players : mapping of str to callable
        Each makes a policy from a :class:`Problem`. The first is compared with all others.
    goals : mapping of str to float
        Largest ratio of the first player's regret to that of the player named.
    tuned : mapping of str to mapping of str to callable
        Further players, who have the best entry of a grid; entries of the same name are the same.
    seed, tuning_seed : int
        Seeds of the comparison and of the games of the grids.
    """

    title: str
    family: Any
    rounds: int
    players: Mapping[str, Make]
    goals: Mapping[str, float] = field(default_factory=dict)
    tuned: Mapping[str, Mapping[str, Make]] = field(default_factory=dict)
    seed: int = 0
    tuning_seed: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """All who take part in the comparison."""
        return (*self.players, *self.tuned)

    @property
    def entries(self) -> dict[str, Make]:
        """The entries of all grids."""
        return {name: make for grid in self.tuned.values() for name, make in grid.items()}


def best(lines: Lines, name: str, setting: Setting, player: str) -> str:
    """Return the entry of a player's grid with the least mean regret.

    Parameters
    ----------
    lines : iterable of mapping
        Games.
    name : str
        Name of the setting in them.
    setting : Setting
        The setting.
    player : str
        A tuned player.

    Returns
    -------
    str

    Raises
    ------
    RuntimeError
        If some of its games have not been played.
    """
    found: dict[str, dict[int, float]] = {entry: {} for entry in setting.tuned[player]}
    for line in lines:
        if line["setting"] == name and line["player"] in found and line["trial"] < TUNING_TRIALS:
            found[line["player"]][line["trial"]] = line["regret"][-1]
    if any(len(trials) < TUNING_TRIALS for trials in found.values()):
        raise RuntimeError(f"{player} plays when all games of its grid have been played, in setting {name!r}")
    return min(found, key=lambda entry: float(np.mean(list(found[entry].values()))))


def part(stored: Path, name: str, setting: Setting, player: str) -> tuple[Make, int, dict[str, str]]:
    """Return how a player is made, the seed of its games, and what is kept of it.

    Parameters
    ----------
    stored : path
        File with the games of the grids.
    name : str
        Name of the setting in them.
    setting : Setting
        The setting.
    player : str
        A player, or an entry of a grid.

    Returns
    -------
    make, seed, kept : callable, int and dict
        What is kept of a tuned player is the entry that it plays.
    """
    if player in setting.entries:
        return setting.entries[player], setting.tuning_seed, {}
    if player in setting.tuned:
        entry = best(games.stored(stored), name, setting, player)
        return setting.entries[entry], setting.seed, {"entry": entry}
    return setting.players[player], setting.seed, {}


def world_of(setting: Setting, seed: int, trial: int) -> tuple[Any, SeedSequence]:
    """Return the world of a trial and the seed of all else in it."""
    root = SeedSequence([seed, trial])
    return setting.family.sample(child(root, INSTANCE_STREAM)), root


def game(make: Make, setting: Setting, seed: int, trial: int, rounds: int | None = None) -> dict[str, Any]:
    """Play one game.

    Parameters
    ----------
    make : callable
        Makes the player.
    setting : Setting
        The setting.
    seed, trial : int
        What world and noise depend on.
    rounds : int, optional
        Number of rounds, for tests; by default what the setting says.

    Returns
    -------
    dict
        Cumulative regret every 500 rounds, and milliseconds per decision. On a busy machine, these say little.
    """
    world, root = world_of(setting, seed, trial)
    count = setting.rounds if rounds is None else rounds
    with warnings.catch_warnings():
        for message in EXPECTED_WARNINGS:
            warnings.filterwarnings("ignore", message=message)
        trace = sb.simulate(make, world, count, root)
    marks = [*range(EVERY, count, EVERY), count]
    return {
        "regret": [round(float(trace.regret[mark - 1]), 3) for mark in marks],
        "ms": round(1000 * float(trace.seconds.mean()), 4),
    }


def regrets(lines: Lines, setting: str, *players: str) -> FloatArray:
    """Return final regrets of the same trials, up to the first that one of the players has not played.

    Parameters
    ----------
    lines : iterable of mapping
        Games.
    setting : str
        Name of a setting.
    *players : str
        Names of players.

    Returns
    -------
    array of shape (players, trials)
    """
    found: dict[str, dict[int, float]] = {player: {} for player in players}
    for line in lines:
        if line["setting"] == setting and line["player"] in found and line["trial"] < TRIALS:
            found[line["player"]][line["trial"]] = line["regret"][-1]
    common = set.intersection(*(set(trials) for trials in found.values()))
    trials = range(next(t for t in range(TRIALS + 1) if t not in common))
    return np.array([[found[player][t] for t in trials] for player in players])


def verdict(found: Estimate, wanted: float) -> str:
    """Return whether a ratio is at most what is wanted.

    Examples
    --------
    >>> verdict(Estimate(0.5, 0.05), 0.6), verdict(Estimate(0.58, 0.05), 0.6), verdict(Estimate(0.7, 0.05), 0.6)
    ('reached', 'reached, not significantly', 'missed')
    """
    if found.value > wanted:
        return "missed"
    return "reached" if found.value + found.reach <= wanted else "reached, not significantly"


def written(found: Estimate, wanted: float) -> str:
    """Return a ratio and its interval with as many digits as the verdict needs, two or more.

    Examples
    --------
    >>> written(Estimate(0.7508, 0.14), 0.75), written(Estimate(0.7508, 0.14), 0.6)
    ('0.751 (0.611 to 0.891)', '0.75 (0.61 to 0.89)')
    """
    ends = found.value, found.value + found.reach
    digits = next(
        (n for n in range(2, MOST_DIGITS) if all((round(end, n) > wanted) == (end > wanted) for end in ends)),
        MOST_DIGITS,
    )
    low, high = max(found.value - found.reach, 0.0), ends[1]
    return f"{found.value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def table(lines: Lines, name: str, setting: Setting) -> str:
    """Return the table of a setting.

    Parameters
    ----------
    lines : iterable of mapping
        Games.
    name : str
        Name of the setting in them.
    setting : Setting
        The setting.

    Returns
    -------
    str
        Rows of players with at least two trials; a note if there are none.
    """
    kept = [line for line in lines if line["setting"] == name]
    first = setting.names[0]
    rows = []
    for player in setting.names:
        mine, other = regrets(kept, name, first, player)
        if len(other) < 2:
            continue
        low, high = mean_interval(other)
        cells = [player, f"{other.mean():.1f} ({low:.1f} to {high:.1f})", "", "", f"{len(other)}"]
        if player != first:
            found = ratio(mine, other)
            cells[2] = str(found)
            if player in setting.goals:
                cells[2] = written(found, setting.goals[player])
                cells[3] = f"at most {setting.goals[player]:g}: {verdict(found, setting.goals[player])}"
        milliseconds = [line["ms"] for line in kept if line["player"] == player and line["trial"] < len(other)]
        rows.append(f"| {' | '.join(cells)} | {np.mean(milliseconds):.2g} |")
    if not rows:
        return f"{setting.title}: {EMPTY}"
    head = f"| {setting.title} | regret | ratio of {first} to it | target | trials | ms per decision |"
    who = [player for player in setting.tuned if any(line["player"] == player for line in kept)]
    notes = [
        f"{one}: `{best(kept, name, setting, one)}`, the best of {len(setting.tuned[one])} entries." for one in who
    ]
    return "\n\n".join(["\n".join([head, "|---|---|---|---|---|---|", *rows]), *notes])


def jobs(settings: Mapping[str, Setting], names: Sequence[str], words: Sequence[str] | None, trials: int) -> list[Any]:
    """Return what is to be played, trial by trial.

    Parameters
    ----------
    settings : mapping of str to Setting
        All settings.
    names : sequence of str
        Those that are wanted.
    words : sequence of str or None
        Players are wanted whose names contain one of these; None for all.
    trials : int
        Largest number of trials.

    Returns
    -------
    list of tuple
        Setting, player and trial.
    """
    return [
        (name, player, trial)
        for trial in range(min(trials, TRIALS))
        for name in names
        for player in settings[name].names
        if words is None or any(word in player for word in words)
    ]


def tuning_jobs(settings: Mapping[str, Setting], wanted: Sequence[tuple[str, str, int]]) -> list[Any]:
    """Return the games of the grids of those tuned players who are wanted, trial by trial."""
    tuned = dict.fromkeys((name, player) for name, player, _ in wanted if player in settings[name].tuned)
    entries = dict.fromkeys((name, entry) for name, player in tuned for entry in settings[name].tuned[player])
    return [(name, entry, trial) for trial in range(TUNING_TRIALS) for name, entry in entries]


def run(
    command: str,
    stored: Path,
    settings: Mapping[str, Setting],
    play: Callable[..., dict[str, Any]],
    write: Callable[[Lines], None],
) -> None:
    """Play what is missing, grids first, and write the tables.

    Parameters
    ----------
    command : str
        The command.
    stored : path
        File that keeps the games.
    settings : mapping of str to Setting
        The settings.
    play : callable
        Plays one game, given a setting, a player or an entry of a grid, and a trial.
    write : callable
        Writes the tables of all games.
    """
    parser = argparse.ArgumentParser(prog=command)
    parser.add_argument("--trials", type=int, default=TRIALS, help=f"at most so many of each player, up to {TRIALS}")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--settings", nargs="+", choices=tuple(settings), default=list(settings))
    parser.add_argument("--players", nargs="+", help="those whose names contain one of these words")
    parser.add_argument("--report", action="store_true", help="play nothing")
    told = parser.parse_args()
    if not told.report:
        wanted = jobs(settings, told.settings, told.players, told.trials)
        games.played(stored, play, tuning_jobs(settings, wanted), KEYS, told.workers)
        games.played(stored, play, wanted, KEYS, told.workers)
    write(games.stored(stored))
