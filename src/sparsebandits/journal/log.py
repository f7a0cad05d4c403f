"""Decisions on record, with their rewards and propensities, and a loop that keeps such a record.

A log has what off-policy evaluation needs: in each round the actions that were offered, the one that was played, its
reward, and its propensity, the probability with which it was played. Its columns are those of the Open Bandit Pipeline
(Saito, Aihara, Matsutani and Narita 2021): context, action, reward, pscore, position, action_context.

The propensity is ``decision.probability``. It is exact for randomised IDS, and for ``SparseTS`` on particles or chains;
with ``LinTS`` it is estimated from as many draws as ``decision.probability_draws`` says, and so is a little wrong.
Policies that flip no coin (deterministic IDS, LinUCB) have propensity 1: such a log says nothing of other actions.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
    check_number,
    check_vector,
    columns_of,
    frozen,
    shown,
)
from sparsebandits.files import pack, unpack, write_atomically
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Decision
from sparsebandits.policies.policy import Policy
from sparsebandits.rules.choice import NO_ROW

KIND = "sparsebandits.log"
VERSION = 1


class DecisionLog:
    """Rounds that have been played: what was offered, what was chosen, how probably, and what it brought.

    Parameters
    ----------
    actions : array or DataFrame ``(K, d)``, if the same actions are offered in each round; else they are given to
        :meth:`add`

    >>> from sparsebandits import LinUCB
    >>> policy = LinUCB(np.eye(3))
    >>> log = DecisionLog(policy.actions)
    >>> decision = policy.ask()
    >>> policy.tell(decision, 1.0)
    >>> log.add(decision, 1.0)
    >>> log
    DecisionLog(1 round of 3 actions; propensities from 1 to 1)
    """

    def __init__(self, actions: object = None) -> None:
        self._fixed = None if actions is None else ActionSet.of(actions).features
        if self._fixed is not None and len(self._fixed) == 0:
            raise ArgumentTypeError("actions", "rows", f"{shown(actions)}; decisions without rows cannot be logged")
        self._offered: list[FloatArray] = []  # where they change
        self._action: list[int] = []
        self._reward: list[float] = []
        self._pscore: list[float] = []
        self._draws: list[int] = []

    def __len__(self) -> int:
        return len(self._action)

    def __repr__(self) -> str:
        rounds = f"{len(self)} round{'s' * (len(self) != 1)}"
        if not len(self):
            return f"{type(self).__name__}({rounds})"
        low, high = min(self._pscore), max(self._pscore)
        estimated = sum(draws > 0 for draws in self._draws)
        how = f", estimated in {estimated} of the rounds" if estimated else ""
        actions = len(self._offered[0] if self._fixed is None else self._fixed)
        return f"{type(self).__name__}({rounds} of {actions} actions; propensities from {low:.3g} to {high:.3g}{how})"

    def add(self, decision: Decision, reward: object, actions: object = None) -> None:
        """Add a decision with its reward, and with the actions it was chosen from if they change."""
        if not isinstance(decision, Decision):
            raise ArgumentTypeError("decision", "one that ask() returned", shown(decision))
        if decision.action == NO_ROW:
            raise ArgumentValueError("decision", "one that chose a row of the actions", "one without a row")
        if (self._fixed is None) == (actions is None):
            expected = "none, for the log has its own" if self._fixed is not None else "those it was chosen from"
            raise ArgumentValueError("actions", expected, shown(actions))
        offered = self._fixed if self._fixed is not None else ActionSet.of(actions).features
        if self._offered and offered.shape != self._offered[0].shape:
            raise ArgumentValueError("actions", f"shape {self._offered[0].shape} in each round", f"{offered.shape}")
        if decision.action >= len(offered) or not np.array_equal(offered[decision.action], decision.features):
            raise ArgumentValueError(
                "actions", f"those that decision {decision.id} was chosen from", f"{len(offered)} others"
            )
        value = check_number("reward", float(reward) if isinstance(reward, bool | np.bool_) else reward)
        if self._fixed is None:
            self._offered.append(offered)
        self._action.append(decision.action)
        self._reward.append(value)
        self._pscore.append(decision.probability)
        self._draws.append(decision.probability_draws or 0)

    @property
    def actions(self) -> FloatArray:
        """Features of the actions, ``(K, d)`` if they stay, else ``(n, K, d)``."""
        return self._fixed if self._fixed is not None else np.array(self._offered)

    @property
    def action(self) -> IntArray:
        """Rows that were played, ``(n,)``."""
        return np.array(self._action, dtype=np.intp)

    @property
    def reward(self) -> FloatArray:
        """Their rewards, ``(n,)``."""
        return np.array(self._reward)

    @property
    def pscore(self) -> FloatArray:
        """The probabilities with which they were played, ``(n,)``."""
        return np.array(self._pscore)

    @property
    def pscore_draws(self) -> IntArray:
        """How many draws each of those was estimated from, ``(n,)``; 0 where it is exact."""
        return np.array(self._draws, dtype=np.intp)

    def to_open_bandit(self) -> dict[str, Any]:
        """Return the log as the Open Bandit Pipeline has it, a dict of arrays.

        Where the actions stay, ``action_context`` ``(K, d)`` has them and ``context`` is a column of ones. Where they
        change, ``context`` ``(n, K·d)`` has those of the round, one after another, and ``actions`` ``(n, K, d)``, a
        column of ours, the same in shape. ``pscore_draws`` is ours too.
        """
        if not len(self):
            raise ArgumentValueError("log", "at least one round", "none")
        actions, rounds = self.actions, len(self)
        stay = actions.ndim == 2
        context = np.ones((rounds, 1)) if stay else actions.reshape(rounds, -1)
        return {
            "n_rounds": rounds,
            "n_actions": actions.shape[-2],
            "context": context,
            "action": self.action,
            "position": np.zeros(rounds, dtype=np.intp),
            "reward": self.reward,
            "pscore": self.pscore,
            "pscore_draws": self.pscore_draws,
            **({"action_context": actions.copy()} if stay else {"actions": actions}),
        }

    @classmethod
    def from_open_bandit(cls, columns: Mapping[str, Any]) -> "DecisionLog":
        """Return the log that has these columns, ours or others'; ``action``, ``reward`` and ``pscore`` have to be.

        In others' logs, the features of an action in a round are those of the round, ``context``, followed by those of
        the action, ``action_context``, or where there are none by which action it is, as zeros and a one. They are
        all made, ``(n, K, d)``. A context that is the same in all rounds is left out.
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
        if not (pscore.min() > 0 and pscore.max() <= 1):
            raise ArgumentValueError("pscore", "probabilities above 0", f"{pscore.min():g} to {pscore.max():g}")
        actions = _features(columns, int(played.max()) + 1, rounds)
        if played.max() >= actions.shape[-2]:
            raise ArgumentValueError("action", f"rows from 0 to {actions.shape[-2] - 1}", f"{int(played.max())}")
        log = cls(actions if actions.ndim == 2 else None)
        log._offered = [frozen(one) for one in actions] if actions.ndim == 3 else []
        log._action, log._reward, log._pscore = played.astype(np.intp).tolist(), reward.tolist(), pscore.tolist()
        draws = columns.get("pscore_draws")
        log._draws = [0] * rounds if draws is None else check_vector("pscore_draws", draws, rounds).astype(int).tolist()
        return log

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the log to a file in an existing directory, in one step."""
        write_atomically(path, pack(KIND, VERSION, self.to_open_bandit()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "DecisionLog":
        """Return the log that :meth:`save` wrote; adding to it goes on where it was."""
        return cls.from_open_bandit(unpack(path, KIND, VERSION))


def _features(columns: Mapping[str, Any], least: int, rounds: int) -> FloatArray:
    """Return the features of the actions, ``(K, d)`` if no round differs from another, else ``(n, K, d)``."""
    if columns.get("actions") is not None:
        actions = check_array("actions", columns["actions"], ndim=3)
        if len(actions) != rounds or 0 in actions.shape:
            raise ArgumentValueError("actions", f"shape ({rounds}, K, d)", f"{actions.shape}")
        return actions.copy()
    of_actions = columns.get("action_context")
    if of_actions is None:
        number = columns.get("n_actions")
        of_actions = np.eye(least if number is None else check_count("n_actions", number))
    own = check_matrix("action_context", of_actions)
    given = columns.get("context")
    if given is None:
        return own
    context = check_array("context", given, ndim=2)
    if len(context) != rounds:
        raise ArgumentValueError("context", f"{rounds} rows, one a round", f"shape {context.shape}")
    if (context == context[0]).all():
        return own
    of_rounds = np.repeat(context[:, np.newaxis], len(own), axis=1)
    return np.concatenate((of_rounds, np.broadcast_to(own, (rounds, *own.shape))), axis=2)


def play(
    policy: Policy, reward: Callable[[Decision], float], rounds: int, log: DecisionLog | None = None
) -> DecisionLog:
    """Let a policy decide, and a function of yours say what each decision brought; return the log.

    If ``reward`` raises, or is interrupted by Ctrl-C, nothing is lost: rewards that were told are learnt and logged,
    and the decision without a reward is in ``policy.pending``. Give a ``log`` of your own to have it in that case.

    Parameters
    ----------
    policy : one whose actions are rows
    reward : of a decision, which has ``.action``, ``.features`` and ``.label``
    rounds : how many decisions
    log : to add to; by default a new one

    >>> from sparsebandits import LinTS
    >>> policy = LinTS(np.eye(3), noise_variance=0.01, seed=0)
    >>> log = play(policy, lambda decision: float(decision.action), rounds=20)
    >>> len(log), log.action[-5:]
    (20, array([2, 2, 2, 2, 2]))
    """
    if not isinstance(policy, Policy):
        raise ArgumentTypeError("policy", "a policy", shown(policy))
    if not callable(reward):
        raise ArgumentTypeError("reward", "a function of a decision", shown(reward))
    count = check_count("rounds", rounds)
    if len(policy.actions) == 0:
        raise ArgumentValueError("policy", "one whose actions are rows", f"{policy!r}; it has ask() and tell()")
    if log is None:
        log = DecisionLog(policy.actions)
    elif not isinstance(log, DecisionLog):
        raise ArgumentTypeError("log", "a DecisionLog", shown(log))
    elif not np.array_equal(log.actions, policy.actions.features):
        raise ArgumentValueError("log", "one that was made with the actions of the policy", "one with others")
    for _ in range(count):
        with _undisturbed():
            decision = policy.ask()
        value = reward(decision)
        with _undisturbed():
            policy.tell(decision, value)
            log.add(decision, value)
    return log


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold Ctrl-C back until the block is through, so that a policy is never left half taught; the second acts now."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield
        return
    pressed = threading.Event()

    def heard(number: int, frame: object) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    signal.signal(signal.SIGINT, heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed.is_set():
            signal.raise_signal(signal.SIGINT)
