"""What a decision rule is: stateless, and the same on every posterior.

A rule is a frozen dataclass with one method. Its fields are its settings; what it knows of the world is in the
:class:`~sparsebandits.rules.beliefs.Beliefs` that it is given, and chance is in ``rng``. So a rule can be saved,
compared and written into an experiment file from its fields alone, and works with every engine, with ``explain``,
``save`` and ``load`` without a line of its own. ``rules/greedy.py`` is the file to copy.
"""

from abc import ABC, abstractmethod
from typing import Any

from numpy.random import Generator

from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice


class Rule(ABC):
    """How to choose an action, given what is believed."""

    @abstractmethod
    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Choose one of the actions on offer, and say with which probability and why."""

    def check(self, posterior: Any) -> None:  # noqa: B027 - a rule that serves every posterior checks nothing
        """Raise an ``ArgumentError`` if the rule cannot work with this posterior; called when a policy is made."""
