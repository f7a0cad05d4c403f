"""Bounds on regret, and the quantities in them, computed exactly or between certified bounds."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.theory.bounds import COVERING_CONSTANT as COVERING_CONSTANT
    from sparsebandits.theory.bounds import GenericBound as GenericBound
    from sparsebandits.theory.bounds import Ratios as Ratios
    from sparsebandits.theory.bounds import crossover as crossover
    from sparsebandits.theory.bounds import entropy as entropy
    from sparsebandits.theory.bounds import entropy_as_printed as entropy_as_printed
    from sparsebandits.theory.bounds import generic_bound as generic_bound
    from sparsebandits.theory.bounds import least_generic_bound as least_generic_bound
    from sparsebandits.theory.bounds import ratios as ratios
    from sparsebandits.theory.bounds import ratios_as_printed as ratios_as_printed
    from sparsebandits.theory.contextual import ContextualRates as ContextualRates
    from sparsebandits.theory.contextual import conditional_lower_bound as conditional_lower_bound
    from sparsebandits.theory.contextual import contextual_rates as contextual_rates
    from sparsebandits.theory.contextual import graph_lower_bound as graph_lower_bound
    from sparsebandits.theory.design import Design as Design
    from sparsebandits.theory.design import exploratory_design as exploratory_design
    from sparsebandits.theory.eigenvalue import Bounds as Bounds
    from sparsebandits.theory.eigenvalue import restricted_eigenvalue as restricted_eigenvalue
    from sparsebandits.theory.graphs import Explorability as Explorability
    from sparsebandits.theory.graphs import explorability as explorability
    from sparsebandits.theory.graphs import independence_number as independence_number
    from sparsebandits.theory.hypercube import HypercubeDesign as HypercubeDesign
    from sparsebandits.theory.hypercube import hypercube_design as hypercube_design
    from sparsebandits.theory.information_path import InformationPath as InformationPath
    from sparsebandits.theory.mixture import mixture_rate as mixture_rate
    from sparsebandits.theory.mixture import nats_factor as nats_factor
    from sparsebandits.theory.mixture import proof_mixture as proof_mixture
    from sparsebandits.theory.mixture import ratio_bounds as ratio_bounds
    from sparsebandits.theory.optimal_sparsity import OptimalSparsity as OptimalSparsity
    from sparsebandits.theory.optimal_sparsity import sparse_optimal_actions as sparse_optimal_actions
    from sparsebandits.theory.policy_design import PolicyDesign as PolicyDesign
    from sparsebandits.theory.policy_design import exploratory_policy as exploratory_policy
    from sparsebandits.theory.regimes import Regime as Regime
    from sparsebandits.theory.regimes import regime as regime
    from sparsebandits.theory.regret import RegretBound as RegretBound
    from sparsebandits.theory.regret import RegretBounds as RegretBounds
    from sparsebandits.theory.regret import regret_bound as regret_bound
    from sparsebandits.theory.regret import regret_bounds_over as regret_bounds_over
    from sparsebandits.theory.span import Unseen as Unseen
    from sparsebandits.theory.span import unseen_features as unseen_features

    __all__: list[str]
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
