"""Cost to go: play the action whose information is worth most over the rounds that are left.

No published source; docs/rules.md has the measurements behind it.

Suppose that one action a is played for m rounds, that doubt about the best action shrinks linearly meanwhile and is
gone after N_a rounds, and that the rest is played greedily. With Δ the expected regret, g the action of least regret,
R the rounds left, I_a the information that one reward of a brings about the best action x*, and H its entropy:

- N_a = ½ H / I_a, the rounds of a after which x* is known
- e_a = Δ_a − Δ_g, what a round of a costs more than a round of g
- m_a = R − ½ − N_a e_a / Δ_g, at most N_a and at least 1: the number of rounds that costs least
- cost_a = e_a m + Δ_g (m − m (m − 1) / 2N_a) + Δ_g (1 − m / N_a) (R − m), with m = m_a

The first term is paid now; the others are the regret of what is not known yet: in round k of a the doubt is
1 − (k − 1) / N_a, or zero, since a reward helps in later rounds only. An action that has more regret and no more
information than another one never costs less. The action of least cost is played for one round, and all is computed
anew; of actions that cost the same, the one of least regret. In the last round the rule is greedy.

The information is I_a = ½ log(1 + (v_a + κ T_a) / σ²), at most H, with v_a = Var(E[⟨a, θ⟩ | x*]) without the noise of
the draws (``information.py``), T_a = Var⟨a, θ⟩ and σ² the noise variance. The second term is for what a reward says
about θ beyond x*, which helps to find x* later. (For clicks and counts it is I(x*; Y_a) + 4 κ I(θ; Y_a), exact
where rewards are 0 and 1: ``linked.py``.) The plain v̂ of Algorithm 3 has such a term by accident: its bias is a
share of T that depends on the number of draws.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_between, check_number
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.posteriors.kernels.choosing import costs_to_go, leading
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import CANDIDATES, DRIVERS, PRIORS, Choice, Reasons
from sparsebandits.rules.information import Information, noise_in_gain
from sparsebandits.rules.optima import ROUNDING, pick
from sparsebandits.rules.rule import Rule
from sparsebandits.rules.screen import Screen

KAPPA = 0.05
"""Default share of Var⟨a, θ⟩ that counts as information beside v."""

AHEAD = 200
"""Rounds that are looked ahead where the horizon is not known, beside as many as have been played."""


class Costs(NamedTuple):
    """What each action costs over the rounds that are left, arrays of shape (K,).

    Attributes
    ----------
    rounds : array
        m_a, the number of rounds that a would be played.
    now : array
        e_a m_a, what that costs more than playing the action of least regret.
    later : array
        The regret of what is not known yet.
    """

    rounds: FloatArray
    now: FloatArray
    later: FloatArray

    @property
    def total(self) -> FloatArray:
        """The cost to go."""
        return self.now + self.later


def costs(regret: FloatArray, information: FloatArray, entropy: float, rounds: float | FloatArray) -> Costs:
    """Return what each action costs in the rounds that are left.

    Parameters
    ----------
    regret : array of shape (K,)
        Δ of each action.
    information : array of shape (K,)
        I of each action, in nats per reward.
    entropy : float
        H(x*), in nats.
    rounds : float or array of shape (K,)
        R, the rounds that are left, at least one; or as many as there would be of each action, where these last
        differently long. With less than one, a round is played all the same.

    Returns
    -------
    Costs
        Now, later and in all.

    Examples
    --------
    >>> costs(np.array([0.1, 0.3]), np.array([0.0, 0.5]), 0.5, 100).total
    array([10. ,  0.3])
    """
    return Costs(*costs_to_go(regret, information, entropy, np.full(len(regret), rounds, dtype=np.float64)))


def cheapest(cost: FloatArray, regret: FloatArray, rng: Generator) -> tuple[int, float]:
    """Return the action of least cost, of those that tie the one of least regret, and its probability.

    Parameters
    ----------
    cost, regret : array of shape (K,)
        Cost to go and Δ of each action.
    rng : Generator
        Source of randomness, which is used only if actions tie in both.

    Returns
    -------
    action, probability : int, float
        The action and its probability.
    """
    rows = (cost <= cost.min() * (1.0 + ROUNDING)).nonzero()[0]
    if len(rows) == 1:
        return int(rows[0]), 1.0
    place, probability = pick(-regret[rows], rng)
    return int(rows[place]), probability


@dataclass(frozen=True)
class CostToGo(Rule):
    """Play the action of least cost to go.

    When the horizon is over, the rule is greedy.

    Parameters
    ----------
    horizon : int or float, optional
        Number of rounds in all; or a number below one by which every round counts less than the one before, for use
        without an end. By default the end is not known, and 200 + t rounds are expected to come after t, more where
        clicks or counts are rare (docs/clicks.md).
    share : float, default=0.05
        κ, the share of Var⟨a, θ⟩ that counts as information beside the gain v; four times that for clicks and counts.

    Examples
    --------
    >>> CostToGo(horizon=500)
    CostToGo(horizon=500, share=0.05)
    """

    horizon: float | None = None
    share: float = KAPPA

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", check_between("share", self.share, 0.0, 1.0))
        if self.horizon is not None:
            number = check_number("horizon", self.horizon)
            whole = (
                number >= 1.0
                and number == int(number)
                and not (number == 1.0 and isinstance(self.horizon, float | np.floating))
            )
            if not (0.0 < number < 1.0 or whole):
                expected = "a whole number of rounds, at least 1, or a discount between 0 and 1"
                raise ArgumentValueError("horizon", expected, repr(self.horizon))
            object.__setattr__(self, "horizon", int(number) if whole else number)

    def rounds_left(self, decisions: int, pace: float = 1.0, memory: float = math.inf) -> float:
        """Return the number of rounds that information is worth something for.

        Parameters
        ----------
        decisions : int
            Number of decisions that have been made.
        pace : float, default=1.0
            Rewards that say as much as one of the usual kind, where the horizon is not known (``Beliefs.pace``).
        memory : float, default=inf
            Rounds after which what is learnt now is forgotten (``Beliefs.memory``).

        Returns
        -------
        float
            R.
        """
        if self.horizon is None:
            return float(min(AHEAD * pace + decisions, memory))
        if self.horizon < 1.0:
            return min(1.0 / (1.0 - self.horizon), memory)
        return float(min(max(self.horizon - decisions, 1), memory))

    def is_over(self, decisions: int) -> bool:
        """Return whether a known number of rounds has been played.

        Parameters
        ----------
        decisions : int
            Number of decisions that have been made.

        Returns
        -------
        bool
        """
        return self.horizon is not None and 1.0 <= self.horizon <= decisions

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Choose the action of least cost; actions that tie in cost and regret are equally likely."""
        known, rounds = beliefs.information, self.rounds_left(beliefs.decisions, beliefs.pace, beliefs.memory)
        entropy = known.unbiased_entropy

        def information(of: Information | Screen) -> tuple[FloatArray, FloatArray]:
            gain, unbiased = beliefs.informed(of, self.share)
            return np.minimum(beliefs.shown(gain), entropy), unbiased

        used: Information | Screen = known
        if known.is_large:
            used = Screen.of(known.best, known.centre).settled(
                lambda screen: costs(known.expected_regret, information(screen)[0], entropy, rounds).total
            )
        gain, unbiased = information(used)
        cost = costs(known.expected_regret, gain, entropy, rounds)
        total = np.where(used.exact_rows, cost.total, np.inf) if isinstance(used, Screen) else cost.total
        action, probability = cheapest(total, known.expected_regret, rng)
        greedy = float(known.expected_regret.min()) * rounds
        columns = {
            **beliefs.shown_first,
            "expected regret": known.expected_regret,
            "information (nats)": gain,
            "rounds": cost.rounds,
            "costs now": cost.now,
            "saves later": greedy - cost.later,
            "cost to go": total,
            "P(optimal)": known.optimal_probability,
        }
        notes = {
            "cost to go if nothing were learnt": greedy,
            "rounds ahead": 0.0 if self.is_over(beliefs.decisions) else rounds,
            "entropy of the optimal action (nats)": entropy,
            "share of the gain that was noise of the draws, and taken out": noise_in_gain(used.gain, unbiased),
            "effective draws": beliefs.draws.effective_sample_size,
        }
        remarks = (PRIORS,) if beliefs.are_the_priors else ()
        contributions = beliefs.features[action] * known.mean
        candidates = leading(known.optimal_probability, -total, CANDIDATES)
        drivers = leading(np.abs(contributions), contributions, DRIVERS)
        reasons = Reasons.of(action, candidates, drivers, "P(optimal)", columns, contributions, notes, remarks)
        return Choice(action, probability, reasons)

    def draws_wanted(self, beliefs: Beliefs) -> int:
        """Return the number of draws of which few enough are alone in their groups."""
        return beliefs.information.draws_wanted

    def health(self, beliefs: Beliefs) -> Health:
        """Report how much of the gain was noise of the draws, most of which the rule takes out."""
        return beliefs.information.health(corrected=True)
