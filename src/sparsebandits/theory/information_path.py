"""The information ratio along a run: of a policy's choices, of Thompson sampling, of a mixture, and the least one.

Hao, Lattimore and Deng (2021), Section 5: with the expected regret Δ_t and the information gain I_t of each action,

    Ψ_{t,λ}(π) = (Δ_t'π)^λ / I_t'π,     Σ_t I_t(x*; (A_t, Y_t)) has the mean I(x*; history) = H_1(x*) − E H_{n+1}(x*).

Here are the measurements in one round and what many rounds of them make; ``experiments/watching.py`` runs a policy and
takes them. I_t is the mutual information in nats; v_t, the variance-based gain, is recorded beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from sparsebandits.arguments import FloatArray, IntArray, check_choice
from sparsebandits.posteriors.draws import Draws
from sparsebandits.rules.information import BLOCK, Information
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
    """Return regret and gains of each of ``CHOICES``, where it is known, and what their bounds depend on."""
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
    """Return the distribution that has ``second`` with ``probability`` and ``first`` otherwise."""
    distribution = np.zeros(n_actions)
    distribution[second] = probability
    distribution[first] += 1.0 - probability
    return distribution


@dataclass(frozen=True, eq=False)
class InformationPath:
    """What an observer measured along runs of one policy; arrays are (trials, rounds).

    Attributes
    ----------
    policy : str
        Name of the policy.
    rounds : array of int
        All rounds, from 1.
    measured : array of int
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
        where it is not known), π^TS, π^mix (NaN if the actions do not span the space), and the minimisers of Ψ_{t,2}
        and Ψ_{t,3} in nats.
    largest_mean, longest, c_min : array
        R_max, the largest |⟨a, θ⟩| under any of the observer's draws; L, the largest ‖a‖₂ of an action that may be
        best; and C_min of the actions.
    dimension, n_actions, noise_variance : int, int, float
        Of the instances.
    sparsity : int or None
        s of the printed bounds, if it is known.
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
        """Return Ψ_{t,λ} of one of ``CHOICES`` in the measured rounds, (trials, measured rounds)."""
        check_choice("choice", choice, CHOICES)
        gains = self.gain if check_choice("gain", gain, GAINS) == GAINS[0] else self.variance
        found = ratios(self.regret[choice], gains[choice], exponent)
        return np.where(np.isnan(self.regret[choice]), np.nan, found)

    def bounds(self, gain: str = "mutual-information") -> tuple[FloatArray, FloatArray]:
        """Return what Ψ_{t,2}(π^TS) and Ψ_{t,3}(π^mix), and so the least ratios, are at most in the measured rounds.

        These are :func:`ratio_bounds`: they hold for the distribution that the observer's draws make.
        """
        check_choice("gain", gain, GAINS)
        found = np.empty((2, *self.c_min.shape))
        for place in np.ndindex(*self.c_min.shape):
            largest = float(self.largest_mean[place])
            factor = nats_factor(largest, self.noise_variance) if gain == GAINS[0] else 1.0
            limits = ratio_bounds(self.dimension, float(self.c_min[place]), largest, float(self.longest[place]))
            found[(slice(None), *place)] = factor * np.array(limits)
        return found[0], found[1]
