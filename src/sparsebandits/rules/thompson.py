"""Thompson sampling: play the action that is best under one draw of θ from the posterior.

Agrawal and Goyal (2013) for linear bandits. As in Hao, Lattimore and Deng (2021), the posterior's variance is not
inflated by default.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import FloatArray, IntArray, check_positive
from sparsebandits.posteriors.draws import Draws
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Column, Reasons
from sparsebandits.rules.optima import pick, tied
from sparsebandits.rules.rule import Rule


@dataclass(frozen=True)
class Thompson(Rule):
    """Play the best action under one draw.

    The probability of the played action is estimated from the posterior's standing draws, which are cheap to reweight.
    They come from a random stream of their own, so that their number does not change what is played. If the played
    draw is picked from the standing ones, the probability is exact. Of actions that tie under the draw, the one with
    the largest posterior mean is played; those that tie in that too are equally likely.

    Parameters
    ----------
    inflation : float, default=1.0
        Factor on the posterior's variance when sampling; 1 is the posterior itself.

    Examples
    --------
    >>> Thompson()
    Thompson(inflation=1.0)
    """

    draws_afresh: ClassVar[bool] = True
    inflation: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "inflation", check_positive("inflation", self.inflation))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Play the best action under one draw."""
        posterior, standing = beliefs.posterior, beliefs.draws
        picks = posterior.picks_from_draws and self.inflation == 1.0
        row = int(rng.choice(len(standing), p=standing.weights)) if picks else 0
        theta = standing.theta[row] if picks else posterior.sample(rng, 1)[0]
        mean = beliefs.coefficients
        if self.inflation != 1.0:
            scale = np.sqrt(self.inflation)
            theta = mean + scale * (theta - mean)
            standing = Draws.trusted(mean + scale * (standing.theta - mean), standing.weights, standing.intercepts)
        if picks and beliefs.may_tie(standing):
            sampled = beliefs.features @ theta
            best = beliefs.best_under(standing)
            action = best.row_under(row, rng)
            probability = best.row_probability()
            share = 1.0 if np.count_nonzero(probability) == 1 else float(probability[action])  # exactly 1 if alone
            value = beliefs.rewards_under_draw(row, sampled)
        else:
            sampled = beliefs.products(theta)
            action, copies = self._played(beliefs, sampled, theta, rng)
            share = beliefs.probability_under(standing, copies)
            value = beliefs.at_level(sampled, theta)
            if picks:
                share = max(share, float(standing.weights[row]) / len(copies))  # where a product rounds otherwise
                value = beliefs.rewards_under_draw(row, sampled)
        columns: Mapping[str, Column] = {"sampled value": value, "posterior mean": beliefs.means_of}
        reasons = Reasons.top(action, value, columns, beliefs.features[action] * mean)
        if picks:
            return Choice(action, share, reasons)
        # The played draw counts as one more, so that the estimate is never zero.
        size = standing.effective_sample_size
        return Choice(action, (1.0 + size * share) / (1.0 + size), reasons, probability_draws=1 + int(size))

    @staticmethod
    def _played(beliefs: Beliefs, sampled: FloatArray, theta: FloatArray, rng: Generator) -> tuple[int, IntArray]:
        """Return the best action under a draw of its own, and all rows with its features."""
        rows = tied(sampled, np.abs(theta) @ beliefs.reach).nonzero()[0]
        if len(rows) == 1:
            return int(rows[0]), rows
        features = beliefs.features[rows]
        place, _ = pick(features @ beliefs.coefficients, rng)
        return int(rows[place]), rows[(features == features[place]).all(axis=1)]
