"""What an observer measures: exact where it can be, and without a trace in what the policy plays."""

from pathlib import Path

import numpy as np
import pytest
from numpy.random import SeedSequence

import sparsebandits as sb
from sparsebandits.experiments.simulate import PolicyMaker
from sparsebandits.experiments.watching import own_distribution
from sparsebandits.randomness import INSTANCE_STREAM, child
from sparsebandits.rules.information import information
from sparsebandits.rules.mutual_information import mutual_information
from sparsebandits.rules.ratio import minimise_over_distributions
from sparsebandits.theory.information_path import CHOICES
from tests.statistical import assert_means_agree
from tests.theory.atoms import FinitePrior

WORLD = sb.environments.GaussianActions(dimension=4, sparsity=2, n_actions=7, noise_variance=0.5)
PRIOR = sb.SpikeSlab(inclusion=0.5, slab_variance=0.5)
ESTC = sb.maker(sb.rivals.ESTC, sparsity=2)
FINITE = FinitePrior(dimension=3, sparsity=2, n_actions=6, n_atoms=25, noise_variance=0.2, seed=0)


def thompson(problem: sb.experiments.Problem) -> sb.Policy:
    return sb.Policy(problem.actions, FINITE.observer(problem), sb.rules.Thompson(), problem.seed)


@pytest.mark.parametrize(
    "make_policy",
    [
        sb.maker(sb.SparseIDS, prior=PRIOR, n_draws=200, selection="randomised"),
        sb.maker(sb.SparseTS, prior=PRIOR, n_draws=200, engine="enumeration"),
        sb.LinTS,
        sb.LinUCB,
        ESTC,
    ],
)
def test_being_watched_changes_nothing(make_policy: PolicyMaker) -> None:
    plain = sb.Experiment(WORLD, {"policy": make_policy}, 15, 2, seed=3).run()
    path = sb.experiments.information_path(make_policy, WORLD, 15, PRIOR, every=4, trials=2, n_draws=100, seed=3)
    np.testing.assert_array_equal(path.cumulative_regret, plain.regret["policy"])
    assert path.measured.tolist() == [1, 5, 9, 13, 15]
    assert np.isfinite(path.ratio("Thompson sampling")).all()


def test_columns_are_what_the_definitions_say() -> None:
    """One round under a prior of finitely many θ, computed here from the prior itself. Caught: any column swapped."""
    path = sb.experiments.information_path(FINITE.ids(), FINITE, 1, FINITE.observer, every=1)
    draws = sb.posteriors.Draws(FINITE.theta, np.full(25, 1 / 25))
    known, nats = information(draws, FINITE.actions), mutual_information(draws, FINITE.actions, 0.2)
    for name, exponent in (("least Ψ₂", 2), ("least Ψ₃", 3)):
        least = minimise_over_distributions(known.expected_regret, nats, exponent)
        assert path.ratio(name, exponent)[0, 0] == pytest.approx(least.ratio)
    pi = known.optimal_probability
    assert path.regret["Thompson sampling"][0, 0] == pytest.approx(pi @ known.expected_regret)
    assert path.gain["Thompson sampling"][0, 0] == pytest.approx(pi @ nats)
    assert path.variance["Thompson sampling"][0, 0] == pytest.approx(pi @ known.gain)
    assert path.ratio("own choice")[0, 0] == pytest.approx(path.ratio("least Ψ₂")[0, 0])
    by_variance = path.ratio("Thompson sampling", 2, gain="variance")[0, 0]
    assert by_variance == pytest.approx((pi @ known.expected_regret) ** 2 / (pi @ known.gain))
    assert path.entropy[0, 0] == pytest.approx(known.entropy)
    assert path.largest_mean[0, 0] == pytest.approx(np.abs(FINITE.theta @ FINITE.actions.T).max())
    assert path.longest[0, 0] == pytest.approx(np.linalg.norm(FINITE.actions[known.support], axis=1).max())
    for gain in ("mutual-information", "variance"):
        second, third = path.bounds(gain)
        assert (path.ratio("Thompson sampling", 2, gain) <= second).all()
        assert (path.ratio("mixture", 3, gain) <= third).all()
    assert set(path.gain) == set(CHOICES)


def test_information_adds_up_round_by_round() -> None:
    """Against a posterior of our own. Caught: a total that lags a round, and 1.15 times what was gained."""
    path = sb.experiments.information_path(FINITE.ids(), FINITE, 8, FINITE.observer, every=1, seed=5)
    below = SeedSequence(5, spawn_key=(0,))
    trace = sb.simulate(FINITE.ids(), FINITE.sample(child(below, INSTANCE_STREAM)), 8, below)
    log_weights, total, totals = np.zeros(25), 0.0, []
    for action, reward in zip(trace.actions, trace.rewards, strict=True):
        weights = np.exp(log_weights - log_weights.max())
        draws = sb.posteriors.Draws(FINITE.theta, weights / weights.sum())
        total += float(mutual_information(draws, FINITE.actions, 0.2)[action])
        totals.append(total)
        log_weights -= (reward - FINITE.theta @ FINITE.actions[action]) ** 2 / 0.4
    np.testing.assert_allclose(path.information[0], totals, rtol=1e-8)


