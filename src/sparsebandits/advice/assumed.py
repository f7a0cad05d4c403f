"""What was assumed about a table, and what is wrong with it: all of it, to be said at once."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from sparsebandits.arguments import ArgumentError, ArgumentValueError

Found = TypeVar("Found")


@dataclass(frozen=True)
class Assumed:
    """Something that was assumed about a table.

    Attributes
    ----------
    text : str
        What, in words.
    column, role : str
        The column and what it is taken for; empty if it is not about a column.
    """

    text: str
    column: str = ""
    role: str = ""

    @property
    def option(self) -> str:
        """The option of the command line that states it; empty if there is none."""
        return option(self.column, self.role) if self.role else ""

    def __str__(self) -> str:
        return self.text


def option(column: str, role: str) -> str:
    """Return the option of the command line that states what a column is, quoted for a shell.

    Examples
    --------
    >>> option("Yield (%)", "reward")
    '--as "Yield (%)=reward"'
    """
    said = f"{column}={role}"
    quoted = said if re.fullmatch(r"[\w=.+%-]+", said) else '"' + re.sub(r'(["\\$`])', r"\\\1", said) + '"'
    return f"--as {quoted}"


class Complaints:
    """What is wrong with a table, gathered so that all of it can be said at once.

    Parameters
    ----------
    errors : iterable of ArgumentError, default=()
        What is known to be wrong.
    """

    def __init__(self, errors: Iterable[ArgumentError] = ()) -> None:
        self.errors = list(errors)

    def attempt(self, read: Callable[..., Found], *arguments: Any) -> Found | None:
        """Return what a function reads, or None and keep its complaint."""
        try:
            return read(*arguments)
        except ArgumentError as error:
            if str(error) not in map(str, self.errors):
                self.errors.append(error)
            return None

    def raise_all(self) -> None:
        """Raise the only error, or one that lists all."""
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            listed = "".join(f"\n- {one.name}: expected {one.expected}, got {one.got}" for one in self.errors)
            got = f"{len(self.errors)} problems:{listed}"
            raise ArgumentValueError(self.errors[0].name, "a table that can be read", got)
