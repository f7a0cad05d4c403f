"""Files that one call goes through, and how often it switches between them: ``python -m benchmarks.trace``.

A switch is a Python call inside the package that is in another file than the call before it (calls into NumPy, compiled
kernels and the standard library do not count). Traced are one ``ask`` of ``SparseIDS`` with 8 features and 50 actions
after 20 rewards, and one ``decide`` on a table of the same size with 20 rewards. Each has been called once before, so
that imports do not count. The numbers are exact: they do not depend on the machine, but they do depend on the rewards,
because these decide how often particles move.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import numpy as np
import pandas as pd

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.tables import Table

PACKAGE = f"{Path(sb.__file__).parent}/"
ACTIONS, FEATURES, REWARDS = 50, 8, 20


@dataclass(frozen=True)
class Trace:
    """The files of the calls made inside the package, in order."""

    calls: tuple[str, ...]

    @property
    def files(self) -> set[str]:
        """The files that were called."""
        return set(self.calls)

    @property
    def switches(self) -> list[tuple[str, str]]:
        """Each switch: the file of one call, and the other file of the next."""
        return [pair for pair in zip(self.calls, self.calls[1:], strict=False) if pair[0] != pair[1]]

    def table(self, most: int) -> Table:
        """Return the files to which calls switch most often."""
        into, calls = Counter(file for _, file in self.switches), Counter(self.calls)
        return Table(
            ("file", "switches to it", "calls"), [(file, n, calls[file]) for file, n in into.most_common(most)]
        )


def traced(call: Callable[[], object]) -> Trace:
    """Run ``call`` and return its trace."""
    calls: list[str] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(PACKAGE):
            calls.append(file.removeprefix(PACKAGE))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(before)
    return Trace(tuple(calls))


def problem() -> tuple[FloatArray, FloatArray]:
    """Return actions and a reward for each, in which two features matter."""
    rng = np.random.default_rng(0)
    actions = rng.standard_normal((ACTIONS, FEATURES))
    return actions, actions[:, 0] - 0.5 * actions[:, 3] + 0.5 * rng.standard_normal(ACTIONS)


def trace_ask() -> Trace:
    """Trace one ``ask`` after some rewards."""
    actions, rewards = problem()
    policy = sb.SparseIDS(actions, seed=0)
    for _ in range(REWARDS):
        decision = policy.ask()
        policy.tell(decision, float(rewards[decision.action]))
    return traced(policy.ask)


def trace_decide() -> Trace:
    """Trace one ``decide`` on a DataFrame with a column of rewards."""
    actions, rewards = problem()
    table = pd.DataFrame(actions, columns=[f"feature {j}" for j in range(FEATURES)])
    table["reward"] = np.where(np.arange(ACTIONS) < REWARDS, rewards, np.nan)
    sb.decide(table, seed=0)
    return traced(lambda: sb.decide(table, seed=0))


def main(arguments: list[str] | None = None) -> None:
    """Trace both calls and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trace", description="Files that one call goes through.")
    parser.add_argument("--show", type=int, default=10, help="files to list for each call (default 10)")
    most = parser.parse_args(arguments).show
    for name, trace in {"ask": trace_ask(), "decide": trace_decide()}.items():
        found = f"{len(trace.files)} files, {len(trace.switches)} switches, {len(trace.calls)} calls"
        print(f"{name}: {found}\n\n{trace.table(most)}\n")


if __name__ == "__main__":
    main()
