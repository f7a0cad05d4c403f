"""Per cost: play for the largest sum of rewards that a budget buys.

No published source.

Playing a costs c_a > 0 and brings the mean reward η_a; costs are in units of the mean cost of all actions. What a
budget buys at best is its size times ρ* = max(0, max_b η_b / c_b): zero, since nothing has to be bought. So x* is the
action of the largest reward per cost, or doing nothing where no action has a positive one, and the expected regret per
unit of cost is (``goal.py``)

    Δ(a) = E ρ* − E η_a / c_a,   and E ρ* of doing nothing.

One play of a loses c_a Δ(a) = c_a E ρ* − E η_a: its own reward if that is negative, and what its cost could have
bought. With R the budget that is left, R / c_a plays of a would use it up, so its cost to go (``cost_to_go.py``) is

    c_a · cost_a(Δ, I, H, R / c_a),   with g the least regret of all actions and of doing nothing.

That counts information per unit of cost: x* is known after N_a plays, which use up c_a N_a. A reward of a says nothing
in time if a uses up what is left.

Dividing a negative reward by its cost would make an expensive action look better than a cheap one that loses as much.
Where no action is expected to bring anything, g is doing nothing, so that the rest of the budget is not spent and
cost_a has −E η_a once for each play: what is played is what loses least, whatever its cost, or what tells most.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import ArgumentValueError, FloatArray, IntArray, check_array, check_positive, shown
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.cost_to_go import KAPPA, Costs, costs
from sparsebandits.rules.goal import BestFor, Goal, Weighed, levelled, with_level
from sparsebandits.rules.information import Information
from sparsebandits.rules.optima import Prepared

NOTHING = "No action is expected to bring a positive reward: doing nothing would be better."
"""Remark on a decision that is the best of a bad lot."""

OTHERS = "rows of the policy's own actions, whose costs the rule has"


@dataclass(frozen=True)
class PerCost(Goal):
    """Play the action of least cost to go, where what counts is reward, and information, per unit of cost.

    Rewards are Gaussian, and zero has to mean nothing gained: adding a number to all of them changes which action is
    best. Costs belong to the rows of the policy's actions. Some of these may be on offer (``available``, or a batch of
    distinct ones), and no others. Actions that are given to ``ask`` in their place are recognised by their features, so
    those with equal features and unequal costs have to be on offer together.

    Parameters
    ----------
    costs : array of shape (K,)
        Positive cost of each row of the actions, in any unit.
    horizon : int or float, optional
        What is there to spend in all, in units of the mean of ``costs``; or a discount, as for :class:`CostToGo`. Each
        decision counts as one of mean cost, since a rule does not know what has been spent.
    share : float, default=0.05
        κ, as for :class:`CostToGo`.

    Raises
    ------
    ArgumentError
        If a cost is not positive; and by ``ask``, if the actions are not those of the costs.

    Examples
    --------
    >>> import sparsebandits as sb
    >>> policy = sb.policies.SparsePolicy(np.eye(3), sb.rules.PerCost(costs=[1.0, 2.0, 5.0], horizon=30), seed=0)
    >>> policy.tell(policy.ask(), 6.8)
    """

    costs: Sequence[float] | FloatArray  # kept as a tuple
    horizon: float | None = None
    share: float = KAPPA

    def __post_init__(self) -> None:
        super().__post_init__()
        values = check_array("costs", self.costs, ndim=1)
        if not values.size:
            raise ArgumentValueError("costs", "one number per row of the actions", "none")
        for value in (values.min(), values.max()):
            check_positive("costs", float(value))
        object.__setattr__(self, "costs", tuple(values.tolist()))

    def __repr__(self) -> str:
        return f"PerCost(costs={shown(self.costs)}, horizon={self.horizon!r}, share={self.share!r})"

    def _on_offer(self, beliefs: Beliefs) -> tuple[FloatArray, FloatArray]:
        """Return the cost of each action on offer, and the same in units of the mean cost, each of shape ``(K,)``.

        Parameters
        ----------
        beliefs : Beliefs
            The posterior and the actions.

        Returns
        -------
        costs, relative : arrays of shape (K,)

        Raises
        ------
        ArgumentValueError
            If the actions are not those of the costs.
        """
        every, own = np.array(self.costs), beliefs.features if beliefs.own is None else beliefs.own
        if len(own) != len(every):
            raise ArgumentValueError("costs", f"{len(own)} costs, one per row of the actions", f"{len(every)}")
        if own is beliefs.features:
            found = every
        else:
            found = every[_rows(beliefs.features, own, every) if beliefs.rows is None else beliefs.rows]
        return found, found / every.mean()

    def _best(self, beliefs: Beliefs) -> BestFor:
        """Return x* under the draws: the action of the largest reward per cost, or none, which is the last row."""
        cost = self._on_offer(beliefs)[1]
        features = np.vstack((with_level(beliefs.features), np.zeros(beliefs.features.shape[1] + 1)))
        actions = Prepared(features, np.append(cost, 0.0))
        each = cost[actions.first[:-1]]

        def per_cost(rewards: FloatArray) -> FloatArray:
            found = np.zeros_like(rewards)
            np.divide(rewards[:, :-1], each, out=found[:, :-1])
            return found

        return BestFor(actions, levelled(beliefs, 0.0), per_cost, steepest=1.0 / float(cost.min()))

    def _weigh(self, beliefs: Beliefs, known: Information, gain: FloatArray, rounds: float) -> Weighed:
        """Return the cost to go of each action, in sums of rewards."""
        (own, cost), regret = self._on_offer(beliefs), known.expected_regret  # the last is that of doing nothing
        useful = (rounds > cost) & (not self.ahead.is_over(beliefs.decisions))
        gain = np.where(useful, gain, 0.0)
        plays = np.append(rounds / cost, rounds)
        found = costs(regret, np.append(gain, 0.0), known.unbiased_entropy, plays)
        parts = Costs(found.rounds[:-1], cost * found.now[:-1], cost * found.later[:-1])
        means = beliefs.means
        columns = {"expected reward": means, "cost": own, "reward per cost": means / own}
        nothing = float(known.optimal_probability[-1])
        remarks = (NOTHING,) if regret[-1] < regret[:-1].min() else ()
        notes = {"P(doing nothing is best)": nothing}
        return Weighed(parts.total, regret[:-1], columns, parts, gain, float(regret.min()) * rounds, notes, remarks)


def _rows(features: FloatArray, own: FloatArray, costs: FloatArray) -> IntArray:
    """Return the row of each action among the policy's own; refuse others, and rows whose costs cannot be told."""
    number = Prepared(np.vstack((own, features))).number.tolist()
    copies: dict[int, list[int]] = {}
    for row, one in enumerate(number[: len(own)]):
        copies.setdefault(one, []).append(row)
    for one, times in Counter(number[len(own) :]).items():
        rows = copies.get(one, [])
        if times > len(rows):
            raise ArgumentValueError("actions", OTHERS, "others")
        if times < len(rows) and np.ptp(costs[rows]) > 0.0:
            got = f"some of the rows {shown(rows)}"
            raise ArgumentValueError(
                "actions", "all rows, or none, of those with equal features and unequal costs", got
            )
    left = {one: iter(rows) for one, rows in copies.items()}
    return np.array([next(left[one]) for one in number[len(own) :]], dtype=np.intp)
