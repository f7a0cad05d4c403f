"""Trials in files: the format of one trial, of a directory of trials, and how to read them.

    directory/provenance.json                   what was run, with which versions, on which machine
    directory/trials/POLICY/000007.parquet      the curves of trial 7 and the configuration that they belong to
    directory/trials/POLICY/000007.json         what differs between runs: seconds, processor, time

The Parquet files are the results. Their bytes do not depend on the number of workers, on where trials run, or on
interruptions. A file's configuration consists of the environment, horizon, seed, what is recorded, and its own policy;
so trials and policies can be added to a directory, and trials of another configuration are found out. Running and
resuming are in :mod:`sparsebandits.experiments.store`.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import quote, unquote

import numpy as np

from sparsebandits.arguments import ArgumentValueError, FloatArray, IntArray, SaveFileError, shown
from sparsebandits.files import opened
from sparsebandits.results import parquet
from sparsebandits.results.configuration import canonical, differences, hashed
from sparsebandits.results.parquet import import_parquet

FORMAT, UNSEALED = 2, 1
"""The format that is written, and one that is read as well, whose files have no checksum over everything."""

KEY = "sparsebandits"
"""Key of our header in the metadata of a Parquet file."""

MOST_ACTIONS = 10**7
"""Number of actions above which it is not recorded how often each was played."""

LARGEST_NOTE = 2**24
"""Largest number of bytes of a JSON file that is read."""

COLUMNS = {"round": "int64", "regret": "double", "action": "int64", "reward": "double", "probability": "double"}
"""Columns that every trial has, and their types in Arrow."""

RECORDED = "recorded: "
"""Prefix of the columns that hold diagnostics of decisions."""

LONGEST_NAME = 200
"""Longest folder name of a policy: common file systems allow 255 bytes."""


@dataclass(frozen=True, eq=False)
class Trial:
    """The curves of one policy in one trial; each array has one entry per recorded round.

    Attributes
    ----------
    regret : array of shape (P,)
        Cumulative regret.
    actions : array of shape (P,)
        Row of the action that was played; −1 where actions have no rows.
    rewards, probabilities : array of shape (P,)
        The reward, and the probability with which the action was chosen.
    recorded : dict of str to array of shape (P,)
        Diagnostics of the decisions, if they were recorded.
    pulls : array of shape (K,) or None
        How often each action was played over all rounds; None where rows are not the same in every round.
    seconds_per_decision, seconds : float
        Mean time of one decision, and time of the whole trial.
    """

    regret: FloatArray
    actions: IntArray
    rewards: FloatArray
    probabilities: FloatArray
    recorded: dict[str, FloatArray]
    pulls: IntArray | None
    seconds_per_decision: float
    seconds: float


class Content(TypedDict):
    """The fields of a :class:`~sparsebandits.Result`, as files hold them."""

    regret: Mapping[str, FloatArray]
    seconds: Mapping[str, FloatArray]
    rounds: IntArray | None
    pulls: Mapping[str, IntArray] | None
    recorded: Mapping[str, Mapping[str, FloatArray]]
    about: Mapping[str, Any] | None


def recorded_rounds(horizon: int, points: int | None) -> IntArray | None:
    """Return about ``points`` evenly spaced rounds that end with the horizon, counted from 1; None for all rounds.

    Examples
    --------
    >>> recorded_rounds(1000, 5)
    array([   1,  251,  500,  750, 1000])
    """
    if points is None or points >= horizon:
        return None
    return np.unique(np.linspace(horizon, 1, points).round().astype(np.intp))


def gather(
    trials: Mapping[str, Sequence[Trial]], rounds: IntArray | None, about: Mapping[str, Any] | None = None
) -> Content:
    """Stack the trials of each policy, in their order."""
    pulls = {name: _stacked_pulls(played) for name, played in trials.items()}
    return Content(
        regret={name: np.stack([one.regret for one in played]) for name, played in trials.items()},
        seconds={name: np.array([one.seconds_per_decision for one in played]) for name, played in trials.items()},
        rounds=rounds,
        pulls={name: counts for name, counts in pulls.items() if counts is not None} or None,
        recorded={name: _stacked_diagnostics(played) for name, played in trials.items()},
        about=about,
    )


def _stacked_pulls(played: Sequence[Trial]) -> IntArray | None:
    counts = [one.pulls for one in played if one.pulls is not None]
    same = len(counts) == len(played) and len({len(pulls) for pulls in counts}) == 1
    return np.stack(counts) if same else None


def _stacked_diagnostics(played: Sequence[Trial]) -> dict[str, FloatArray]:
    """Return each diagnostic as (trials, rounds), with NaN in trials that did not record it."""
    nothing = np.full(len(played[0].regret), np.nan)
    return {
        column: np.stack([one.recorded.get(column, nothing) for one in played])
        for column in sorted({column for one in played for column in one.recorded})
    }


def folder_name(policy: str) -> str:
    """Return a folder name that every file system accepts; ``unquote`` returns the name of the policy.

    Examples
    --------
    >>> folder_name("LinUCB, tuned"), folder_name("../ε")
    ('LinUCB, tuned', '%2E%2E%2F%CE%B5')
    """
    folder = quote(policy, safe=" ,=()+").replace(".", "%2E")
    if not folder or len(folder) > LONGEST_NAME:
        raise ArgumentValueError("policies", f"names of 1 to {LONGEST_NAME} characters", shown(policy))
    return folder


def policy_folder(directory: Path, policy: str) -> Path:
    """Return the folder of a policy's trials."""
    return directory / "trials" / folder_name(policy)


