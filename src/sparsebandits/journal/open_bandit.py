"""Records as arrays, and as the columns of the Open Bandit Pipeline (Saito, Aihara, Matsutani and Narita 2021).

The columns are context, action, reward, pscore (the propensity), position and action_context. Off-policy evaluation
works on the same arrays. Only decisions that have their reward are in them; if a feedback graph hides the rewards of
some actions, there are no such arrays.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    IntArray,
    check_array,
    check_count,
    check_matrix,
    check_vector,
    columns_of,
    frozen,
    shown,
)
from sparsebandits.journal.record import Record
from sparsebandits.policies.actions import ActionSet
from sparsebandits.rules.choice import ROUNDING


@dataclass(frozen=True, eq=False)
class Columns:
    """Decisions that have their reward (rounds), one entry per round.

    Attributes
    ----------
    actions : ndarray of shape (K, d) or (n, K, d)
        Features of the actions that were offered; two-dimensional if they are the same in every round.
    action : ndarray of shape (n,)
        Rows that were played.
    reward : ndarray of shape (n,)
        Their rewards.
    pscore : ndarray of shape (n,)
        Probabilities with which they were played.
    pscore_draws : ndarray of shape (n,)
        Number of draws that each probability was estimated from; 0 where it is exact.
    """

    actions: FloatArray
    action: IntArray
    reward: FloatArray
    pscore: FloatArray
    pscore_draws: IntArray

    def __len__(self) -> int:
        return len(self.action)

    @classmethod
    def of(cls, records: Iterable[Record]) -> "Columns":
        """Return the records as arrays.

        Raises
        ------
        ValueError
            If no decision has a reward, if one showed others' rewards but not its own, or if the sets of actions
            differ in size or were not recorded.
        """
        told = [record for record in records if not record.pending]
        rounds = [record for record in told if record.reward is not None]
        if len(rounds) < len(told):  # those of certain actions: without them, estimates would be biased
            got = f"{len(told) - len(rounds)} of {len(told)} that showed rewards of others, but not their own"
            raise ArgumentValueError("log", "decisions with the reward of the action that was played", got)
        return cls(
            actions=_offered(rounds),
            action=np.array([record.action for record in rounds], dtype=np.intp),
            reward=np.array([record.reward for record in rounds], dtype=np.float64),
            pscore=np.array([record.probability for record in rounds]),
            pscore_draws=np.array([record.probability_draws or 0 for record in rounds], dtype=np.intp),
        )

    def to_open_bandit(self) -> dict[str, Any]:
        """Return a dict of arrays, as :meth:`sparsebandits.journal.DecisionLog.to_open_bandit` describes it."""
        rounds, fixed = len(self), self.actions.ndim == 2
        return {
            "n_rounds": rounds,
            "n_actions": self.actions.shape[-2],
            "context": np.ones((rounds, 1)) if fixed else self.actions.reshape(rounds, -1),
            "action": self.action,
            "position": np.zeros(rounds, dtype=np.intp),
            "reward": self.reward,
            "pscore": self.pscore,
            "pscore_draws": self.pscore_draws,
            **({"action_context": self.actions.copy()} if fixed else {"actions": self.actions}),
        }


def _offered(rounds: list[Record]) -> FloatArray:
    """Return the features of the actions, (K, d) if they are the same in every round, else (n, K, d)."""
    if not rounds:
        raise ArgumentValueError("log", "at least one round with its reward", "none")
    sets = []
    for record in rounds:
        if record.offered is None:
            expected = "decisions with the actions that they were chosen from"
            raise ArgumentValueError("log", expected, f"decision {record.id} without them")
        sets.append(record.offered.features)
    first = sets[0]
    if all(one is first or np.array_equal(one, first) for one in sets):
        return first
    shapes = {one.shape for one in sets}
    if len(shapes) > 1:
        raise ArgumentValueError("log", "sets of actions of one shape", f"shapes {shown(sorted(shapes))}")
    return np.array(sets)


def records_of(columns: Mapping[str, Any]) -> list[Record]:
    """Return the records with these columns, as :meth:`sparsebandits.journal.DecisionLog.from_open_bandit` describes.

    Their ids are ``"row 0"``, ``"row 1"``, …, which no policy gives to its decisions.
    """
    table = columns_of("columns", columns)
    columns = columns if table is None else table
    if not isinstance(columns, Mapping):
        raise ArgumentTypeError("columns", "arrays by name", shown(columns))
    for name in ("action", "reward", "pscore"):
        if columns.get(name) is None:
            raise ArgumentValueError("columns", "action, reward and pscore", f"no {name}")
    played = check_array("action", columns["action"], ndim=1)
    rounds = check_count("n_rounds", len(played))
    if (played != np.round(played)).any() or played.min() < 0:
        raise ArgumentValueError("action", "rows, counted from 0", "other numbers")
    position = columns.get("position")
    if position is not None and np.ptp(check_vector("position", position, rounds)) > 0:
        raise ArgumentValueError("position", "one position", "several; choose the rounds of one")
    reward = check_vector("reward", columns["reward"], rounds)
    pscore = check_vector("pscore", columns["pscore"], rounds)
    if not (pscore.min() > 0 and pscore.max() <= 1 + ROUNDING):
        raise ArgumentValueError("pscore", "probabilities above 0", f"{pscore.min():g} to {pscore.max():g}")
    pscore = np.minimum(pscore, 1.0)
    draws = columns.get("pscore_draws")
    draws = np.zeros(rounds) if draws is None else check_vector("pscore_draws", draws, rounds)
    actions = _features(columns, int(played.max()) + 1, rounds)
    if played.max() >= actions.shape[-2]:
        raise ArgumentValueError("action", f"rows from 0 to {actions.shape[-2] - 1}", f"{int(played.max())}")
    fixed = ActionSet(frozen(actions)) if actions.ndim == 2 else None
    values = zip(played.astype(int).tolist(), reward.tolist(), pscore.tolist(), draws.astype(int).tolist(), strict=True)
    found = []
    for row, (action, value, probability, count) in enumerate(values):
        offered = ActionSet(frozen(actions[row])) if fixed is None else fixed
        found.append(
            Record(
                id=f"row {row}",
                action=action,
                features=offered.features[action],
                probability=probability,
                probability_draws=count or None,
                label=str(action),
                offered=offered,
                reward=value,
            )
        )
    return found


def _features(columns: Mapping[str, Any], least: int, rounds: int) -> FloatArray:
    """Return the features of the actions, (K, d) if all rounds have the same, else (n, K, d)."""
    if columns.get("actions") is not None:
        actions = check_array("actions", columns["actions"], ndim=3)
        if len(actions) != rounds or 0 in actions.shape:
            raise ArgumentValueError("actions", f"shape ({rounds}, K, d)", f"{actions.shape}")
        return actions.copy()
    of_actions = columns.get("action_context")
    if of_actions is None:
        number = columns.get("n_actions")
        of_actions = np.eye(least if number is None else check_count("n_actions", number))
    own = check_matrix("action_context", of_actions).copy()
    given = columns.get("context")
    if given is None:
        return own
    context = check_array("context", given, ndim=2)
    if len(context) != rounds:
        raise ArgumentValueError("context", f"{rounds} rows, one per round", f"shape {context.shape}")
    if (context == context[0]).all():
        return own
    of_rounds = np.repeat(context[:, np.newaxis], len(own), axis=1)
    return np.concatenate((of_rounds, np.broadcast_to(own, (rounds, *own.shape))), axis=2)
