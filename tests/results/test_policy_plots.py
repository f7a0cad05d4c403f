"""Figures of a policy show its numbers, change nothing of it, and leave Matplotlib as it was."""

import io
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

import sparsebandits as sb
from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError
from sparsebandits.results.plots.reading import foreseen
from sparsebandits.results.plots.style import COLOURS
from sparsebandits.rules.cost_to_go import costs

ODD = "<b>$x_1$</b> & co"
NAMES = ["price", "size", ODD, "age"]


def table(rows: int = 12) -> pd.DataFrame:
    values = np.random.default_rng(0).standard_normal((rows, 4))
    return pd.DataFrame(values, columns=NAMES, index=[f"offer {i}" for i in range(rows)])


def played(rounds: int = 25, make: Any = sb.SparseIDS, clicks: bool = False, **settings: Any) -> sb.Policy:
    actions, rng = table(), np.random.default_rng(1)
    more = {"n_draws": 300} if make is sb.SparseIDS else {}
    policy: sb.Policy = make(actions, seed=0, **({"rewards": sb.Bernoulli()} if clicks else {}), **more, **settings)
    for _ in range(rounds):
        decision = policy.ask()
        mean = float(decision.features @ [1.0, -1.0, 0.0, 0.0])
        policy.tell(decision, float(rng.random() < 0.5 + 0.2 * np.tanh(mean)) if clicks else mean + rng.normal() / 3)
    return policy


PLOTS: dict[str, Callable[..., Figure]] = {
    "inclusion": sb.plots.inclusion,
    "effects": sb.plots.effects,
    "candidates": sb.plots.candidates,
    "progress": sb.plots.progress,
    "ratio": sb.plots.ratio,
    "posterior": lambda policy, **named: sb.plots.posterior(policy, "size", **named),
}
POLICIES: dict[str, Callable[[], sb.Policy]] = {
    "SparseIDS": lambda: played(journal=sb.journal.DecisionLog()),
    "of clicks": lambda: played(clicks=True),
    "the paper's rule": lambda: played(6, rule="information-ratio", selection="randomised"),
    "LinTS": lambda: played(make=sb.LinTS),
    "LinUCB": lambda: played(make=sb.LinUCB),
}


def only(figure: Figure) -> Any:
    """Return the axes of a figure that has no others."""
    (axes,) = figure.axes
    return axes


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def labels(axes: Any) -> list[str]:
    return [label.get_text().replace(r"\$", "$") for label in axes.get_yticklabels()]


def line(axes: Any, label: str) -> tuple[list[float], list[float]]:
    """Return x and y of the points of the line whose label starts so."""
    (found,) = [one for one in axes.lines if str(one.get_label()).startswith(label)]
    return np.asarray(found.get_xdata(), float).tolist(), np.asarray(found.get_ydata(), float).tolist()


def segments(axes: Any) -> dict[float, tuple[float, float]]:
    """Return the horizontal lines by their height."""
    found = [one for group in axes.collections for one in getattr(group, "get_segments", list)() if len(one) == 2]
    return {float(a[1]): (float(a[0]), float(b[0])) for a, b in found if a[1] == b[1]}


@pytest.mark.parametrize("name", POLICIES)
def test_looking_changes_nothing(name: str, tmp_path: Path) -> None:
    """Planted: the policy itself is asked for the next decision; the number of decisions in the file is one more."""
    policy, untouched = POLICIES[name](), POLICIES[name]()
    policy.save(tmp_path / "before")
    before = (tmp_path / "before").read_bytes()
    recorded = 0 if policy.journal is None else len(policy.journal.records())  # type: ignore[attr-defined]
    for what, draw in PLOTS.items():
        settings = dict(mpl.rcParams)
        figure, own = draw(policy), Figure()
        assert draw(policy, ax=own.subplots(1, 2)[1]) is own, what
        assert not own.axes[0].has_data(), what
        assert own.axes[1].get_xlabel() == figure.axes[0].get_xlabel() != "", what
        assert dict(mpl.rcParams) == settings, what
        policy.save(tmp_path / "after")
        assert (tmp_path / "after").read_bytes() == before, what
    assert policy.journal is None or len(policy.journal.records()) == recorded  # type: ignore[attr-defined]
    for _ in range(3):
        one, other = policy.ask(), untouched.ask()
        assert (one.action, one.probability) == (other.action, other.probability)
        policy.tell(one, 0.0)
        untouched.tell(other, 0.0)


