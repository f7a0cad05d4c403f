"""Search on real data: the pools, the protocol, and a page and a notebook that agree with the results on file."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studies.real_data import pools, record, runs, search, selection, tables

import sparsebandits as sb
from sparsebandits.results.statistics import mean_interval

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "real_data.md"
NOTEBOOK = ROOT / "studies" / "real_data" / "diabetes.ipynb"


@pytest.fixture(scope="module")
def diabetes() -> pools.Pool:
    return pools.diabetes()


@pytest.fixture(scope="module")
def small() -> pools.Pool:
    """Return forty wines and their twelve measurements: quick to search."""
    wine = pools.wine()
    return pools.Pool("wine", "wines", "proline", wine.features[:40, :12], wine.feature_names[:12], wine.reward[:40])


def test_the_diabetes_features_are_those_of_the_paper(diabetes: pools.Pool) -> None:
    """Ten columns, nine squares, 45 products. Bug that it would catch: products of raw columns."""
    kinds = [sum(mark in name for name in diabetes.feature_names) for mark in ("^", ":")]
    assert diabetes.features.shape == (442, 64)
    assert kinds == [9, 45]
    assert "sex^2" not in diabetes.feature_names
    column = dict(zip(diabetes.feature_names, diabetes.features.T, strict=True))
    product = column["bmi"] * column["bp"]
    assert np.allclose(column["bmi:bp"], (product - product.mean()) / product.std())
    for values in (diabetes.features, diabetes.reward):
        assert np.allclose(values.mean(axis=0), 0.0)
        assert np.allclose(values.std(axis=0), 1.0)


def test_no_tie_decides_which_rows_are_the_top(diabetes: pools.Pool) -> None:
    for pool in (diabetes, pools.wine()):
        ranked = np.sort(pool.reward)[::-1]
        assert ranked[pools.TOP - 1] > ranked[pools.TOP]
        assert set(pool.reward[pool.top]) == set(ranked[: pools.TOP])


def test_main_effects_enter_as_in_r(diabetes: pools.Pool) -> None:
    """The R package lars, by the authors of the paper, prints this order for these data."""
    order = selection.entry_order(diabetes.features[:, :10], diabetes.reward)
    names = [tables.paper_name(diabetes.feature_names[j]) for j in order]
    assert names == ["bmi", "ltg", "map", "hdl", "sex", "glu", "tc", "tch", "ldl", "age"]


def test_cp_on_orthogonal_features_is_soft_thresholding() -> None:
    """There, k steps shrink correlations by the (k + 1)-st. Bug that it would catch: a penalty of k, not 2k."""
    rng = np.random.default_rng(0)
    features = np.linalg.qr(rng.standard_normal((60, 8)))[0]
    for _ in range(10):
        reward = features @ (3.0 * rng.standard_normal(8) * (np.arange(8) < 3)) + rng.standard_normal(60)
        correlations = features.T @ reward
        thresholds = [*np.sort(np.abs(correlations))[::-1], 0.0]
        noise = (reward @ reward - correlations @ correlations) / (60 - 9)
        risks = []
        for step, threshold in enumerate(thresholds):
            kept = np.sign(correlations) * np.maximum(np.abs(correlations) - threshold, 0.0)
            risks.append(np.sum((reward - features @ kept) ** 2) / noise + 2 * step)
        chosen = np.argsort(-np.abs(correlations))[: int(np.argmin(risks))]
        assert selection.least_angle_by_cp(features, reward) == chosen.tolist()


def test_a_search_learns_from_the_rows_that_it_measured(small: pools.Pool) -> None:
    """Bug that it would catch: taking ``decision.action`` for a row of the pool, not of the rows offered."""
    policy = sb.LinUCB(small.features)
    first = search.first_rows(small, 3)
    order = search.searched(policy, small, first)
    assert order[: search.FIRST].tolist() == first.tolist()
    assert len(set(order.tolist())) == len(order), "no row is measured twice"
    assert set(small.top) <= set(order)
    assert order[-1] in small.top, "a search ends with the last of the top"
    features = small.features[order] - small.features[order].mean(axis=0)  # the policy has an intercept
    ridge = np.linalg.solve(features.T @ features + 12 * np.eye(12), features.T @ small.reward[order])
    assert np.allclose(policy.posterior.mean(), ridge)


def test_a_list_is_measured_in_its_order(small: pools.Pool) -> None:
    ranking = np.argsort(-small.reward)
    order = search.listed(ranking, small, np.array([5, 6, 7]))
    rest = [row for row in ranking.tolist() if row not in (5, 6, 7)]
    assert order.tolist() == [5, 6, 7, *rest[: len(order) - 3]]
    assert order[-1] in small.top


def test_what_is_measured_of_a_search(small: pools.Pool) -> None:
    best, second, *_, worst = np.argsort(-small.reward).tolist()
    order = np.array([worst, second, best, *(row for row in small.top.tolist() if row not in (best, second))])
    assert search.found_at(order, small).tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert search.best_rows(order, small) == [(1, worst), (2, second), (3, best)]
    one = {"found": search.found_at(order, small).tolist(), "best": search.best_rows(order, small)}
    assert record.rounds_to([one], 5).tolist() == [6]
    assert record.found_curves([one, one], np.array([1, 2, 20])).tolist() == [[0, 1, 10]] * 2
    regret = [record.simple_regret([one], small, rounds)[0] for rounds in (1, 2, 3)]
    assert np.allclose(regret, [small.reward[best] - small.reward[row] for row in (worst, second, best)])


def test_a_run_goes_on_where_it_stopped(small: pools.Pool, tmp_path: Path) -> None:
    """The short form of ``python -m studies.real_data``: a second seed later gives the same as two at once."""

    def orders(results: dict[str, Any]) -> dict[str, Any]:
        return {name: [one["found"] for one in searches] for name, searches in results["searches"].items()}

    runs.run(small, 1, tmp_path, n_draws=200)
    grown = runs.run(small, 2, tmp_path, n_draws=200)
    at_once = runs.run(small, 2, tmp_path / "other", n_draws=200)
    assert orders(grown) == orders(at_once)
    assert all(len(searches) == 2 for searches in grown["searches"].values())
    assert record.load("wine", tmp_path, 200) == json.loads(json.dumps(grown))
    assert "| sparse IDS |" in tables.search_table(grown, small)
    assert len(tables.inclusion_table(grown, small, 0.0).splitlines()) == 2 + 12, "one row per feature"
    with pytest.raises(ValueError, match=r"wine\.json: expected results of .*'n_draws': 300.* got"):
        runs.run(small, 2, tmp_path, n_draws=300)


def said() -> dict[str, str]:
    found = re.findall(r"<!-- (.+?) -->\n\n(.+?)\n\n<!-- end -->", PAGE.read_text(), re.DOTALL)
    return dict(found)


def test_the_page_has_what_the_results_on_file_say() -> None:
    assert said() == tables.sections()


def test_the_results_on_file_are_of_full_size() -> None:
    for name in pools.POOLS:
        searches = record.load(name)["searches"]
        assert set(searches) == set(search.searchers(pools.POOLS[name](), 100))
        assert {len(each) for each in searches.values()} == {runs.SEEDS}


def test_the_words_of_the_page_hold(diabetes: pools.Pool) -> None:
    found = record.load("diabetes")["selection"]
    likely = {j for j, probability in enumerate(found["inclusion"]) if probability > 0.5}
    names = {tables.paper_name(diabetes.feature_names[j]) for j in likely}
    assert names == {"bmi", "ltg", "map", "sex", "hdl", "age:sex", "bmi:map"}
    kept = set(found["Lasso by cross-validation"])
    assert likely < kept
    assert len(kept) == len(found["least angle by Cp"]) == 15
    assert max(found["inclusion"][j] for j in kept - likely) < 0.3
    assert len(selection.least_angle_by_cp(diabetes.features[:, :10], diabetes.reward)) == 7
    ranking = search.Hindsight.of(diabetes).ranking
    assert (1 + np.flatnonzero(np.isin(ranking, diabetes.top)))[-2:].tolist() == [94, 121]
    for name in pools.POOLS:
        searches = record.load(name)["searches"]
        ours = record.rounds_to(searches["sparse IDS"], pools.TOP)
        for rival in ("LinTS", "LinUCB", "LinTS, told", "random"):
            assert mean_interval(record.rounds_to(searches[rival], pools.TOP) - ours)[0] > 0, (name, rival)


def notebook_cells() -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text())["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_the_notebook_runs_in_its_short_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))
    names: dict[str, Any] = {}
    source = "\n".join("".join(cell["source"]) for cell in notebook_cells())
    assert "SHORT = False" in source
    exec(compile(source.replace("SHORT = False", "SHORT = True"), str(NOTEBOOK), "exec"), names)
    assert len(names["features"]) - len(names["left"]) == 15, "a measured patient is not offered again"
    assert names["decision"].label not in names["left"].index
    assert len(names["chosen"]["inclusion"]) == 64


def test_the_notebook_carries_its_outputs() -> None:
    text = NOTEBOOK.read_text()
    assert len(text) < 1e6
    assert "/tmp/" not in text
    counts = [cell["execution_count"] for cell in notebook_cells()]
    assert counts == list(range(1, len(counts) + 1)), "cells were run from top to bottom"
    kinds = {kind for cell in notebook_cells() for output in cell["outputs"] for kind in output.get("data", {})}
    assert "image/png" in kinds
    assert not any(output["output_type"] == "error" for cell in notebook_cells() for output in cell["outputs"])
