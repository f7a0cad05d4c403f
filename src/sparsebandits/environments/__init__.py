"""Families of bandit instances, one per file, each with ``sample(seed)``."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.environments.changing import ChangingActions as ChangingActions
    from sparsebandits.environments.changing import ChangingInstance as ChangingInstance
    from sparsebandits.environments.drifting import Drifting as Drifting
    from sparsebandits.environments.drifting import DriftingInstance as DriftingInstance
    from sparsebandits.environments.gaussian_actions import GaussianActions as GaussianActions
    from sparsebandits.environments.hard_instance import HardInstance as HardInstance
    from sparsebandits.environments.hypercube import CubeInstance as CubeInstance
    from sparsebandits.environments.hypercube import Hypercube as Hypercube
    from sparsebandits.environments.instance import Environment as Environment
    from sparsebandits.environments.instance import Instance as Instance
    from sparsebandits.environments.instance import Outcome as Outcome
    from sparsebandits.environments.instance import World as World
    from sparsebandits.environments.logistic_actions import LogisticActions as LogisticActions
    from sparsebandits.environments.poisson_actions import PoissonActions as PoissonActions

    __all__: list[str]
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