def test_figures_show_themselves_in_a_notebook_and_in_subfigures() -> None:
    figure = sb.plots.progress(played(12, make=sb.LinUCB))
    content, about = figure._repr_png_()  # type: ignore[attr-defined]
    assert about == {"width": 672, "height": 307}
    assert Image.open(io.BytesIO(content)).size == (1400, 640)
    whole = Figure()
    part: Any = whole.subfigures(1, 2)
    assert sb.plots.progress(played(12, make=sb.LinUCB), ax=part[1].subplots()) is whole
    with pytest.raises(ArgumentTypeError, match=r"^ax: expected axes"):
        sb.plots.progress(played(2, make=sb.LinUCB), ax=whole)  # type: ignore[arg-type]


def test_inclusion() -> None:
    policy = played()
    axes = only(sb.plots.inclusion(policy, most=3))
    rows = sorted(policy.posterior.summary(), key=lambda row: (-row["P(included)"], -abs(row["mean"])))
    assert labels(axes) == [row["feature"] for row in rows[:3]]
    assert set(labels(axes)[:2]) == {"price", "size"}
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([row["P(included)"] for row in rows[:3]])
    for bar, row in zip(axes.patches, rows, strict=False):
        colour, hatch = (COLOURS[0], "") if row["mean"] > 0 else (COLOURS[1], "////")
        assert to_hex(bar.get_facecolor()).upper() == colour
        assert (bar.get_hatch() or "") == hatch
    assert axes.get_title(loc="left") == "3 of 4 features"
    (prior,) = [one for group in axes.collections for one in group.get_segments()]
    assert prior[:, 0].tolist() == [0.25, 0.25]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][-1] == "prior probability, 0.25"


def test_priors_of_inclusion() -> None:
    """Each feature has its own line if they differ; a Gaussian prior has none; a size is taken into account."""
    each = np.array([0.1, 0.2, 0.3, 0.4])
    policy = sb.SparseIDS(table(), sb.SpikeSlab(each, 1.0), 1.0, seed=0, n_draws=2000)
    axes = only(sb.plots.inclusion(policy))
    assert axes.get_title(loc="left") == "no rewards yet: this is the prior"
    marks = [one[0, 0] for group in axes.collections for one in group.get_segments()]
    assert marks == [each[NAMES.index(name)] for name in labels(axes)]
    axes = only(sb.plots.inclusion(sb.LinUCB(table(), seed=0)))
    assert [bar.get_width() for bar in axes.patches] == [1.0] * 4
    assert axes.get_title(loc="left") == "no rewards yet: this is the prior; the prior leaves no feature out"
    assert not axes.collections
    sized = sb.SparseIDS(table(), sb.SpikeSlab(each, 1.0, size=2), 1.0, seed=0, n_draws=100)
    assert not sb.plots.inclusion(sized).axes[0].collections


def test_effects() -> None:
    policy = played(clicks=True)
    (axes,) = sb.plots.effects(policy).axes
    rows = {row["feature"]: row for row in policy.posterior.summary()}
    ends, named = segments(axes), labels(axes)
    points: dict[float, float] = {}
    for kind in ("matters with probability above", "matters with probability up to"):
        if any(str(one.get_label()).startswith(kind) for one in axes.lines):
            x, y = line(axes, kind)
            points |= dict(zip(y, x, strict=True))
            assert all((rows[named[int(at)]]["P(included)"] > 0.5) is ("above" in kind) for at in y)
    for place, name in enumerate(named):
        assert ends[place] == pytest.approx((rows[name]["2.5%"], rows[name]["97.5%"]))
        assert points[place] == pytest.approx(rows[name]["mean"])
    assert "log-odds" in axes.get_xlabel()
    assert line(axes, "_child0")[0] == [0.0, 0.0]
    assert "on the reward" in sb.plots.effects(played(make=sb.LinUCB)).axes[0].get_xlabel()


