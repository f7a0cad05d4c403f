"""Simulations, and experiments of many trials: in memory, in a resumable directory, or from a TOML file."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.experiments.description import describe as describe
    from sparsebandits.experiments.experiment import Progress as Progress
    from sparsebandits.experiments.experiment import Watcher as Watcher
    from sparsebandits.experiments.plan import ExperimentFileError as ExperimentFileError
    from sparsebandits.experiments.plan import Plan as Plan
    from sparsebandits.experiments.plan import Tuning as Tuning
    from sparsebandits.experiments.plan import read_plan as read_plan
    from sparsebandits.experiments.progress import duration as duration
    from sparsebandits.experiments.progress import shown_progress as shown_progress
    from sparsebandits.experiments.provenance import now as now
    from sparsebandits.experiments.provenance import surroundings as surroundings
    from sparsebandits.experiments.simulate import PolicyMaker as PolicyMaker
    from sparsebandits.experiments.simulate import Problem as Problem
    from sparsebandits.experiments.simulate import Trace as Trace
    from sparsebandits.experiments.tuning import Tuned as Tuned
    from sparsebandits.experiments.watching import information_path as information_path
    from sparsebandits.experiments.watching import watched as watched
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
