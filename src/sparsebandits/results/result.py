"""A result as plain data, and what may be concluded from it: means, paired differences, wins, growth and pulls.

:mod:`sparsebandits.results.statistics` explains the statistics. Differences are paired, trial by trial, because every
policy met the same instances and the same noise.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, FloatArray, IntArray, check_count, shown
from sparsebandits.files import check_path
from sparsebandits.results import archive, trials
from sparsebandits.results.statistics import (
    Estimate,
    estimate_mean,
    group_pulls,
    growing,
    growth_exponent,
    paired,
    sign_test,
)
from sparsebandits.results.trials import Content
from sparsebandits.tables import Rows, Table, as_html

if TYPE_CHECKING:
    import matplotlib.figure

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Result:
    """What policies did over many trials; row i of every array is trial i, the same world for all policies.

    The methods that compare policies return :class:`~sparsebandits.results.Rows`: dicts for programs, which print as a
    table. A printed result is its :meth:`table`.

    Attributes
    ----------
    regret : dict of str to array of shape (trials, P)
        Cumulative regret of each policy at the P recorded rounds. A policy with fewer trials than others has the first
        ones, and is compared on those.
    seconds : dict of str to array of shape (trials,)
        Seconds per decision of each policy.
    rounds : array of shape (P,), default=None
        The recorded rounds, from 1; None if all rounds were recorded.
    pulls : dict of str to array of shape (trials, K), default=None
        How often each policy played each action; None if that was not recorded.
    recorded : dict of str to dict of str to array of shape (trials, P)
        Diagnostics of the decisions by policy and name.
    about : mapping, default=None
        Configuration and provenance, as plain data.

    Examples
    --------
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
    >>> [row["policy"] for row in result.growth() if row["still growing"] == row["trials"]]
    ['A']
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
            raise ArgumentValueError("regret", "the same number of rounds for every policy", f"{sorted(columns)}")
        if self.rounds is not None:
            rounds = self.rounds
            if rounds.shape != (*columns,) or rounds[0] < 1 or (np.diff(rounds) <= 0).any():
                raise ArgumentValueError("rounds", f"{columns.pop()} increasing numbers from 1", shown(rounds))

    @property
    def horizon(self) -> int:
        """The last round."""
        return int(self._rounds()[-1])

    def __repr__(self) -> str:
        count = max(len(curves) for curves in self.regret.values())
        return f"Result({', '.join(self.regret)}; {count} trials of {self.horizon} rounds)"

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        """Return final regret as a table, which notebooks show."""
        count = max(len(curves) for curves in self.regret.values())
        return as_html(f"{count} trial{'s' * (count != 1)} of {self.horizon} rounds", self.table())

    @classmethod
    def load(cls, path: PathLike) -> "Result":
        """Read a result from a file or a directory.

        Parameters
        ----------
        path : str or path
            A file that :meth:`write` has written, or a directory of ``Experiment.run(directory)``. The run may still be
            going on or may have been interrupted: the result has the trials of each policy from the first one up to the
            first one that is missing, so the number of trials may differ between policies.

        Returns
        -------
        Result
        """
        check_path(path)
        if not os.path.exists(path):
            raise FileNotFoundError(f"path: expected a file or a directory of results, got none at {path}")
        return cls(**(archive.read(path) if os.path.isfile(path) else trials.load(path)))

    def write(self, path: PathLike) -> None:
        """Write everything except the diagnostics of decisions into one Parquet file, which :meth:`load` reads."""
        content = Content(
            regret=self.regret,
            seconds=self.seconds,
            rounds=self.rounds,
            pulls=self.pulls,
            recorded=self.recorded,
            about=self.about,
        )
        archive.write(path, content)

    def final(self, name: str) -> FloatArray:
        """Return the regret of a policy at the horizon, one number per trial."""
        return self.regret_at(name, self.horizon)

    def regret_at(self, name: str, at: int) -> FloatArray:
        """Return the regret of a policy after round ``at``, one number per trial."""
        self._check_policy("name", name)
        return self.regret[name][:, self._place("at", at)]

    def table(self) -> Rows:
        """Return final regret with its 95% interval and seconds per decision, best policy first.

        Returns
        -------
        Rows
            With keys "policy", "final regret", "95% from", "to" and "seconds a decision".
        """
        data: list[dict[str, Any]] = []
        for name in self._ranked():
            seconds = float(self.seconds[name].mean()) if name in self.seconds else np.nan
            mean = estimate_mean(self.final(name))
            data.append({"policy": name, **_named("final regret", mean), "seconds a decision": seconds})
        return Rows.of(data, {"seconds a decision": "seconds per decision"})

    def at(self, rounds: Sequence[int]) -> Rows:
        """Return regret after each of ``rounds`` with its 95% interval, best policy first at each.

        Returns
        -------
        Rows
            With keys "policy", "round", "regret", "95% from", "to" and "trials".
        """
        data: list[dict[str, Any]] = []
        for t in self._places(rounds):
            for name in self._ranked(t):
                values = self.regret_at(name, t)
                mean = estimate_mean(values)
                data.append({"policy": name, "round": t, **_named("regret", mean), "trials": len(values)})
        return Rows.of(data)

    def compare(self, baseline: str, at: int | None = None) -> Rows:
        """Return the regret of each policy minus that of the baseline, paired, with its 95% interval and wins.

        Parameters
        ----------
        baseline : str
            The policy that the others are compared with.
        at : int, default=None
            The round after which they are compared; the last one by default.

        Returns
        -------
        Rows
            With keys "policy", "baseline", "difference", "95% from", "to", "ratio" (of mean regrets), "wins" and
            "trials"; smallest difference first.
        """
        data: list[dict[str, Any]] = []
        for name, mine, base in self._pairs(baseline, at):
            ratio = float(mine.mean() / base.mean()) if base.mean() > 0 else np.nan
            data.append(
                {
                    "policy": name,
                    "baseline": baseline,
                    **_named("difference", estimate_mean(mine - base)),
                    "ratio": ratio,
                    "wins": sign_test(mine - base).wins,
                    "trials": len(base),
                }
            )
        data.sort(key=lambda row: row["difference"])
        shown_rows = [
            (*(row[key] for key in ("policy", "difference", "95% from", "to", "ratio")), _count(row, "wins"))
            for row in data
        ]
        headings = (f"against {baseline}", "difference", "95% from", "to", "ratio", "wins")
        return Rows(tuple(data), Table(headings, shown_rows))

    def wins(self, baseline: str, at: int | None = None) -> Rows:
        """Return in how many trials each policy has less regret than the baseline, more, and the same.

        Parameters
        ----------
        baseline : str
            The policy that the others are compared with.
        at : int, default=None
            The round after which they are compared; the last one by default.

        Returns
        -------
        Rows
            With keys "policy", "baseline", "wins", "losses", "ties" and "sign test p", the p-value of the exact
            two-sided sign test; most wins first.
        """
        data: list[dict[str, Any]] = []
        for name, mine, base in self._pairs(baseline, at):
            test = sign_test(mine - base)
            counts = {"wins": test.wins, "losses": test.losses, "ties": test.ties}
            data.append({"policy": name, "baseline": baseline, **counts, "sign test p": test.p_value})
        data.sort(key=lambda row: -row["wins"])
        keys = ("wins", "losses", "ties", "sign test p")
        shown_rows = [(row["policy"], *(row[key] for key in keys)) for row in data]
        return Rows(tuple(data), Table((f"against {baseline}", *keys), shown_rows))

    def growth(self, part: float = 0.5) -> Rows:
        """Return how fast regret grows at the end, best policy first.

        :mod:`sparsebandits.results.statistics` says what these numbers mean and where they mislead.

        Parameters
        ----------
        part : float, default=0.5
            Share of the run, at its end, that the exponent of mean regret is fitted to.

        Returns
        -------
        Rows
            With keys "policy", "exponent", "95% from", "to", "still growing" (the number of trials whose regret grows
            linearly to the end) and "trials".
        """
        data: list[dict[str, Any]] = []
        for name in self._ranked():
            curves = self.regret[name]
            exponent = growth_exponent(curves, self._rounds(), part)
            count = int(growing(curves, self._rounds()).sum())
            data.append({"policy": name, **_named("exponent", exponent), "still growing": count, "trials": len(curves)})
        keys = ("policy", "exponent", "95% from", "to")
        shown_rows = [(*(row[key] for key in keys), _count(row, "still growing")) for row in data]
        return Rows(tuple(data), Table((*keys, "still growing"), shown_rows))

    def pulls_of(self, actions: object) -> dict[str, FloatArray]:
        """Return how often each policy played a group of actions, one number per trial.

        Parameters
        ----------
        actions : array of bool of shape (K,) or (trials, K), or sequence of int
            The group: a mask, such as ``HardInstance.informative``; a mask per trial; or row numbers.
        """
        if self.pulls is None:
            raise ArgumentValueError("pulls", "a result with counts of actions", "one that did not record them")
        return {name: group_pulls(pulls, actions) for name, pulls in self.pulls.items()}

    def pull_table(self, actions: object) -> Rows:
        """Return how often a group of actions was played per trial, most pulls first; see :meth:`pulls_of`.

        Returns
        -------
        Rows
            With keys "policy", "pulls" (the mean), "95% from", "to", "median", "fewest" and "most".
        """
        data: list[dict[str, Any]] = []
        for name, counts in self.pulls_of(actions).items():
            spread = {"median": float(np.median(counts)), "fewest": int(counts.min()), "most": int(counts.max())}
            data.append({"policy": name, **_named("pulls", estimate_mean(counts)), **spread})
        return Rows.of(sorted(data, key=lambda row: -row["pulls"]))

    def plot(self, path: PathLike | None = None, title: str = "") -> "matplotlib.figure.Figure":
        """Draw mean cumulative regret with 95% bands.

        Parameters
        ----------
        path : str or path, optional
            PNG, SVG or PDF file; by default nothing is written.
        title : str, default=""
            Title of the figure.

        Returns
        -------
        Figure
            The figure, which notebooks show.
        """
        from sparsebandits.results.plots import regret_curves  # matplotlib, which workers do not need

        return regret_curves(self.regret, path, title, self.rounds)

    def plot_differences(self, path: PathLike, baseline: str, title: str = "") -> None:
        """Draw the regret of each policy minus that of the baseline over rounds, paired, with 95% bands."""
        self._check_policy("baseline", baseline)
        if len(self.regret) < 2:
            raise ArgumentValueError("baseline", "another policy to compare it with", f"{baseline!r} alone")
        from sparsebandits.results.plots import difference_curves

        difference_curves(self.regret, baseline, path, title, self.rounds)

    def plot_at(self, path: PathLike, rounds: Sequence[int], title: str = "") -> None:
        """Draw bars of regret after each of ``rounds``, with 95% intervals."""
        from sparsebandits.results.plots import horizon_bars

        horizon_bars(
            {t: {name: self.regret_at(name, t) for name in self.regret} for t in self._places(rounds)}, path, title
        )

    def plot_pulls(self, path: PathLike, actions: object, title: str = "", group: str = "the group") -> None:
        """Draw histograms over trials of how often a group of actions was played, one panel per policy."""
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
        """Write tables, figures, configuration and provenance into one HTML file that opens without a network.

        Parameters
        ----------
        path : str or path
            The file; its directory is created.
        title : str, default="Policies compared"
            Title of the page.
        baseline : str, default=None
            Policy that the others are compared with; the first one by default.
        rounds : sequence of int, default=None
            Rounds at which regret is compared; by default about a tenth, a half and all of the run.
        groups : mapping of str to group of actions, default=None
            Groups of actions by name, whose pulls are shown; see :meth:`pulls_of`.
        """
        from sparsebandits.results.report import write_report  # matplotlib, which workers do not need

        write_report(self, path, title, baseline, rounds, groups)

    def _rounds(self) -> IntArray:
        if self.rounds is not None:
            return self.rounds
        return np.arange(1, next(iter(self.regret.values())).shape[1] + 1, dtype=np.intp)

    def _ranked(self, at: int | None = None) -> list[str]:
        """Return the policies by mean regret, best first."""
        at = self.horizon if at is None else at
        return sorted(self.regret, key=lambda name: float(self.regret_at(name, at).mean()))

    def _check_policy(self, argument: str, name: object) -> None:
        if not isinstance(name, str) or name not in self.regret:
            raise ArgumentValueError(argument, f"one of {', '.join(self.regret)}", repr(name))

    def _pairs(self, baseline: str, at: int | None) -> list[tuple[str, FloatArray, FloatArray]]:
        """Return the regret of each other policy and of the baseline, on the trials that both have played."""
        self._check_policy("baseline", baseline)
        at = self.horizon if at is None else at
        base = self.regret_at(baseline, at)
        return [(name, *paired(self.regret_at(name, at), base)) for name in self.regret if name != baseline]

    def _places(self, rounds: object) -> list[int]:
        """Return ``rounds`` in order, each once; refuse rounds that were not recorded."""
        if isinstance(rounds, str | bytes) or not np.iterable(rounds):
            raise ArgumentTypeError("rounds", "several rounds", shown(rounds))
        wanted = sorted({check_count("rounds", t) for t in rounds})
        if not wanted:
            raise ArgumentValueError("rounds", "at least one round", "none")
        for t in wanted:
            self._place("rounds", t)
        return wanted

    def _place(self, argument: str, at: object) -> int:
        """Return the column of round ``at``."""
        t, rounds = check_count(argument, at), self._rounds()
        if t > rounds[-1]:
            raise ArgumentValueError(argument, f"rounds up to the horizon, {rounds[-1]}", f"{t}")
        place = int(np.searchsorted(rounds, t))
        if rounds[place] != t:
            near = " and ".join(str(r) for r in rounds[max(place - 1, 0) : place + 1])
            raise ArgumentValueError(argument, "a recorded round", f"{t}; the nearest recorded rounds are {near}")
        return place


def _named(key: str, estimate: Estimate) -> dict[str, Any]:
    """Return an estimate and the ends of its interval under the keys of a row."""
    return {key: estimate.value, "95% from": estimate.low, "to": estimate.high}


def _count(row: Mapping[str, Any], key: str) -> str:
    """Return a number of trials as it is printed."""
    return f"{row[key]} of {row['trials']}"
