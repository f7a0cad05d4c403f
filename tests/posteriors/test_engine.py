"""What engines tell a person, each against numbers computed otherwise."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentValueError
from sparsebandits.posteriors.diagnostics import effective_draws, split_r_hat
from tests.posteriors.test_particles import history

SPARSE = sb.SpikeSlab(0.25, 0.5)
ENGINES: dict[str, Callable[[], Any]] = {
    "Conjugate": lambda: sb.Conjugate(sb.GaussianPrior(0.3), 6, 2.0, seed=0),
    "Enumeration": lambda: sb.Enumeration(SPARSE, 6, 2.0, seed=0),
    "Gibbs": lambda: sb.Gibbs(SPARSE, 6, 2.0, seed=0),
    "Particles": lambda: sb.Particles(SPARSE, 6, 2.0, seed=0),
    "Langevin": lambda: sb.Langevin(sb.SpikeSlab(0.25, 0.5, spike=sb.LaplaceSpike(0.05)), 6, 2.0, seed=0, chains=4),
}
every_engine = pytest.mark.parametrize("name", ENGINES)


@every_engine
def test_summary(name: str) -> None:
    posterior = ENGINES[name]()
    posterior.update(*history(6, 60, seed=1))
    table = posterior.summary(names=["a", "b", "c", "d", "e", "f"])
    assert tuple(table[0]) == ("feature", "mean", "sd", "2.5%", "97.5%", "P(included)", "P(positive)")
    frame = table.to_pandas().set_index("feature")
    draws = posterior.draws()
    resampled = draws.theta[np.random.default_rng(0).choice(len(draws), 200_000, p=draws.weights)]
    np.testing.assert_allclose(frame["mean"], resampled.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(frame["sd"], resampled.std(axis=0), atol=0.02)
    np.testing.assert_allclose(frame["2.5%"], np.quantile(resampled, 0.025, axis=0), atol=0.05)
    np.testing.assert_allclose(frame["97.5%"], np.quantile(resampled, 0.975, axis=0), atol=0.05)
    np.testing.assert_allclose(frame["P(positive)"], (resampled > 0).mean(axis=0), atol=0.02)
    np.testing.assert_array_equal(frame["P(included)"], posterior.inclusion())
    assert "P(included)" in str(table)
    assert [row["feature"] for row in posterior.summary().to_dicts()] == list("012345")
    with pytest.raises(ValueError, match="names: expected 6 different names, one per feature"):
        posterior.summary(names=["a"])


@every_engine
def test_export(name: str) -> None:
    posterior = ENGINES[name]()
    posterior.update(*history(6, 30, seed=1))
    dataset = posterior.to_xarray(names=list("abcdef"))
    assert dataset["theta"].dims == ("chain", "draw", "feature")
    assert dataset["theta"].shape == (4 if name in ("Gibbs", "Langevin") else 1, *dataset["theta"].shape[1:])
    assert dataset["theta"].size == 60_000
    np.testing.assert_allclose(dataset["theta"].mean(("chain", "draw")), posterior.draws().mean(), atol=0.05)
    assert dataset["theta"].sel(feature="c").shape == dataset["theta"].shape[:2]


@every_engine
def test_columns_of_a_table_are_matched_by_name(name: str) -> None:
    x, y = history(6, 40, seed=1)
    frame = pd.DataFrame(x, columns=list("abcdef"))
    one, other = ENGINES[name](), ENGINES[name]()
    one.update(x[:20], y[:20])
    one.update(x[20:], y[20:])
    other.update(frame[:20], y[:20])
    other.update(frame[20:][list("fedcba")], y[20:])
    np.testing.assert_array_equal(one.mean(), other.mean())
    assert [row["feature"] for row in other.summary().to_dicts()] == list("abcdef")
    with pytest.raises(ValueError, match=r"x: expected the columns .* without .'a'. and with .'z'. in addition"):
        other.update(frame.rename(columns={"a": "z"}), y)
    with pytest.raises(TypeError, match="x: expected numbers in every column, got something else in 'b'"):
        other.update(frame.assign(b="?"), y)
    assert "observations" in repr(other)
    assert "40 observations" in repr(other)


def test_what_is_learnt_is_shown_and_exported() -> None:
    prior = sb.SpikeSlab(sb.BetaInclusion(1.0, 3.0), sb.InverseGammaSlab(2.0, 1.0))
    for make in (sb.Particles, sb.Gibbs):
        posterior = make(prior, 6, sb.InverseGammaNoise(2.0, 3.0), 2000, seed=0)
        posterior.update(*history(6, 60, seed=1))
        rows = {row["hyperparameter"]: row for row in posterior.hyperparameters().to_dicts()}
        assert set(rows) == {"inclusion", "slab_variance", "noise_variance"}
        assert rows["noise_variance"]["mean"] == pytest.approx(posterior.noise_variance)
        dataset = posterior.to_xarray()
        assert dataset["noise_variance"].dims == ("chain", "draw")
        assert float(dataset["noise_variance"].mean()) == pytest.approx(posterior.noise_variance, rel=0.05)
        assert dataset.attrs["effective_sample_size"] == posterior.draws().effective_sample_size


def test_health_in_words() -> None:
    x, y = history(6, 60, seed=1)
    words = {
        "Conjugate": "exact posterior",
        "Enumeration": "exact over models of up to 6 features",
        "Gibbs": "the chains agree",
        "Particles": "they forgot where they were",
        "Langevin": "approximate",
    }
    for name, expected in words.items():
        posterior = ENGINES[name]()
        posterior.update(x, y)
        posterior.draws()
        assert expected in str(posterior.health())
    fresh = sb.Particles(SPARSE, 6, seed=0)
    assert "not moved yet" in str(fresh.health())


def test_effective_draws_of_an_autoregression() -> None:
    """x_t = ρ x_{t−1} + noise is worth (1 − ρ)/(1 + ρ) of its length."""
    rng = np.random.default_rng(0)
    for rho in (0.0, 0.5, 0.9):
        chains = np.empty((4, 20_000, 1))
        chains[:, 0] = rng.standard_normal((4, 1))
        for t in range(1, 20_000):
            chains[:, t] = rho * chains[:, t - 1] + np.sqrt(1 - rho**2) * rng.standard_normal((4, 1))
        found = effective_draws(chains.reshape(-1, 1), 4)[0]
        assert found == pytest.approx(80_000 * (1 - rho) / (1 + rho), rel=0.12)
        assert split_r_hat(chains.reshape(-1, 1), 4)[0] < 1.01
        chains[0] += 3.0  # planted: a chain elsewhere
        assert effective_draws(chains.reshape(-1, 1), 4)[0] < 100
        assert split_r_hat(chains.reshape(-1, 1), 4)[0] > 1.2
    constant = np.ones((100, 2))
    np.testing.assert_array_equal(effective_draws(constant, 4), 100)
    np.testing.assert_array_equal(split_r_hat(constant, 4), 1.0)


def test_inclusions_by_name() -> None:
    frame = pd.DataFrame({"price": [1.0, 2.0, 4.0], "size": [3.0, 1.0, 2.0]})
    policy = sb.LinUCB(frame)
    assert policy.posterior.inclusion("size") == 1.0
    sparse = sb.SparseIDS(frame, n_draws=100, seed=0).posterior
    np.testing.assert_array_equal(sparse.inclusion(["size", "price"]), sparse.inclusion()[::-1])
    assert sparse.inclusion("price") == sparse.inclusion()[0]
    with pytest.raises(ArgumentValueError, match=r"^features: expected names among \['price', 'size'\], got 'weight'$"):
        sparse.inclusion("weight")


def test_a_summary_prints_what_matters_first_and_keeps_the_order_of_the_data() -> None:
    posterior = sb.Enumeration(sb.SpikeSlab(0.2, 1.0), 3, noise_variance=0.1, seed=0)
    posterior.update(np.eye(3)[[0, 1, 2, 2]], [0.1, -0.6, 2.0, 2.1])
    summary = posterior.summary(["a", "b", "c"])
    assert [row["feature"] for row in summary] == ["a", "b", "c"]
    assert [line.split()[0] for line in str(summary).splitlines()] == ["feature", "c", "b", "a"]
    assert summary._repr_html_().index(">c<") < summary._repr_html_().index(">a<")
