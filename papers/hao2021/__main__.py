"""``python -m papers.hao2021 figure3 --scale smoke --workers 2``: the same as ``sparsebandits reproduce``."""

from sparsebandits.cli import run_command
from sparsebandits.cli.reproduce import reproduce

if __name__ == "__main__":
    run_command(reproduce, "python -m papers.hao2021")