def test_thompson_sampling_is_its_own_distribution() -> None:
    """What TS plays has the probabilities that are measured for it. Caught: those of the action played alone."""
    path = sb.experiments.information_path(thompson, FINITE, 6, FINITE.observer, every=1)
    np.testing.assert_allclose(path.gain["own choice"], path.gain["Thompson sampling"])
    np.testing.assert_allclose(path.regret["own choice"], path.regret["Thompson sampling"])


def test_thompson_sampling_on_a_posterior_in_closed_form() -> None:
    """LinTS picks no standing draw, so its distribution is estimated. Caught: the factor on its variance forgotten."""
    actions = WORLD.sample(0).actions
    policy = sb.LinTS(actions, noise_variance=0.5, inflation=4.0, seed=0)
    for reward in (0.5, -0.3, 1.0, 0.8):
        policy.tell(policy.ask(), reward)
    rng = np.random.default_rng(1)
    found = own_distribution(policy, policy.ask(), actions, rng)
    assert found is not None
    covariance = 4.0 * np.linalg.inv(policy.posterior.precision())
    theta = rng.multivariate_normal(policy.posterior.mean(), covariance, 90_000)
    expected = np.bincount((theta @ actions.T).argmax(axis=1), minlength=len(actions)) / len(theta)
    error = np.sqrt(expected * (1 - expected) * (1 / 10_000 + 1 / len(theta))) + 1e-4
    assert_means_agree(found, expected, error)


def test_what_a_policy_does_not_say_is_not_made_up() -> None:
    path = sb.experiments.information_path(ESTC, WORLD, 8, PRIOR, every=1, n_draws=100)
    assert np.isnan(path.ratio("own choice")).any()


def test_actions_that_do_not_span_have_no_mixture(tmp_path: Path) -> None:
    instance = sb.environments.Instance(np.eye(3)[:2], np.array([1.0, 0.0, 0.0]), 1.0)
    path = sb.experiments.information_path(sb.LinUCB, instance, 4, every=2, n_draws=100, sparsity=1)
    assert np.isnan(path.ratio("mixture", 3)).all()
    assert np.isinf(path.bounds()[1]).all()
    sb.plots.information_path(path, tmp_path / "path.png", "two of three")
    assert (tmp_path / "path.png").stat().st_size > 10_000


def test_watched_policies_in_a_directory(tmp_path: Path) -> None:
    ids = sb.experiments.watched(sb.maker(sb.SparseIDS, prior=PRIOR, n_draws=100), every=5, n_draws=100)
    experiment = sb.Experiment(WORLD, {"IDS": ids}, 10, 2, record=True)
    result = experiment.run(tmp_path / "out")
    assert np.isfinite(result.recorded["IDS"]["total I(x*; reward)"]).all()
    assert np.isfinite(result.recorded["IDS"]["mixture: information I"][:, [0, 5, 9]]).all()
    assert experiment.run(tmp_path / "out").recorded["IDS"].keys() == result.recorded["IDS"].keys()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"observer": "exact"}, "observer: expected a SpikeSlab, a GaussianPrior, or a function"),
        ({"make_policy": ESTC, "observer": None}, "observer: expected a prior, since ESTC has none"),
        ({"every": 0}, "every: expected a whole number of at least 1"),
        ({"n_draws": 1}, "n_draws: expected a whole number of at least 2"),
        ({"horizon": 0}, "horizon: expected a whole number"),
        ({"trials": 0}, "trials: expected a whole number"),
        ({"sparsity": 0}, "sparsity: expected a whole number"),
        ({"make_policy": 3}, "make_policy: expected a policy class"),
        ({"world": sb.environments.Hypercube(3, 1)}, "world: expected instances with one θ"),
        ({"world": 3}, "environment: expected one with sample"),
        ({"world": sb.environments.LogisticActions(3, 1)}, "world: expected Gaussian rewards, got Bernoulli"),
        ({"world": sb.environments.Drifting(WORLD)}, "world: expected instances with one θ"),
    ],
)
def test_bad_input(arguments: dict[str, object], message: str) -> None:
    given = {"make_policy": sb.LinTS, "world": WORLD, "horizon": 3, "observer": PRIOR} | arguments
    with pytest.raises((TypeError, ValueError), match=message):
        sb.experiments.information_path(**given)  # type: ignore[arg-type]


def test_bad_choices() -> None:
    path = sb.experiments.information_path(sb.LinTS, WORLD, 2, PRIOR, n_draws=50)
    with pytest.raises(ValueError, match="choice: expected one of 'own choice'"):
        path.ratio("best")
    with pytest.raises(ValueError, match="gain: expected one of"):
        path.bounds("nats")
