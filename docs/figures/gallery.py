"""Draw the pictures of docs/gallery, one per example, and write docs/gallery.md: ``python docs/figures/gallery.py``.

``python docs/figures/gallery.py clicks drift`` draws some of them. An example writes its figure to the path that it is
given; here it is made smaller, in at most 64 colours.
"""

import ast
import subprocess
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WIDTH = 800
"""Pixels."""

GROUPS = {
    "From a table": ["decide_table", "messy_table", "campaign", "target_and_cost", "curved_effects"],
    "One decision at a time": ["ask_and_tell", "clicks", "contexts", "drift"],
    "For researchers": ["compare_policies", "own_rule", "off_policy"],
}
OPENING = """# Gallery

Twelve examples, each one file that runs as it is within seconds (`python examples/clicks.py`), and writes its figure if
it is given a path. (`python docs/figures/gallery.py` draws the pictures and writes this page.)
"""


def main(names: list[str]) -> None:
    """Draw the examples of these names, by default all, and write the page."""
    for name in names or [one for group in GROUPS.values() for one in group]:
        draw(name, DOCS / "gallery" / f"{name}.png")
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")


def draw(name: str, path: Path) -> None:
    """Run an example in a directory of its own, and keep its figure."""
    path.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / "figure.png"
        command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), str(drawn)]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        picture = Image.open(drawn).convert("RGB")
    small = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
    small.quantize(64).save(path, optimize=True)


def page() -> str:
    """Return the page: tables of pictures that lead to the sources below."""
    parts = [OPENING]
    for group, names in GROUPS.items():
        pairs = zip_longest(names[::2], names[1::2], fillvalue="")
        cells = [f"| {' | '.join(thumbnail(name) for name in pair)} |" for pair in pairs]
        parts.append("\n".join([f"**{group}**", "", cells[0], "|---|---|", *cells[1:], ""]))
    parts += [section(name) for names in GROUPS.values() for name in names]
    return "\n".join(parts)


def thumbnail(name: str) -> str:
    """Return a picture that leads to its section, with the first sentence of the example."""
    return f"[![{title(name)}](gallery/{name}.png)](#{anchor(name)}) {summary(name)}" if name else ""


def section(name: str) -> str:
    """Return the source of an example, with a link to the file."""
    code = f"```{{literalinclude}} ../examples/{name}.py\n:language: python\n```"
    return f"## {title(name)}\n\n[examples/{name}.py](../examples/{name}.py)\n\n{code}\n"


def summary(name: str) -> str:
    """Return the first line of an example's docstring."""
    source = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").split("\n")[0].replace("``", "`")


def title(name: str) -> str:
    """Return a name as words."""
    return name.replace("_", " ").capitalize()


def anchor(name: str) -> str:
    """Return the anchor of a heading."""
    return title(name).lower().replace(" ", "-")


if __name__ == "__main__":
    main(sys.argv[1:])
