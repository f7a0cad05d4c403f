"""The command ``decide``: what to try next, from a table."""

import json
from pathlib import Path
from typing import Annotated

import typer

from sparsebandits.arguments import ArgumentValueError


def _policy_names() -> list[str]:
    """Return the values of ``--policy``, for completion in a shell."""
    from sparsebandits.advice.choose import POLICIES

    return list(POLICIES)


def decide(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="CSV or Parquet: one row per action, with features and past rewards."),
    ],
    rewards: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Past rewards in a second file with two columns: action and reward."),
    ] = None,
    reward: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of FILE with past rewards, or a pattern ('r*'); repeatable. Default: reward, reward_1, ...",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of names. Default: the first column of text.")
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column that is not a feature, or a pattern; repeatable."),
    ] = None,
    batch: Annotated[int, typer.Option(metavar="N", help="Number of different actions to recommend at once.")] = 1,
    untried: Annotated[bool, typer.Option("--untried", help="Recommend only actions without a past reward.")] = False,
    policy: Annotated[
        str,
        typer.Option(
            metavar="POLICY",
            help="sparse-ids, sparse-ts, linear-ids, lin-ts or lin-ucb.",
            autocompletion=_policy_names,
        ),
    ] = "sparse-ids",
    noise_variance: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", help="Variance of a reward given its mean. Default: estimated from the rewards."
        ),
    ] = None,
    draws: Annotated[int, typer.Option(metavar="N", help="Number of posterior draws.")] = 10_000,
    seed: Annotated[
        int | None, typer.Option(metavar="SEED", help="Same seed, same advice. Default: a random seed.")
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option(metavar="N", help="Trials still to come, these included, for sparse-ids. Default: 200 expected."),
    ] = None,
    family: Annotated[
        str,
        typer.Option(
            metavar="FAMILY",
            help="What rewards are: gaussian (numbers), bernoulli (0 or 1), poisson (counts). "
            "Default: bernoulli if all are 0 or 1, else gaussian.",
        ),
    ] = "auto",
    show: Annotated[int, typer.Option(min=0, metavar="N", help="Number of features to print.")] = 10,
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File of JSON lines to append to. Default: as FILE, with the suffix .decisions.jsonl."
        ),
    ] = None,
    no_log: Annotated[bool, typer.Option("--no-log", help="Write no log.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Say what to try next, from a table of past rewards.

    Prints the recommended actions, why they were chosen, and which features matter.
    """
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
        horizon=horizon,
        family=family,
    )
    if path is not None:
        advice.append_to(path)
    if as_json:
        typer.echo(json.dumps({**advice.to_dict(), "log": None if path is None else str(path)}, indent=2))
        return
    typer.echo(advice.report(show))
    if path is not None:
        typer.echo(f"\nAppended to {path}")
