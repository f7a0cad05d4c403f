"""Trials in parallel give the same bytes, and the conclusions from them are correct."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.experiments.progress import shown_progress
from sparsebandits.results.statistics import mean_interval
from tests.experiments.test_simulate import environment, lin_ts, lin_ucb


def experiment(trials: int = 6) -> sb.Experiment:
    policies = {
        "LinTS": lin_ts,
        "LinUCB": lin_ucb,
        "LinearIDS": lambda p: sb.LinearIDS(p.actions, n_draws=200, selection="randomised", seed=p.seed),
    }
    return sb.Experiment(environment, policies, horizon=40, trials=trials, seed=3)


def test_any_number_of_workers_gives_the_same_bytes() -> None:
    reports: list[tuple[int, int]] = []
    alone = experiment().run(progress=lambda done, total: reports.append((done, total)))
    assert reports == [(k, 18) for k in range(1, 19)]
    together = experiment().run(workers=2)
    for name in alone.regret:
        assert alone.regret[name].tobytes() == together.regret[name].tobytes()


def test_more_trials_leave_the_first_ones_as_they_were() -> None:
    few, many = experiment(2).run(), experiment(4).run()
    for name in few.regret:
        assert few.regret[name].tobytes() == many.regret[name][:2].tobytes()


def test_a_trial_is_simulate_on_its_own_seed() -> None:
    result = experiment(2).run()
    seed = np.random.SeedSequence(3, spawn_key=(1,))
    trace = sb.simulate(lin_ts, environment.sample(np.random.SeedSequence(3, spawn_key=(1, 0))), 40, seed)
    np.testing.assert_array_equal(result.regret["LinTS"][1], trace.regret)


def fake(final: dict[str, list[float]]) -> sb.Result:
    return sb.Result(
        {name: np.outer(values, [0.5, 1.0]) for name, values in final.items()},
        {name: np.full(len(values), 0.001) for name, values in final.items()},
    )


def test_table_and_comparison() -> None:
    result = fake({"A": [1.0, 2.0, 3.0, 6.0], "B": [2.0, 4.0, 5.0, 5.0]})
    assert fake({"A": [1.0, 2.0], "B": [1.0, 3.0]}).compare("B")[0]["wins"] == 1, "a tie is no win"
    rows = result.table().to_dicts()
    assert [row["policy"] for row in rows] == ["A", "B"]
    assert rows[0]["final regret"] == 3.0
    assert rows[0]["95% from"] < 3.0 < rows[0]["to"]
    (row,) = result.compare("B").to_dicts()
    assert (row["policy"], row["baseline"]) == ("A", "B")
    assert row["difference"] == -1.0
    assert row["ratio"] == 0.75
    assert (row["wins"], row["trials"]) == (3, 4)
    assert str(result.compare("B")).splitlines()[0].split()[:2] == ["against", "B"]
    assert str(result.compare("B")).endswith("3 of 4")
    assert "A" in str(result.table())
    assert list(result.table().to_pandas().columns) == list(rows[0])
    with pytest.raises(ValueError, match="baseline: expected one of A, B, got 'C'"):
        result.compare("C")
    with pytest.raises(ValueError, match="name: expected one of A, B, got 'C'"):
        result.final("C")


def test_intervals_cover_the_mean_as_often_as_they_say() -> None:
    """Of 300 intervals for skewed data, between 90% and 98% cover; an interval of half the width would not."""
    rng = np.random.default_rng(0)
    covered = narrow = 0
    for _ in range(300):
        values = rng.gamma(2.0, size=60)
        low, high = mean_interval(values)
        covered += bool(low <= 2.0 <= high)
        quarter = (high - low) / 4
        narrow += bool(low + quarter <= 2.0 <= high - quarter)
    assert 0.90 <= covered / 300 <= 0.98
    assert narrow / 300 < 0.90
    assert stats.binomtest(covered, 300, 0.95).pvalue > 1e-5


def test_intervals_of_little_data() -> None:
    assert np.isnan(mean_interval(np.array([3.0]))).all()
    np.testing.assert_array_equal(mean_interval(np.array([3.0, 3.0])), (3.0, 3.0))
    low, high = mean_interval(np.array([1.0, 2.0]))
    assert 1.0 <= low <= high <= 2.0
    np.testing.assert_allclose(mean_interval(np.array([5.0, 5.0, 5.0, 5.0 + 1e-15])), 5.0)
    columns = np.array([[1.0, 5.0, 2.0], [2.0, 5.0, 4.0], [4.0, 5.0, 8.0]])
    together = mean_interval(columns)
    for j in range(3):
        np.testing.assert_array_equal([end[j] for end in together], mean_interval(columns[:, j]))
    assert "–" in str(fake({"A": [1.0]}).table())


@pytest.mark.parametrize("name", ["regret.png", "regret.svg", "deep/er/regret.pdf"])
def test_plots(name: str, tmp_path: Path) -> None:
    content = []
    for _ in range(2):
        fake({"A": [1.0, 2.0], "B": [2.0, 4.0]}).plot(tmp_path / name, "title")
        content.append((tmp_path / name).read_bytes())
    assert len(content[0]) > 1000
    assert content[0] == content[1], "the same curves give the same bytes"


def test_a_failing_policy_is_named() -> None:
    class Odd(Exception):  # noqa: N818
        def __init__(self, one: int, two: int) -> None:
            super().__init__("odd")

    def broken(problem: sb.experiments.Problem) -> sb.Policy:
        raise Odd(1, 2)

    for workers in (1, 2):
        with pytest.raises(RuntimeError, match=r"policy 'bad' failed in trial \d of seed 0: .*odd"):
            sb.Experiment(environment, {"bad": broken}, 5, 2).run(workers=workers)


def test_plain_progress_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress("trials") as report:
        for done in range(1, 31):
            report(done, 30)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[-1].startswith("trials: 30 of 30,")


def test_invalid_experiments_are_refused() -> None:
    nothing: Any = ({}, [sb.LinTS])
    for policies in nothing:
        with pytest.raises(ValueError, match="policies: expected at least one"):
            sb.Experiment(environment, policies, 10, 10)
    with pytest.raises(TypeError, match=r"policies\['a'\]: expected a policy class or a function"):
        sb.Experiment(environment, {"a": 3}, 10, 10)  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="environment: expected one with sample"):
        sb.Experiment(3, {"a": sb.LinTS}, 10, 10)  # type: ignore[arg-type]


def test_a_policy_class_is_its_own_maker() -> None:
    by_class, by_maker = (
        sb.Experiment(environment, {"a": make}, 20, 2).run().regret["a"] for make in (sb.LinTS, sb.maker(sb.LinTS))
    )
    assert by_class.tobytes() == by_maker.tobytes()


def test_what_is_printed_is_short() -> None:
    environment = sb.environments.GaussianActions(5, 2, n_actions=10)
    result = sb.Experiment(environment, {"a": sb.LinTS, "b": sb.LinUCB}, horizon=6, trials=3).run()
    assert repr(result) == "Result(a, b; 3 trials of 6 rounds)"
    assert str(result) == str(result.table())
    instance = environment.sample(0)
    assert repr(instance) == "Instance(10 actions of 5 features of which 2 matter, noise variance 2)"
    trace = sb.simulate(sb.LinTS, instance, 6, record=True)
    assert repr(trace).startswith("Trace(6 rounds, regret ")
    assert repr(trace).endswith("; recorded: sampled value, posterior mean)")
