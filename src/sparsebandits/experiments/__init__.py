"""Simulation and many trials of it."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.experiments.experiment import Experiment as Experiment
    from sparsebandits.experiments.simulate import PolicyMaker as PolicyMaker
    from sparsebandits.experiments.simulate import Problem as Problem
    from sparsebandits.experiments.simulate import Trace as Trace
    from sparsebandits.experiments.simulate import maker as maker
    from sparsebandits.experiments.simulate import simulate as simulate
    from sparsebandits.experiments.tuning import Tuned as Tuned
    from sparsebandits.experiments.tuning import tune as tune
    from sparsebandits.experiments.watching import information_path as information_path
    from sparsebandits.experiments.watching import watched as watched
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
