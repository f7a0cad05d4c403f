"""OnlineToConfidence: forecasts, regret, ellipsoid and index from their definitions; what the theorems promise."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.policies.rivals.online_to_confidence import Complexity, conversion
from tests.policies.table import share_of_guessing, some_actions

NOISE, SLAB, INCLUSION, BOUND, DELTA = 0.5, 0.8, 0.3, 1.5, 0.1
PRIOR = sb.SpikeSlab(INCLUSION, SLAB)


class Textbook:
    """Everything anew from all data, over all models, by densities and inverses."""

    def __init__(self, dimension: int, sparsity: int) -> None:
        self.dimension, self.sparsity = dimension, sparsity
        self.x, self.y, self.forecasts = np.empty((0, dimension)), np.empty(0), np.empty(0)

    def models(self, most: int) -> list[list[int]]:
        return [list(s) for k in range(most + 1) for s in combinations(range(self.dimension), k)]

    def log_prior(self, model: list[int]) -> float:
        return float(len(model) * np.log(INCLUSION) + (self.dimension - len(model)) * np.log(1 - INCLUSION))

    def posterior(self) -> tuple[FloatArray, float]:
        """Return the posterior mean and log ∫ exp(−L / 2σ²) dπ."""
        logs, means = [], []
        for model in self.models(self.dimension):
            x = self.x[:, model]
            marginal = NOISE * np.eye(len(self.y)) + SLAB * x @ x.T  # y is normal, given the model
            _, log_det = np.linalg.slogdet(marginal)
            square = self.y @ np.linalg.inv(marginal) @ self.y
            logs.append(self.log_prior(model) - 0.5 * (square + log_det - len(self.y) * np.log(NOISE)))
            mean = np.zeros(self.dimension)
            mean[model] = SLAB * x.T @ np.linalg.inv(marginal) @ self.y
            means.append(mean)
        weights = np.exp(np.array(logs) - max(logs))
        return weights @ np.array(means) / weights.sum(), float(max(logs) + np.log(weights.sum()))

    def observe(self, x: FloatArray, y: float) -> None:
        self.forecasts = np.append(self.forecasts, x @ self.posterior()[0])
        self.x, self.y = np.vstack((self.x, x)), np.append(self.y, y)

    def regret(self, kind: str | float) -> float:
        loss = float(((self.y - self.forecasts) ** 2).sum())
        mean, log_evidence = self.posterior()
        if kind == "realised":
            return max(loss - float(((self.y - self.x @ mean) ** 2).sum()), 0.0)
        if not isinstance(kind, str):
            return float(kind)
        costs = []
        for model in self.models(self.sparsity):
            volume = sum(np.log(1 + SLAB / NOISE * (self.x[:, j] @ self.x[:, j])) for j in model)
            costs.append(NOISE * (-2 * self.log_prior(model) + volume + BOUND**2 / SLAB))
        return float(max(loss + 2 * NOISE * log_evidence + max(costs), 0.0))

    def ellipsoid(self, regret: float) -> tuple[FloatArray, FloatArray, float]:
        """Return centre, V⁻¹ and radius."""
        inverse = np.linalg.inv(np.eye(self.dimension) + self.x.T @ self.x)
        centre = inverse @ self.x.T @ self.forecasts
        beta = 1 + 2 * regret + 32 * NOISE * np.log((np.sqrt(8 * NOISE) + np.sqrt(1 + regret)) / DELTA)
        misfit = centre @ centre + ((self.forecasts - self.x @ centre) ** 2).sum()
        return centre, np.asarray(inverse, dtype=np.float64), float(np.sqrt(BOUND**2 + beta - misfit))


@pytest.mark.parametrize("regret", ["theory", "realised", 3.0])
def test_ellipsoid_and_index_with_rewards_that_come_in_twos_the_later_one_first(regret: str | float) -> None:
    actions = some_actions(8, 3)
    policy = sb.rivals.OnlineToConfidence(
        actions, PRIOR, NOISE, engine="enumeration", delta=DELTA, bound=BOUND, sparsity=2, regret=regret
    )
    textbook, rng = Textbook(3, 2), np.random.default_rng(0)
    boundary = rng.standard_normal((2000, 3))
    boundary /= np.linalg.norm(boundary, axis=1, keepdims=True)
    for t in range(20):
        available = actions if t % 4 else some_actions(5, 3, seed=t)
        known = textbook.regret(regret)
        centre, inverse, radius = textbook.ellipsoid(known)
        index = [a @ centre + radius * np.sqrt(a @ inverse @ a) for a in available]
        pair = [policy.ask(available), policy.ask(available)]
        for decision in pair:
            assert decision.action == int(np.argmax(index))
            assert decision.probability == 1.0
            assert decision.reasons.notes["regret of the forecaster"] == pytest.approx(known, abs=1e-8)
            assert decision.reasons.notes["radius"] == pytest.approx(radius, abs=1e-8)
            columns = decision.reasons.columns
            for k, a in enumerate(decision.reasons.candidates.tolist()):
                assert columns["index"][k] == pytest.approx(index[a], abs=1e-8)
                assert columns["estimate"][k] == pytest.approx(available[a] @ centre, abs=1e-8)
        # no point of the ellipsoid has a larger reward, and some come close
        points = centre + radius * boundary @ np.linalg.cholesky(inverse).T
        best = (points @ pair[0].features).max()
        assert index[pair[0].action] * (1 - 0.01) < best < index[pair[0].action] + 1e-9
        rewards = rng.standard_normal(2)
        policy.tell(pair[::-1], rewards)
        for decision, reward in zip(pair[::-1], rewards, strict=True):
            textbook.observe(decision.features, float(reward))


def test_scale() -> None:
    whole, half = (sb.rivals.OnlineToConfidence(some_actions(), n_draws=100, scale=c, seed=0) for c in (1.0, 0.5))
    assert half.ask().diagnostics["radius"] == pytest.approx(0.5 * whole.ask().diagnostics["radius"], rel=1e-12)


@pytest.mark.parametrize("noise", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("delta", [0.5, 1e-4])
def test_conversion_is_above_what_it_solves(noise: float, delta: float) -> None:
    """Q ≤ B + 2σ √((1 + Q) log((1 + Q) / δ²)) (Eq. 23.9, with σ) bounds Q; planted: 8 in place of 32."""
    for regret in (0.0, 1.0, 30.0, 1e4):
        q = 1e9  # from above, the iteration falls to the largest solution
        for _ in range(500):
            q = regret + 2 * np.sqrt(noise * (1 + q) * np.log((1 + q) / delta**2))
        beta = conversion(regret, noise, delta)
        assert q < beta
        if noise == 7.0 and regret < 100:
            eight = beta - 24 * noise * np.log((np.sqrt(8 * noise) + np.sqrt(1 + regret)) / delta)
            assert q > eight


# The regret bound, which holds on every path

PRIORS = {
    "known inclusion": sb.SpikeSlab(0.2, 0.5),
    "inclusion learnt": sb.SpikeSlab(sb.BetaInclusion(1.0, 3.0), 0.5),
    "one value a coordinate": sb.SpikeSlab([0.1, 0.5, 0.3, 1.0], [0.3, 0.5, 1.0, 0.7], [0.0, 0.2, 0.0, -0.3]),
}


def least_slack(prior: sb.SpikeSlab, sparsity: int) -> float:
    """Return the least B_t − ρ_t(θ) over paths of any rewards, and over θ of two coordinates and norm at most one."""
    slack = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        noise = float(rng.choice([0.1, 1.0]))
        policy = sb.rivals.OnlineToConfidence(
            rng.standard_normal((6, 4)), prior, noise, engine="enumeration", sparsity=sparsity, seed=seed
        )
        theta = np.zeros((400, 4))
        for row in theta:
            row[rng.choice(4, 2, replace=False)] = rng.standard_normal(2)
        theta /= np.maximum(np.linalg.norm(theta, axis=1, keepdims=True), 1.0)
        truth, losses = theta[0], np.zeros(400)
        spread = [np.sqrt(noise), 0.0, 3.0][seed % 3]  # as the model has it, without noise, with far too much
        for _ in range(12):
            decision = policy.ask()
            reward = float(decision.features @ truth + spread * rng.standard_t(3))
            policy.tell(decision, reward)
            losses += (reward - theta @ decision.features) ** 2
            rule: Any = policy.posterior
            slack.append(rule.regret_bound() - (rule.loss - losses.min()))
    return float(min(slack))


@pytest.mark.parametrize("name", PRIORS)
def test_regret_bound_holds_on_every_path(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least slack is 0.2 to 1.4: the bound is close to what can happen."""
    assert 0 < least_slack(PRIORS[name], 2) < 2
    whole = Complexity.largest
    monkeypatch.setattr(Complexity, "largest", lambda self, diagonal: 0.5 * whole(self, diagonal))
    assert least_slack(PRIORS[name], 2) < 0, "planted: half the complexity"


