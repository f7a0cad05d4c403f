"""A directory of results: one file a (policy, trial), written in one step by the worker that ran it.

    directory/provenance.json                   what the runs were, and what they ran on
    directory/trials/POLICY/000007.parquet      the curves of trial 7, and which configuration they are of
    directory/trials/POLICY/000007.json         what differs from run to run: seconds, processor, time

The Parquet files are the results: any number of workers, any engine and any interruption give the same bytes. What is
there is done, so resuming is listing. A file's configuration is the environment, horizon, seed, what is recorded, and
that one policy; so trials and policies can be added, and nothing else can be mixed in.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, shown
from sparsebandits.experiments.description import canonical, differences, hashed
from sparsebandits.experiments.provenance import now, package_version, processor, sources_digest
from sparsebandits.experiments.trial import Trial, gathered, recorded_rounds
from sparsebandits.files import SaveFileError, write_atomically
from sparsebandits.results.result import Result

FORMAT = 1
KEY = "sparsebandits"
"""Of the Parquet file's own metadata."""

RECORDED = "recorded: "
"""Before the name of a diagnostic, in the name of its column."""

LONGEST_NAME = 200


@dataclass(frozen=True)
class Store:
    """The files of one experiment: ``shared`` is what all its policies have in common, ``policies`` describes each."""

    directory: Path
    shared: Mapping[str, Any]
    policies: Mapping[str, Any]

    @classmethod
    def at(cls, directory: str | os.PathLike[str], shared: Mapping[str, Any], policies: Mapping[str, Any]) -> "Store":
        """Make the directories that are missing."""
        if not isinstance(directory, str | os.PathLike):
            raise ArgumentTypeError("directory", "a path", shown(directory))
        store = cls(Path(directory).absolute(), shared, policies)
        import_parquet()
        try:
            for name in policies:
                _folder(store.directory, name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(Path(directory), error) from error
        return store

    def finished(self, trials: int) -> set[tuple[str, int]]:
        """Return which (policy, trial) are there; refuse a directory that holds another configuration."""
        found, others = set(), set()
        for name, trial, path in _files(self.directory):
            if name in self.policies:
                self._check(path, self.configuration(name))
                found.add((name, trial))
            elif name not in others:  # what is shared has to agree; the rest is not ours
                self._check(path, None)
                others.add(name)
        return {(name, trial) for name, trial in found if trial < trials}

    def configuration(self, name: str) -> dict[str, Any]:
        """Return what a file of this policy is of."""
        return {**self.shared, "policy": self.policies[name]}

    def has(self, name: str, trial: int) -> bool:
        """Return whether this trial is done; refuse a file of another configuration in its place."""
        path = self._path(name, trial)
        if not path.exists():
            return False
        self._check(path, self.configuration(name))
        return True

    def write(self, name: str, trial: int, played: Trial) -> None:
        """Write the trial's two files, the one that counts last."""
        path = self._path(name, trial)
        aside = {
            "seconds_a_decision": played.seconds_a_decision,
            "seconds": played.seconds,
            "processor": processor(),
            "finished": now(),
        }
        try:
            path.with_suffix(".json").write_text(json.dumps(aside, indent=2) + "\n")  # no result: it may be lost
            write_atomically(path, self._content(name, trial, played))
        except OSError as error:
            raise _unwritable(self.directory, error) from error

    def final_regret(self, name: str, trial: int) -> float:
        """Return the regret at the horizon of a trial that is done."""
        column = _read(self._path(name, trial), ["regret"]).column("regret")
        return float(column[-1].as_py())

    def result(self, trials: int) -> Result:
        """Return the first ``trials`` trials of each policy."""
        missing = [(n, t) for n in self.policies for t in range(trials) if not self._path(n, t).exists()]
        if missing:
            raise FileNotFoundError(
                f"directory: {len(missing)} finished trials are not to be seen in {self.directory}; workers on other "
                "machines need a file system that all of them share"
            )
        return _result(self.directory, {name: range(trials) for name in self.policies})

    def note(self, provenance: Mapping[str, Any]) -> None:
        """Replace ``provenance.json``."""
        try:
            write_atomically(self.directory / "provenance.json", (json.dumps(provenance, indent=2) + "\n").encode())
        except OSError as error:
            raise _unwritable(self.directory, error) from error

    def _content(self, name: str, trial: int, played: Trial) -> bytes:
        pa, pq = import_parquet()
        configuration = self.configuration(name)
        pulls = None
        if played.pulls is not None:
            rows = np.flatnonzero(played.pulls)
            pulls = {"actions": len(played.pulls), "rows": rows.tolist(), "counts": played.pulls[rows].tolist()}
        header = {
            "format": FORMAT,
            "policy": name,
            "trial": trial,
            "hash": hashed(configuration),
            "configuration": configuration,
            "version": package_version(),
            "sources": sources_digest(),
            "pulls": pulls,
        }
        rounds = recorded_rounds(self.shared["horizon"], self.shared["points"])
        columns = {
            "round": np.arange(1, self.shared["horizon"] + 1) if rounds is None else rounds,
            "regret": played.regret,
            "action": played.actions,
            "reward": played.rewards,
            "probability": played.probabilities,
            **{RECORDED + column: played.recorded[column] for column in sorted(played.recorded)},
        }
        table = pa.table(columns)
        sink = pa.BufferOutputStream()
        settings = {
            "compression": "zstd",
            "use_dictionary": False,
            "write_statistics": False,
            "store_schema": False,
            "write_page_checksum": True,
        }
        with pq.ParquetWriter(sink, table.schema, **settings) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({KEY: canonical(header)})
        return bytes(sink.getvalue())

    def _check(self, path: Path, here: Mapping[str, Any] | None) -> None:
        """Refuse a file that is not of the configuration ``here``, or not of what is shared if there is none."""
        there = _header(path)["configuration"]
        if here is None:
            there, here = _without(there, "policy"), self.shared
        if hashed(there) != hashed(here):
            raise ValueError(
                f"directory: {self.directory} holds trials of another configuration (policy "
                f"{unquote(path.parent.name)!r}: {differences(there, here)}); nothing was changed: choose another "
                "directory"
            )

    def _path(self, name: str, trial: int) -> Path:
        return _path(self.directory, name, trial)


def _path(directory: Path, name: str, trial: int) -> Path:
    return _folder(directory, name) / f"{trial:06d}.parquet"


def _folder(directory: Path, name: str) -> Path:
    return directory / "trials" / folder_name(name)


def folder_name(policy: str) -> str:
    """Return a name that any file system takes, from which ``unquote`` gets back the policy's.

    >>> folder_name("LinUCB, tuned"), folder_name("../ε")
    ('LinUCB, tuned', '%2E%2E%2F%CE%B5')
    """
    folder = quote(policy, safe=" ,=()+").replace(".", "%2E")
    if not folder or len(folder) > LONGEST_NAME:
        raise ArgumentValueError("policies", f"names of 1 to {LONGEST_NAME} characters", shown(policy))
    return folder


def import_parquet() -> tuple[Any, Any]:
    """Return pyarrow and its Parquet module, or say how to get them."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise OSError(
            "directory: results are Parquet files, which need pyarrow (pip install 'sparsebandits[results]')"
        ) from error
    return pa, pq


def load(directory: str | os.PathLike[str]) -> Result:
    """Return what stands in ``directory``: of each policy all trials from 0 up to the first that is missing."""
    root = Path(directory)
    there: dict[str, set[int]] = {}
    for name, trial, _ in _files(root):
        there.setdefault(name, set()).add(trial)
    rows = {name: range(next(n for n in range(len(trials) + 1) if n not in trials)) for name, trials in there.items()}
    rows = {name: trials for name, trials in rows.items() if trials}
    if not rows:
        raise SaveFileError(f"directory: expected results of Experiment.run, got none in {directory}")
    order = list(provenance(root).get("configuration", {}).get("policies", {}))
    named = sorted(rows, key=lambda name: (order.index(name) if name in order else len(order), name))
    return _result(root, {name: rows[name] for name in named})


def provenance(directory: Path) -> dict[str, Any]:
    """Return what ``provenance.json`` says; nothing if it is missing or damaged, since no result depends on it."""
    try:
        return dict(json.loads((directory / "provenance.json").read_text()))
    except (OSError, ValueError):
        return {}


def _result(directory: Path, rows: Mapping[str, Iterable[int]]) -> Result:
    trials: dict[str, list[Trial]] = {name: [] for name in rows}
    policies: dict[str, Any] = {}
    shared: dict[str, Any] | None = None
    sources: dict[str, int] = {}
    for name, numbers in rows.items():
        for number in numbers:
            path = _path(directory, name, number)
            header = _header(path)
            policy = policies.setdefault(name, header["configuration"]["policy"])
            shared = _without(header["configuration"], "policy") if shared is None else shared
            if header["hash"] != hashed({**shared, "policy": policy}):
                said = differences(header["configuration"], {**shared, "policy": policy})
                raise SaveFileError(f"directory: {path} is of another configuration than the trials before it: {said}")
            sources[header["sources"]] = sources.get(header["sources"], 0) + 1
            trials[name].append(_trial(path, header))
    assert shared is not None
    about = {
        "configuration": {
            **shared,
            "policies": policies,
            "trials": {name: len(played) for name, played in trials.items()},
        },
        "provenance": {
            **_without(provenance(directory), "configuration"),
            "sources": sources,
            "seconds": {name: float(np.nansum([one.seconds for one in played])) for name, played in trials.items()},
        },
    }
    return gathered(trials, recorded_rounds(shared["horizon"], shared["points"]), about)


def _trial(path: Path, header: Mapping[str, Any]) -> Trial:
    """Read a trial back."""
    table, aside = _read(path), _aside(path)
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    pulls = None
    if header["pulls"] is not None:
        pulls = np.zeros(header["pulls"]["actions"], dtype=np.intp)
        pulls[header["pulls"]["rows"]] = header["pulls"]["counts"]
    return Trial(
        regret=columns["regret"],
        actions=columns["action"],
        rewards=columns["reward"],
        probabilities=columns["probability"],
        recorded={name.removeprefix(RECORDED): columns[name] for name in columns if name.startswith(RECORDED)},
        pulls=pulls,
        seconds_a_decision=aside.get("seconds_a_decision", np.nan),
        seconds=aside.get("seconds", np.nan),
    )


def _without(values: Mapping[str, Any], left_out: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != left_out}


def _files(directory: Path) -> list[tuple[str, int, Path]]:
    """Return (policy, trial, path) of all results; what a crash left half-written begins with a dot."""
    paths = sorted((directory / "trials").glob("*/[0-9]*.parquet"))
    return [(unquote(path.parent.name), int(path.stem), path) for path in paths]


def _header(path: Path) -> dict[str, Any]:
    _, pq = import_parquet()
    try:
        header = json.loads(pq.read_metadata(path).metadata[KEY.encode()])
    except OSError as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise _damaged(path, error) from error
    except Exception as error:
        raise _damaged(path, error) from error
    if header.get("format") != FORMAT:
        raise SaveFileError(f"directory: this release reads format {FORMAT}, got {header.get('format')} in {path}")
    return dict(header)


def _read(path: Path, columns: list[str] | None = None) -> Any:
    pa, pq = import_parquet()
    try:
        return pq.ParquetFile(path, page_checksum_verification=True).read(columns=columns)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise _damaged(path, error) from error


def _aside(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.with_suffix(".json").read_text()))
    except (OSError, ValueError):
        return {}


def _damaged(path: Path, error: Exception) -> SaveFileError:
    return SaveFileError(f"directory: {path} is damaged or not a result ({error}); delete it to run that trial again")


def _unwritable(directory: Path, error: OSError) -> OSError:
    return OSError(
        f"directory: cannot write to {directory}: {error.strerror or error}; the trials that are finished are kept, "
        "and the same run continues from them"
    )
