"""The Lasso policies against slow versions written from their definitions, and where they are in their element."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.policies.rivals import dr_lasso
from sparsebandits.policies.rivals.dr_lasso import pseudo_rewards
from sparsebandits.policies.rivals.lasso import Samples, lasso
from tests.policies.table import POLICIES, Maker, some_actions

LASSO_POLICIES = {name: make for name, make in POLICIES.items() if "Lasso" in name}


def objective(x: FloatArray, y: FloatArray, penalty: float, theta: FloatArray) -> float:
    return float(((y - x @ theta) ** 2).sum() / (2 * len(y)) + penalty * np.abs(theta).sum())


def textbook_lasso(x: FloatArray, y: FloatArray, penalty: float) -> FloatArray:
    """Coordinate descent from zero until nothing moves; least squares if there is no penalty."""
    if penalty == 0:
        return np.asarray(np.linalg.pinv(x) @ y)
    theta, size = np.zeros(x.shape[1]), (x**2).sum(axis=0) / len(y)
    for _ in range(100_000):
        before = theta.copy()
        for j in np.flatnonzero(size):
            pull = x[:, j] @ (y - x @ theta + x[:, j] * theta[j]) / len(y)
            theta[j] = np.sign(pull) * max(abs(pull) - penalty, 0) / size[j]
        if np.abs(theta - before).max() < 1e-11:
            return theta
    raise AssertionError("no convergence")


def coefficients_of(policy: sb.Policy) -> FloatArray:
    return np.asarray(policy.coefficients, dtype=np.float64)  # type: ignore[attr-defined]


class History:
    """Rows and rewards of all rounds so far."""

    def __init__(self) -> None:
        self.rows: list[FloatArray] = []
        self.rewards: list[float] = []

    def add(self, row: FloatArray, reward: float) -> None:
        self.rows.append(np.array(row))
        self.rewards.append(reward)

    @property
    def x(self) -> FloatArray:
        return np.array(self.rows)

    @property
    def y(self) -> FloatArray:
        return np.array(self.rewards)


# The Lasso itself


@pytest.mark.parametrize(("count", "dimension"), [(30, 5), (4, 8), (1, 3), (1, 1)])
def test_the_lasso_is_the_textbooks(count: int, dimension: int) -> None:
    rng = np.random.default_rng(count)
    x, y = rng.standard_normal((count, dimension)), rng.standard_normal(count)
    for penalty in (0.0, 0.003, 0.1, 0.4, 100.0):
        expected = textbook_lasso(x, y, penalty)
        for start in (np.zeros(dimension), rng.standard_normal(dimension)):
            np.testing.assert_allclose(lasso(x, y, penalty, start), expected, atol=2e-4)
    assert not lasso(x, y, 100.0, np.ones(dimension)).any()


def test_the_lasso_on_degenerate_data() -> None:
    assert lasso(np.empty((0, 2)), np.empty(0), 0.1, np.ones(2)).tolist() == [0.0, 0.0]
    for x, y in (
        (np.ones((4, 3)), np.arange(4.0)),  # columns alike: many minimisers, one minimum
        (np.zeros((3, 2)), np.ones(3)),
        (np.eye(3), np.zeros(3)),
        (1e50 * np.eye(2), np.array([1e50, -1e50])),
    ):
        found, expected = lasso(x, y, 0.05, np.zeros(x.shape[1])), textbook_lasso(x, y, 0.05)
        assert objective(x, y, 0.05, found) == pytest.approx(objective(x, y, 0.05, expected), rel=1e-6)


def test_samples_grow() -> None:
    samples, rng = Samples(2), np.random.default_rng(0)
    x, y = rng.standard_normal((500, 2)), rng.standard_normal(500)
    for start, end in ((0, 1), (1, 64), (64, 65), (65, 400), (400, 500)):
        samples.append(x[start:end], y[start:end])
        np.testing.assert_array_equal(samples.x, x[:end])
        np.testing.assert_array_equal(samples.y, y[:end])


# Greedy ones: estimate and action, round by round

Slow = Callable[[FloatArray, FloatArray], tuple[FloatArray, float]]


def slow_thresholded(x: FloatArray, y: FloatArray) -> tuple[FloatArray, float]:
    t, d = x.shape
    penalty = 0.05 * np.sqrt(2 * np.log(t) * np.log(d) / t)
    theta = textbook_lasso(x, y, penalty)
    first = [j for j in range(d) if abs(theta[j]) > 4 * penalty]
    second = [j for j in first if abs(theta[j]) > 4 * penalty * np.sqrt(len(first))]
    estimate = np.zeros(d)
    if second:
        estimate[second] = np.linalg.pinv(x[:, second]) @ y
    return estimate, penalty


def slow_sparsity_agnostic(x: FloatArray, y: FloatArray) -> tuple[FloatArray, float]:
    t, d = x.shape
    penalty = 0.1 * np.sqrt((4 * np.log(t) + 2 * np.log(d)) / t)
    return textbook_lasso(x, y, penalty), penalty


def slow_universal(x: FloatArray, y: FloatArray) -> tuple[FloatArray, float]:
    t, d = x.shape
    largest = max(np.sqrt((x[:, j] ** 2).mean()) for j in range(d))
    penalty = 0.5 * 0.2 * largest * np.sqrt(2 * np.log(d) / t)
    return textbook_lasso(x, y, penalty), penalty


@pytest.mark.parametrize(
    ("make", "slow"),
    [
        (lambda a: sb.rivals.ThresholdedLasso(a, penalty=0.05, seed=1), slow_thresholded),
        (lambda a: sb.rivals.SALasso(a, penalty=0.1, seed=1), slow_sparsity_agnostic),
        (lambda a: sb.rivals.LassoGreedy(a, noise_variance=0.04, penalty=0.5, seed=1), slow_universal),
    ],
    ids=["ThresholdedLasso", "SALasso", "LassoGreedy"],
)
def test_greedy_policies(make: Callable[[Any], sb.Policy], slow: Slow) -> None:
    policy, rng, history = make(some_actions(8, 6)), np.random.default_rng(3), History()
    theta = np.array([1.0, 0.0, -0.5, 0.0, 0.0, 0.1])
    sizes, ties = set(), 0
    for t in range(60):
        actions = rng.standard_normal((8, 6))
        decision = policy.ask(actions)
        if t:
            estimate, penalty = slow(history.x, history.y)
            assert np.abs(coefficients_of(policy) - estimate).max() < 1e-3
            assert decision.reasons.notes["penalty"] == pytest.approx(penalty)
            assert decision.reasons.notes["features used"] == np.count_nonzero(estimate)
            sizes.add(np.count_nonzero(estimate))
            if estimate.any():
                assert decision.action == int((actions @ estimate).argmax())
                assert decision.probability == 1.0
                assert decision.diagnostics["estimated reward"] == pytest.approx((actions @ estimate).max(), abs=5e-3)
            else:
                ties += 1
                assert decision.probability == 1 / 8
        reward = float(decision.features @ theta + 0.2 * rng.standard_normal())
        history.add(decision.features, reward)
        policy.tell(decision, reward)
    assert len(sizes) > 1, "the support changed on the way"
    assert ties < 30


def test_defaults_are_the_authors() -> None:
    """λ_0 is 0.02 at unit noise (Ariu et al.), 2 · 0.2 at noise of deviation 0.5 (Oh et al.)."""
    assert sb.rivals.ThresholdedLasso(np.eye(2)).posterior.estimator.scale == 0.02
    assert sb.rivals.SALasso(np.eye(2), noise_variance=0.25).posterior.estimator.scale == pytest.approx(0.4)
    assert sb.rivals.LassoBandit(np.eye(2), noise_variance=0.0025).posterior.all_penalty == pytest.approx(0.05)
    policy = sb.rivals.DRLasso(np.eye(2))
    assert (policy.rule, policy.posterior.estimator.scale) == (sb.rivals.DoublyRobust(1.0, 10), 0.5)


def test_cross_validation() -> None:
    """The penalty is the best of scikit-learn's hundred over five contiguous folds."""
    policy, rng = (
        sb.rivals.LassoGreedy(some_actions(5, 3), penalty="cross-validation", refit_growth=0.0, seed=0),
        np.random.default_rng(0),
    )
    history = History()
    for _ in range(20):
        decision = policy.ask(rng.standard_normal((5, 3)))
        reward = float(decision.features[0] + rng.standard_normal())
        policy.tell(decision, reward)
        history.add(decision.features, reward)
    x, y = history.x, history.y
    largest = np.abs(x.T @ y).max() / 20
    grid = np.geomspace(largest, 1e-3 * largest, 100)
    errors = []
    for penalty in grid:
        error = 0.0
        for fold in np.array_split(np.arange(20), 5):
            rest = np.setdiff1d(np.arange(20), fold)
            error += float(((y[fold] - x[fold] @ textbook_lasso(x[rest], y[rest], penalty)) ** 2).mean())
        errors.append(error)
    found = policy.ask().reasons.notes["penalty"]
    chosen = int(np.abs(grid - found).argmin())
    assert grid[chosen] == pytest.approx(found)
    assert errors[chosen] == pytest.approx(min(errors), rel=1e-3)
    assert max(errors) > 1.01 * min(errors), "the penalty matters"


