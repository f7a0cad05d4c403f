"""How kernels are compiled, and the message on standard error when compilation begins.

Compiled kernels are kept on disk (in ``NUMBA_CACHE_DIR``, or next to the sources), so users wait once for each of
them. The message tells them what for.
"""

import sys
from typing import Any

from numba.core import event

COMPILED: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"reassoc", "contract"}}
"""Settings of all kernels but the short ones that are always inlined."""

THREADED: dict[str, Any] = {**COMPILED, "nogil": True}
"""Settings of kernels that work on blocks of particles, several at a time if there are several threads."""

LINE = "sparsebandits: compiling kernels, which are kept for the next time; this takes up to 20 seconds"


class _Announcement(event.Listener):
    """Prints :data:`LINE` when a kernel of this package is not on disk and has to be compiled."""

    said = False

    def on_start(self, started: Any) -> None:
        """Print the message once per process."""
        function = started.data["dispatcher"].py_func
        if not self.said and sys.stderr is not None and function.__module__.startswith("sparsebandits."):
            self.said = True
            print(LINE, file=sys.stderr, flush=True)

    def on_end(self, ended: Any) -> None:
        """Do nothing."""


event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]
