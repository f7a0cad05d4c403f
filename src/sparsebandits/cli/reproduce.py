"""The command ``reproduce``: the paper's experiments, which are part of a checkout and not of the installed package."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from sparsebandits.cli.runs import Workers, resumable, worker_count

PAPER = "papers.hao2021"


def reproduce(
    what: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="claim1, figure1, figure2, figure3, or all of them: all.")
    ],
    scale: Annotated[
        str, typer.Option(metavar="full|smoke", help="As large as in the paper (hours), or a test (about a minute).")
    ] = "full",
    workers: Workers = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIRECTORY", help="Directory of the results. Default: out/reproduce/ and the scale."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Reproduce experiments of the paper, in a checkout.

    The paper is Hao, Lattimore and Deng (2021). An interrupted run continues when the same command is given again.
    """
    runner = _runner()
    directory = Path("out/reproduce") / scale if out is None else out
    with resumable(directory):
        runner.reproduce(what, scale, directory, worker_count(workers), as_json)


def _runner() -> Any:
    """Return the module that runs the paper's experiments, from the checkout around the current directory."""
    if PAPER not in sys.modules:  # which "python -m papers.hao2021" has imported
        here = Path.cwd()
        checkouts = (folder for folder in (here, *here.parents) if (folder / "papers/hao2021/runner.py").is_file())
        checkout = next(checkouts, None)
        if checkout is None:
            raise FileNotFoundError(
                "reproduce needs a checkout of the repository, since the paper's experiments are not part of the "
                f"installed package; {here} is not inside one"
            )
        sys.path.insert(0, str(checkout))
    return import_module(f"{PAPER}.runner")