def test_complexity_is_the_largest_over_all_supports() -> None:
    prior, diagonal = PRIORS["one value a coordinate"], np.array([3.0, 1.0, 0.5, 2.0])
    beta, variance, mean = prior.inclusion, prior.slab_variance, np.linalg.norm(prior.slab_mean)
    costs = []
    for size in range(3):
        for support in combinations(range(3), size):  # the last coordinate is always there
            inside = np.isin(np.arange(4), [*support, 3])
            log_prior = np.log(np.where(inside, beta, 1 - beta)[:3]).sum()
            costs.append(-2 * log_prior + np.log(1 + variance * diagonal / NOISE)[inside].sum())
    expected = NOISE * (max(costs) + (BOUND + mean) ** 2 / variance.min())
    assert Complexity.of(prior, 4, NOISE, BOUND, 2).largest(diagonal) == pytest.approx(expected, rel=1e-12)


def test_particles_find_the_regret_bound_of_enumeration() -> None:
    """Both see the same actions and rewards; planted: another inclusion. Over seeds it varies by 0.03."""
    actions, rng = some_actions(10, 6), np.random.default_rng(1)
    inclusions, engines = (0.3, 0.3, 0.6), ("enumeration", "particles", "particles")
    policies: list[Any] = [
        sb.rivals.OnlineToConfidence(actions, sb.SpikeSlab(beta, 0.5), 1.0, engine=engine, n_draws=20_000, seed=0)
        for beta, engine in zip(inclusions, engines, strict=True)
    ]
    for _ in range(40):
        row, reward = actions[[rng.integers(10)]], float(rng.standard_normal())
        for policy in policies:
            policy.tell(policy.ask(row), reward)
    exact, estimate, other = (policy.posterior.regret_bound() for policy in policies)
    assert abs(estimate - exact) < 0.15
    assert abs(other - exact) > 0.15


