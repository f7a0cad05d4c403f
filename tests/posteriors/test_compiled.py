"""The message about compiling kernels is printed once, and only if something is compiled."""

import os
import subprocess
import sys
from pathlib import Path

from sparsebandits.posteriors.kernels.compiled import LINE

PROGRAM = """
import numpy as np
from sparsebandits.posteriors.kernels.rows import quadratic_forms
rows = np.array([0]), np.array([1]), np.array([0], np.int32), np.array([2.0])
for _ in range(2):
    quadratic_forms(rows, np.eye(2))
quadratic_forms(rows, np.asfortranarray(np.ones((2, 2))))  # another signature, another compilation
"""


def errors(cache: Path) -> str:
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return said.stderr


def test_it_is_said_when_kernels_are_compiled_and_only_then(tmp_path: Path) -> None:
    assert errors(tmp_path) == LINE + "\n"
    assert errors(tmp_path) == ""
