"""A loop of decisions and rewards around a plain function, which keeps a journal of them."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, overload

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, check_count, shown
from sparsebandits.journal.journal import Journal
from sparsebandits.journal.memory import DecisionLog
from sparsebandits.journal.record import check_reward
from sparsebandits.policies.decision import Decision
from sparsebandits.policies.feedback import readings
from sparsebandits.policies.policy import Policy


@overload
def play(policy: Policy, reward: Callable[[Decision], Any], rounds: int, log: None = None) -> DecisionLog: ...


@overload
def play(policy: Policy, reward: Callable[[Decision], Any], rounds: int, log: Journal) -> Journal: ...


def play(policy: Policy, reward: Callable[[Decision], Any], rounds: int, log: Journal | None = None) -> Journal:
    """Let a policy decide and a function return the reward of each decision; return the journal of both.

    Decisions are recorded before the function is called, and rewards before the policy learns from them. If ``reward``
    raises, or is interrupted by Ctrl-C, nothing is lost: rewards that came are learned and recorded, and the decision
    without one is in ``policy.pending``. Pass a ``log`` to have it in that case.

    Parameters
    ----------
    policy : Policy
        A policy whose actions are rows.
    reward : callable
        Function of a decision, which has ``.action``, ``.features`` and ``.label``. With a feedback graph, it returns
        the rewards of ``decision.observed``, as ``tell`` takes them.
    rounds : int
        Number of decisions.
    log : Journal, optional
        The journal to record in, by default a new :class:`~sparsebandits.journal.DecisionLog`.

    Returns
    -------
    Journal
        The journal that was recorded in.

    Examples
    --------
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
    journal: Journal = DecisionLog(policy.actions) if log is None else log
    if not isinstance(journal, Journal):
        raise ArgumentTypeError("log", "a journal", shown(log))
    known = journal.actions if isinstance(journal, DecisionLog) else policy.actions.features
    if known.size and not np.array_equal(known, policy.actions.features):
        raise ArgumentValueError("log", "one that was made with the actions of the policy", "one with others")
    recorded = policy.journal is journal  # by the policy itself
    for _ in range(count):
        with _undisturbed():
            decision = policy.ask()
            if not recorded:
                journal.decided(decision, policy.actions)
        value = reward(decision)
        if decision.observed is None:
            told: tuple[Any, ...] = (check_reward(value),)
        else:
            values = readings(decision.observed, value, len(policy.actions), policy.actions.labels)
            by_row = dict(zip(decision.observed, values, strict=True))
            value, told = values, (by_row.get(decision.action), by_row)
        with _undisturbed():
            if not recorded:
                journal.rewarded(decision, *told)
            policy.tell(decision, value)
    return journal


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold Ctrl-C back until the block has finished, so that no policy learns by half; a second one acts at once."""
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
