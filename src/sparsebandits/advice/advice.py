"""What to try next, from a table of actions and their past rewards: all of ``sparsebandits decide`` but the printing.

No state is kept between calls: everything is learnt anew from the table, so a reward that was wrong is mended in the
table. The model is that of the policies with two additions, so that a table needs no preparation:

- an intercept with a flat prior, integrated out exactly (``intercept.py``): rewards may be around any level;
- priors in the units of the data. With s the standard deviation of the past rewards and s_j that of feature j over the
  actions, the sparse policies have their default prior, in which effects are measured by s_j and the noise, and noise
  variance around s²; the dense ones have θ_j ~ N(0, s² / (d s_j²)), and noise variance s² unless it is given.

A batch is chosen one after the other, none twice. Thompson sampling draws anew among those left. The others go on as if
each chosen action had already given its expected reward, which leaves the mean where it is and takes the uncertainty
away (Ginsbourger, Le Riche and Carraro 2010, "kriging believer"; Desautels, Krause and Burdick 2014).
"""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import numpy as np

from sparsebandits.advice.history import History, read_history
from sparsebandits.arguments import ArgumentValueError, FloatArray, check_choice, check_count, check_positive, frozen
from sparsebandits.files import append_durably
from sparsebandits.model.features import contrasts
from sparsebandits.model.priors import GaussianPrior, InverseGammaNoise, default_prior
from sparsebandits.model.rewards import UNKNOWN_NOISE
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Decision, Explanation
from sparsebandits.policies.linear import LinearIDS, LinTS, LinUCB
from sparsebandits.policies.policy import Policy
from sparsebandits.posteriors.summary import Summary
from sparsebandits.tables import Cell, Table, formatted

POLICIES = {
    "sparse-ids": "SparseIDS",
    "sparse-ts": "SparseTS",
    "linear-ids": "LinearIDS",
    "lin-ts": "LinTS",
    "lin-ucb": "LinUCB",
}


@dataclass(frozen=True, eq=False)
class Recommendation:
    """One action to try."""

    action: int
    """Its row in the table, from 0."""
    name: str
    tried: int
    """Past rewards of this action."""
    expected_reward: float | None
    """Posterior mean of its mean reward; None before the first reward."""
    sd: float | None
    """Posterior standard deviation of that."""
    decision: Decision
    """As the policy made it; its ``features`` are those of the table less their mean over the past rewards."""

    @property
    def probability(self) -> float:
        """With which the policy chose it at its place in the batch; estimated if ``probability_draws`` is a number."""
        return self.decision.probability

    @property
    def explanation(self) -> Explanation:
        """What the policy knew of it and of its rivals. Print it."""
        return Explanation(self.decision)

    def to_dict(self) -> dict[str, Any]:
        """Return it for a program."""
        reasons, names = self.decision.reasons, self.decision.feature_names or ()
        rivals = [
            {"chosen": mark == "*", "action": name, **dict(zip(reasons.columns, map(_finite, numbers), strict=True))}
            for mark, name, *numbers in self.explanation.table.rows
        ]
        return {
            "action": self.name,
            "row": self.action,
            "probability": self.probability,
            "probability_draws": self.decision.probability_draws,
            "expected_reward": self.expected_reward,
            "sd": self.sd,
            "tried": self.tried,
            "why": {
                "candidates": rivals,
                "contributions": dict(zip(names, reasons.contributions.tolist(), strict=True)),
                **{name: _finite(value) for name, value in reasons.notes.items()},
            },
        }


