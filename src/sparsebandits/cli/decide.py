"""The command ``decide``: what to try next, from a table."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from sparsebandits.arguments import ArgumentValueError, shown

LOG = "log"
"""What ``--pending`` takes in place of a name to count all that the log has."""


def _policy_names() -> list[str]:
    """Return the values of ``--policy``, for completion in a shell."""
    from sparsebandits.advice.choose import POLICIES

    return list(POLICIES)


def decide(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Text, Excel or Parquet: one row per action, with features and past rewards."
        ),
    ],
    tell: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ACTION=REWARD",
            help="Add a reward to the file of rewards (see --rewards) before deciding; repeatable.",
        ),
    ] = None,
    correct: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ACTION=REWARD", help="Replace the last reward of an action in the file of rewards; repeatable."
        ),
    ] = None,
    rewards: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Past rewards in a second file with two columns: action and reward. Default: as FILE, with the suffix "
            ".rewards.csv, if it exists.",
        ),
    ] = None,
    reward: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of FILE with past rewards, or a pattern ('r*'); repeatable. Default: reward, reward_1, ..., "
            "or a column that is called so.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of names. Default: the first column of different words."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column that is not a feature, or a pattern; repeatable."),
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            metavar="COLUMN=KIND",
            help="What a column is: number, yes-no, category, date, name, reward, cost or ignore; repeatable.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="CONDITION", help="Recommend only rows with 'price >= 5 and colour = red'; repeatable."),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Cost of a trial: reward and information count per unit of it."),
    ] = None,
    minimize: Annotated[bool, typer.Option("--minimize", "--minimise", help="Small rewards are good.")] = False,
    target: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Rewards should be close to this number.")
    ] = None,
    effects: Annotated[
        str,
        typer.Option(
            metavar="EFFECTS",
            help="linear, quadratic (squares of columns too), interactions (and products), splines (bends), or auto: "
            "what the past rewards are the most likely with.",
        ),
    ] = "linear",
    pending: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ACTION",
            help=f"Action whose trial is under way; repeatable. '{LOG}': all in the log that have no reward yet.",
        ),
    ] = None,
    batch: Annotated[int, typer.Option(metavar="N", help="Number of different actions to recommend at once.")] = 1,
    untried: Annotated[
        bool, typer.Option("--untried", "--once", help="Recommend only actions without a past or a pending trial.")
    ] = False,
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
    decimal: Annotated[
        str | None, typer.Option(metavar="MARK", help="Decimal mark of text files, '.' or ','. Default: found.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the advice as a page for a browser.")
    ] = None,
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
    from sparsebandits.advice.decide import decide
    from sparsebandits.advice.log import log_path, pending_in, record_rewards
    from sparsebandits.advice.read import read_history
    from sparsebandits.advice.rewards_file import parse_told, rewards_path
    from sparsebandits.experiments.progress import waiting
    from sparsebandits.files import write_atomically

    if no_log and log is not None:
        raise ArgumentValueError("log", "none with --no-log", f"{log}")
    path = None if no_log else log_path(file) if log is None else log
    told_file = rewards_path(file) if rewards is None else rewards
    second = told_file if rewards is not None or told_file.exists() else None
    _check_paths(file, told_file, path, html)
    reading: dict[str, Any] = {"columns": _kinds(kinds), "where": where or (), "cost": cost, "decimal": decimal}
    lines = []
    aim = None if target is None else _number("target", target)
    told: list[tuple[str, float]] = []
    corrected: list[tuple[str, float]] = []
    under_way = [one for one in pending or () if one != LOG]
    with TemporaryDirectory() as folder:
        learnt = second
        if tell or correct or (pending and LOG in pending):
            present = second if told_file.is_file() or not tell else None  # the first reward makes the file
            past = read_history(file, present, name, reward or None, ignore or (), **reading)
            told, corrected = (parse_told(one or (), past.names, past.decimal) for one in (tell, correct))
            if told or corrected:  # a copy is learnt from, so that nothing is told before there is an answer
                learnt, second = Path(folder, told_file.name), told_file
                if told_file.is_file():
                    learnt.write_bytes(told_file.read_bytes())
                _write_rewards(learnt, told, corrected)
            past = read_history(file, learnt, name, reward or None, ignore or (), **reading)
        if pending and LOG in pending:
            under_way += pending_in(log_path(file) if path is None else path, past)
        with waiting("learning from the table"):
            advice = decide(
                file,
                learnt,
                name=name,
                reward_columns=reward or None,
                ignore=ignore or (),
                minimize=minimize,
                target=aim,
                effects=effects,
                pending=under_way,
                batch=batch,
                untried=untried,
                policy=policy,
                noise_variance=noise_variance,
                n_draws=draws,
                seed=seed,
                horizon=horizon,
                family=family,
                **reading,
            )
            page = None if html is None else advice.to_html()
    known = pending_in(path, advice.past) if path is not None and path.exists() else []  # refuses what is no log
    if html is not None and page is not None:
        write_atomically(html, page.encode())
    lines += _write_rewards(told_file, told, corrected)
    try:
        if second is not None and rewards is None:
            lines.append(f"Past rewards are read from {second} too")
        if under_way:
            lines.append(f"Pending: {', '.join(under_way)}")
        elif known:
            listed = ", ".join(dict.fromkeys(known))
            lines.append(f"Recommended before, without a reward yet: {listed} (--pending log counts with them)")
        if path is not None:
            record_rewards(path, told)
            advice.append_to(path)
            lines.append(f"Appended to {path}")
        if html is not None:
            lines.append(f"Wrote {html}")
        if as_json:
            typer.echo(json.dumps({**advice.to_dict(), "log": None if path is None else str(path)}, indent=2))
        else:
            typer.echo(advice.report(show))
            if lines:
                typer.echo("\n" + "\n".join(lines))
    except BaseException:
        if told or corrected:
            typer.echo(f"sparsebandits: the rewards are in {told_file} all the same: do not tell them again", err=True)
        raise


def _write_rewards(file: Path, told: list[tuple[str, float]], corrected: list[tuple[str, float]]) -> list[str]:
    """Add rewards to a file and correct others, and return what was done, in words."""
    from sparsebandits.advice.rewards_file import add_rewards, correct_rewards

    lines = []
    for given, change, words in (
        (told, add_rewards, "Added {} to {}"),
        (corrected, correct_rewards, "Corrected {} in {}"),
    ):
        if given:
            said = change(file, given)
            listed = ", ".join(f"{name} = {reward:.12g}" for name, reward in given)
            lines += [words.format(listed, file), *([said] if said else [])]
    return lines


def _check_paths(table: Path, told: Path, log: Path | None, html: Path | None) -> None:
    """Refuse files that would be written over another one, or cannot be written, before anything is written."""
    from sparsebandits.advice.rewards_file import BACKUP

    taken = {table.resolve(): "table"}
    backup = told.with_name(told.name + BACKUP)
    for argument, path in (("rewards", told), ("rewards", backup), ("log", log), ("html", html)):
        if path is None:
            continue
        if path.resolve() in taken:
            raise ArgumentValueError(argument, "a file of its own", f"{path}, the file of the {taken[path.resolve()]}")
        if argument in ("log", "html") and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise ArgumentValueError(argument, "a file in an existing directory", f"{path}")
        taken[path.resolve()] = argument


def _number(argument: str, text: str) -> float:
    """Return a number, with a decimal point or comma."""
    from sparsebandits.advice.values import plain_number

    found = plain_number(text, ".")
    if found is None:
        raise ArgumentValueError(argument, "a number", shown(text))
    return found


def _kinds(stated: list[str] | None) -> dict[str, str] | None:
    """Return what columns are, by name, from texts such as "colour=category"."""
    if not stated:
        return None
    pairs = [one.rpartition("=") for one in stated]
    wrong = [one for one, (column, _, _) in zip(stated, pairs, strict=True) if not column]
    if wrong:
        raise ArgumentValueError("as", "COLUMN=KIND, such as colour=category", shown(wrong[0]))
    return {column.strip(): kind.strip() for column, _, kind in pairs}
