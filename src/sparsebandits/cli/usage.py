"""Help texts: examples of each command, and the layout of what ``--help`` prints.

Typer writes required arguments as ``{FILE}`` and adds their type, as in ``FILE <path>``. Here a name is a name.
"""

from typing import Any

from typer.core import TyperCommand

EXAMPLES = {
    "demo": (
        "sparsebandits demo --trials 2 --horizon 100",
        "sparsebandits demo --dimension 10 --sparsity 2 --actions 20 --horizon 50 --json",
    ),
    "run": (
        "sparsebandits run small.toml",
        "sparsebandits run small.toml --out out/again --workers 2 --no-report",
        "sparsebandits run own.toml --allow-code --json",
    ),
    "reproduce": (
        "sparsebandits reproduce figure1 --scale smoke",
        "sparsebandits reproduce all --workers 8 --out out/paper",
    ),
    "bounds": (
        "sparsebandits bounds --horizon 1000 --dimension 100 --sparsity 10",
        "sparsebandits bounds --horizon 1000 --dimension 100 --sparsity 10 --json",
        "sparsebandits bounds --horizon 1000 --dimension 100 --sparsity 10 --plot b.png",
    ),
    "design": (
        "sparsebandits design ads.csv --ignore reward",
        "sparsebandits design ads.csv --ignore 'r*' --out weights.csv --json",
    ),
    "decide": (
        "sparsebandits decide ads.csv",
        "sparsebandits decide ads.csv --tell a=5.5 --html report.html",
        "sparsebandits decide ads.csv --batch 2 --untried --where 'size > 0.3' --no-log --json",
    ),
}
"""What the help of each command shows; ``tests/cli/test_usage.py`` runs all of them."""


def epilog(command: str) -> str:
    """Return the examples of a command, as the end of its help; the mark keeps its lines apart."""
    return "\n".join(("\b", "Examples:", *(f"  {example}" for example in EXAMPLES[command])))


class Command(TyperCommand):
    """A command whose arguments stand in its help by their names alone."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the first line of the help."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options with their descriptions."""
        rows: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is not None:
                name = one.metavar if one.param_type_name == "argument" and one.metavar else record[0]
                rows[one.param_type_name].append((name, record[1]))
        for title, found in (("Arguments", rows["argument"]), ("Options", rows["option"])):
            if found:
                with formatter.section(title):
                    formatter.write_dl(found)