# The confidence set

RUNS, ROUNDS = 1000, 12


def furthest(seed: int) -> float:
    """Return the largest distance of θ* from the centre in a run, in radii: the set covers θ* while it is below 1."""
    rng = np.random.default_rng(seed)
    theta = np.zeros(3)
    theta[rng.integers(3)] = rng.choice([-1.0, 1.0])
    policy = sb.rivals.OnlineToConfidence(
        rng.standard_normal((4, 3)), sb.SpikeSlab(1 / 3, 1.0), 1.0, n_draws=100, delta=0.05, sparsity=1, seed=seed
    )
    rule: Any = policy.posterior
    largest = 0.0
    for _ in range(ROUNDS):
        decision = policy.ask()
        policy.tell(decision, float(decision.features @ theta + rng.standard_normal()))
        error = theta - rule.fit.mean()
        distance = float(np.sqrt(error @ rule.fit.precision() @ error))
        largest = max(largest, distance / rule.radius(rule.regret_bound()))
    return largest


def test_the_set_covers_the_truth_in_all_rounds_of_19_in_20_runs() -> None:
    """It does in all runs, and 0.27 of the radius would do, so only a gross slip shows; planted: a fifth of it."""
    ratios = np.array([furthest(seed) for seed in range(RUNS)])

    def too_many(misses: int) -> float:
        return float(stats.binomtest(misses, RUNS, 0.05, alternative="greater").pvalue)

    assert too_many(int((ratios > 1.0).sum())) > 1e-5
    assert too_many(int((ratios > 0.2).sum())) < 1e-5, "planted"


