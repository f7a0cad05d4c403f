"""The command ``bounds``: bounds on regret at given numbers."""

import json
from pathlib import Path
from typing import Annotated

import typer

from sparsebandits.arguments import ArgumentValueError


def bounds(
    horizon: Annotated[int, typer.Option(metavar="N", help="Rounds n.")],
    dimension: Annotated[int, typer.Option(metavar="D", help="Number of features d per action.")],
    sparsity: Annotated[int, typer.Option(metavar="S", help="Number of features s that matter.")],
    actions: Annotated[
        int | None, typer.Option(metavar="K", help="Number of actions K. Default: infinitely many.")
    ] = None,
    c_min: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="C_min of the actions; the command design computes it.")
    ] = None,
    noise_variance: Annotated[float, typer.Option(metavar="NUMBER", help="Variance of a reward given its mean.")] = 1.0,
    bound: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="R_max, the largest mean reward. Default: √s.")
    ] = None,
    constant: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="C in the entropy, which the paper leaves open. Default: 3e."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="PNG, SVG or PDF file for a figure of the bounds over n.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print bounds and regime as JSON.")] = False,
) -> None:
    """Print bounds on regret at given numbers.

    The bounds are those of Theorem 1 and Table 1 of the paper, with the regime of Table 2.
    """
    from sparsebandits.experiments.progress import waiting
    from sparsebandits.theory import COVERING_CONSTANT, regret_bound, regret_bounds_over

    c = COVERING_CONSTANT if constant is None else constant
    found = regret_bound(horizon, dimension, sparsity, actions, c_min, noise_variance, bound, c)
    if plot is not None:
        from sparsebandits.results.plots import bound_curves

        if plot.suffix.lower() not in (".png", ".svg", ".pdf") or plot.is_dir():
            raise ArgumentValueError("plot", "a file that ends in .png, .svg or .pdf", f"{plot}")
        many = "infinitely many actions" if actions is None else f"K = {actions}"
        known = "" if c_min is None else f", C_min = {c_min:g}"
        scale = f"σ² = {noise_variance:g}, R_max = {found.problem.bound:.4g}"
        title = f"d = {dimension}, s = {sparsity}, {many}{known}, {scale}"
        with waiting("Computing and drawing the bounds"):
            bound_curves(regret_bounds_over(found), plot, horizon, title)
    if as_json:
        typer.echo(json.dumps({**found.to_dict(), "figure": None if plot is None else str(plot)}, indent=2))
        return
    typer.echo(str(found))
    if plot is not None:
        typer.echo(f"\nThe bounds over n are in {plot}")
