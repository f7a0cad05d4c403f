"""Ctrl-C at any line of ``ask``, ``tell`` and ``update``."""

import ctypes
import signal
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.attacks import interrupts
from benchmarks.attacks.interrupts import ACTIONS, CALLS, POLICIES, at_every_point, begun, content, interrupted

import sparsebandits as sb
from sparsebandits.atomic import at_once, forked

# A file that was opened at the moment of an interrupt is closed as soon as nothing refers to it.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")


def test_nothing_traces_these_tests() -> None:
    """Coverage would keep its own lock if it were interrupted (tests/conftest.py)."""
    assert sys.gettrace() is None


def test_a_short_attack() -> None:
    for outcome in interrupts.attack(0.01):
        assert outcome.silent == outcome.crashed == 0, outcome
        assert outcome.tried == outcome.identical > 0, outcome


@pytest.mark.parametrize("call", CALLS)
def test_signals_at_random_moments_do_not_end_the_interpreter(call: str) -> None:
    """They did when compiled code returned a named tuple, whose class is looked up by Python code."""
    verdicts = list(interrupts.by_signals(POLICIES["Particles, default prior"], CALLS[call], 500))
    assert verdicts == ["identical"] * 500


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ["Particles", "Conjugate, optimism", "LassoGreedy"])
def test_every_line(name: str, call: str) -> None:
    verdicts = list(at_every_point(POLICIES[name], CALLS[call], start=1, step=1))
    assert len(verdicts) > 30
    assert set(verdicts) == {"identical"}


@pytest.mark.parametrize("call", CALLS)
def test_every_line_with_a_journal(call: str, tmp_path: Path) -> None:
    verdicts = list(interrupts.with_journal(CALLS[call], start=1, step=9, directory=tmp_path))
    assert len(verdicts) > 20
    assert set(verdicts) == {"identical"}


def test_the_attack_finds_a_policy_that_learns_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the fork is the posterior itself, as if there were none."""
    monkeypatch.setattr("sparsebandits.policies.policy.forked", lambda original: original)
    monkeypatch.setattr("sparsebandits.posteriors.engine.forked", lambda original: original)
    found = set(at_every_point(POLICIES["Conjugate, optimism"], CALLS["tell a batch"], start=1, step=1))
    assert "silent" in found


def test_the_attack_finds_what_is_not_published_in_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: one call after the other."""

    def one_by_one(*calls: tuple[Any, ...]) -> None:
        for function, *arguments in calls:
            function(*arguments)

    one_by_one.__code__ = one_by_one.__code__.replace(co_filename=f"{interrupts.PACKAGE}/planted.py")
    monkeypatch.setattr("sparsebandits.policies.policy.at_once", one_by_one)
    for call in CALLS.values():
        assert "silent" in set(at_every_point(POLICIES["Conjugate, optimism"], call, start=1, step=1))


