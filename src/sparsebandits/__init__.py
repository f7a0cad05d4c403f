"""Sequential decisions when many features could matter and few do.

The practitioner calls ``ask`` and ``tell`` on a policy; the researcher calls ``simulate`` or runs an ``Experiment``.
Every public name is imported on first use, so ``import sparsebandits`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sparsebandits.environments import ChangingActions as ChangingActions
    from sparsebandits.environments import GaussianActions as GaussianActions
    from sparsebandits.environments import HardInstance as HardInstance
    from sparsebandits.environments import Hypercube as Hypercube
    from sparsebandits.environments import Instance as Instance
    from sparsebandits.evidence import Evidence as Evidence
    from sparsebandits.experiments import Experiment as Experiment
    from sparsebandits.experiments import InformationPath as InformationPath
    from sparsebandits.experiments import Problem as Problem
    from sparsebandits.experiments import Result as Result
    from sparsebandits.experiments import Trace as Trace
    from sparsebandits.experiments import Tuned as Tuned
    from sparsebandits.experiments import information_path as information_path
    from sparsebandits.experiments import maker as maker
    from sparsebandits.experiments import tune as tune
    from sparsebandits.experiments import watched as watched
    from sparsebandits.experiments.simulate import simulate as simulate
    from sparsebandits.logs import DecisionLog as DecisionLog
    from sparsebandits.logs import play as play
    from sparsebandits.policies import Decision as Decision
    from sparsebandits.policies import Policy as Policy
    from sparsebandits.policies.advice import Advice as Advice
    from sparsebandits.policies.advice import Recommendation as Recommendation
    from sparsebandits.policies.advice import decide as decide
    from sparsebandits.policies.dr_lasso import DRLasso as DRLasso
    from sparsebandits.policies.estc import ESTC as ESTC
    from sparsebandits.policies.frequentist_ids import FrequentistIDS as FrequentistIDS
    from sparsebandits.policies.hypercube_elimination import HypercubeElimination as HypercubeElimination
    from sparsebandits.policies.ids import LinearIDS as LinearIDS
    from sparsebandits.policies.lasso_bandit import LassoBandit as LassoBandit
    from sparsebandits.policies.lasso_greedy import LassoGreedy as LassoGreedy
    from sparsebandits.policies.linucb import ConfidenceRadius as ConfidenceRadius
    from sparsebandits.policies.linucb import LinUCB as LinUCB
    from sparsebandits.policies.load import load as load
    from sparsebandits.policies.online_to_confidence import OnlineToConfidence as OnlineToConfidence
    from sparsebandits.policies.sa_lasso import SALasso as SALasso
    from sparsebandits.policies.sparse import SparseIDS as SparseIDS
    from sparsebandits.policies.sparse import SparseTS as SparseTS
    from sparsebandits.policies.thompson import LinTS as LinTS
    from sparsebandits.policies.thresholded_lasso import ThresholdedLasso as ThresholdedLasso
    from sparsebandits.posteriors.conjugate import Conjugate as Conjugate
    from sparsebandits.posteriors.draws import Draws as Draws
    from sparsebandits.posteriors.enumeration import Enumeration as Enumeration
    from sparsebandits.posteriors.gibbs import Gibbs as Gibbs
    from sparsebandits.posteriors.langevin import DivergenceError as DivergenceError
    from sparsebandits.posteriors.langevin import Langevin as Langevin
    from sparsebandits.posteriors.particles import Particles as Particles
    from sparsebandits.priors import BetaInclusion as BetaInclusion
    from sparsebandits.priors import GaussianPrior as GaussianPrior
    from sparsebandits.priors import GaussianSpike as GaussianSpike
    from sparsebandits.priors import InverseGammaNoise as InverseGammaNoise
    from sparsebandits.priors import InverseGammaSlab as InverseGammaSlab
    from sparsebandits.priors import LaplaceSpike as LaplaceSpike
    from sparsebandits.priors import PointMass as PointMass
    from sparsebandits.priors import SpikeSlab as SpikeSlab
    from sparsebandits.regression import SpikeSlabRegressor as SpikeSlabRegressor
    from sparsebandits.storage import SaveFileError as SaveFileError

    from . import offpolicy as offpolicy
    from . import theory as theory

_HOMES = {
    "environments": ("ChangingActions", "GaussianActions", "HardInstance", "Hypercube", "Instance"),
    "evidence": ("Evidence",),
    "experiments": (
        "Experiment",
        "InformationPath",
        "Problem",
        "Result",
        "Trace",
        "Tuned",
        "information_path",
        "maker",
        "simulate",
        "tune",
        "watched",
    ),
    "logs": ("DecisionLog", "play"),
    "policies": ("Decision", "Policy"),
    "policies.advice": ("Advice", "Recommendation", "decide"),
    "policies.dr_lasso": ("DRLasso",),
    "policies.estc": ("ESTC",),
    "policies.frequentist_ids": ("FrequentistIDS",),
    "policies.hypercube_elimination": ("HypercubeElimination",),
    "policies.ids": ("LinearIDS",),
    "policies.lasso_bandit": ("LassoBandit",),
    "policies.lasso_greedy": ("LassoGreedy",),
    "policies.linucb": ("ConfidenceRadius", "LinUCB"),
    "policies.load": ("load",),
    "policies.online_to_confidence": ("OnlineToConfidence",),
    "policies.sa_lasso": ("SALasso",),
    "policies.sparse": ("SparseIDS", "SparseTS"),
    "policies.thompson": ("LinTS",),
    "policies.thresholded_lasso": ("ThresholdedLasso",),
    "posteriors.conjugate": ("Conjugate",),
    "posteriors.draws": ("Draws",),
    "posteriors.enumeration": ("Enumeration",),
    "posteriors.gibbs": ("Gibbs",),
    "posteriors.langevin": ("DivergenceError", "Langevin"),
    "posteriors.particles": ("Particles",),
    "priors": (
        "BetaInclusion",
        "GaussianPrior",
        "GaussianSpike",
        "InverseGammaNoise",
        "InverseGammaSlab",
        "LaplaceSpike",
        "PointMass",
        "SpikeSlab",
    ),
    "regression": ("SpikeSlabRegressor",),
    "storage": ("SaveFileError",),
}
_ROOMS = ("offpolicy", "theory")  # public as a whole: sparsebandits.theory.exploratory_design
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"sparsebandits.{name}")
    if name not in _HOME:
        from difflib import get_close_matches

        near = get_close_matches(name.lower(), {known.lower(): known for known in __all__}, n=1)
        hint = "".join(f"; did you mean {known!r}?" for known in __all__ if known.lower() in near)
        raise AttributeError(f"module 'sparsebandits' has no attribute {name!r}{hint}")
    value = getattr(import_module(f"sparsebandits.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted((*globals(), *_ROOMS, *__all__))
