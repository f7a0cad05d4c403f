"""A fresh action set each round: the contextual bandit that changes under one θ*.

The set of a round is a function of (seed, round) alone, so all policies of a trial are offered the same sets.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from sparsebandits.arguments import ArgumentTypeError, FloatArray, shown
from sparsebandits.environments.instance import Instance, Outcome, check_row
from sparsebandits.randomness import Seed, child


class FixedActions(Protocol):
    """A distribution over instances whose actions stay."""

    def sample(self, seed: Seed) -> Instance:
        """Return the instance that belongs to ``seed``."""


class ChangingInstance:
    """θ* and the noise stay, the actions do not: ``draw(t)`` is an instance with those of round t.

    Policies are made with the actions of round 0, and are offered those of each round as it comes.
    """

    def __init__(self, draw: Callable[[int], Instance]) -> None:
        first = draw(0)
        if not isinstance(first, Instance):
            raise ArgumentTypeError(
                "environment", "one whose instances have rows of actions", f"{shown(first)} from it"
            )
        self._draw = draw
        self._round, self._now = 0, first
        self.actions = self._now.actions
        self.theta = self._now.theta
        self.noise_variance = self._now.noise_variance

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._draw(0)!r}, other actions in each round)"

    def at(self, round_number: int) -> Instance:
        """Return the instance whose actions are those of one round. The latest is kept."""
        if round_number != self._round:
            drawn = self._draw(round_number)
            self._round, self._now = round_number, Instance(drawn.actions, self.theta, self.noise_variance)
        return self._now

    def offered(self, round_number: int) -> FloatArray:
        """Return the actions of this round."""
        return self.at(round_number).actions

    def outcome(self, round_number: int, action: int, features: FloatArray) -> Outcome:
        """Return what the row ``action`` is worth against the other rows of this round."""
        return self.at(round_number).outcome(round_number, check_row(action), features)


@dataclass(frozen=True)
class ChangingActions:
    """The instances of ``environment``, except that each round has actions of its own, drawn like the first ones.

    It asks that actions and θ* are drawn independently of each other, as those of ``GaussianActions`` are. θ* and the
    actions of round 0 are those of ``environment.sample(seed)``.

    >>> from sparsebandits.environments import GaussianActions
    >>> instance = ChangingActions(GaussianActions(dimension=40, sparsity=4)).sample(seed=0)
    >>> instance.offered(7).shape, bool((instance.offered(7) == instance.offered(8)).any())
    ((200, 40), False)
    """

    environment: FixedActions

    def __post_init__(self) -> None:
        if not hasattr(self.environment, "sample"):
            raise ArgumentTypeError("environment", "one with sample(seed)", shown(self.environment))

    def sample(self, seed: Seed) -> ChangingInstance:
        """Return the instance that belongs to ``seed``."""
        root = child(seed)  # fresh entropy is drawn once
        return ChangingInstance(lambda t: self.environment.sample(child(root, t) if t else root))
