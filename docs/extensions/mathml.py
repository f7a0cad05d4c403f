"""Formulas as MathML, which browsers draw by themselves: no script, no network, and it can be selected and read aloud.

docutils turns LaTeX into MathML; Sphinx has no renderer for it of its own. An aligned block is one table.
"""

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.logging import getLogger

UNBRACED = re.compile(r"\\[tdc]?frac\s*[^{\s]")


def mathml(node: nodes.Element, formula: str, as_block: bool) -> str:
    """Return the formula as MathML, or as it was written, with a warning, if docutils does not know a command."""
    if UNBRACED.search(formula):
        getLogger(__name__).warning("formula: docutils misreads a fraction without braces", location=node)
    try:
        return tex2mathml(formula, as_block=as_block)
    except MathError as error:
        getLogger(__name__).warning("formula: %s", error, location=node)
        return f"<code>{escape(formula)}</code>"


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    writer.body.append(mathml(node, node.astext(), as_block=False))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula of its own, with its number where it has one."""
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    anchor = f' id="{node["ids"][0]}"' if node.get("ids") else ""
    formula = node.astext()
    if r"\\" in formula and r"\begin" not in formula:
        formula = rf"\begin{{align}}{formula}\end{{align}}"
    writer.body.append(f'<div class="formula"{anchor}>{mathml(node, formula, as_block=True)}{number}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True}