@pytest.mark.parametrize("clicks", [False, True], ids=["numbers", "clicks"])
def test_candidates(clicks: bool) -> None:
    policy = played(clicks=clicks, journal=sb.journal.DecisionLog())
    (axes,) = sb.plots.candidates(policy, most=5).axes
    predicted, decision, named = policy.predict(), foreseen(policy)[0], labels(axes)
    rows = [int(name.split()[1]) for name in named]
    assert len(rows) == 5
    assert predicted.mean[rows].tolist() == sorted(predicted.mean[rows], reverse=True)
    first = set(np.argsort(-predicted.optimal_probability, kind="stable")[:4].tolist())
    assert first <= set(rows), "those that are most likely to be the best"
    assert line(axes, "next") == ([predicted.mean[decision.action]], [float(rows.index(decision.action))])
    for place, row in enumerate(rows):
        low, high = segments(axes)[place]
        assert low < predicted.mean[row] < high
        if clicks:
            assert 0.0 <= low < high <= 1.0
        else:
            assert high - low == pytest.approx(2 * 1.959964 * predicted.sd[row])
    shown = texts(axes)[:5]
    assert float(shown[rows.index(decision.action)].strip("<>%")) == pytest.approx(
        100 * predicted.optimal_probability[decision.action], rel=0.01, abs=0.11
    )
    x, y = line(axes, "past reward")
    expected = [(r.action, r.reward) for r in policy.journal.records() if r.action in rows]  # type: ignore[union-attr]
    assert sorted(zip(x, np.round(y), strict=True)) == sorted((reward, rows.index(a)) for a, reward in expected)
    assert policy.ask().action == decision.action


def test_candidates_of_a_context_a_graph_and_advice() -> None:
    items = pd.DataFrame({"size": [1.0, 2.0, 3.0]}, index=["tea", "milk", "jam"])
    users = pd.DataFrame({"age": [20.0, 60.0]})
    policy = sb.SparseIDS(items, contexts=users, seed=0, n_draws=200, journal=sb.journal.DecisionLog())
    for t in range(8):
        policy.tell(policy.ask(context=users.iloc[t % 2]), float(t % 3))
    young = sb.plots.candidates(policy, context=users.iloc[0]).axes[0]
    assert len(line(young, "past reward")[0]) == 4, "rewards of other contexts are not those of this one"
    with pytest.raises(ArgumentValueError, match=r"^context: expected a context"):
        sb.plots.candidates(policy)
    graph = sb.LinUCB(np.eye(3), feedback=np.ones((3, 3)), seed=0)
    graph.tell(graph.ask(), [1.0, 3.0, 2.0])
    assert sorted(line(sb.plots.candidates(graph).axes[0], "past reward")[0]) == [1.0, 2.0, 3.0]
    advice = sb.decide(table(), {f"offer {i}": float(i % 4) for i in range(8)}, batch=3, n_draws=200, seed=0)
    axes = sb.plots.candidates(advice, most=5).axes[0]
    assert set(labels(axes)) > {one.name for one in advice.recommendations}
    assert set(line(axes, "next")[0]) == {one.expected_reward for one in advice.recommendations}
    assert axes.get_title(loc="left") == "5 of 12 actions"
    chance = advice.recommendations[0].decision.diagnostics["P(optimal)"]
    place = labels(axes).index(advice.recommendations[0].name)
    assert float(texts(axes)[place].strip("%")) == pytest.approx(100 * chance, rel=0.01)
    bars = only(sb.plots.inclusion(advice)).patches
    assert [bar.get_width() for bar in bars] == [one.inclusion for one in advice.features]
    first = advice.features[0]
    ends = (first.spread * first.low, first.spread * first.high)  # of one standard deviation, since units differ
    assert segments(sb.plots.effects(advice).axes[0])[0] == ends
    candidates = advice.recommendations[0].decision.reasons.columns["expected regret"]
    assert line(sb.plots.ratio(advice).axes[0], "action")[1] == candidates.tolist()


def test_progress() -> None:
    policy = sb.LinUCB(np.eye(2), seed=0)
    rewards = [2.0, 1.0, 5.0, 3.0, 4.0]
    for reward in rewards:
        policy.tell(policy.ask(), reward)
    policy.ask()
    policy.tell(policy.ask(), 0.5)
    (axes,) = sb.plots.progress(policy, window=2).axes
    assert line(axes, "reward") == ([0, 1, 2, 3, 4, 6], [*rewards, 0.5])
    assert line(axes, "best so far")[1] == [2.0, 2.0, 5.0, 5.0, 5.0, 5.0]
    assert line(axes, "mean of the last 2") == ([1, 2, 3, 4, 6], [1.5, 3.0, 4.0, 3.5, 2.25])
    assert len(sb.plots.progress(policy).axes[0].lines) == 2, "too few rewards for a running mean"


def test_progress_of_clicks() -> None:
    policy = sb.LinUCB(np.eye(2), seed=0)
    for reward in (0.0, 1.0, 0.0, 1.0):
        policy.tell(policy.ask(), reward)
    (axes,) = sb.plots.progress(policy, window=2).axes
    assert line(axes, "click")[0] == [1.0, 3.0]
    assert line(axes, "rate of clicks, all so far")[1] == pytest.approx([0.0, 1 / 2, 1 / 3, 1 / 2])
    assert line(axes, "rate of the last 2")[1] == [0.5, 0.5, 0.5]
    assert axes.get_ylim()[0] == 0.0


