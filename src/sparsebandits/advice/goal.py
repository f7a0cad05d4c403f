"""What is wanted of rewards: large ones, small ones, close to a value, or much per cost.

Small rewards are wanted by learning their negatives, so that everything else stays as it is; what is shown is turned
back. The other goals are rules of their own (``rules/aimed.py``, ``rules/per_cost.py``).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sparsebandits.advice.columns import LARGEST_CELL
from sparsebandits.advice.effects import FeatureEffect
from sparsebandits.arguments import ArgumentValueError, FloatArray, check_flag, check_number, shown
from sparsebandits.rules.rule import Rule
from sparsebandits.tables import formatted


@dataclass(frozen=True, eq=False)
class Goal:
    """What is wanted.

    Attributes
    ----------
    minimize : bool
        Whether small rewards are good.
    target : float or None
        Value that rewards should be close to.
    costs : array of shape (K,) or None
        Cost of each action, if rewards count per unit of it.
    """

    minimize: bool = False
    target: float | None = None
    costs: FloatArray | None = None

    @classmethod
    def of(cls, minimize: object, target: object, costs: FloatArray | None, policy: str) -> "Goal":
        """Return the goal that arguments state; at most one may, and "sparse-ids" serves all of them.

        Parameters
        ----------
        minimize, target : object
            Arguments of :func:`sparsebandits.decide`.
        costs : array of shape (K,) or None
            Costs in the table.
        policy : str
            The policy.
        """
        small = check_flag("minimize", minimize)
        value = None if target is None else check_number("target", target, LARGEST_CELL)
        given = [name for name, is_given in (("minimize", small), ("target", value is not None)) if is_given]
        given += ["cost"] if costs is not None else []
        if len(given) > 1:
            raise ArgumentValueError(given[1], f"no other goal besides {given[0]}", f"{' and '.join(given)}")
        if policy != "sparse-ids" and (value is not None or costs is not None):
            raise ArgumentValueError(given[0], 'none for a policy other than "sparse-ids"', shown(policy))
        return cls(small, value, costs)

    def __str__(self) -> str:
        if self.minimize:
            return "small rewards"
        if self.target is not None:
            return f"rewards close to {formatted(self.target)}"
        return "large rewards" if self.costs is None else "large rewards per unit of cost"

    def check_family(self, family: str) -> None:
        """Refuse families that the goal is not worked out for."""
        if family == "gaussian" or (family == "bernoulli" and self.target is None and self.costs is None):
            return
        if self.minimize or self.target is not None or self.costs is not None:
            raise ArgumentValueError("family", f"gaussian, since {self} are wanted", family)

    def told(self, rewards: FloatArray, family: str) -> FloatArray:
        """Return rewards of which large ones are wanted."""
        if not self.minimize:
            return rewards
        return 1.0 - rewards if family == "bernoulli" else -rewards

    def shown(self, reward: float, family: str) -> float:
        """Return an expected reward as the table has it."""
        if not self.minimize:
            return reward
        return 1.0 - reward if family == "bernoulli" else -reward

    def effects(self, effects: tuple[FeatureEffect, ...]) -> tuple[FeatureEffect, ...]:
        """Return effects on the rewards of the table."""
        if not self.minimize:
            return effects
        return tuple(
            replace(
                one,
                mean=-one.mean,
                low=-one.high,
                high=-one.low,
                positive=max(one.inclusion - one.positive, 0.0),
            )
            for one in effects
        )

    def rule(self, horizon: int | None) -> Rule | None:
        """Return the rule that serves the goal; None if the policy's own does."""
        from sparsebandits.rules.aimed import Aimed
        from sparsebandits.rules.per_cost import PerCost

        if self.target is not None:
            return Aimed(self.target, horizon)
        return None if self.costs is None else PerCost(tuple(self.costs.tolist()), horizon)

    @property
    def utility(self) -> Callable[[FloatArray], FloatArray] | None:
        """What mean rewards ``(K, M)`` are worth; None if they are worth themselves."""
        target, costs = self.target, self.costs
        if target is not None:
            return lambda means: -np.abs(means - target)
        return None if costs is None else lambda means: means / costs[:, np.newaxis]

    @property
    def idle(self) -> float:
        """What doing nothing is worth: zero where trials have costs; elsewhere there is always a trial."""
        return -math.inf if self.costs is None else 0.0

    @property
    def unit(self) -> str:
        """What mean rewards are worth, in words."""
        if self.target is not None:
            return f"the closeness to {formatted(self.target)}"
        return "the mean reward" if self.costs is None else "the mean reward per unit of cost"
