"""Sphinx reads this to build the site: ``make docs`` writes it to docs/_build/html. The pages need no network."""

import sys
from pathlib import Path

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
    "house_docstrings",
    "mathml",
    "repository_links",
]
exclude_patterns = ["_build"]
highlight_language = "text"

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autosummary_generate = False  # the tables link to pages of ours
napoleon_use_ivar = True
napoleon_attr_annotations = False
maximum_signature_line_length = 88
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(numpy|os|collections|typing|sklearn)\b.*|array|Target"),
    ("py:class", r"sparsebandits\.information\.(Optima|DenseMeans|SparseMeans)"),  # nobody is given one
]

html_theme = "furo"
html_title = f"sparsebandits {release}"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
