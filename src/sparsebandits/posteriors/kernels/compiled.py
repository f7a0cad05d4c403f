"""How kernels are compiled, and a line on standard error when that begins.

Compiled kernels are kept on disk (``NUMBA_CACHE_DIR``, or beside the sources), so a person waits once an installation,
and should know what for.
"""

import sys
from typing import Any

from numba.core import event

COMPILED: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"reassoc", "contract"}}
"""Settings of every kernel."""

LINE = "sparsebandits: compiling kernels, once for this installation; it takes some 20 seconds of work"


class _Announcement(event.Listener):
    """Says :data:`LINE` at the first kernel of this package that is not on disk."""

    said = False

    def on_start(self, started: Any) -> None:
        """Speak, once a process."""
        function = started.data["dispatcher"].py_func
        if not self.said and sys.stderr is not None and function.__module__.startswith("sparsebandits."):
            self.said = True
            print(LINE, file=sys.stderr, flush=True)

    def on_end(self, ended: Any) -> None:
        """Say nothing."""


event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]
