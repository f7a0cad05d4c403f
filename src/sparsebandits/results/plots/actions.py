"""What the leading candidates promise, and which of them comes next."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_count
from sparsebandits.model.families import Linked
from sparsebandits.policies.items import Items
from sparsebandits.policies.offers import on_offer
from sparsebandits.policies.policy import Policy
from sparsebandits.results.plots.reading import PRIOR, Known, foreseen, is_advice, is_prior, twin
from sparsebandits.results.plots.style import BELOW, COLOURS, TICKS, axes_in, dress_rows, height_of, house_style, named

REACH = 1.959964
"""Standard deviations on each side of the mean of a normal variable that have 95% of it between them."""

MOST_REWARDS = 200
"""Number of past rewards of a candidate that are drawn, the newest."""

RANGES = {"gaussian": (-np.inf, np.inf), "bernoulli": (0.0, 1.0), "poisson": (0.0, np.inf)}
"""Range of the mean rewards of an Advice."""


class Candidate(NamedTuple):
    """What is drawn of an action: mean reward with its 95% interval, P(best) if known, and past rewards."""

    name: str
    mean: float
    low: float
    high: float
    best: float | None
    rewards: list[float]
    following: bool


@house_style()
def candidates(policy: Known, most: int = 15, context: object = None, ax: Axes | None = None) -> Figure:
    """Draw the expected reward of the leading candidates with 95% intervals, and mark the next one.

    The leading candidates are those that are most likely to be the best, and the one that ``ask`` would give now; the
    policy is not asked. Candidates are in the order of their expected rewards, with the probability of being the best
    beside them. Past rewards are drawn if the policy has a journal that keeps records, such as
    ``sb.journal.DecisionLog()``, or a feedback graph. Of an Advice, the recommendations are drawn and marked, then the
    leading candidates, with their past rewards.

    Parameters
    ----------
    policy : Policy or Advice
        Whose candidates are drawn.
    most : int, default=15
        Largest number of candidates.
    context : mapping, Series or sequence, optional
        Who is asking, if the policy has contexts, which it then needs.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure
        The figure.

    Raises
    ------
    ArgumentError
        If the policy has no posterior, or cannot predict rewards yet, or if a context is missing or superfluous.

    Examples
    --------
    >>> import sparsebandits as sb
    >>> policy = sb.LinUCB(np.eye(3), seed=0)
    >>> for action, reward in enumerate([1.0, 3.0, 2.0]):
    ...     policy.tell(policy.ask(available=[action]), reward)
    >>> [label.get_text() for label in sb.plots.candidates(policy).axes[0].get_yticklabels()]
    ['1', '2', '0']
    """
    count = check_count("most", most)
    if is_advice(policy):
        found, note = _advised(policy, count)
    else:
        found, note = _of_policy(policy, count, context)
    found.sort(key=lambda one: -one.mean)
    labels, places = named([one.name for one in found]), np.arange(len(found))
    figure, axes = axes_in(ax, 6.4, height_of(labels) + 1.0)
    for following, text, marker, colour in ((False, "expected reward", "o", 0), (True, "next", "D", 1)):
        of = [place for place in places.tolist() if found[place].following is following]
        if not of:
            continue
        lows, highs = [found[place].low for place in of], [found[place].high for place in of]
        axes.hlines(of, lows, highs, color=COLOURS[colour], linewidth=2.6 if following else 1.6)
        size = 7.5 if following else 5.0
        means = [found[place].mean for place in of]
        axes.plot(means, of, marker, color=COLOURS[colour], markersize=size, label=text, zorder=4)
    points = [(reward, place) for place in places.tolist() for reward in found[place].rewards]
    if points:
        x, y = np.array(points).T
        dots = {"color": "#444444", "markersize": 4.5, "markeredgewidth": 0.8, "alpha": 0.7}
        axes.plot(x, y + 0.28, "x", label="past reward", zorder=3, **dots)  # type: ignore[arg-type]
    beside = axes.get_yaxis_transform()
    for place, one in enumerate(found):
        text = "–" if one.best is None else _percent(one.best)
        axes.text(1.02, place, text, transform=beside, va="center", fontsize=7.5)
    axes.annotate(
        "P(best)", (1.02, 1.0), (0, 4), xycoords="axes fraction", textcoords="offset points", va="bottom", fontsize=8
    )
    axes.xaxis.set_major_locator(MaxNLocator(**TICKS))
    axes.set_xlabel("expected reward, with 95% interval")
    dress_rows(axes, labels, note)
    axes.legend(**BELOW)
    return figure


def _percent(probability: float) -> str:
    if 0.0 < probability < 0.001:
        return "<0.1%"
    return ">99.9%" if 0.999 <= probability < 1.0 else f"{100.0 * probability:.3g}%"


def _of_policy(policy: Any, most: int, context: object) -> tuple[list[Candidate], str]:
    """Return the leading candidates of a policy, and what to know of them."""
    other = twin(policy)
    predicted = other.predict(context=context)
    if not np.isfinite(predicted.sd).all():
        expected = "one that has been told rewards, and not the same each time"
        raise ArgumentValueError("policy", expected, f"{np.count_nonzero(~np.isnan(other.told))} rewards")
    decision, beliefs = foreseen(policy, context)
    leading = np.lexsort((-predicted.mean, -predicted.optimal_probability))[:most]
    if decision.action not in leading:
        leading[-1] = decision.action
    reach = REACH * predicted.sd[leading]
    low, high = predicted.mean[leading] - reach, predicted.mean[leading] + reach
    if isinstance(other.posterior.rewards, Linked):  # whose means are not normal, and have bounds
        under = type(beliefs)(beliefs.posterior, beliefs.features[leading]).predictions
        weights = beliefs.draws.weights
        low, high = np.quantile(under, [0.025, 0.975], axis=1, weights=weights, method="inverted_cdf")
    rewards = _past(policy, on_offer(other.actions, None, None, context)[1].features)
    labels = other.actions.labels
    found = [
        Candidate(
            str(row) if labels is None else labels[row],
            float(predicted.mean[row]),
            float(low[place]),
            float(high[place]),
            float(predicted.optimal_probability[row]),
            rewards.get(row, [])[-MOST_REWARDS:],
            row == decision.action,
        )
        for place, row in enumerate(leading.tolist())
    ]
    shown = f"{len(found)} of {len(other.actions)} actions" if len(found) < len(other.actions) else ""
    return found, "; ".join(text for text in (shown, PRIOR if is_prior(other.posterior) else "") if text)


def _past(policy: Policy, features: FloatArray) -> dict[int, list[float]]:
    """Return past rewards of rows with these features, per unit of exposure, as far as they are on record."""
    found: dict[int, list[float]] = {}
    if policy.actions.feedback is not None:
        if not isinstance(policy.actions, Items):
            for number in range(len(policy.told)):
                for row, reward in policy.shown(number).items():
                    found.setdefault(row, []).append(reward)
        return found
    records = getattr(policy.journal, "records", None)
    for record in () if records is None else records():
        own = 0 <= record.action < len(features) and np.array_equal(record.features, features[record.action])
        if own and record.reward is not None:
            found.setdefault(record.action, []).append(record.reward / record.extra.get("exposure", 1.0))
    return found


def _advised(advice: Any, most: int) -> tuple[list[Candidate], str]:
    """Return the recommendations of an Advice and its leading candidates, and what to know of them."""
    first, least, largest = advice.recommendations[0], *RANGES[advice.about["family"]]
    if first.expected_reward is None:
        expected = "one from a table with rewards that are not all the same"
        raise ArgumentValueError("policy", expected, f"{advice.about['observations']} rewards")
    past, wanted = advice.past, {one.name for one in advice.recommendations[:most]}
    told = dict[str, list[float]]()
    for action, reward in zip(past.tried.tolist(), past.rewards.tolist(), strict=True):
        told.setdefault(past.names[action], []).append(reward)
    leading = [row for row in advice.candidates if row["action"] in wanted]
    leading += [row for row in advice.candidates if row["action"] not in wanted][: most - len(leading)]
    found = []
    for row in leading:
        name, mean, reach = row["action"], row["expected reward"], REACH * row["sd"]
        low, high = (float(np.clip(end, least, largest)) for end in (mean - reach, mean + reach))
        found.append(Candidate(name, mean, low, high, row["P(best)"], told.get(name, []), name in wanted))
    total = advice.about["n_actions"]
    return found, f"{len(found)} of {total} actions" if len(found) < total else ""