def test_uniform_rounds_at_first_and_fits_when_due() -> None:
    policy = sb.rivals.LassoGreedy(some_actions(5, 3), exploration=4, refit_growth=0.5, noise_variance=1e-4, seed=0)
    fits, probabilities = [], []
    for _ in range(14):
        decision = policy.ask()
        fits.append(decision.reasons.notes["rewards in the estimate"])
        probabilities.append(decision.probability)
        policy.tell(decision, float(decision.features[0]))
    assert probabilities == [0.2] * 4 + [1.0] * 10
    assert fits == [0, 1, 2, 3, 3, 5, 5, 5, 8, 8, 8, 8, 12, 12], "each time that half as many rewards are new"


# The Lasso bandit


def slow_forced(t: int, n_arms: int, q: int) -> int | None:
    """Equation (2) of Bastani and Bayati, by search."""
    for arm in range(1, n_arms + 1):
        for n in range(t.bit_length() + 1):
            for j in range(q * (arm - 1) + 1, q * arm + 1):
                if t == (2**n - 1) * n_arms * q + j:
                    return arm - 1
    return None


@pytest.mark.parametrize(("form", "q"), [("repeated", 1), ("blocks", 2), ("own rows", 1), ("shared", 2)])
def test_lasso_bandit(form: str, q: int) -> None:
    """Two Lassos an arm, forced rounds, candidates within h / 2; planted and noticed: λ for λ / 2, h for h / 2."""
    n_arms, contexts, rng = 3, 4, np.random.default_rng(5)
    dimension = n_arms * contexts if form == "blocks" else contexts
    policy = sb.rivals.LassoBandit(
        np.zeros((n_arms, dimension)),
        forced_samples=q,
        localisation=0.2,
        forced_penalty=0.1,
        all_penalty=0.3,
        parameters="shared" if form == "shared" else "disjoint",
        seed=0,
    )
    parameters = rng.standard_normal((n_arms, contexts)) * [1, 1, 0, 0]
    forced = [History() for _ in range(n_arms)]
    everything = [History() for _ in range(n_arms)]
    excluded = 0
    for t in range(1, 61):
        rows = rng.standard_normal((n_arms, contexts))
        if form in ("repeated", "blocks"):
            rows[:] = rows[0]
        actions = np.zeros((n_arms, dimension))
        for arm in range(n_arms):
            start = arm * contexts if form == "blocks" else 0
            actions[arm, start : start + contexts] = rows[arm]
        of = [0] * n_arms if form == "shared" else list(range(n_arms))
        decision = policy.ask(actions)
        due = slow_forced(t, 1 if form == "shared" else n_arms, q)
        if due is not None:
            assert form == "shared" or decision.action == due
            assert decision.probability == (1 / n_arms if form == "shared" else 1.0)
        else:
            penalty = 0.3 * np.sqrt((np.log(t - 1) + np.log(dimension)) / (t - 1))
            first, second = np.zeros(n_arms), np.zeros(n_arms)
            for arm in range(n_arms):
                for values, kept, weight in ((first, forced, 0.1), (second, everything, penalty)):
                    data = kept[of[arm]]
                    if data.rows:
                        values[arm] = actions[arm] @ textbook_lasso(data.x, data.y, weight / 2)
            candidates = [arm for arm in range(n_arms) if first[arm] >= first.max() - 0.1]
            excluded += int(second.argmax()) not in candidates
            assert decision.action == max(candidates, key=lambda arm: second[arm])
            assert decision.diagnostics["all-sample estimate"] == pytest.approx(second[decision.action], abs=5e-3)
            assert decision.diagnostics["forced-sample estimate"] == pytest.approx(first[decision.action], abs=5e-3)
        arm = decision.action
        truth = parameters[0 if form == "shared" else arm]
        reward = float(rows[arm] @ truth + 0.8 * rng.standard_normal())
        for kept in (forced, everything) if due is not None else (everything,):
            kept[of[arm]].add(actions[arm], reward)
        policy.tell(decision, reward)
    assert excluded > 0 or form == "shared", "the first estimate ruled out what the second liked"


