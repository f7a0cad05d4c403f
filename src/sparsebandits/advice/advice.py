"""What to try next, from a table of actions and their past rewards: all of ``sparsebandits decide`` but the printing.

No state is kept between calls: everything is learned afresh from the table, so a wrong reward is corrected in the
table. ``choose.py`` has the model and how a batch is chosen.
"""

import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from sparsebandits.advice.choose import CLICKS, FAMILIES, POLICIES, looks_like_clicks, taught_policy
from sparsebandits.advice.effects import FeatureEffect, effects_table, feature_effects
from sparsebandits.advice.read import History, read_history
from sparsebandits.arguments import (
    MOST_DRAWS,
    ArgumentValueError,
    FloatArray,
    IntArray,
    check_choice,
    check_count,
    check_flag,
    check_positive,
    shown,
)
from sparsebandits.journal.jsonlines import JsonLines
from sparsebandits.journal.record import Record, new_id, now
from sparsebandits.policies.decision import Decision, Explanation
from sparsebandits.tables import Cell, Table, formatted

EFFECT = {
    "gaussian": "the reward",
    "bernoulli": "the log-odds of a reward of 1",
    "poisson": "the logarithm of the reward's mean",
}
"""What effects of features are effects on."""


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
        The policy's decision. Its ``action`` is a row of the actions that were left to choose from.
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

    def _expectation(self) -> str:
        if self.expected_reward is None:
            return ""
        times = {0: "not tried yet", 1: "tried once"}.get(self.tried, f"tried {self.tried} times")
        return f" (expected reward {formatted(self.expected_reward)}, sd {formatted(self.sd)}; {times})"


@dataclass(frozen=True, eq=False)
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
        What the advice was made from: policy, seed, and numbers of actions, features and past rewards.
    """

    recommendations: tuple[Recommendation, ...]
    features: tuple[FeatureEffect, ...]
    notes: tuple[str, ...]
    about: Mapping[str, Any]

    def __str__(self) -> str:
        return self.report()

    def feature_table(self, most: int | None = None) -> Table:
        """Return the effects of the ``most`` foremost features, or of all, as a table. Print it to read it."""
        return effects_table(self.features[:most])

    def report(self, most: int = 10) -> str:
        """Return the advice as text, with the ``most`` foremost features."""
        about, first = self.about, self.recommendations[0]
        lines = [
            f"{about['n_actions']} actions, {about['n_features']} features, {about['observations']} past rewards",
            "",
        ]
        if len(self.recommendations) == 1:
            lines.append(f"Next: {first.name}{first._expectation()}")
        else:
            rows: list[tuple[Cell, ...]] = [
                (place, one.name, one.expected_reward, one.sd, one.tried, one.probability)
                for place, one in enumerate(self.recommendations, 1)
            ]
            columns = ("", "action", "expected reward", "sd", "tried", "probability")
            lines += [f"Next {len(rows)}:", "", str(Table(columns, rows)), "", f"Why {first.name}:"]
        lines += ["", str(first.explanation)]
        if most:
            lines += ["", f"Effect of one unit of a feature on {EFFECT[about['family']]}, with its 95% interval:"]
            lines += ["", str(self.feature_table(most))]
            if len(self.features) > most:
                lines.append(f"... and {len(self.features) - most} more")
        return "\n".join((*lines, *(f"\nNote: {note}" for note in self.notes)))

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as values that JSON has."""
        return {
            "next": [one.to_dict() for one in self.recommendations],
            "features": [effect.to_dict() for effect in self.features],
            "notes": list(self.notes),
            **self.about,
        }

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


def _finite(number: float) -> float | None:
    """Return the number, or None for an infinity or NaN, which JSON does not have."""
    return float(number) if np.isfinite(number) else None


