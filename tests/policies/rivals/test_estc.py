"""ESTC against its definition: Lasso by slow coordinate descent, length by the formula, draws by the design."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.policies.rivals.estc import exploration_length, theorem_penalty
from sparsebandits.policies.rivals.lasso import cross_validated_penalty, lasso
from sparsebandits.results.statistics import mean_interval
from sparsebandits.theory import exploratory_design
from tests.policies.table import fingerprint, some_actions
from tests.policies.test_textbook import chi_square


def coordinate_descent(x: FloatArray, y: FloatArray, penalty: float) -> FloatArray:
    """Minimise (1/n)‖y − Xθ‖² + λ‖θ‖₁, one coordinate at a time, residuals from scratch."""
    theta = np.zeros(x.shape[1])
    for _ in range(2000):
        for j in range(len(theta)):
            partial = y - x @ theta + x[:, j] * theta[j]
            pull = float(x[:, j] @ partial)
            shrunk = max(abs(pull) - len(y) * penalty / 2, 0.0)
            theta[j] = math.copysign(shrunk, pull) / float(x[:, j] @ x[:, j])
    return theta


def explored(policy: sb.Policy, rounds: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Play with rewards ⟨a, θ⟩ + noise for a sparse θ; return what was seen."""
    rng = np.random.default_rng(seed)
    theta = np.zeros(policy.actions.dimension)
    theta[:2] = (1.0, -0.7)
    decisions = [policy.ask() for _ in range(rounds)]
    rewards = [float(d.features @ theta) + 0.5 * rng.standard_normal() for d in decisions]
    for decision, reward in zip(decisions, rewards, strict=True):
        policy.tell(decision, reward)
    return np.array([d.features for d in decisions]), np.array(rewards)


@pytest.mark.parametrize("penalty", ["theorem", 0.3])
def test_the_estimate_is_the_lasso(penalty: str | float) -> None:
    policy = sb.rivals.ESTC(some_actions(30, 6), noise_variance=0.25, exploration=40, penalty=penalty, seed=0)
    x, y = explored(policy, 40)
    weight = 4 * 0.5 * math.sqrt(math.log(6) / 40) if penalty == "theorem" else 0.3
    expected = coordinate_descent(x, y, weight)
    found = policy.posterior.coefficients
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert 0 < np.count_nonzero(expected) < 6
    assert np.abs(found - coordinate_descent(x, y, weight / 2)).max() > 1e-3, "planted: alpha = λ/4"
    means = policy.actions.features @ expected
    decision = policy.ask()
    assert (decision.action, decision.probability) == (int(means.argmax()), 1.0)
    assert decision.reasons.columns["estimated mean"][0] == pytest.approx(means.max(), abs=1e-5)


def test_cross_validation_takes_the_penalty_that_predicts_best() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((30, 4))
    y = x[:, 0] + 0.5 * rng.standard_normal(30)
    grid = np.abs(x.T @ y).max() / 30 * np.geomspace(1, 1e-3, 100)
    errors = np.zeros(100)
    for fold in np.split(np.arange(30), 5):
        kept = np.setdiff1d(np.arange(30), fold)
        for k, penalty in enumerate(grid):
            # scikit-learn scales λ with the rows of a fold as with all of them
            errors[k] += np.square(y[fold] - x[fold] @ lasso(x[kept], y[kept], penalty, np.zeros(4))).mean()
    rule = sb.rivals.ESTC(some_actions(30, 4), exploration=30, penalty="cross-validation").posterior
    rule.absorb(x, y)
    expected = coordinate_descent(x, y, 2 * float(grid[errors.argmin()]))
    found = rule.coefficients
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert cross_validated_penalty(x, np.zeros(30)) == 0.0


def test_length_and_penalty_of_the_theorem() -> None:
    """Hao, Lattimore and Wang (2020), Theorem 4.2, in the form that it is printed, times the noise."""
    n, d, s, variance, bound, c_min = 5000, 50, 3, 2.0, 1.5, 0.4
    length = n ** (2 / 3) * (s**2 * math.log(2 * d)) ** (1 / 3) * bound ** (-2 / 3) * (2 / c_min**2) ** (1 / 3)
    assert exploration_length(n, d, s, variance, bound, c_min) == math.ceil(length * variance ** (1 / 3))
    assert exploration_length(100, d, s, variance, bound, c_min) == 100, "at most the horizon"
    assert exploration_length(100, d, s, variance, 1e20, c_min) == 1
    assert exploration_length(100, d, s, variance, bound, 0.0) == 100
    assert theorem_penalty(d, variance, 100) == pytest.approx(4 * math.sqrt(2 * math.log(50) / 100))
    actions = sb.environments.GaussianActions(10, 2).sample(0).actions
    policy = sb.rivals.ESTC(actions, 2.0, horizon=1000, sparsity=2)
    longest = np.linalg.norm(actions, axis=1).max()
    expected = exploration_length(1000, 10, 2, 2.0, longest, exploratory_design(actions).c_min)
    assert policy.posterior.exploration == expected
    assert 1 < expected < 1000


def test_what_is_missing_is_said() -> None:
    with pytest.raises(TypeError, match="horizon: expected a whole number, as exploration is not given either, got N"):
        sb.rivals.ESTC(np.eye(3))
    with pytest.raises(TypeError, match="sparsity: expected a whole number, as exploration is not given either, got N"):
        sb.simulate(sb.rivals.ESTC, sb.environments.Instance(np.eye(3), np.ones(3), 1.0), 5)


