"""Writes that are killed, disturbed, or out of space: what they leave behind, and what the next one does about it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sparsebandits.files import write_atomically

fcntl = pytest.importorskip("fcntl", reason="needs locks and signals")


def temporaries(directory: Path) -> list[Path]:
    return sorted(directory.glob(".*.tmp"))


KILLED = """
import os, signal, sys
from sparsebandits.files import write_atomically
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
write_atomically(sys.argv[1], b"half")
"""


def test_the_next_write_removes_what_a_killed_one_has_left(tmp_path: Path) -> None:
    write_atomically(tmp_path / "state", b"first")
    for name in ("state", "other"):
        killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path / name])
        assert killed.returncode == -signal.SIGKILL
    stale = temporaries(tmp_path)
    assert len(stale) == 2
    (tmp_path / stale[0].name.replace(".0.", ".1.")).touch()  # of two processes that were killed at once
    (tmp_path / stale[1].name.replace(".0.", ".1.")).touch()
    write_atomically(tmp_path / "state", b"second")
    assert (tmp_path / "state").read_bytes() == b"second"
    assert len(temporaries(tmp_path)) == 2, "those of another file are none of its business"
    write_atomically(tmp_path / "other", b"whole")
    assert sorted(os.listdir(tmp_path)) == ["other", "state"]


def test_a_write_that_is_going_on_keeps_its_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second process writes the same file in the middle of the first."""
    path, plain = tmp_path / "state", os.fsync
    code = "import sys; from sparsebandits.files import write_atomically; write_atomically(sys.argv[1], b'second')"

    def meanwhile(handle: int) -> None:
        monkeypatch.setattr(os, "fsync", plain)
        before = temporaries(tmp_path)
        subprocess.run([sys.executable, "-c", code, path], check=True)
        assert path.read_bytes() == b"second"
        assert temporaries(tmp_path) == before

    monkeypatch.setattr(os, "fsync", meanwhile)
    write_atomically(path, b"first")
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["state"]


def test_without_locks_only_old_temporary_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr(fcntl, "flock", none)
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "state"])
    (stale,) = temporaries(tmp_path)
    write_atomically(tmp_path / "state", b"whole")
    assert temporaries(tmp_path) == [stale]
    long_ago = time.time() - 2 * 86400
    os.utime(stale, (long_ago, long_ago))
    write_atomically(tmp_path / "state", b"whole")
    assert os.listdir(tmp_path) == ["state"]


def test_many_processes_write_one_file(tmp_path: Path) -> None:
    """Each leaves a whole file, and none takes the temporary file of another."""
    code = (
        "import sys; from sparsebandits.files import write_atomically\n"
        "for _ in range(200): write_atomically(sys.argv[1], sys.argv[2].encode() * 5000)"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, tmp_path / "state", str(name)]) for name in range(3)]
    while any(writer.poll() is None for writer in writers):
        if (tmp_path / "state").exists():
            content = (tmp_path / "state").read_bytes()
            assert (len(content), len(set(content))) == (5000, 1)
        time.sleep(0.01)
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert os.listdir(tmp_path) == ["state"]


def test_a_full_disk_says_which_file_and_how_much(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from sparsebandits.files import write_atomically\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: write_atomically(sys.argv[1], bytes(5000))\n"
        "except OSError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code, tmp_path / "state"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith(f"path: cannot write 5000 bytes to '{tmp_path}/state': ")
    assert os.listdir(tmp_path) == []
