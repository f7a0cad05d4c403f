"""Simulation, many trials of it, and what may be concluded from them."""

from sparsebandits.experiments.comparison import Result
from sparsebandits.experiments.experiment import Experiment
from sparsebandits.experiments.simulate import PolicyMaker, Problem, Trace, maker, simulate
from sparsebandits.experiments.tuning import Tuned, tune

__all__ = ["Experiment", "PolicyMaker", "Problem", "Result", "Trace", "Tuned", "maker", "simulate", "tune"]
