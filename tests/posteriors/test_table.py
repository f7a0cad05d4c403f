"""The engine of a table of hypotheses against Bayes' rule written out with densities, one row at a time.

The reference multiplies densities of single rewards (``scipy.stats``); with discounts it raises them to powers, and an
intercept is integrated numerically. The smallest bugs that are caught are planted below: a weight that does not count,
a prior that is discounted with the likelihood, half of the quadratic term, and an exact table taken for a sample.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.posteriors.draws import Draws
from sparsebandits.rules import Beliefs
from sparsebandits.rules.linked import beliefs_about
from tests.policies.table import fingerprint, play

M, D, N = 7, 3, 12
RNG = np.random.default_rng(0)
PRIOR = sb.Hypotheses(np.where(RNG.random((M, D)) < 0.6, RNG.standard_normal((M, D)), 0.0), RNG.random(M))
X, WEIGHTS = RNG.standard_normal((N, D)), RNG.uniform(0.3, 3.0, N)
Y = X @ PRIOR.theta[2] + RNG.standard_normal(N)
CLICKS, COUNTS = (Y > 0.0).astype(float), np.floor(np.abs(3.0 * Y))


def density(family: Any, eta: float, y: float, weight: float) -> float:
    """Log density of one reward, or of a click or count to a power."""
    if isinstance(family, sb.Bernoulli):
        rate = 1.0 / (1.0 + np.exp(-eta)) if family.link == "logit" else stats.norm.cdf(eta)
        return weight * float(stats.bernoulli.logpmf(y, rate))
    if isinstance(family, sb.Poisson):
        return weight * float(stats.poisson.logpmf(y, np.exp(eta)))
    return float(stats.norm.logpdf(y, eta, np.sqrt(family.variance / weight)))


def by_hand(
    family: Any, y: FloatArray, weights: FloatArray | None = None, powers: FloatArray | None = None, level: float = 0.0
) -> tuple[FloatArray, float]:
    """Posterior probability of each row, and log p(y)."""
    own = np.ones(len(y)) if weights is None else weights
    power = np.ones(len(y)) if powers is None else powers
    logs = []
    for theta, weight in zip(PRIOR.theta, PRIOR.weights, strict=True):
        log = float(np.log(weight))
        for i in range(len(y)):
            log += power[i] * density(family, level + float(X[i] @ theta), y[i], own[i])
        logs.append(log)
    total = float(logsumexp(logs))
    return np.exp(np.array(logs) - total), total


FAMILIES: dict[str, tuple[Any, FloatArray]] = {
    "Gaussian": (sb.Gaussian(0.7), Y),
    "logit": (sb.Bernoulli(), CLICKS),
    "probit": (sb.Bernoulli("probit"), CLICKS),
    "Poisson": (sb.Poisson(), COUNTS),
}
every_family = pytest.mark.parametrize("name", FAMILIES)


@every_family
def test_weights_and_evidence_are_those_of_bayes_rule(name: str) -> None:
    family, y = FAMILIES[name]
    posterior, total = sb.Table(PRIOR, D, rewards=family), 0.0
    np.testing.assert_allclose(posterior.weights, PRIOR.weights, rtol=1e-14)
    for n in range(N):
        posterior.update(X[n], y[n])
        expected, log_evidence = by_hand(family, y[: n + 1])
        np.testing.assert_allclose(posterior.weights, expected, rtol=1e-11)
        assert posterior.log_evidence == pytest.approx(log_evidence, abs=1e-10)
        assert posterior.gained == pytest.approx(log_evidence - total, abs=1e-10), "the log predictive density"
        total = log_evidence
    np.testing.assert_allclose(posterior.mean(), expected @ PRIOR.theta, rtol=1e-11)
    np.testing.assert_allclose(posterior.inclusion(), [expected[PRIOR.theta[:, j] != 0].sum() for j in range(D)])
    apart = PRIOR.theta - expected @ PRIOR.theta
    covariance = (apart.T * expected) @ apart
    np.testing.assert_allclose(posterior.variances(X), np.einsum("ij,jk,ik->i", X, covariance, X), rtol=1e-10)
    assert posterior.health().good
    assert "exact over a table of 7 hypotheses" in str(posterior.health())


@every_family
def test_order_and_batches_change_nothing(name: str) -> None:
    family, y = FAMILIES[name]
    one, other = sb.Table(PRIOR, rewards=family), sb.Table(PRIOR, rewards=family)
    for i in range(N):
        one.update(X[i], y[i], WEIGHTS[i])
    order = np.random.default_rng(1).permutation(N)
    other.update(X[order[:5]], y[order[:5]], WEIGHTS[order[:5]])
    other.update(X[order[5:]], y[order[5:]], WEIGHTS[order[5:]])
    np.testing.assert_allclose(other.weights, one.weights, rtol=1e-11)
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-10)
    rows = np.random.default_rng(2).permutation(M)  # of the table
    shuffled = sb.Table(sb.Hypotheses(PRIOR.theta[rows], PRIOR.weights[rows]), rewards=family)
    shuffled.update(X, y, WEIGHTS)
    np.testing.assert_allclose(shuffled.weights, one.weights[rows], rtol=1e-11)


def test_weights_of_observations() -> None:
    posterior = sb.Table(PRIOR, noise_variance=0.7)
    posterior.update(X, Y, WEIGHTS)
    expected, log_evidence = by_hand(sb.Gaussian(0.7), Y, WEIGHTS)
    np.testing.assert_allclose(posterior.weights, expected, rtol=1e-11)
    assert posterior.log_evidence == pytest.approx(log_evidence, abs=1e-10)


def test_an_intercept_is_integrated_out() -> None:
    """Under a flat prior of the level, by a sum over a fine grid of levels."""
    family = sb.Gaussian(0.7, intercept=True)
    posterior = sb.Table(PRIOR, rewards=family)
    posterior.update(X[:6], Y[:6] + 5.0)
    posterior.update(X[6:], Y[6:] + 5.0)
    found = [by_hand(sb.Gaussian(0.7), Y + 5.0, level=level) for level in np.linspace(0.0, 10.0, 401)]
    joint = np.array([weights * np.exp(total - found[200][1]) for weights, total in found]).sum(axis=0)
    np.testing.assert_allclose(posterior.weights, joint / joint.sum(), rtol=1e-9)


@every_family
def test_discounted_rewards(name: str) -> None:
    """Powers γ^age of the likelihood and never of the prior; rewards that come late, in any order."""
    family, y = FAMILIES[name]
    rewards = replace(family, forgetting=sb.Discount(4.0))
    expected, log_evidence = by_hand(family, y, powers=2.0 ** (-(N - 1 - np.arange(N)) / 4.0))
    one, other = sb.Table(PRIOR, rewards=rewards), sb.Table(PRIOR, rewards=rewards)
    for i in range(N):
        one.update(X[i], y[i])
    order = np.random.default_rng(3).permutation(N)
    other.update(X[order[:7]], y[order[:7]], time=order[:7].astype(float))
    other.update(X[order[7:]], y[order[7:]], time=order[7:].astype(float))
    for posterior in (one, other):
        np.testing.assert_allclose(posterior.weights, expected, rtol=1e-10)
        assert posterior.log_evidence == pytest.approx(log_evidence, abs=1e-9)


def test_equals_enumeration_where_both_serve_the_prior() -> None:
    """Each coefficient is zero or a known number: a slab of nearly no width around it, or a table of 2^d rows.

    The width of 1e-4 moves log evidences by about 1e-8 n; Enumeration loses as many digits to its far slab.
    """
    size, chance = np.array([0.8, -1.1, 0.5, 1.6]), np.array([0.3, 0.5, 0.2, 0.7])
    rows = np.array(list(product([0.0, 1.0], repeat=4)))
    weights = np.where(rows > 0, chance, 1.0 - chance).prod(axis=1)
    table = sb.Table(sb.Hypotheses(rows * size, weights), noise_variance=0.5)
    exact = sb.Enumeration(sb.SpikeSlab(chance, 1e-8, size), 4, 0.5, seed=0)
    rng = np.random.default_rng(4)
    x = rng.standard_normal((10, 4))
    y = x @ (size * [1.0, 0.0, 0.0, 1.0]) + rng.standard_normal(10)
    for posterior in (table, exact):
        posterior.update(x, y)
    np.testing.assert_allclose(table.inclusion(), exact.inclusion(), rtol=1e-5)
    np.testing.assert_allclose(table.mean(), exact.mean(), rtol=1e-5)
    assert table.log_evidence == pytest.approx(exact.log_evidence, abs=1e-5)


def wrong(change: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]) -> type[sb.Table]:
    """A table whose log likelihoods are computed otherwise, from predictions, rewards and weights."""

    class Wrong(sb.Table):
        def _log_likelihoods(self, x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
            return change(self.prior.theta @ x.T, y, weights) / (2.0 * self.noise_variance)

    return Wrong


class ForgetsItsPrior(sb.Table):
    def forget(self, factor: float) -> None:
        super().forget(factor)
        self._log_prior = factor * self._log_prior


def test_what_is_planted_is_caught() -> None:
    expected, _ = by_hand(sb.Gaussian(0.7), Y, WEIGHTS)
    right = wrong(lambda eta, y, weights: (eta * (2.0 * y - eta)) @ weights)
    unweighted = wrong(lambda eta, y, weights: (eta * (2.0 * y - eta)).sum(axis=1))
    halved = wrong(lambda eta, y, weights: (eta * (2.0 * y - 0.5 * eta)) @ weights)
    for made, caught in ((right, False), (unweighted, True), (halved, True)):
        posterior = made(PRIOR, noise_variance=0.7)
        posterior.update(X, Y, WEIGHTS)
        assert np.allclose(posterior.weights, expected, rtol=1e-10) is not caught
    expected, _ = by_hand(sb.Gaussian(0.7), Y, powers=2.0 ** (-(N - 1 - np.arange(N)) / 4.0))
    for plain, caught in ((sb.Table, False), (ForgetsItsPrior, True)):
        posterior = plain(PRIOR, rewards=sb.Gaussian(0.7, forgetting=sb.Discount(4.0)))
        for i in range(N):
            posterior.update(X[i], Y[i])
        assert np.allclose(posterior.weights, expected, rtol=1e-9) is not caught


# What rules compute from it


def beliefs_by_hand(weights: FloatArray, actions: FloatArray) -> dict[str, FloatArray]:
    """Δ, v, T and P(optimal) of each action by sums over rows, none of which has two best actions."""
    rewards = PRIOR.theta @ actions.T
    best = rewards.argmax(axis=1)
    mean = weights @ rewards
    gain, optimal = np.zeros(len(actions)), np.zeros(len(actions))
    for g in set(best.tolist()):
        inside = best == g
        optimal[g] = weights[inside].sum()
        gain += optimal[g] * (weights[inside] @ rewards[inside] / optimal[g] - mean) ** 2
    total = weights @ (rewards - mean) ** 2
    return {"regret": weights @ rewards.max(axis=1) - mean, "gain": gain, "total": total, "optimal": optimal}


def test_beliefs_are_sums_without_a_correction() -> None:
    posterior = sb.Table(PRIOR, noise_variance=0.7)
    posterior.update(X[:3], Y[:3])
    actions = np.random.default_rng(5).standard_normal((9, D))
    beliefs, expected = Beliefs(posterior, actions), beliefs_by_hand(posterior.weights, actions)
    known = beliefs.information
    np.testing.assert_allclose(known.expected_regret, expected["regret"], atol=1e-14)
    np.testing.assert_allclose(known.gain, expected["gain"], rtol=1e-12)
    np.testing.assert_allclose(known.reward_variance, expected["total"], rtol=1e-12)
    np.testing.assert_allclose(known.optimal_probability, expected["optimal"], rtol=1e-12)
    np.testing.assert_array_equal(known.unbiased_gain, np.minimum(known.gain, known.reward_variance))
    np.testing.assert_array_equal(beliefs.unbiased_mutual_information, beliefs.mutual_information)
    assert known.unbiased_entropy == known.entropy
    assert (known.noise_in_gain, known.draws_wanted) == (0.0, 0)
    information, gain = beliefs.informed(known, 0.05)
    np.testing.assert_allclose(gain, expected["gain"], rtol=1e-12)
    exact = 0.5 * np.log1p((expected["gain"] + 0.05 * expected["total"]) / 0.7)
    np.testing.assert_allclose(information, exact, rtol=1e-12)
    sampled = Beliefs(posterior, actions)  # planted: the same rows and weights, taken for a sample
    sampled.__dict__["draws"] = Draws(PRIOR.theta, posterior.weights)
    assert (sampled.unbiased_variance_gain < 0.9 * expected["gain"]).any()


def test_sparse_rows_are_summed_in_double_precision() -> None:
    """Draws that are mostly zero otherwise go through kernels in single precision."""
    theta = 0.37 * np.eye(60)[:, :40]
    posterior = sb.Table(sb.Hypotheses(theta), noise_variance=1.0)
    posterior.update(np.ones(40), 0.3)
    actions = np.random.default_rng(6).standard_normal((30, 40))
    found = Beliefs(posterior, actions).information.gain
    weights, rewards = posterior.weights, theta @ actions.T
    best = np.where(np.arange(60) < 40, rewards.argmax(axis=1), -1)  # the rows of zeros tie: by the posterior mean
    best[40:] = (weights @ rewards).argmax()
    mean = weights @ rewards
    slow = sum(
        weights[best == g].sum() * (weights[best == g] @ rewards[best == g] / weights[best == g].sum() - mean) ** 2
        for g in set(best.tolist())
    )
    np.testing.assert_allclose(found, slow, rtol=1e-11)


def test_mutual_information_of_clicks_is_a_sum() -> None:
    posterior = sb.Table(PRIOR, rewards=sb.Bernoulli())
    posterior.update(X[:4], CLICKS[:4])
    actions = np.random.default_rng(5).standard_normal((9, D))
    beliefs, weights = beliefs_about(posterior, actions), posterior.weights
    rate, best = 1.0 / (1.0 + np.exp(-PRIOR.theta @ actions.T)), (PRIOR.theta @ actions.T).argmax(axis=1)

    def entropy(p: FloatArray) -> FloatArray:
        return np.asarray(-p * np.log(p) - (1 - p) * np.log(1 - p))

    expected = entropy(weights @ rate)
    for g in set(best.tolist()):
        share = weights[best == g].sum()
        expected -= share * entropy(weights[best == g] @ rate[best == g] / share)
    np.testing.assert_allclose(beliefs.mutual_information, expected, atol=1e-6)  # in single precision
    np.testing.assert_array_equal(beliefs.unbiased_mutual_information, beliefs.mutual_information)


# Policies


@pytest.mark.parametrize("make", [sb.SparseIDS, sb.SparseTS])
@pytest.mark.parametrize("intercept", [True, False])
def test_policies_choose_the_engine_and_continue_bit_for_bit(make: Any, intercept: bool, tmp_path: Path) -> None:
    actions = np.random.default_rng(5).standard_normal((9, D))
    policy = make(actions, prior=PRIOR, noise_variance=0.7, intercept=intercept, seed=1)
    assert type(policy.posterior) is sb.Table
    play(policy, 5)
    policy.ask()
    policy.save(tmp_path / "policy")
    loaded = sb.load(tmp_path / "policy")
    np.testing.assert_array_equal(loaded.posterior.prior.theta, PRIOR.theta)
    np.testing.assert_array_equal(loaded.posterior.prior.weights, PRIOR.weights)
    np.testing.assert_array_equal(loaded.posterior.weights, policy.posterior.weights)
    assert fingerprint(loaded) == fingerprint(policy)
    assert play(loaded, 10, seed=3) == play(policy, 10, seed=3)
    assert fingerprint(loaded) == fingerprint(policy)
    assert np.isfinite(policy.log_evidence[:5]).sum() >= 4  # with an intercept the first reward has none
    assert "P(included)" in str(policy.posterior.summary())
    assert "exact" in str(policy.health())


def test_columns_of_hypotheses_are_matched_to_the_features_by_name(tmp_path: Path) -> None:
    """Planted: columns in their own order would swap price and size."""
    actions = pd.DataFrame(np.eye(2), columns=["price", "size"])
    table = pd.DataFrame({"size": [1.0, 0.0], "price": [0.0, 2.0]})
    prior = sb.Hypotheses(table, [3.0, 1.0])
    policy = sb.SparseIDS(actions, prior=prior, noise_variance=0.1, intercept=False, seed=0)
    assert policy.posterior.prior.theta.tolist() == [[0.0, 1.0], [2.0, 0.0]]
    assert policy.posterior.weights == pytest.approx([0.75, 0.25])
    policy.save(tmp_path / "policy")
    assert sb.load(tmp_path / "policy").posterior.prior.feature_names == ("price", "size")
    with pytest.raises(ArgumentError, match="posterior: expected one of the features"):
        sb.Policy(actions, sb.Table(prior, noise_variance=0.1), sb.rules.Thompson())
    renamed = sb.Hypotheses(table.rename(columns={"price": "cost"}))
    with pytest.raises(ArgumentError, match=r"prior: expected the columns .*without \['price'\]"):
        sb.SparseIDS(actions, prior=renamed, noise_variance=0.1, intercept=False)
    plain = sb.SparseIDS(np.eye(2), prior=prior, noise_variance=0.1, intercept=False, seed=0)
    assert plain.posterior.prior.theta.tolist() == [[1.0, 0.0], [0.0, 2.0]]
    with pytest.raises(ArgumentError, match="feature_names: expected 2 different names"):
        sb.Hypotheses(np.eye(2), feature_names=("a",))


def test_a_summary_prints_tiny_probabilities_as_a_bound() -> None:
    posterior = sb.Table(sb.Hypotheses(np.eye(2)), noise_variance=0.01)
    posterior.update(np.eye(2)[[0, 0]], [1.0, 1.0])
    printed = str(posterior.summary()).splitlines()
    assert 0.0 < posterior.summary()[1]["P(included)"] < 1e-6
    assert printed[2].split()[-2:] == ["<1e-6", "<1e-6"]


def test_thompson_sampling_says_its_exact_probabilities() -> None:
    actions = np.random.default_rng(5).standard_normal((9, D))
    policy = sb.SparseTS(actions, prior=PRIOR, noise_variance=0.7, intercept=False, seed=1)
    play(policy, 3)
    expected = beliefs_by_hand(policy.posterior.weights, actions)["optimal"]
    decisions = [policy.ask() for _ in range(20)]
    np.testing.assert_allclose([d.probability for d in decisions], expected[[d.action for d in decisions]], rtol=1e-12)
    rows = policy.posterior.sample(np.random.default_rng(0), 50)
    assert {row.tobytes() for row in rows} <= {row.tobytes() for row in PRIOR.theta}


def test_clicks_on_a_policy_and_a_batch() -> None:
    policy = sb.SparseIDS(np.eye(D), prior=PRIOR, rewards=sb.Bernoulli(), intercept=False, seed=0)
    policy.tell(policy.ask(n=3, distinct=True), [1, 0, 1])
    assert policy.ask(n=2)[1].id == 4
    assert 0.0 < policy.predict().mean.min() < 1.0


def test_the_truth_is_found_and_hypotheses_without_weight_stay_without() -> None:
    prior = sb.Hypotheses([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], [1.0, 1.0, 0.0])
    policy = sb.SparseIDS(np.eye(2), prior=prior, noise_variance=0.1, intercept=False, seed=0)
    rng = np.random.default_rng(0)
    for _ in range(30):
        decision = policy.ask()
        policy.tell(decision, float(decision.features[1]) + np.sqrt(0.1) * rng.standard_normal())
    assert policy.posterior.weights[1] > 1.0 - 1e-9
    assert policy.posterior.weights[2] == 0.0
    assert policy.ask().action == 1
    policy.posterior.update([1.0, 0.0], -2000.0)  # weights underflow, and choosing goes on
    assert policy.ask().action == 1


def test_what_cannot_be_served_is_refused() -> None:
    actions = np.eye(D)
    for match, given in (
        ("rewards: expected rewards of known noise variance .* got the policy's default", {}),
        ("rewards: expected rewards of known noise variance", {"noise_variance": sb.InverseGammaNoise(2.0, 2.0)}),
        ("rewards: expected clicks or counts without an intercept", {"rewards": sb.Bernoulli()}),
        ("n_draws: expected none for a table", {"noise_variance": 1.0, "n_draws": 100}),
        ("prior: expected a SpikeSlab", {"noise_variance": 1.0, "engine": "gibbs"}),
        ("engine_options: expected what table takes", {"noise_variance": 1.0, "engine_options": {"chains": 2}}),
    ):
        with pytest.raises(ArgumentError, match=match):
            sb.SparseIDS(actions, prior=PRIOR, **given)
    linear: list[Any] = [sb.LinearIDS, sb.LinTS, sb.LinUCB]
    for make in linear:
        with pytest.raises(TypeError, match="prior: expected a GaussianPrior"):
            make(actions, prior=PRIOR)
    with pytest.raises(TypeError, match="prior: expected Hypotheses"):
        sb.SparseIDS(actions, prior=sb.SpikeSlab(0.5, 1.0), noise_variance=1.0, engine="table")
    with pytest.raises(ValueError, match="prior: expected rows of 4 coefficients"):
        sb.SparseIDS(np.eye(4), prior=PRIOR, noise_variance=1.0)
    posterior = sb.Table(PRIOR, noise_variance=1.0)
    for x, y, name in ((np.full(D, 1e9), 1.0, "x"), (np.ones(D), 1e9, "y")):
        with pytest.raises(ValueError, match=f"^{name}: expected .* within 1e.07 noise standard deviations"):
            posterior.update(x, y)
    np.testing.assert_allclose(posterior.weights, PRIOR.weights, rtol=1e-14)


def test_a_damaged_state_is_refused() -> None:
    posterior = sb.Table(PRIOR, noise_variance=1.0)
    posterior.update(X, Y)
    state = posterior.state()
    again = sb.Table(PRIOR, noise_variance=1.0)
    again.restore(state)
    np.testing.assert_array_equal(again.weights, posterior.weights)
    for wrong in (np.zeros(M + 1), np.full(M, np.nan), np.full(M, np.inf)):
        with pytest.raises(sb.SaveFileError, match="log_likelihood"):
            sb.Table(PRIOR, noise_variance=1.0).restore({**state, "log_likelihood": wrong})
