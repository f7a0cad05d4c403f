"""Families of bandit instances: one a file, each with ``sample(seed)``."""

from sparsebandits.environments.changing import ChangingActions, ChangingInstance
from sparsebandits.environments.gaussian_actions import GaussianActions
from sparsebandits.environments.hard_instance import HardInstance
from sparsebandits.environments.hypercube import CubeInstance, Hypercube
from sparsebandits.environments.instance import Environment, Instance, Outcome, World

__all__ = [
    "ChangingActions",
    "ChangingInstance",
    "CubeInstance",
    "Environment",
    "GaussianActions",
    "HardInstance",
    "Hypercube",
    "Instance",
    "Outcome",
    "World",
]
