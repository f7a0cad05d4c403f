"""The estimators against scikit-learn's own checks, and their numbers against the engines'."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import estimator_checks_generator

import sparsebandits as sb
from sparsebandits.arguments import FloatArray

ARRAY_API = "check_array_api_input"
"""The one check that scikit-learn skips itself, unless SciPy's experimental support for other arrays is switched on."""

CHECKS = [
    (estimator, check)
    for one in (sb.SpikeSlabRegressor(n_draws=200), sb.SpikeSlabClassifier(n_draws=200))
    for estimator, check in estimator_checks_generator(one)
    if ARRAY_API not in str(check)
]


def name_of(check: object) -> str:
    return str(getattr(getattr(check, "func", check), "__name__", check))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=[f"{type(one).__name__} {name_of(check)}" for one, check in CHECKS]
)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(clone(estimator))


def test_every_check_is_counted() -> None:
    assert len(CHECKS) >= 90


def data(n: int = 150) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, 8)) * np.logspace(-2, 2, 8) + 5.0
    return x, 7.0 + 300.0 * x[:, 0] - 0.05 * x[:, 7] + 2.0 * rng.standard_normal(n)


@pytest.mark.parametrize("engine", ["particles", "gibbs"])
@pytest.mark.parametrize("spike", [sb.PointMass(), sb.LaplaceSpike(0.02), sb.GaussianSpike(0.001)])
def test_finds_what_matters_in_any_unit(engine: str, spike: sb.PointMass) -> None:
    x, y = data()
    model = sb.SpikeSlabRegressor(spike=spike, engine=engine, random_state=0).fit(x, y)
    assert (model.inclusion_ > 0.5).nonzero()[0].tolist() == [0, 7]
    least_squares = np.linalg.lstsq(np.c_[x, np.ones(len(x))], y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_[[0, 7]], least_squares[[0, 7]], rtol=0.1)
    mean, deviation = model.predict(x, return_std=True)
    np.testing.assert_allclose(mean, model.predict(x))
    assert deviation.mean() == pytest.approx(2.0, rel=0.15)
    assert model.score(x, y) > 0.8


def test_partial_fits_are_one_fit_on_the_same_scale() -> None:
    x, y = data(400)
    model = sb.SpikeSlabRegressor(n_draws=4000, random_state=0).partial_fit(x[:200], y[:200])
    model.partial_fit(x[200:], y[200:])
    whole = sb.SpikeSlabRegressor(n_draws=4000, random_state=0).fit(x, y)
    np.testing.assert_allclose(model.predict(x), whole.predict(x), atol=0.3)
    with pytest.raises(ValueError, match="engine: expected one of 'particles', 'gibbs'"):
        sb.SpikeSlabRegressor(engine="nuts").fit(x, y)


def test_intervals_cover_new_targets() -> None:
    """Of 2000 new targets, 95% lie within 1.96 predictive deviations; an interval of half the width would fail."""
    x, y = data(2200)
    model = sb.SpikeSlabRegressor(random_state=0).fit(x[:200], y[:200])
    mean, deviation = model.predict(x[200:], return_std=True)
    z = np.abs(y[200:] - mean) / deviation
    assert 0.92 < (z < 1.96).mean() < 0.98
    assert (z < 0.98).mean() < 0.9


@pytest.mark.parametrize("engine", ["particles", "gibbs"])
def test_summary_is_in_the_units_of_the_data(engine: str) -> None:
    x, y = data()
    names = [f"feature {j}" for j in range(8)]
    model = sb.SpikeSlabRegressor(engine=engine, random_state=0).fit(pd.DataFrame(x, columns=names), y)
    table = model.summary().to_pandas().set_index("feature")
    assert list(table.columns) == ["mean", "sd", "2.5%", "97.5%", "P(included)", "P(positive)"]
    np.testing.assert_allclose(table["mean"][names], model.coef_)
    np.testing.assert_allclose(table["P(included)"][names], model.inclusion_)
    # The predictions of two rows that differ in one feature only differ by its coefficient.
    one = pd.DataFrame(np.zeros((8, 8)) + np.eye(8), columns=names)
    zero = pd.DataFrame(np.zeros((8, 8)), columns=names)
    np.testing.assert_allclose(table["mean"][names], model.predict(one) - model.predict(zero), atol=1e-9)
    # If a feature certainly matters, its posterior is close to least squares and its standard error.
    design = np.c_[x, np.ones(len(x))]
    covariance = 4.0 * np.linalg.inv(design.T @ design)
    for j, sign in ((0, 1.0), (7, 0.0)):
        row = table.loc[names[j]]
        assert row["sd"] == pytest.approx(np.sqrt(covariance[j, j]), rel=0.2)
        assert row["97.5%"] - row["2.5%"] == pytest.approx(2 * 1.96 * row["sd"], rel=0.1)
        assert row["2.5%"] < row["mean"] < row["97.5%"]
        assert row["P(positive)"] == pytest.approx(sign, abs=0.01)


