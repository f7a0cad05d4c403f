"""Figures show the data: what is read off the panels is compared with what was passed in."""

import io
import os
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.results import plots
from sparsebandits.results.plots import bars, posteriors
from sparsebandits.results.plots import curves as curves_module
from sparsebandits.results.plots.style import looks
from sparsebandits.results.statistics import mean_interval


def equal(theta: FloatArray) -> sb.posteriors.Draws:
    return sb.posteriors.Draws(theta, np.full(len(theta), 1.0 / len(theta)))


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that would have been written."""
    caught: list[Figure] = []
    for module in (bars, curves_module, posteriors):
        monkeypatch.setattr(module, "write", lambda figure, path: caught.append(figure))
    return caught


@pytest.mark.parametrize("truth", [0.0, 0.5, -7.0])
def test_a_bin_is_centred_on_zero_and_outliers_do_not_stretch_the_axis(truth: float) -> None:
    rng = np.random.default_rng(0)
    values = np.append(rng.normal(0.3, 1.0, 9999), 1e6)
    edges = plots.zero_centred_bins([(values, np.full(10_000, 1e-4))], truth)
    centres = (edges[1:] + edges[:-1]) / 2
    assert np.abs(centres).min() < 1e-12
    assert edges[0] <= min(truth, -2.5)
    assert max(truth, 3.0) <= edges[-1] < 5.0
    np.testing.assert_allclose(np.diff(edges), edges[1] - edges[0])


def test_bins_of_one_value() -> None:
    """If all mass is at one value, zero or another, there is a bin around it."""
    for value in (0.0, 2.3):
        edges = plots.zero_centred_bins([(np.full(10, value), np.full(10, 0.1))], value)
        assert edges[0] < value < edges[-1]


def test_histograms_show_weights_means_truth_and_point_mass(figures: list[Figure]) -> None:
    rng = np.random.default_rng(1)
    smooth = equal(rng.normal([1.0, 0.0], [0.2, 0.1], (4000, 2)))
    theta = rng.normal([1.0, 0.3], 0.1, (4000, 2))
    theta[1000:, 1] = 0.0
    weights = np.repeat([0.6 / 1000, 0.4 / 3000], [1000, 3000])
    plots.histograms(
        {"smooth": smooth, "sparse": sb.posteriors.Draws(theta, weights)},
        np.array([1.0, 0.0]),
        "unused",
        "a title",
        "a caption",
    )
    (figure,) = figures
    panels = np.array(figure.axes).reshape(2, 2)
    assert figure.get_suptitle() == "a title"
    assert figure.legends[0].get_title().get_text() == "a caption"
    assert [axes.get_title(loc="left") for axes in panels[:, 0]] == ["smooth", "sparse"]
    assert all(axes.get_ylabel() == "probability of a bin" for axes in panels[:, 0])
    assert [axes.get_xlabel() for axes in panels[-1]] == [r"$\theta_{1}$", r"$\theta_{2}$"]
    assert [[text.get_text() for text in axes.texts] for axes in panels.flat] == [
        [], [], [], [r"P($\theta_{2}$ = 0) = 0.4"],
    ]  # fmt: skip
    for axes, mean, true in zip(panels.flat, [*smooth.mean(), *(weights @ theta)], [1.0, 0.0] * 2, strict=True):
        line, dashes = axes.lines
        assert (line.get_label(), dashes.get_label()) == ("posterior mean", "truth")
        assert line.get_xdata()[0] == pytest.approx(mean)
        assert dashes.get_xdata()[0] == true
        assert line.get_linewidth() > dashes.get_linewidth()  # and drawn first: of equal zorder, the later is above
        assert line.get_zorder() == dashes.get_zorder()
        (bars,) = (patch for patch in axes.patches if isinstance(patch, StepPatch))
        assert bars.get_data()[0].sum() == pytest.approx(1.0, abs=0.005)
    assert panels[0, 0].get_ylim() == panels[1, 0].get_ylim()
    assert panels[1, 1].get_ylim()[1] > 0.4 > panels[0, 1].get_ylim()[1]


def test_the_same_draws_give_the_same_bytes(tmp_path: Path) -> None:
    draws = equal(np.random.default_rng(0).standard_normal((100, 1)))
    for suffix in ("png", "svg"):
        files = [tmp_path / f"{name}.{suffix}" for name in "ab"]
        for file in files:
            plots.histograms({"one": draws}, np.zeros(1), file)
        assert files[0].read_bytes() == files[1].read_bytes()


RNG = np.random.default_rng(7)
ODD = 'a <b>&"quoted"</b> $x^2$ name, $ and so long that it has to be broken into several lines to fit anywhere'


def curves(names: list[str], trials: int = 5, rounds: int = 30) -> dict[str, FloatArray]:
    return {name: RNG.exponential(1.0 + i, (trials, rounds)).cumsum(axis=1) for i, name in enumerate(names)}


def final(regret: dict[str, FloatArray], factor: float = 1.0) -> dict[str, FloatArray]:
    return {name: factor * values[:, -1] for name, values in regret.items()}


SMALL = curves(["A", "B", ODD])
FIGURES: dict[str, Callable[[Any], object]] = {
    "curves": lambda path: plots.regret_curves(SMALL, path, "title"),
    "panels": lambda path: plots.regret_panels({d: sb.Result(SMALL, {}) for d in "ab"}, path, "title"),
    "differences": lambda path: plots.difference_curves(SMALL, "B", path),
    "bars": lambda path: plots.horizon_bars({10: final(SMALL, 0.3), 30: final(SMALL)}, path),
    "pulls": lambda path: plots.pull_histograms({n: v.round() for n, v in final(SMALL).items()}, path),
    "sweep": lambda path: plots.sweep(
        {n: {0.1: v, 1.0: 2 * v} for n, v in final(SMALL).items()}, path, "ε", log_x=True
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_data_give_the_same_bytes_whatever_the_users_settings(name: str, tmp_path: Path) -> None:
    memory = io.BytesIO()
    for suffix in ("png", "svg"):
        FIGURES[name](tmp_path / f"a.{suffix}")
        with matplotlib.rc_context({"font.size": 20, "axes.grid": True, "svg.fonttype": "none", "lines.marker": "x"}):
            FIGURES[name](memory if suffix == "svg" else tmp_path / "b.png")
    content = (tmp_path / "a.png").read_bytes()
    assert content == (tmp_path / "b.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert memory.getvalue() == (tmp_path / "a.svg").read_bytes()
    assert memory.getvalue().startswith(b"<?xml")


def test_policies_are_distinguishable_without_colour() -> None:
    """Fails if dashes and markers cycle together, so that the eighth policy looks like the second."""
    look = list(looks(str(i) for i in range(40)).values())
    for one, other in combinations(look, 2):
        assert (one.dashes, one.marker) != (other.dashes, other.marker)
        assert (one.dashes, one.point) != (other.dashes, other.point)
    assert len({(one.colour, one.dashes) for one in look}) == 40


def test_variants_of_a_policy_share_its_colour() -> None:
    """Fails if colours go by position alone: the first variant would look like the policy seven places before it."""
    policies, variants = [*"ABCDEFG"], ["tuned", "randomised", "slow"]
    look = looks([*policies, *(f"{policy}, {variant}" for variant in variants for policy in policies)])
    for policy, variant in product(policies, variants):
        assert look[f"{policy}, {variant}"].colour == look[policy].colour
    assert {look[policy].marker for policy in policies} == {""}
    for variant in variants:
        points = [(look[f"{policy}, {variant}"].marker, look[f"{policy}, {variant}"].point) for policy in policies]
        assert len(set(points)) == 1, "curves and single points of a variant have one marker"
        assert points[0][0] == points[0][1]
    for one, other in combinations(look.values(), 2):
        assert (one.dashes, one.marker) != (other.dashes, other.marker)
        assert (one.dashes, one.point) != (other.dashes, other.point)
    assert looks(["LinUCB, tuned", "LinTS"])["LinUCB, tuned"].marker == "", "a variant of none of these"


def test_curves_show_means_and_bands_at_the_recorded_rounds(figures: list[Figure]) -> None:
    regret, rounds = curves(["A", "B"], rounds=4), np.array([1, 10, 100, 1000])
    plots.regret_curves(regret, "unused", "a $ title", rounds)
    (figure,) = figures
    (axes,) = figure.axes
    drawn = {tuple(np.asarray(line.get_ydata())): np.asarray(line.get_xdata()) for line in axes.lines}
    bands = np.concatenate([band.get_paths()[0].vertices for band in axes.collections])
    for values in regret.values():
        np.testing.assert_array_equal(drawn[tuple(values.mean(axis=0))], rounds)
        assert set(np.ravel(mean_interval(values))) <= set(bands[:, 1].tolist())
    assert axes.get_xlim() == (0, 1000)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == sorted(
        regret, key=lambda name: -regret[name][:, -1].mean()
    )
    assert figure.legends[0].get_title().get_text() == "mean and 95% band, 5 trials"


def test_differences_are_paired_and_fewer_trials_are_said(figures: list[Figure]) -> None:
    regret = curves(["A", "B", "C"])
    regret["C"] = regret["C"][:3]
    plots.difference_curves(regret, "B", "unused")
    (axes,) = figures[0].axes
    drawn = [tuple(np.asarray(line.get_ydata())) for line in axes.lines]
    assert tuple((regret["A"] - regret["B"]).mean(axis=0)) in drawn
    assert tuple((regret["C"] - regret["B"][:3]).mean(axis=0)) in drawn
    texts = {text.get_text() for text in figures[0].legends[0].get_texts()}
    assert texts == {"A", "B (baseline)", "C (3 trials)"}


def test_a_policy_looks_the_same_in_all_panels(figures: list[Figure]) -> None:
    panels = {
        "one": sb.Result(curves(["A", "B"]), {}),
        "two": sb.Result({**curves(["C"]), **curves(["B"], trials=2)}, {}),
    }
    plots.regret_panels(panels, "unused")
    (figure,) = figures
    first, second = figure.axes
    colours = [{np.asarray(line.get_ydata())[-1]: line.get_color() for line in axes.lines} for axes in (first, second)]
    by_panel = [
        colour[panel.regret["B"].mean(axis=0)[-1]] for colour, panel in zip(colours, panels.values(), strict=True)
    ]
    assert by_panel[0] == by_panel[1]
    assert (first.get_title(), second.get_title()) == ("one", "two")
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"A", "B (2 to 5 trials)", "C"}


def test_a_policy_beyond_does_not_set_the_height(figures: list[Figure]) -> None:
    low = np.array([[1.0, 2.0], [2.0, 3.0]])
    panels = {"one": sb.Result({"A": low, "far": 100.0 * low}, {}), "two": sb.Result({"A": low}, {})}
    plots.regret_panels(panels, "unused", beyond=("far",))
    plots.regret_panels(panels, "unused")
    heights = [[axes.get_ylim()[1] for axes in figure.axes] for figure in figures]
    assert heights[0][0] == pytest.approx(1.1 * 2.5)
    assert heights[1][0] > 250.0
    assert heights[0][1] == heights[1][1]
    notes = [[text.get_text() for text in axes.texts] for axes in (*figures[0].axes, *figures[1].axes)]
    assert notes == [["beyond the panel, at the end: far (250)"], [], [], []]


def test_bars_are_means_best_on_top_with_their_intervals(figures: list[Figure]) -> None:
    values = {"A": np.array([5.0, 6.0, 9.0]), "B": np.array([1.0, 2.0, 6.0])}
    plots.horizon_bars({10: values, 20: {name: 2 * value for name, value in values.items()}}, "unused")
    first, second = figures[0].axes
    assert [label.get_text() for label in first.get_yticklabels()] == ["B", "A"]
    assert first.get_ylim()[0] > first.get_ylim()[1]
    assert [bar.get_width() for bar in first.patches] == pytest.approx([3.0, 20 / 3])  # type: ignore[attr-defined]
    assert [bar.get_width() for bar in second.patches] == pytest.approx([6.0, 40 / 3])  # type: ignore[attr-defined]
    (whiskers,) = first.collections
    ends = [np.asarray(path.vertices)[:, 0].tolist() for path in whiskers.get_paths()]
    for drawn, name in zip(ends, ["B", "A"], strict=True):
        assert drawn == pytest.approx([float(end) for end in mean_interval(values[name])])


def test_pull_histograms_count_trials(figures: list[Figure]) -> None:
    plots.pull_histograms({"A": np.array([0.0, 0.0, 3.0, 1.0]), "B": np.array([2.0, 2.0])}, "unused")
    heights = []
    for axes in figures[0].axes:
        (bars,) = (patch for patch in axes.patches if isinstance(patch, StepPatch))
        heights.append(bars.get_data()[0].tolist())
        assert bars.get_data()[1].tolist() == [-0.5, 0.5, 1.5, 2.5, 3.5]
    assert heights == [[0.5, 0.25, 0.0, 0.25], [0.0, 0.0, 1.0, 0.0]]
    assert [axes.get_title(loc="left") for axes in figures[0].axes] == ["A\nmean 1", "B (2 trials)\nmean 2"]
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in figures[0].axes}) == 1, "scales are the same"


@pytest.mark.parametrize("most", [0, 1, 29, 30, 31, 1000])
def test_pull_bins_cover_all_counts_in_few_bars(most: int) -> None:
    edges = bars.pull_bins(most)
    assert edges[0] < 0 <= most < edges[-1]
    assert len(edges) - 1 <= bars.BINS
    assert float(edges[1] - edges[0]).is_integer()


def test_a_sweep_shows_means_over_the_parameter(figures: list[Figure]) -> None:
    values = {"A": {0.1: np.array([1.0, 3.0]), 1.0: np.array([4.0, 6.0])}, "B": {1.0: np.array([7.0])}}
    plots.sweep(values, "unused", "ε")
    (axes,) = figures[0].axes
    drawn = {tuple(np.asarray(line.get_ydata())): np.asarray(line.get_xdata()) for line in axes.lines}
    np.testing.assert_allclose(drawn[2.0, 5.0], [0.1, 1.0], atol=0.1)
    assert (7.0,) in drawn
    assert axes.get_xlabel() == "ε"
    assert axes.get_ylim()[0] == 0


@pytest.mark.parametrize("count", [1, 12])
def test_no_text_leaves_the_figure_or_covers_another(count: int, figures: list[Figure]) -> None:
    """Compares the drawn boxes of names and titles; fails if the legend is inside the axes or names are not wrapped."""
    regret = curves([f"{ODD} {i}" for i in range(count)], trials=1)
    plots.regret_curves(regret, "unused", ODD)
    plots.horizon_bars({5: final(regret), 30: final(regret)}, "unused", ODD)
    plots.pull_histograms({n: v.round() for n, v in final(regret).items()}, "unused", ODD)
    for figure in figures:
        figure.draw_without_rendering()
        texts = [text for legend in figure.legends for text in legend.get_texts()]
        for axes in figure.axes:
            texts += [axes.title, axes._left_title, *axes.get_yticklabels(), axes.xaxis.label]  # type: ignore[attr-defined]
        boxes = [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]
        assert all(box.x0 >= 0 and box.y0 >= 0 for box in boxes)
        assert all(box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1 for box in boxes)
        overlaps = [(a, b) for a, b in combinations(boxes, 2) if a.shrunk(0.9, 0.9).overlaps(b.shrunk(0.9, 0.9))]
        assert not overlaps


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf", "a"])
def test_a_full_disk_leaves_the_old_figure(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / name
    plots.regret_curves({"a": np.ones((2, 3))}, file)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert list(before) == [name if "." in name else f"{name}.png"]

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left on device"):
        plots.regret_curves({"b": np.zeros((2, 3))}, file)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
