"""The directory that an experiment writes into: which trials are finished, and writing the others.

The worker that ran a trial writes its file in one step; :mod:`sparsebandits.results.trials` has the format. A trial
whose file exists is finished, so resuming a run means listing the files. Nothing of another configuration is mixed in.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sparsebandits.arguments import ArgumentTypeError, shown
from sparsebandits.experiments.provenance import now, package_version, processor, sources_digest, with_run
from sparsebandits.files import exclusively, write_atomically
from sparsebandits.results.configuration import differences, hashed
from sparsebandits.results.parquet import import_parquet
from sparsebandits.results.result import Result
from sparsebandits.results.trials import (
    Trial,
    encode,
    encode_timing,
    load_trials,
    policy_folder,
    read_final_regret,
    read_header,
    read_provenance,
    trial_files,
    trial_path,
    without,
)


@dataclass(frozen=True)
class Store:
    """The files of one experiment.

    Attributes
    ----------
    directory : Path
        Where the files are.
    shared : mapping
        The part of the configuration that all policies have in common.
    policies : mapping
        The description of each policy by name.
    """

    directory: Path
    shared: Mapping[str, Any]
    policies: Mapping[str, Any]

    @classmethod
    def at(cls, directory: str | os.PathLike[str], shared: Mapping[str, Any], policies: Mapping[str, Any]) -> "Store":
        """Open a directory; create the folders that are missing."""
        if not isinstance(directory, str | os.PathLike):
            raise ArgumentTypeError("directory", "a path", shown(directory))
        store = cls(Path(directory).absolute(), shared, policies)
        import_parquet()
        try:
            for name in policies:
                policy_folder(store.directory, name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(Path(directory), error) from error
        return store

    def finished(self, trials: int) -> set[tuple[str, int]]:
        """Return the finished (policy, trial) pairs; refuse a directory that holds another configuration."""
        found, others = set(), set()
        for name, trial, path in trial_files(self.directory):
            if name in self.policies:
                self._check(path, self.configuration(name))
                found.add((name, trial))
            elif name not in others:  # a policy of an earlier run: only what is shared has to agree
                self._check(path, None)
                others.add(name)
        return {(name, trial) for name, trial in found if trial < trials}

    def configuration(self, name: str) -> dict[str, Any]:
        """Return the configuration of a policy's trials."""
        return {**self.shared, "policy": self.policies[name]}

    def has(self, name: str, trial: int) -> bool:
        """Return whether this trial is finished; refuse a file of another configuration in its place."""
        path = trial_path(self.directory, name, trial)
        if not path.exists():
            return False
        self._check(path, self.configuration(name))
        return True

    def write(self, name: str, trial: int, played: Trial) -> None:
        """Write a trial's two files; the Parquet file, which marks the trial as finished, comes last."""
        path = trial_path(self.directory, name, trial)
        content = encode(name, trial, self.configuration(name), played, package_version(), sources_digest())
        try:
            write_atomically(path.with_suffix(".json"), encode_timing(played, processor(), now()).encode())
            write_atomically(path, content)
        except OSError as error:
            raise _unwritable(self.directory, error) from error

    def final_regret(self, name: str, trial: int) -> float:
        """Return the regret at the horizon of a finished trial."""
        return read_final_regret(trial_path(self.directory, name, trial))

    def result(self, trials: int) -> Result:
        """Return the first ``trials`` trials of each policy."""
        wanted = {name: range(trials) for name in self.policies}
        missing = [
            (name, trial)
            for name, numbers in wanted.items()
            for trial in numbers
            if not trial_path(self.directory, name, trial).exists()
        ]
        if missing:
            raise FileNotFoundError(
                f"directory: {len(missing)} finished trials are missing from {self.directory}; workers on other "
                "machines have to write to the same shared file system"
            )
        return Result(**load_trials(self.directory, wanted))

    def note(self, run: Mapping[str, Any], notes: Mapping[str, Any]) -> None:
        """Put the entry of a run, and what is noted of it, into ``provenance.json``; entries of other runs stay."""
        try:
            with exclusively(self.directory):  # other runs may put theirs at the same time
                provenance = with_run(read_provenance(self.directory), run, notes, self.shared, self.policies)
                content = (json.dumps(provenance, indent=2) + "\n").encode()
                write_atomically(self.directory / "provenance.json", content)
        except OSError as error:
            raise _unwritable(self.directory, error) from error

    def _check(self, path: Path, here: Mapping[str, Any] | None) -> None:
        """Refuse a file whose configuration is not ``here``; None compares only what all policies share."""
        there = read_header(path)["configuration"]
        if here is None:
            there, here = without(there, "policy"), self.shared
        if hashed(there) != hashed(here):
            raise ValueError(
                f"directory: {self.directory} holds trials of another configuration (policy "
                f"{unquote(path.parent.name)!r}: {differences(there, here)}); nothing was changed: choose another "
                "directory"
            )


def _unwritable(directory: Path, error: OSError) -> OSError:
    return OSError(
        f"directory: cannot write to {directory}: {error.strerror or error}; finished trials are kept, and the same "
        "run continues from them"
    )
