"""A result as one Parquet file, to be sent or committed: one row per (policy, trial), configuration in the metadata.

The directory of a run (:mod:`sparsebandits.results.trials`) serves running and resuming; this file holds what came out
of it. It leaves out the diagnostics of decisions.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, shown
from sparsebandits.files import SaveFileError, write_atomically
from sparsebandits.results.trials import Content, import_parquet

FORMAT = 1
KEY = b"sparsebandits result"
"""Key of our header in the metadata of the file."""

SECONDS = "seconds a decision"
"""Column of the seconds per decision, under the name that files have always had."""


def write(path: str | os.PathLike[str], content: Content) -> None:
    """Write regret, pulls and seconds of every trial with configuration and provenance; same content, same bytes."""
    if not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError("path", "a path", shown(path))
    pa, pq = import_parquet()
    regret, seconds, pulls, rounds = content["regret"], content["seconds"], content["pulls"], content["rounds"]
    names = [name for name, curves in regret.items() for _ in curves]
    unknown = {name: np.full(len(curves), np.nan) for name, curves in regret.items()}
    columns: dict[str, Any] = {
        "policy": pa.array(names, pa.string()),
        "trial": pa.array([trial for curves in regret.values() for trial in range(len(curves))], pa.int32()),
        SECONDS: np.concatenate([seconds.get(name, unknown[name]) for name in regret]),
        "regret": _lists(pa, list(regret.values()), pa.float64()),
    }
    if pulls is not None:
        if len({pulls[name].shape[1] if name in pulls else -1 for name in regret}) > 1:
            raise ArgumentValueError(
                "pulls", "counts of the same actions for every policy", "different actions, or no counts for some"
            )
        columns["pulls"] = _lists(pa, [pulls[name] for name in regret], pa.int32())
    header = {"format": FORMAT, "rounds": None if rounds is None else rounds.tolist(), "about": content["about"]}
    table = pa.table(columns).replace_schema_metadata({KEY: json.dumps(header, ensure_ascii=False)})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_statistics=False, write_page_checksum=True)
    write_atomically(Path(path), bytes(sink.getvalue()))


def read(path: str | os.PathLike[str]) -> Content:
    """Return what :func:`write` has written."""
    pa, pq = import_parquet()
    try:
        table = pq.ParquetFile(path, page_checksum_verification=True).read()
        header = json.loads(table.schema.metadata[KEY])
        if header["format"] == FORMAT:
            return _content(table, header)
    except (pa.ArrowException, OSError, LookupError, TypeError, ValueError) as error:
        raise SaveFileError(f"path: {path} is damaged or was not written by Result.write ({error})") from error
    raise SaveFileError(f"path: this release reads format {FORMAT}, got {header['format']} in {path}")


def _content(table: Any, header: Mapping[str, Any]) -> Content:
    policy, trial = np.array(table.column("policy").to_pylist()), table.column("trial").to_numpy()
    names = list(dict.fromkeys(policy.tolist()))
    rows = {name: np.flatnonzero(policy == name) for name in names}
    if any(not np.array_equal(trial[rows[name]], np.arange(len(rows[name]))) for name in names):
        raise ValueError("trials are not in order")
    seconds, regret = table.column(SECONDS).to_numpy(), _stacked(table.column("regret"))
    pulls = _stacked(table.column("pulls")).astype(np.intp) if "pulls" in table.column_names else None
    return Content(
        regret={name: regret[rows[name]] for name in names},
        seconds={name: seconds[rows[name]] for name in names},
        rounds=None if header["rounds"] is None else np.array(header["rounds"], dtype=np.intp),
        pulls=None if pulls is None else {name: pulls[rows[name]] for name in names},
        recorded={},
        about=header["about"],
    )


def _lists(pa: Any, blocks: list[Any], kind: Any) -> Any:
    """Return an Arrow column with one list per row of all ``blocks``, which have the same number of columns."""
    values = np.concatenate(blocks)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel(), kind), values.shape[1])


def _stacked(column: Any) -> Any:
    flat = column.combine_chunks().flatten().to_numpy()
    return flat.reshape(len(column), -1)
