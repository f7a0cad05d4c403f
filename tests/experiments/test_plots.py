"""Figures say what they show: what is read off the panels is compared with the draws."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

import sparsebandits as sb
from sparsebandits.checks import FloatArray
from sparsebandits.experiments import plots


def equal(theta: FloatArray) -> sb.Draws:
    return sb.Draws(theta, np.full(len(theta), 1.0 / len(theta)))


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that would have been written."""
    caught: list[Figure] = []
    monkeypatch.setattr(plots, "_write", lambda figure, path: caught.append(figure))
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
    """All mass on zero, or on a truth elsewhere, still has a bin around it."""
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
        {"smooth": smooth, "sparse": sb.Draws(theta, weights)}, np.array([1.0, 0.0]), "unused", "a title", "a caption"
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
