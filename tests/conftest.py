"""Settings for the whole test run: property tests are the same on every run and have no deadline.

Numba notices a change of the file that a cached kernel stands in, but not of the files it calls into. So the cache of
the tests goes by the contents of all kernels.
"""

import hashlib
import os
from pathlib import Path

from hypothesis import settings

POSTERIORS = Path(__file__).parents[1] / "src" / "sparsebandits" / "posteriors"
KERNELS = b"".join(path.read_bytes() for path in sorted(POSTERIORS.rglob("*.py")))
CACHE = Path(__file__).parents[1] / ".numba_cache" / hashlib.sha256(KERNELS).hexdigest()[:16]
os.environ["NUMBA_CACHE_DIR"] = str(CACHE)  # the same for tests that change the directory

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")
