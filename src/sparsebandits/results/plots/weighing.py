"""What information-directed sampling weighs: the regret of each action against the information that it brings."""

import math
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from sparsebandits.arguments import ArgumentTypeError, FloatArray, IntArray, shown
from sparsebandits.policies.decision import Decision
from sparsebandits.results.plots.reading import PRIOR, Known, foreseen, is_advice
from sparsebandits.results.plots.style import BELOW, COLOURS, DASHES, TICKS, axes_in, dress, house_style, plain, short
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import PRIORS
from sparsebandits.rules.cost_to_go import CostToGo, costs
from sparsebandits.rules.ids import GAINS, InformationDirected

GRID = 200
"""Number of points on each side of the grid on which a level curve of the cost to go is found."""

GAIN, NATS = "information gain", "information (nats)"
"""Headings of the information in the reasons of a decision."""

ENTROPY = "entropy of the optimal action (nats)"
"""Name of the note of a decision that has it."""


class Weighed(NamedTuple):
    """Regret and information of some actions, what the information is called, and the rows."""

    regret: FloatArray
    gain: FloatArray
    called: str
    rows: IntArray


@house_style()
def ratio(policy: Known | Decision, context: object = None, ax: Axes | None = None) -> Figure:
    """Draw the expected regret of each action against the information that it brings, and mark the choice.

    This is what information-directed sampling looks at. Every action is a point, and those to the lower right are good.
    The dashed curve goes through the choice: all points on it have its information ratio Δ^λ / gain, or its cost to go
    (:class:`sparsebandits.rules.CostToGo`), and points below it, which would be better, are not there. A rule that
    draws one of two actions has its ratio between the two. Other rules have no such curve; their actions are shown with
    the information in nats.

    Parameters
    ----------
    policy : Policy, Decision or Advice
        A policy, of which all actions are drawn with the decision that ``ask`` would give now; the policy is not asked.
        Or a decision, of which the candidates in its reasons are drawn; of an Advice, that is its first one.
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
        If the policy has no posterior, or if the decision was made without regard to information.

    Examples
    --------
    >>> import sparsebandits as sb
    >>> policy = sb.SparseIDS(np.eye(3), rule="information-ratio", seed=0)
    >>> policy.tell(policy.ask(n=3, distinct=True), [1.0, 3.0, 2.0])
    >>> sb.plots.ratio(policy).axes[0].get_xlabel()
    'information gain'
    """
    decision, found = _found(policy, context)
    figure, axes = axes_in(ax, 6.4, 4.0)
    reasons, mixture = decision.reasons, decision.reasons.mixture
    style = {"color": COLOURS[0], "markersize": 4.5, "alpha": 0.75}
    axes.plot(found.gain, found.regret, "o", label="action", **style)  # type: ignore[arg-type]
    pair = [decision.action] if mixture is None else [mixture.first, mixture.second]
    ends = [int(np.flatnonzero(found.rows == row)[0]) for row in dict.fromkeys(pair)]
    if len(ends) > 1:
        axes.plot(found.gain[ends], found.regret[ends], "-", color=COLOURS[1], linewidth=1.4, label="drawn from these")
        axes.plot(found.gain[ends], found.regret[ends], "D", color=COLOURS[1], markersize=5, markerfacecolor="white")
    at = int(np.flatnonzero(found.rows == decision.action)[0])
    chosen = f"chosen: {plain(short(decision.label, 14), 60)}"
    axes.plot(found.gain[[at]], found.regret[[at]], "D", color=COLOURS[1], markersize=8, label=chosen, zorder=4)
    right, top = 1.06 * float(found.gain.max()) or 1.0, 1.08 * float(found.regret.max()) or 1.0
    axes.set_xlim(-0.04 * right, right)
    axes.set_ylim(-0.05 * top, top)
    _curve(axes, decision, found, right, top)
    axes.set_xlabel(found.called)
    axes.set_ylabel("expected regret")
    axes.xaxis.set_major_locator(MaxNLocator(**TICKS))
    axes.set_title(PRIOR if PRIORS in reasons.remarks else "", loc="left", fontsize=9)
    dress(axes)
    axes.legend(**BELOW)
    return figure


