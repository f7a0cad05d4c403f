"""The command ``design``: how well a set of actions can be explored."""

import json
from pathlib import Path
from typing import Annotated

import typer


def design(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Actions as CSV or Parquet: one row per action, one column per feature."),
    ],
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column that is not a feature, or a pattern; repeatable."),
    ] = None,
    show: Annotated[int, typer.Option(min=0, metavar="N", help="Actions of the distribution to print.")] = 10,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="CSV file for the weights of all actions.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Compute how well a set of actions can be explored.

    Prints C_min with its certificate, and the distribution over actions that attains it.
    """
    from sparsebandits.advice.design import Exploration
    from sparsebandits.advice.read import read_actions
    from sparsebandits.experiments.progress import waiting
    from sparsebandits.files import write_atomically

    with waiting(f"Reading {file.name} and computing the design"):
        found = Exploration.of(read_actions(file, ignore or ()))
    if out is not None:
        write_atomically(out, found.to_csv().encode())
    if as_json:
        typer.echo(json.dumps({**found.to_dict(), "weights_file": None if out is None else str(out)}, indent=2))
        return
    typer.echo(found.report(show))
    if out is not None:
        typer.echo(f"\nAll weights are in {out}")
