"""Docstrings and signatures as the house writes them, made fit for Sphinx.

A parameter is ``name : what it is``, where numpydoc has a type after the colon, and what follows the list of parameters
needs no heading. So the text is moved to the line below its name, and what follows gets a heading, or napoleon would
take both for something else. In signatures, arrays have a short name, and classes are found under the names that users
import.
"""

import inspect
import re
from typing import Any

KINDS = ("class", "exception", "data")
LISTS = ("Parameters", "Attributes")
ITEM = re.compile(r"(\w+(?:, \w+)*) : (.*)")
ARRAYS = re.compile(r"~?(?:numpy\.)?ndarray\[(?:[^][]|\[[^][]*\])*\]")
JOINED = ",\u200b"
"""Between names that share a text: no space, before which Sphinx would look for a type."""

MARKS = re.compile(r"\|(?=⟨)|(?<=⟩)\||(?<={)\*")
"""Bars of absolute values and stars of Ψ_{*,λ}, which reStructuredText would take for markup."""


def headed(lines: list[str]) -> list[str]:
    """Return the docstring as numpydoc has it.

    >>> headed(["Parameters", "----------", "seed : any integer,", "    or None", "", ">>> 1"])
    ['Parameters', '----------', 'seed', '    any integer,', '    or None', '', 'Examples', '--------', '>>> 1']
    """
    answer: list[str] = []
    inside = False
    for i, line in enumerate(lines):
        heading = i + 1 < len(lines) and line != "" and set(lines[i + 1]) == {"-"}
        item = ITEM.fullmatch(line)
        if heading:
            inside = line in LISTS
        elif inside and line and not line[0].isspace() and item is None and set(line) != {"-"}:
            answer += ["Examples", "--------"] if line.startswith(">>>") else ["Notes", "-----"]
            inside = False
        answer += [item[1].replace(", ", JOINED), f"    {item[2]}"] if inside and item else [line]
    return answer


def on_docstring(app: Any, what: str, name: str, value: object, options: Any, lines: list[str]) -> None:
    """Change the lines in place, before napoleon reads them."""
    lines[:] = headed([MARKS.sub(r"\\\g<0>", line) for line in lines])


def on_property(app: Any, what: str, name: str, value: object, options: Any, lines: list[str]) -> None:
    """Undo what napoleon has made of a property, of which it takes ``words: text`` for a type."""
    if isinstance(value, property):
        lines[:] = [*inspect.cleandoc(value.__doc__ or "").splitlines(), ""]


def on_signature(
    app: Any, what: str, name: str, value: object, options: Any, signature: str | None, answer: str | None
) -> tuple[str | None, str | None]:
    """Write array for each kind of array."""
    return signature and ARRAYS.sub("array", signature), answer and ARRAYS.sub("array", answer)


def on_missing(app: Any, env: Any, node: Any, text: Any) -> Any:
    """Look a class up by its name alone: ``sparsebandits.model.priors.SpikeSlab`` is ``sparsebandits.SpikeSlab``."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not (target.startswith("sparsebandits.") or "." not in target):
        return None
    name, python = target.rpartition(".")[2], env.domains["py"]
    found = [full for full, it in python.objects.items() if full.endswith(f".{name}") and it.objtype in KINDS]
    if not found:
        return None
    return python.resolve_xref(env, node["refdoc"], app.builder, "obj", min(found, key=len), node, text)


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", on_docstring, priority=400)
    app.connect("autodoc-process-docstring", on_property, priority=600)  # napoleon has 500
    app.connect("autodoc-process-signature", on_signature)
    app.connect("missing-reference", on_missing)
    return {"parallel_read_safe": True}
