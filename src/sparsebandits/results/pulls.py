"""How often a group of actions was played: counts a trial, from the counts of all actions."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, FloatArray, shown


def group_pulls(pulls: NDArray[Any], actions: object) -> FloatArray:
    """Return how often actions of a group were played, one number a trial.

    Parameters
    ----------
    pulls : (trials, K), how often each action was played
    actions : the group: (K,) booleans, such as ``HardInstance.informative``; (trials, K) booleans, where the group
        differs from trial to trial; or row numbers

    >>> group_pulls(np.array([[3, 1, 0], [2, 0, 2]]), [0, 2])
    array([3., 4.])
    >>> group_pulls(np.array([[3, 1, 0], [2, 0, 2]]), np.array([False, True, True]))
    array([1., 2.])
    """
    counts: FloatArray = np.where(group_mask(actions, *pulls.shape), pulls, 0).sum(axis=1, dtype=np.float64)
    return counts


def group_mask(actions: object, trials: int, n_actions: int) -> NDArray[np.bool_]:
    """Return the group as booleans, (K,) or (trials, K)."""
    try:
        group = np.asarray(cast(Any, actions))
    except ValueError:
        group = np.empty(0, dtype=object)
    if group.dtype == np.bool_:
        if group.shape[-1:] != (n_actions,) or group.ndim > 2 or (group.ndim == 2 and len(group) < trials):
            raise ArgumentValueError(
                "actions", f"({n_actions},) or ({trials}, {n_actions}) booleans", f"shape {group.shape}"
            )
        return group if group.ndim == 1 else group[:trials]
    if group.dtype.kind not in "iu" or group.ndim != 1 or not len(group):
        raise ArgumentTypeError("actions", "booleans or row numbers of actions", shown(actions))
    if group.min() < 0 or group.max() >= n_actions:
        raise ArgumentValueError("actions", f"row numbers from 0 to {n_actions - 1}", shown(actions))
    mask = np.zeros(n_actions, dtype=np.bool_)
    mask[group] = True
    return mask
