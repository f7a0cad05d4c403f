"""Curves of the expected reward, against plain loops over draws."""

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.advice.curves import effect_curve
from sparsebandits.advice.expansion import Expansion, expand
from sparsebandits.arguments import ArgumentError, FloatArray

NAMES = ("dose", "red", "blue", "time")
SOURCES = ("dose", "colour", "colour", "time")


def made(how: str = "interactions") -> tuple[Expansion, FloatArray]:
    rng = np.random.default_rng(0)
    colour = rng.integers(0, 3, 40)
    base = np.column_stack([rng.uniform(0.0, 2.0, 40), colour == 0, colour == 1, rng.uniform(5.0, 9.0, 40)])
    rewards = 3.0 - 4.0 * (base[:, 0] - 1.0) ** 2 + 2.0 * base[:, 1] + rng.normal(0.0, 0.3, 40)
    return expand(base.astype(float), NAMES, None, SOURCES, how), rewards


def taught(expansion: Expansion, told: FloatArray, **settings: object) -> sb.Particles:
    policy = sb.SparseTS(expansion.features, expansion.prior(), n_draws=400, seed=1, **settings)  # type: ignore[arg-type]
    policy.posterior.update(expansion.features, told)
    posterior = policy.posterior
    assert isinstance(posterior, sb.Particles)
    return posterior


@pytest.mark.parametrize("how", ["linear", "interactions", "splines"])
def test_a_curve_is_the_mean_over_draws(how: str) -> None:
    expansion, rewards = made(how)
    posterior, grid = taught(expansion, rewards), [0.0, 0.7, 2.0]
    found = effect_curve(posterior, expansion, "dose", grid)
    draws, level = posterior.draws(), posterior.level
    assert level is not None
    for place, dose in enumerate(grid):
        row = [dose, *expansion.base[:, 1:].mean(axis=0)]
        columns = expansion.rows(np.array([row]))[0]
        expected = 0.0
        for theta, weight in zip(draws.theta, draws.weights, strict=True):
            reward = level.reward
            for j, coefficient in enumerate(theta):
                reward += (columns[j] - level.features[j]) * coefficient
            expected += weight * reward
        assert found.mean[place] == pytest.approx(expected, rel=1e-9)
    assert (found.low < found.mean).all()
    assert (found.mean < found.high).all()
    assert (found.column, found.features, found.grid.shape) == ("dose", ("dose",), (3, 1))


def test_the_band_is_as_wide_as_predictions_say() -> None:
    """Planted: a band without the level's own variance is too narrow where the draws agree."""
    expansion, rewards = made("linear")
    policy = sb.SparseTS(expansion.features, expansion.prior(), n_draws=20_000, seed=1)
    policy.posterior.update(expansion.features[:6], rewards[:6])
    found = effect_curve(policy.posterior, expansion, "time", [expansion.base[:, 3].mean()])
    at_mean = policy.predict(expansion.rows(expansion.base.mean(axis=0)[np.newaxis]))
    assert found.mean[0] == pytest.approx(at_mean.mean[0], rel=1e-9)
    draws, level = policy.posterior.draws(), policy.posterior.level
    values = level.reward + (expansion.features.mean(axis=0) - level.features) @ draws.theta.T
    noise = np.random.default_rng(9).standard_normal(len(values))
    values = values + noise * np.sqrt(policy.posterior.learnt()["noise_variance"] / level.weight)
    order = np.argsort(values)
    ends = [values[order][np.searchsorted(np.cumsum(draws.weights[order]), share)] for share in (0.025, 0.975)]
    # The standard error of an end is about 2% of the width with 20,000 draws of two thirds of their number in effect.
    assert abs(np.array([found.low[0], found.high[0]]) - ends).max() < 0.12 * (ends[1] - ends[0])
    without = np.quantile(values - noise, [0.025, 0.975])
    assert np.diff(without) != pytest.approx(np.diff(ends), rel=0.01)


def test_a_category_has_one_point_per_level() -> None:
    expansion, rewards = made()
    found = effect_curve(taught(expansion, rewards), expansion, "colour")
    assert found.features == ("red", "blue")
    assert sorted(map(tuple, found.grid.tolist())) == [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)]
    red = found.grid.tolist().index([1.0, 0.0])
    assert found.mean.argmax() == red
    alone = effect_curve(taught(expansion, rewards), expansion, "colour", [[1.0, 0.0]])
    assert alone.mean[0] == pytest.approx(found.mean[red], rel=1e-12)


def test_a_number_has_points_from_the_smallest_to_the_largest() -> None:
    expansion, rewards = made()
    found = effect_curve(taught(expansion, rewards), expansion, "dose")
    assert found.grid.shape == (50, 1)
    assert (found.grid.min(), found.grid.max()) == (expansion.base[:, 0].min(), expansion.base[:, 0].max())
    assert abs(found.grid[found.mean.argmax(), 0] - 1.0) < 0.2, "the top of the parabola"


def test_curves_of_clicks_are_probabilities() -> None:
    expansion, rewards = made()
    clicks = (rewards > np.median(rewards)).astype(float)
    posterior = taught(expansion, clicks, rewards=sb.Bernoulli())
    found = effect_curve(posterior, expansion, "dose", [0.5])
    draws, row = posterior.draws(), expansion.base.mean(axis=0)
    row[0] = 0.5
    assert posterior.origin is not None
    assert draws.intercepts is not None
    eta = draws.intercepts + draws.theta @ (expansion.rows(row[np.newaxis])[0] - posterior.origin)
    assert found.mean[0] == pytest.approx(draws.weights @ (1.0 / (1.0 + np.exp(-eta))), rel=1e-9)
    assert 0.0 <= found.low[0] <= found.high[0] <= 1.0


def test_what_does_not_fit_is_refused() -> None:
    expansion, rewards = made()
    posterior = taught(expansion, rewards)
    with pytest.raises(ArgumentError, match="column"):
        effect_curve(posterior, expansion, "red")
    with pytest.raises(ArgumentError, match="posterior"):
        effect_curve(posterior, made("linear")[0], "dose")
    with pytest.raises(ArgumentError, match="grid"):
        effect_curve(posterior, expansion, "colour", [0.0, 1.0])
