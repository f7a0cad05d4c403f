"""Decision rules: stateless, one per file; each chooses an action from the posterior's beliefs."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.rules.aimed import Aimed as Aimed
    from sparsebandits.rules.beliefs import Beliefs as Beliefs
    from sparsebandits.rules.choice import Choice as Choice
    from sparsebandits.rules.choice import Mixture as Mixture
    from sparsebandits.rules.choice import Reasons as Reasons
    from sparsebandits.rules.contextual import ContextualInformationDirected as ContextualInformationDirected
    from sparsebandits.rules.contextual_ratio import MapMinimiser as MapMinimiser
    from sparsebandits.rules.contextual_ratio import minimise_over_maps as minimise_over_maps
    from sparsebandits.rules.cost_to_go import CostToGo as CostToGo
    from sparsebandits.rules.greedy import Greedy as Greedy
    from sparsebandits.rules.ids import InformationDirected as InformationDirected
    from sparsebandits.rules.information import Information as Information
    from sparsebandits.rules.optima import pick as pick
    from sparsebandits.rules.optimism import ConfidenceRadius as ConfidenceRadius
    from sparsebandits.rules.optimism import Optimism as Optimism
    from sparsebandits.rules.per_cost import PerCost as PerCost
    from sparsebandits.rules.ratio import minimise_over_actions as minimise_over_actions
    from sparsebandits.rules.ratio import minimise_over_distributions as minimise_over_distributions
    from sparsebandits.rules.ratio import ratios as ratios
    from sparsebandits.rules.rule import Rule as Rule
    from sparsebandits.rules.thompson import Thompson as Thompson
    from sparsebandits.rules.uniform import Uniform as Uniform
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