@dataclass(frozen=True, eq=False)
class Advice:
    """Which actions to try next, why, and what is known of the features. Print it, or take its parts."""

    recommendations: tuple[Recommendation, ...]
    features: Table
    """A row a feature, in the units of the table, those first that are most likely to matter."""
    notes: tuple[str, ...]
    about: Mapping[str, Any]
    """What it was made from, such as the policy, the seed, and numbers of actions, features and past rewards."""

    def __str__(self) -> str:
        return self.report()

    def report(self, most: int = 10) -> str:
        """Return all of it for a person, with the ``most`` foremost features."""
        about, first = self.about, self.recommendations[0]
        mean = about["mean_reward"]
        lines = [
            f"{about['n_actions']} actions, {about['n_features']} features, {about['observations']} past rewards",
            "",
        ]
        if len(self.recommendations) == 1:
            lines.append(f"Next: {first.name}{_expectation(first)}")
        else:
            rows: list[tuple[Cell, ...]] = [
                (place, one.name, one.expected_reward, one.sd, one.tried, one.probability)
                for place, one in enumerate(self.recommendations, 1)
            ]
            columns = ("", "action", "expected reward", "sd", "tried", "probability")
            lines += [f"Next {len(rows)}:", "", str(Table(columns, rows)), "", f"Why {first.name}:"]
        lines += ["", str(first.explanation)]
        if mean is not None:
            lines.append(f"(rewards and parts of them are on top of the mean of the past rewards, {formatted(mean)})")
        lines += ["", "Effect of one unit of a feature on the reward, with its 95% interval:" if most else ""]
        if most:
            lines += ["", str(replace(self.features, rows=self.features.rows[:most]))]
            if len(self.features.rows) > most:
                lines.append(f"... and {len(self.features.rows) - most} more")
        return "\n".join((*lines, *(f"\nNote: {note}" for note in self.notes))).rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for a program: numbers, strings, None, lists and dicts."""
        return {
            "next": [one.to_dict() for one in self.recommendations],
            "features": self.features.to_dicts(),
            "notes": list(self.notes),
            **self.about,
        }

    def append_to(self, path: str | os.PathLike[str]) -> None:
        """Append one JSON line a recommendation to the file at ``path``: all of them, or none."""
        versions = {name: import_module(name).__version__ for name in ("sparsebandits", "numpy")}
        common = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            **self.about,
            "batch": len(self.recommendations),
            "versions": {**versions, "python": platform.python_version()},
        }
        entries = []
        for place, one in enumerate(self.recommendations, 1):
            of_action = one.to_dict()
            del of_action["why"]
            entries.append(json.dumps({"time": common["time"], "place": place, **of_action, **common}) + "\n")
        append_durably(path, "".join(entries).encode())


def _finite(number: Any) -> float | None:
    """Return the number, or None for an infinity or NaN, which JSON does not have."""
    return float(number) if np.isfinite(number) else None


def _expectation(one: Recommendation) -> str:
    if one.expected_reward is None:
        return ""
    times = {0: "not tried yet", 1: "tried once"}.get(one.tried, f"tried {one.tried} times")
    return f" (expected reward {formatted(one.expected_reward)}, sd {formatted(one.sd)}; {times})"


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
) -> Advice:
    """Say which action to try next, or which ``batch`` of different ones.

    Parameters
    ----------
    actions : a DataFrame (pandas, polars, pyarrow) or the path of a CSV or Parquet file, one row an action; every
        column that is not named below is a feature
    rewards : past rewards: a DataFrame or the path of a file with two columns, the action's name and the reward, one
        row an observation; or a mapping of names to a reward or a list of them
    name : the column that names the actions; by default an index of words (pandas), else the first column of text, else
        any index but a plain count, else what the table ``rewards`` calls its first column, else rows have numbers,
        from 1 in a file and from 0 in a DataFrame
    reward_columns : columns of ``actions`` with past rewards, or patterns such as ``"reward*"``; an empty cell is no
        reward; by default ``reward``, ``reward_1`` and the like, where they exist
    ignore : columns (or patterns) that are no features
    untried : recommend only actions without a past reward
    policy : "sparse-ids", "sparse-ts", "linear-ids", "lin-ts" or "lin-ucb"
    noise_variance : of a reward around its mean; by default learnt (sparse policies) or the variance of the past
        rewards, which is too much rather than too little (the others)
    n_draws : posterior draws
    seed : the same seed gives the same advice; by default a new one, which ``advice.about["seed"]`` tells

    >>> import pandas as pd
    >>> offers = pd.DataFrame({"price": [1.0, 2.0, 4.0], "size": [3.0, 1.0, 2.0]}, index=["small", "medium", "large"])
    >>> advice = decide(offers, rewards={"small": [5.1, 4.9], "medium": 7.0}, policy="lin-ucb", seed=0)
    >>> advice.recommendations[0].name
    'large'
    """
    kind = check_choice("policy", policy, tuple(POLICIES))
    count = check_count("batch", batch)
    fresh = int(np.random.SeedSequence().generate_state(1)[0])
    number = fresh if seed is None else check_count("seed", seed, least=0)
    if noise_variance is not None:
        noise_variance = check_positive("noise_variance", noise_variance)
    past = read_history(actions, rewards, name, reward_columns, ignore)
    left = np.ones(len(past.names), dtype=bool)
    if untried:
        left[past.tried] = False
    if not left.any():
        raise ArgumentValueError("untried", "actions without a past reward", f"none among {len(left)}")
    if count > left.sum():
        kinds = "untried actions" if untried else "actions"
        raise ArgumentValueError("batch", f"at most {left.sum()}, the number of {kinds}", f"{count}")
    made = _policy(kind, past, noise_variance, check_count("n_draws", n_draws, least=10), number)
    posterior = made.posterior
    posterior.absorb(*_contrasts(past.features[past.tried], past.rewards))
    known, features = posterior.draws(), _by_weight(posterior.summary(), past)
    noise, health = float(posterior.noise_variance), posterior.health()
    recommendations = tuple(
        Recommendation(row, past.names[row], int((past.tried == row).sum()), *_expected(past, row, known, noise), one)
        for row, one in _chosen(made, kind, past, left, count)
    )
    about = {
        "policy": POLICIES[kind],
        "n_actions": len(past.names),
        "n_features": len(past.feature_names),
        "observations": len(past.rewards),
        "mean_reward": float(past.rewards.mean()) if len(past.rewards) else None,
        "noise_variance": noise if len(past.rewards) > 1 or noise_variance is not None else None,
        "n_draws": n_draws,
        "seed": number,
    }
    doubt = () if health.good else (f"the sampling is {health}",)
    return Advice(recommendations, features, (*past.notes, *doubt), about)


def _contrasts(features: FloatArray, rewards: FloatArray) -> tuple[FloatArray, FloatArray]:
    if len(rewards) < 2:  # one reward tells the level, and no more
        return np.empty((0, features.shape[1])), np.empty(0)
    return np.ascontiguousarray(contrasts(features)), contrasts(rewards)


def _policy(kind: str, past: History, noise_variance: float | None, n_draws: int, seed: int) -> Policy:
    """Return the policy on actions of average zero, with priors in the units of the data."""
    actions = ActionSet(frozen(past.features - past.centre()), past.names, past.feature_names)
    around = past.features - past.features.mean(axis=0)
    square, dimension = past.scale() ** 2, around.shape[1]
    if kind.startswith("sparse"):
        from sparsebandits.policies.sparse import SparseIDS, SparseTS

        learnt = InverseGammaNoise(UNKNOWN_NOISE.shape, UNKNOWN_NOISE.scale * square)
        sparse = SparseIDS if kind == "sparse-ids" else SparseTS
        noise = learnt if noise_variance is None else noise_variance
        return sparse(actions, default_prior(around), noise, n_draws=n_draws, seed=seed)
    prior = GaussianPrior(square / (dimension * np.mean(around * around, axis=0)))
    variance = square if noise_variance is None else noise_variance
    if kind == "linear-ids":
        return LinearIDS(actions, prior, variance, n_draws=n_draws, seed=seed)
    if kind == "lin-ts":
        return LinTS(actions, prior, variance, probability_draws=n_draws, seed=seed)
    return LinUCB(actions, prior, variance, seed=seed)


def _chosen(policy: Policy, kind: str, past: History, left: Any, count: int) -> list[tuple[int, Decision]]:
    """Return ``count`` different rows with their decisions, in order."""
    found: list[tuple[int, Decision]] = []
    while True:
        rows = np.flatnonzero(left)
        offered = past.features[rows] - past.centre()
        names = tuple(past.names[row] for row in rows.tolist())
        decision = policy.ask(ActionSet(frozen(offered), names, past.feature_names))
        row = int(rows[decision.action])
        found.append((row, decision))
        left[row] = False
        if len(found) == count:
            return found
        if kind not in ("sparse-ts", "lin-ts"):
            past = _believed(policy, past, row)


def _believed(policy: Policy, past: History, row: int) -> History:
    """Let the policy learn as if action ``row`` had given its expected reward; return the history with it."""
    coefficients = policy.posterior.mean()
    reward = past.level() + float((past.features[row] - past.centre()) @ coefficients)
    tried, rewards = np.append(past.tried, row), np.append(past.rewards, reward)
    x, y = _contrasts(past.features[tried], rewards)
    policy.posterior.absorb(x[-1:], y[-1:])
    return replace(past, tried=tried, rewards=rewards)


def _expected(past: History, row: int, draws: Any, noise: float) -> tuple[float | None, float | None]:
    """Return mean and standard deviation of an action's mean reward, ȳ + ⟨a − x̄, θ⟩ and what of α is uncertain."""
    if not len(past.rewards):
        return None, None
    effect = draws.theta @ (past.features[row] - past.centre())
    mean = float(draws.weights @ effect)
    variance = float(draws.weights @ (effect - mean) ** 2) + noise / len(past.rewards)
    return past.level() + mean, float(np.sqrt(variance))


def _by_weight(summary: Summary, past: History) -> Table:
    """Return P(included) first, and the features first that are likely to matter, among equals the strongest."""
    spread = dict(zip(past.feature_names, past.features.std(axis=0).tolist(), strict=True))
    rows: list[tuple[Any, ...]] = [
        (name, included, *moments, positive) for name, *moments, included, positive in summary.table().rows
    ]
    rows.sort(key=lambda row: (-round(row[1], 9), -abs(row[2]) * spread[row[0]]))
    return Table(("feature", "P(included)", "mean", "sd", "2.5%", "97.5%", "P(positive)"), rows)
