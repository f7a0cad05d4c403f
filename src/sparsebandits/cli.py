"""The command line: thin commands over the library. Mathematics lives elsewhere."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from sparsebandits import __version__
from sparsebandits.arguments import ArgumentValueError

BAD_INPUT, INTERRUPTED = 2, 130
"""Exit codes: a wrong argument, and Ctrl-C as shells have it."""


class _InterruptedError(Exception):
    """Ctrl-C, with what there is to say about it."""


@contextmanager
def _resumable(directory: Path) -> Iterator[None]:
    """Turn Ctrl-C into a word on what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        raise _InterruptedError(
            f"interrupted before the end; what is finished is in {directory}, and the same command continues from it."
        ) from None


app = typer.Typer(
    name="sparsebandits",
    help="Sequential decisions when many features could matter and few do.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sparsebandits {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    dimension: Annotated[int, typer.Option(help="Features of an action.")] = 40,
    sparsity: Annotated[int, typer.Option(help="Features that matter.")] = 4,
    actions: Annotated[int, typer.Option(help="Actions to choose from.")] = 200,
    horizon: Annotated[int, typer.Option(help="Rounds of a trial.")] = 500,
    trials: Annotated[int, typer.Option(help="Instances that every policy is tried on.")] = 40,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 is one for each core.")] = 0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    out: Annotated[Path, typer.Option(help="Directory for the figure.")] = Path("out/demo"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Compare the policies on random sparse problems: a table, and a plot of regret over time."""
    from sparsebandits import (
        Experiment,
        LinearIDS,
        LinTS,
        LinUCB,
        SparseIDS,
        SparseTS,
        SpikeSlab,
        maker,
    )
    from sparsebandits.environments import GaussianActions
    from sparsebandits.experiments.progress import shown_progress

    environment = GaussianActions(dimension, sparsity, n_actions=actions)
    prior = SpikeSlab(sparsity / dimension, 1 / sparsity)
    experiment = Experiment(
        environment,
        {
            "SparseIDS": maker(SparseIDS, prior=prior),
            "SparseTS": maker(SparseTS, prior=prior),
            "LinearIDS": LinearIDS,
            "LinTS": LinTS,
            "LinUCB": LinUCB,
        },
        horizon,
        trials,
        seed,
    )
    _make(out)
    with shown_progress(f"{trials} trials of {len(experiment.policies)} policies") as progress:
        result = experiment.run(workers=workers or os.cpu_count() or 1, progress=progress)
    title = (
        f"{actions} actions, {sparsity} of {dimension} features matter, noise variance {environment.noise_variance:g}"
    )
    figure = out / "regret.png"
    result.plot(figure, title)
    if as_json:
        typer.echo(json.dumps({"table": result.table().to_dicts(), "figure": str(figure)}, indent=2))
    else:
        typer.echo(f"\nFinal regret after {horizon} rounds, mean over {trials} trials with a 95% interval")
        typer.echo(f"({title}):\n")
        typer.echo(str(result.table()))
        typer.echo(f"\nThe curves are in {figure}")


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="An experiment as TOML; docs/experiments.md says what it holds.")],
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 is one for each core.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Directory of results; by default out/ and the file's name.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, to run on its workers.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")] = False,
) -> None:
    """Run an experiment file. Interrupted, the same command continues where it was."""
    from sparsebandits.experiments.plan import read_plan
    from sparsebandits.experiments.progress import shown_progress

    plan = read_plan(file)
    directory = Path("out") / file.stem if out is None else out
    with _resumable(directory):
        result = plan.run(directory, workers or os.cpu_count() or 1, shown_progress, scheduler)
    figure = directory / "regret.png"
    result.plot(figure, plan.title)
    assert result.about is not None
    tuned = result.about["provenance"]["notes"]["tuned"]
    compared = None if plan.baseline is None else result.compare(plan.baseline)
    if as_json:
        said = {
            "table": result.table().to_dicts(),
            "compared": None if compared is None else compared.to_dicts(),
            "tuned": tuned,
            "directory": str(directory),
            "figure": str(figure),
        }
        typer.echo(json.dumps(said, indent=2))
        return
    typer.echo(f"\nFinal regret after {plan.horizon} rounds, mean over {plan.trials} trials with a 95% interval:\n")
    typer.echo(str(result.table()))
    if compared is not None:
        typer.echo(f"\n{compared}")
    for name, choice in tuned.items():
        edge = "; it is at the edge of the candidates" if choice["at_edge"] else ""
        typer.echo(f"\n{name}: {choice['setting']} = {choice['best']}, tuned on {choice['trials']} other trials{edge}")
    typer.echo(f"\nResults are in {directory}, the curves in {figure}")


