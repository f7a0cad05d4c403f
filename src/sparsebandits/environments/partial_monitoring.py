"""Partial monitoring: instances in which a policy is told an observation in place of the reward.

The linear partial monitoring of Kirschner, Lattimore and Krause (2020).

Regret is that of the reward ⟨φ_a, θ*⟩, which is not shown; the policy is told ⟨m_a, θ*⟩ plus noise
(``model/monitoring.py``). The actions of such an instance are a :class:`~sparsebandits.model.Game`, which policies that
need to see rewards refuse.
"""

from dataclasses import dataclass
from typing import Any

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_matrix,
    check_vector,
    frozen,
    shown,
)
from sparsebandits.environments.instance import Environment, Instance, Outcome, check_row
from sparsebandits.model.monitoring import Game, dueling, transductive
from sparsebandits.model.rewards import Gaussian, Rewards
from sparsebandits.randomness import Seed


class MonitoredInstance:
    """A partial monitoring game with the true coefficients.

    Parameters
    ----------
    game : Game
        The actions, and what they show.
    theta : array of shape (d,)
        The true coefficients θ*.
    noise_variance : float
        Variance of an observation around its mean.

    Attributes
    ----------
    actions : Game
        The game, as a policy is given it.
    means : array of shape (K,)
        Mean reward of each action.
    observations : array of shape (K,)
        Mean of what each action shows.
    gaps : array of shape (K,)
        Regret of playing each action once.
    rewards : Gaussian
        The family of the observations.

    Examples
    --------
    >>> import numpy as np
    >>> instance = MonitoredInstance(dueling(np.eye(2)), [1.0, 3.0], noise_variance=0.5)
    >>> instance.actions.labels, instance.means, instance.observations
    (('0 vs 0', '0 vs 1', '1 vs 1'), array([2., 4., 6.]), array([ 0., -2.,  0.]))
    """

    def __init__(self, game: Game, theta: object, noise_variance: float) -> None:
        if not isinstance(game, Game):
            raise ArgumentTypeError("game", "a Game, such as sb.model.dueling(items)", shown(game))
        self.actions = game
        self.theta = frozen(check_vector("theta", theta, game.actions.shape[1]).copy())
        self.rewards: Rewards = Gaussian(noise_variance)
        if not self.rewards.known:
            raise ArgumentTypeError("noise_variance", "a known noise variance", shown(noise_variance))
        self.means: FloatArray = frozen(game.actions @ self.theta)
        self.observations: FloatArray = frozen(game.observations @ self.theta)
        self.gaps: FloatArray = frozen(self.means.max() - self.means)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.actions!r}, noise variance {self.noise_variance:g})"

    @property
    def noise_variance(self) -> float:
        """Variance of an observation around its mean."""
        return float(self.rewards.variance)

    def offered(self, round_number: int) -> None:
        """Return None: the actions do not change.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.
        """

    def outcome(self, round_number: int, action: int, features: FloatArray) -> Outcome:
        """Return what a decision was worth, and what it shows.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.
        action : int
            The row that was chosen.
        features : array of shape (d,)
            The action itself.

        Returns
        -------
        Outcome
        """
        row = check_row(action)
        return Outcome(float(self.means[row]), float(self.gaps[row]), row, float(self.observations[row]))


@dataclass(frozen=True)
class DuelingFeedback:
    """The instances of another environment, in which pairs are played and only the difference of rewards is shown.

    Parameters
    ----------
    environment : object with ``sample(seed)``
        The environment; its instances have fixed actions and Gaussian rewards without an intercept.

    Examples
    --------
    >>> from sparsebandits import rivals, simulate
    >>> from sparsebandits.environments import GaussianActions
    >>> instance = DuelingFeedback(GaussianActions(dimension=3, sparsity=2, n_actions=4)).sample(seed=0)
    >>> simulate(rivals.PartialMonitoringIDS, instance, horizon=20, seed=0).regret.shape
    (20,)
    """

    environment: Environment

    def __post_init__(self) -> None:
        _check(self.environment)

    def sample(self, seed: Seed) -> MonitoredInstance:
        """Return the instance that belongs to a seed.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        MonitoredInstance
        """
        instance = _linear(self.environment.sample(seed))
        return MonitoredInstance(dueling(instance.actions), instance.theta, instance.noise_variance)


@dataclass(frozen=True)
class TransductiveFeedback:
    """The instances of another environment, in which actions show nothing and probes have to be bought for a round.

    Parameters
    ----------
    environment : object with ``sample(seed)``
        The environment; its instances have fixed actions and Gaussian rewards without an intercept.
    probes : array of shape (m, d), optional
        Features of the probes, which are worth nothing; by default those of the actions.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebandits import rivals, simulate
    >>> from sparsebandits.environments import GaussianActions
    >>> environment = TransductiveFeedback(GaussianActions(dimension=3, sparsity=2, n_actions=4), np.eye(3))
    >>> simulate(rivals.PartialMonitoringIDS, environment.sample(seed=0), horizon=20, seed=0).regret.shape
    (20,)
    """

    environment: Environment
    probes: Any = None

    def __post_init__(self) -> None:
        _check(self.environment)
        if self.probes is not None:  # as numbers, which are compared, and written with results
            rows = check_matrix("probes", self.probes).tolist()
            object.__setattr__(self, "probes", tuple(tuple(row) for row in rows))

    def sample(self, seed: Seed) -> MonitoredInstance:
        """Return the instance that belongs to a seed.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        MonitoredInstance
        """
        instance = _linear(self.environment.sample(seed))
        game = transductive(instance.actions, instance.actions if self.probes is None else self.probes)
        return MonitoredInstance(game, instance.theta, instance.noise_variance)


def _check(environment: object) -> None:
    if not hasattr(environment, "sample"):
        raise ArgumentTypeError("environment", "an environment with sample(seed)", shown(environment))


def _linear(instance: object) -> Instance:
    """Require fixed actions and Gaussian rewards ⟨a, θ*⟩ plus noise."""
    if not isinstance(instance, Instance):
        raise ArgumentTypeError("environment", "one whose instances have fixed actions", shown(instance))
    if not isinstance(instance.rewards, Gaussian) or instance.rewards.intercept:
        expected = "one with Gaussian rewards and no intercept"
        raise ArgumentValueError("environment", expected, shown(instance.rewards))
    return instance
