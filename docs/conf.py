"""Sphinx configuration: ``make docs`` writes the site to docs/_build/html. The pages need no network."""

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

from sparsebandits import __version__

project = "sparsebandits"
author = "the authors of sparsebandits"
project_copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "mathml",
    "repository_links",
]
exclude_patterns = ["_build"]
highlight_language = "text"

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autosummary_generate = False  # the tables link to the pages in docs/api
napoleon_google_docstring = False
napoleon_use_param = False  # types such as "array of shape (K, d)" are text, not names to link
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]  # likewise
napoleon_attr_annotations = False
maximum_signature_line_length = 88
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(numpy|os|collections|typing|sklearn|matplotlib)\b.*|array"),
    # Internal types in signatures, of which users are given none.
    ("py:class", r"Field|Layout"),
    ("py:class", r"sparsebandits\.rules\.(around\.Around|best\.Best|optima\.(Optima|OptimaMemory)|wins\.WinsMemory)"),
    ("py:class", r"sparsebandits\.posteriors\.rows\.Rows"),
    ("py:class", r"sparsebandits\.results\.plots\.reading\.Advised"),
    ("py:class", r"sparsebandits\.features\.maps\.Space|types\.LambdaType"),
    ("py:class", r"sparsebandits\.features\.terms\.(Factors|Term)"),
    ("py:class", r"sparsebandits\.advice\.(history\.History|goal\.Goal|expansion\.Expansion)"),
    ("py:class", r"sparsebandits\.policies\.rivals\.lasso\.Estimat(e|or)"),
    ("py:class", r"sparsebandits\.policies\.rivals\.(variational_ts\.MeanField|iltcb\.(History|PolicyMixture))"),
    ("py:class", r"sparsebandits\.(randomness\.IndexedNormals|experiments\.progress\.Standing)"),
]

html_theme = "furo"
html_title = f"sparsebandits {release}"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_show_sphinx = False
html_copy_source = False

ARRAY = re.compile(r"~?(?:numpy\.)?ndarray\[(?:[^][]|\[[^][]*\])*\]")


def shorten_arrays(
    app: Any, what: str, name: str, value: object, options: Any, signature: str | None, answer: str | None
) -> tuple[str | None, str | None]:
    """Write ``array`` in signatures in place of ``ndarray[tuple[Any, ...], dtype[float64]]``."""
    return signature and ARRAY.sub("array", signature), answer and ARRAY.sub("array", answer)


def link_public_name(app: Any, env: Any, node: Any, text: Any) -> Any:
    """Link a short name, such as Problem or Experiment.run, to the public name that ends with it."""
    python, name = env.domains["py"], node.get("reftarget", "")
    if node.get("refdomain") != "py" or name.startswith("sparsebandits."):
        return None
    kinds = ("method", "property", "attribute") if "." in name else ("class", "exception", "function", "data")
    public = [full for full in python.objects if full.endswith(f".{name}") and python.objects[full].objtype in kinds]
    if not public:
        return None
    return python.resolve_xref(env, node["refdoc"], app.builder, "obj", min(public, key=len), node, text)


def setup(app: Any) -> None:
    """Register the two hooks; called by Sphinx."""
    app.connect("autodoc-process-signature", shorten_arrays)
    app.connect("missing-reference", link_public_name)
