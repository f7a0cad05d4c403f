"""Sequential decisions when many features could matter and few do.

The practitioner calls :func:`decide` on a table, or ``ask`` and ``tell`` on a policy; the researcher calls
:func:`simulate` or runs an :class:`Experiment`. What only some users need is in namespaces: ``rules``, ``rivals``,
``theory``, ``environments``, ``features``, ``journal``, ``offpolicy``, ``plots``, ``experiments``, ``posteriors``.
"""

from typing import TYPE_CHECKING

from sparsebandits import lazy

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from sparsebandits import advice as advice
    from sparsebandits import environments as environments
    from sparsebandits import experiments as experiments
    from sparsebandits import features as features
    from sparsebandits import journal as journal
    from sparsebandits import model as model
    from sparsebandits import policies as policies
    from sparsebandits import posteriors as posteriors
    from sparsebandits import results as results
    from sparsebandits import rules as rules
    from sparsebandits import theory as theory
    from sparsebandits.advice.advice import Advice as Advice
    from sparsebandits.advice.campaign import Campaign as Campaign
    from sparsebandits.advice.decide import decide as decide
    from sparsebandits.arguments import SaveFileError as SaveFileError
    from sparsebandits.experiments.experiment import Experiment as Experiment
    from sparsebandits.experiments.simulate import maker as maker
    from sparsebandits.experiments.simulate import simulate as simulate
    from sparsebandits.experiments.tuning import tune as tune
    from sparsebandits.journal import offpolicy as offpolicy
    from sparsebandits.journal.loop import play as play
    from sparsebandits.model.families import Bernoulli as Bernoulli
    from sparsebandits.model.families import Poisson as Poisson
    from sparsebandits.model.forgetting import Discount as Discount
    from sparsebandits.model.hierarchy import Hierarchy as Hierarchy
    from sparsebandits.model.hypotheses import Hypotheses as Hypotheses
    from sparsebandits.model.priors import BetaInclusion as BetaInclusion
    from sparsebandits.model.priors import GaussianPrior as GaussianPrior
    from sparsebandits.model.priors import GaussianSpike as GaussianSpike
    from sparsebandits.model.priors import InverseGammaNoise as InverseGammaNoise
    from sparsebandits.model.priors import InverseGammaSlab as InverseGammaSlab
    from sparsebandits.model.priors import LaplaceSpike as LaplaceSpike
    from sparsebandits.model.priors import PointMass as PointMass
    from sparsebandits.model.priors import SpikeSlab as SpikeSlab
    from sparsebandits.model.rewards import Gaussian as Gaussian
    from sparsebandits.policies import rivals as rivals
    from sparsebandits.policies.decision import Decision as Decision
    from sparsebandits.policies.linear import LinearIDS as LinearIDS
    from sparsebandits.policies.linear import LinTS as LinTS
    from sparsebandits.policies.linear import LinUCB as LinUCB
    from sparsebandits.policies.load import load as load
    from sparsebandits.policies.policy import Policy as Policy
    from sparsebandits.policies.sparse import SparseIDS as SparseIDS
    from sparsebandits.policies.sparse import SparseTS as SparseTS
    from sparsebandits.posteriors.conjugate import Conjugate as Conjugate
    from sparsebandits.posteriors.enumeration import Enumeration as Enumeration
    from sparsebandits.posteriors.gibbs import Gibbs as Gibbs
    from sparsebandits.posteriors.langevin import Langevin as Langevin
    from sparsebandits.posteriors.laplace import Laplace as Laplace
    from sparsebandits.posteriors.particles import Particles as Particles
    from sparsebandits.posteriors.table import Table as Table
    from sparsebandits.results import plots as plots
    from sparsebandits.results.result import Result as Result
    from sparsebandits.sklearn import SpikeSlabClassifier as SpikeSlabClassifier
    from sparsebandits.sklearn import SpikeSlabRegressor as SpikeSlabRegressor

    def __dir__() -> list[str]: ...

    __all__: list[str]
else:
    MOVED = {
        **dict.fromkeys(
            ("ChangingActions", "GaussianActions", "HardInstance", "Hypercube", "Instance"), "environments"
        ),
        **dict.fromkeys(("DRLasso", "ESTC", "FrequentistIDS", "HypercubeElimination", "LassoBandit"), "rivals"),
        **dict.fromkeys(("LassoGreedy", "OnlineToConfidence", "SALasso", "ThresholdedLasso"), "rivals"),
        **dict.fromkeys(("Problem", "Trace", "Tuned", "information_path", "watched"), "experiments"),
        **dict.fromkeys(("DivergenceError", "Draws"), "posteriors"),
        "ConfidenceRadius": "rules",
        "InformationPath": "theory",
        "DecisionLog": "journal",
        "Evidence": "model",
        "Recommendation": "advice",
    }
    __getattr__, __dir__, __all__ = lazy.names(__name__, MOVED)
