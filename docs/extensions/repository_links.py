"""Links between files of the repository, which a code host follows, led to the pages of the site.

Some pages of the site are files elsewhere in the repository (``ELSEWHERE``), included by a page here. A link to one of
these goes to its page; links inside of them, which are relative to where the file is, are made relative to the page. A
link to a directory stays as text.
"""

import os
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
    "papers/hao2021/README.md": "reproduction.md",
    "papers/hao2022/README.md": "contextual_ids.md",
}
LINK = re.compile(r"\[([^]\n]*)\]\(([^)#:\s]+)(#[^)]*)?\)")


def led(text: str, file: Path, page: Path) -> str:
    """Return the ``text`` of ``file`` with links that hold where the page is.

    >>> led("[benchmarks](../benchmarks/README.md)", ROOT / "docs/rivals.md", ROOT / "docs/rivals.md")
    '[benchmarks](benchmarks.md)'
    """

    def one(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(file.parent / link[2]))
        if not target.exists():
            return link[0]
        if target.is_dir():
            return link[1]
        elsewhere = ELSEWHERE.get(os.path.relpath(target, ROOT))
        target = target if elsewhere is None else ROOT / "docs" / elsewhere
        return f"[{link[1]}]({os.path.relpath(target, page.parent)}{link[3] or ''})"

    return LINK.sub(one, text)


def on_read(app: Any, docname: str, source: list[str]) -> None:
    """Lead the links of a page."""
    page = Path(app.env.doc2path(docname))
    source[0] = led(source[0], page, page)


def on_include(app: Any, file: Path, docname: str, content: list[str]) -> None:
    """Lead the links of a file that a page includes."""
    content[0] = led(content[0], ROOT / "docs" / file, Path(app.env.doc2path(docname)))


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("source-read", on_read)
    app.connect("include-read", on_include)
    return {"parallel_read_safe": True}