def trial_path(directory: Path, policy: str, trial: int) -> Path:
    """Return the path of a trial's Parquet file."""
    return policy_folder(directory, policy) / f"{trial:06d}.parquet"


def trial_files(directory: Path) -> list[tuple[str, int, Path]]:
    """Return (policy, trial, path) of every finished trial; temporary files of a crash begin with a dot."""
    paths = sorted((directory / "trials").glob("*/[0-9]*.parquet"))
    return [(unquote(path.parent.name), int(path.stem), path) for path in paths]


def encode(
    policy: str, trial: int, configuration: Mapping[str, Any], played: Trial, version: str, sources: str
) -> bytes:
    """Return the bytes of a trial's Parquet file; the same arguments give the same bytes.

    Parameters
    ----------
    policy : str
        Name of the policy in the experiment.
    trial : int
        Number of the trial, from 0.
    configuration : mapping
        What the trial depends on; ``horizon`` and ``points`` say which rounds are recorded.
    played : Trial
        The curves.
    version, sources : str
        Version of the package and digest of its source files.
    """
    pa, _ = import_parquet()
    pulls = None
    if played.pulls is not None and len(played.pulls) <= MOST_ACTIONS:
        rows = np.flatnonzero(played.pulls)
        pulls = {"actions": len(played.pulls), "rows": rows.tolist(), "counts": played.pulls[rows].tolist()}
    header = {
        "format": FORMAT,
        "policy": policy,
        "trial": trial,
        "hash": hashed(configuration),
        "configuration": configuration,
        "version": version,
        "sources": sources,
        "pulls": pulls,
    }
    rounds = recorded_rounds(configuration["horizon"], configuration["points"])
    columns = {
        "round": np.arange(1, configuration["horizon"] + 1) if rounds is None else rounds,
        "regret": played.regret,
        "action": played.actions,
        "reward": played.rewards,
        "probability": played.probabilities,
        **{RECORDED + column: played.recorded[column] for column in sorted(played.recorded)},
    }
    return parquet.write(pa.table(columns), {KEY: canonical(header)}, use_dictionary=False, store_schema=False)


def encode_timing(played: Trial, processor: str, finished: str) -> str:
    """Return the text of the JSON file beside a trial: what differs between runs and is no result."""
    timing = {
        "seconds_a_decision": played.seconds_per_decision,
        "seconds": played.seconds,
        "processor": processor,
        "finished": finished,
    }
    return json.dumps(timing, indent=2) + "\n"


def read_header(path: Path) -> dict[str, Any]:
    """Return the header of a trial's file: configuration, policy, trial, version, sources and pulls."""
    return _opened(path)[1]


def read_trial(path: Path) -> tuple[Trial, dict[str, Any]]:
    """Return the trial in a file, and the header of the file."""
    file, header = _opened(path)
    columns, timing = _columns(path, file), _read_timing(path)
    pulls = None
    if header["pulls"] is not None:
        pulls = np.zeros(header["pulls"]["actions"], dtype=np.intp)
        pulls[header["pulls"]["rows"]] = header["pulls"]["counts"]
    trial = Trial(
        regret=columns["regret"],
        actions=columns["action"],
        rewards=columns["reward"],
        probabilities=columns["probability"],
        recorded={name.removeprefix(RECORDED): columns[name] for name in columns if name.startswith(RECORDED)},
        pulls=pulls,
        seconds_per_decision=_number(timing.get("seconds_a_decision")),
        seconds=_number(timing.get("seconds")),
    )
    return trial, header


def _number(value: object) -> float:
    """Return a number that is no result; NaN if it is missing or something else."""
    return float(value) if isinstance(value, int | float) and abs(value) < 1e300 else np.nan


def read_final_regret(path: Path) -> float:
    """Return the regret at the horizon of the trial in a file."""
    return float(_columns(path, _opened(path)[0])["regret"][-1])


def read_provenance(directory: Path) -> dict[str, Any]:
    """Return the content of ``provenance.json``; empty if it is missing or damaged, as no result depends on it."""
    return _read_note(directory / "provenance.json")