def test_forced_rounds_go_by_the_decisions_and_pass_over_arms_that_are_not_there() -> None:
    policy = sb.rivals.LassoBandit(np.ones((4, 2)), seed=0)
    assert [policy.ask().action for _ in range(8)] == [0, 1, 2, 3, 0, 1, 2, 3], "before any reward"
    policy = sb.rivals.LassoBandit(np.ones((4, 2)), seed=0)
    decisions = [policy.ask(np.ones((2, 2))) for _ in range(4)]
    assert [d.reasons.notes["forced"] for d in decisions] == [1.0, 1.0, 0.0, 0.0]
    policy.tell(decisions, [1.0] * 4)
    more = policy.ask(np.ones((9, 2)))
    policy.tell(more, 1.0)
    assert policy.coefficients.shape == (4, 2)


# The doubly-robust one


def test_dr_lasso() -> None:
    """Probabilities, pseudo-rewards, their cut-off and the Lasso on average rows, with sets of changing size."""
    policy = sb.rivals.DRLasso(
        some_actions(6, 4), exploration=0.6, penalty=0.02, uniform_rounds=3, cut_off=2.5, refit_growth=0.0, seed=0
    )
    rng, history = np.random.default_rng(1), History()
    theta, estimate, cut = np.array([1.0, 0, 0, -0.5]), np.zeros(4), 0
    for t in range(1, 81):
        actions = rng.standard_normal((2 + t % 4, 4)) + rng.standard_normal(4)
        n = len(actions)
        if t > 1:
            estimate = textbook_lasso(history.x, history.y, 0.02 * np.sqrt(np.log((t - 1) * 4) / (t - 1)))
        decision = policy.ask(actions)
        share = 1.0 if t <= 3 else min(1.0, 0.6 * np.sqrt(np.log(t * 4) / t))
        probability = share / n
        if estimate.any() and decision.action == int((actions @ estimate).argmax()):
            probability += 1 - share
        elif not estimate.any():
            probability = 1 / n
        assert decision.probability == pytest.approx(probability)
        assert decision.reasons.notes["share of uniform play"] == pytest.approx(share)
        assert np.abs(policy.coefficients - estimate).max() < 2e-3
        reward = float(decision.features @ theta + 0.1 * rng.standard_normal())
        pseudo = np.mean(actions @ estimate) + (reward - decision.features @ estimate) / (n * probability)
        cut += abs(pseudo) > 2.5
        history.add(actions.mean(axis=0), float(np.clip(pseudo, -2.5, 2.5)))
        policy.tell(decision, reward)
    assert np.abs(policy.posterior.samples.y - history.y).max() < 5e-3
    assert 0 < cut < 20


