"""Sections on growth, start and one large problem: their arithmetic and their pages, on figures made by hand."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks import large, scaling, start, workers
from benchmarks.rounds import rounds
from benchmarks.scaling_plot import plot
from benchmarks.section import Figures, circumstances

import sparsebandits as sb

SIZES = [10, 100, 1000]


@pytest.mark.parametrize("power", [-0.5, 0.0, 0.7, 1.0, 2.0])
def test_the_exponent_of_a_power_law_is_its_power(power: float) -> None:
    sizes = np.array([20, 50, 100, 200, 500])
    assert scaling.exponent(sizes, 3.0 * sizes**power) == pytest.approx(power)


def series(name: str, unit: str, power: float) -> Figures:
    ms = [[factor * size**power for size in SIZES] for factor in (1.0, 2.0, 3.0)]
    slopes = [power] * 3
    return {
        "name": name,
        "unit": unit,
        "rounds": 200,
        "sizes": SIZES,
        "ms": ms,
        "exponents": slopes,
        "largest": slopes,
    }


def long_run(growth: float, leak: float) -> Figures:
    stretches = 10
    level = [5.0, *np.linspace(1.0, growth, stretches - 1).tolist()]
    memory = [50.0, *np.linspace(100.0, 100.0 + leak, stretches - 1).tolist()]
    return {"ends": [2000 * (i + 1) for i in range(10)], "mean": level, "median": level, "megabytes": memory}


def scaling_figures(power: float, growth: float, leak: float) -> Figures:
    units = ("features d", "features d", "actions K", "draws")
    every = [series(s.name, unit, power) for s, unit in zip(scaling.SERIES, units, strict=True)]
    long = [long_run(growth, leak)]
    return {
        "circumstances": circumstances(),
        "series": every,
        "long": long,
        "targets": scaling.goals(every, long),
    }


def test_goals_on_growth_are_met_and_missed() -> None:
    good, bad = scaling_figures(0.9, 1.05, 2.0), scaling_figures(1.2, 1.5, 9.0)
    assert [t["met"] for t in good["targets"]] == [True] * 5
    assert [t["met"] for t in bad["targets"]] == [False] * 5


def test_the_page_on_growth_and_its_plot(tmp_path: Path) -> None:
    figures = scaling_figures(1.0, 1.0, 0.0)
    page = scaling.page(figures)
    assert "d, 5 matter: 20.0 at 10, 200 at 100, 2000 at 1000 ms" in page
    plot(figures, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").stat().st_size > 10_000


def test_the_page_on_workers() -> None:
    found: Figures = {"horizon": 500, "counts": [1, 8], "seconds": [2.0, 16.0], "one": [40.0], "two": [20.0]}
    found |= {"start": [1.5], "one_apart": [40.0], "two_apart": [25.0], "circumstances": circumstances()}
    page = workers.page({**found, "targets": workers.goals(found)})
    assert "2.0 with 1, 2.0 with 8" in page
    assert [t["met"] for t in workers.goals(found)] == [True, False]


def test_the_page_on_start() -> None:
    def runs(seconds: float, lines: int) -> list[Figures]:
        return [{"seconds": seconds, "lines": lines, "kernels": 5}]

    starts = {"1": {"warm": runs(1.5, 0), "cold": runs(25.0, 1)}, "20": {"warm": runs(2.5, 0), "cold": runs(30.0, 1)}}
    targets = start.goals([0.1], starts)
    assert [t["met"] for t in targets] == [True, False, False, False, True, True]
    starts["1"]["warm"][0]["lines"], starts["1"]["cold"][0]["lines"] = 1, 0
    assert [t["met"] for t in start.goals([0.6], starts)] == [False, False, False, False, False, False]
    figures = {"bare": [0.02], "import_wall": [0.1], "import_cpu": [0.05], "imported": [], "needed": ["numpy"]}
    page = start.page({"circumstances": circumstances(), **figures, "starts": starts, "targets": targets})
    assert "brings no other package" in page
    assert "first 20 decisions" in page


def test_a_process_reports_what_it_imports() -> None:
    assert start.process(start.BEFORE + start.IMPORT + start.LOADED)[1].splitlines()[1] == ""
    said = start.process(start.BEFORE + start.IMPORT + "import numpy\n" + start.LOADED)[1]
    assert "numpy" in said.splitlines()[1].split()


def test_the_page_on_the_large_problem() -> None:
    stretch = {"first": 1, "last": 250, "ask": 100.0, "tell": 20.0, "moves": 30, "regret": 150.0}
    spent = {"wall": 100.0, "cpu": 99.0, "megabytes": 1000.0, "mean_ms": 45.0, "median_ms": 41.0}
    worth = {"seed": 0, "draws": 1000, "regret": 150.0, "told": [50.0, 70.0], "random": 6000.0}
    problem = {"title": "A large problem", "games": [{**spent, **worth, "stretches": [stretch]}]}
    page = large.page({"circumstances": circumstances(), "problems": [problem], "targets": []})
    assert "decisions of 45 ms (median 41 ms), peak 1000 MB" in page
    assert page.splitlines()[-6].split() == ["0", "150", "60", "50", "to", "70", "6000", "2.5"]


def test_the_restricted_problem_is_the_same_problem() -> None:
    instance = sb.environments.GaussianActions(dimension=12, sparsity=3, n_actions=20).sample(0)
    small = large.restricted(instance)
    assert small.actions.shape == (20, 3)
    np.testing.assert_allclose(small.means, instance.means)


def test_rounds_give_the_regret_that_simulate_gives() -> None:
    """The loop is written twice, here with a clock for the processor: without noise both must agree."""
    instance = sb.environments.GaussianActions(dimension=6, sparsity=2, n_actions=10, noise_variance=1e-12).sample(0)
    played = list(rounds(sb.LinUCB(instance.actions), instance, 15, noise_seed=0))
    trace = sb.simulate(lambda problem: sb.LinUCB(problem.actions), instance, 15)
    np.testing.assert_allclose(np.cumsum([r.regret for r in played]), trace.regret)
    assert all(r.ask > 0 and r.tell > 0 for r in played)
