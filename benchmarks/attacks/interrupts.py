"""Interrupt policies at every line: after ``ask`` or ``tell``, a decision or a reward is there, or it is not.

A trace function raises KeyboardInterrupt at the n-th line (or bytecode) that is executed in the package, for n = 1, 2,
3, … until it no longer fires. After each of them, the state of the policy has to equal that before or that after the
call, and calling again has to give the state of a policy that nothing disturbed. Signals at random moments do the same
where the trace function cannot.
"""

import gc
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import sparsebandits as sb
from benchmarks.attacks.outcome import Outcome

PACKAGE = str(Path(sb.__file__).parent)
ACTIONS = np.random.default_rng(0).standard_normal((6, 3))
FEW: dict[str, Any] = {"n_draws": 40, "seed": 0}
LAPLACE = sb.SpikeSlab.from_paper(beta=0.3, lambda0=0.1, lambda1=1.0, noise_variance=1.0)
POINT = sb.SpikeSlab(0.4, 0.5)
KNOWN: dict[str, Any] = {"noise_variance": 1.0}
CHAINS = {"burn_in": 2, "chains": 2}

POLICIES: dict[str, Callable[..., sb.Policy]] = {
    "Particles": lambda **given: sb.SparseIDS(ACTIONS, POINT, **KNOWN, **FEW, **given),
    "Particles, default prior": lambda **given: sb.SparseIDS(ACTIONS, **FEW, **given),
    "Particles, Thompson": lambda **given: sb.SparseTS(ACTIONS, **FEW, **given),
    "Conjugate": lambda **given: sb.LinearIDS(ACTIONS, **FEW, **given),
    "Conjugate, optimism": lambda **given: sb.LinUCB(ACTIONS, seed=0, **given),
    "Conjugate, Thompson": lambda **given: sb.LinTS(ACTIONS, seed=0, probability_draws=20, **given),
    "Gibbs": lambda **given: sb.SparseIDS(ACTIONS, engine="gibbs", engine_options=CHAINS, **FEW, **given),
    "Gibbs, Laplace spike": lambda **given: sb.SparseIDS(
        ACTIONS, LAPLACE, engine="gibbs", engine_options=CHAINS, **KNOWN, **FEW, **given
    ),
    "Langevin": lambda **given: sb.SparseIDS(
        ACTIONS, LAPLACE, engine="langevin", engine_options={"warm_start": True}, **KNOWN, **FEW, **given
    ),
    "Enumeration": lambda **given: sb.SparseIDS(ACTIONS, POINT, engine="enumeration", **KNOWN, **FEW, **given),
    "ESTC": lambda **given: sb.rivals.ESTC(ACTIONS, exploration=7, seed=0, **given),
    "LassoGreedy": lambda **given: sb.rivals.LassoGreedy(ACTIONS, seed=0, **given),
    "ThresholdedLasso": lambda **given: sb.rivals.ThresholdedLasso(ACTIONS, seed=0, **given),
    "SALasso": lambda **given: sb.rivals.SALasso(ACTIONS, seed=0, **given),
    "LassoBandit": lambda **given: sb.rivals.LassoBandit(ACTIONS, seed=0, **given),
    "DRLasso": lambda **given: sb.rivals.DRLasso(ACTIONS, seed=0, **given),
    "FrequentistIDS": lambda **given: sb.rivals.FrequentistIDS(ACTIONS, seed=0, **given),
    "FeelGoodTS": lambda **given: sb.rivals.FeelGoodTS(ACTIONS, **FEW, **given),
    "SOIDS": lambda **given: sb.rivals.SOIDS(ACTIONS, **FEW, **given),
    "HypercubeElimination": lambda **given: sb.rivals.HypercubeElimination(3, horizon=9, seed=0, **given),
    "OnlineToConfidence": lambda **given: sb.rivals.OnlineToConfidence(ACTIONS, **FEW, **given),
    "SquareCB": lambda **given: sb.rivals.SquareCB(ACTIONS, seed=0, **given),
    "FALCON": lambda **given: sb.rivals.FALCON(ACTIONS, seed=0, **given),
    "VariationalTS": lambda **given: sb.rivals.VariationalTS(ACTIONS, seed=0, uniform_rounds=2, **given),
    "DynamicBatch": lambda **given: sb.rivals.DynamicBatch(ACTIONS, 9, 1, seed=0, **given),
    "MCPBandit": lambda **given: sb.rivals.MCPBandit(ACTIONS, seed=0, **given),
    "BestSubset": lambda **given: sb.rivals.BestSubset(ACTIONS, 2, seed=0, **given),
    "ILTCB": lambda **given: sb.rivals.ILTCB(ACTIONS, seed=0, **given),
}
"""Every engine and every rival, small."""

