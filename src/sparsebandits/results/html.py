"""How an HTML page is made: one file that holds everything it shows.

Figures are SVG inside the page, there is no script, and a content security policy forbids the browser to fetch
anything. Nothing depends on when the page was written: the same content gives the same bytes.
"""

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from sparsebandits.tables import Table, formatted

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 56rem; padding: 1rem; background: #fff; color: #1a1a1a;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0.5rem 0; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 0.6rem; border-bottom: 1px solid #bbb; padding-bottom: 0.2rem; }
h3 { font-size: 1.05rem; margin: 1.2rem 0 0.4rem; }
p, ul { max-width: 44rem; }
figure { margin: 1rem 0; }
figure img { display: block; max-width: 100%; height: auto; margin: 0 auto; }
.wide { overflow-x: auto; margin: 0.8rem 0; }
table { border-collapse: collapse; font-size: 0.92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: 0.2rem 0; color: #444; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid #888; }
.number { text-align: right; white-space: nowrap; }
td table { margin: 0; }
td table td, td table th { padding: 0.1rem 0.5rem; }
.lead { font-size: 1.08rem; }
@media (max-width: 34rem) {
  body { padding: 0.6rem; }
  th, td { padding: 0.2rem 0.4rem; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  h2, h3 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  figure img { max-height: 16cm; }
  .wide { overflow-x: visible; }
  table { font-size: 8.5pt; }
}
"""

SECURITY_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""What the browser may load: only what is in the file."""


def page(title: str, sections: Sequence[str]) -> str:
    """Return a whole page of sections, which are HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{SECURITY_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{text(title)}</h1>\n"
        + "\n".join(sections)
        + "\n</main>\n</body>\n</html>\n"
    )


def text(value: object) -> str:
    """Return ``value`` as HTML text, also valid in an attribute; characters that HTML forbids become U+FFFD."""
    kept = "".join(c if c.isprintable() or c in "\n\t" or ord(c) > 0x9F else "\ufffd" for c in str(value))
    return escape(kept, quote=True)


def figure(draw: Callable[[io.BytesIO], object], alternative: str) -> str:
    """Return a figure as an image inside the page.

    Parameters
    ----------
    draw : callable
        Draws the figure as SVG into the file that it is given.
    alternative : str
        Description for readers who do not see the image.
    """
    content = io.BytesIO()
    draw(content)
    svg = content.getvalue()
    coded = base64.b64encode(svg[svg.index(b"<svg") :]).decode("ascii")
    return f'<figure><img alt="{text(alternative)}" src="data:image/svg+xml;base64,{coded}"></figure>'


def table(content: Table, caption: str = "") -> str:
    """Return a table with numbers aligned to the right; a wide table scrolls by itself."""
    numeric = [not all(isinstance(row[j], str) for row in content.rows) for j in range(len(content.columns))]
    numeric = [right or bool(j) for j, right in enumerate(numeric)]
    kind = [' class="number"' if right else "" for right in numeric]
    head = "".join(
        f'<th scope="col"{which}>{text(name)}</th>' for name, which in zip(content.columns, kind, strict=True)
    )
    rows = "\n".join(
        "<tr>"
        + "".join(
            f'<th scope="row">{text(formatted(cell))}</th>' if j == 0 else f"<td{kind[j]}>{text(formatted(cell))}</td>"
            for j, cell in enumerate(row)
        )
        + "</tr>"
        for row in content.rows
    )
    named = f"<caption>{text(caption)}</caption>\n" if caption else ""
    body = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>"
    return f'<div class="wide">\n<table>\n{named}{body}\n</table>\n</div>'


def nested(value: Any) -> str:
    """Return plain data as HTML: mappings as tables, lists of similar mappings as one table, the rest as text."""
    if isinstance(value, Mapping):
        if not value:
            return "none"
        rows = "".join(
            f'<tr><th scope="row">{text(key)}</th><td>{nested(item)}</td></tr>' for key, item in value.items()
        )
        return f"<table><tbody>{rows}</tbody></table>"
    if isinstance(value, list | tuple):
        if len(value) > 1 and _alike(value):
            return table(Table(tuple(value[0]), [tuple(item.values()) for item in value]))
        if any(isinstance(item, Mapping | list | tuple) for item in value):
            return "<ul>" + "".join(f"<li>{nested(item)}</li>" for item in value) + "</ul>"
        return ", ".join(nested(item) for item in value) or "none"
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return text(value)


def _alike(items: Sequence[Any]) -> bool:
    """Return whether all are mappings with the same keys, of numbers and text."""
    if not all(isinstance(item, Mapping) and list(item) == list(items[0]) for item in items):
        return False
    return all(isinstance(cell, str | int | float | None) for item in items for cell in item.values())