def _found(policy: Any, context: object) -> tuple[Decision, Weighed]:
    """Return a decision and what it weighed: of all actions, or of its candidates."""
    if not isinstance(policy, Decision):
        if is_advice(policy):
            policy = policy.recommendations[0].decision
        else:
            decision, beliefs = foreseen(policy, context)
            return decision, _of_all(policy.rule, beliefs)
    columns, rows = policy.reasons.columns, policy.reasons.candidates
    called = next((name for name in (GAIN, NATS) if name in columns), None)
    if called is None or "expected regret" not in columns:
        expected = "a policy, or a decision that weighed regret against information"
        raise ArgumentTypeError("policy", expected, f"a decision of {policy.policy}")
    if context is not None:
        raise ArgumentTypeError("context", "none for a decision, which has its own", shown(context))
    return policy, Weighed(columns["expected regret"], columns[called], called, rows)


def _of_all(rule: Any, beliefs: Beliefs) -> Weighed:
    """Return regret and information of all actions, as the rule measures it."""
    known, rows = beliefs.information, np.arange(len(beliefs))
    if isinstance(rule, InformationDirected):
        gain = beliefs.shown(getattr(beliefs, GAINS[rule.gain]))
        return Weighed(known.expected_regret, gain, GAIN, rows)
    share = rule.share if isinstance(rule, CostToGo) else 0.0
    gain = np.minimum(beliefs.shown(beliefs.informed(known, share)[0]), known.unbiased_entropy)
    return Weighed(known.expected_regret, gain, NATS, rows)


def _curve(axes: Axes, decision: Decision, found: Weighed, right: float, top: float) -> None:
    """Draw the level curve of the ratio, or of the cost to go, through the choice, if the rule has one."""
    notes, columns = decision.reasons.notes, decision.reasons.columns
    style: dict[str, Any] = {"color": "black", "linewidth": 1.2, "linestyle": DASHES[1]}
    if "ratio" in columns:
        least, exponent = notes["ratio minimised"], exponent_of(columns)
        if 0.0 < least < math.inf and exponent is not None:
            gain = np.linspace(0.0, right, GRID)
            axes.plot(gain, (least * gain) ** (1.0 / exponent), label=f"ratio {least:.3g}", **style)
    elif "cost to go" in columns:
        rounds = max(notes["rounds ahead"], 1.0)
        least, entropy = notes["cost to go if nothing were learnt"] / rounds, notes[ENTROPY]
        cost = float(columns["cost to go"][0])
        gain, regret = np.meshgrid(np.linspace(0.0, right, GRID), np.linspace(least, top, GRID))
        among = np.append(regret.ravel(), least), np.append(gain.ravel(), 0.0)
        total = costs(*among, entropy, rounds).total[:-1].reshape(regret.shape)
        if least > 0.0 and total.min() <= cost <= total.max():
            axes.contour(gain, regret, total, [cost], colors="black", linewidths=1.2, linestyles=[DASHES[1]])
            axes.plot([], [], label=f"cost to go {cost:.3g}", **style)


def exponent_of(columns: Any) -> float | None:
    """Return λ of the ratio Δ^λ / gain from the reasons of a decision.

    Parameters
    ----------
    columns : mapping of str to array
        Regret, gain and ratio of the candidates.

    Returns
    -------
    float or None
        λ, from the candidate with the regret that is furthest from one; None if there is none.

    Examples
    --------
    >>> regret, gain = np.array([0.5, 2.0, 1.0]), np.array([1.0, 0.5, 0.0])
    >>> exponent_of({"expected regret": regret, "information gain": gain, "ratio": np.array([0.125, 16.0, np.inf])})
    3.0
    """
    regret, gain, value = (columns[name] for name in ("expected regret", GAIN, "ratio"))
    usable = (regret > 0.0) & (gain > 0.0) & np.isfinite(value) & (value > 0.0) & (regret != 1.0)
    if not usable.any():
        return None
    logs = np.log(regret[usable])
    one = int(np.abs(logs).argmax())
    return float(np.log(value[usable][one] * gain[usable][one]) / logs[one])
