"""Families of bandit instances: one a file, each with ``sample(seed)``."""

from sparsebandits.environments.gaussian_actions import GaussianActions
from sparsebandits.environments.hard_instance import HardInstance
from sparsebandits.environments.instance import Environment, Instance

__all__ = ["Environment", "GaussianActions", "HardInstance", "Instance"]