def test_actions_that_do_not_span_the_space_are_explored_as_if_in_their_span() -> None:
    actions = some_actions(12, 2)
    flat = np.column_stack((actions, np.zeros(12)))
    policy = sb.rivals.ESTC(flat, horizon=1000, sparsity=1)
    longest = np.linalg.norm(actions, axis=1).max()
    expected = exploration_length(1000, 3, 1, 1.0, longest, exploratory_design(actions).c_min)
    assert policy.posterior.exploration == pytest.approx(expected, abs=1)
    assert expected < 1000, "what c_min = 0 would give"


def test_the_largest_features_have_a_bound() -> None:
    policy = sb.rivals.ESTC(np.full((2, 3), 1e50), exploration=3)
    assert policy.ask().probability == 0.5


def test_it_minimises_the_bound() -> None:
    """n₁ balances the regret of exploring, n₁R, and of committing, 2n(s/C)√(2 log(2d) / n₁)."""
    n, d, s, bound, c_min = 10_000, 30, 2, 1.0, 0.8
    lengths = np.arange(1, n)
    total = lengths * bound + 2 * n * s / c_min * np.sqrt(2 * math.log(2 * d) / lengths)
    assert abs(exploration_length(n, d, s, 1.0, bound, c_min) - lengths[total.argmin()]) <= 1


def test_it_explores_as_often_as_it_says() -> None:
    actions = some_actions(12, 4)
    policy = sb.rivals.ESTC(actions, exploration=10**6, seed=0)
    weights = exploratory_design(actions).weights
    decisions = [policy.ask() for _ in range(4000)]
    assert all(d.probability == weights[d.action] and d.probability_draws is None for d in decisions)
    counts = np.bincount([d.action for d in decisions], minlength=12)
    assert chi_square(counts, weights) > 0.001
    assert chi_square(counts, 0.8 * weights + 0.2 / 12) < 0.001, "planted: a fifth of the draws uniform"
    other = some_actions(9, 4, seed=5)
    decision = policy.ask(other)
    assert decision.probability == exploratory_design(other).weights[decision.action]


def test_it_commits_when_enough_rewards_have_come() -> None:
    policy = sb.rivals.ESTC(some_actions(12, 4), exploration=10, seed=0)
    decisions = [policy.ask() for _ in range(15)]
    rng = np.random.default_rng(0)
    for k in rng.permutation(15)[:9]:
        policy.tell(decisions[k], float(k))
    assert policy.posterior.coefficients is None
    assert "rewards until it commits: 1" in str(policy.explain(policy.ask()))
    late = list(policy.pending)
    policy.tell(late[:3], [1.0, 2.0, 3.0])
    estimate = policy.posterior.coefficients
    assert estimate is not None
    before = policy.ask().action
    policy.tell(late[3:], [1e6] * len(late[3:]))
    assert policy.posterior.coefficients is estimate, "what comes later is not learnt from"
    assert policy.ask().action == before


def test_saved_weights_are_used_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine's solver may differ in the last bit, which a continued policy must not notice."""
    policy = sb.rivals.ESTC(some_actions(), exploration=50, seed=0)
    policy.ask()
    policy.save(tmp_path / "policy")
    monkeypatch.setattr("sparsebandits.policies.rivals.estc.exploratory_design", None)
    loaded = sb.load(tmp_path / "policy")
    assert [loaded.ask().action for _ in range(20)] == [policy.ask().action for _ in range(20)]
    assert fingerprint(loaded) == fingerprint(policy)


def test_regret_on_an_easy_instance() -> None:
    """Orthogonal actions, little noise: it explores 150 rounds at 0.9 a round on average and then plays the best.

    Planted: a penalty so large that θ̂ = 0, which leaves it on the first action.
    """
    instance = sb.environments.Instance(np.eye(10), np.eye(10)[7], 0.01)

    def regret(trials: int, **settings: object) -> FloatArray:
        make = sb.maker(sb.rivals.ESTC, sparsity=1, exploration=150, **settings)
        return np.array([sb.simulate(make, instance, 300, seed=seed).regret[-1] for seed in range(trials)])

    low, high = mean_interval(regret(25), 0.999)
    assert low <= 135.0 <= high
    assert high < 145.0
    assert regret(5, penalty=100.0).mean() > 250


def test_in_an_experiment_it_is_told_the_horizon() -> None:
    environment = sb.environments.GaussianActions(dimension=5, sparsity=2, n_actions=20)
    seen: list[tuple[int, int]] = []

    def make(problem: sb.experiments.Problem) -> sb.Policy:
        policy = sb.maker(sb.rivals.ESTC, sparsity=2)(problem)
        other = sb.rivals.ESTC(problem.actions, problem.noise_variance, horizon=60, sparsity=2)
        seen.append((policy.posterior.exploration, other.posterior.exploration))
        return policy

    sb.Experiment(environment, {"ESTC": make, "LinTS": sb.LinTS}, horizon=60, trials=2).run()
    assert len(seen) == 2
    assert all(told == expected for told, expected in seen)
    sb.Experiment(environment, {"ESTC": sb.maker(sb.rivals.ESTC, sparsity=2)}, horizon=20, trials=1).run()


def test_probabilities_of_the_binomial_kind() -> None:
    """Two orthogonal actions of lengths 1 and 2 are explored four to one."""
    policy = sb.rivals.ESTC([[1.0, 0.0], [0.0, 2.0]], exploration=10**6, seed=1)
    first = sum(policy.ask().action == 0 for _ in range(2000))
    assert stats.binomtest(first, 2000, 0.8).pvalue > 1e-5
    assert stats.binomtest(first, 2000, 0.5).pvalue < 1e-5, "planted: a uniform draw"
