"""Information-directed sampling for linear partial monitoring: what an action shows need not be its reward.

Kirschner, Lattimore and Krause (2020), *Information Directed Sampling for Linear Partial Monitoring*. Action a is worth
⟨φ_a, θ⟩ and shows ⟨m_a, θ⟩ plus noise (``model/monitoring.py``). Ridge regression learns θ from the observations, with
V = Λ + Σ mm'/σ². With a width w such that ⟨φ_b − φ_a, θ*⟩ lies within ⟨φ_b − φ_a, θ̂⟩ ± w‖φ_b − φ_a‖ in the norm of
V⁻¹:

    gap estimate    Δ̂(a) = max_b ⟨φ_b − φ_a, θ̂⟩ + w‖φ_b − φ_a‖
    gain, full      I(a) = log(1 + ‖m_a‖² / σ²)
    gain, directed  I(a) = log(‖u‖² in V⁻¹ / ‖u‖² in (V + m_a m_a'/σ²)⁻¹)

where u is the longest of the differences φ_b − φ_a between actions that may be the best, since no lower bound
⟨φ_b − φ_a, θ̂⟩ − w‖φ_b − φ_a‖ is above zero. Bounds of differences are what is needed: in a dueling game θ is known only
up to what no difference shows, so that the bounds of ⟨φ_a, θ⟩ itself never shrink. The distribution that minimises
Δ̂² / I is played.

All pairs of K actions take O(K² d) per decision. The authors' program (kirschnj/pm-ids, ``FastDiffGap`` and
``DirectedInfoGain``) has a form that compares all actions with the one of the largest estimate â alone:
Δ̂(a) = ⟨φ_â − φ_a, θ̂⟩ + max_b ⟨φ_b − φ_â, θ̂⟩ + w‖φ_b − φ_â‖, which takes O(K d). A factor on the gain, such as the ½
of mutual information, changes no minimiser.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy  # scipy.spatial, which is slow to import, is loaded on first use
from numpy.random import Generator

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_choice,
    check_matrix,
    shown,
)
from sparsebandits.model.monitoring import Game
from sparsebandits.model.priors import GaussianPrior
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.linear import LinearPolicy
from sparsebandits.policies.policy import Recorder
from sparsebandits.policies.rivals.frequentist_ids import GAINS, log_reduction
from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.randomness import Seed
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.ids import SELECTIONS, check_selection, drawn
from sparsebandits.rules.optima import ROUNDING, pick
from sparsebandits.rules.optimism import Width, check_bounded, check_width, current_width
from sparsebandits.rules.ratio import ratios
from sparsebandits.rules.rule import Rule

DIFFERENCES = ("all", "best")
TOLD = "The number to tell is what the action shows, not its reward."


class Bounds(NamedTuple):
    """What the bounds of differences say.

    Attributes
    ----------
    gap : array of shape (K,)
        Gap estimate Δ̂ of each action.
    target : array of shape (d,)
        S'u of the longest difference u between actions that may be the best, with Cov θ = SS'; zero if there is none.
    """

    gap: FloatArray
    target: FloatArray


def bounds_of_all(mean: FloatArray, projections: FloatArray, width: float, rng: Generator) -> Bounds:
    """Compare all pairs of actions.

    Parameters
    ----------
    mean : array of shape (K,)
        Estimated reward of each action.
    projections : array of shape (K, d)
        S'φ of each action, with Cov θ = SS'.
    width : float
        w.
    rng : Generator
        Source of randomness, which is used only if longest differences tie.

    Returns
    -------
    Bounds
    """
    length = scipy.spatial.distance.cdist(projections, projections)
    ahead = mean - mean[:, np.newaxis]  # of b over a, in row a and column b
    gap = (ahead + width * length).max(axis=1)
    lower = (ahead - width * length).max(axis=1)
    plausible = np.flatnonzero(lower <= ROUNDING * np.abs(mean).max())
    first, second = (plausible[rows] for rows in np.triu_indices(len(plausible), 1))
    if not len(first):
        return Bounds(gap, np.zeros(projections.shape[1]))
    pair, _ = pick(length[first, second], rng)
    return Bounds(gap, projections[first[pair]] - projections[second[pair]])


def bounds_of_best(mean: FloatArray, projections: FloatArray, width: float, rng: Generator) -> Bounds:
    """Compare all actions with the one of the largest estimate.

    Parameters
    ----------
    mean, projections, width, rng
        As for :func:`bounds_of_all`.

    Returns
    -------
    Bounds
    """
    best, _ = pick(mean, rng)
    apart = projections - projections[best]
    length = np.sqrt(np.einsum("kj,kj->k", apart, apart))
    behind = np.maximum(mean[best] - mean, 0.0)  # of estimates that tie, any one is the best
    gap = behind + (width * length - behind).max()
    plausible = behind - width * length <= ROUNDING * np.abs(mean).max()
    row, _ = pick(np.where(plausible, length, -1.0), rng)
    return Bounds(gap, apart[row])


@dataclass(frozen=True)
class PartialMonitoringInformationDirected(Rule):
    """Minimise the ratio of squared gap estimate to information gain, where actions show observations.

    Parameters
    ----------
    observations : array of shape (K, d), optional
        Observation row m of each of the policy's actions; by default their features, as in a bandit. With it, other
        actions cannot be offered, since nothing is known of what they show.
    width : float or ConfidenceRadius, default=2.0
        Posterior standard deviations between estimate and bound of a difference.
    gain : {"directed", "full"}, default="directed"
        What is learnt of the longest difference between actions that may be the best, or of all of θ.
    differences : {"all", "best"}, default="all"
        Whether bounds are those of all pairs of actions, or of differences from the best estimate alone.
    selection : {"randomised", "deterministic"}, default="randomised"
        Minimise the ratio over distributions or over actions.
    """

    observations: Any = field(default=None, repr=False)
    width: Width = 2.0
    gain: str = "directed"
    differences: str = "all"
    selection: str = "randomised"

    def __post_init__(self) -> None:
        if self.observations is not None:  # as numbers, which are compared and saved
            rows = check_matrix("observations", self.observations).tolist()
            object.__setattr__(self, "observations", tuple(tuple(row) for row in rows))
        object.__setattr__(self, "width", check_width(self.width))
        check_choice("gain", self.gain, GAINS)
        check_choice("differences", self.differences, DIFFERENCES)
        object.__setattr__(self, "selection", check_selection(self.selection))

    @cached_property
    def _rows(self) -> FloatArray | None:
        return None if self.observations is None else np.array(self.observations)

    def check(self, posterior: Any) -> None:
        """Require a Gaussian posterior in closed form, without an intercept."""
        if not isinstance(posterior, Conjugate):
            raise ArgumentTypeError("posterior", f"Conjugate for {type(self).__name__}", type(posterior).__name__)
        if posterior.rewards.intercept:
            raise ArgumentValueError("intercept", f"False for {type(self).__name__}", "True")
        if self._rows is not None:
            check_matrix("observations", self._rows, columns=posterior.dimension)
        check_bounded(self.width, posterior)

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Minimise the ratio; draw one of the two actions if the minimiser has two."""
        posterior, features, noise = beliefs.posterior, beliefs.features, beliefs.noise_variances
        rows = self._shown(beliefs)
        width, mean = current_width(self.width, posterior), beliefs.differences
        bounds = bounds_of_all if self.differences == "all" else bounds_of_best
        gap, target = bounds(mean, posterior.projections(features), width, rng)
        observed = posterior.projections(rows)
        variance = np.einsum("kj,kj->k", observed, observed)
        if self.gain == "full":
            gain = np.log1p(variance / noise)
        else:
            gain = log_reduction(observed @ target, float(target @ target), variance, noise)
        minimiser = SELECTIONS[self.selection](gap, gain)
        action, probability, mixture = drawn(minimiser, gap, gain, rng)
        columns = {
            "gap estimate": gap,
            "information gain": gain,
            "ratio": ratios(gap, gain),
            "expected reward": mean,
            "expected observation": rows @ beliefs.coefficients,
        }
        notes = {"ratio minimised": minimiser.ratio, "width": width}
        remarks = () if self.observations is None else (TOLD,)
        contributions = features[action] * beliefs.coefficients
        reasons = Reasons.top(action, mean, columns, contributions, notes, mixture, -gap, remarks)
        return Choice(action, probability, reasons, observation=rows[action].copy())

    def _shown(self, beliefs: Beliefs) -> FloatArray:
        """Return the observation rows of the actions on offer."""
        if self._rows is None:
            return beliefs.features
        if beliefs.rows is not None:
            return self._rows[beliefs.rows]
        if beliefs.features is not beliefs.own or len(self._rows) != len(beliefs):
            got = f"{len(beliefs)} others"
            raise ArgumentValueError("actions", f"the {len(self._rows)} whose observations are known", got)
        return self._rows


