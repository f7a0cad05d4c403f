"""The bytes of a save file: an ``.npz`` archive with a JSON header and a checksum over everything.

    header.json        JSON text
    NAME.npy, …        arrays, each with a header of NumPy's format 1.0; deflated where that makes them smaller
    directory          as every zip archive has one
    comment            "sha256 " and the digest of all bytes before it

Any version of NumPy can read the file; it holds no pickle. Reading it costs at most a fixed multiple of its size
(``EXPANSION``, ``ALLOWANCE``), since members fill the file without gaps, are read only when their sizes are known to
fit, and are unpacked up to the size that they declare and no further. Whatever is wrong with the bytes is a
``ValueError`` or another exception of the standard library.
"""

import hashlib
import io
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

HEADER = "header.json"

LARGEST_INDEX = 2**26
"""Largest number of bytes of the JSON header, and of the archive's directory: some hundred thousand pending decisions.
Both become Python objects, which take many times as much memory."""

SEAL = b"sha256 "
DIGITS = 64
"""Hexadecimal digits of the digest, which is what the file ends with."""

END, END_64 = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q4sLQL")
"""The record at the end of a zip archive, and what stands before it in one of more than 65,535 members or 4 GB."""

COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

LOCAL_HEADER = 30
LOCAL_SIZES = 20
"""Bytes before a member's name, and after the name where sizes have 64 bits."""

EXPANSION, ALLOWANCE = 20, 2**24
"""A file may hold so many times its size, and so many bytes more; :func:`write` leaves compression out beyond that."""

LEVEL = 1
"""Level of compression. On saved policies level 9 takes four times as long for 1 to 3% less."""

SAMPLE, WORTHWHILE = 2**15, 0.9
"""Bytes at the start of a member that are deflated to see whether all of it should be: they have to shrink to this
share. Random numbers of full precision shrink to about 0.95 only, and take most of the time: they are stored."""

KINDS = "fiub"
"""Kinds of NumPy's types that are saved: floats, integers with and without sign, and booleans."""


def write(header: str, arrays: Mapping[str, np.ndarray[Any, Any]]) -> bytes:
    """Return the bytes of a save file.

    Parameters
    ----------
    header : str
        JSON text.
    arrays : mapping of str to array
        Arrays of numbers or booleans by name.

    Raises
    ------
    ValueError
        If the header is too large to be read again.
    """
    members = {HEADER: memoryview(header.encode())}
    for name, array in arrays.items():
        member = io.BytesIO()
        np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
        members[f"{name}.npy"] = member.getbuffer()
    written = _written(members, deflate=True)
    if sum(map(len, members.values())) > EXPANSION * len(written) + ALLOWANCE:
        written = _written(members, deflate=False)
    return written


def _written(members: Mapping[str, memoryview], deflate: bool) -> bytes:
    """Return an archive of these members with a checksum."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in members.items():
            packed = zipfile.ZIP_DEFLATED if deflate and _worthwhile(data) else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(name), data, packed, LEVEL)
        archive.comment = SEAL + bytes(DIGITS)
        start = archive.fp.tell()  # type: ignore[union-attr]
    if max(len(members[HEADER]), content.tell() - start) > LARGEST_INDEX:
        raise ValueError(f"names and pending decisions take more than {LARGEST_INDEX} bytes")
    sealed = content.getvalue()[:-DIGITS]
    return sealed + hashlib.sha256(sealed).hexdigest().encode()


def _worthwhile(data: memoryview) -> bool:
    """Return whether deflating a member makes it smaller, judged by its start."""
    sample = data[:SAMPLE]
    return len(zlib.compress(sample, LEVEL)) <= WORTHWHILE * len(sample)


class Reader:
    """A save file that is open, with the sizes and places of its members checked.

    Parameters
    ----------
    file : binary file
        The file, which can seek.
    size : int
        Number of its bytes.

    Attributes
    ----------
    header : str
        JSON text.
    names : list of str
        Names of the arrays, in their order.
    sealed : bool
        Whether the file has a checksum, which is then right.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        end, self.sealed = _end(file, size)
        self._archive = zipfile.ZipFile(file)
        members = self._archive.infolist()
        _check_places(members, self._archive.start_dir)
        if sum(member.file_size for member in members) > EXPANSION * size + ALLOWANCE:
            raise ValueError("it would unpack to many times its size")
        if self._archive.start_dir != end or members[0].filename != HEADER:
            raise ValueError("it has bytes that belong to nothing")
        self.names = [member.filename.removesuffix(".npy") for member in members[1:]]
        if members[0].file_size > LARGEST_INDEX or len(set(self.names)) < len(self.names):
            raise ValueError("its header is too large, or a name occurs twice")
        if self.sealed:
            _check_seal(file, size)
        self.header = self._content(HEADER).decode()

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """Return the array of a name, which no one else holds."""
        return _array(self._content(f"{name}.npy"))

    def _content(self, name: str) -> bytes:
        """Return the bytes of a member, as many as it declares, whatever its stream would unpack to."""
        member = self._archive.getinfo(name)
        with self._archive.open(member) as file:
            content = file.read(member.file_size)  # without a number, all of the stream would be unpacked first
        if len(content) != member.file_size:
            raise ValueError(f"{name} is shorter than it says")
        return content


