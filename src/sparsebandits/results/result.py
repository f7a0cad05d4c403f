"""What may be concluded from paired trials: means, differences, wins, growth and pulls, with intervals.

Intervals are bootstrap intervals over trials (``intervals.py``). Differences are paired, trial by trial, because every
policy met the same instances and noise (``pairing.py``).
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, FloatArray, IntArray, check_count, shown
from sparsebandits.files import check_path
from sparsebandits.results import archive, trials
from sparsebandits.results.growth import growing, growth_exponent
from sparsebandits.results.intervals import mean_interval
from sparsebandits.results.pairing import paired, sign_test
from sparsebandits.results.pulls import group_pulls
from sparsebandits.results.trials import Content
from sparsebandits.tables import Cell, Table

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Result:
    """What policies did over many trials; row i of every array is trial i, the same world for all of them.

    Printed, it is its :meth:`table`.

    Attributes
    ----------
    regret : policy → cumulative regret ``(trials, P)`` at the P recorded rounds; a policy with fewer trials than
        others has the first ones, and is compared on those
    seconds : policy → seconds a decision ``(trials,)``
    rounds : ``(P,)``, the recorded rounds, from 1; None for all
    pulls : policy → how often each action was played ``(trials, K)``; None if that was not recorded
    recorded : policy → name → diagnostics of the decisions ``(trials, P)``
    about : configuration and provenance, as plain data

    >>> rounds = np.arange(1.0, 101.0)
    >>> regret = {"A": np.array([rounds, 2 * rounds, 3 * rounds]), "B": 8 * np.sqrt([rounds, rounds, rounds])}
    >>> result = Result(regret, {"A": np.full(3, 0.001), "B": np.full(3, 0.002)})
    >>> print(result.at([25, 100]))
    policy  round  regret  95% from   to  trials
    B          25      40        40   40       3
    A          25      50        25   75       3
    B         100      80        80   80       3
    A         100     200       100  300       3
    >>> print(result.growth())
    policy  exponent  95% from   to  still growing
    B            0.5       0.5  0.5         0 of 3
    A              1         1    1         3 of 3
    """

    regret: Mapping[str, FloatArray]
    seconds: Mapping[str, FloatArray]
    rounds: IntArray | None = None
    pulls: Mapping[str, IntArray] | None = None
    recorded: Mapping[str, Mapping[str, FloatArray]] = field(default_factory=dict)
    about: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not self.regret:
            raise ArgumentValueError("regret", "the curves of at least one policy", shown(self.regret))
        for name, curves in self.regret.items():
            if not isinstance(curves, np.ndarray):
                raise ArgumentTypeError(f"regret[{name!r}]", "an array (trials, rounds)", shown(curves))
            if curves.ndim != 2 or 0 in curves.shape:
                raise ArgumentValueError(f"regret[{name!r}]", "shape (trials, rounds)", f"{curves.shape}")
        columns = {curves.shape[1] for curves in self.regret.values()}
        if len(columns) > 1:
            raise ArgumentValueError("regret", "as many rounds of every policy", f"{sorted(columns)}")
        if self.rounds is not None:
            rounds = self.rounds
            if rounds.shape != (*columns,) or rounds[0] < 1 or (np.diff(rounds) <= 0).any():
                raise ArgumentValueError("rounds", f"{columns.pop()} increasing numbers from 1", shown(rounds))

    @property
    def horizon(self) -> int:
        """The last round."""
        return int(self._rounds()[-1])

    def __repr__(self) -> str:
        trials = max(len(curves) for curves in self.regret.values())
        return f"Result({', '.join(self.regret)}; {trials} trials of {self.horizon} rounds)"

    def __str__(self) -> str:
        return str(self.table())

    @classmethod
    def load(cls, path: PathLike) -> "Result":
        """Return what ``Experiment.run(directory)`` or :meth:`write` has written.

        A directory may be of a run that goes on or was interrupted. Of each policy it gives the trials from the first
        up to the first that is missing, so policies may differ in their number of trials.
        """
        check_path(path)
        if not os.path.exists(path):
            raise FileNotFoundError(f"path: expected a file or a directory of results, got none at {path}")
        return cls(**(archive.read(path) if os.path.isfile(path) else trials.load(path)))

    def write(self, path: PathLike) -> None:
        """Write all but the diagnostics of decisions into one Parquet file, which :meth:`load` reads."""
        archive.write(
            path,
            Content(
                regret=self.regret,
                seconds=self.seconds,
                rounds=self.rounds,
                pulls=self.pulls,
                recorded=self.recorded,
                about=self.about,
            ),
        )

    def final(self, name: str) -> FloatArray:
        """Return the regret at the horizon, one number a trial."""
        return self.regret_at(name, self.horizon)

    def regret_at(self, name: str, at: int) -> FloatArray:
        """Return the regret after round ``at``, one number a trial."""
        self._check_policy("name", name)
        return self.regret[name][:, self._place("at", at)]

    def table(self) -> Table:
        """Return final regret with its 95% interval and seconds a decision, best policy first."""
        rows = []
        for name in self._standing():
            rows.append((name, *_mean(self.final(name)), float(self.seconds[name].mean())))
        return Table(("policy", "final regret", "95% from", "to", "seconds a decision"), rows)

    def at(self, rounds: Sequence[int]) -> Table:
        """Return regret after each of ``rounds`` with its 95% interval, best policy first at each."""
        rows: list[tuple[Cell, ...]] = []
        for t in self._places(rounds):
            for name in self._standing(t):
                values = self.regret_at(name, t)
                rows.append((name, t, *_mean(values), len(values)))
        return Table(("policy", "round", "regret", "95% from", "to", "trials"), rows)

    def compare(self, baseline: str, at: int | None = None) -> Table:
        """Return each policy's regret minus the baseline's, paired, with its 95% interval and wins.

        ``at`` is the round after which they are compared: the last one unless given.
        """
        rows = []
        for name, mine, base in self._pairs(baseline, at):
            ratio = float(mine.mean() / base.mean()) if base.mean() > 0 else float("nan")
            rows.append((name, *_mean(mine - base), ratio, f"{sign_test(mine - base).wins} of {len(base)}"))
        rows.sort(key=lambda row: float(row[1]))
        return Table((f"against {baseline}", "difference", "95% from", "to", "ratio", "wins"), rows)

    def wins(self, baseline: str, at: int | None = None) -> Table:
        """Return in how many trials each policy has less regret than the baseline, more, and the same.

        The p-value is that of the exact two-sided sign test: what a fair coin would do (``pairing.py``).
        """
        rows = []
        for name, mine, base in self._pairs(baseline, at):
            test = sign_test(mine - base)
            rows.append((name, test.wins, test.losses, test.ties, test.p_value))
        rows.sort(key=lambda row: -row[1])
        return Table((f"against {baseline}", "wins", "losses", "ties", "sign test p"), rows)

    def growth(self, part: float = 0.5) -> Table:
        """Return how fast regret grows at the end, best policy first.

        The exponent is that of mean cumulative regret over the last ``part`` of the rounds, with its 95% interval;
        "still growing" counts the trials whose regret grows linearly to the end. ``growth.py`` says what they mean and
        where they mislead.
        """
        rows = []
        for name in self._standing():
            curves = self.regret[name]
            exponent = growth_exponent(curves, self._rounds(), part)
            share = f"{int(growing(curves, self._rounds()).sum())} of {len(curves)}"
            rows.append((name, exponent.value, exponent.low, exponent.high, share))
        return Table(("policy", "exponent", "95% from", "to", "still growing"), rows)

    def pulls_of(self, actions: object) -> dict[str, FloatArray]:
        """Return how often each policy played a group of actions, one number a trial.

        ``actions`` are (K,) booleans, such as ``HardInstance.informative``, (trials, K) booleans, or row numbers.
        """
        if self.pulls is None:
            raise ArgumentValueError("pulls", "a result with counts of actions", "one that did not record them")
        return {name: group_pulls(pulls, actions) for name, pulls in self.pulls.items()}

    def pull_table(self, actions: object) -> Table:
        """Return how often a group of actions was played in a trial: mean with 95% interval, median and range."""
        rows = []
        for name, counts in self.pulls_of(actions).items():
            spread = (float(np.median(counts)), int(counts.min()), int(counts.max()))
            rows.append((name, *_mean(counts), *spread))
        rows.sort(key=lambda row: -row[1])
        return Table(("policy", "pulls", "95% from", "to", "median", "fewest", "most"), rows)

    def plot(self, path: PathLike, title: str = "") -> None:
        """Draw mean cumulative regret with 95% bands into a PNG, SVG or PDF file."""
        from sparsebandits.results.plots import regret_curves  # matplotlib, which workers do without

        regret_curves(self.regret, path, title, self.rounds)

    def plot_differences(self, path: PathLike, baseline: str, title: str = "") -> None:
        """Draw each policy's regret minus the baseline's over rounds, paired, with 95% bands."""
        self._check_policy("baseline", baseline)
        if len(self.regret) < 2:
            raise ArgumentValueError("baseline", "another policy beside it", f"{baseline!r} alone")
        from sparsebandits.results.plots import difference_curves

        difference_curves(self.regret, baseline, path, title, self.rounds)

    def plot_at(self, path: PathLike, rounds: Sequence[int], title: str = "") -> None:
        """Draw bars of regret after each of ``rounds``, with 95% intervals."""
        from sparsebandits.results.plots import horizon_bars

        horizon_bars(
            {t: {name: self.regret_at(name, t) for name in self.regret} for t in self._places(rounds)}, path, title
        )

    def plot_pulls(self, path: PathLike, actions: object, title: str = "", group: str = "the group") -> None:
        """Draw histograms over trials of how often a group of actions was played, a panel a policy."""
        from sparsebandits.results.plots import pull_histograms

        pull_histograms(self.pulls_of(actions), path, title, f"pulls of {group} in a trial")

    def report(
        self,
        path: PathLike,
        title: str = "Policies compared",
        baseline: str | None = None,
        rounds: Sequence[int] | None = None,
        groups: Mapping[str, object] | None = None,
    ) -> None:
        """Write all of it into one HTML file that opens without a network: see ``report.py``.

        Parameters
        ----------
        path : of the file; its directory is made
        title : of the page
        baseline : policy that the others are compared with; the first unless given
        rounds : rounds at which regret is compared; about a tenth, a half and all of the run unless given
        groups : name → group of actions whose pulls are shown; see :meth:`pulls_of`
        """
        from sparsebandits.results.report import write_report  # which needs this module

        write_report(self, path, title, baseline, rounds, groups)

    def _rounds(self) -> IntArray:
        if self.rounds is not None:
            return self.rounds
        return np.arange(1, next(iter(self.regret.values())).shape[1] + 1, dtype=np.intp)

    def _standing(self, at: int | None = None) -> list[str]:
        at = self.horizon if at is None else at
        return sorted(self.regret, key=lambda name: float(self.regret_at(name, at).mean()))

    def _check_policy(self, argument: str, name: object) -> None:
        if not isinstance(name, str) or name not in self.regret:
            raise ArgumentValueError(argument, f"one of {', '.join(self.regret)}", repr(name))

    def _pairs(self, baseline: str, at: int | None) -> list[tuple[str, FloatArray, FloatArray]]:
        """Return the regret of each other policy beside the baseline's, on the trials that both have played."""
        self._check_policy("baseline", baseline)
        at = self.horizon if at is None else at
        base = self.regret_at(baseline, at)
        return [(name, *paired(self.regret_at(name, at), base)) for name in self.regret if name != baseline]

    def _places(self, rounds: object) -> list[int]:
        """Return ``rounds`` in order, each once, or say which of them was not recorded."""
        if isinstance(rounds, str | bytes) or not np.iterable(rounds):
            raise ArgumentTypeError("rounds", "several rounds", shown(rounds))
        wanted = sorted({check_count("rounds", t) for t in rounds})
        if not wanted:
            raise ArgumentValueError("rounds", "at least one round", "none")
        for t in wanted:
            self._place("rounds", t)
        return wanted

    def _place(self, argument: str, at: object) -> int:
        t, rounds = check_count(argument, at), self._rounds()
        if t > rounds[-1]:
            raise ArgumentValueError(argument, f"rounds up to the horizon, {rounds[-1]}", f"{t}")
        place = int(np.searchsorted(rounds, t))
        if rounds[place] != t:
            near = " and ".join(str(r) for r in rounds[max(place - 1, 0) : place + 1])
            raise ArgumentValueError(argument, "a recorded round", f"{t}; near it {near} were recorded")
        return place


def _mean(values: FloatArray) -> tuple[float, float, float]:
    low, high = mean_interval(values)
    return float(values.mean()), float(low), float(high)
