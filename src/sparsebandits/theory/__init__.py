"""Quantities that regret bounds speak of, computed for a given action set and certified where they are not exact."""

from sparsebandits.theory.design import Design, exploratory_design
from sparsebandits.theory.restricted_eigenvalue import Bounds, restricted_eigenvalue

__all__ = ["Bounds", "Design", "exploratory_design", "restricted_eigenvalue"]
