"""A new action set in each round, under one θ*: the contextual linear bandit.

The setting of Chu, Li, Reyzin and Schapire (2011), with sets that are drawn at random. The set of a round is a
function of (seed, round) alone, so all policies of a trial are offered the same sets.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from sparsebandits.arguments import ArgumentTypeError, shown
from sparsebandits.environments.instance import Instance, RoundByRound
from sparsebandits.randomness import Seed, child


class FixedActions(Protocol):
    """A distribution over instances whose actions do not change."""

    def sample(self, seed: Seed) -> Instance:
        """Return the instance that belongs to a seed.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        Instance
        """


def check_environment(environment: object) -> None:
    """Require an environment.

    Parameters
    ----------
    environment : object
        The argument ``environment``.

    Raises
    ------
    ArgumentTypeError
        If it has no ``sample``, or is a class.
    """
    if not hasattr(environment, "sample") or isinstance(environment, type):
        raise ArgumentTypeError("environment", "an environment with sample(seed)", shown(environment))


def check_fixed(drawn: object) -> Instance:
    """Require an instance whose actions are rows that do not change.

    Parameters
    ----------
    drawn : object
        What the argument ``environment`` samples.

    Returns
    -------
    Instance

    Raises
    ------
    ArgumentTypeError
        If it is anything else.
    """
    if not isinstance(drawn, Instance):
        raise ArgumentTypeError(
            "environment", "an environment whose instances have rows of actions", f"one that samples {shown(drawn)}"
        )
    return drawn


class ChangingInstance(RoundByRound):
    """An instance with new actions in each round; θ* and the family of the rewards do not change.

    Policies are made with the actions of round 0, and are offered those of each round when it comes.

    Parameters
    ----------
    draw : callable
        ``draw(t)`` returns an :class:`Instance` with the actions of round t.

    Attributes
    ----------
    actions : array of shape (K, d)
        The actions of round 0.
    theta : array of shape (d,)
        The true coefficients θ*.
    noise_variance : float
        The variance of a Gaussian reward around its mean; NaN for other families.
    rewards : Gaussian, Bernoulli or Poisson
        The family of the rewards.
    """

    def __init__(self, draw: Callable[[int], Instance]) -> None:
        self._draw = draw
        self._round, self._now = 0, check_fixed(draw(0))
        self.actions = self._now.actions
        self.theta = self._now.theta
        self.noise_variance = self._now.noise_variance
        self.rewards = self._now.rewards

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._draw(0)!r}, new actions in each round)"

    def at(self, round_number: int) -> Instance:
        """Return the instance whose actions are those of one round. The latest one is kept.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.

        Returns
        -------
        Instance
        """
        if round_number != self._round:
            self._round, self._now = round_number, replace(self._now, actions=self._draw(round_number).actions)
        return self._now


@dataclass(frozen=True)
class ChangingActions:
    """The instances of another environment, with new actions in each round, drawn like the first ones.

    Actions and θ* have to be drawn independently of each other, as they are in ``GaussianActions``. θ* and the actions
    of round 0 are those of ``environment.sample(seed)``.

    Parameters
    ----------
    environment : object with ``sample(seed)``
        The environment; its instances have rows of actions.

    Examples
    --------
    >>> from sparsebandits.environments import GaussianActions
    >>> instance = ChangingActions(GaussianActions(dimension=40, sparsity=4)).sample(seed=0)
    >>> instance.offered(7).shape, bool((instance.offered(7) == instance.offered(8)).any())
    ((200, 40), False)
    """

    environment: FixedActions

    def __post_init__(self) -> None:
        check_environment(self.environment)

    def sample(self, seed: Seed) -> ChangingInstance:
        """Return the instance that belongs to a seed.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        ChangingInstance
        """
        root = child(seed)  # fresh entropy is drawn once
        return ChangingInstance(lambda t: self.environment.sample(child(root, t) if t else root))
