"""Settings for the whole test run: property tests are the same on every run and have no deadline.

Numba notices a change in the file of a cached kernel, but not in the files that the kernel calls into. So the tests
keep compiled kernels in a directory that is named after the code of all kernels and of everything they import.
"""

import os
from pathlib import Path

from benchmarks.sources import digest, modules_in
from hypothesis import settings

CACHE = Path(__file__).parents[1] / ".numba_cache" / digest(modules_in("sparsebandits/posteriors/kernels"))
os.environ["NUMBA_CACHE_DIR"] = str(CACHE)  # absolute, for tests that change the directory

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")
