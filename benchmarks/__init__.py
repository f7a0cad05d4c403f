"""Measurements against other packages; no part of the package and none of its tests."""

from typing import Any

PAPERS: dict[str, Any] = {"rule": "information-ratio", "n_draws": 10_000}
"""The paper's rule with 10,000 draws, of which most stored figures are."""
