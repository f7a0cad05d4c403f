"""What to try next and why: the answer of ``decide``, as text, as data, and as records of a journal."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from sparsebandits.advice.assumed import Assumed
from sparsebandits.advice.effects import FeatureEffect, effects_table
from sparsebandits.advice.expansion import Expansion
from sparsebandits.advice.goal import Goal
from sparsebandits.advice.read import History
from sparsebandits.advice.stopping import Stopping
from sparsebandits.arguments import FloatArray
from sparsebandits.files import write_atomically
from sparsebandits.journal.jsonlines import JsonLines
from sparsebandits.journal.record import Record, new_id, now
from sparsebandits.policies.decision import Decision, Explanation
from sparsebandits.policies.policy import Policy
from sparsebandits.tables import Cell, Rows, Table, as_html, formatted

EFFECT = {
    "gaussian": "the reward",
    "bernoulli": "the log-odds of a reward of 1",
    "poisson": "the logarithm of the reward's mean",
}
"""What effects of features are effects on."""

MOST_FEATURES = 10
"""Number of features that a report has, by default."""


@dataclass(frozen=True, eq=False)
class Recommendation:
    """One action to try.

    Attributes
    ----------
    action : int
        Its row in the table, from 0.
    name : str
        Its name.
    tried : int
        Number of past rewards of this action.
    expected_reward : float or None
        Posterior mean of its mean reward; None before the first reward.
    sd : float or None
        Posterior standard deviation of its mean reward; None before the first reward.
    decision : Decision
        The policy's decision. Its ``action`` is a row of the policy's actions, which differs from that of the table if
        rows were repeated.
    features : array of shape (d,)
        Its features in the table; columns that are the same in all rows are left out.
    """

    action: int
    name: str
    tried: int
    expected_reward: float | None
    sd: float | None
    decision: Decision
    features: FloatArray

    @property
    def probability(self) -> float:
        """Probability with which the policy chose it at its place in the batch.

        It is an estimate if ``decision.probability_draws`` is a number, else exact.
        """
        return self.decision.probability

    @property
    def explanation(self) -> Explanation:
        """What the policy knew of the action and of its rivals. Print it to read it."""
        return Explanation(self.decision)

    def to_dict(self) -> dict[str, Any]:
        """Return the recommendation as values that JSON has."""
        reasons = self.decision.reasons
        return {
            "action": self.name,
            "row": self.action,
            "probability": self.probability,
            "probability_draws": self.decision.probability_draws,
            "expected_reward": self.expected_reward,
            "sd": self.sd,
            "tried": self.tried,
            "why": {
                "candidates": [
                    {key: _finite(value) if isinstance(value, float) else value for key, value in row.items()}
                    for row in self.explanation.table
                ],
                "contributions": dict(
                    zip(self.decision.feature_names or (), reasons.contributions.tolist(), strict=True)
                ),
                **{name: _finite(value) for name, value in reasons.notes.items()},
            },
        }

    def _repr_html_(self) -> str:
        """Return the recommendation and its reasons as HTML, which notebooks show."""
        return as_html(_table((self,)), self.explanation)

    def _expectation(self) -> str:
        if self.expected_reward is None:
            return ""
        times = {0: "not tried yet", 1: "tried once"}.get(self.tried, f"tried {self.tried} times")
        return f" (expected reward {formatted(self.expected_reward)}, sd {formatted(self.sd)}; {times})"


@dataclass(frozen=True, eq=False, repr=False)
class Advice:
    """Which actions to try next, why, and what is known about the features. Print it, or use its parts.

    Attributes
    ----------
    recommendations : tuple of Recommendation
        The actions to try, in order.
    features : tuple of FeatureEffect
        Effect of each feature in the units of the table, the most likely to matter first.
    notes : tuple of str
        What to know about the table and the sampling.
    about : mapping of str to object
        What the advice was made from: policy, goal, seed, and numbers of actions, features and past rewards.
    assumed : tuple of Assumed
        What was assumed to read the table, with the options that state it.
    stopping : Stopping or None
        Whether to go on; None as long as too little is known.
    policy : Policy
        The policy after the past rewards and this decision, for ``sb.plots`` and for questions of your own. It learns
        the negatives of rewards if small ones are wanted.
    past : History
        The table as it was read.
    goal : Goal
        What is wanted of rewards.
    candidates : Rows
        Expected reward, standard deviation, probability of being the best and number of trials of each action, the most
        likely to be the best first.
    expansion : Expansion
        The columns of features with their squares and products, if there are any.
    """

    recommendations: tuple[Recommendation, ...]
    features: tuple[FeatureEffect, ...]
    notes: tuple[str, ...]
    about: Mapping[str, Any]
    assumed: tuple[Assumed, ...]
    stopping: Stopping | None
    policy: Policy
    past: History
    goal: Goal
    candidates: Rows
    expansion: Expansion

    @property
    def options(self) -> str:
        """Options of the command line that state what was assumed."""
        stated = (Assumed("", column, role) for column, role in self.about["columns"].items())
        return " ".join(dict.fromkeys(one.option for one in (*stated, *self.assumed) if one.option))

    @property
    def why(self) -> str:
        """What the reasons are reasons for, and what they count with besides the past rewards."""
        pending = dict.fromkeys(self.about["pending"])
        if not pending or self.policy.rule.draws_afresh:  # which does without
            return f"Why {self.recommendations[0].name}"
        trials = f"{'trials' if len(pending) > 1 else 'trial'} of {', '.join(pending)}"
        return f"Why {self.recommendations[0].name}, as if the pending {trials} had given the expected reward"

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.recommendations[:3])
        return f"Advice({names}{', ...' if len(self.recommendations) > 3 else ''})"

    def __str__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        """Return the advice as HTML, with the foremost features, which notebooks show in place of the text."""
        about, first, more = self.about, self.recommendations[0], len(self.features) - MOST_FEATURES
        return as_html(
            f"{about['n_actions']} actions, {about['n_features']} features, {about['observations']} past rewards",
            f"Next {len(self.recommendations)}:" if len(self.recommendations) > 1 else f"Next: {first.name}",
            _table(self.recommendations),
            "" if self.stopping is None else str(self.stopping),
            f"{self.why}:",
            first.explanation,
            f"{self.effects_heading}:",
            self.feature_table(MOST_FEATURES),
            f"... and {more} more" if more > 0 else "",
            *(f"Note: {note}" for note in self.notes),
            *([f"Assumed: {'; '.join(map(str, self.assumed))}"] if self.assumed else []),
        )

    @property
    def effects_heading(self) -> str:
        """What the table of features has, in words."""
        unit = f"Effect of one unit of a feature on {EFFECT[self.about['family']]}, with its 95% interval"
        return f"{unit}; standardized: mean effect of one standard deviation of the feature"

    def feature_table(self, most: int | None = None) -> Table:
        """Return the effects of the ``most`` foremost features, or of all, as a table. Print it to read it."""
        return effects_table(self.features[:most])

    def report(self, most: int = MOST_FEATURES) -> str:
        """Return the advice as text, with the ``most`` foremost features."""
        about, first = self.about, self.recommendations[0]
        lines = [
            f"{about['n_actions']} actions, {about['n_features']} features, {about['observations']} past rewards",
            "",
        ]
        if len(self.recommendations) == 1:
            lines.append(f"Next: {first.name}{first._expectation()}")
        else:
            count, table = len(self.recommendations), _table(self.recommendations)
            lines += [f"Next {count}:", "", str(table)]
        if self.stopping is not None:
            lines += ["", str(self.stopping)]
        lines += ["", f"{self.why}:"] if len(self.recommendations) > 1 or about["pending"] else []
        lines += ["", str(first.explanation)]
        if most:
            lines += ["", f"{self.effects_heading}:"]
            lines += ["", str(self.feature_table(most))]
            if len(self.features) > most:
                lines.append(f"... and {len(self.features) - most} more")
        lines += [f"\nNote: {note}" for note in self.notes]
        if self.assumed:
            lines += ["", "Assumed:", *(f"- {one}" for one in self.assumed)]
            lines += [f"To state it: {self.options}"] if self.options else []
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as values that JSON has."""
        return {
            "next": [one.to_dict() for one in self.recommendations],
            "features": [effect.to_dict() for effect in self.features],
            "notes": list(self.notes),
            "assumed": [{"text": one.text, "option": one.option or None} for one in self.assumed],
            "stopping": None if self.stopping is None else self.stopping.to_dict(),
            "candidates": self.candidates.to_dicts(),
            **self.about,
        }

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the advice as one page for a browser that holds all it shows, and write it if there is a path.

        Parameters
        ----------
        path : str or path, optional
            File to write, in one step.

        Returns
        -------
        str
            HTML.
        """
        from sparsebandits.advice.page import page_of  # which draws, with Matplotlib

        content = page_of(self)
        if path is not None:
            write_atomically(path, content.encode())
        return content

    def append_to(self, path: str | os.PathLike[str]) -> None:
        """Append one decision per recommendation to the journal at ``path``: all of them, or none.

        Parameters
        ----------
        path : str or path
            A file of JSON lines that :class:`sparsebandits.journal.JsonLines` reads; it is created if it does not
            exist. The features in it are those of the table.

        Raises
        ------
        SaveFileError
            If the file is something else than a journal.
        OSError
            If the file cannot be written.
        """
        versions = {name: import_module(name).__version__ for name in ("sparsebandits", "numpy")}
        about = {name: value for name, value in self.about.items() if name != "policy"}
        common = {**about, "versions": {**versions, "python": platform.python_version()}}
        time, batch = now(), len(self.recommendations)
        JsonLines(path).extend(
            Record(
                id=new_id(),
                time=time,
                policy=self.about["policy"],
                action=one.action,
                label=one.name,
                features=one.features,
                probability=one.probability,
                probability_draws=one.decision.probability_draws,
                extra={
                    **{"place": place, "batch": batch, "tried": one.tried},
                    **{"expected_reward": one.expected_reward, "sd": one.sd},
                    **common,
                },
            )
            for place, one in enumerate(self.recommendations, 1)
        )


def _table(recommendations: Sequence[Recommendation]) -> Table:
    """Return recommendations as a table, in their order."""
    rows: list[tuple[Cell, ...]] = [
        (place, one.name, one.expected_reward, one.sd, one.tried, one.probability)
        for place, one in enumerate(recommendations, 1)
    ]
    return Table(("", "action", "expected reward", "sd", "tried", "probability"), rows)


def _finite(number: float) -> float | None:
    """Return the number, or None for an infinity or NaN, which JSON does not have."""
    return float(number) if np.isfinite(number) else None
