"""Files that survive a crash: state in a file that is replaced in one step, and lines that are appended.

A state is a nested dict whose leaves are NumPy arrays or JSON values. Arrays are stored bit for bit and with their
memory order; everything else goes into one JSON member (``npz.py``).
"""

import errno
import hashlib
import io
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sparsebandits import npz
from sparsebandits.arguments import ArgumentTypeError, SaveFileError, shown

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

STALE = 86400.0
"""Seconds after which a temporary file is that of a killed process, where there are no locks to tell."""


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
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise ArgumentTypeError("path", "the name of a file", shown(path))


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a whole file, or leave the old one: a reader never sees half of it, not even after a crash.

    A link is followed, and an existing file keeps its permissions. A process that is killed while it writes may leave a
    file ``.….tmp`` behind, which is never read, and which the next write of the same file removes.

    Parameters
    ----------
    path : str or path
        The name of a file, which need not exist, in a directory that does.
    content : bytes
        All of the file.

    Raises
    ------
    OSError
        If the file cannot be written, or ``path`` cannot be the name of a file, as that of a device or a directory.
    """
    check_path(path)
    try:
        target = Path(os.path.realpath(path))
        found = os.stat(target) if target.exists() else None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise _unwritable(path, content, error) from error
    if found is not None and not stat.S_ISREG(found.st_mode):
        raise OSError(f"path: expected a file or a new name, got {str(path) or 'an empty name'}")
    try:
        temporary, handle = _temporary(target)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise type(error)(f"path: expected an existing directory, got {target.parent}") from None
    except OSError as error:
        raise _unwritable(path, content, error) from error
    try:
        with os.fdopen(handle, "wb") as file:  # closing it releases the lock
            if found is not None:
                os.chmod(temporary, stat.S_IMODE(found.st_mode))  # os.fchmod is new on Windows in Python 3.13
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # Windows cannot rename an open file, and has no locks to hold until then
                os.replace(temporary, target)
        if fcntl is None:
            os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _unwritable(path, content, error) from error
        raise
    _synchronise_directory(target.parent)


def _unwritable(path: str | os.PathLike[str], content: bytes, error: Exception) -> OSError:
    """Return an error that says which file cannot be written, how large it is, and why."""
    why = getattr(error, "strerror", None) or error
    kind = type(error) if isinstance(error, OSError) else OSError
    said = kind(f"path: cannot write {len(content)} bytes to {os.fspath(path)!r}: {why}")
    said.errno = getattr(error, "errno", None)
    return said


def _temporary(target: Path) -> tuple[Path, int]:
    """Create and lock a temporary file beside a target; remove those that killed processes have left of the same one.

    Names are numbered, so that those of one target are found without listing the directory: 0 is taken unless another
    process is writing the same file now. A file that nobody has locked is nobody's.
    """
    own = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]  # the name itself may be too long to add to
    taken: tuple[Path, int] | None = None
    for number in count():
        temporary = target.with_name(f".{own}.{number}.tmp")
        there = os.path.lexists(temporary)
        free = not there or _cleared(temporary)
        if taken is None and free:
            with suppress(FileExistsError):  # another process was faster
                taken = _created(temporary)
        elif taken is not None and not there:
            return taken
    raise AssertionError("unreachable")


def _created(temporary: Path) -> tuple[Path, int] | None:
    """Create a file and lock it; None if another process has taken it for a stale one before it was locked."""
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink == 0:
            os.close(handle)
            return None
    return temporary, handle


def _cleared(temporary: Path) -> bool:
    """Remove a temporary file, unless a process may be writing to it; return whether it is gone."""
    with suppress(OSError):  # it is gone already, or somebody else's, or open (Windows)
        if fcntl is None:
            if _old(temporary):
                temporary.unlink()
        else:
            handle = os.open(temporary, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if _abandoned(handle, temporary):
                    temporary.unlink()
            finally:
                os.close(handle)
    return not os.path.lexists(temporary)


def _abandoned(handle: int, temporary: Path) -> bool:
    """Return whether the file of this name is the one that is open here, and no process has a lock on it."""
    assert fcntl is not None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return _old(temporary)
    return os.path.samestat(os.fstat(handle), temporary.lstat())


def _old(temporary: Path) -> bool:
    return time.time() - temporary.lstat().st_mtime > STALE


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
        raise _no_file(str(file.name), error, f" for {len(content)} bytes") from error
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


def _no_file(path: str | os.PathLike[str], error: Exception, needed: str = "") -> OSError:
    why = getattr(error, "strerror", None) or error
    return OSError(f"path: expected a file that can be appended to, got {path}: {why}{needed}")


@contextmanager
def exclusively(directory: str | os.PathLike[str]) -> Iterator[None]:
    """Let one process at a time do something with the files of a directory, where there are locks."""
    handle = None
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks
            handle = os.open(directory, os.O_RDONLY)
            fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file to read; yield it and the number of its bytes.

    Raises
    ------
    OSError
        If there is no such file, or it is a directory, a device or a pipe, which may have no end.
    """
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)  # opening a pipe would wait for a writer
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, str(error)) from error
    if not regular:
        raise OSError(errno.EINVAL, "it is not a regular file")
    with open(path, "rb") as file:
        yield file, os.fstat(file.fileno()).st_size


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
    return npz.write(json.dumps(header), arrays)


def unpack(
    path: str | os.PathLike[str], kind: str, version: int, older: str = "", sealed: bool = True
) -> dict[str, Any]:
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
    sealed : bool, default=True
        Whether the file has to have a checksum. One that it has is always checked.

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
        with opened(path) as (file, size):
            reader = npz.Reader(file, size)
            header = json.loads(reader.header)
            if header["kind"] != kind:
                raise SaveFileError(f"path: expected a file of kind {kind!r}, got {shown(header['kind'])} in {path}")
            if header["version"] != version:
                hint = f"; {older}" if older and header["version"] < version else ""
                raise SaveFileError(
                    f"path: this release reads version {version} of {kind!r}, got version {shown(header['version'])} "
                    f"in {path}{hint}"
                )
            if sealed and not reader.sealed:
                raise ValueError("its checksum is missing")
            used: list[str] = []

            def full(node: Any) -> Any:
                (form, value), *more = node.items()
                if more or form not in ("array", "dict", "json"):
                    raise ValueError("its header is not that of a state")
                if form == "array":
                    used.append(value)
                    return reader.array(value)
                return {key: full(one) for key, one in value.items()} if form == "dict" else value

            state = dict(full(header["state"]))
            if used != reader.names:
                raise ValueError("it has arrays that belong to nothing")
            return state
    except SaveFileError:
        raise
    except OSError as error:
        raise SaveFileError(f"path: expected a save file, got {path}: {error.strerror or error}") from error
    except Exception as error:  # a damaged archive fails in many ways, which all mean the same to the caller
        raise SaveFileError(
            f"path: {path} is truncated, damaged or not a save file of sparsebandits ({error})"
        ) from error
