"""Cost to go: play the action whose information is worth most over the rounds that are left.

Suppose that one action a is played for m rounds, that doubt about the best action shrinks linearly meanwhile and is
gone after N_a rounds, and that the rest is played greedily. With Δ the expected regret, g the action of least regret,
R the rounds left, I_a the information that one reward of a brings about the best action x*, and H its entropy:

- N_a = ½ H / I_a, the rounds of a after which x* is known
- e_a = Δ_a − Δ_g, what a round of a costs more than a round of g
- m_a = R − N_a e_a / Δ_g, within 0 and min(N_a, R): the number of rounds that costs least
- cost_a = e_a m + Δ_g (m − m² / 2N_a) + Δ_g (1 − m / N_a) (R − m), with m = m_a

The first term is paid now; the others are the regret of what is not known yet. The action of least cost is played for
one round, and all is computed anew. In the last round the rule is greedy.

The information is I_a = ½ log(1 + (v_a + κ T_a) / σ²), with v_a = Var(E[⟨a, θ⟩ | x*]) without the noise of the draws
(``information.py``), T_a = Var⟨a, θ⟩ and σ² the noise variance. The second term is for what a reward says about θ
beyond x*, which helps to find x* later. The plain v̂ of Algorithm 3 has such a term by accident: its bias is a share of
T that depends on the number of draws.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_between, check_number
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.optima import pick
from sparsebandits.rules.rule import Rule

KAPPA = 0.05
"""Default share of Var⟨a, θ⟩ that counts as information beside v."""

AHEAD = 500
"""Rounds that are looked ahead, at least, where the horizon is not known."""


def costs(
    regret: FloatArray, information: FloatArray, entropy: float, rounds: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what each action costs in all, and the two parts of it.

    Parameters
    ----------
    regret : array of shape (K,)
        Δ of each action.
    information : array of shape (K,)
        I of each action, in nats per reward.
    entropy : float
        H(x*), in nats.
    rounds : float
        R, the rounds that are left.

    Returns
    -------
    total, extra, later : array of shape (K,)
        The cost, which is extra + later; e_a m_a, paid for playing a instead of g; and the regret of what is not known
        yet.

    Examples
    --------
    >>> costs(np.array([0.1, 0.3]), np.array([0.0, 0.5]), 0.5, 100)[0].round(3)
    array([10.   ,  0.125])
    """
    least = float(regret.min())
    apart = regret - least
    if least <= 0.0 or entropy <= 0.0 or rounds <= 1.0:  # nothing to learn, or nothing to learn for
        return apart * rounds, apart * rounds, np.zeros(len(regret))
    with np.errstate(divide="ignore", invalid="ignore"):
        until = 0.5 * entropy / information  # infinite where nothing is learnt
        best = np.where(apart > 0.0, rounds - until * apart / least, rounds)
        play = np.clip(best, 0.0, np.minimum(until, rounds))
        share = np.where(np.isfinite(until), play / until, 0.0)
    extra = apart * play
    later = least * (play - 0.5 * play * share + (1.0 - share) * (rounds - play))
    return extra + later, extra, later


@dataclass(frozen=True)
class CostToGo(Rule):
    """Play the action of least cost to go.

    Parameters
    ----------
    horizon : int or float, optional
        Number of rounds in all; or a number below one by which every round counts less than the one before, for use
        without an end; by default the end is not known.
    share : float, default=0.05
        κ, the share of Var⟨a, θ⟩ that counts as information beside the gain v.

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
            if not (0.0 < number < 1.0 or (number >= 1.0 and number == int(number))):
                expected = "a whole number of rounds, or a discount between 0 and 1"
                raise ArgumentValueError("horizon", expected, repr(self.horizon))

    def rounds_left(self, decisions: int) -> float:
        """Return the number of rounds that information is worth something for.

        Parameters
        ----------
        decisions : int
            Number of decisions that have been made.

        Returns
        -------
        float
            R.
        """
        if self.horizon is None:
            return float(max(AHEAD, decisions))
        if self.horizon < 1.0:
            return 1.0 / (1.0 - self.horizon)
        return float(max(self.horizon - decisions, 1))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Choose the action of least cost; actions that tie are equally likely."""
        known, rounds = beliefs.information, self.rounds_left(beliefs.decisions)
        variance = known.unbiased_gain + self.share * known.reward_variance
        gain = 0.5 * np.log1p(variance / beliefs.noise_variances)
        cost, extra, later = costs(known.expected_regret, gain, known.unbiased_entropy, rounds)
        action, probability = pick(-cost, rng)
        greedy = float(known.expected_regret.min()) * rounds
        noise = 1.0 - float(known.unbiased_gain.sum() / max(known.gain.sum(), 1e-300)) if known.gain.any() else 0.0
        columns = {
            "expected regret": known.expected_regret,
            "information (nats)": gain,
            "pays now": extra,
            "saves later": greedy - later,
            "P(optimal)": known.optimal_probability,
        }
        notes = {
            "cost of what is not known, if nothing is learnt": greedy,
            "rounds ahead": rounds,
            "entropy of the optimal action (nats)": known.unbiased_entropy,
            "noise of the draws, taken from the gain": noise,
            "effective draws": beliefs.draws.effective_sample_size,
        }
        contributions = beliefs.features[action] * known.mean
        reasons = Reasons.top(action, known.optimal_probability, columns, contributions, notes)
        return Choice(action, probability, reasons)
