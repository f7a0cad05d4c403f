"""Published rivals to compare with: whole algorithms, each with its own learner and rule in one file."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.policies.rivals.asymptotic_ids import AsymptoticIDS as AsymptoticIDS
    from sparsebandits.policies.rivals.asymptotic_ids import (
        AsymptoticInformationDirected as AsymptoticInformationDirected,
    )
    from sparsebandits.policies.rivals.asymptotic_ids import ExplorationPosterior as ExplorationPosterior
    from sparsebandits.policies.rivals.best_subset import BestSubset as BestSubset
    from sparsebandits.policies.rivals.best_subset import SubsetFit as SubsetFit
    from sparsebandits.policies.rivals.best_subset import SubsetOptimism as SubsetOptimism
    from sparsebandits.policies.rivals.d_linucb import DiscountedLeastSquares as DiscountedLeastSquares
    from sparsebandits.policies.rivals.d_linucb import DiscountedOptimism as DiscountedOptimism
    from sparsebandits.policies.rivals.d_linucb import DLinUCB as DLinUCB
    from sparsebandits.policies.rivals.dr_lasso import AverageLasso as AverageLasso
    from sparsebandits.policies.rivals.dr_lasso import DoublyRobust as DoublyRobust
    from sparsebandits.policies.rivals.dr_lasso import DRLasso as DRLasso
    from sparsebandits.policies.rivals.dr_lasso import PseudoRewards as PseudoRewards
    from sparsebandits.policies.rivals.dynamic_batch import BatchLasso as BatchLasso
    from sparsebandits.policies.rivals.dynamic_batch import DynamicBatch as DynamicBatch
    from sparsebandits.policies.rivals.emvs import EMVS as EMVS
    from sparsebandits.policies.rivals.emvs import PosteriorMode as PosteriorMode
    from sparsebandits.policies.rivals.epochs import BatchGrid as BatchGrid
    from sparsebandits.policies.rivals.epochs import Doubling as Doubling
    from sparsebandits.policies.rivals.epochs import EpochEstimator as EpochEstimator
    from sparsebandits.policies.rivals.estc import ESTC as ESTC
    from sparsebandits.policies.rivals.estc import ExploreThenCommit as ExploreThenCommit
    from sparsebandits.policies.rivals.estc import LassoOnce as LassoOnce
    from sparsebandits.policies.rivals.falcon import FALCON as FALCON
    from sparsebandits.policies.rivals.falcon import EpochInverseGaps as EpochInverseGaps
    from sparsebandits.policies.rivals.feel_good import FeelGood as FeelGood
    from sparsebandits.policies.rivals.feel_good import FeelGoodTS as FeelGoodTS
    from sparsebandits.policies.rivals.forecasts import EstimateForecaster as EstimateForecaster
    from sparsebandits.policies.rivals.frequentist_ids import FrequentistIDS as FrequentistIDS
    from sparsebandits.policies.rivals.frequentist_ids import (
        FrequentistInformationDirected as FrequentistInformationDirected,
    )
    from sparsebandits.policies.rivals.hypercube_elimination import HypercubeElimination as HypercubeElimination
    from sparsebandits.policies.rivals.hypercube_elimination import SelectiveExploration as SelectiveExploration
    from sparsebandits.policies.rivals.hypercube_elimination import SignEstimates as SignEstimates
    from sparsebandits.policies.rivals.iltcb import ILTCB as ILTCB
    from sparsebandits.policies.rivals.iltcb import PolicyDistribution as PolicyDistribution
    from sparsebandits.policies.rivals.iltcb import SmoothedPolicies as SmoothedPolicies
    from sparsebandits.policies.rivals.lasso import GreedyLasso as GreedyLasso
    from sparsebandits.policies.rivals.lasso import LassoEstimator as LassoEstimator
    from sparsebandits.policies.rivals.lasso_bandit import ForcedSamples as ForcedSamples
    from sparsebandits.policies.rivals.lasso_bandit import ForcedSampling as ForcedSampling
    from sparsebandits.policies.rivals.lasso_bandit import LassoBandit as LassoBandit
    from sparsebandits.policies.rivals.lasso_greedy import LassoGreedy as LassoGreedy
    from sparsebandits.policies.rivals.lasso_greedy import PlainLasso as PlainLasso
    from sparsebandits.policies.rivals.mcp_bandit import ConcaveSamples as ConcaveSamples
    from sparsebandits.policies.rivals.mcp_bandit import MCPBandit as MCPBandit
    from sparsebandits.policies.rivals.online_to_confidence import ForecastEllipsoid as ForecastEllipsoid
    from sparsebandits.policies.rivals.online_to_confidence import OnlineToConfidence as OnlineToConfidence
    from sparsebandits.policies.rivals.online_to_confidence import OptimismOverForecasts as OptimismOverForecasts
    from sparsebandits.policies.rivals.optimistic_posterior import LearningRate as LearningRate
    from sparsebandits.policies.rivals.oracles import Ridge as Ridge
    from sparsebandits.policies.rivals.oracles import SpikeSlabMean as SpikeSlabMean
    from sparsebandits.policies.rivals.partial_monitoring_ids import PartialMonitoringIDS as PartialMonitoringIDS
    from sparsebandits.policies.rivals.partial_monitoring_ids import (
        PartialMonitoringInformationDirected as PartialMonitoringInformationDirected,
    )
    from sparsebandits.policies.rivals.regression_greedy import RegressionGreedy as RegressionGreedy
    from sparsebandits.policies.rivals.sa_lasso import SALasso as SALasso
    from sparsebandits.policies.rivals.sa_lasso import SparsityAgnostic as SparsityAgnostic
    from sparsebandits.policies.rivals.sl_ucb import SLUCB as SLUCB
    from sparsebandits.policies.rivals.sl_ucb import SearchThenOptimism as SearchThenOptimism
    from sparsebandits.policies.rivals.sl_ucb import SupportSearch as SupportSearch
    from sparsebandits.policies.rivals.soids import SOIDS as SOIDS
    from sparsebandits.policies.rivals.soids import OptimisticInformationDirected as OptimisticInformationDirected
    from sparsebandits.policies.rivals.spike_slab_lasso import SpikeSlabLasso as SpikeSlabLasso
    from sparsebandits.policies.rivals.square_cb import InverseGapWeighting as InverseGapWeighting
    from sparsebandits.policies.rivals.square_cb import SquareCB as SquareCB
    from sparsebandits.policies.rivals.thresholded_lasso import Thresholded as Thresholded
    from sparsebandits.policies.rivals.thresholded_lasso import ThresholdedLasso as ThresholdedLasso
    from sparsebandits.policies.rivals.variational_ts import VariationalSpikeSlab as VariationalSpikeSlab
    from sparsebandits.policies.rivals.variational_ts import VariationalThompson as VariationalThompson
    from sparsebandits.policies.rivals.variational_ts import VariationalTS as VariationalTS
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
