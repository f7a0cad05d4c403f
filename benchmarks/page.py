"""Put the text of each section into ``benchmarks/README.md``: ``python -m benchmarks.page``.

The page has a block for each section, ``<!-- name -->`` to ``<!-- end -->``; what stands between is made from
``benchmarks/results/name.json``. A section without that file has not been measured yet, and its block says so. The
block ``missed`` has the targets that no other block says are met. A test holds the page against those files.
"""

import json
import re
from importlib import import_module
from pathlib import Path

from benchmarks.section import RESULTS

PAGE = Path(__file__).parent / "README.md"
MISSED = "missed"
BLOCK = re.compile(r"<!-- (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def filled(text: str) -> str:
    """Return the page with every block made anew."""

    def block(found: re.Match[str]) -> str:
        name = found.group(1)
        if name == MISSED:
            return found.group(0)
        path = RESULTS / f"{name}.json"
        section = import_module(f"benchmarks.{name}")
        shown = section.page(json.loads(path.read_text())) if path.exists() else "Not measured yet."
        return _block(name, shown)

    page = BLOCK.sub(block, text)
    blocks = {found.group(1): found.group(0) for found in BLOCK.finditer(page)}
    listed = "\n".join(f"{name}: {line}" for name, shown in blocks.items() if name != MISSED for line in missed(shown))
    return BLOCK.sub(lambda found: _block(MISSED, listed) if found.group(1) == MISSED else found.group(0), page)


def _block(name: str, shown: str) -> str:
    return f"<!-- {name} -->\n\n```text\n{shown}\n```\n\n<!-- end -->"


def missed(block: str) -> list[str]:
    r"""Return the targets of a block that are not met, each with its figure, range and wish.

    Examples
    --------
    >>> missed("target  figure  min  max  wanted      met\nspeed      1.2    1    2  at least 2  no")
    ['speed 1.2 (1 to 2), at least 2']
    """
    found, inside = [], False
    for line in block.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if cells[0] == "target":
            inside = True
        elif inside and len(cells) == 6 and cells[5] == "no":
            found.append(f"{cells[0]} {cells[1]} ({cells[2]} to {cells[3]}), {cells[4]}")
        elif len(cells) < 6:
            inside = False
    return found


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
