"""The expected reward as a function of one column of the table, with its 95% band."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebandits.advice.expansion import Expansion
from sparsebandits.arguments import ArgumentValueError, FloatArray, check_matrix, check_vector, shown
from sparsebandits.model.families import Linked
from sparsebandits.posteriors.draws import moments
from sparsebandits.posteriors.engine import Engine
from sparsebandits.randomness import stream

POINTS = 50
"""Number of points of a curve, if the caller does not say where they are."""


@dataclass(frozen=True, eq=False)
class EffectCurve:
    """Expected reward along one column of the table.

    Attributes
    ----------
    column : str
        The column.
    features : tuple of str
        Names of the features that change along the curve: one for a number, one per indicator for a category.
    grid : array of shape (G, c)
        Their values at each point.
    mean : array of shape (G,)
        Posterior mean of the expected reward.
    low, high : array of shape (G,)
        Ends of its 95% interval, point by point.
    """

    column: str
    features: tuple[str, ...]
    grid: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray


def effect_curve(posterior: Engine, expansion: Expansion, column: str, grid: object = None) -> EffectCurve:
    """Return the expected reward as a function of one column, the other features at their means over the table.

    Parameters
    ----------
    posterior : Engine
        Posterior of the coefficients of the expansion's columns.
    expansion : Expansion
        What the columns are made of.
    column : str
        A column of the table, one of ``expansion.sources``.
    grid : array of shape (G,) or (G, c), optional
        Values of the column's continuous feature if it has one, otherwise of its c indicators. By default 50 values
        from the smallest to the largest, or the rows of indicators that the table has, in the order in which they
        first come: one per category.

    Returns
    -------
    EffectCurve
        For clicks the reward is a probability, for counts a rate. Before the first reward the level is zero.

    Raises
    ------
    ArgumentValueError
        If there is no such column, or if the posterior is one of other columns.

    Examples
    --------
    >>> import sparsebandits as sb
    >>> from sparsebandits.advice.expansion import expand
    >>> expansion = expand([[0.0], [1.0], [2.0], [3.0]], ["dose"], how="quadratic")
    >>> posterior = sb.Enumeration(sb.SpikeSlab(0.9, 10.0), 2, rewards=sb.Gaussian(0.01, intercept=True), seed=0)
    >>> posterior.update(expansion.features, [0.0, 1.0, 1.0, 0.0])
    >>> effect_curve(posterior, expansion, "dose", [0.0, 1.5, 3.0]).mean.round(1)
    array([0. , 1.1, 0. ])
    """
    if posterior.dimension != len(expansion.names):
        expected = f"one of {len(expansion.names)} columns, as the expansion"
        raise ArgumentValueError("posterior", expected, f"{posterior.dimension}")
    moving = [j for j, source in enumerate(expansion.sources) if source == column]
    if not moving:
        raise ArgumentValueError("column", f"one of {shown(tuple(dict.fromkeys(expansion.sources)))}", shown(column))
    moving = [j for j in moving if expansion.continuous[j]] or moving
    points = _grid(expansion.base[:, moving], bool(expansion.continuous[moving[0]]), grid)
    base = np.repeat(expansion.base.mean(axis=0)[np.newaxis], len(points), axis=0)
    base[:, moving] = points
    mean, band = _rewards(posterior, expansion.rows(base))
    weights = posterior.draws().weights
    spread = moments(band.T, weights)
    names = tuple(expansion.base_names[j] for j in moving)
    return EffectCurve(column, names, points, mean @ weights, spread["2.5%"], spread["97.5%"])


def _grid(values: FloatArray, continuous: bool, grid: object) -> FloatArray:
    count = values.shape[1]
    if grid is None:
        if continuous and count == 1:
            return np.linspace(values.min(), values.max(), POINTS)[:, np.newaxis]
        _, first = np.unique(values, axis=0, return_index=True)
        return values[np.sort(first)]
    if count == 1 and np.ndim(grid) == 1:  # type: ignore[arg-type]  # of whatever it is, which is checked next
        return check_vector("grid", grid, len(grid))[:, np.newaxis]  # type: ignore[arg-type]
    return check_matrix("grid", grid, count)


def _rewards(posterior: Engine, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the expected reward of each row under each draw, ``(G, M)``, and the same with a draw of the level."""
    draws, family, level = posterior.draws(), posterior.rewards, posterior.level
    if isinstance(family, Linked):
        eta = (rows if posterior.origin is None else rows - posterior.origin) @ draws.theta.T
        found: Any = family.mean(eta if draws.intercepts is None else eta + draws.intercepts)
        return found, found
    if level is None:
        found = rows @ draws.theta.T
        return found, found
    found = level.reward + (rows - level.features) @ draws.theta.T
    if level.weight == 0.0:
        return found, found
    # Given θ, the level is normal around the mean reward, with variance σ² / W.
    variances = posterior.learnt().get("noise_variance", posterior.noise_variance)
    apart = np.sqrt(variances / level.weight) * stream(0).standard_normal(len(draws))
    return found, found + apart