def published(policy: sb.Policy, call: Callable[[sb.Policy], object], place: int) -> str:
    """Return the verdict on a call whose last step is signalled before its part of this number, if it has that many."""
    undisturbed, before = deepcopy(policy), content(policy.state())
    call(undisturbed)

    def heard(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    def signalled(*parts: tuple[Any, ...]) -> None:
        """Do what at_once does; handlers run as soon as anything lets them."""
        at_once(*parts[:place], (ctypes.pythonapi.PyErr_SetInterruptEx, int(signal.SIGALRM)), *parts[place:])

    handler = signal.signal(signal.SIGALRM, heard)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sparsebandits.policies.policy.at_once", signalled)
            with pytest.raises(KeyboardInterrupt):
                call(policy)
    finally:
        signal.signal(signal.SIGALRM, handler)
    return interrupts.verdict_of(policy, call, before, content(undisturbed.state()))


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("call", CALLS)
def test_what_is_published_in_one_step_handles_no_signals(call: str, place: int) -> None:
    """Evidence was assigned by a list of places, which NumPy made an array of, handling signals meanwhile."""
    assert published(begun(POLICIES["Conjugate, optimism"]()), CALLS[call], place) == "identical"


def test_a_step_that_handles_signals_is_found() -> None:
    """Planted: the assignment by a list of places."""

    class ByList(np.ndarray):
        def __setitem__(self, places: Any, value: Any) -> None:
            super().__setitem__(places.tolist(), value)

    policy = begun(POLICIES["Conjugate, optimism"]())
    policy._evidence = policy._evidence.view(ByList)
    assert published(policy, CALLS["tell"], 2) == "silent"


ENGINES: dict[str, Any] = {
    "Particles": sb.Particles(sb.SpikeSlab(0.4, 0.5), dimension=3, n_draws=40, seed=0),
    "Particles, learnt noise": sb.Particles(
        sb.SpikeSlab(0.4, 0.5), dimension=3, n_draws=40, seed=0, rewards=sb.Gaussian(intercept=True)
    ),
    "Conjugate": sb.Conjugate(sb.GaussianPrior(1.0), dimension=3, seed=0),
    "Enumeration": sb.Enumeration(sb.SpikeSlab(0.4, 0.5), dimension=3, seed=0),
}


@pytest.mark.parametrize("name", ENGINES)
def test_an_update_is_all_or_nothing(name: str) -> None:
    """Of the same object: whoever holds the posterior sees it."""
    engine = ENGINES[name]
    rewards, number, fired = np.array([5.0, -3.0]), 1, True
    after = deepcopy(engine)
    after.update(ACTIONS[:2], rewards)
    allowed = {content(engine.state()), content(after.state())}
    while fired:
        posterior = deepcopy(engine)
        fired = interrupted(lambda: posterior.update(ACTIONS[:2], rewards), number)  # noqa: B023
        assert content(posterior.state()) in allowed
        if content(posterior.state()) != content(after.state()):
            posterior.update(ACTIONS[:2], rewards)
        assert content(posterior.state()) == content(after.state())
        number += 3
    assert number > 30


def test_the_posterior_stays_the_same_object() -> None:
    for make in POLICIES.values():
        policy = make()
        held = policy.posterior
        begun(policy)
        assert policy.posterior is held


class Interrupted(sb.journal.JsonLines):
    """A journal that is interrupted before it records the eighth decision, once."""

    pressed = False

    def decided(self, decision: sb.Decision, offered: Any) -> None:
        if decision.id == 7 and not self.pressed:
            self.pressed = True
            raise KeyboardInterrupt
        super().decided(decision, offered)


THEN: dict[str, Callable[[sb.Policy, Path], object]] = {
    "other actions": lambda policy, path: policy.ask(ACTIONS[:2]),
    "a reward": lambda policy, path: policy.tell(7, 1.0),
    "another reward": lambda policy, path: policy.tell(5, 1.0),
    "save": lambda policy, path: policy.save(path / "policy"),
}


@pytest.mark.parametrize("then", THEN)
def test_a_journal_that_was_interrupted_gets_the_decision_by_the_next_call(then: str, tmp_path: Path) -> None:
    policy = begun(sb.LinTS(ACTIONS, seed=0, journal=Interrupted(tmp_path / "journal")))
    with pytest.raises(KeyboardInterrupt):
        policy.ask()
    assert [one.id for one in policy.pending] == [4, 5, 6, 7]
    assert len(sb.journal.JsonLines(tmp_path / "journal").records()) == 7
    THEN[then](policy, tmp_path)
    found = [one.id for one in sb.journal.JsonLines(tmp_path / "journal").records()]
    assert found == list(range(9 if then == "other actions" else 8))


def test_a_fork_and_a_step() -> None:
    original = sb.Conjugate(sb.GaussianPrior(1.0), dimension=3, seed=0)
    fork = forked(original)
    fork.absorb(ACTIONS[:1], np.ones(1))
    assert (original.evidence.count, fork.evidence.count) == (0, 1)
    found: list[int] = []
    assert interrupted(lambda: at_once((found.append, 1), (found.append, 2)), 1)
    assert found == []


def test_an_error_that_is_its_own_cause_is_raised() -> None:
    class Refuses(sb.journal.DecisionLog):
        def decided(self, decision: sb.Decision, offered: Any) -> None:
            error = OSError("disk full")
            raise error from error

    policy = sb.LinUCB(ACTIONS, journal=Refuses(), seed=0)
    with pytest.raises(OSError, match="disk full"):
        policy.ask()


def masked(cause: BaseException) -> Callable[..., Any]:
    """Return what compiled code does that is interrupted while it calls back into Python."""

    def raised(*arguments: Any, **named: Any) -> Any:
        raise SystemError("returned a result with an exception set") from cause

    return raised


COMPILED: dict[str, tuple[str, Callable[[sb.Policy], object]]] = {
    "ask": ("sparsebandits.rules.optima.best_actions", lambda policy: policy.ask()),
    "tell": ("sparsebandits.posteriors.particles.Particles.condition", lambda policy: policy.tell(4, 5.0)),
    "update": (
        "sparsebandits.posteriors.particles.Particles.condition",
        lambda policy: policy.posterior.update([1, 0, 0], 1),
    ),
}


@pytest.mark.parametrize("name", COMPILED)
def test_ctrl_c_in_compiled_code_is_a_keyboard_interrupt(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, call = COMPILED[name]
    policy = begun(POLICIES["Particles"]())
    policy._optima = type(policy._optima)()
    before = content(policy.state())
    for cause, expected in ((KeyboardInterrupt(), KeyboardInterrupt), (MemoryError(), SystemError)):
        monkeypatch.setattr(place, masked(cause))
        with pytest.raises(expected):
            call(policy)
        assert content(policy.state()) == before
    monkeypatch.undo()
    call(policy)
