"""The figure of bounds over n: which bounds are drawn, and how they are labelled."""

from pathlib import Path

from sparsebandits.results.plots import bound_curves
from sparsebandits.theory import regret_bound, regret_bounds_over


def test_every_bound_with_a_constant_is_drawn(tmp_path: Path) -> None:
    """The same numbers give the same bytes, and lower bounds are labelled as such."""
    over = regret_bounds_over(regret_bound(300, 40, 4, None, 1.0), points=40)
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        bound_curves(over, file, 300, "d = 40, s = 4, R_max = $2")
    drawing = files[0].read_text()
    assert files[1].read_text() == drawing
    for text in (
        "trivial, 2 R_max n",
        "Theorem 1, arbitrary, as printed",
        "Theorem 1, exploratory, as proved, s for s²",
        "LS 2020, Thm 24.3, any policy, from below",
        "terms of Theorem 1, as printed, cross",
        "n = 300",
    ):
        assert f"<!-- {text} -->" in drawing
    for rate in ("APS 2012", "HLW 2020"):
        assert rate not in drawing, "a rate has no height"


def test_without_c_min_and_for_one_round(tmp_path: Path) -> None:
    over = regret_bounds_over(regret_bound(1, 3, 2), points=5)
    bound_curves(over, tmp_path / "a.svg", 1)
    drawing = (tmp_path / "a.svg").read_text()
    assert "Theorem 1, arbitrary, as proved" in drawing
    assert "cross -->" not in drawing
    assert "from below" not in drawing, "sd > n all the way"