def test_each_actions_own_noise_weighs_its_reward() -> None:
    actions, noises = some_actions(6, 3), np.linspace(0.2, 3.0, 6)
    policy = sb.rivals.OnlineToConfidence(actions, PRIOR, noises, engine="enumeration")
    fit: Any = policy.posterior
    information = np.eye(3)
    for reward in np.random.default_rng(0).standard_normal(15):
        decision = policy.ask()
        policy.tell(decision, float(reward))
        weight = np.median(noises) / noises[decision.action]
        information += weight * np.outer(decision.features, decision.features)
    np.testing.assert_allclose(fit.fit.precision(), information, atol=1e-10)


def test_regret_on_an_easy_instance() -> None:
    """With 99% confidence its mean regret is below a third of that of guessing; planted: rewards of the wrong sign."""
    environment = sb.environments.GaussianActions(5, 1, n_actions=10, noise_variance=0.1)

    def make(instance: sb.environments.Instance, seed: int) -> sb.Policy:
        return sb.rivals.OnlineToConfidence(
            instance.actions, sb.SpikeSlab(0.2, 1.0), 0.1, n_draws=300, sparsity=1, seed=seed
        )

    assert share_of_guessing(make, environment) < 1 / 3
    assert share_of_guessing(make, environment, sign=-1.0) > 1 / 3


def test_defaults() -> None:
    policy = sb.rivals.OnlineToConfidence(np.eye(40), n_draws=50, bound=2.0)
    assert policy.posterior.sparsity == 5
    assert (policy.posterior.prior.inclusion, policy.posterior.prior.slab_variance) == (0.125, 0.8)
    known = sb.rivals.OnlineToConfidence(np.eye(40), sb.SpikeSlab(0.1, 0.25), n_draws=50)
    assert known.posterior.sparsity == 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"noise_variance": sb.InverseGammaNoise()}, "noise_variance: expected a number or one per action"),
        ({"noise_variance": None}, "noise_variance: expected a number or one per action, got None"),
        ({"engine": "langevin"}, "engine: expected one of 'particles', 'enumeration'"),
        ({"sparsity": 5}, "sparsity: expected at most the 4 features, got 5"),
        ({"regret": "guess"}, "regret: expected one of 'theory', 'realised'"),
        ({"regret": -1.0}, "regret: expected a number of at least zero"),
        ({"prior": sb.SpikeSlab(0.1, sb.InverseGammaSlab())}, "prior: expected a known slab_variance"),
        (
            {"prior": sb.SpikeSlab(0.1, 1.0, spike=sb.LaplaceSpike(0.1))},
            "prior: expected a known slab_variance, a point-mass spike and no size",
        ),
        (
            {"engine": "enumeration", "engine_options": {"max_size": 1}, "sparsity": 2},
            "sparsity: expected at most the engine's max_size, 1, got 2",
        ),
    ],
)
def test_what_it_cannot_serve(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        sb.rivals.OnlineToConfidence(np.eye(4), **{"n_draws": 50, **settings})
