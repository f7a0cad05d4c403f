"""A result as one Parquet file, to be sent or committed: one row a (policy, trial), and what it is of in the metadata.

The directory of a run (``store.py``) is for running and resuming; this is for what came out. Diagnostics of decisions
stay behind.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, shown
from sparsebandits.experiments.store import import_parquet
from sparsebandits.files import SaveFileError, write_atomically
from sparsebandits.results.result import Result

FORMAT = 1
KEY = b"sparsebandits result"


def write(result: Result, path: str | os.PathLike[str]) -> None:
    """Write the regret, pulls and seconds of every trial, the configuration and the provenance; same in, same bytes."""
    if not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError("path", "a path", shown(path))
    pa, pq = import_parquet()
    names = [name for name, curves in result.regret.items() for _ in curves]
    unknown = {name: np.full(len(curves), np.nan) for name, curves in result.regret.items()}
    columns: dict[str, Any] = {
        "policy": pa.array(names, pa.string()),
        "trial": pa.array([trial for curves in result.regret.values() for trial in range(len(curves))], pa.int32()),
        "seconds a decision": np.concatenate([result.seconds.get(name, unknown[name]) for name in result.regret]),
        "regret": _lists(pa, list(result.regret.values()), pa.float64()),
    }
    if result.pulls is not None:
        if len({result.pulls[name].shape[1] if name in result.pulls else -1 for name in result.regret}) > 1:
            raise ArgumentValueError("pulls", "counts of the same actions for every policy", "others or none for some")
        columns["pulls"] = _lists(pa, [result.pulls[name] for name in result.regret], pa.int32())
    header = {
        "format": FORMAT,
        "rounds": None if result.rounds is None else result.rounds.tolist(),
        "about": result.about,
    }
    table = pa.table(columns).replace_schema_metadata({KEY: json.dumps(header, ensure_ascii=False)})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_statistics=False, write_page_checksum=True)
    write_atomically(Path(path), bytes(sink.getvalue()))


def read(path: str | os.PathLike[str]) -> Result:
    """Return what :func:`write` has written."""
    pa, pq = import_parquet()
    try:
        table = pq.ParquetFile(path, page_checksum_verification=True).read()
        header = json.loads(table.schema.metadata[KEY])
        if header["format"] == FORMAT:
            return _result(table, header)
    except (pa.ArrowException, OSError, LookupError, TypeError, ValueError) as error:
        raise SaveFileError(f"path: {path} is damaged or was not written by Result.write ({error})") from error
    raise SaveFileError(f"path: this release reads format {FORMAT}, got {header['format']} in {path}")


def _result(table: Any, header: Mapping[str, Any]) -> Result:
    policy, trial = np.array(table.column("policy").to_pylist()), table.column("trial").to_numpy()
    names = list(dict.fromkeys(policy.tolist()))
    rows = {name: np.flatnonzero(policy == name) for name in names}
    if any(not np.array_equal(trial[rows[name]], np.arange(len(rows[name]))) for name in names):
        raise ValueError("trials are not in order")
    seconds, regret = table.column("seconds a decision").to_numpy(), _stacked(table.column("regret"))
    pulls = _stacked(table.column("pulls")).astype(np.intp) if "pulls" in table.column_names else None
    return Result(
        regret={name: regret[rows[name]] for name in names},
        seconds={name: seconds[rows[name]] for name in names},
        rounds=None if header["rounds"] is None else np.array(header["rounds"], dtype=np.intp),
        pulls=None if pulls is None else {name: pulls[rows[name]] for name in names},
        about=header["about"],
    )


def _lists(pa: Any, blocks: list[Any], kind: Any) -> Any:
    """Return an Arrow column with one list a row of all ``blocks``, which have as many columns each."""
    values = np.concatenate(blocks)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel(), kind), values.shape[1])


def _stacked(column: Any) -> Any:
    flat = column.combine_chunks().flatten().to_numpy()
    return flat.reshape(len(column), -1)
