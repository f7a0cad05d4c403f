"""The bytes of a save file: what is refused though its checksum is right."""

import hashlib
import io
import json
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

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
    path.write_bytes(archive((npz.HEADER, HEADER), ("state/a.npy", good), compression=zipfile.ZIP_BZIP2))
    with pytest.raises(SaveFileError, match="is packed in another way"):
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


def test_what_repeats_is_deflated_and_what_looks_random_is_stored(tmp_path: Path) -> None:
    rng, path = np.random.default_rng(0), tmp_path / "state"
    rows = np.repeat(rng.standard_normal((500, 3)), 4, axis=0)
    state: dict[str, Any] = {
        "rows": rows,
        "columns": rng.integers(40, size=5000, dtype=np.int32),
        "draws": rng.standard_normal(5000),
    }
    state |= {"turned": np.asfortranarray(rows), "none": np.empty(0), "one": np.array(1.5), "text": "x" * 1000}
    write_atomically(path, pack("k", 1, state))
    assert path.stat().st_size < 0.5 * sum(one.nbytes for one in state.values() if isinstance(one, np.ndarray))
    with zipfile.ZipFile(path) as file:
        packed = {member.filename: member.compress_type for member in file.infolist()}
    assert packed["state/draws.npy"] == zipfile.ZIP_STORED
    assert packed["state/rows.npy"] == packed["state/columns.npy"] == packed[npz.HEADER] == zipfile.ZIP_DEFLATED
    found = unpack(path, "k", 1)
    for name, value in state.items():
        assert np.array_equal(found[name], value)
        assert not isinstance(value, np.ndarray) or found[name].flags.f_contiguous == value.flags.f_contiguous
    with np.load(path) as plain:  # as any program reads it
        assert np.array_equal(plain["state/rows"], rows)


def test_a_file_that_was_stored_without_compression_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    state: dict[str, Any] = {"a": np.zeros((40, 40)), "b": "x" * 1000}
    monkeypatch.setattr(npz, "WORTHWHILE", 0.0)
    (tmp_path / "state").write_bytes(content := pack("k", 1, state))
    assert len(content) > 40 * 40 * 8
    found = unpack(tmp_path / "state", "k", 1)
    assert np.array_equal(found["a"], state["a"])
    assert found["b"] == state["b"]


def test_what_would_grow_by_too_much_is_stored_and_refused_if_it_is_deflated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path, zeros = tmp_path / "state", {"a": np.zeros(3 * 2**20)}
    path.write_bytes(pack("k", 1, zeros))
    assert path.stat().st_size > zeros["a"].nbytes
    assert np.array_equal(unpack(path, "k", 1)["a"], zeros["a"])
    with monkeypatch.context() as patched:
        patched.setattr(npz, "ALLOWANCE", 2**40)
        path.write_bytes(pack("k", 1, zeros))
        assert path.stat().st_size < zeros["a"].nbytes / 100
    with pytest.raises(SaveFileError, match="would unpack to many times its size"):
        unpack(path, "k", 1)


def test_a_member_is_unpacked_no_further_than_it_declares(tmp_path: Path) -> None:
    """The directory says 144 bytes, the checksum is right, and the stream holds 64 MB."""
    good = array("(2,)", bytes(16))
    stream, large = io.BytesIO(), good + bytes(2**26)
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(npz.HEADER, HEADER, zipfile.ZIP_STORED)
        file.writestr("state/a.npy", large)
        file.infolist()[1].file_size = len(good)
        file.infolist()[1].CRC = zlib.crc32(good)
    (tmp_path / "state").write_bytes(sealed(stream.getvalue()))
    tracemalloc.start()
    try:
        assert np.array_equal(unpack(tmp_path / "state", "k", 1)["a"], np.zeros(2))
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_a_member_that_ends_early_or_is_no_stream_is_refused(tmp_path: Path) -> None:
    good = array("(200,)", bytes(1600))
    content = archive((npz.HEADER, HEADER), ("state/a.npy", good), compression=zipfile.ZIP_DEFLATED)
    (tmp_path / "state").write_bytes(content)
    assert np.array_equal(unpack(tmp_path / "state", "k", 1)["a"], np.zeros(200))
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        member = file.infolist()[1]
    start = member.header_offset + npz.LOCAL_HEADER + len(member.filename)
    for place, byte in ((start, 0xFF), (start + member.compress_size // 2, content[start] ^ 0x55)):
        whole = bytearray(content[: -npz.DIGITS])
        whole[place] = byte
        (tmp_path / "state").write_bytes(bytes(whole) + hashlib.sha256(whole).hexdigest().encode())
        with pytest.raises(SaveFileError, match="is truncated, damaged"):
            unpack(tmp_path / "state", "k", 1)
