"""The log evidence of each reward, and its figure."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import ArgumentValueError
from sparsebandits.environments import Drifting, GaussianActions
from sparsebandits.results.plots.surprise import standardised


def played(rounds: int = 260, **settings: object) -> sb.Policy:
    instance = Drifting(GaussianActions(8, 2, 20, noise_variance=0.2), every=130).sample(3)
    policy = sb.SparseIDS(instance.actions, seed=0, n_draws=300, **settings)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    for t in range(rounds):
        decision = policy.ask()
        policy.tell(decision, float(instance.at(t).means[decision.action] + 0.45 * rng.standard_normal()))
    return policy


def test_evidence_of_each_reward(tmp_path: Path) -> None:
    """Planted: the evidence of a batch is given to each of its rewards; the sum is not that of the posterior."""
    policy = played()
    found = policy.log_evidence
    assert found.shape == (260,)
    assert np.isnan(found[0]), "the first reward sets the level"
    assert np.isfinite(found[1:]).all()
    assert found[1:].sum() == pytest.approx(policy.posterior.log_evidence)
    assert found[131:160].mean() < found[60:130].mean() - 0.5, "the world has changed"
    batch = policy.ask(n=3)
    policy.tell(batch, [0.0, 0.1, 0.2])
    waiting = policy.ask()
    assert np.isnan(policy.log_evidence[waiting.id])
    assert policy.log_evidence[1:-1].sum() == pytest.approx(policy.posterior.log_evidence)
    policy.save(tmp_path / "policy")
    assert np.array_equal(sb.load(tmp_path / "policy").log_evidence, policy.log_evidence, equal_nan=True)


def test_with_forgetting_it_is_that_of_the_next_reward() -> None:
    """Planted: what forgetting itself adds to the evidence counts too; the mean is off by more than one."""
    policy = played(forgetting=sb.Discount(40))
    found = policy.log_evidence[60:130].mean()
    assert found == pytest.approx(played(130).log_evidence[60:].mean(), abs=0.3)


def log_predictive(rates: Any, weights: Any, count: int) -> float:
    """Return the log probability of a count, averaged over draws of its mean."""
    return math.log(float(weights @ stats.poisson.pmf(count, rates)))


@pytest.mark.parametrize("forgetting", [None, sb.Discount(20)], ids=["all", "discounted"])
@pytest.mark.parametrize("make", [sb.SparseIDS, sb.LinearIDS], ids=lambda make: make.__name__)
def test_of_counts_with_an_exposure_it_is_a_log_probability(make: Any, forgetting: sb.Discount | None) -> None:
    """Planted: the constants of exposures are left out; the numbers are off by up to a hundred thousand."""
    policy = make(np.eye(3), rewards=sb.Poisson(), seed=0, n_draws=2000, forgetting=forgetting)
    policy.tell(policy.ask(exposure=10.0), 30)
    for count, exposure in ((2, None), (28, 10.0), (3100, 1000.0), (3_000_300, 1e6)):
        decision, draws = policy.ask(exposure=exposure), policy.posterior.draws()
        centred = decision.features - np.eye(3).mean(axis=0)
        rates = np.exp(draws.theta @ centred + draws.intercepts) * (exposure or 1.0)
        policy.tell(decision, count)
        found = policy.log_evidence[decision.id]
        assert found < 0.0
        if forgetting is None and (exposure or 1.0) < 100.0:
            assert found == pytest.approx(log_predictive(rates, draws.weights, count), abs=0.2)


@pytest.mark.parametrize("forgetting", [None, sb.Discount(30)], ids=["all", "discounted"])
@pytest.mark.parametrize("family", [sb.Bernoulli(), sb.Bernoulli("probit"), sb.Poisson()], ids=str)
def test_linear_policies_of_clicks_and_counts_have_it_too(family: Any, forgetting: sb.Discount | None) -> None:
    """Planted: what forgetting itself adds to the evidence counts too; the sum is off by three and more."""
    policy = sb.LinTS(np.eye(2), rewards=family, seed=0, probability_draws=4000, forgetting=forgetting)
    predicted, rng = [], np.random.default_rng(1)
    for _ in range(40):
        decision, draws = policy.ask(), policy.posterior.draws()
        eta = draws.theta @ (decision.features - 0.5) + draws.intercepts
        reward = float(rng.random() < 0.3)
        mean = family.mean(eta)
        chance = stats.poisson.pmf(reward, mean) if isinstance(family, sb.Poisson) else np.abs(1.0 - reward - mean)
        predicted.append(math.log(float(draws.weights @ chance)))
        policy.tell(decision, reward)
    found = policy.log_evidence
    assert np.isfinite(found).all()
    assert found[10:].sum() == pytest.approx(sum(predicted[10:]), abs=0.6)
    if forgetting is None:
        assert found.sum() == pytest.approx(policy.posterior.log_evidence + policy.posterior.evidence.log_base)
    assert isinstance(sb.plots.drift(policy), Figure)


def test_no_reward_is_more_than_certain() -> None:
    """Planted: the approximation as it is; where features are large, it puts one probability at 1.2."""
    actions = np.random.default_rng(0).standard_normal((4, 2)) * [1e6, 1e-6]
    policy = sb.LinearIDS(actions, rewards=sb.Bernoulli("probit"), seed=0, n_draws=200)
    for number in range(8):
        policy.tell(policy.ask(), number % 2)
    assert (policy.log_evidence <= 0.0).all()


def test_the_figure() -> None:
    policy = played(60)
    figure = sb.plots.drift(policy, window=20)
    assert isinstance(figure, Figure)
    (axes,) = figure.axes
    points, mean = axes.lines
    assert np.asarray(points.get_xdata()).shape == (59,)
    assert float(np.asarray(mean.get_ydata())[0]) == pytest.approx(policy.log_evidence[1:21].mean())
    other = Figure()
    assert sb.plots.drift(policy, ax=other.subplots()) is other
    with pytest.raises(ArgumentValueError, match="Particles"):
        sb.plots.drift(sb.SparseIDS(np.eye(3)))


def clicked(chances: np.ndarray, seed: int) -> sb.Policy:
    """Return a policy on two ads, of which the first has these click probabilities over time, and the second none."""
    policy = sb.SparseIDS(np.eye(2), rewards=sb.Bernoulli(), seed=seed, n_draws=500)
    rng = np.random.default_rng(seed)
    for chance in chances:
        decision = policy.ask(available=[0])
        policy.tell(decision, float(rng.random() < chance))
    return policy


def test_surprise_of_clicks_shows_a_change_and_nothing_else() -> None:
    """Planted: the log evidence itself; it rises when clicks become rare, and looks like an improvement."""
    still, fallen = np.full(400, 0.5), np.repeat([0.5, 0.05], 200)
    lines = []
    for chances in (still, fallen):
        figure = sb.plots.drift(clicked(chances, 4), window=60)
        mean = np.asarray(figure.axes[0].lines[1].get_ydata())
        lines.append(mean)
    band = 2.0 / np.sqrt(60)
    assert np.abs(lines[0]).max() < 2.0 * band
    assert lines[1][205:215].max() < -2.0 * band


def test_surprise_of_clicks_from_their_evidence() -> None:
    policy = clicked(np.full(30, 0.5), 1)
    expected = []
    again = sb.SparseIDS(np.eye(2), rewards=sb.Bernoulli(), seed=1, n_draws=500)
    for reward in policy.told:
        decision = again.ask(available=[0])
        chance = again.predict().mean[0]
        expected.append((reward - chance) / np.sqrt(chance * (1.0 - chance)))
        again.tell(decision, reward)
    np.testing.assert_allclose(standardised(policy.told, policy.log_evidence), expected, rtol=0.01)
    together = standardised(np.array([1.0, 0.0, 1.0]), np.log([0.3, 0.3, 0.2]))
    assert np.isnan(together).tolist() == [True, True, False]
