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

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, SaveFileError, shown
from sparsebandits.files import write_atomically
from sparsebandits.results import parquet
from sparsebandits.results.parquet import import_parquet
from sparsebandits.results.trials import Content

FORMAT, UNSEALED = 2, 1
"""The format that is written, and one that is read as well, whose files have no checksum over everything."""

KEY = "sparsebandits result"
"""Key of our header in the metadata of the file."""

SECONDS = "seconds a decision"
"""Column of the seconds per decision, under the name that files have always had."""


def write(path: str | os.PathLike[str], content: Content) -> None:
    """Write regret, pulls and seconds of every trial with configuration and provenance; same content, same bytes."""
    if not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError("path", "a path", shown(path))
    pa, _ = import_parquet()
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
    metadata = {KEY: json.dumps(header, ensure_ascii=False)}
    write_atomically(Path(path), parquet.write(pa.table(columns), metadata))


def read(path: str | os.PathLike[str]) -> Content:
    """Return what :func:`write` has written.

    Raises
    ------
    SaveFileError
        If the file is missing, damaged or something else.
    """
    import_parquet()
    try:
        file, sealed = parquet.read(path, dictionaries=["policy"])
        header = json.loads(file.metadata.metadata[KEY.encode()])
        if header["format"] in (FORMAT, UNSEALED):
            if sealed != (header["format"] == FORMAT):
                raise ValueError("its checksum is missing")
            return _content(file.read(), header)
        got = shown(header["format"])
    except Exception as error:  # a damaged file fails in many ways, all of which mean the same to the caller
        raise SaveFileError(f"path: {path} is damaged or was not written by Result.write ({error})") from error
    raise SaveFileError(f"path: this release reads format {FORMAT}, got {got} in {path}")


def _content(table: Any, header: Mapping[str, Any]) -> Content:
    known = {"policy", "trial", SECONDS, "regret", "pulls"}
    if not known - {"pulls"} <= set(table.column_names) <= known or any(one.null_count for one in table.columns):
        raise ValueError("it has other columns than a result")
    named = table.column("policy").combine_chunks()
    code, trial = named.indices.to_numpy(), table.column("trial").to_numpy()
    codes = list(dict.fromkeys(code.tolist()))
    names = dict(zip(codes, named.dictionary.take(np.array(codes, dtype=np.int64)).to_pylist(), strict=True))
    rows = {names[one]: np.flatnonzero(code == one) for one in codes}
    if len(rows) < len(codes) or any(not np.array_equal(trial[of], np.arange(len(of))) for of in rows.values()):
        raise ValueError("trials are not in order")
    seconds, regret = _float(table.column(SECONDS).to_numpy()), _float(_stacked(table.column("regret")))
    pulls = _stacked(table.column("pulls")).astype(np.intp) if "pulls" in table.column_names else None
    rounds = None if header["rounds"] is None else np.array(header["rounds"], dtype=np.intp)
    if 0 in regret.shape or (rounds is not None and rounds.shape != regret.shape[1:]):
        raise ValueError("its curves have other rounds than it says")
    if rounds is not None and (rounds[0] < 1 or (np.diff(rounds) <= 0).any()):
        raise ValueError("its rounds are not in order")
    if not isinstance(header["about"], dict | None):
        raise ValueError("its header is incomplete")
    return Content(
        regret={name: regret[of] for name, of in rows.items()},
        seconds={name: seconds[of] for name, of in rows.items()},
        rounds=rounds,
        pulls=None if pulls is None else {name: pulls[of] for name, of in rows.items()},
        recorded={},
        about=header["about"],
    )


def _float(values: Any) -> Any:
    if values.dtype != np.float64:
        raise ValueError("it has other numbers than a result")
    return values


def _lists(pa: Any, blocks: list[Any], kind: Any) -> Any:
    """Return an Arrow column with one list per row of all ``blocks``, which have the same number of columns."""
    values = np.concatenate(blocks)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel(), kind), values.shape[1])


def _stacked(column: Any) -> Any:
    flat = column.combine_chunks().flatten().to_numpy()
    return flat.reshape(len(column), -1)