@app.command()
def reproduce(
    what: Annotated[str, typer.Argument(help="An experiment of papers/hao2021, such as figure3, or all.")],
    scale: Annotated[str, typer.Option(help="full, as in the paper (hours), or smoke (about a minute).")] = "full",
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 is one for each core.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Directory of results; by default out/reproduce/SCALE.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")] = False,
) -> None:
    """Reproduce experiments of the paper. Interrupted, the same command continues. Run it inside a checkout."""
    from sparsebandits.arguments import check_choice

    root, names = _experiments()
    check_choice("what", what, (*names, "all"))
    check_choice("scale", scale, ("full", "smoke"))
    directory = Path("out/reproduce") / scale if out is None else out
    _make(directory)
    sys.path.insert(0, str(root))
    said: dict[str, Any] = {}
    with _resumable(directory):
        for name in names if what == "all" else (what,):
            report = import_module(f"papers.hao2021.{name}").main(directory, scale, workers or os.cpu_count() or 1)
            said[name] = {"table": report.table.to_dicts(), "files": [str(file) for file in report.files]}
            if not as_json:
                typer.echo(f"{report.table}\n\nWritten: {', '.join(said[name]['files'])}\n")
        claims = import_module("papers.hao2021._claims").claims(directory) if what == "all" else {}
    for title, text in ({} if as_json else claims).items():
        typer.echo(f"{title}\n\n{text}\n")
    if scale == "smoke" and not as_json:
        typer.echo("Smoke: a few short trials show that it runs; they are no evidence.")
    if as_json:
        typer.echo(json.dumps({**said, **({"claims": claims} if claims else {})}, indent=2))


@app.command()
def bounds(
    horizon: Annotated[int, typer.Option(help="Rounds n.")],
    dimension: Annotated[int, typer.Option(help="Features d of an action.")],
    sparsity: Annotated[int, typer.Option(help="Features s that matter.")],
    actions: Annotated[int | None, typer.Option(help="Actions K; left out, a set without end.")] = None,
    c_min: Annotated[float | None, typer.Option(help="C_min of the actions, as the command design prints it.")] = None,
    noise_variance: Annotated[float, typer.Option(help="Variance of a reward around its mean.")] = 1.0,
    bound: Annotated[float | None, typer.Option(help="R_max, the largest mean reward; by default √s.")] = None,
    constant: Annotated[float | None, typer.Option(help="C in the entropy, open in the paper; by default 3e.")] = None,
    plot: Annotated[Path | None, typer.Option(help="File for a figure of the bounds over n.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print bounds and regime as JSON.")] = False,
) -> None:
    """Bounds on regret: Theorem 1 and Table 1 of the paper at these numbers, and the regime of Table 2."""
    from sparsebandits.theory import COVERING_CONSTANT, regret_bound, regret_bounds_over

    c = COVERING_CONSTANT if constant is None else constant
    found = regret_bound(horizon, dimension, sparsity, actions, c_min, noise_variance, bound, c)
    if plot is not None:
        from sparsebandits.results.plots import bound_curves

        if plot.suffix.lower() not in (".png", ".svg", ".pdf") or plot.is_dir():
            raise ArgumentValueError("plot", "a file that ends in .png, .svg or .pdf", f"{plot}")
        bound_curves(regret_bounds_over(found), plot, horizon, str(found.problem).split(", ", 1)[1])
    if as_json:
        typer.echo(json.dumps({**found.to_dict(), "figure": None if plot is None else str(plot)}, indent=2))
        return
    typer.echo(str(found))
    if plot is not None:
        typer.echo(f"\nThe bounds over n are in {plot}")