def pseudo_reward_z() -> float:
    """z-score of the mean of 3000 pseudo-rewards around ⟨b̄, θ*⟩, with an estimate that is far from θ*."""
    rng, theta = np.random.default_rng(0), np.array([1.0, 0.0, 0.5])
    policy = sb.rivals.DRLasso(
        some_actions(4, 3), exploration=3.0, cut_off=None, penalty=0.05, refit_growth=1e9, seed=0
    )
    first = [policy.ask(rng.standard_normal((4, 3)) + rng.standard_normal(3)) for _ in range(30)]
    policy.tell(first, [-float(d.features @ theta) for d in first])  # misled once and for all
    actions = np.array([[2.0, 0, 0], [1.9, 0.2, 0.1], [1.0, 1, 1], [1.5, 0.5, -1]])
    decisions = [policy.ask(actions) for _ in range(3000)]
    policy.tell(decisions, [float(d.features @ theta) for d in decisions])
    assert policy.coefficients[0] < -0.3
    errors = policy.posterior.samples.y[30:] - actions.mean(axis=0) @ theta
    return float(np.mean(errors) / (np.std(errors) / np.sqrt(len(errors))))


def test_pseudo_rewards_are_unbiased(monkeypatch: pytest.MonkeyPatch) -> None:
    """However wrong the estimate is; so the probability that is used is the one that is played with."""
    assert abs(pseudo_reward_z()) < 4.4  # one in 100,000
    monkeypatch.setattr(dr_lasso, "pseudo_rewards", lambda m, c, w, r: pseudo_rewards(m, c, 1.2 * w, r))
    assert abs(pseudo_reward_z()) > 4.4, "planted: probabilities 20% too large"


