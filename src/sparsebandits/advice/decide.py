"""``decide``: read a table, learn its past rewards, choose what to try next.

No state is kept between calls: everything is learned afresh from the table, so a wrong reward is corrected in the
table. ``read.py`` reads it, ``choose.py`` has the model, ``advice.py`` the answer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sparsebandits.advice.advice import Advice, Recommendation
from sparsebandits.advice.choose import CLICKS, FAMILIES, taught_policy
from sparsebandits.advice.comparison import FEWEST_REWARDS, MOST_COMPARED, best_expansion, odds
from sparsebandits.advice.effects import feature_effects
from sparsebandits.advice.expansion import EFFECTS, Expansion, expand
from sparsebandits.advice.goal import Goal
from sparsebandits.advice.read import History, read_history
from sparsebandits.advice.settings import Settings
from sparsebandits.advice.stopping import stopping
from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    IntArray,
    shown,
)
from sparsebandits.model.families import Linked
from sparsebandits.policies.policy import Prediction
from sparsebandits.tables import Rows, formatted


def decide(
    actions: object,
    rewards: object = None,
    *,
    name: str | None = None,
    reward_columns: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    where: str | Sequence[str] = (),
    cost: str | None = None,
    minimize: bool = False,
    target: float | None = None,
    effects: str = "linear",
    pending: str | Sequence[str] = (),
    batch: int = 1,
    untried: bool = False,
    policy: str = "sparse-ids",
    noise_variance: float | None = None,
    n_draws: int = 10_000,
    seed: int | None = None,
    horizon: int | None = None,
    family: str = "auto",
    decimal: str | None = None,
) -> Advice:
    """Recommend the action to try next, or a batch of different ones.

    Parameters
    ----------
    actions : DataFrame (pandas, polars, pyarrow) or path of a text, Excel or Parquet file
        One row per action, or per trial of it. Every column that has no other role is a feature: numbers (also with
        units, percent signs and thousands separators), yes and no, dates, or categories. What was assumed about columns
        is in ``advice.assumed``.
    rewards : DataFrame, path or mapping, optional
        Past rewards: a table with two columns, the action's name and the reward, and one row per observation; or a
        mapping of names to a reward or a list of rewards.
    name : str, optional
        Column that names the actions. By default an index of words (pandas), else the first column of words that are
        all different, else a column that is called so, else any index that does not just count the rows, else the
        column that has the same name as the first one of the table ``rewards``. Otherwise rows are named by their
        number, from 1 in a file and from 0 in a DataFrame.
    reward_columns : str or sequence of str, optional
        Columns of ``actions`` with past rewards, or patterns such as ``"reward*"``. An empty cell is no reward. By
        default ``reward``, ``reward_1`` and so on, else columns that are called yield, score, result or so, else the
        last column if it has the most empty cells.
    ignore : str or sequence of str, default=()
        Columns, or patterns of columns, that are not features.
    columns : mapping of str to str, optional
        What columns are: "number", "yes-no", "category", "date", "name", "reward", "cost" or "ignore".
    where : str or sequence of str, default=()
        Constraints on the actions to recommend, such as ``"price < 5 and colour = red"``. A name with a sign or "and"
        in it stands in quotation marks, ``'"price < EUR" < 5'``. Past rewards of all actions are learned from.
    cost : str, optional
        Column with the cost of a trial: reward and information count per unit of cost. It is not a feature.
    minimize : bool, default=False
        Whether small rewards are good.
    target : float, optional
        Value that rewards should be close to.
    effects : {"linear", "quadratic", "interactions", "splines", "auto"}, default="linear"
        Whether squares and products of columns, or bends in their effects, are features too, for the sparse policies.
        With "auto" the past rewards decide, from ten of them on, among those that make at most 300 columns.
    pending : str or sequence of str, default=()
        Names of actions whose trials are under way: what they will tell is counted with, and they are not recommended
        with ``untried``.
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
    decimal : {".", ","}, optional
        Decimal mark of text files. By default it is found from their cells.

    Returns
    -------
    Advice
        The recommendations with their reasons, and the effects of the features.

    Raises
    ------
    ValueError, TypeError
        If an argument or a table cannot be used; the error names row and column, and lists all that is wrong.
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
    settings = Settings(
        policy, batch, untried, minimize, target, effects, family, noise_variance, n_draws, seed, horizon
    )
    fresh = int(np.random.SeedSequence().generate_state(1)[0])
    number = fresh if settings.seed is None else settings.seed
    noise_variance, ahead, size = settings.noise_variance, settings.horizon, settings.n_draws
    past = read_history(
        actions, rewards, name, reward_columns, ignore, columns=columns, where=where, cost=cost, decimal=decimal
    )
    goal, named, assumed = settings.problem(past)
    waiting = _rows_named(past, pending)
    left = _rows_left(past, settings.batch, settings.untried, waiting)
    told = replace(past, rewards=goal.told(past.rewards, named))
    expansion, found = _expansion(settings.effects, told, noise_variance, FAMILIES[named], number)
    learnt = replace(told, features=expansion.features, feature_names=expansion.names)
    prior = None if expansion.how == "linear" else expansion.prior(FAMILIES[named])
    made = taught_policy(
        settings.policy, learnt, noise_variance, size, number, ahead, FAMILIES[named], goal.rule(ahead), prior
    )
    posterior = made.posterior
    noise, health = float(posterior.noise_variance), posterior.health()
    features = goal.effects(feature_effects(posterior.summary(learnt.feature_names), learnt))
    prediction = made.predict()
    everything = np.arange(len(past.names))
    for row in waiting:
        made.ask(available=everything == row)
    offered = None if len(left) == len(everything) else np.isin(everything, left)
    recommendations = []
    for decision in made.ask(available=offered, n=settings.batch, distinct=True):
        row = int(decision.action)
        tries = int((past.tried == row).sum())
        known = math.isfinite(prediction.sd[row])  # it is not before the first reward, or if all of them are equal
        mean, sd = (
            (goal.shown(float(prediction.mean[row]), named), float(prediction.sd[row])) if known else (None, None)
        )
        table_row = row if past.rows is None else int(past.rows[row])
        recommendations.append(
            Recommendation(table_row, past.names[row], tries, mean, sd, decision, past.features[row])
        )
    about = {
        "policy": type(made).__name__,
        "n_actions": len(past.names),
        "n_features": len(past.feature_names),
        "observations": len(past.rewards),
        "mean_reward": float(past.rewards.mean()) if len(past.rewards) else None,
        "family": named,
        "columns": dict(columns or {}),
        "goal": str(goal),
        "pending": [past.names[row] for row in waiting],
        "effects": expansion.how,
        "noise_variance": noise
        if named == "gaussian" and (len(past.rewards) > 1 or noise_variance is not None)
        else None,
        "n_draws": size,
        "seed": number,
        "horizon": ahead,
    }
    doubt = () if health.good else (f"the sampling is {health}",)
    turned = ("small rewards are wanted, so reasons are about their negatives",) if goal.minimize else ()
    notes = (*past.notes, *((CLICKS,) if assumed else ()), *found, *turned, *doubt)
    known_enough = np.isfinite(prediction.sd).all() and len(past.rewards) > 1
    first = int(recommendations[0].decision.action)
    possible = prediction.mean if past.allowed is None else prediction.mean[past.allowed]
    pays = float(possible.max()) > goal.idle  # otherwise nothing is worth its cost; NaN before the first reward
    end = stopping(made, past.names, first, goal, past.allowed) if known_enough and pays else None
    chances = prediction.optimal_probability if end is None else end.chances
    listed = _candidates(past, prediction, chances, goal, named)
    return Advice(
        tuple(recommendations), features, notes, about, past.assumed, end, made, past, goal, listed, expansion
    )