def _end(file: BinaryIO, size: int) -> tuple[int, bool]:
    """Return where the directory of an archive starts, and whether the archive has a seal at its end."""
    comment = len(SEAL) + DIGITS
    file.seek(max(size - comment - END.size - END_64.size, 0))
    tail = file.read(comment + END.size + END_64.size)
    sealed = tail[-comment:].startswith(SEAL)
    record = tail[: -comment or None] if sealed else tail
    if len(record) < END.size:
        raise ValueError("it is too short")
    signature, *_, count, length, start, noted = END.unpack(record[-END.size :])
    if signature != b"PK\5\6" or noted != (comment if sealed else 0):
        raise ValueError("it does not end as a save file does")
    after = END.size + (comment if sealed else 0)
    if count == 0xFFFF or 0xFFFFFFFF in (length, start):
        if len(record) < END.size + END_64.size:
            raise ValueError("it is too short")
        _, _, _, _, _, _, _, _, length, start, *_ = END_64.unpack(record[-END.size - END_64.size : -END.size])
        after += END_64.size
    if length > LARGEST_INDEX or start + length + after != size:
        raise ValueError("its directory is not where it should be")
    return start, sealed


def _check_places(members: list[zipfile.ZipInfo], end: int) -> None:
    """Require members that are stored or deflated, one directly after the other, up to the directory."""
    place = 0
    for member, following in zip(members, [*members[1:], None], strict=True):
        stored = member.compress_type == zipfile.ZIP_STORED
        if (stored and member.compress_size != member.file_size) or member.compress_type not in COMPRESSIONS:
            raise ValueError(f"{member.filename} is packed in another way")
        own = LOCAL_HEADER + len(member.orig_filename.encode()) + member.compress_size
        after = end if following is None else following.header_offset
        if member.header_offset != place or after - place - own not in (0, LOCAL_SIZES):
            raise ValueError(f"{member.filename} is not where it should be")
        place = after
    if not members:
        raise ValueError("it is empty")


def _check_seal(file: BinaryIO, size: int) -> None:
    digest, left = hashlib.sha256(), size - DIGITS
    file.seek(0)
    while left > 0:
        part = file.read(min(left, 2**20))
        if not part:
            raise ValueError("it has become shorter")
        digest.update(part)
        left -= len(part)
    if file.read(DIGITS) != digest.hexdigest().encode():
        raise ValueError("its checksum does not fit its contents")


def _array(content: bytes) -> np.ndarray[Any, Any]:
    """Return the array of a member, all of whose bytes belong to it."""
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array has another format")
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(stream)  # of at most 10,000 bytes
    start, count = stream.tell(), math.prod(shape)
    fits = min(shape, default=0) >= 0 and count * dtype.itemsize == len(content) - start
    if dtype.kind not in KINDS or not fits:
        raise ValueError("an array has more or fewer bytes than its shape says")
    flat = np.frombuffer(content, dtype, count, start) if count else np.empty(0, dtype)
    array = flat.reshape(shape, order="F" if fortran_order else "C")
    return array.astype(dtype.newbyteorder("="), order="K", copy=True)
