"""Published rivals: whole algorithms to compare with."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.policies.rivals.dr_lasso import DRLasso as DRLasso
    from sparsebandits.policies.rivals.estc import ESTC as ESTC
    from sparsebandits.policies.rivals.frequentist_ids import FrequentistIDS as FrequentistIDS
    from sparsebandits.policies.rivals.hypercube_elimination import HypercubeElimination as HypercubeElimination
    from sparsebandits.policies.rivals.lasso_bandit import LassoBandit as LassoBandit
    from sparsebandits.policies.rivals.lasso_greedy import LassoGreedy as LassoGreedy
    from sparsebandits.policies.rivals.online_to_confidence import OnlineToConfidence as OnlineToConfidence
    from sparsebandits.policies.rivals.sa_lasso import SALasso as SALasso
    from sparsebandits.policies.rivals.thresholded_lasso import ThresholdedLasso as ThresholdedLasso
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
