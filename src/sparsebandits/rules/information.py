"""Regret and information gain, computed from draws of θ for a set of actions.

Algorithm 3 of Hao, Lattimore and Deng (2021) for weighted draws, with the variance-based gain of Russo and Van Roy
(2018, §6.3); ``mutual_information.py`` has the mutual information that this gain replaces, and ``optima.py`` the best
action x* under each draw.

Symbols: θ^m the draws with weights w_m, x* the best action under θ, a an action (a row of ``actions``).

- Δ(a) = E[max_b ⟨b, θ⟩] − ⟨a, E θ⟩: the expected regret of a
- v(a) = Var(E[⟨a, θ⟩ | x*]): how much the mean reward of a depends on which action is best

If rewards have an intercept, the mean reward of a is ⟨a − x̄, θ⟩ above the mean of past rewards (``model/features.py``),
so v(a) = Var(E[⟨a − x̄, θ⟩ | x*]); Δ does not depend on x̄.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.posteriors.draws import Draws
from sparsebandits.rules.best import Best
from sparsebandits.rules.optima import best_actions

MOST_NOISE = 0.5
"""Share of the information gain, and of the variance of mean rewards, that may be noise of the draws in good health."""

NOISE_WANTED = 0.2
"""Noise in the gain, as a share of the variance of mean rewards, above which a rule asks for more draws. Chosen so that
200 actions never do, for which 1,000 draws were measured to be enough (docs/rules.md); not measured beyond that."""

REMAINS = 0.2
"""What the correction leaves of the noise, as a share of what it takes out (``python -m benchmarks.gain``)."""


@dataclass(frozen=True, eq=False)
class Information:
    """Regret and information gain of each action, given the draws.

    Attributes
    ----------
    expected_regret : array of shape (K,)
        Δ of each action.
    best : Best
        x*, resolved where actions tie.
    centre : array of shape (d,) or None
        x̄.
    """

    expected_regret: FloatArray
    best: Best
    centre: FloatArray | None = None

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray] | None:
        """Both variances from predictions, if these are kept; otherwise each is computed when it is needed."""
        return self.best.moments(self.centre) if self.best.from_predictions else None

    @cached_property
    def gain(self) -> FloatArray:
        """The gain v of each action, shape ``(K,)``."""
        if len(self.best.support) == 1:
            return np.zeros(len(self.expected_regret))
        found = self.best.variances(self.centre) if self._moments is None else self._moments[0]
        return self.best.optima.actions.of_rows(found)

    @cached_property
    def reward_variance(self) -> FloatArray:
        """T = Var⟨a, θ⟩ of each action, shape ``(K,)``."""
        found = self.best.reward_variances(self.centre) if self._moments is None else self._moments[1]
        return self.best.optima.actions.of_rows(found)

    @cached_property
    def unbiased_gain(self) -> FloatArray:
        """The gain v of each action, corrected for the noise of the draws, shape ``(K,)``."""
        best = self.best
        if len(best.support) == 1:
            return self.gain
        return unbiased(self.gain, self.reward_variance, best.noise_share, best.square)

    @property
    def noise_in_gain(self) -> float:
        """Share of ``gain``, summed over actions, that ``unbiased_gain`` takes out as noise of the draws."""
        return noise_in_gain(self.gain, self.unbiased_gain)

    @property
    def draws_wanted(self) -> int:
        """Number of draws with which noise would be about ``NOISE_WANTED`` of Var⟨a, θ⟩ in the gain.

        The noise share c is about the number of groups per draw, so it takes c M / NOISE_WANTED draws.
        """
        return math.ceil(self.best.noise_share * len(self.best.weights) / NOISE_WANTED)

    @property
    def is_large(self) -> bool:
        """Whether predictions are too many to keep, so that a rule should look at gains where they can matter."""
        return self.best.optima.rows is not None and not self.best.from_predictions

    @property
    def mean(self) -> FloatArray:
        """E θ, shape ``(d,)``."""
        return self.best.mean

    @property
    def support(self) -> IntArray:
        """Actions with a positive probability of being best, shape ``(G,)``; of equal rows, the first."""
        return self.best.optima.actions.first[self.best.support]

    @property
    def support_probability(self) -> FloatArray:
        """P(x* = a) of the actions in ``support``, equal rows taken together, shape ``(G,)``."""
        return self.best.probability

    @cached_property
    def conditional_mean(self) -> FloatArray:
        """E[θ | x* = support[g]], shape ``(G, d)``."""
        return self.best.conditional_mean()

    @cached_property
    def optimal_probability(self) -> FloatArray:
        """P(x* = a) of each row, shape ``(K,)``; equal rows share the probability of their action."""
        return self.best.row_probability()

    @property
    def unbiased_entropy(self) -> float:
        """H(x*) in nats, with half the number of groups but one per draw for those that no draw has shown.

        This is the correction of Miller (1955), for the effective number of draws; the entropy is at most log K.
        """
        missing = 0.5 * (len(self.best.support) - 1) * self.best.square
        return min(self.entropy + float(missing), math.log(len(self.best.optima.actions.distinct)))

    @property
    def entropy(self) -> float:
        """H(x*), in nats; equal rows are one action."""
        if len(self.best.support) == 1:
            return 0.0
        shares = self.support_probability
        return max(-float(shares @ np.log(np.maximum(shares, 1e-300))), 0.0)

    def health(self, corrected: bool) -> Health:
        """Report how much of the gain is noise of the draws.

        Parameters
        ----------
        corrected : bool
            Whether the rule takes it out, by ``unbiased_gain``.

        Returns
        -------
        Health
            Whether it is little enough, and how much it is.
        """
        subject = f"Information about the best action, one of {len(self.support)} now"
        if self.best.exact:
            return Health(True, f"{subject}: exact, since nothing is sampled")
        noise = self.noise_in_gain
        if max(noise, self.best.noise_share) > MOST_NOISE:
            return Health(False, f"{subject}: DOUBTFUL, take more draws: most of it is noise of the draws")
        left = REMAINS * noise / (1.0 - noise)  # as a share of the corrected gain
        text = f"was noise of the draws, about {left:.1%} remains after the correction"
        return Health(True, f"{subject}: good: {noise:.0%} of it {text if corrected else 'is noise of the draws'}")


def noise_in_gain(gain: FloatArray, corrected: FloatArray) -> float:
    """Return the share of the gain, summed over actions, that a correction takes out as noise of the draws.

    Parameters
    ----------
    gain, corrected : arrays of shape (K,)
        The gain of each action, as it is and corrected.

    Returns
    -------
    float
        The share, from 0 to 1.
    """
    total = float(gain.sum())
    return max(1.0 - float(corrected.sum()) / total, 0.0) if total > 0.0 else 0.0


def unbiased(gain: FloatArray, variances: FloatArray, noise_share: float, square: float) -> FloatArray:
    """Return v without the part that the noise of the draws adds to it.

    The mean of ⟨a, θ⟩ given x* = g comes from n_g draws (their effective number), and v counts its error as if it were
    a difference between the groups. Where the variance s² of ⟨a, θ⟩ within a group is about the same in all of them,

        E v̂ = v + Σ_g P(g) s² / n_g − T / n = v + c (T − v) − q T,

    with T = Var⟨a, θ⟩ = v + s², c = Σ_g P(g) / n_g and q = 1 / n = Σ_m w_m². So v = (v̂ − (c − q) T) / (1 − c), and
    E T̂ = (1 − q) T. Negative estimates become zero.

    Parameters
    ----------
    gain : array of shape (K,)
        v̂, from the draws.
    variances : array of shape (K,)
        T̂, from the draws.
    noise_share : float
        c.
    square : float
        q.

    Returns
    -------
    array of shape (K,)
        v, from 0 to T.

    Examples
    --------
    >>> unbiased(np.array([0.3]), np.array([1.0]), 0.1, 0.0)
    array([0.22222222])
    """
    if noise_share >= 1.0 or square >= 1.0:  # every draw is a group of its own: nothing is known
        return gain
    total = variances / (1.0 - square)
    return np.clip((gain - (noise_share - square) * total) / (1.0 - noise_share), 0.0, total)


def information(
    draws: Draws, actions: FloatArray, best: Best | None = None, centre: FloatArray | None = None
) -> Information:
    """Return Δ, v, P(x* = ·) and E[θ | x* = ·] of Algorithm 3 for weighted draws.

    Parameters
    ----------
    draws : Draws
        Weighted draws of θ.
    actions : array of shape (K, d)
        One row per action.
    best : Best, optional
        x* under the draws, if it is already known; by default the draws are taken as all there is, and their mean as
        exact.
    centre : array of shape (d,), optional
        x̄, the mean features of past rewards, if rewards have an intercept; zero by default.

    Returns
    -------
    Information
        Regret, gain and probabilities of the actions.

    Examples
    --------
    >>> import numpy as np
    >>> draws = Draws([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5])
    >>> known = information(draws, np.eye(2))
    >>> known.expected_regret, known.gain, known.optimal_probability
    (array([0.5, 0.5]), array([0.25, 0.25]), array([0.5, 0.5]))
    """
    if best is None:
        best = Best(best_actions(draws.source, actions, exact=draws.exact), draws.weights, exact=draws.exact)
    optima = best.optima
    # Δ(a) is a mean of non-negative numbers computed as a difference: rounding may leave it just below zero,
    # and an action that is best under every draw has no regret.
    regret = np.maximum(best.expected_value - best.predictions, 0.0)
    if len(best.support) == 1:
        regret[best.support[0]] = 0.0
    return Information(optima.actions.of_rows(regret), best, centre)