def test_dr_lasso_plays_as_often_as_it_says() -> None:
    policy, rng = sb.rivals.DRLasso(some_actions(5, 3), penalty=0.01, seed=0), np.random.default_rng(0)
    for _ in range(40):
        decision = policy.ask(rng.standard_normal((5, 3)))
        policy.tell(decision, float(decision.features[0]))
    actions = some_actions(5, 3, seed=2)
    best = int((actions @ policy.coefficients).argmax())
    decisions = [policy.ask(actions) for _ in range(3000)]
    said = sum(policy_probability(d, best) for d in decisions)
    played = sum(d.action == best for d in decisions)
    spread = np.sqrt(sum(policy_probability(d, best) * (1 - policy_probability(d, best)) for d in decisions))
    assert abs(played - said) < 4.4 * spread
    assert abs(played - 0.9 * said) > 4.4 * spread, "10% off has to show"


def policy_probability(decision: sb.Decision, action: int) -> float:
    places = decision.reasons.candidates.tolist()
    return float(decision.reasons.columns["probability"][places.index(action)])


# Late rewards


@pytest.mark.parametrize("make", LASSO_POLICIES.values(), ids=LASSO_POLICIES)
def test_rewards_late_out_of_order_and_in_batches_lead_to_the_same_knowledge(make: Maker) -> None:
    rewards = np.linspace(-1, 1, 30)
    prompt, late = make(some_actions(), seed=0), make(some_actions(), seed=0)
    sets = [some_actions(4, seed=k) for k in range(30)]
    first, second = [prompt.ask(s) for s in sets], [late.ask(s) for s in sets]
    for decision, reward in zip(first, rewards, strict=True):
        prompt.tell(decision, reward)
    late.tell(second[7], rewards[7])
    late.tell(list(reversed(second[10:])), rewards[10:][::-1])
    late.tell(second, rewards)  # those that are told already change nothing
    data = [np.column_stack((p.posterior.samples.x, p.posterior.samples.y)) for p in (prompt, late)]
    assert {tuple(row) for row in data[0]} == {tuple(row) for row in data[1]}
    assert len(data[1]) == 30
    assert np.abs(coefficients_of(prompt) - coefficients_of(late)).max() < 1e-3


# Regret where they are in their element, and where not

World = Callable[[np.random.Generator], tuple[FloatArray, FloatArray]]