def _candidates(past: History, prediction: Prediction, chances: FloatArray, goal: Goal, family: str) -> Rows:
    """Return what is known of each action, the most likely to be the best first, and the better among equals."""
    tried = np.bincount(past.tried, minlength=len(past.names))
    known = np.isfinite(prediction.sd)
    mean, sd = np.where(known, prediction.mean, np.nan), np.where(known, prediction.sd, np.nan)
    order = np.lexsort((-np.nan_to_num(mean), -np.round(chances, 9)))
    return Rows.of(
        [
            {
                "action": past.names[row],
                "expected reward": goal.shown(float(mean[row]), family),
                "sd": float(sd[row]),
                "P(best)": float(chances[row]),
                "tried": int(tried[row]),
            }
            for row in order.tolist()
        ]
    )


def _expansion(
    how: str, past: History, noise_variance: float | None, family: Linked | None, seed: int
) -> tuple[Expansion, list[str]]:
    """Return the features to learn from, and notes on how they were found."""
    table = (past.features, past.feature_names, past.continuous, past.sources)
    if how != "auto":
        return expand(*table, how), []
    best, evidence = best_expansion(*table, past.tried, past.rewards, noise_variance, family, seed=seed)
    if not evidence:
        return best, [f"effects are linear, since fewer than {FEWEST_REWARDS} past rewards cannot tell"]
    if best.how == "linear":
        notes = ["effects are linear, for which the past rewards are the most likely"]
    else:
        times = formatted(odds(evidence, best.how, "linear"))
        likely = f"the past rewards are {times} times as likely as with linear ones"
        notes = [f"{best.how} are among the effects: {likely}"]
    left_out = [one for one in EFFECTS if one not in evidence]
    if left_out:
        why = f"since they would be more than {MOST_COMPARED} columns; to use them, state effects {left_out[0]}"
        notes.append(f"{' and '.join(left_out)} were not compared, {why}")
    return best, notes


def _rows_named(past: History, pending: object) -> list[int]:
    """Return the actions that are pending; one may be so several times."""
    if not isinstance(pending, str | Sequence):
        raise ArgumentTypeError("pending", "names of actions", shown(pending))
    places = {one: row for row, one in enumerate(past.names)}
    wanted = [pending] if isinstance(pending, str) else [str(one) for one in pending]
    for one in wanted:
        if one not in places:
            raise ArgumentValueError("pending", "names of actions in the table", shown(one))
    return [places[one] for one in wanted]


def _rows_left(past: History, count: int, untried: bool, waiting: Sequence[int]) -> IntArray:
    """Return the actions to choose from, at least ``count`` of them."""
    rows = np.arange(len(past.names))
    if past.allowed is not None:
        rows = rows[past.allowed]
    if untried:
        rows = np.setdiff1d(rows, np.concatenate((past.tried, np.array(waiting, dtype=np.intp))))
    if not len(rows):
        raise ArgumentValueError("untried", "actions without a past reward", f"none among {len(past.names)}")
    if count > len(rows):
        kinds = "untried actions" if untried else "actions"
        raise ArgumentValueError("batch", f"at most {len(rows)}, the number of {kinds}", f"{count}")
    return rows
