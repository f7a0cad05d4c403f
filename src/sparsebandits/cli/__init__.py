"""The command line: one thin file per command over the library.

A person sees one line, never a traceback, for bad input and for Ctrl-C.
"""

import os
import sys
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer

from sparsebandits import __version__
from sparsebandits.cli.bounds import bounds
from sparsebandits.cli.decide import decide
from sparsebandits.cli.demo import demo
from sparsebandits.cli.design import design
from sparsebandits.cli.reproduce import reproduce
from sparsebandits.cli.run import run
from sparsebandits.cli.runs import RunInterruptedError
from sparsebandits.cli.usage import Command, epilog

BAD_INPUT, INTERRUPTED = 2, 130
"""Exit codes: a wrong argument, and Ctrl-C, by the convention of shells."""

UsageError: Any = typer.BadParameter.__mro__[1]
"""What Typer raises for a command line that it cannot read; it has no public name."""

COMMANDS = (demo, run, reproduce, bounds, design, decide)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sparsebandits {__version__}")
        raise typer.Exit


def _common(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(BAD_INPUT)


app = typer.Typer(
    name="sparsebandits",
    help="Sequential decisions when many features could matter and few do.",
    invoke_without_command=True,  # prints the help
    rich_markup_mode=None,  # plain help, without a type such as <bool> beside a flag
    pretty_exceptions_enable=False,
)
app.callback()(_common)
for _command in COMMANDS:
    app.command(cls=Command, epilog=epilog(_command.__name__))(_command)


def main() -> None:
    """Run the command line."""
    _run(lambda: app(standalone_mode=False))


def run_command(command: Callable[..., None], name: str) -> None:
    """Run one command by itself, as the program ``name``."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(cls=Command)(command)
    _run(lambda: alone(prog_name=name, standalone_mode=False))


def _run(call: Callable[[], Any]) -> None:
    """Call a command line; turn errors that a person can act on into a message and an exit code."""
    try:
        code = call()
    except UsageError as error:
        at = f" (see '{error.ctx.command_path} --help')" if error.ctx is not None else ""
        _refuse(f"{error.format_message()}{at}")
    except MemoryError as error:
        _refuse(str(error) or "not enough memory")
    except (ValueError, TypeError, OSError, ArithmeticError) as error:
        _refuse(str(error))
    except RunInterruptedError as error:
        typer.echo(f"sparsebandits: {error}", err=True)
        _leave()
    else:
        if code == INTERRUPTED:
            typer.echo("sparsebandits: interrupted before the end; no results were written.", err=True)
            _leave()
        sys.exit(code)


def _refuse(message: str) -> NoReturn:
    lines = [line.strip() for line in message.splitlines()]
    listed = "".join(f"\n{line}" if line.startswith("- ") else f" {line}" for line in lines[1:])  # a list of problems
    typer.echo(f"sparsebandits: {lines[0] if lines else ''}{listed}", err=True)
    sys.exit(BAD_INPUT)


def _leave() -> NoReturn:
    """Exit at once: Python may crash while it shuts down if the compiler of kernels was interrupted."""
    loky = sys.modules.get("joblib.externals.loky")
    if loky is not None:
        loky.get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
