"""Let eight threads ask and tell one policy: no call fails, no id is given twice, nothing is learnt twice or never.

The threads are switched as often as the interpreter can. A journal notes the order in which decisions and rewards came,
and a policy that gets the same calls one after the other has to end in the same state.
"""

import sys
import threading
from collections.abc import Callable

import numpy as np

import sparsebandits as sb
from benchmarks.attacks.interrupts import POLICIES, content
from benchmarks.attacks.outcome import Outcome
from sparsebandits.arguments import ArgumentError

THREADS = 8
SWITCH = 1e-6
"""Seconds after which a thread has to hand over."""

PLAYED = ("Particles", "Particles, default prior", "Conjugate", "Conjugate, Thompson", "Gibbs", "LassoGreedy")


class Order:
    """A journal that notes what was asked and told, in the order in which it came."""

    def __init__(self) -> None:
        self.events: list[tuple[int, float | None]] = []

    def decided(self, decision: sb.Decision, offered: object) -> None:
        """Note a decision."""
        self.events.append((decision.id, None))

    def rewarded(self, decision: sb.Decision, reward: float) -> None:
        """Note a reward."""
        self.events.append((decision.id, reward))


def played(make: Callable[..., sb.Policy], rounds: int, threads: int = THREADS) -> tuple[int, int, bool]:
    """Let threads play a policy.

    Parameters
    ----------
    make : callable
        Makes the policy, given a journal.
    rounds : int
        Decisions and rewards of each thread.
    threads : int, default=8
        Number of threads.

    Returns
    -------
    failed, repeated, same : int, int, bool
        Calls that failed, ids that were given more than once, and whether the state is that of the same calls one
        after the other.
    """
    order, ids, failed = Order(), list[int](), list[Exception]()
    policy, barrier = make(journal=order), threading.Barrier(threads)

    def play() -> None:
        barrier.wait()
        for _ in range(rounds):
            try:
                decision = policy.ask()
                ids.append(decision.id)
                policy.explain(decision)
                policy.state()
                policy.tell(decision, float(decision.features.sum()) + np.sin(decision.id))
                policy.tell(decision.id, float(decision.features.sum()) + np.sin(decision.id))
            except Exception as error:
                failed.append(error)

    switch = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        running = [threading.Thread(target=play) for _ in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    alone = make()
    try:
        for number, reward in order.events:
            if reward is None:
                alone.ask()
            else:
                alone.tell(number, reward)
        same = content(policy.state()) == content(alone.state())
    except ArgumentError:  # nobody could have made these calls in this order
        same = False
    return len(failed), len(ids) - len(set(ids)), same


def attack(scale: float) -> list[Outcome]:
    """Let eight threads play several policies.

    Parameters
    ----------
    scale : float
        1 for 300 rounds of each thread and policy.

    Returns
    -------
    list of Outcome
        One per policy; an attempt is a round.
    """
    found, rounds = [], max(3, round(300 * scale))
    for name in PLAYED:
        failed, repeated, same = played(POLICIES[name], rounds)
        tried = THREADS * rounds
        crashed, silent = min(failed, tried), 0
        if repeated or not same:
            silent = tried - crashed
        identical = tried - crashed - silent
        found.append(Outcome(f"eight threads: {name}", tried, 0, identical, silent, crashed))
    return found
