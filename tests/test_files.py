"""Files that survive a crash: what :mod:`sparsebandits.files` promises on every platform."""

import os
from pathlib import Path

import pytest

from sparsebandits.files import write_atomically


def test_a_replaced_file_keeps_its_permissions_without_fchmod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no ``os.fchmod`` before Python 3.13; saving a second time raised AttributeError there."""
    monkeypatch.delattr(os, "fchmod", raising=False)
    path = tmp_path / "state"
    write_atomically(path, b"first")
    path.chmod(0o600)
    mode = path.stat().st_mode
    write_atomically(path, b"second")
    assert path.read_bytes() == b"second"
    assert path.stat().st_mode == mode
    assert os.listdir(tmp_path) == ["state"]
