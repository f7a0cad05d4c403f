"""The bytes of a save file: what is refused though its checksum is right."""

import hashlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from sparsebandits import npz
from sparsebandits.arguments import SaveFileError
from sparsebandits.files import pack, unpack, write_atomically


def sealed(content: bytes) -> bytes:
    """Give an archive a right checksum, whatever is in it."""
    with zipfile.ZipFile(stream := io.BytesIO(content), "a") as archive:
        archive.comment = npz.SEAL + bytes(npz.DIGITS)
    whole = stream.getvalue()[: -npz.DIGITS]
    return whole + hashlib.sha256(whole).hexdigest().encode()


def archive(*members: tuple[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as file:
        for name, content in members:
            file.writestr(zipfile.ZipInfo(name), content, compression)
    return sealed(stream.getvalue())


def array(shape: str, data: bytes, descr: str = "<f8") -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


HEADER = json.dumps({"kind": "k", "version": 1, "state": {"dict": {"a": {"array": "state/a"}}}}).encode()


def test_bytes_that_a_crafted_archive_may_have(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_bytes(archive((npz.HEADER, HEADER), ("state/a.npy", array("(2,)", bytes(16)))))
    assert np.array_equal(unpack(path, "k", 1)["a"], np.zeros(2))
    good = array("(2,)", bytes(16))
    for members, message in (
        ([(npz.HEADER, HEADER), ("state/a.npy", good), ("state/b.npy", good)], "arrays that belong to nothing"),
        ([(npz.HEADER, HEADER), ("state/b.npy", good)], "state/a"),
        ([("state/a.npy", good), (npz.HEADER, HEADER)], "bytes that belong to nothing"),
        ([(npz.HEADER, HEADER), ("state/a.npy", array("(1,)", bytes(16)))], "more or fewer bytes than its shape"),
        ([(npz.HEADER, HEADER), ("state/a.npy", array("(3,)", bytes(16)))], "more or fewer bytes than its shape"),
        ([(npz.HEADER, HEADER), ("state/a.npy", array("(-1, -2)", bytes(16)))], "more or fewer bytes than its shape"),
        ([(npz.HEADER, HEADER), ("state/a.npy", array("(10**12,)", bytes(16)))], "state"),
        ([(npz.HEADER, HEADER), ("state/a.npy", array("(2,)", bytes(16), "|O"))], "more or fewer bytes than its shape"),
        ([(npz.HEADER, HEADER), ("state/a.npy", b"\x93NUMPY\x02\x00" + good[8:])], "another format"),
        ([(npz.HEADER, b"[" * 100_000), ("state/a.npy", good)], "is truncated, damaged"),
    ):
        path.write_bytes(archive(*members))
        with pytest.raises(SaveFileError, match=f"^path: .*{message}"):
            unpack(path, "k", 1)
    path.write_bytes(archive((npz.HEADER, HEADER), ("state/a.npy", good), compression=zipfile.ZIP_DEFLATED))
    with pytest.raises(SaveFileError, match="is compressed"):
        unpack(path, "k", 1)
    path.write_bytes(pack("k", 1, {"a": np.zeros(2)})[: -npz.DIGITS - len(npz.SEAL)])
    with pytest.raises(SaveFileError, match="does not end as a save file does"):
        unpack(path, "k", 1)


def test_a_header_too_large_to_be_read_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz, "LARGEST_INDEX", 1000)
    pack("k", 1, {"a": "x" * 500})
    for state in ({"a": "x" * 1000}, {f"{i}": np.zeros(1) for i in range(50)}):
        with pytest.raises(ValueError, match="more than 1000 bytes"):
            pack("k", 1, state)


def test_many_arrays_with_names_beyond_ascii(tmp_path: Path) -> None:
    """More members than a zip archive has without its extension for large ones, and in any memory order."""
    rng, path = np.random.default_rng(0), tmp_path / "state"
    made = (rng.standard_normal((i % 3, 2)) for i in range(70_000))
    state = {f"Δ{i}": np.asfortranarray(one) if i % 2 else one for i, one in enumerate(made)}
    write_atomically(path, pack("k", 1, state))
    found = unpack(path, "k", 1)
    assert list(found) == list(state)
    assert all(np.array_equal(found[name], state[name]) for name in state)
    assert all(found[name].flags.f_contiguous == state[name].flags.f_contiguous for name in state)
