"""Each policy against a slow version written from its definition, decision by decision."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.randomness import COIN_STREAM, stream
from tests.policies.table import some_actions
from tests.rules.test_information import brute_force, by_quadrature

NOISE, PRIOR = 0.5, 0.3


both = pytest.mark.parametrize("intercept", [False, True], ids=["no intercept", "intercept"])


class Textbook:
    """Ridge regression from all data, by inversion, every time; of centred data if there is an intercept."""

    def __init__(self, dimension: int, intercept: bool = False) -> None:
        self.x: list[FloatArray] = []
        self.y: list[float] = []
        self.dimension = dimension
        self.intercept = intercept

    def level(self, actions: FloatArray) -> tuple[FloatArray, float]:
        """Return mean features and mean reward; before the first reward, the mean of the actions and zero."""
        if not self.intercept:
            return np.zeros(self.dimension), 0.0
        return (np.mean(self.x, axis=0), float(np.mean(self.y))) if self.y else (actions.mean(axis=0), 0.0)

    def data(self) -> tuple[FloatArray, FloatArray]:
        x, y = np.array(self.x).reshape(-1, self.dimension), np.array(self.y)
        return (x - x.mean(axis=0), y - y.mean()) if self.intercept and self.y else (x, y)

    def posterior(self) -> tuple[FloatArray, FloatArray]:
        x, y = self.data()
        covariance: FloatArray = np.asarray(
            np.linalg.inv(np.eye(self.dimension) / PRIOR + x.T @ x / NOISE), dtype=np.float64
        )
        return covariance @ (x.T @ y) / NOISE, covariance

    def observe(self, policy: sb.Policy, decision: sb.Decision, reward: float) -> None:
        self.x.append(decision.features)
        self.y.append(reward)
        policy.tell(decision, reward)


def rewards(seed: int, rounds: int) -> list[float]:
    return [float(y) for y in np.random.default_rng(seed).standard_normal(rounds)]


@both
def test_lin_ts(intercept: bool) -> None:
    actions = some_actions(12, 4)
    policy = sb.LinTS(actions, sb.GaussianPrior(PRIOR), NOISE, seed=3, intercept=intercept)
    rng = stream(3, COIN_STREAM)
    textbook = Textbook(4, intercept)
    for reward in rewards(0, 200):
        mean, covariance = textbook.posterior()
        # Any square root of the covariance gives a right sampler; the rotation between the policy's and Cholesky's
        # has to be orthogonal, and then the same normals lead to the same draw.
        cholesky: FloatArray = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
        root: FloatArray = policy.posterior._root
        rotation = np.linalg.solve(cholesky, root)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(4), atol=1e-9)
        theta = mean + cholesky @ rotation @ rng.standard_normal(4)
        decision = policy.ask()
        assert decision.action == max(range(12), key=lambda a: float(actions[a] @ theta))
        textbook.observe(policy, decision, reward)


def test_lin_ts_inflated() -> None:
    """A variance of 2.5 times the posterior's changes both what is played and the probability that is logged."""
    actions = some_actions(12, 4)
    policy = settled(sb.LinTS(actions, sb.GaussianPrior(PRIOR), NOISE, inflation=2.5, probability_draws=5000, seed=0))
    posterior = policy.posterior
    wide = posterior.sample(np.random.default_rng(1), 400_000)
    wide = posterior.mean() + np.sqrt(2.5) * (wide - posterior.mean())
    probability = np.bincount((wide @ actions.T).argmax(axis=1), minlength=12) / len(wide)
    decisions = [policy.ask() for _ in range(ASKED)]
    assert chi_square(np.bincount([d.action for d in decisions], minlength=12), probability) > 0.001
    for decision in decisions[:100]:
        p = probability[decision.action]
        assert abs(decision.probability - p) < 5 * np.sqrt(p * (1 - p) / 2500) + 1 / 2500


