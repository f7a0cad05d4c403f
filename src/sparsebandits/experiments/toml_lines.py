"""Find the line of each key in a TOML text, since ``tomllib`` returns values without positions.

The text is known to be valid TOML. The scanner notes where each key begins. It skips values, except for inline tables,
whose keys it notes too.
"""

import re
import tomllib
from bisect import bisect_left
from collections.abc import Callable
from typing import TypeAlias

KeyPath: TypeAlias = tuple[str, ...]

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]+")


DEEPEST = 32
"""Largest number of brackets inside each other, and of parts of a key; an experiment needs about five."""

_TOKEN = re.compile(
    r"""(?P<string>\"{3}(?:[^\\]|\\.)*?\"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
    r"""|(?P<comment>\#[^\n]*)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<dot>\.)|(?P<apart>[=,\n])|[^"'#\[\]{}.=,\n]+|.""",
    re.DOTALL,
)


class NestingError(ValueError):
    """A text has too many brackets inside each other, or a key of too many parts.

    Parameters
    ----------
    line : int
        The line.
    """

    def __init__(self, line: int) -> None:
        super().__init__(f"expected at most {DEEPEST} levels of brackets and parts of a key, got more")
        self.line = line


def refuse_deep(text: str) -> None:
    """Refuse a text, not yet known to be TOML, that would exhaust the stack or the time of a parser.

    Parameters
    ----------
    text : str
        The text.

    Raises
    ------
    NestingError
        If it has more than ``DEEPEST`` brackets inside each other or dots in one key.
    """
    depth = dots = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        depth = max(0, depth + (kind == "open") - (kind == "close"))
        dots = 0 if kind in ("apart", "open", "close") else dots + (kind == "dot")
        if depth > DEEPEST or dots >= DEEPEST:
            raise NestingError(text.count("\n", 0, token.start()) + 1)


def key_lines(text: str) -> dict[KeyPath, int]:
    r"""Return the line of each key and each table, counted from 1.

    Examples
    --------
    >>> key_lines('horizon = 5\n[policies."Lin UCB"]\nprior = {kind = "GaussianPrior"}\n')["policies", "Lin UCB"]
    2
    """
    return _Scanner(text).scanned()


def nearest_line(lines: dict[KeyPath, int], path: KeyPath) -> int | None:
    """Return the line of ``path``, or of the innermost table around it that has one."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


class _Scanner:
    """Walks over a TOML text and notes the line of each key."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.ends = [found.start() for found in re.finditer("\n", self.text)]
        self.place = 0
        self.lines: dict[KeyPath, int] = {}

    def scanned(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self._skip(_SPACE)
        while self.place < len(self.text):
            if self._at("["):
                start = self.place
                self._skip(re.compile(r"\[+"))
                table = self._key((), start)
                self._skip(re.compile(r"\]+"))
            else:
                self._pair(table)
            self._skip(_SPACE)
        return self.lines

    def _pair(self, table: KeyPath) -> None:
        path = self._key(table, self.place)
        self.place += 1  # the equals sign
        self._value(path)

    def _key(self, table: KeyPath, start: int) -> KeyPath:
        """Skip a dotted key; note its parts, except those seen before."""
        path = table
        while True:
            self._skip(_SPACE)
            found = _STRING.match(self.text, self.place) or _BARE_KEY.match(self.text, self.place)
            assert found is not None
            part = found.group()
            path = (*path, tomllib.loads(f"v = {part}")["v"] if part[0] in "\"'" else part)
            self.lines.setdefault(path, bisect_left(self.ends, start) + 1)
            self.place = found.end()
            self._skip(_SPACE)
            if not self._at("."):
                return path
            self.place += 1

    def _value(self, path: KeyPath) -> None:
        self._skip(_SPACE)
        if self._at("{"):
            self._items("}", lambda: self._pair(path))
        elif self._at("["):
            self._items("]", lambda: self._value(path))
        else:
            self._skip(_STRING if self.text[self.place] in "\"'" else _BARE_VALUE)

    def _items(self, end: str, item: Callable[[], None]) -> None:
        self.place += 1
        self._skip(_SPACE)
        while not self._at(end):
            item()
            self._skip(_SPACE)
            if self._at(","):
                self.place += 1
                self._skip(_SPACE)
        self.place += 1

    def _at(self, mark: str) -> bool:
        return self.text.startswith(mark, self.place)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.place)
        self.place = self.place if found is None else found.end()