def decide(
    actions: object,
    rewards: object = None,
    *,
    name: str | None = None,
    reward_columns: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] = (),
    batch: int = 1,
    untried: bool = False,
    policy: str = "sparse-ids",
    noise_variance: float | None = None,
    n_draws: int = 10_000,
    seed: int | None = None,
    horizon: int | None = None,
    family: str = "auto",
) -> Advice:
    """Recommend the action to try next, or a batch of different ones.

    Parameters
    ----------
    actions : DataFrame (pandas, polars, pyarrow) or path of a CSV or Parquet file
        One row per action. Every column that has no other role is a feature.
    rewards : DataFrame, path or mapping, optional
        Past rewards: a table with two columns, the action's name and the reward, and one row per observation; or a
        mapping of names to a reward or a list of rewards.
    name : str, optional
        Column that names the actions. By default an index of words (pandas), else the first column of text, else any
        index that does not just count the rows, else the column that has the same name as the first one of the table
        ``rewards``. Otherwise rows are named by their number, from 1 in a file and from 0 in a DataFrame.
    reward_columns : str or sequence of str, optional
        Columns of ``actions`` with past rewards, or patterns such as ``"reward*"``. An empty cell is no reward. By
        default ``reward``, ``reward_1`` and so on, where they exist.
    ignore : str or sequence of str, default=()
        Columns, or patterns of columns, that are not features.
    batch : int, default=1
        Number of different actions to recommend.
    untried : bool, default=False
        Recommend only actions without a past reward.
    policy : {"sparse-ids", "sparse-ts", "linear-ids", "lin-ts", "lin-ucb"}, default="sparse-ids"
        Policy that chooses.
    noise_variance : float, optional
        Variance of a reward around its mean. By default it is learned (sparse policies), or is the variance of the past
        rewards, an overestimate (the others).
    n_draws : int, default=10_000
        Number of posterior draws.
    seed : int, optional
        The same seed gives the same advice. By default a new one, which is in ``advice.about["seed"]``.
    horizon : int, optional
        Number of trials that are still to come, these included: the fewer, the less is spent on learning. By default
        200 are expected. For "sparse-ids" alone.
    family : {"auto", "gaussian", "bernoulli", "poisson"}, default="auto"
        What rewards are: numbers, clicks (0 or 1) or counts. By default clicks if all past rewards are 0 or 1 and no
        noise variance is given, which a note says, otherwise numbers.

    Returns
    -------
    Advice
        The recommendations with their reasons, and the effects of the features.

    Raises
    ------
    ValueError, TypeError
        If an argument or a table cannot be used; the error names row and column.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> offers = pd.DataFrame({"price": [1.0, 2.0, 4.0], "size": [3.0, 1.0, 2.0]}, index=["small", "medium", "large"])
    >>> advice = decide(offers, rewards={"small": [5.1, 4.9], "medium": 7.0}, policy="lin-ucb", seed=0)
    >>> advice.recommendations[0].name
    'large'
    """
    kind = check_choice("policy", policy, POLICIES)
    count = check_count("batch", batch)
    fresh = int(np.random.SeedSequence().generate_state(1)[0])
    number = fresh if seed is None else check_count("seed", seed, least=0, most=None)
    size = check_count("n_draws", n_draws, least=10, most=MOST_DRAWS)
    if noise_variance is not None:
        noise_variance = check_positive("noise_variance", noise_variance)
    ahead = None if horizon is None else check_count("horizon", horizon)
    if ahead is not None and ahead < count:
        raise ArgumentValueError("horizon", f"at least {count}, the size of the batch", shown(horizon))
    if ahead is not None and kind != "sparse-ids":
        raise ArgumentValueError("horizon", 'none for a policy other than "sparse-ids"', shown(horizon))
    only_untried = check_flag("untried", untried)
    past = read_history(actions, rewards, name, reward_columns, ignore)
    left = _rows_left(past, count, only_untried)
    named = check_choice("family", family, ("auto", *FAMILIES))
    if noise_variance is not None and named in ("bernoulli", "poisson"):
        raise ArgumentValueError("noise_variance", f"none for family {named}", shown(noise_variance))
    assumed = named == "auto" and noise_variance is None and looks_like_clicks(past.rewards)
    named = "bernoulli" if assumed else "gaussian" if named == "auto" else named
    made = taught_policy(kind, past, noise_variance, size, number, ahead, FAMILIES[named])
    posterior = made.posterior
    noise, health = float(posterior.noise_variance), posterior.health()
    features = feature_effects(posterior.summary(past.feature_names), past)
    prediction = made.predict()
    recommendations = []
    for decision in made.ask(made.actions.rows(left), n=count, distinct=True):
        row = int(left[decision.action])
        tries = int((past.tried == row).sum())
        known = math.isfinite(prediction.sd[row])  # it is not before the first reward, or if all of them are equal
        mean, sd = (float(prediction.mean[row]), float(prediction.sd[row])) if known else (None, None)
        recommendations.append(Recommendation(row, past.names[row], tries, mean, sd, decision, past.features[row]))
    about = {
        "policy": type(made).__name__,
        "n_actions": len(past.names),
        "n_features": len(past.feature_names),
        "observations": len(past.rewards),
        "mean_reward": float(past.rewards.mean()) if len(past.rewards) else None,
        "family": named,
        "noise_variance": noise
        if named == "gaussian" and (len(past.rewards) > 1 or noise_variance is not None)
        else None,
        "n_draws": size,
        "seed": number,
        "horizon": ahead,
    }
    doubt = () if health.good else (f"the sampling is {health}",)
    notes = (*past.notes, *((CLICKS,) if assumed else ()), *doubt)
    return Advice(tuple(recommendations), features, notes, about)


def _rows_left(past: History, count: int, untried: bool) -> IntArray:
    """Return the rows to choose from, at least ``count`` of them."""
    rows = np.arange(len(past.names))
    if untried:
        rows = np.setdiff1d(rows, past.tried)
    if not len(rows):
        raise ArgumentValueError("untried", "actions without a past reward", f"none among {len(past.names)}")
    if count > len(rows):
        kinds = "untried actions" if untried else "actions"
        raise ArgumentValueError("batch", f"at most {len(rows)}, the number of {kinds}", f"{count}")
    return rows
