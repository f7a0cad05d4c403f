"""What a notebook shows: HTML that is well formed and escaped, figures, and an example that runs from top to bottom."""

import ast
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import sparsebandits as sb
from sparsebandits.posteriors.diagnostics import Health

ROOT = Path(__file__).parents[1]
ODD = "<script>alert('&')</script>"
TAGS = {"table", "thead", "tbody", "tr", "th", "td", "p", "br"}


class Page(HTMLParser):
    """Reads a page, and refuses tags that are not ours or do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.words = ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert tag in TAGS, tag
        if tag in ("td", "th"):
            self.cells.append("")
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def shown(value: Any) -> Page:
    return Page(value._repr_html_())


def offers() -> pd.DataFrame:
    values = np.random.default_rng(0).standard_normal((5, 3))
    return pd.DataFrame(values, columns=["price", ODD, "size"], index=[ODD, "b", "c", "d", "e"])


@pytest.fixture
def policy() -> sb.Policy:
    made = sb.LinearIDS(offers(), n_draws=100, seed=0)
    for row in range(5):
        made.tell(made.ask(available=[row]), 5.0 - row)
    return made


def test_decisions(policy: sb.Policy) -> None:
    decision = policy.ask(available=[ODD])
    page = shown(decision)
    assert page.cells == ["decision", "action", "probability", "5", ODD, "1"]
    batch = policy.ask(n=2, distinct=True)
    assert isinstance(batch, tuple)
    assert shown(batch).cells[3:5] == ["6", batch[0].label]
    explained = shown(policy.explain(decision))
    assert ODD in explained.cells
    plain = re.sub(r"\s+", " ", str(policy.explain(decision)).split("\n", 1)[0])
    assert plain in re.sub(r"\s+", " ", explained.words)
    assert "largest parts of its expected reward" in explained.words
    assert "effective draws" in explained.words


def test_contexts() -> None:
    users = pd.DataFrame({ODD: ["<i>", "b"], "member": [True, False]})
    policy = sb.LinUCB([{"price": 1.0}, {"price": 2.0}], contexts=users, seed=0)
    page = shown(policy.ask(context=users.iloc[0]))
    assert page.cells[-5:] == ["0", page.cells[-4], page.cells[-3], "<i>", "True"]
    assert ODD in page.cells


def test_estimated_probabilities() -> None:
    decision = sb.LinTS(np.eye(2), probability_draws=50, seed=0).ask()
    assert shown(decision).cells[3] == "estimated from draws"
    assert shown(decision).cells[-1] == "50"


def test_predictions_and_health(policy: sb.Policy) -> None:
    found = policy.predict()
    page = shown(found)
    best = int(np.argmax(found.optimal_probability))
    assert page.cells[:4] == ["action", "mean", "sd", "P(best)"]
    assert page.cells[4] == offers().index[best]
    assert float(page.cells[5]) == pytest.approx(found.mean[best], rel=1e-3)
    assert ODD in page.cells
    assert len(page.cells) == 4 * 6
    many = shown(sb.LinUCB(np.eye(30), seed=0).predict())
    assert len(many.cells) == 4 * 21
    assert "20 of 30 actions" in many.words
    assert shown(policy.health()).words.startswith("good: ")
    assert shown(Health(False, ODD)).words == f"NOT good: {ODD}"


def test_a_policy(policy: sb.Policy) -> None:
    page = shown(policy)
    assert page.cells[:4] == ["LinearIDS", "", "rule", repr(policy.rule)]
    named = dict(zip(page.cells[::2], page.cells[1::2], strict=False))
    assert named["actions"] == "5 actions of 3 features"
    assert named["decisions"] == "5"
    assert named["rewards"] == "5, 0 pending"
    assert ODD in page.cells
    wide = sb.SparseIDS(np.random.default_rng(0).standard_normal((6, 9)), seed=0, n_draws=100)
    assert "the 5 of 9 features that are most likely to matter" in shown(wide).words
    assert shown(sb.rivals.LassoGreedy(np.eye(3))).cells[0] == "LassoGreedy"


def test_advice() -> None:
    advice = sb.decide(offers(), {ODD: 1.0, "b": [2.0, 3.0]}, batch=2, policy="lin-ucb", seed=0)
    page = shown(advice)
    assert ODD in page.cells, "a feature, and perhaps an action"
    assert "5 actions, 3 features, 3 past rewards" in page.words
    assert f"Why {advice.recommendations[0].name}:" in page.words
    first = shown(advice.recommendations[0])
    assert first.cells[6:8] == ["1", advice.recommendations[0].name]
    assert "it is decision 0" in first.words
    single = shown(sb.decide(offers(), policy="lin-ucb", seed=0))
    assert "Next: " in single.words


def test_results() -> None:
    environment = sb.environments.GaussianActions(dimension=3, sparsity=1, n_actions=5)
    result = sb.Experiment(environment, {ODD: sb.LinUCB, "b": sb.LinTS}, horizon=5, trials=2).run()
    page = shown(result)
    assert ODD in page.cells
    assert "2 trials of 5 rounds" in page.words
    for rows in (result.table(), result.compare("b"), result.at([5]), result.wins("b"), result.growth()):
        assert ODD in shown(rows).cells
    figure = result.plot()
    assert isinstance(figure, Figure)
    assert len(figure.axes[0].lines) == 2
    tuned = sb.tune(lambda width: sb.maker(sb.LinUCB, width=width), [0.5, 1.0], environment, horizon=3, trials=2)
    assert "candidate" in shown(tuned).cells
    bounds = sb.theory.regret_bound(dimension=10, sparsity=2, horizon=100, n_actions=20)
    assert "bound" in shown(bounds).cells


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell ends in something that a notebook shows as a picture or a table, and stores no output."""
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "examples" / "notebook.ipynb").read_text())
    assert notebook["nbformat"] == 4
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    names: dict[str, Any] = {}
    figures = 0
    for cell in cells:
        assert cell["outputs"] == []
        body = ast.parse("".join(cell["source"])).body
        last = body.pop()
        assert isinstance(last, ast.Expr)
        exec(compile(ast.Module(body, []), "notebook", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "notebook", "eval"), names)
        if isinstance(value, Figure):
            figures += 1
            assert value._repr_png_()[0].startswith(b"\x89PNG")  # type: ignore[attr-defined]
        else:
            shown(value)
    assert figures >= 6