def shared_world(correlation: float, n_arms: int, dimension: int = 12, sparsity: int = 2) -> World:
    """Fresh rows each round, correlated from row to row, and one sparse θ."""

    def draw(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        rows = np.sqrt(1 - correlation) * rng.standard_normal((n_arms, dimension))
        rows += np.sqrt(correlation) * rng.standard_normal(dimension)
        return rows, rows[:, :sparsity].sum(axis=1) / np.sqrt(sparsity)

    return draw


def disjoint_world(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """One fresh context a round, shown by both arms, each of which likes another of its features."""
    context = rng.standard_normal(12)
    return np.vstack((context, context)), context[:2]


def regret_share(make: Callable[[Any, int], sb.Policy], draw: World, sign: float = 1.0, trials: int = 8) -> Any:
    """Regret of the second half of 200 rounds as a share of uniform play's: mean and upper end at 99.9%."""
    shares = []
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        policy = make(draw(rng)[0], trial)
        regret = uniform = 0.0
        for t in range(200):
            actions, means = draw(rng)
            decision = policy.ask(actions)
            if t >= 100:
                regret += means.max() - means[decision.action]
                uniform += means.max() - means.mean()
            policy.tell(decision, sign * float(means[decision.action] + 0.1 * rng.standard_normal()))
        shares.append(regret / uniform)
    error = stats.sem(shares) * stats.t.isf(0.0005, trials - 1)
    return np.array([np.mean(shares) - error, np.mean(shares) + error])


ELEMENT: dict[str, tuple[Callable[[Any, int], sb.Policy], World, float]] = {
    "LassoGreedy": (lambda a, s: sb.rivals.LassoGreedy(a, noise_variance=0.01, seed=s), shared_world(0.0, 10), 0.05),
    "ThresholdedLasso": (
        lambda a, s: sb.rivals.ThresholdedLasso(a, noise_variance=0.01, seed=s),
        shared_world(0.0, 10),
        0.05,
    ),
    "SALasso": (lambda a, s: sb.rivals.SALasso(a, noise_variance=0.01, seed=s), shared_world(0.0, 10), 0.05),
    "LassoBandit": (lambda a, s: sb.rivals.LassoBandit(a, noise_variance=0.01, seed=s), disjoint_world, 0.1),
    "LassoBandit, shared": (
        lambda a, s: sb.rivals.LassoBandit(a, noise_variance=0.01, parameters="shared", seed=s),
        shared_world(0.0, 10),
        0.1,
    ),
    "DRLasso": (
        lambda a, s: sb.rivals.DRLasso(a, noise_variance=0.01, penalty=0.1, seed=s),
        shared_world(0.7, 10),
        0.5,
    ),
}


@pytest.mark.parametrize(("make", "draw", "most"), ELEMENT.values(), ids=ELEMENT)
def test_regret_is_small_on_easy_instances(make: Callable[[Any, int], sb.Policy], draw: World, most: float) -> None:
    """DRLasso goes on exploring: λ_1t is still a fifth. The rewards' sign is planted wrong to see a failure."""
    assert regret_share(make, draw)[1] < most
    assert regret_share(make, draw, sign=-1.0, trials=3)[0] > most


def test_dr_lasso_learns_nothing_on_a_fixed_set() -> None:
    """Its regressor, the average row, never varies. Fresh correlated rows, above, are what it needs."""
    rng = np.random.default_rng(0)
    sets = [rng.standard_normal((10, 12)) for _ in range(40)]
    ratios = []
    for seed, actions in enumerate(sets):
        means = actions[:, :2].sum(axis=1)
        policy, regret = sb.rivals.DRLasso(actions, noise_variance=0.01, penalty=0.1, seed=seed), 0.0
        for _ in range(60):
            decision = policy.ask()
            regret += means.max() - means[decision.action]
            policy.tell(decision, float(means[decision.action] + 0.1 * rng.standard_normal()))
        ratios.append(regret / 60 / (means.max() - means.mean()))
    error = stats.sem(ratios) * stats.t.isf(0.0005, len(ratios) - 1)
    assert np.mean(ratios) - error < 1.0 < np.mean(ratios) + error
    assert error < 0.4