def test_ratio_of_the_paper() -> None:
    """All actions are above the curve of the least ratio, on which the choice is."""
    policy = played(4, rule="information-ratio", exponent=3.0)
    (axes,) = sb.plots.ratio(policy).axes
    decision, beliefs = foreseen(policy)
    gain, regret = (np.array(values) for values in line(axes, "action"))
    assert regret.tolist() == beliefs.expected_regret.tolist()
    assert gain.tolist() == beliefs.variance_gain.tolist()
    assert line(axes, "chosen") == ([gain[decision.action]], [regret[decision.action]])
    x, y = line(axes, "ratio")
    least = decision.reasons.notes["ratio minimised"]
    np.testing.assert_allclose(np.array(y[1:]) ** 3 / x[1:], least, rtol=1e-9)
    assert (regret**3 / gain).min() == pytest.approx(least)
    kept = sb.plots.ratio(policy.ask()).axes[0]
    assert len(line(kept, "action")[0]) == 8
    np.testing.assert_allclose(np.array(line(kept, "ratio")[1][1:]) ** 3 / line(kept, "ratio")[0][1:], least)


def test_ratio_of_a_mixture() -> None:
    policy, rng = played(1, rule="information-ratio", selection="randomised"), np.random.default_rng(2)
    for _ in range(30):
        mixture = foreseen(policy)[0].reasons.mixture
        if mixture is not None and mixture.first != mixture.second:
            break
        policy.tell(policy.ask(), rng.normal())
    assert mixture is not None
    assert mixture.first != mixture.second
    (axes,) = sb.plots.ratio(policy).axes
    ends = line(axes, "drawn from these")
    points = list(zip(*line(axes, "action"), strict=True))
    assert list(zip(*ends, strict=True)) == [points[mixture.first], points[mixture.second]]


def test_ratio_of_cost_to_go() -> None:
    """The curve has the cost of the choice: no action is below it, and it meets the choice."""
    policy = played(10)
    (axes,) = sb.plots.ratio(policy).axes
    decision, beliefs = foreseen(policy)
    gain, regret = (np.array(values) for values in line(axes, "action"))
    notes, columns = decision.reasons.notes, decision.reasons.columns
    entropy, rounds = notes["entropy of the optimal action (nats)"], notes["rounds ahead"]
    found = costs(regret, gain, entropy, rounds).total
    assert found.argmin() == decision.action
    assert found.min() == pytest.approx(columns["cost to go"][0])
    (curve,) = [group for group in axes.collections if type(group).__name__.endswith("ContourSet")]
    corners = np.asarray(curve.get_paths()[0].vertices)
    along = costs(np.append(corners[:, 1], regret.min()), np.append(corners[:, 0], 0.0), entropy, rounds).total[:-1]
    np.testing.assert_allclose(along, found.min(), rtol=0.02)
    assert "nats" in axes.get_xlabel()
    assert len(beliefs) == len(regret)
    (other,) = sb.plots.ratio(played(make=sb.LinUCB)).axes
    assert len(other.lines) == 2, "a rule without a curve"
    with pytest.raises(ArgumentTypeError, match="a decision of LinTS"):
        sb.plots.ratio(played(2, make=sb.LinTS).ask())


def test_posterior() -> None:
    policy = played(8)
    draws = policy.posterior.draws()
    values, weights = draws.theta[:, 2], draws.weights
    left, right = sb.plots.posterior(policy, ODD).axes
    zero = float(weights[values == 0.0].sum())
    assert 0.0 < zero < 1.0
    (bar,) = right.patches
    assert bar.get_height() == pytest.approx(zero)  # type: ignore[attr-defined]
    assert bar.get_x() + bar.get_width() / 2 == pytest.approx(0.0, abs=1e-12)  # type: ignore[attr-defined]
    heights, edges, _ = left.patches[0].get_data()  # type: ignore[attr-defined]
    inside = (values != 0.0) & (values >= edges[0]) & (values <= edges[-1])
    assert heights.sum() == pytest.approx(weights[inside].sum() / (1.0 - zero))
    assert heights.sum() > 0.98
    assert line(left, "mean")[0][0] == pytest.approx(float(values @ weights))
    assert left.get_title(loc="left") == ODD.replace("$", r"\$")
    assert sb.plots.posterior(policy, 2).axes[0].get_title(loc="left") == left.get_title(loc="left")
    (dense,) = sb.plots.posterior(played(make=sb.LinUCB), "age").axes
    assert dense.get_ylabel() == "probability of a bin"


