"""What the commands that run for long share: options, the number of workers, the directory, and Ctrl-C."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

Workers = Annotated[
    int, typer.Option(min=0, metavar="N", help="Number of worker processes; 0 means one per processor core.")
]


class RunInterruptedError(Exception):
    """Ctrl-C in a run that can be resumed, with a message that says so."""


@contextmanager
def resumable(directory: Path) -> Iterator[None]:
    """Turn Ctrl-C into a message that says what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        raise RunInterruptedError(
            f"interrupted before the end; finished work is in {directory}, and the same command continues from it."
        ) from None


def worker_count(workers: int) -> int:
    """Return the number of worker processes that an option asks for."""
    return workers or os.cpu_count() or 1


def create_directory(directory: Path) -> None:
    """Create a directory and its parents, or say why not."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"out: cannot create the directory {directory}: {error.strerror}") from error