def load(directory: str | os.PathLike[str]) -> Content:
    """Read a directory: all trials of each policy, from trial 0 up to the first one that is missing."""
    root = Path(directory)
    there: dict[str, set[int]] = {}
    for name, trial, _ in trial_files(root):
        there.setdefault(name, set()).add(trial)
    rows = {name: range(next(n for n in range(len(trials) + 1) if n not in trials)) for name, trials in there.items()}
    rows = {name: trials for name, trials in rows.items() if trials}
    if not rows:
        raise SaveFileError(f"directory: expected results of Experiment.run, got none in {directory}")
    order = list(read_provenance(root).get("configuration", {}).get("policies", {}))
    named = sorted(rows, key=lambda name: (order.index(name) if name in order else len(order), name))
    return load_trials(root, {name: rows[name] for name in named})


def load_trials(directory: Path, wanted: Mapping[str, Iterable[int]]) -> Content:
    """Read the wanted trials of each policy; refuse files of different configurations."""
    trials: dict[str, list[Trial]] = {name: [] for name in wanted}
    policies: dict[str, Any] = {}
    shared: dict[str, Any] | None = None
    sources: dict[str, int] = {}
    for name, numbers in wanted.items():
        for number in numbers:
            path = trial_path(directory, name, number)
            played, header = read_trial(path)
            policy = policies.setdefault(name, header["configuration"]["policy"])
            shared = without(header["configuration"], "policy") if shared is None else shared
            if header["hash"] != hashed({**shared, "policy": policy}):
                found = differences(header["configuration"], {**shared, "policy": policy})
                raise SaveFileError(f"directory: {path} is of another configuration than the trials before it: {found}")
            sources[header["sources"]] = sources.get(header["sources"], 0) + 1
            trials[name].append(played)
    assert shared is not None
    about = {
        "configuration": {
            **shared,
            "policies": policies,
            "trials": {name: len(played) for name, played in trials.items()},
        },
        "provenance": {
            **without(read_provenance(directory), "configuration"),
            "sources": sources,
            "seconds": {name: float(np.nansum([one.seconds for one in played])) for name, played in trials.items()},
        },
    }
    return gather(trials, recorded_rounds(shared["horizon"], shared["points"]), about)


def without(values: Mapping[str, Any], left_out: str) -> dict[str, Any]:
    """Return ``values`` without one key."""
    return {key: value for key, value in values.items() if key != left_out}


def _opened(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return a trial's file, whose checksum has been verified, and its header."""
    import_parquet()
    try:
        file, sealed = parquet.read(path)
        header = dict(json.loads(file.metadata.metadata[KEY.encode()]))
        written = header["format"]
        if written in (FORMAT, UNSEALED):
            if sealed != (written == FORMAT):
                raise ValueError("its checksum is missing")
            _check_header(header, file.metadata.num_rows)
            return file, header
    except (FileNotFoundError, PermissionError):
        raise
    except Exception as error:  # a damaged file fails in many ways, all of which mean the same to the caller
        raise _damaged(path, error) from error
    raise SaveFileError(f"directory: this release reads format {FORMAT}, got {shown(written)} in {path}")


def _check_header(header: Mapping[str, Any], rows: int) -> None:
    """Require a configuration that fits its hash and the number of recorded rounds, and pulls that can be."""
    configuration, pulls = header["configuration"], header["pulls"]
    horizon, points = configuration["horizon"], configuration["points"]
    if header["hash"] != hashed(configuration) or rows != (horizon if points is None else min(points, horizon)):
        raise ValueError("its configuration is that of another trial")
    if not isinstance(header["sources"], str) or "policy" not in configuration:
        raise ValueError("its header is incomplete")
    if pulls is not None:
        played = np.array(pulls["rows"], dtype=np.int64), np.array(pulls["counts"], dtype=np.int64)
        within = played[0].size == 0 or (played[0].min() >= 0 and played[0].max() < pulls["actions"])
        if not 0 <= pulls["actions"] <= MOST_ACTIONS or played[0].shape != played[1].shape or not within:
            raise ValueError("its pulls are not those of its actions")


def _columns(path: Path, file: Any) -> dict[str, Any]:
    """Return the columns of a trial's file as arrays."""
    try:
        table = file.read()
        found = {name: str(table.schema.field(name).type) for name in table.column_names}
        diagnostics = {name: "double" for name in found if name.startswith(RECORDED)}
        if found != COLUMNS | diagnostics or any(column.null_count for column in table.columns):
            raise ValueError("it has other columns than a trial")
        return {name: table.column(name).to_numpy() for name in found}
    except Exception as error:
        raise _damaged(path, error) from error


def _read_timing(path: Path) -> dict[str, Any]:
    """Return the JSON file beside a trial."""
    return _read_note(path.with_suffix(".json"))


def _read_note(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file; empty if it is missing or damaged, as no result depends on it."""
    try:
        with opened(path) as (file, size):
            return dict(json.loads(file.read(size))) if size <= LARGEST_NOTE else {}
    except (OSError, ValueError, TypeError, RecursionError):
        return {}


def _damaged(path: Path, error: Exception) -> SaveFileError:
    return SaveFileError(f"directory: {path} is damaged or not a result ({error}); delete it to run that trial again")