def test_posterior_of_other_priors() -> None:
    spike = sb.SpikeSlab(0.3, 1.0, spike=sb.LaplaceSpike(0.02))
    policy = sb.SparseIDS(table(), spike, 1.0, seed=0, n_draws=300)
    (axes,) = sb.plots.posterior(policy, "age").axes
    assert axes.get_title(loc="left") == "age; no rewards yet: this is the prior"
    legend = axes.get_legend()
    assert legend is not None
    assert "probability that it matters 0." in legend.get_texts()[-1].get_text()
    known = sb.Table(sb.Hypotheses([[0.0, 2.0], [0.0, 2.0]]), dimension=2, seed=0)
    two = sb.Policy(np.eye(2), known, sb.rules.Thompson(), seed=0)
    (nothing, right) = sb.plots.posterior(two, 0).axes
    assert right.patches[0].get_height() == 1.0  # type: ignore[attr-defined]
    assert not nothing.patches
    assert sb.plots.posterior(two, 1).axes[0].patches[0].get_data()[0].sum() == 1.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", PLOTS)
def test_what_cannot_be_drawn(name: str) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^policy: expected a policy"):
        PLOTS[name](table())
    lasso = sb.rivals.LassoGreedy(np.eye(3))
    lasso.tell(lasso.ask(), 1.0)
    if name == "progress":
        assert isinstance(PLOTS[name](lasso), Figure)
    else:
        with pytest.raises(ArgumentTypeError, match=r"^policy: expected one with a posterior"):
            PLOTS[name](lasso)


def test_what_is_missing_is_said() -> None:
    new = sb.SparseIDS(table(), seed=0, n_draws=100)
    with pytest.raises(ArgumentValueError, match=r"^policy: expected one that has been told rewards, got none so far"):
        sb.plots.progress(new)
    with pytest.raises(ArgumentValueError, match=r"^policy: expected one that has been told rewards, and not the same"):
        sb.plots.candidates(new)
    for draw in (sb.plots.effects, sb.plots.ratio):
        assert draw(new).axes[0].get_title(loc="left") == "no rewards yet: this is the prior"
    clicks = sb.SparseIDS(table(), rewards=sb.Bernoulli(), seed=0, n_draws=100)
    assert sb.plots.candidates(clicks).axes[0].get_title(loc="left") == "no rewards yet: this is the prior"
    with pytest.raises(ArgumentValueError, match=r"^feature: expected one of .*price.*, got 'weight'"):
        sb.plots.posterior(new, "weight")
    with pytest.raises(ArgumentValueError, match=r"^feature: .*got 4"):
        sb.plots.posterior(new, 4)
    with pytest.raises(ArgumentTypeError, match=r"^feature: expected the name of a feature, or its column"):
        sb.plots.posterior(new, 1.5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentValueError, match=r"^most: "):
        sb.plots.inclusion(new, most=0)
    advice = sb.decide(table(), n_draws=100, seed=0)
    with pytest.raises(ArgumentValueError, match=r"got 0 rewards"):
        sb.plots.candidates(advice)


LONG = [f"a very long name that needs several lines, number {j} of the features of the north wing" for j in range(3)]


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.parametrize("columns", [["x"], [*LONG, "$", "_" * 100], [f"column {j}" for j in range(200)]], ids=len)
def test_no_text_leaves_the_figure(name: str, columns: list[str]) -> None:
    rng = np.random.default_rng(0)
    rows = 2 if len(columns) == 1 else 30
    actions = pd.DataFrame(rng.standard_normal((rows, len(columns))), columns=columns)
    actions.index = [f"candidate of the {i}th kind, which has a name of some length" for i in range(rows)]
    policy = sb.LinearIDS(actions, n_draws=100, seed=0)
    for _ in range(12):
        policy.tell(policy.ask(), float(rng.standard_normal()))
    figure = sb.plots.posterior(policy, columns[-1]) if name == "posterior" else PLOTS[name](policy)
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    for axes in figure.axes:
        box = axes.get_tightbbox()
        assert box is not None
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= width + 1
        assert box.y1 <= height + 1
        named = [label.get_window_extent() for label in axes.get_yticklabels() if label.get_text()]
        named.sort(key=lambda one: one.y0)
        assert all(below.y1 <= above.y0 + 1 for below, above in pairwise(named))
        legend, label = axes.get_legend(), axes.xaxis.label.get_window_extent()
        if legend is not None:
            assert legend.get_window_extent().y1 <= label.y0 + 8
