"""What figures of a policy are drawn from: a copy of it, so that who looks changes nothing."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import ArgumentTypeError, FloatArray, shown
from sparsebandits.model.families import Linked
from sparsebandits.policies.decision import Decision
from sparsebandits.policies.policy import Policy
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice

PRIOR = "no rewards yet: this is the prior"
SCALES = {"bernoulli": "log-odds", "poisson": "log rate"}
"""What effects in an Advice are differences of, where that is not the reward."""


class Advised(Protocol):
    """What is drawn of an :class:`~sparsebandits.Advice`."""

    @property
    def recommendations(self) -> Sequence[Any]:
        """The actions to try."""

    @property
    def features(self) -> Sequence[Any]:
        """Effect of each feature."""

    @property
    def about(self) -> Mapping[str, Any]:
        """What it was made from."""


Known: TypeAlias = Policy | Advised


class Effect(NamedTuple):
    """Posterior of one coefficient: probability that it matters, mean and 95% interval."""

    name: str
    inclusion: float
    mean: float
    low: float
    high: float


class Effects(NamedTuple):
    """Posterior of all coefficients, the most likely to matter first.

    Attributes
    ----------
    rows : list of Effect
        One row per feature.
    scale : str
        What coefficients are differences of.
    prior : array or None
        Prior probability that each of them matters, in the order of the rows; None where there is none.
    note : str
        What to know of them; may be empty.
    unit : str, default="one unit"
        The change of a feature that effects are effects of.
    """

    rows: list[Effect]
    scale: str
    prior: FloatArray | None
    note: str
    unit: str = "one unit"


def is_advice(of: object) -> bool:
    """Return whether this is an Advice, or looks like one."""
    return all(hasattr(of, name) for name in ("recommendations", "features", "about"))


def twin(policy: object, needs_posterior: bool = True) -> Policy:
    """Return a copy of a policy, which may be asked and read.

    Parameters
    ----------
    policy : Policy
        The policy.
    needs_posterior : bool, default=True
        Whether it has to have one.

    Returns
    -------
    Policy
        The copy; it has no journal.

    Raises
    ------
    ArgumentTypeError
        If it is not a policy, or has no posterior.
    """
    if not isinstance(policy, Policy):
        raise ArgumentTypeError("policy", "a policy, such as SparseIDS(actions)", shown(policy))
    if needs_posterior and not all(hasattr(policy.posterior, name) for name in ("draws", "summary")):
        raise ArgumentTypeError("policy", "one with a posterior of its coefficients", type(policy.posterior).__name__)
    other = copy(policy)
    other.journal = None
    return other


def foreseen(policy: object, context: object = None) -> tuple[Decision, Beliefs]:
    """Return the decision that ``ask`` would give now, and the beliefs that it would rest on.

    Parameters
    ----------
    policy : Policy
        The policy, which is not asked.
    context : mapping, Series or sequence, optional
        Who is asking, if the policy has contexts.

    Returns
    -------
    decision, beliefs : Decision, Beliefs
    """
    other, seen = twin(policy), []
    rule = other.rule

    def choose(beliefs: Beliefs, rng: Generator) -> Choice:
        seen.append(beliefs)
        return rule.choose(beliefs, rng)

    other.rule = copy(rule)
    vars(other.rule)["choose"] = choose  # the rule itself in all else, such as the contexts that it looks at
    return other.ask(context=context), seen[0]


def is_prior(posterior: Any) -> bool:
    """Return whether nothing has been learnt yet, since no reward has come, or none that differs from the others."""
    return Beliefs(posterior, np.empty((0, 0))).are_the_priors


def effects_of(known: object) -> Effects:
    """Return the posterior of all coefficients.

    Parameters
    ----------
    known : Policy or Advice
        Whose.

    Returns
    -------
    Effects
    """
    if is_advice(known):
        advice: Any = known
        rows = [
            Effect(one.name, one.inclusion, *(one.spread * end for end in (one.mean, one.low, one.high)))
            for one in advice.features
        ]
        note = "" if advice.about["observations"] else PRIOR
        return Effects(rows, SCALES.get(advice.about["family"], "reward"), None, note, "one standard deviation")
    posterior = twin(known).posterior
    columns = ("feature", "P(included)", "mean", "2.5%", "97.5%")
    rows = [Effect(*(row[name] for name in columns)) for row in posterior.summary()]
    order = sorted(range(len(rows)), key=lambda j: (-rows[j].inclusion, -abs(rows[j].mean)))
    prior = prior_inclusion(posterior.prior, posterior.dimension)
    scale = posterior.rewards.scale if isinstance(posterior.rewards, Linked) else "reward"
    sorted_prior = None if prior is None else prior[order]
    return Effects([rows[j] for j in order], scale, sorted_prior, PRIOR if is_prior(posterior) else "")


def prior_inclusion(prior: Any, dimension: int) -> FloatArray | None:
    """Return the prior probability that each feature matters, if the prior has one.

    Parameters
    ----------
    prior : prior of θ
        The prior.
    dimension : int
        Number of features d.

    Returns
    -------
    array of shape (d,) or None
        None for a prior that leaves nothing out, and for a number of features that is conditioned on while their
        probabilities differ.

    Examples
    --------
    >>> from sparsebandits import SpikeSlab
    >>> prior_inclusion(SpikeSlab(0.5, 1.0, size=(1, 2)), 2)
    array([0.66666667, 0.66666667])
    """
    if not hasattr(prior, "inclusions"):
        return None
    own: FloatArray = prior.inclusions(dimension)
    if prior.size is None:
        return np.array(own)
    if np.ptp(own) > 0.0:
        return None
    chance = np.exp(prior.log_size_probabilities(dimension))
    return np.full(dimension, float(chance @ np.arange(dimension + 1)) / dimension)
