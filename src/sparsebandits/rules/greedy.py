"""Play the action with the largest posterior mean: the shortest rule, and the file to copy for a new one.

No published source.
"""

from dataclasses import dataclass

from numpy.random import Generator

from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.optima import pick
from sparsebandits.rules.rule import Rule


@dataclass(frozen=True)
class Greedy(Rule):
    """Play the action with the largest posterior mean; actions that tie are equally likely.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsebandits as sb
    >>> policy = sb.Policy(np.eye(3), sb.Conjugate(sb.GaussianPrior(1.0), dimension=3), Greedy())
    >>> decision = policy.ask()
    >>> policy.tell(decision, -1.0)
    >>> policy.ask().action != decision.action
    True
    """

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Play the action with the largest posterior mean."""
        action, probability = pick(beliefs.differences, rng)
        contributions = beliefs.features[action] * beliefs.coefficients
        reasons = Reasons.top(action, beliefs.means, {"posterior mean": beliefs.means}, contributions)
        return Choice(action, probability, reasons)
