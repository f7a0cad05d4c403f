"""Aimed: play for a mean reward that is close to a target.

The utility of an action is u_a = −|η_a − target|, with η_a its mean reward and not a noisy one. So
Δ(a) = E|η_a − target| − E min_b |η_b − target|, and x* is the action that is nearest to the target (``goal.py``). The
action of least cost to go is played (``cost_to_go.py``). No published source.
"""

from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import FloatArray, check_number
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.cost_to_go import KAPPA, costs
from sparsebandits.rules.goal import BestFor, Goal, Weighed, levelled, with_level
from sparsebandits.rules.information import Information
from sparsebandits.rules.optima import Prepared


@dataclass(frozen=True)
class Aimed(Goal):
    """Play the action of least cost to go, where what counts is how close mean rewards are to a target.

    Rewards are Gaussian; with an intercept their level is learnt like everything else.

    Parameters
    ----------
    target : float
        The value that rewards should be close to, in their unit.
    horizon : int or float, optional
        Number of rounds in all, or a discount, as for :class:`CostToGo`.
    share : float, default=0.05
        κ, as for :class:`CostToGo`.

    Examples
    --------
    >>> import sparsebandits as sb
    >>> policy = sb.policies.SparsePolicy(np.eye(3), sb.rules.Aimed(target=7.4, horizon=30), seed=0)
    >>> policy.tell(policy.ask(), 6.8)
    """

    target: float
    horizon: float | None = None
    share: float = KAPPA

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "target", check_number("target", self.target))

    def _best(self, beliefs: Beliefs) -> BestFor:
        """Return x* under the draws: the action that is nearest to the target."""
        actions = Prepared(with_level(beliefs.features))
        return BestFor(actions, levelled(beliefs, self.target), _nearness, steepest=1.0)

    def _weigh(self, beliefs: Beliefs, known: Information, gain: FloatArray, rounds: float) -> Weighed:
        """Return the cost to go of each action, in sums of distances."""
        assert isinstance(known.best, BestFor)
        regret = known.expected_regret
        cost = costs(regret, gain, known.unbiased_entropy, rounds)
        columns = {
            "expected reward": beliefs.means,
            "expected distance": -known.best.optima.actions.of_rows(known.best.utilities),
        }
        return Weighed(cost.total, regret, columns, cost, gain, float(regret.min()) * rounds, {"target": self.target})


def _nearness(apart: FloatArray) -> FloatArray:
    return -np.abs(apart)
