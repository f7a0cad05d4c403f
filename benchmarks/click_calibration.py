"""How well a policy knows click probabilities: predicted against true ones, and how often intervals hold the truth."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.results.statistics import mean_interval, statistic_interval
from sparsebandits.rules.linked import beliefs_about

EDGES = (0.0, 0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.6, 1.0)
"""Ends of the bins of predicted probabilities."""

LEVEL = 0.95


class MeanRewards(NamedTuple):
    """Mean reward of each action under each draw of a posterior, shape ``(n, K)``, and the weights of the draws."""

    values: FloatArray
    weights: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Expected reward of each action."""
        return self.weights @ self.values


def mean_rewards(policy: sb.Policy, actions: FloatArray) -> MeanRewards:
    """Return what a policy on clicks believes of the mean rewards of actions."""
    beliefs = beliefs_about(policy.posterior, actions - policy.posterior.origin)
    return MeanRewards(beliefs.predictions.T, beliefs.draws.weights)


def interval(values: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the 95% interval of each column of weighted draws.

    The i-th of n draws in order is the quantile i/(n + 1), so that the interval of few draws is not too short.

    Parameters
    ----------
    values : array of shape (n, K)
        Draws.
    weights : array of shape (n,)
        Their weights, which sum to one.

    Returns
    -------
    low, high : array of shape (K,)

    Examples
    --------
    >>> interval(np.arange(1.0, 40.0)[:, np.newaxis], np.full(39, 1 / 39))
    (array([1.]), array([39.]))
    """
    order = np.argsort(values, axis=0)
    at = np.cumsum(weights[order], axis=0) * len(weights) / (len(weights) + 1)
    columns = zip(at.T, np.take_along_axis(values, order, axis=0).T, strict=True)
    ends = np.array([np.interp([(1 - LEVEL) / 2, (1 + LEVEL) / 2], *column) for column in columns])
    return ends[:, 0], ends[:, 1]


def look(policy: sb.Policy, world: sb.environments.Instance) -> dict[str, Any]:
    """Return what a policy predicts of all actions, beside the truth.

    Parameters
    ----------
    policy : Policy
        A policy on clicks.
    world : Instance
        The world.

    Returns
    -------
    dict
        Of each bin, the number of actions and the sums of predicted and of true probabilities; the mean squared error;
        the share of actions whose interval holds the truth.
    """
    predicted, true = policy.predict().mean, world.means
    low, high = interval(*mean_rewards(policy, world.actions))
    place = np.clip(np.searchsorted(EDGES, predicted, side="right") - 1, 0, len(EDGES) - 2)
    sums = [np.bincount(place, values, len(EDGES) - 1) for values in (np.ones_like(true), predicted, true)]
    return {
        "bins": np.transpose(sums).round(5).tolist(),
        "squared error": float(np.mean((predicted - true) ** 2)),
        "covered": float(np.mean((low <= true) & (true <= high))),
    }


def tables(looks: Mapping[str, Sequence[Mapping[str, Any]]], title: str) -> str:
    """Return the reliability table of some players, and a table of errors and coverage.

    Parameters
    ----------
    looks : mapping of str to sequence of mapping
        What :func:`look` returned, by player, one per trial.
    title : str
        What the tables are called.

    Returns
    -------
    str
    """
    bins = {player: np.sum([one["bins"] for one in found], axis=0) for player, found in looks.items()}
    head = [title, *(f"{player}: actions | predicted | true" for player in bins)]
    rows = [f"| {' | '.join(head)} |", "|---" * (1 + 3 * len(bins)) + "|"]
    for place, (low, high) in enumerate(pairwise(EDGES)):
        cells = [f"{low:.0%} to {high:.0%}"]
        for found in bins.values():
            count, predicted, true = found[place]
            means = [f"{100 * one / count:.1f}%" if count else "" for one in (predicted, true)]
            cells += [f"{count / found[:, 0].sum():.1%}", *means]
        rows.append(f"| {' | '.join(cells)} |")
    rows += ["", f"| {title} | root mean square error | intervals that hold the truth | trials |", "|---|---|---|---|"]
    for player, looked in looks.items():
        squares, covered = (np.array([one[key] for one in looked]) for key in ("squared error", "covered"))
        error = statistic_interval(squares[:, np.newaxis], root_mean)
        share = mean_interval(covered)
        rows.append(
            f"| {player} | {root_mean(squares[:, np.newaxis]):.4f} ({error[0]:.4f} to {error[1]:.4f}) "
            f"| {covered.mean():.1%} ({share[0]:.1%} to {share[1]:.1%}) | {len(looked)} |"
        )
    return "\n".join(rows)


def root_mean(squares: FloatArray) -> FloatArray:
    """Return the root of the mean over trials of an array of shape (..., trials, 1)."""
    return np.asarray(np.sqrt(squares[..., 0].mean(axis=-1)))
