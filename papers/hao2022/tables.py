"""Tables and verdicts from the games that are kept."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from benchmarks.games import ratio

from papers.hao2022.games import CONDITIONAL, CONTEXTUAL, INFORMED, PLAYERS, SETTINGS, TRIALS
from sparsebandits.arguments import FloatArray
from sparsebandits.results import mean_interval

Lines = Iterable[Mapping[str, Any]]

RESAMPLES = 1000
"""Number of resamples of the trials, for the interval of a growth exponent."""


def regrets(lines: Lines, name: str, *players: str) -> FloatArray:
    """Return regret at the marks, of trials that all of these players have played.

    Parameters
    ----------
    lines : iterable of mapping
        Games.
    name : str
        Name of the setting.
    *players : str
        The players.

    Returns
    -------
    array of shape (players, trials, marks)
    """
    found: dict[str, dict[int, list[float]]] = {player: {} for player in players}
    for line in lines:
        if line["setting"] == name and line["player"] in found and line["trial"] < TRIALS:
            found[line["player"]][line["trial"]] = line["regret"]
    common = set.intersection(*(set(trials) for trials in found.values()))
    trials = range(next(t for t in range(TRIALS + 1) if t not in common))
    return np.array([[found[player][t] for t in trials] for player in players])


def exponent(regret: FloatArray, rounds: FloatArray) -> tuple[float, float, float]:
    """Return how regret grows with the rounds, the slope of log regret over log n from the middle on, and its interval.

    Parameters
    ----------
    regret : array of shape (trials, marks)
        Regret at some rounds.
    rounds : array of shape (marks,)
        These rounds.

    Returns
    -------
    exponent, low, high : float
        With the 95% interval of resampled trials.

    Examples
    --------
    >>> rounds = np.array([100.0, 200.0, 300.0, 400.0])
    >>> regret = np.outer(np.ones(5), np.sqrt(rounds))
    >>> [round(one, 6) for one in exponent(regret, rounds)]
    [0.5, 0.5, 0.5]
    """
    half = len(rounds) // 2
    rng = np.random.default_rng(0)
    samples = [np.arange(len(regret)), *rng.integers(len(regret), size=(RESAMPLES, len(regret)))]
    growth = np.log(rounds[half - 1 :])
    slopes = []
    for sample in samples:
        means = np.maximum(regret[sample].mean(axis=0)[half - 1 :], 1e-12)
        slopes.append(float(np.polyfit(growth, np.log(means), 1)[0]))
    low, high = np.quantile(slopes[1:], [0.025, 0.975])
    return slopes[0], float(low), float(high)


def table(lines: Lines, name: str) -> str:
    """Return the table of one setting; a note if it has not been played."""
    kept = [line for line in lines if line["setting"] == name]
    rows = []
    for player in PLAYERS:
        if not any(line["player"] == player for line in kept):
            continue
        base = CONDITIONAL + INFORMED if player.endswith(INFORMED) else CONDITIONAL
        (mine,) = regrets(kept, name, player)
        if len(mine) < 2:
            continue
        low, high = mean_interval(mine[:, -1])
        marks = np.array(kept[0]["rounds"], dtype=np.float64)
        slope, least, most = exponent(mine, marks)
        against = ""
        if player != base:
            both = regrets(kept, name, player, base)
            if both.shape[1] > 1:
                value, error = ratio(both[0, :, -1], both[1, :, -1])
                against = f"{value:.2f} ({value - 1.96 * error:.2f} to {value + 1.96 * error:.2f})"
        cells = (
            player,
            f"{mine[:, -1].mean():.1f} ({low:.1f} to {high:.1f})",
            against,
            "{:.2f} ({:.2f} to {:.2f})".format(*(round(one, 2) + 0.0 for one in (slope, least, most))),  # no −0.00
            f"{len(mine)}",
        )
        rows.append(f"| {' | '.join(cells)} |")
    title = SETTINGS[name].title
    if not rows:
        return f"{title}: Not played yet."
    head = f"| {title}, n = {SETTINGS[name].rounds} | regret | ratio to conditional IDS | growth | trials |"
    return "\n".join([head, "|---|---|---|---|---|", *rows])


def verdict(value: float, error: float, wanted: float) -> str:
    """Return whether a ratio is at most what is wanted.

    Examples
    --------
    >>> verdict(0.4, 0.02, 0.5), verdict(0.6, 0.02, 0.5), verdict(0.49, 0.02, 0.5)
    ('holds', 'FAILS', 'open')
    """
    if value + 1.96 * error <= wanted:
        return "holds"
    return "FAILS" if value - 1.96 * error > wanted else "open"


def verdicts(lines: Lines) -> str:
    """Return the table of statements about contextual and conditional IDS."""
    kept, rows = list(lines), []
    for name in SETTINGS:
        wanted = 0.5 if name.startswith("theorem 6.3") else 1.0
        suffix = INFORMED if name.startswith("example 1") else ""
        both = regrets(kept, name, CONTEXTUAL + suffix, CONDITIONAL + suffix)
        if both.shape[1] < 2:
            continue
        value, error = ratio(both[0, :, -1], both[1, :, -1])
        found = f"{value:.2f} ({value - 1.96 * error:.2f} to {value + 1.96 * error:.2f})"
        said = f"{SETTINGS[name].title}: at most {wanted:g} of conditional IDS"
        rows.append(f"| {said} | {found} | {verdict(value, error, wanted)} |")
    return "\n".join(["| contextual IDS | ratio | verdict |", "|---|---|---|", *rows]) if rows else "Not played yet."


def tables(lines: Lines) -> str:
    """Return all tables, verdicts first."""
    kept = list(lines)
    return "\n\n".join([verdicts(kept), *(table(kept, name) for name in SETTINGS)])
