"""The command ``run``: an experiment file."""

import json
from pathlib import Path
from typing import Annotated

import typer

from sparsebandits.cli.runs import Workers, resumable, worker_count


def run(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Experiment as a TOML file; docs/experiments.md describes its keys.")
    ],
    workers: Workers = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIRECTORY", help="Directory of the results. Default: out/ and the file's name."),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address of a Dask scheduler, to run on its workers.")
    ] = None,
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="Import the policies that FILE names as MODULE:CLASS, and run them.")
    ] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.html.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Run an experiment file.

    Prints the tables, and writes figures, tables and provenance to report.html beside the results. An interrupted run
    continues when the same command is given again.
    """
    from sparsebandits.experiments import read_plan, shown_progress
    from sparsebandits.experiments.progress import waiting

    with waiting(f"Checking {file.name}"):
        plan = read_plan(file, allow_code)
    directory = Path("out") / file.stem if out is None else out
    with resumable(directory):
        result = plan.run(directory, worker_count(workers), shown_progress, scheduler)
    figure, report = directory / "regret.png", None if no_report else directory / "report.html"
    with waiting("Drawing the figures"):
        result.plot(figure, plan.title)
        if report is not None:
            result.report(report, plan.title or file.stem, plan.baseline)
    assert result.about is not None
    tuned, untracked = result.about["provenance"]["notes"]["tuned"], plan.untracked
    compared = None if plan.baseline is None else result.compare(plan.baseline)
    if as_json:
        found = {
            "table": result.table().to_dicts(),
            "compared": None if compared is None else compared.to_dicts(),
            "tuned": tuned,
            "directory": str(directory),
            "figure": str(figure),
            "report": None if report is None else str(report),
            "untracked": untracked,
        }
        typer.echo(json.dumps(found, indent=2))
        return
    typer.echo(f"\nFinal regret after {plan.horizon} rounds, mean over {plan.trials} trials with a 95% interval:\n")
    typer.echo(str(result.table()))
    if compared is not None:
        typer.echo(f"\n{compared}")
    for name, choice in tuned.items():
        edge = "; it is at the edge of the candidates" if choice["at_edge"] else ""
        typer.echo(f"\n{name}: {choice['setting']} = {choice['best']}, tuned on {choice['trials']} other trials{edge}")
    if untracked:
        typer.echo(f"\nCode outside this package, which results do not identify: {', '.join(untracked)}")
    typer.echo(f"\nResults are in {directory}, the curves in {figure}")
    if report is not None:
        typer.echo(f"The report is in {report}")