def test_a_probability_is_never_zero() -> None:
    policy = sb.LinTS(some_actions(200, 4), probability_draws=10, seed=0)
    decisions = [policy.ask() for _ in range(200)]
    assert min(d.probability for d in decisions) >= 1 / 11
    assert min(d.probability for d in decisions) < 0.15, "some were in none of the ten draws"


@both
def test_lin_ucb_with_sets_that_change_and_a_prior_of_its_own_for_each_coordinate(intercept: bool) -> None:
    variance = np.array([0.1, 0.5, 1.0, 2.0])
    given = 1.5 if intercept else sb.rules.ConfidenceRadius(delta=0.1, norm_bound=0.5)
    policy = sb.LinUCB(some_actions(6, 4), sb.GaussianPrior(variance), NOISE, given, intercept=intercept)
    textbook = Textbook(4, intercept)
    for t, reward in enumerate(rewards(5, 40)):
        actions = some_actions(6, 4, seed=t // 3)  # three rounds with one set, then another of the same shape
        x, y = textbook.data()
        centre, level = textbook.level(actions)
        precision: FloatArray = np.diag(1 / variance) + x.T @ x / NOISE
        mean = np.linalg.solve(precision, x.T @ y / NOISE)
        log_det = np.linalg.slogdet(precision)[1] + np.log(variance).sum()
        width = 1.5 if intercept else np.sqrt(2 * np.log(10) + log_det) + 0.5 / np.sqrt(variance.min())
        rows = actions - centre
        bounds = level + rows @ mean + width * np.sqrt(np.diag(rows @ np.linalg.inv(precision) @ rows.T))
        decision = policy.ask(actions)
        assert decision.action == int(bounds.argmax())
        assert decision.reasons.columns["upper bound"][0] == pytest.approx(bounds.max(), abs=1e-9)
        textbook.observe(policy, decision, reward)


@both
def test_lin_ucb_keeps_its_digits_when_variances_collapse(intercept: bool) -> None:
    """With an intercept, action 0 is n₁/n of θ₀ − θ₁ away from the mean of n = n₀ + n₁ rewards, and action 1 n₀/n."""
    policy = sb.LinUCB(np.eye(2), sb.GaussianPrior(1.0), 1e-12, intercept=intercept)
    counts = np.zeros(2)
    for _ in range(20):
        decision = policy.ask()
        bonus = dict(zip(decision.reasons.candidates.tolist(), decision.reasons.columns["bonus"], strict=True))
        total = counts.sum()
        for j in range(2):
            expected = 2.0 / np.sqrt(1 + counts[j] / 1e-12)
            if intercept:
                share = counts[1 - j] / total if total else 0.5
                expected = 2.0 * share / np.sqrt(0.5 + counts.prod() / max(total, 1.0) / 1e-12)
            assert bonus[j] == pytest.approx(expected, rel=1e-6)
        policy.tell(decision, 1.0)
        counts[decision.action] += 1


@both
def test_linear_ids_with_mutual_information(intercept: bool) -> None:
    """The level of rewards, which has variance σ²/n given θ, is noise as well."""
    actions = some_actions(5, 3)
    policy = sb.LinearIDS(
        actions, sb.GaussianPrior(PRIOR), NOISE, n_draws=40, gain="mutual-information", seed=2, intercept=intercept
    )
    textbook = Textbook(3, intercept)
    for n, reward in enumerate(rewards(2, 6)):
        draws = policy.posterior.draws()
        rows = actions - textbook.level(actions)[0]
        regret, _, _, _ = brute_force(draws, rows)
        gain = by_quadrature(draws, rows, NOISE * (1 + 1 / n) if intercept and n else NOISE)
        decision = policy.ask()
        expected = [r**2 / g if g > 1e-12 else np.inf for r, g in zip(regret, gain, strict=True)]
        assert decision.action == int(np.argmin(expected))
        columns = decision.reasons.columns["information gain"]
        for a, value in zip(decision.reasons.candidates.tolist(), columns, strict=True):
            assert value == pytest.approx(gain[a], abs=1e-7)
        textbook.observe(policy, decision, reward)


@pytest.mark.parametrize(
    ("width", "intercept"),
    [(0.7, False), (0.7, True), (sb.rules.ConfidenceRadius(delta=0.1, norm_bound=2.0), False)],
    ids=["no intercept", "intercept", "radius"],
)
def test_lin_ucb(width: float | sb.rules.ConfidenceRadius, intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparsebandits.posteriors.conjugate.REFRESH_EVERY", 50)
    actions = some_actions(12, 4)
    policy = sb.LinUCB(actions, sb.GaussianPrior(PRIOR), NOISE, width, intercept=intercept)
    textbook = Textbook(4, intercept)
    ridge = NOISE / PRIOR
    for reward in rewards(1, 200):
        mean, _ = textbook.posterior()
        x, _ = textbook.data()
        v = ridge * np.eye(4) + x.T @ x
        if isinstance(width, sb.rules.ConfidenceRadius):  # Abbasi-Yadkori et al. 2011, Theorem 2
            log_det = np.linalg.slogdet(v)[1] - 4 * np.log(ridge)
            radius = np.sqrt(NOISE) * np.sqrt(2 * np.log(1 / 0.1) + log_det) + np.sqrt(ridge) * 2.0
        else:
            radius = width * np.sqrt(NOISE)
        centre, level = textbook.level(actions)
        bounds = [level + a @ mean + radius * np.sqrt(a @ np.linalg.inv(v) @ a) for a in actions - centre]
        decision = policy.ask()
        assert decision.action == int(np.argmax(bounds))
        shown = dict(zip(decision.reasons.candidates.tolist(), decision.reasons.columns["upper bound"], strict=True))
        for action, bound in shown.items():
            assert bound == pytest.approx(bounds[action], abs=1e-9)
        textbook.observe(policy, decision, reward)


def misses(narrowing: float, runs: int = 300) -> int:
    """Count the runs in which θ* ever leaves the ellipsoid of radius ``narrowing`` times the right one, at δ = 0.2."""
    missed = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        actions, theta = rng.standard_normal((5, 3)), rng.standard_normal(3)
        theta /= np.linalg.norm(theta)
        radius = sb.rules.ConfidenceRadius(delta=0.2, norm_bound=1.0)
        posterior = sb.Conjugate(sb.GaussianPrior(1.0), 3, 1.0)
        for _ in range(60):
            x = actions[rng.integers(5)]
            posterior.update(x, x @ theta + rng.standard_normal())
            error = theta - posterior.mean()
            distance = np.sqrt(error @ posterior.precision() @ error)
            if distance > narrowing * radius.width(posterior.log_det_ratio, 1.0):
                missed += 1
                break
    return missed


def test_confidence_radius_covers_the_truth() -> None:
    """The theorem promises at most 20% misses; it is known to be generous, so only a gross slip would break it."""
    assert stats.binomtest(misses(1.0), 300, 0.2, alternative="greater").pvalue > 1e-5
    assert stats.binomtest(misses(0.5), 300, 0.2, alternative="greater").pvalue < 1e-5, "planted: half the radius"


@both
@pytest.mark.parametrize("selection", ["deterministic", "randomised"])
@pytest.mark.parametrize("exponent", [2.0, 3.0])
def test_linear_ids(selection: str, exponent: float, intercept: bool) -> None:
    actions = some_actions(7, 3)
    policy = sb.LinearIDS(
        actions,
        sb.GaussianPrior(PRIOR),
        NOISE,
        n_draws=200,
        exponent=exponent,
        selection=selection,
        seed=2,
        intercept=intercept,
    )
    textbook = Textbook(3, intercept)
    mixtures = 0
    for reward in rewards(2, 60):
        draws = policy.posterior.draws()
        regret, gain, _, _ = brute_force(draws, actions - textbook.level(actions)[0])
        decision = policy.ask()
        if selection == "deterministic":
            expected = [r**exponent / g if g > 0 else np.inf for r, g in zip(regret, gain, strict=True)]
            assert decision.action == int(np.argmin(expected))
            assert decision.probability == 1.0
        else:
            best, q = np.inf, np.linspace(0, 1, 10_001)
            for i in range(7):
                for j in range(7):
                    top = ((1 - q) * regret[i] + q * regret[j]) ** exponent
                    bottom = (1 - q) * gain[i] + q * gain[j]
                    best = min(best, float(np.min(top[bottom > 0] / bottom[bottom > 0], initial=np.inf)))
            ratio = decision.reasons.notes["ratio minimised"]
            assert ratio <= best * (1 + 1e-9)
            assert ratio == pytest.approx(best, rel=1e-3)
            mixtures += decision.probability < 1.0
        textbook.observe(policy, decision, reward)
    assert selection == "deterministic" or mixtures > 0


# Frequencies against logged probabilities, at a fixed posterior

ASKED = 4000


def settled(policy: sb.Policy, rounds: int = 6) -> sb.Policy:
    """A policy with an undecided posterior, so that several actions have a chance."""
    for k, reward in enumerate(rewards(4, rounds)):
        policy.tell(policy.ask(some_actions(12, 4)[[k % 12]]), reward)
    return policy


def chi_square(counts: Any, probability: FloatArray) -> float:
    """p-value of the counts; actions expected fewer than five times are taken together."""
    expected = counts.sum() * probability
    rare = expected < 5
    counts = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    return float(stats.chisquare(counts[expected > 0], expected[expected > 0]).pvalue)


def test_lin_ts_plays_as_often_as_it_should() -> None:
    actions = some_actions(12, 4)
    policy = settled(sb.LinTS(actions, sb.GaussianPrior(PRIOR), NOISE, probability_draws=5000, seed=0))
    posterior = policy.posterior
    theta = posterior.sample(np.random.default_rng(1), 1_000_000)
    probability = np.bincount((theta @ actions.T).argmax(axis=1), minlength=12) / len(theta)
    decisions = [policy.ask() for _ in range(ASKED)]
    counts = np.bincount([d.action for d in decisions], minlength=12)
    assert chi_square(counts, probability) > 0.001
    for decision in decisions[:200]:
        assert decision.probability_draws is not None
        p = probability[decision.action]
        error = np.sqrt(p * (1 - p) / decision.probability_draws)
        assert abs(decision.probability - p) < 5 * error + 1 / decision.probability_draws
    # planted: a sampler whose variance is half as large again
    wide = settled(sb.LinTS(actions, sb.GaussianPrior(PRIOR), NOISE, inflation=1.5, seed=0))
    counts = np.bincount([wide.ask().action for _ in range(ASKED)], minlength=12)
    assert chi_square(counts, probability) < 0.001


@pytest.mark.parametrize(("intercept", "rounds"), [(False, 12), (True, 6)])
def test_randomised_ids_plays_as_often_as_it_says(intercept: bool, rounds: int) -> None:
    policy = sb.LinearIDS(
        some_actions(12, 4),
        sb.GaussianPrior(PRIOR),
        NOISE,
        n_draws=500,
        selection="randomised",
        seed=0,
        intercept=intercept,
    )
    settled(policy, rounds)  # as many as leave the choice to a coin
    said = {d.action: d.probability for d in (policy.ask() for _ in range(ASKED))}
    assert len(said) == 2
    assert sum(said.values()) == pytest.approx(1.0)
    counts = np.bincount([policy.ask().action for _ in range(ASKED)], minlength=12)
    action, probability = next(iter(said.items()))
    assert stats.binomtest(int(counts[action]), ASKED, probability).pvalue > 0.001
    assert stats.binomtest(int(counts[action]), ASKED, probability * 0.8).pvalue < 0.001, "20% off has to show"


def test_probability_draws_do_not_change_what_is_played() -> None:
    few, many = (sb.LinTS(some_actions(), probability_draws=n, seed=0) for n in (10, 500))
    for reward in rewards(0, 50):
        one, other = few.ask(), many.ask()
        assert one.action == other.action
        few.tell(one, reward)
        many.tell(other, reward)