def test_summary_begins_with_what_matters() -> None:
    x, y = data()
    summary = sb.SpikeSlabRegressor(random_state=0).fit(x, y).summary()
    order = [(row["P(included)"], abs(row["mean"])) for row in summary.to_dicts()]
    assert order == sorted(order, reverse=True)
    names = [row["feature"] for row in summary]
    assert set(names[:2]) == {"0", "7"}  # numbers, where there are no names
    assert names != sorted(names)


@pytest.mark.parametrize("engine", ["particles", "gibbs"])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e9 / 3])
def test_a_constant_column_has_no_coefficient(engine: str, value: float) -> None:
    """The mean of equal numbers is rounded, so a constant column may differ from its mean: 0.1 is an example."""
    x, y = data()
    with_constant = np.insert(x, 3, value, axis=1)
    model = sb.SpikeSlabRegressor(engine=engine, random_state=0).fit(with_constant, y)
    assert (model.coef_[3], model.inclusion_[3]) == (0.0, 0.0)
    assert str(next(list(row.values())[1:] for row in model.summary() if row["feature"] == "3")) == str(
        [0.0] * 6
    )  # nor −0
    without = sb.SpikeSlabRegressor(sb.BetaInclusion(1.0, 9.0), engine=engine, random_state=0).fit(x, y)
    np.testing.assert_allclose(np.delete(model.inclusion_, 3), without.inclusion_, atol=0.1)
    mean, deviation = model.predict(with_constant, return_std=True)
    np.testing.assert_allclose(mean, without.predict(x), atol=0.5)
    elsewhere = with_constant.copy()
    elsewhere[:, 3] += 100.0  # it carries no information, whatever its value
    np.testing.assert_allclose(model.predict(elsewhere, return_std=True), (mean, deviation))


def test_a_column_that_begins_to_vary_is_learnt() -> None:
    rng = np.random.default_rng(0)
    x, noise = rng.standard_normal((200, 2)), 0.1 * rng.standard_normal(200)
    x[:100, 1] = 0.3
    y = x @ [1.0, 2.0] + noise
    model = sb.SpikeSlabRegressor(random_state=0).partial_fit(x[:100], y[:100])
    assert (model.coef_[1], model.inclusion_[1]) == (0.0, 0.0)
    model.partial_fit(x[100:], y[100:])
    assert model.coef_ == pytest.approx([1.0, 2.0], abs=0.1)
    assert model.inclusion_[1] > 0.99


def test_a_constant_target_is_predicted() -> None:
    model = sb.SpikeSlabRegressor(random_state=0).fit(data()[0], np.full(150, 0.1))
    np.testing.assert_allclose(model.predict(data()[0]), 0.1, atol=0.05)
    assert (model.inclusion_ < 0.5).all()


def test_health_is_the_engines() -> None:
    x, y = data()
    for engine, words in (("particles", "500 particles"), ("gibbs", "4 chains, 500 draws")):
        model = sb.SpikeSlabRegressor(engine=engine, n_draws=500, random_state=0)
        with pytest.raises(NotFittedError):
            model.health()
        with pytest.raises(NotFittedError):
            model.summary()
        assert model.fit(x, y).health() == str(model.posterior_.health())
        assert words in model.health()


def test_truth_values_are_0_and_1() -> None:
    x = np.random.default_rng(0).standard_normal((40, 3))
    first = sb.SpikeSlabRegressor(n_draws=50, random_state=0).fit(x, x[:, 0] > 0)
    second = sb.SpikeSlabRegressor(n_draws=50, random_state=0).fit(x, (x[:, 0] > 0).astype(float))
    np.testing.assert_array_equal(first.coef_, second.coef_)
