"""The command ``demo``: the policies on random sparse problems."""

import json
from pathlib import Path
from typing import Annotated

import typer

from sparsebandits.cli.runs import Workers, create_directory, worker_count


def demo(
    dimension: Annotated[int, typer.Option(metavar="D", help="Number of features per action.")] = 40,
    sparsity: Annotated[int, typer.Option(metavar="S", help="Number of features that matter.")] = 4,
    actions: Annotated[int, typer.Option(metavar="K", help="Number of actions.")] = 200,
    horizon: Annotated[int, typer.Option(metavar="N", help="Rounds per trial.")] = 500,
    trials: Annotated[int, typer.Option(metavar="N", help="Random problems that every policy is tried on.")] = 40,
    workers: Workers = 0,
    seed: Annotated[int, typer.Option(metavar="SEED", help="Same seed, same numbers.")] = 0,
    out: Annotated[Path, typer.Option(metavar="DIRECTORY", help="Directory for the figure.")] = Path("out/demo"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Compare the policies on random sparse problems.

    Prints a table of final regret and draws regret over time.
    """
    from sparsebandits import Experiment, LinearIDS, LinTS, LinUCB, SparseIDS, SparseTS, SpikeSlab, maker
    from sparsebandits.environments import GaussianActions
    from sparsebandits.experiments import shown_progress
    from sparsebandits.experiments.progress import waiting

    environment = GaussianActions(dimension, sparsity, n_actions=actions)
    prior = SpikeSlab(sparsity / dimension, 1 / sparsity)
    policies = {
        "SparseIDS": maker(SparseIDS, prior=prior),
        "SparseTS": maker(SparseTS, prior=prior),
        "LinearIDS": LinearIDS,
        "LinTS": LinTS,
        "LinUCB": LinUCB,
    }
    experiment = Experiment(environment, policies, horizon, trials, seed)
    create_directory(out)
    with shown_progress(f"{trials} trials of {len(policies)} policies") as progress:
        result = experiment.run(workers=worker_count(workers), progress=progress)
    title = (
        f"{actions} actions, {sparsity} of {dimension} features matter, noise variance {environment.noise_variance:g}"
    )
    figure = out / "regret.png"
    with waiting("Drawing the curves"):
        result.plot(figure, title)
    if as_json:
        typer.echo(json.dumps({"table": result.table().to_dicts(), "figure": str(figure)}, indent=2))
        return
    typer.echo(f"\nFinal regret after {horizon} rounds, mean over {trials} trials with a 95% interval")
    typer.echo(f"({title}):\n")
    typer.echo(str(result.table()))
    typer.echo(f"\nThe curves are in {figure}")
