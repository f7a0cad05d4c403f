"""Files that survive a crash: state in a ``.npz`` file that is replaced in one step, and lines that are appended.

A state is a nested dict whose leaves are NumPy arrays or JSON values. Arrays are stored bit for bit and with their
memory order; everything else goes into one JSON member. Any version of NumPy can read the file; it holds no pickle.
"""

import errno
import io
import json
import os
import secrets
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, shown

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

HEADER = "header.json"


class SaveFileError(ValueError):
    """A save file is missing, truncated, damaged, or not one of this package."""


def check_path(path: object) -> None:
    """Require the name of a file.

    Parameters
    ----------
    path : object
        The argument ``path`` of a public function.

    Raises
    ------
    ArgumentTypeError
        If it is neither a string nor a path.
    """
    if not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError("path", "the name of a file", shown(path))


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a whole file, or leave the old one: a reader never sees half of it, not even after a crash.

    A link is followed, and an existing file keeps its permissions. A process that is killed while it writes may leave a
    file ``.….tmp`` behind, which is never read.

    Parameters
    ----------
    path : str or path
        The name of a file, which need not exist, in a directory that does.
    content : bytes
        All of the file.

    Raises
    ------
    OSError
        If the file cannot be written, or ``path`` is not a file but a device or a directory.
    """
    check_path(path)
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(f"path: expected a file or a new name, got {str(path) or 'an empty name'}")
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise type(error)(f"path: expected an existing directory, got {target.parent}") from None
    except OSError as error:
        raise type(error)(f"path: cannot write to {path}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            if target.exists():
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))  # os.fchmod is new on Windows in Python 3.13
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _synchronise_directory(target.parent)


def _synchronise_directory(directory: Path) -> None:
    """Make a new name in a directory reach the disk, if the directory can be opened."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def locked(path: str | os.PathLike[str], append: bool = False) -> Iterator[io.FileIO]:
    """Open a regular file to read, or to read and append to; other processes that do so wait while one appends.

    Where there are no locks (Windows, some network file systems), only one process may append at a time.

    Parameters
    ----------
    path : str or path
        The name of a file.
    append : bool, default=False
        Open it to append to, too; a new file is made if necessary.

    Raises
    ------
    OSError
        If there is no such file, or it cannot be appended to.
    """
    exists(path)
    try:
        file = io.FileIO(path, "ab+" if append else "rb")
    except OSError as error:
        raise _no_file(path, error) from error
    with file:  # closing it releases the lock
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX if append else fcntl.LOCK_SH)
        yield file


def append_durably(file: io.FileIO, content: bytes, end: int) -> None:
    """Append whole lines to a file, all of them or none; they are on the disk when this returns.

    Parameters
    ----------
    file : io.FileIO
        A file that :func:`locked` opened to append to.
    content : bytes
        The lines, with their line ends.
    end : int
        Where the last whole line of the file ends. What follows is part of a line that a crash has cut: it is removed.

    Raises
    ------
    OSError
        If the lines cannot be written.
    """
    try:
        if os.fstat(file.fileno()).st_size > end:
            file.seek(end)
            if b"\n" in file.read():
                raise OSError(errno.EBUSY, "another process has written to it, where there are no locks")
            file.truncate(end)
        try:
            if file.write(content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(end)
            raise
    except OSError as error:
        raise _no_file(str(file.name), error) from error
    if end == 0:
        _synchronise_directory(Path(os.path.realpath(file.name)).parent)  # the name of the new file


def exists(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a regular file of this name.

    Raises
    ------
    OSError
        If there cannot be one: its directory does not exist, or the name is that of a directory, a device or a pipe.
    """
    try:
        try:
            mode = os.stat(path).st_mode
        except FileNotFoundError:
            os.stat(Path(path).parent)
            return False
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise _no_file(path, error) from error
    return True


def _no_file(path: str | os.PathLike[str], error: Exception) -> OSError:
    why = getattr(error, "strerror", None) or error
    return OSError(f"path: expected a file that can be appended to, got {path}: {why}")


def pack(kind: str, version: int, state: Mapping[str, Any]) -> bytes:
    """Return a state as the bytes of an ``.npz`` file with a header.

    Parameters
    ----------
    kind : str
        What the state is of; :func:`unpack` checks it.
    version : int
        The version of the state's layout; :func:`unpack` checks it.
    state : mapping
        A nested mapping whose leaves are arrays or JSON values.

    Returns
    -------
    bytes
    """
    arrays: dict[str, np.ndarray[Any, Any]] = {}

    def plain(node: Any, path: str) -> Any:
        if isinstance(node, np.ndarray):
            arrays[path] = node
            return {"array": path}
        if isinstance(node, Mapping):
            return {"dict": {key: plain(value, f"{path}/{key}") for key, value in node.items()}}
        return {"json": node}

    header = {"kind": kind, "version": version, "state": plain(state, "state")}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as file:
        file.writestr(zipfile.ZipInfo(HEADER), json.dumps(header))
        for path, array in arrays.items():
            with file.open(zipfile.ZipInfo(f"{path}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return content.getvalue()


def unpack(path: str | os.PathLike[str], kind: str, version: int, older: str = "") -> dict[str, Any]:
    """Return the state that is in a file.

    Parameters
    ----------
    path : str or path
        The name of the file.
    kind : str
        What the state has to be of.
    version : int
        The version that the layout of the state has to have.
    older : str, optional
        What to say about files of an older version.

    Returns
    -------
    dict

    Raises
    ------
    SaveFileError
        If the file is missing or damaged, or has another kind or version.
    """
    check_path(path)
    try:
        with zipfile.ZipFile(path) as file:
            header = json.loads(file.read(HEADER))
            if header["kind"] != kind:
                raise SaveFileError(f"path: expected a file of kind {kind!r}, got {header['kind']!r} in {path}")
            if header["version"] != version:
                hint = f"; {older}" if older and header["version"] < version else ""
                raise SaveFileError(
                    f"path: this release reads version {version} of {kind!r}, got version {header['version']} in "
                    f"{path}{hint}"
                )

            def full(node: Any) -> Any:
                if "array" in node:
                    with file.open(f"{node['array']}.npy") as member:
                        return np.lib.format.read_array(member, allow_pickle=False)
                if "dict" in node:
                    return {key: full(value) for key, value in node["dict"].items()}
                return node["json"]

            return dict(full(header["state"]))
    except SaveFileError:
        raise
    except OSError as error:
        raise SaveFileError(f"path: expected a save file, got {path}: {error.strerror or error}") from error
    except Exception as error:  # a damaged archive fails in many ways, which all mean the same to the caller
        raise SaveFileError(
            f"path: {path} is truncated, damaged or not a save file of sparsebandits ({error})"
        ) from error