class PartialMonitoringIDS(LinearPolicy):
    """Information-directed sampling where an action shows an observation that need not be its reward.

    ``tell`` is given the observation ⟨m_a, θ⟩ plus noise; any number, such as 0, if the action shows nothing.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d), or Game
        Reward features, one row per action; or a game, such as ``sb.model.dueling(items)`` or
        ``sb.model.transductive(actions, probes)``.
    observations : array or DataFrame of shape (K, d), optional
        Observation row m of each action, if ``actions`` is not a game; by default the features, as in a bandit. Rows
        and columns of a DataFrame are matched by name if those of the actions have names.
    prior : GaussianPrior, optional
        Prior of θ, whose precision is the ridge penalty Λ; by default N(0, 1/d) for each coordinate.
    noise_variance : float or array of shape (K,), default=1.0
        Noise variance of an observation, or one per action.
    width : float or ConfidenceRadius, default=2.0
        Posterior standard deviations between estimate and bound of a difference.
    gain : {"directed", "full"}, default="directed"
        What is learnt of the longest difference between actions that may be the best, or of all of θ.
    differences : {"all", "best"}, default="all"
        Whether bounds are those of all pairs of actions, in O(K² d) per decision, or of differences from the best
        estimate alone, in O(K d).
    selection : {"randomised", "deterministic"}, default="randomised"
        Minimise the ratio over distributions or over actions.
    seed : int, SeedSequence or None
        Seed of all random choices.
    journal : Recorder, optional
        Where decisions and observations are recorded, these as rewards.

    Examples
    --------
    Three items of which two are compared in each round:

    >>> from sparsebandits.model import dueling
    >>> policy = PartialMonitoringIDS(dueling(np.eye(3)), noise_variance=0.1, seed=0)
    >>> decision = policy.ask()
    >>> decision.label, decision.observation
    ('1 vs 2', array([ 0.,  1., -1.]))
    >>> policy.tell(decision, -0.8)  # the reward of item 1 minus that of item 2

    Items are played, which shows nothing, or probed, which pays nothing:

    >>> from sparsebandits.model import transductive
    >>> policy = PartialMonitoringIDS(transductive(np.eye(3), probes=np.eye(3)), noise_variance=0.1, seed=0)
    >>> policy.ask().label
    'probe 2'
    """

    def __init__(
        self,
        actions: object,
        observations: object = None,
        prior: GaussianPrior | None = None,
        noise_variance: object = None,
        width: Width = 2.0,
        gain: str = "directed",
        differences: str = "all",
        selection: str = "randomised",
        seed: Seed = None,
        journal: Recorder | None = None,
    ) -> None:
        if isinstance(actions, Game):
            if observations is not None:
                raise ArgumentValueError("observations", "none beside a game, which has them", shown(observations))
            observations = actions.observations
            actions = ActionSet(actions.actions, actions.labels, actions.feature_names)
        available = ActionSet.of(actions)
        if observations is not None:
            game = Game(available.features, observations, available.labels, available.feature_names)
            observations = game.observations
        rule = PartialMonitoringInformationDirected(observations, width, gain, differences, selection)
        super().__init__(available, rule, prior, noise_variance, seed=seed, journal=journal, intercept=False)
