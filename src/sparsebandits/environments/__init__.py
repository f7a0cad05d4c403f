"""Families of bandit instances, one per file, each with ``sample(seed)``."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.environments.changing import ChangingActions as ChangingActions
    from sparsebandits.environments.changing import ChangingInstance as ChangingInstance
    from sparsebandits.environments.classification import Classification as Classification
    from sparsebandits.environments.contexts import Contexts as Contexts
    from sparsebandits.environments.contextual_actions import ContextualActions as ContextualActions
    from sparsebandits.environments.contextual_actions import ContextualInstance as ContextualInstance
    from sparsebandits.environments.dosing import Dosing as Dosing
    from sparsebandits.environments.drifting import Drifting as Drifting
    from sparsebandits.environments.drifting import DriftingInstance as DriftingInstance
    from sparsebandits.environments.gaussian_actions import GaussianActions as GaussianActions
    from sparsebandits.environments.graph_feedback import GraphFeedback as GraphFeedback
    from sparsebandits.environments.graph_feedback import GraphInstance as GraphInstance
    from sparsebandits.environments.hard_instance import HardInstance as HardInstance
    from sparsebandits.environments.hypercube import CubeInstance as CubeInstance
    from sparsebandits.environments.hypercube import Hypercube as Hypercube
    from sparsebandits.environments.instance import Environment as Environment
    from sparsebandits.environments.instance import Instance as Instance
    from sparsebandits.environments.instance import Outcome as Outcome
    from sparsebandits.environments.instance import Round as Round
    from sparsebandits.environments.instance import World as World
    from sparsebandits.environments.labelled import LabelledInstance as LabelledInstance
    from sparsebandits.environments.labelled import LabelledRound as LabelledRound
    from sparsebandits.environments.logistic_actions import LogisticActions as LogisticActions
    from sparsebandits.environments.partial_monitoring import DuelingFeedback as DuelingFeedback
    from sparsebandits.environments.partial_monitoring import MonitoredInstance as MonitoredInstance
    from sparsebandits.environments.partial_monitoring import TransductiveFeedback as TransductiveFeedback
    from sparsebandits.environments.poisson_actions import PoissonActions as PoissonActions
    from sparsebandits.environments.regression_data import RegressionData as RegressionData
    from sparsebandits.environments.regression_data import sparse_regression as sparse_regression
    from sparsebandits.environments.unit_ball import BallInstance as BallInstance
    from sparsebandits.environments.unit_ball import UnitBall as UnitBall

    __all__: list[str]
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
