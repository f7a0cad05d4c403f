"""The estimator against scikit-learn's own checks, and its numbers against the engines'."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

import sparsebandits as sb
from sparsebandits.checks import FloatArray

ARRAY_API = "check_array_api_input"
"""The one check that scikit-learn skips itself, unless SciPy's experimental support for other arrays is switched on."""

CHECKS = [
    (estimator, check)
    for estimator, check in estimator_checks_generator(sb.SpikeSlabRegressor(n_draws=200))
    if ARRAY_API not in str(check)
]


def name_of(check: object) -> str:
    return str(getattr(getattr(check, "func", check), "__name__", check))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=[name_of(check) for _, check in CHECKS])
def test_scikit_learn_check(estimator: sb.SpikeSlabRegressor, check) -> None:  # type: ignore[no-untyped-def]
    check(clone(estimator))


def test_every_check_is_counted() -> None:
    assert len(CHECKS) >= 40


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
    """Of 2000 new targets, 95% lie within 1.96 predictive deviations; an interval of half the width would not do."""
    x, y = data(2200)
    model = sb.SpikeSlabRegressor(random_state=0).fit(x[:200], y[:200])
    mean, deviation = model.predict(x[200:], return_std=True)
    z = np.abs(y[200:] - mean) / deviation
    assert 0.92 < (z < 1.96).mean() < 0.98
    assert (z < 0.98).mean() < 0.9
