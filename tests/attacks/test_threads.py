"""Threads that share a policy."""

import copy
import pickle
import sys
import threading
from typing import Any

import pytest
from benchmarks.attacks import threads
from benchmarks.attacks.interrupts import ACTIONS, POLICIES

import sparsebandits as sb


def test_eight_threads_on_one_policy() -> None:
    for outcome in threads.attack(0.01):
        assert outcome.silent == outcome.crashed == 0, outcome
        assert outcome.identical == outcome.tried, outcome


class Unlocked:
    """No lock."""

    def __enter__(self) -> None: ...

    def __exit__(self, *arguments: object) -> None: ...


def test_the_attack_finds_a_policy_without_a_lock() -> None:
    def make(**given: Any) -> sb.Policy:
        policy = POLICIES["Conjugate, Thompson"](**given)
        policy._lock = Unlocked()  # type: ignore[assignment]
        return policy

    found = [threads.played(make, rounds=20) for _ in range(3)]
    assert any(failed or repeated or not same for failed, repeated, same in found)


def test_copies_have_a_lock_of_their_own() -> None:
    policy = sb.LinUCB(ACTIONS, seed=0)
    policy.tell(policy.ask(), 1.0)
    free: list[bool] = []
    with policy._lock:
        for copied in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
            thread = threading.Thread(target=lambda: free.append(copied.ask() is not None))  # noqa: B023
            thread.start()
            thread.join(timeout=60)
    assert free == [True, True]


@pytest.mark.parametrize(
    "call", [lambda p: p.predict(), lambda p: p.state(), lambda p: p.explain(0), lambda p: p.ask()]
)
def test_calls_wait_for_each_other(call: Any) -> None:
    policy = sb.LinUCB(ACTIONS, seed=0)
    policy.ask()
    done = threading.Event()
    with policy._lock:

        def called() -> None:
            call(policy)
            done.set()

        thread = threading.Thread(target=called)
        thread.start()
        assert not done.wait(timeout=0.1)
    thread.join(timeout=60)
    assert done.is_set()


def test_copies_of_a_policy_in_use_are_of_one_moment() -> None:
    """Without the lock, one copy in ten had told decisions that its posterior did not know."""
    policy, running = sb.LinTS(ACTIONS, seed=0), threading.Event()
    running.set()

    def play() -> None:
        while running.is_set():
            policy.tell(policy.ask(), 1.0)

    playing = [threading.Thread(target=play) for _ in range(3)]
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in playing:
            thread.start()
        for number in range(100):
            one = copy.deepcopy(policy) if number % 2 else pickle.loads(pickle.dumps(policy))
            state = one.state()
            assert one.posterior.level.weight == state["asked"] - len(state["pending"])
    finally:
        running.clear()
        sys.setswitchinterval(switch)
        for thread in playing:
            thread.join()
