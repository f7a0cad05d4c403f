"""Play any action with equal probability: the baseline that learns nothing.

No published source.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice, Reasons
from sparsebandits.rules.rule import Rule


@dataclass(frozen=True)
class Uniform(Rule):
    """Draw a row uniformly at random."""

    draws_afresh: ClassVar[bool] = True

    def check(self, posterior: Any) -> None:
        """Serve every learner: nothing is asked of it."""

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Draw a row."""
        count, dimension = beliefs.features.shape
        action, probability = int(rng.integers(count)), np.full(count, 1.0 / count)
        reasons = Reasons.top(action, probability, {"probability": probability}, np.zeros(dimension))
        return Choice(action, 1.0 / count, reasons)
