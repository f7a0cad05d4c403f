"""Bounds on regret, and the quantities that they speak of, computed and certified where they are not exact."""

from sparsebandits.theory.bounds import (
    COVERING_CONSTANT,
    crossover,
    entropy,
    entropy_as_printed,
    generic_bound,
    least_generic_bound,
    ratios,
    ratios_as_printed,
)
from sparsebandits.theory.design import Design, exploratory_design
from sparsebandits.theory.hypercube import HypercubeDesign, hypercube_design
from sparsebandits.theory.information_path import InformationPath
from sparsebandits.theory.regimes import Regime, regime
from sparsebandits.theory.regret import RegretBound, RegretBounds, regret_bound, regret_bounds_over
from sparsebandits.theory.restricted_eigenvalue import Bounds, restricted_eigenvalue
from sparsebandits.theory.span import Unseen, unseen_features

__all__ = [
    "COVERING_CONSTANT",
    "Bounds",
    "Design",
    "HypercubeDesign",
    "InformationPath",
    "Regime",
    "RegretBound",
    "RegretBounds",
    "Unseen",
    "crossover",
    "entropy",
    "entropy_as_printed",
    "exploratory_design",
    "generic_bound",
    "hypercube_design",
    "least_generic_bound",
    "ratios",
    "ratios_as_printed",
    "regime",
    "regret_bound",
    "regret_bounds_over",
    "restricted_eigenvalue",
    "unseen_features",
]
