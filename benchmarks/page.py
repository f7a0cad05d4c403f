"""Put the text of each section into ``benchmarks/README.md``: ``python -m benchmarks.page``.

The page has a block for each section, ``<!-- name -->`` to ``<!-- end -->``; what stands between is made from
``benchmarks/results/name.json``. A section without that file has not been measured yet, and its block says so. A test
holds the page against those files.
"""

import json
import re
from importlib import import_module
from pathlib import Path

from benchmarks.section import RESULTS

PAGE = Path(__file__).parent / "README.md"
BLOCK = re.compile(r"<!-- (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def filled(text: str) -> str:
    """Return the page with every block made anew."""

    def block(found: re.Match[str]) -> str:
        name = found.group(1)
        path = RESULTS / f"{name}.json"
        section = import_module(f"benchmarks.{name}")
        shown = section.page(json.loads(path.read_text())) if path.exists() else "Not measured yet."
        return f"<!-- {name} -->\n\n```text\n{shown}\n```\n\n<!-- end -->"

    return BLOCK.sub(block, text)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
