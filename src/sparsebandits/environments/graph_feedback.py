"""Graph feedback: instances of another environment in which playing an action shows the rewards of its neighbours.

The feedback of Liu, Buccapatnam and Shroff (2018), who study information-directed sampling with it. The reward of an
observed action is the one that playing it in this round would have brought: noise depends on the round and the action
alone. So policies of a trial face the same world, with and without the graph.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    BoolArray,
    FloatArray,
    check_flags,
    frozen,
    shown,
)
from sparsebandits.environments.contexts import Contexts
from sparsebandits.environments.instance import Environment, Outcome, World
from sparsebandits.randomness import Seed


class GraphInstance:
    """An instance with a feedback graph; all else is that of another instance.

    Parameters
    ----------
    instance : World
        The instance; its actions are rows, as many in each round.
    graph : array of shape (K, K)
        Whether playing the action of the row shows the reward of the action of the column; ones and zeros, or booleans.

    Attributes
    ----------
    instance : World
        The instance without the graph.
    feedback : bool array of shape (K, K)
        The graph.
    actions : array of shape (K, d)
        The actions as a policy is given them before the first round.
    noise_variance : float
        The variance of a Gaussian reward around its mean; NaN for other families.
    rewards : Gaussian, Bernoulli or Poisson
        The family of the rewards.
    contexts : Contexts
        The contexts and items of the instance, if it has them.
    """

    def __init__(self, instance: World, graph: object) -> None:
        if not isinstance(instance, World):
            raise ArgumentTypeError("instance", "an Instance", shown(instance))
        shape = np.shape(instance.actions)  # type: ignore[call-overload]
        if len(shape) != 2:
            raise ArgumentTypeError("instance", "one whose actions are rows", shown(instance))
        self.feedback: BoolArray = frozen(_checked(graph))
        if len(self.feedback) != shape[0]:
            raise ArgumentValueError("graph", f"one row per action, {shape[0]}", f"shape {self.feedback.shape}")
        self.instance = instance
        self.actions = instance.actions
        self.noise_variance = instance.noise_variance
        self.rewards = instance.rewards
        if hasattr(instance, "contexts"):
            self.contexts: Contexts = instance.contexts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.instance!r}, {np.count_nonzero(self.feedback)} edges)"

    def at(self, round_number: int) -> Any:
        """Return the actions of one round and what they are worth.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.

        Returns
        -------
        Round
        """
        instance: Any = self.instance
        return instance.at(round_number)

    def offered(self, round_number: int) -> FloatArray | None:
        """Return the actions of one round.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.

        Returns
        -------
        array of shape (K, d), or None
            None if they are those that the policy was made with.
        """
        return self.instance.offered(round_number)

    def outcome(self, round_number: int, action: int, features: FloatArray) -> Outcome:
        """Return what a decision was worth.

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
        return self.instance.outcome(round_number, action, features)


@dataclass(frozen=True)
class GraphFeedback:
    """The instances of another environment, with a feedback graph.

    Parameters
    ----------
    environment : object with ``sample(seed)``
        The environment; the actions of its instances are K rows.
    graph : array of shape (K, K)
        Whether playing the action of the row shows the reward of the action of the column; ones and zeros, or booleans.

    Examples
    --------
    The first of five actions shows all rewards, every other one its own:

    >>> from sparsebandits import LinTS, simulate
    >>> from sparsebandits.environments import GaussianActions
    >>> star = np.eye(5)
    >>> star[0] = 1.0
    >>> instance = GraphFeedback(GaussianActions(dimension=4, sparsity=2, n_actions=5), star).sample(seed=0)
    >>> simulate(LinTS, instance, horizon=20, seed=0).regret.shape
    (20,)
    """

    environment: Environment
    graph: Any

    def __post_init__(self) -> None:
        if not hasattr(self.environment, "sample"):
            raise ArgumentTypeError("environment", "an environment with sample(seed)", shown(self.environment))
        rows = _checked(self.graph).astype(int).tolist()  # as numbers, which are compared, and written with results
        object.__setattr__(self, "graph", tuple(tuple(row) for row in rows))

    def sample(self, seed: Seed) -> GraphInstance:
        """Return the instance that belongs to a seed.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        GraphInstance
        """
        return GraphInstance(self.environment.sample(seed), self.graph)


def _checked(graph: object) -> BoolArray:
    found = check_flags("graph", graph)
    if found.shape[0] != found.shape[1]:
        raise ArgumentValueError("graph", "a square matrix", f"shape {found.shape}")
    return found
