"""What a decision is for, where that is not the largest reward: regret and information for a utility of mean rewards.

Symbols as in ``information.py``, with η_a the mean reward of a, its level included, and a utility u_a of it:

- x* = argmax_b u_b, under each draw
- Δ(a) = E[max_b u_b] − E u_a
- v(a) = Var(E[η_a | x*]): what a reward of a says about x*, since it is η_a with noise

So the model stays linear in the reward, and only the choice changes. ``aimed.py`` and ``per_cost.py`` have the
utilities.

The level of rewards cancels where the largest reward is looked for. Here it counts, so each draw of θ gets a level:
given θ it is N(ȳ − ⟨x̄, θ⟩, σ²/W) (``model/features.py``). It is one more coefficient, of a feature that is one for all
actions. The normal numbers are always the same, so that the rule is not random. Where draws are all values that θ may
have, each of them gets several levels. Levels change with every reward, so nothing is kept between decisions.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from sparsebandits.arguments import ArgumentTypeError, FloatArray, IntArray
from sparsebandits.model.families import Linked
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.posteriors.draws import mostly_zero
from sparsebandits.posteriors.rows import Rows
from sparsebandits.randomness import LEVEL_STREAM, stream
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.best import ERRORS, Best
from sparsebandits.rules.choice import PRIORS, Choice, Reasons
from sparsebandits.rules.cost_to_go import Costs, CostToGo, cheapest
from sparsebandits.rules.information import Information, noise_in_gain
from sparsebandits.rules.optima import ROUNDING, Optima, Prepared, in_cells, power_above, tied
from sparsebandits.rules.rule import Rule

AT_ONCE = 2**20
"""Number of utilities that are computed at a time."""

LEVELS = 16
"""Number of levels of each draw, where draws are all values that θ may have."""

Utility = Callable[[FloatArray], FloatArray]
"""Utility of each distinct action, from mean rewards compared with the zero of the goal, both of shape ``(m, U)``."""


class Levelled(NamedTuple):
    """Draws of mean rewards: η_a − zero = offset + ⟨(a, 1), θ⟩.

    Attributes
    ----------
    theta : array of shape (M, d + 1)
        Draws of θ, and what the level adds to ``offset``.
    weights : array of shape (M,)
        Weights of the draws.
    offset : float
        ȳ − zero, or −zero if rewards have no intercept; divided by the power of two above it as long as the unit of
        rewards is not known.
    exact : bool
        Whether these are all values that θ may have.
    """

    theta: FloatArray
    weights: FloatArray
    offset: float
    exact: bool


def levelled(beliefs: Beliefs, zero: float) -> Levelled:
    """Return draws of θ with a level each.

    Before the first reward nothing is known of the level, and the average action is taken to be at zero.

    Parameters
    ----------
    beliefs : Beliefs
        The posterior, whose rewards are Gaussian, and the actions.
    zero : float
        What mean rewards are compared with.

    Returns
    -------
    Levelled
        The draws.
    """
    draws, level, posterior = beliefs.draws, beliefs.level, beliefs.posterior
    theta, weights = draws.theta, draws.weights
    if level is None or beliefs.centre is None:
        offset, apart = -zero, np.zeros(len(theta))
    elif level.weight == 0.0:
        offset, apart = 0.0, -(theta @ beliefs.centre)
    else:
        offset, apart = level.reward - zero, -(theta @ beliefs.centre)
        noise = posterior.learnt().get("noise_variance") if hasattr(posterior, "learnt") else None
        deviation = np.sqrt((posterior.noise_variance if noise is None else noise) / level.weight)
        if draws.exact:
            normal = ndtri((np.arange(LEVELS) + 0.5) / LEVELS)
            normal /= np.sqrt((normal * normal).mean())
            theta, weights = np.repeat(theta, LEVELS, axis=0), np.repeat(weights / LEVELS, LEVELS)
            apart = (apart[:, np.newaxis] + np.multiply.outer(np.full(len(draws), deviation), normal)).ravel()
        else:
            apart = apart + deviation * stream(0, LEVEL_STREAM).standard_normal(len(apart))
    if getattr(posterior, "unit", 1.0) == 0.0:  # draws are in a unit of their own
        offset /= power_above(abs(offset))
    return Levelled(np.column_stack((theta, apart)), weights, offset, draws.exact)


class BestFor(Best):
    """x* under weighted draws, where it has the largest utility.

    Parameters
    ----------
    actions : Prepared
        The actions, whose last feature is one.
    drawn : Levelled
        The draws.
    utility : function
        Utility of each distinct action, from its mean rewards.
    steepest : float
        Largest slope of the utility, by which the rounding of mean rewards is multiplied.

    Attributes
    ----------
    utilities : array of shape (U,)
        E u of the distinct actions.
    """

    def __init__(self, actions: Prepared, drawn: Levelled, utility: Utility, steepest: float) -> None:
        self._drawn, self._utility, self._actions = drawn, utility, actions
        theta, weights = drawn.theta, drawn.weights
        self._terms: FloatArray = steepest * (np.abs(theta) @ actions.reach + abs(drawn.offset))
        best, value = np.empty(len(theta), dtype=np.intp), np.empty(len(theta))
        ties = np.zeros(len(theta), dtype=bool)
        self.utilities: FloatArray = np.zeros(len(actions.distinct))
        for block, found in self._blocks():
            best[block], value[block] = found.argmax(axis=1), found.max(axis=1)
            ties[block] = np.count_nonzero(self._inside(block, found), axis=1) > 1
            self.utilities += weights[block] @ found
        several = np.flatnonzero(ties)
        cells = in_cells(actions, best, several, lambda places: self._inside(several[places]))
        rows = Rows.of(theta) if not drawn.exact and mostly_zero(theta) else None
        optima = Optima(actions, theta, value, *cells[1:], rows, kept=None, spread=None)
        super().__init__(optima, weights, sampled=True, exact=drawn.exact)

    def _under(self, draws: slice | IntArray) -> FloatArray:
        """Return the utility of each distinct action under some draws."""
        return self._utility(self._drawn.theta[draws] @ self._actions.distinct.T + self._drawn.offset)

    def _blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield utilities of all distinct actions, under as many draws at a time as fit."""
        count = len(self._drawn.weights)
        step = max(1, AT_ONCE // len(self._actions.distinct))
        for start in range(0, count, step):
            block = slice(start, min(start + step, count))
            yield block, self._under(block)

    def _inside(self, draws: slice | IntArray, found: FloatArray | None = None) -> Any:
        """Return whether each distinct action is among the best under some draws."""
        return tied(self._under(draws) if found is None else found, self._terms[draws, np.newaxis])

    def _compared(self, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected utility of actions that tie, and its Monte Carlo error compared with the leader's."""
        members, leader = self.optima.members, int(self.utilities.argmax())
        error = np.full(len(self.utilities), ROUNDING * float(self._terms.max()))
        if self._sampled:
            squares, apart = np.zeros(len(self.utilities)), self.utilities - self.utilities[leader]
            for block, found in self._blocks():
                differences = found - found[:, leader, np.newaxis]
                squares += self._drawn.weights[block] @ (differences * differences)
            error += ERRORS * np.sqrt(np.maximum(squares - apart * apart, 0.0) * self.square)
        return self.utilities[members], error[members]

    def information(self) -> Information:
        """Return regret and information gain of each action."""
        regret = np.maximum(self.expected_value - self.utilities, 0.0)  # rounding may leave it just below zero
        if len(self.support) == 1:
            regret[self.support[0]] = 0.0
        return Information(self._actions.of_rows(regret), self)


@dataclass(frozen=True, eq=False)
class Weighed:
    """What a rule weighs for each action on offer, arrays of shape (K,).

    Attributes
    ----------
    total : array
        The cost to go.
    regret : array
        Expected regret.
    columns : mapping of str to array
        What an explanation shows of the goal, before the columns that all goals have.
    cost : Costs
        The parts of ``total``.
    gain : array
        Information of one reward, in nats.
    greedy : float
        Cost to go if nothing were learnt.
    notes : mapping of str to float
        Further numbers.
    remarks : tuple of str
        Sentences about the decision.
    """

    total: FloatArray
    regret: FloatArray
    columns: Mapping[str, FloatArray]
    cost: Costs
    gain: FloatArray
    greedy: float
    notes: Mapping[str, float]
    remarks: tuple[str, ...] = ()


class Goal(Rule):
    """A rule of least cost to go with a utility of its own.

    A subclass is a frozen dataclass with the fields ``horizon`` and ``share`` of
    :class:`~sparsebandits.rules.CostToGo`; it says what regret is, and what an action costs.
    """

    horizon: float | None
    share: float

    def __post_init__(self) -> None:
        ahead = self.ahead
        object.__setattr__(self, "horizon", ahead.horizon)
        object.__setattr__(self, "share", ahead.share)

    @property
    def ahead(self) -> CostToGo:
        """The rule that has the rounds to come."""
        return CostToGo(self.horizon, self.share)

    @abstractmethod
    def _best(self, beliefs: Beliefs) -> BestFor:
        """Return x* under the draws, by the utility of the goal.

        Parameters
        ----------
        beliefs : Beliefs
            The posterior and the actions.

        Returns
        -------
        BestFor
        """

    @abstractmethod
    def _weigh(self, beliefs: Beliefs, known: Information, gain: FloatArray, rounds: float) -> Weighed:
        """Return the cost to go of each action, and what it consists of.

        Parameters
        ----------
        beliefs : Beliefs
            The posterior and the actions.
        known : Information
            Regret by the utility of the goal.
        gain : array of shape (K,)
            Information of one reward of each action, in nats.
        rounds : float
            Rounds that are left.

        Returns
        -------
        Weighed
        """

    def check(self, posterior: Any) -> None:
        """Refuse clicks and counts, whose mean rewards are no sums of a level and ⟨a, θ⟩."""
        super().check(posterior)
        rewards = getattr(posterior, "rewards", None)
        if isinstance(rewards, Linked):
            raise ArgumentTypeError("rewards", f"Gaussian rewards for {type(self).__name__}", repr(rewards))

    def known(self, beliefs: Beliefs) -> Information:
        """Return regret, gain and P(optimal) by the utility of the goal, computed once.

        Parameters
        ----------
        beliefs : Beliefs
            The posterior and the actions.

        Returns
        -------
        Information
        """
        found: Information = beliefs.once(self, lambda: self._best(beliefs).information())
        return found

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Choose the action of least cost; actions that tie in cost and regret are equally likely."""
        known, count, ahead = self.known(beliefs), len(beliefs), self.ahead
        entropy = known.unbiased_entropy
        rounds = ahead.rounds_left(beliefs.decisions, beliefs.pace, beliefs.memory)
        own, unbiased = _informations(beliefs, known, self.share)
        weighed = self._weigh(beliefs, known, np.minimum(beliefs.shown(own), entropy), rounds)
        action, probability = cheapest(weighed.total, weighed.regret, rng)
        columns = {
            **weighed.columns,
            "expected regret": weighed.regret,
            "information (nats)": weighed.gain,
            "rounds": weighed.cost.rounds,
            "costs now": weighed.cost.now,
            "saves later": weighed.greedy - weighed.cost.later,
            "cost to go": weighed.total,
            "P(optimal)": known.optimal_probability[:count],
        }
        notes = {
            **weighed.notes,
            "cost to go if nothing were learnt": weighed.greedy,
            "rounds ahead": 0.0 if ahead.is_over(beliefs.decisions) else rounds,
            "entropy of the optimal action (nats)": entropy,
            "share of the gain that was noise of the draws, and taken out": noise_in_gain(known.gain[:count], unbiased),
            "effective draws": beliefs.draws.effective_sample_size,
        }
        remarks = (*weighed.remarks, *((PRIORS,) if beliefs.are_the_priors else ()))
        contributions = beliefs.features[action] * beliefs.coefficients
        reasons = Reasons.top(
            action,
            columns["P(optimal)"],
            columns,
            contributions,
            notes,
            ties=-weighed.total,
            remarks=remarks,
        )
        return Choice(action, probability, reasons)

    def draws_wanted(self, beliefs: Beliefs) -> int:
        """Return the number of draws of which few enough are alone in their groups."""
        return self.known(beliefs).draws_wanted

    def health(self, beliefs: Beliefs) -> Health:
        """Report how much of the gain was noise of the draws, most of which the rule takes out."""
        return self.known(beliefs).health(corrected=True)


def _informations(beliefs: Beliefs, known: Information, share: float) -> tuple[FloatArray, FloatArray]:
    """Return ½ log(1 + (v + κ T) / σ²) of each action on offer, and v, both without the noise of the draws."""
    from sparsebandits.posteriors.kernels.choosing import informations  # compiled code, as elsewhere here

    best, count = known.best, len(beliefs)
    noise = beliefs.posterior.noise_variance if beliefs.differing_noise is None else beliefs.differing_noise
    shares = (best.noise_share, best.square) if len(best.support) > 1 else (0.0, 0.0)
    every = np.full(count, noise, dtype=np.float64)  # the level is among the coefficients, and no noise
    found: tuple[FloatArray, FloatArray] = informations(
        known.gain[:count], known.reward_variance[:count], every, *shares, share
    )
    return found


def with_level(features: FloatArray) -> FloatArray:
    """Return features with a last one that is one for all actions."""
    return np.column_stack((features, np.ones(len(features))))
