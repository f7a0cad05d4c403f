"""What a rule returns: an action, its probability, and the reasons for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from sparsebandits.arguments import FloatArray, IntArray

CANDIDATES = 8
"""Number of leading candidates whose reasons a decision keeps."""

PRIORS = "Nothing has been learnt yet: these are numbers of the prior, and differ between seeds."
"""Remark on a decision that rests on the prior alone."""

NO_ROW = -1
"""Value of ``action`` where actions are not enumerated; ``features`` is then the action itself."""

ROUNDING = 1e-9
"""Excess over one of a sum of probabilities, or of weights, that is rounding: such a sum is one."""

GROUPS = 128
"""Number of groups that many actions are put into to find the leading ones; several times :data:`CANDIDATES`, so that
few of these share a group."""

DRIVERS = 5
"""Number of features that a decision keeps, of those that contribute most to its expected reward."""


Column: TypeAlias = FloatArray | Callable[[IntArray], FloatArray]
"""What a rule knew about each action, shape ``(K,)``, or a function that gives it for some rows."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """Two actions of which one was drawn at random.

    Attributes
    ----------
    first, second : int
        Rows of the two actions.
    probability : float
        Probability of the second.
    """

    first: int
    second: int
    probability: float


@dataclass(frozen=True, eq=False)
class Reasons:
    """What the rule knew about the leading candidates.

    Attributes
    ----------
    candidates : int array of shape (C,)
        Rows of the leading actions, the chosen one first; coordinates where actions are not enumerated.
    score : array of shape (C,)
        What the candidates are ranked by when they are shown.
    columns : mapping of str to array of shape (C,)
        What the rule knew about each candidate, by the heading that it is shown under.
    notes : mapping of str to float
        Further numbers about the decision.
    drivers : int array of shape (D,)
        Features that contribute most to the expected reward ⟨a, E θ⟩ of the chosen action.
    contributions : array of shape (D,)
        How much each of them contributes.
    mixture : Mixture or None
        The two actions of which one was drawn, if the rule draws.
    about : {"action", "coordinate"}
        What the candidates are.
    compared : bool
        Whether contributions are those of the action compared with the average one, as they are with an intercept.
    remarks : tuple of str
        Sentences about the decision.
    scale : str
        What contributions add up to.
    """

    candidates: IntArray
    score: FloatArray
    columns: Mapping[str, FloatArray]
    notes: Mapping[str, float]
    drivers: IntArray
    contributions: FloatArray
    mixture: Mixture | None = None
    about: str = "action"
    compared: bool = False
    remarks: tuple[str, ...] = ()
    scale: str = "expected reward"

    @classmethod
    def top(
        cls,
        action: int,
        score: FloatArray,
        columns: Mapping[str, Column],
        contributions: FloatArray,
        notes: Mapping[str, float] | None = None,
        mixture: Mixture | None = None,
        ties: FloatArray | None = None,
        remarks: tuple[str, ...] = (),
    ) -> "Reasons":
        """Keep the chosen action, those of the mixture and those with the largest ``score``.

        Parameters
        ----------
        action : int
            Row of the chosen action.
        score : array of shape (K,)
            What candidates are ranked by.
        columns : mapping of str to array of shape (K,), or to function
            What the rule knew about each action, by the heading that it is shown under. A function gives it for the
            rows that are kept, where computing it for all of them would take long.
        contributions : array of shape (d,)
            Contribution of each feature to the expected reward of the chosen action.
        notes : mapping of str to float, optional
            Further numbers about the decision.
        mixture : Mixture, optional
            The two actions of which one was drawn.
        ties : array of shape (K,), optional
            What candidates of equal ``score`` are ranked by, the largest first.
        remarks : tuple of str
            Sentences about the decision.

        Returns
        -------
        Reasons
            What was kept.
        """
        rivals = () if mixture is None else (mixture.first, mixture.second)
        leading = _leading(score, CANDIDATES, ties)
        kept = np.array(list(dict.fromkeys((action, *rivals, *leading))), dtype=np.intp)
        drivers = _drivers(contributions)
        shown = {name: values(kept) if callable(values) else values[kept] for name, values in columns.items()}
        return cls(kept, score[kept], shown, notes or {}, drivers, contributions[drivers], mixture, remarks=remarks)

    @classmethod
    def of(
        cls,
        action: int,
        candidates: IntArray,
        drivers: IntArray,
        score: str,
        columns: Mapping[str, FloatArray],
        contributions: FloatArray,
        notes: Mapping[str, float],
        remarks: tuple[str, ...] = (),
    ) -> "Reasons":
        """Keep the chosen action and candidates that are given; as :meth:`top`, which looks for them.

        Parameters
        ----------
        action : int
            Row of the chosen action.
        candidates : int array
            Rows of the leading actions.
        drivers : int array
            Features that contribute most.
        score : str
            Name of the column that candidates are ranked by.
        columns : mapping of str to array of shape (K,)
            What the rule knew about each action, by the heading that it is shown under.
        contributions : array of shape (d,)
            Contribution of each feature to the expected reward of the chosen action.
        notes : mapping of str to float
            Further numbers about the decision.
        remarks : tuple of str
            Sentences about the decision.

        Returns
        -------
        Reasons
            What was kept.
        """
        kept = np.array([action] + [one for one in candidates.tolist() if one != action], dtype=np.intp)
        shown = {name: values[kept] for name, values in columns.items()}
        return cls(kept, shown[score], shown, notes, drivers, contributions[drivers], remarks=remarks)

    @classmethod
    def of_coordinates(
        cls,
        score: FloatArray,
        columns: Mapping[str, FloatArray],
        contributions: FloatArray,
        notes: Mapping[str, float],
    ) -> "Reasons":
        """Keep the coordinates with the largest ``score``, where actions are not enumerated.

        Parameters
        ----------
        score : array of shape (d,)
            What coordinates are ranked by.
        columns : mapping of str to array of shape (d,)
            What the rule knew about each coordinate, by the heading that it is shown under.
        contributions : array of shape (d,)
            Contribution of each feature to the expected reward of the chosen action.
        notes : mapping of str to float
            Further numbers about the decision.

        Returns
        -------
        Reasons
            What was kept.
        """
        kept = _largest(score, CANDIDATES)
        drivers = _drivers(contributions)
        shown = {name: values[kept] for name, values in columns.items()}
        return cls(kept, score[kept], shown, notes, drivers, contributions[drivers], about="coordinate")


def _drivers(contributions: FloatArray) -> IntArray:
    return _largest(np.abs(contributions), DRIVERS)


def _leading(values: FloatArray, count: int, ties: FloatArray | None) -> list[int]:
    """Return the places of the largest values, the largest first; of equal ones, those of the largest ``ties``."""
    maxima = values  # of so many groups, whose largest are among the values: a bound that takes little time to find
    if len(values) >= 2 * GROUPS:
        maxima = values[: len(values) // GROUPS * GROUPS].reshape(-1, GROUPS).max(axis=0)
    place = max(len(maxima) - count, 0)
    # Methods of arrays: for a hundred values, functions of the same name take longer than what they do.
    maxima = maxima.copy()
    maxima.partition(place)
    places = (values >= maxima[place]).nonzero()[0]
    falling = -values[places]
    order = falling.argsort(kind="stable") if ties is None else np.lexsort((-ties[places], falling))
    leading: list[int] = places[order[:count]].tolist()
    return leading


def _largest(values: FloatArray, count: int) -> IntArray:
    """Return the places of the largest values, the largest first."""
    rest = max(len(values) - count, 0)
    places = values.argpartition(rest)[rest:]
    return places[(-values[places]).argsort(kind="stable")]


@dataclass(frozen=True, eq=False)
class Choice:
    """What a rule returns.

    Parameters
    ----------
    action : int
        Row of the action set; ``NO_ROW`` where actions are not enumerated.
    probability : float
        Probability with which the rule chose this action.
    reasons : Reasons
        What the rule knew.
    probability_draws : int, optional
        Number of draws that the probability was estimated from; None if it is exact.
    features : array of shape (d,), optional
        The action itself, where it is not a row.
    observation : array, optional
        Row that the learner gets with the reward, if it is not the action's features.
    """

    action: int
    probability: float
    reasons: Reasons
    probability_draws: int | None = None
    features: FloatArray | None = None
    observation: FloatArray | None = None

    def __post_init__(self) -> None:
        if 1.0 < self.probability <= 1.0 + ROUNDING:
            object.__setattr__(self, "probability", 1.0)

    def among(self, rows: IntArray) -> "Choice":
        """Return the choice in terms of a set of actions that had only some of its rows on offer.

        Parameters
        ----------
        rows : int array
            The rows that were on offer.

        Returns
        -------
        Choice
            The same choice, with rows of the whole set.
        """
        if self.action == NO_ROW or self.reasons.about != "action":
            return self
        mixture = self.reasons.mixture
        if mixture is not None:
            mixture = Mixture(int(rows[mixture.first]), int(rows[mixture.second]), mixture.probability)
        remarks = (*self.reasons.remarks, f"All of this refers to the {len(rows)} rows that were left.")
        reasons = replace(self.reasons, candidates=rows[self.reasons.candidates], mixture=mixture, remarks=remarks)
        return replace(self, action=int(rows[self.action]), reasons=reasons)
