"""The interface of a decision rule: stateless, and the same on every posterior.

A rule is a frozen dataclass with one method. Its fields are its settings; all that it may know is in the
:class:`~sparsebandits.rules.beliefs.Beliefs` that it is given, and its randomness comes from ``rng``. So a rule can be
saved, compared and written into an experiment file from its fields alone, and works with every engine and with
``explain``, ``save`` and ``load`` without further code. ``rules/greedy.py`` is the file to copy.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from numpy.random import Generator

from sparsebandits.arguments import ArgumentTypeError
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice


class Rule(ABC):
    """Base class of decision rules."""

    draws_afresh: ClassVar[bool] = False  # whether asking again gives a new draw, as in Thompson sampling
    around: ClassVar[bool] = False  # whether beliefs are to say what may be offered in the rounds to come

    @abstractmethod
    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Choose one of the available actions.

        Parameters
        ----------
        beliefs : Beliefs
            The posterior and the actions.
        rng : Generator
            Source of randomness.

        Returns
        -------
        Choice
            The action, its probability and the reasons.
        """

    def check(self, posterior: Any) -> None:
        """Refuse a posterior that the rule cannot work with; called when a policy is made.

        Parameters
        ----------
        posterior : object
            What learns. By default a rule needs draws and means, which every engine has.

        Raises
        ------
        ArgumentError
            If the rule cannot work with it.
        """
        if not (hasattr(posterior, "draws") and hasattr(posterior, "mean")):
            got = type(posterior).__name__
            raise ArgumentTypeError("posterior", f"an engine, such as Particles, for {type(self).__name__}", got)

    def draws_wanted(self, beliefs: Beliefs) -> int | None:
        """Return how many draws would be enough for what this rule computes from them.

        Parameters
        ----------
        beliefs : Beliefs
            The posterior and the actions.

        Returns
        -------
        int or None
            The number; None if the rule does not mind, as by default.
        """
        return None

    def health(self, beliefs: Beliefs) -> Health | None:
        """Report how far the draws can be trusted for what this rule computes from them.

        Parameters
        ----------
        beliefs : Beliefs
            The posterior and the actions.

        Returns
        -------
        Health or None
            Whether all is well, and why, in words; None if the posterior's own report says it all, as by default.
        """
        return None