@app.command()
def design(
    file: Annotated[Path, typer.Argument(help="Actions as CSV or Parquet: one row an action, one column a feature.")],
    ignore: Annotated[
        list[str] | None, typer.Option(help="Column (or pattern) that is no feature; repeatable.")
    ] = None,
    show: Annotated[int, typer.Option(min=0, help="Actions of the distribution to print.")] = 10,
    out: Annotated[Path | None, typer.Option(help="CSV file for the weights of all actions.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """C_min of a set of actions with its certificate, and the distribution that explores it best."""
    from sparsebandits.advice.design import Exploration
    from sparsebandits.advice.read import read_actions

    found = Exploration.of(read_actions(file, ignore or ()))
    if out is not None:
        from sparsebandits.files import write_atomically

        write_atomically(out, found.to_csv().encode())
    if as_json:
        typer.echo(json.dumps({**found.to_dict(), "weights_file": None if out is None else str(out)}, indent=2))
        return
    typer.echo(found.report(show))
    if out is not None:
        typer.echo(f"\nAll weights are in {out}")


def _policy_names() -> list[str]:
    """Return what ``--policy`` may be, for completion in a shell."""
    from sparsebandits.advice.choose import POLICIES

    return list(POLICIES)


@app.command()
def decide(
    file: Annotated[Path, typer.Argument(help="CSV or Parquet: one row an action, with features and past rewards.")],
    rewards: Annotated[
        Path | None, typer.Option(help="Past rewards in a second file: two columns, the action and its reward.")
    ] = None,
    reward: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of FILE with past rewards, or a pattern ('r*'); repeatable. Default: reward, reward_1 ..."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Column of names. Default: the first column of text.")] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="Column (or pattern) that is no feature; repeatable.")
    ] = None,
    batch: Annotated[int, typer.Option(help="Different actions to recommend at once.")] = 1,
    untried: Annotated[bool, typer.Option("--untried", help="Recommend only actions without a past reward.")] = False,
    policy: Annotated[
        str,
        typer.Option(
            help="sparse-ids, sparse-ts, linear-ids, lin-ts or lin-ucb.",
            autocompletion=_policy_names,
        ),
    ] = "sparse-ids",
    noise_variance: Annotated[
        float | None, typer.Option(help="Variance of a reward around its mean. Default: learnt from the rewards.")
    ] = None,
    draws: Annotated[int, typer.Option(help="Posterior draws.")] = 10_000,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same advice. Default: a new one.")] = None,
    show: Annotated[int, typer.Option(min=0, help="Features to print.")] = 10,
    log: Annotated[
        Path | None, typer.Option(help="JSON lines to append to. Default: beside FILE, with .decisions.jsonl.")
    ] = None,
    no_log: Annotated[bool, typer.Option("--no-log", help="Write no log.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Say what to try next, why, and which features matter, from a table of actions and their past rewards."""
    from sparsebandits.advice.advice import decide

    if no_log and log is not None:
        raise ArgumentValueError("log", "none with --no-log", f"{log}")
    path = None if no_log else file.with_suffix(".decisions.jsonl") if log is None else log
    for table in (file, rewards):
        if path is not None and table is not None and path.exists() and table.exists() and path.samefile(table):
            raise ArgumentValueError("log", "a file of its own", f"{path}, from which tables are read")
    advice = decide(
        file,
        rewards,
        name=name,
        reward_columns=reward or None,
        ignore=ignore or (),
        batch=batch,
        untried=untried,
        policy=policy,
        noise_variance=noise_variance,
        n_draws=draws,
        seed=seed,
    )
    if path is not None:
        advice.append_to(path)
    if as_json:
        typer.echo(json.dumps({**advice.to_dict(), "log": None if path is None else str(path)}, indent=2))
        return
    typer.echo(advice.report(show))
    if path is not None:
        typer.echo(f"\nAppended to {path}")


def _experiments() -> tuple[Path, tuple[str, ...]]:
    """Return the checkout that the command is run in, and the names of the paper's experiments there."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        scripts = sorted((folder / "papers" / "hao2021").glob("[!_]*.py"))
        if scripts:
            return folder, tuple(script.stem for script in scripts)
    raise FileNotFoundError(
        f"the paper's experiments are not part of the installed package, and {here} is not inside a checkout: "
        "run this inside a checkout of the repository"
    )


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"out: cannot make the directory {directory}: {error.strerror}") from error


def main() -> None:
    """Run the command line; a person sees messages, never a traceback for bad input or Ctrl-C."""
    try:
        app()
    except (ValueError, TypeError, OSError, ArithmeticError, MemoryError) as error:
        typer.echo(f"sparsebandits: {str(error) or 'not enough memory'}", err=True)
        sys.exit(BAD_INPUT)
    except _InterruptedError as error:
        typer.echo(f"sparsebandits: {error}", err=True)
        _leave()
    except SystemExit as stop:
        if stop.code != INTERRUPTED:
            raise
        typer.echo("sparsebandits: interrupted before the end; no results were written.", err=True)
        _leave()


def _leave() -> NoReturn:
    """End at once: Python may crash as it shuts down, if the compiler of kernels was interrupted in the middle."""
    loky = sys.modules.get("joblib.externals.loky")
    if loky is not None:
        loky.get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
