"""The information ratio along a run: of a policy's choices, of Thompson sampling, of a mixture, and the least one.

Hao, Lattimore and Deng (2021), Section 5: with the expected regret Δ_t and the information gain I_t of each action,

    Ψ_{t,λ}(π) = (Δ_t'π)^λ / I_t'π,     Σ_t I_t(x*; (A_t, Y_t)) has the mean I(x*; history) = H_1(x*) − E H_{n+1}(x*).

This module makes the measurements of one round and holds those of many; ``experiments/watching.py`` runs a policy and
collects them. I_t is the mutual information in nats; v_t, the variance-based gain, is recorded as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from sparsebandits.arguments import FloatArray, IntArray, check_choice, check_positive
from sparsebandits.posteriors.draws import Draws
from sparsebandits.rules.information import Information
from sparsebandits.rules.optima import BLOCK
from sparsebandits.rules.ratio import minimise_over_distributions, ratios
from sparsebandits.theory.design import exploratory_design
from sparsebandits.theory.mixture import nats_factor, proof_mixture, ratio_bounds

OWN, THOMPSON, MIXTURE, LEAST_2, LEAST_3 = "own choice", "Thompson sampling", "mixture", "least Ψ₂", "least Ψ₃"
CHOICES = (OWN, THOMPSON, MIXTURE, LEAST_2, LEAST_3)
"""Distributions over actions that are measured; the last two minimise the ratio in nats."""

REGRET, VARIANCE, NATS = "expected regret", "gain v", "information I"
LARGEST_MEAN, LONGEST, C_MIN = "R_max", "L", "C_min"
GAINS = ("mutual-information", "variance")


def measured_choices(
    known: Information, nats: FloatArray, draws: Draws, features: FloatArray, own: FloatArray | None
) -> dict[str, float]:
    """Return regret and gains of each of ``CHOICES`` in one round, and the numbers that their bounds depend on.

    Parameters
    ----------
    known : Information
        Expected regret and variance-based gain of each action.
    nats : array of shape (K,)
        Mutual information between the best action and the reward of each action.
    draws : Draws
        Draws of the posterior.
    features : array of shape (K, d)
        One row per action.
    own : array of shape (K,) or None
        The distribution that the policy played; None if it is not known.

    Returns
    -------
    dict of str to float
        R_max, L and C_min, and ``"choice: quantity"`` for each choice that is known.
    """
    design = exploratory_design(features)
    blocks = (draws.theta[start : start + BLOCK] for start in range(0, len(draws), BLOCK))
    largest = float(max(np.abs(block @ features.T).max() for block in blocks))
    longest = float(np.linalg.norm(features[known.support], axis=1).max())
    chosen: dict[str, FloatArray | None] = {OWN: own, THOMPSON: known.optimal_probability}
    if design.spanning:
        chosen[MIXTURE] = proof_mixture(known, design.weights, largest, longest)
    for name, exponent in ((LEAST_2, 2.0), (LEAST_3, 3.0)):
        least = minimise_over_distributions(known.expected_regret, nats, exponent)
        chosen[name] = two_point(len(features), least.first, least.second, least.probability)
    notes = {LARGEST_MEAN: largest, LONGEST: longest, C_MIN: design.c_min}
    columns = {REGRET: known.expected_regret, VARIANCE: known.gain, NATS: nats}
    for (name, distribution), (column, values) in product(chosen.items(), columns.items()):
        if distribution is not None:
            notes[f"{name}: {column}"] = float(distribution @ values)
    return notes


def two_point(n_actions: int, first: int, second: int, probability: float) -> FloatArray:
    """Return the distribution on two actions.

    Parameters
    ----------
    n_actions : int
        Number of actions K.
    first, second : int
        The two actions, which may be equal.
    probability : float
        The probability of the second one.

    Returns
    -------
    array of shape (K,)

    Examples
    --------
    >>> two_point(3, first=0, second=2, probability=0.25)
    array([0.75, 0.  , 0.25])
    """
    distribution = np.zeros(n_actions)
    distribution[second] = probability
    distribution[first] += 1.0 - probability
    return distribution


@dataclass(frozen=True, eq=False)
class InformationPath:
    """What an observer measured along runs of one policy. Arrays have one row per trial and one column per round.

    Parameters
    ----------
    policy : str
        Name of the policy.
    rounds : int array
        All rounds, from 1.
    measured : int array
        The rounds in which all actions were measured.
    cumulative_regret : array
        Regret up to each round, from the true means.
    expected_regret : array
        Σ Δ_u(A_u) of the actions played in rounds u ≤ t: the regret as the observer expects it.
    entropy : array
        H_t(x*) before each round, in nats.
    information : array
        Σ I_u(x*; Y_u) of the actions played in rounds u ≤ t, in nats.
    regret, gain, variance : mapping of str to array
        Δ_t'π, I_t'π and v_t'π in the measured rounds, for each distribution π of ``CHOICES``: the policy's own (NaN
        where it is not known), π^TS, π^mix (NaN if the actions do not span the space), and the minimisers of Ψ_2 and
        Ψ_3 in nats.
    largest_mean, longest, c_min : array
        R_max, the largest absolute mean reward under any of the observer's draws; L, the largest Euclidean norm of an
        action that may be best; and C_min of the actions; all in the measured rounds.
    dimension, n_actions : int
        Number of features d and of actions K.
    noise_variance : float
        Variance of a reward around its mean.
    sparsity : int, optional
        Number of features that matter s, for the printed bounds; None if it is not known.
    """

    policy: str
    rounds: IntArray
    measured: IntArray
    cumulative_regret: FloatArray
    expected_regret: FloatArray
    entropy: FloatArray
    information: FloatArray
    regret: Mapping[str, FloatArray]
    gain: Mapping[str, FloatArray]
    variance: Mapping[str, FloatArray]
    largest_mean: FloatArray
    longest: FloatArray
    c_min: FloatArray
    dimension: int
    n_actions: int
    noise_variance: float
    sparsity: int | None = None

    def __repr__(self) -> str:
        return (
            f"InformationPath({self.policy}: {len(self.entropy)} trial(s) of {len(self.rounds)} rounds, "
            f"{len(self.measured)} of them measured)"
        )

    def ratio(self, choice: str = OWN, exponent: float = 2.0, gain: str = "mutual-information") -> FloatArray:
        """Return the information ratio of one choice in the measured rounds.

        Parameters
        ----------
        choice : str, default="own choice"
            One of ``CHOICES``: "own choice", "Thompson sampling", "mixture", "least Ψ₂" or "least Ψ₃".
        exponent : float, default=2.0
            λ.
        gain : {"mutual-information", "variance"}, default="mutual-information"
            Whether the information is I, in nats, or v.

        Returns
        -------
        array of shape (trials, measured rounds)
            NaN where the choice is not known.
        """
        check_choice("choice", choice, CHOICES)
        gains = self.gain if check_choice("gain", gain, GAINS) == GAINS[0] else self.variance
        found = ratios(self.regret[choice], gains[choice], check_positive("exponent", exponent))
        return np.where(np.isnan(self.regret[choice]), np.nan, found)

    def bounds(self, gain: str = "mutual-information") -> tuple[FloatArray, FloatArray]:
        """Return bounds on Ψ_2 of Thompson sampling and on Ψ_3 of the mixture, hence on the least ratios.

        They are those of :func:`ratio_bounds`, and hold for the distribution of the observer's draws.

        Parameters
        ----------
        gain : {"mutual-information", "variance"}, default="mutual-information"
            Whether the information is I, in nats, or v.

        Returns
        -------
        second, third : array of shape (trials, measured rounds)
            The bounds in the measured rounds.
        """
        check_choice("gain", gain, GAINS)
        found = np.empty((2, *self.c_min.shape))
        for place in np.ndindex(*self.c_min.shape):
            largest = float(self.largest_mean[place])
            factor = nats_factor(largest, self.noise_variance) if gain == GAINS[0] else 1.0
            limits = ratio_bounds(self.dimension, float(self.c_min[place]), largest, float(self.longest[place]))
            found[(slice(None), *place)] = factor * np.array(limits)
        return found[0], found[1]