CALLS: dict[str, Callable[[sb.Policy], object]] = {
    "tell": lambda policy: policy.tell(4, 5.0),
    "tell a batch": lambda policy: policy.tell([4, 5, 6], [5.0, -3.0, 0.5]),
    "ask": lambda policy: policy.ask(),
}
"""What is interrupted, after four rewards and with three decisions pending."""


def begun(policy: sb.Policy) -> sb.Policy:
    """Return the policy after four rewards, with three decisions pending."""
    for reward in (0.0, 1.0, -1.0, 2.0):
        policy.tell(policy.ask(), reward)
    for _ in range(3):
        policy.ask()
    return policy


def content(state: Any) -> Any:
    """Return a state as something that can be compared, to the bit."""
    if isinstance(state, Mapping):
        return tuple((name, content(one)) for name, one in sorted(state.items()))
    if isinstance(state, np.ndarray):
        return state.dtype.str, state.shape, state.tobytes()
    return repr(state)


def interrupted(call: Callable[[], object], number: int, event: str = "line") -> bool:
    """Raise KeyboardInterrupt at the n-th line or bytecode of the package; return whether it came to that.

    Parameters
    ----------
    call : callable
        What is interrupted.
    number : int
        n, from one.
    event : {"line", "opcode"}, default="line"
        What is counted.
    """
    seen, fired = 0, False

    def counted(frame: FrameType, kind: str, argument: object) -> Any:
        nonlocal seen, fired
        if kind == event and not fired:
            seen += 1
            if seen == number:
                fired = True
                raise KeyboardInterrupt
        return counted

    def entered(frame: FrameType, kind: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = event == "opcode", event == "line"
        return counted

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        call()
    except KeyboardInterrupt:
        if not fired:
            raise
    finally:
        sys.settrace(before)
    return fired


class Counts:
    """Counts attempts by their outcome."""

    def __init__(self) -> None:
        self.tried = self.refused = self.identical = self.silent = self.crashed = 0

    def add(self, verdict: str) -> None:
        """Count an attempt: ``"identical"``, ``"silent"`` or ``"crashed"``."""
        self.tried += 1
        setattr(self, verdict, getattr(self, verdict) + 1)

    def outcome(self, attack: str) -> Outcome:
        """Return the counts."""
        return Outcome(attack, self.tried, self.refused, self.identical, self.silent, self.crashed)


def verdict_of(policy: sb.Policy, call: Callable[[sb.Policy], object], before: Any, after: Any) -> str:
    """Return what an interrupt has led to: the state before or after, and from there the state after."""
    found = content(policy.state())
    if found not in (before, after):
        return "silent"
    if found == before:
        try:
            call(policy)
        except Exception:
            return "crashed"
    return "identical" if content(policy.state()) == after else "silent"


def at_every_point(
    make: Callable[..., sb.Policy], call: Callable[[sb.Policy], object], start: int, step: int, event: str = "line"
) -> Iterator[str]:
    """Yield the verdict on an interrupt at lines ``start``, ``start + step``, … of a call."""
    original = begun(make())
    undisturbed, before = deepcopy(original), content(original.state())
    call(undisturbed)
    after = content(undisturbed.state())
    number, fired = start, True
    while fired:
        policy = deepcopy(original)
        fired = interrupted(lambda: call(policy), number, event)  # noqa: B023 - called at once
        if fired:
            yield verdict_of(policy, call, before, after)
        number += step


def with_journal(call: Callable[[sb.Policy], object], start: int, step: int, directory: Path) -> Iterator[str]:
    """Yield the verdict on interrupts of a policy with a journal on the disk, which has to be whole, too."""

    def made(name: str) -> sb.Policy:
        return begun(POLICIES["Conjugate, Thompson"](journal=sb.journal.JsonLines(directory / name)))

    undisturbed = made("undisturbed")
    before = content(undisturbed.state())
    call(undisturbed)
    after, records = content(undisturbed.state()), _recorded(directory / "undisturbed")
    number, fired = start, True
    while fired:
        policy = made(str(number))
        fired = interrupted(lambda: call(policy), number)  # noqa: B023 - called at once
        if fired:
            verdict = verdict_of(policy, call, before, after)
            policy.save(directory / "saved")  # what the journal may have missed is on record now
            same = verdict != "identical" or _recorded(directory / str(number)) == records
            yield verdict if same else "silent"
        number += step


def _recorded(path: Path) -> list[tuple[Any, ...]]:
    return [(one.id, one.action, one.probability, one.reward) for one in sb.journal.JsonLines(path).records()]


def by_signals(make: Callable[..., sb.Policy], call: Callable[[sb.Policy], object], tries: int) -> Iterator[str]:
    """Yield the verdict on signals at random moments of a call; other threads have to find the lock free, too."""
    coin, armed, original = random.Random(0), False, begun(make())
    undisturbed, before = deepcopy(original), content(original.state())
    started = time.perf_counter()
    call(undisturbed)
    duration, after = time.perf_counter() - started, content(undisturbed.state())

    def heard(number: int, frame: object) -> None:
        nonlocal armed
        if armed:
            armed = False
            raise KeyboardInterrupt

    handler, collects = signal.signal(signal.SIGALRM, heard), gc.isenabled()
    gc.disable()  # or a signal may strike in a callback of the collector, where Python drops the exception
    try:
        for _ in range(tries):
            policy, armed = deepcopy(original), True
            try:
                signal.setitimer(signal.ITIMER_REAL, coin.uniform(1e-6, 1.2 * duration))
                call(policy)
                armed = False
            except KeyboardInterrupt:
                pass
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            yield verdict_of(policy, call, before, after) if _is_free(policy) else "crashed"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        if collects:
            gc.enable()


def _is_free(policy: sb.Policy) -> bool:
    """Return whether another thread gets the lock of a policy."""
    found: list[bool] = []

    def tried() -> None:
        found.append(policy._lock.acquire(blocking=False))
        if found[0]:
            policy._lock.release()

    thread = threading.Thread(target=tried)
    thread.start()
    thread.join()
    return found[0]


def attack(scale: float) -> list[Outcome]:
    """Interrupt every engine and every rival.

    Parameters
    ----------
    scale : float
        1 for every line, 0.01 for one in a hundred.

    Returns
    -------
    list of Outcome
        One per kind of interrupt.
    """
    step, found = max(1, round(1 / scale)), []
    for name, call in CALLS.items():
        counts = Counts()
        for place, make in enumerate(POLICIES.values()):
            for verdict in at_every_point(make, call, 1 + place % step, step):
                counts.add(verdict)
        found.append(counts.outcome(f"interrupt at a line: {name}"))
    counts = Counts()
    for name in ("Particles", "Conjugate, optimism", "LassoGreedy"):
        for call in CALLS.values():
            for verdict in at_every_point(POLICIES[name], call, 1, 10 * step, "opcode"):
                counts.add(verdict)
    found.append(counts.outcome("interrupt at a bytecode"))
    counts = Counts()
    for call in CALLS.values():
        with tempfile.TemporaryDirectory() as directory:
            for verdict in with_journal(call, 1, step, Path(directory)):
                counts.add(verdict)
    found.append(counts.outcome("interrupt at a line, with a journal"))
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        counts = Counts()
        for name in ("Particles, default prior", "Conjugate, optimism"):
            for call in CALLS.values():
                for verdict in by_signals(POLICIES[name], call, max(3, round(500 * scale))):
                    counts.add(verdict)
        found.append(counts.outcome("signal at a random moment"))
    return found
