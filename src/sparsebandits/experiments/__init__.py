"""Simulation, many trials of it, and what may be concluded from them."""

from sparsebandits.experiments.comparison import Result
from sparsebandits.experiments.experiment import Experiment
from sparsebandits.experiments.simulate import PolicyMaker, Problem, Trace, maker, simulate
from sparsebandits.experiments.tuning import Tuned, tune
from sparsebandits.experiments.watching import InformationPath, information_path, watched

__all__ = [
    "Experiment",
    "InformationPath",
    "PolicyMaker",
    "Problem",
    "Result",
    "Trace",
    "Tuned",
    "information_path",
    "maker",
    "simulate",
    "tune",
    "watched",
]
