"""The advice as a page: complete, self-contained, escaped, and in the units of the table."""

import base64
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sparsebandits as sb
from sparsebandits.advice.curves_figure import columns_that_matter, effect_curves

QUICK: dict[str, Any] = {"n_draws": 500, "seed": 3}
CHROMIUM = shutil.which("chromium")


def table(rows: int = 30) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(rows, 2)), columns=["dose", "<script>alert(1)</script>"])
    frame["kind"] = rng.choice(["red & blue", 'gr"een'], rows)
    reward = 5.0 + 3.0 * frame["dose"] ** 2 + rng.normal(0.0, 0.1, rows)
    frame.index = pd.Index([f"r<{i}>" for i in range(rows)])
    return frame.assign(reward=np.where(np.arange(rows) < 24, reward, np.nan))


class Reader(HTMLParser):
    """Keeps tags that are open, and complains about others that are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.tags.add(tag)
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def advice() -> sb.Advice:
    return sb.decide(table(), effects="auto", batch=2, **QUICK)


def test_the_page_is_whole_and_fetches_nothing(advice: sb.Advice, tmp_path: Path) -> None:
    page = advice.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    assert "script" not in reader.tags
    assert re.findall(r'(?:src|href)="(?!data:)', page) == []
    assert page == advice.to_html(), "reading changes nothing"
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert len(pictures) == 5
    assert all(base64.b64decode(one).startswith(b"<svg") for one in pictures)
    for words in ("Next: r&lt;", "looks best", "Which features matter", "So far", "What was assumed", "P(best)"):
        assert words in page
    assert str(advice.candidates[0]["action"]).replace("<", "&lt;").replace(">", "&gt;") in page


def test_the_page_names_the_column_of_the_result(tmp_path: Path) -> None:
    frame = table().rename(columns={"reward": "Härte <HV>"})
    page = sb.decide(frame, reward_columns="Härte <HV>", **QUICK).to_html()
    assert "24 past rewards (Härte &lt;HV&gt;); wanted are large rewards" in page
    rewards = pd.DataFrame({"offer": ["r<1>", "r<2>"], "hardness": [1.0, 2.0]})
    assert "2 past rewards (hardness)" in sb.decide(table().drop(columns="reward"), rewards, **QUICK).to_html()


def test_a_page_before_the_first_reward() -> None:
    page = sb.decide(table().drop(columns="reward"), **QUICK).to_html()
    assert "no past rewards" in page
    assert "So far" in page


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_browser_shows_it_without_complaints(advice: sb.Advice, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    advice.to_html(page)
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    more = (
        "--disable-component-update --disable-sync --enable-logging=stderr --v=0 --virtual-time-budget=2000 --dump-dom"
    )
    command = [str(CHROMIUM), *flags.split(), *more.split(), f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "What to try next" in done.stdout
    assert "CONSOLE" not in done.stderr


def test_squares_are_found_and_their_curve_is_drawn(advice: sb.Advice) -> None:
    assert advice.about["effects"] in ("quadratic", "splines", "interactions")
    assert any("times as likely as with linear ones" in note for note in advice.notes)
    assert columns_that_matter(advice)[0] == "dose"
    figure = effect_curves(advice)
    line = figure.axes[0].lines[0]
    x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    middle = y[np.abs(x).argmin()]
    assert y[0] > middle + 1.0
    assert y[-1] > middle + 1.0
    assert figure.axes[0].get_xlabel() == "dose"


def test_small_rewards_are_drawn_as_they_are() -> None:
    found = sb.decide(table(), minimize=True, **QUICK)
    curve = np.asarray(effect_curves(found).axes[0].lines[0].get_ydata(), float)
    assert curve.mean() > 0.0
    lines = {str(line.get_label()): line for line in sb.plots.progress(found).axes[0].lines}
    best = np.asarray(lines["best so far"].get_ydata(), float)
    assert best[-1] == table()["reward"].min()
    assert (np.diff(best) <= 0).all()


def test_candidates_of_an_advice_are_those_of_its_table(advice: sb.Advice) -> None:
    axes = sb.plots.candidates(advice, most=5).axes[0]
    assert len(axes.get_yticklabels()) == 5
    marked = next(line for line in axes.lines if line.get_label() == "next")
    means = sorted(one.expected_reward or 0.0 for one in advice.recommendations)
    np.testing.assert_allclose(sorted(np.asarray(marked.get_xdata(), float)), means)
