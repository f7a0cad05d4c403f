"""SparseIDS and SparseTS: the paper's algorithm written out, noise that differs by action, defaults, diagnostics."""

from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.model.priors import default_prior
from sparsebandits.policies.actions import ActionSet
from sparsebandits.randomness import ENGINE_STREAM, child
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.information import information
from sparsebandits.rules.thompson import Thompson
from tests.policies.table import play, some_actions
from tests.statistical import assert_means_agree

ACTIONS = sb.environments.GaussianActions(6, 2, n_actions=15).sample(0).actions


def algorithms_2_and_3(theta: FloatArray, actions: FloatArray) -> int:
    """Choose as printed in the paper, in plain loops over draws and actions."""
    best = [int(np.argmax([a @ draw for a in actions])) for draw in theta]
    mean = theta.mean(axis=0)
    value = np.mean([actions[b] @ draw for b, draw in zip(best, theta, strict=True)])
    ratios = []
    for a in actions:
        gain = 0.0
        for optimal in set(best):
            mine = [draw for b, draw in zip(best, theta, strict=True) if b == optimal]
            gain += len(mine) / len(theta) * (a @ np.mean(mine, axis=0) - a @ mean) ** 2
        ratios.append((value - a @ mean) ** 2 / gain if gain > 0 else np.inf)
    return int(np.argmin(ratios))


@pytest.mark.parametrize("intercept", [False, True], ids=["as in the paper", "intercept"])
def test_langevin_and_deterministic_selection_are_the_papers_algorithm(intercept: bool) -> None:
    """With an intercept, that of features relative to their mean over past rewards, or over the actions before."""
    prior = sb.SpikeSlab.from_paper(beta=0.3, lambda0=0.05, lambda1=0.5, noise_variance=1.0)
    papers = partial(sb.SparseIDS, engine="langevin", rule="information-ratio")
    policy = papers(ACTIONS, prior, 1.0, n_draws=200, seed=4, intercept=intercept)
    model = sb.Gaussian(1.0, intercept=intercept)
    sampler = sb.Langevin(prior, 6, n_draws=200, seed=child(4, ENGINE_STREAM), rewards=model)  # Algorithm 1, one chain
    rng = np.random.default_rng(0)
    past: list[FloatArray] = []
    for _ in range(12):
        decision = policy.ask()
        centre = np.mean(past or ACTIONS, axis=0) if intercept else np.zeros(6)
        assert decision.action == algorithms_2_and_3(sampler.draws().theta, ACTIONS - centre)
        past.append(decision.features)
        assert decision.probability == 1.0
        reward = float(rng.standard_normal())
        policy.tell(decision, reward)
        sampler.update(ACTIONS[decision.action], reward)


def test_thompson_sampling_plays_a_particle_and_says_how_likely_that_was() -> None:
    policy = sb.SparseTS(ACTIONS, sb.SpikeSlab(0.3, 0.5), 1.0, n_draws=2000, seed=0)
    policy.tell(policy.ask(), 0.5)
    decisions = [policy.ask() for _ in range(2000)]
    played = np.bincount([d.action for d in decisions], minlength=len(ACTIONS)) / 2000
    said = np.zeros(len(ACTIONS))
    for d in decisions:
        assert d.probability_draws is None
        said[d.action] = d.probability
    exact = policy.predict().optimal_probability
    np.testing.assert_allclose(said[said > 0], exact[said > 0])
    often = said > 0.005
    assert often.sum() > 2
    assert_means_agree(played[often], said[often], np.sqrt(said[often] * (1 - said[often]) / 2000))
    with pytest.raises(AssertionError, match="z-score"):  # planted: probabilities a third too large
        assert_means_agree(played[often], 1.34 * said[often], np.sqrt(said[often] / 2000))


class Picks:
    """A posterior of which only its draws are known."""

    picks_from_draws, dimension, noise_variance = True, 12, 1.0

    def __init__(self, theta: FloatArray) -> None:
        self.given = sb.posteriors.Draws(theta, np.full(len(theta), 1 / len(theta)))

    def draws(self) -> sb.posteriors.Draws:
        return self.given

    def sample(self, rng: np.random.Generator, size: int) -> FloatArray:
        return self.given.theta[rng.integers(len(self.given), size=size)]

    def mean(self) -> FloatArray:
        return self.given.mean()


@pytest.mark.parametrize("zeros", [0.0, 0.5, 0.9])
def test_a_tie_is_broken_in_what_is_played_as_in_its_probability(zeros: float) -> None:
    """Actions of zeros and ones tie up to rounding, and one product rounds unlike many: all draws equal, one set."""
    rng = np.random.default_rng(0)
    actions = ActionSet.of((rng.random((203, 12)) < 0.4) * 1.0)
    distinct = len(np.unique(actions.features, axis=0))
    assert distinct < 203
    for _ in range(300):
        draw = np.where(rng.random(12) < zeros, 0.0, rng.standard_normal(12))
        choice = Thompson().choose(Beliefs(Picks(np.tile(draw, (256, 1))), actions.features), rng)
        values = actions.features @ draw
        best = np.flatnonzero(values > values.max() - 1e-9)
        copies = (actions.features == actions.features[choice.action]).all(axis=1).sum()
        assert choice.action in best
        assert choice.probability == pytest.approx(1 / len(np.unique(actions.features[best], axis=0)) / copies)


@pytest.mark.parametrize("inflation", [1.0, 2.0])
def test_the_probability_is_the_share_of_the_draws_where_none_is_zero(inflation: float) -> None:
    """Plain loops over the draws; the smallest bug that this shows is one draw counted for another action."""
    rng = np.random.default_rng(1)
    actions = rng.standard_normal((90, 12))[rng.integers(0, 60, size=90)]  # some rows are the same
    posterior = Picks(rng.standard_normal((400, 12)))
    mean, beliefs = posterior.mean(), Beliefs(posterior, actions)
    draws = mean + np.sqrt(inflation) * (posterior.given.theta - mean)
    best = [int((actions @ draw).argmax()) for draw in draws]
    for _ in range(40):
        choice = Thompson(inflation).choose(beliefs, rng)
        same = np.flatnonzero((actions == actions[choice.action]).all(axis=1))
        share = np.isin(best, same).mean() / len(same)
        expected = share if inflation == 1.0 else (1.0 + 400 * share) / 401  # the played draw counts as one more
        assert choice.probability == pytest.approx(expected, rel=1e-9)


# Noise that differs from action to action

NOISES = np.linspace(0.2, 4.0, len(ACTIONS))


@pytest.mark.parametrize("intercept", [False, True])
def test_noise_of_each_action_enters_the_likelihood(intercept: bool) -> None:
    prior = sb.SpikeSlab(0.3, 0.5)
    policy = sb.SparseIDS(ACTIONS, prior, NOISES, engine="enumeration", n_draws=500, seed=0, intercept=intercept)
    rng, told = np.random.default_rng(0), []
    for _ in range(25):
        decision = policy.ask()
        assert decision.noise_variance == NOISES[decision.action]
        told.append((decision.action, float(rng.standard_normal())))
        policy.tell(decision, told[-1][1])
    # The posterior of a Gaussian prior with weights, model by model: compare the mean with weighted least squares.
    weights = 1 / NOISES[[a for a, _ in told]]
    x, y = ACTIONS[[a for a, _ in told]], np.array([r for _, r in told])
    if intercept:
        x, y = x - np.average(x, axis=0, weights=weights), y - np.average(y, weights=weights)
    full = sb.Enumeration(sb.SpikeSlab(1.0, 0.5), 6, 1.0)
    full.update(x * np.sqrt(weights)[:, np.newaxis], y * np.sqrt(weights))
    expected = np.linalg.solve((x * weights[:, np.newaxis]).T @ x + np.eye(6) / 0.5, x.T @ (weights * y))
    np.testing.assert_allclose(full.mean(), expected, atol=1e-10)
    sparse = sb.Enumeration(prior, 6, 1.0)
    sparse.update(x * np.sqrt(weights)[:, np.newaxis], y * np.sqrt(weights))
    np.testing.assert_allclose(policy.posterior.mean(), sparse.mean(), atol=1e-10)


@pytest.mark.parametrize("gain", ["variance", "mutual-information"])
def test_noise_of_each_action_enters_the_gain(gain: str) -> None:
    """Two actions alike but for their noise: the quieter one tells more."""
    actions = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    given: dict[str, Any] = {"prior": sb.SpikeSlab(0.5, 1.0), "gain": gain, "n_draws": 500, "seed": 0}
    decision = sb.SparseIDS(actions, noise_variance=[4.0, 0.25, 1.0], **given).ask()
    reasons = decision.reasons
    gains = dict(zip(reasons.candidates.tolist(), reasons.columns["information gain"].tolist(), strict=True))
    assert gains[1] > 2 * gains[0]
    if gain == "variance":
        assert gains[1] == pytest.approx(16 * gains[0])


def test_noise_of_actions_that_change() -> None:
    policy = sb.SparseIDS(ACTIONS, sb.SpikeSlab(0.3, 0.5), NOISES, n_draws=100, seed=0)
    with pytest.raises(
        ValueError, match="noise_variance: expected one number per row of actions, as for the policy's own"
    ):
        policy.ask(ACTIONS[:4])
    with pytest.raises(ValueError, match="noise_variance: expected none without actions"):
        policy.ask(noise_variance=NOISES)
    with pytest.raises(ValueError, match=r"noise_variance: expected shape \(4,\)"):
        policy.ask(ACTIONS[:4], NOISES)
    decision = policy.ask(ACTIONS[:4], [1.0, 2.0, 3.0, 4.0])
    assert decision.noise_variance == decision.action + 1.0
    common = sb.SparseIDS(ACTIONS, sb.SpikeSlab(0.3, 0.5), 1.0, n_draws=100, seed=0)
    with pytest.raises(ValueError, match=r"noise_variance: expected none \(the policy was made without one per action"):
        common.ask(ACTIONS[:4], NOISES[:4])
    with pytest.raises(ValueError, match="noise_variance: expected a positive number"):
        sb.SparseIDS(ACTIONS, noise_variance=-NOISES)


def test_noise_of_an_action_that_has_changed_enters_the_likelihood() -> None:
    prior = sb.SpikeSlab(0.3, 0.5)
    policy = sb.SparseIDS(ACTIONS, prior, NOISES, engine="enumeration", n_draws=100, seed=0, intercept=False)
    policy.tell(policy.ask(ACTIONS[:1], [9.0]), 3.0)
    expected = sb.Enumeration(prior, 6, 9.0)
    expected.update(ACTIONS[0], 3.0)
    np.testing.assert_allclose(policy.posterior.mean(), expected.mean(), atol=1e-10)
    # With an intercept, two rewards are one observation of their difference, whose noise is that of both.
    policy = sb.SparseIDS(ACTIONS, prior, NOISES, engine="enumeration", n_draws=100, seed=0)
    policy.tell(policy.ask(ACTIONS[:1], [9.0]), 3.0)
    np.testing.assert_array_equal(policy.posterior.mean(), 0.0)
    policy.tell(policy.ask(ACTIONS[1:2], [4.0]), 5.0)
    expected = sb.Enumeration(prior, 6, 13.0)
    expected.update(ACTIONS[1] - ACTIONS[0], 2.0)
    np.testing.assert_allclose(policy.posterior.mean(), expected.mean(), atol=1e-10)


def test_noise_of_each_action_survives_a_save(tmp_path: Any) -> None:
    policy = sb.SparseIDS(ACTIONS, sb.SpikeSlab(0.3, 0.5), NOISES, n_draws=100, seed=0)
    pending = policy.ask()
    policy.save(tmp_path / "policy")
    loaded = sb.load(tmp_path / "policy")
    for one in (policy, loaded):
        one.tell(pending.id, 1.0)
    assert play(policy, 10) == play(loaded, 10)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_the_default_slab_is_in_units_of_the_noise_of_the_actions(scale: float) -> None:
    """One noise variance for all, and the same for each, are the same, whatever the unit of rewards."""
    common = sb.SparseIDS(ACTIONS, noise_variance=0.5, n_draws=500, seed=0)
    each = sb.SparseIDS(ACTIONS, noise_variance=np.full(len(ACTIONS), 0.5 * scale**2), n_draws=500, seed=0)
    rng = np.random.default_rng(0)
    for _ in range(30):
        one, other = common.ask(), each.ask()
        assert one.action == other.action
        reward = float(ACTIONS[one.action, 0] + rng.standard_normal())
        common.tell(one, reward)
        each.tell(other, scale * reward)
    np.testing.assert_allclose(each.posterior.mean(), scale * common.posterior.mean(), rtol=1e-6, atol=1e-9 * scale)


def test_a_series_of_noise_variances_is_matched_by_name() -> None:
    labels = [f"row {i}" for i in range(len(ACTIONS))]
    frame, noises = pd.DataFrame(ACTIONS, index=labels), pd.Series(NOISES, index=labels)
    for given in (noises, noises[::-1], pd.Series(NOISES), NOISES):
        policy = sb.SparseIDS(frame, noise_variance=given, n_draws=10)
        np.testing.assert_array_equal(policy.actions.noise_variances, NOISES)
    with pytest.raises(ValueError, match="noise_variance: expected the labels of the actions, each once"):
        sb.SparseIDS(frame, noise_variance=noises.rename({"row 3": "row 99"}))
    assert "rewards=Gaussian(variance=2.1, intercept=True, tails=None)" in repr(policy)  # their median


@pytest.mark.parametrize(
    "given",
    [
        {"noise_variance": np.int64(2)},
        {"noise_variance": np.float32(2)},
        {"noise_variance": np.array(2)},
        {"engine": "gibbs", "engine_options": {"chains": np.int64(2)}},
        {"prior": sb.SpikeSlab(0.3, sb.InverseGammaSlab(2.0, 1.0, of_noise=cast(Any, np.True_)))},
    ],
)
def test_numbers_of_numpy_survive_a_save(given: dict[str, Any], tmp_path: Any) -> None:
    policy = sb.SparseIDS(ACTIONS, **{"n_draws": 100, "seed": 0, **given})
    policy.save(tmp_path / "policy")
    loaded = sb.load(tmp_path / "policy")
    assert str(loaded.posterior).replace("np.True_", "True") == str(policy.posterior).replace("np.True_", "True")
    assert play(loaded, 5) == play(policy, 5)


# Who knows nothing


@pytest.mark.parametrize("scale", [0.1, 1.0, 1e3])
def test_nothing_has_to_be_known(scale: float) -> None:
    """Neither sparsity nor noise nor the size of rewards: a good action is found, and the size of the noise."""
    instance = sb.environments.GaussianActions(20, 2, n_actions=60, noise_variance=0.2).sample(5)
    policy = sb.SparseIDS(instance.actions, n_draws=2000, seed=0)
    rng = np.random.default_rng(0)
    for _ in range(150):
        decision = policy.ask()
        noise = np.sqrt(0.2) * rng.standard_normal()
        policy.tell(decision, scale * (float(instance.means[decision.action]) + noise))
    inclusion = policy.posterior.inclusion()
    assert inclusion[np.abs(instance.theta).argmax()] > 2 * inclusion[instance.theta == 0].mean()
    assert instance.gaps[decision.action] < 0.15 * np.ptp(instance.means)
    found = policy.posterior.hyperparameters()
    assert [row["hyperparameter"] for row in found] == ["inclusion", "slab_variance", "noise_variance"]
    assert policy.posterior.noise_variance == pytest.approx(0.2 * scale**2, rel=0.8)


def test_the_default_prior_follows_the_units_of_the_features() -> None:
    """Features in other units (powers of two, so that nothing is rounded) change no decision."""
    units = np.array([1024.0, 1.0, 2.0**-10, 1.0, 4.0, 0.5])
    for dimension, expected in ((1, 0.25), (12, 0.25), (20, 0.25), (100, 0.05)):  # min(5, d/4) of d features
        assert default_prior(np.zeros((3, dimension))).inclusion.mean == pytest.approx(expected)
    for policy in (sb.SparseIDS, sb.SparseTS):
        one, other = policy(ACTIONS, n_draws=500, seed=0), policy(ACTIONS * units, n_draws=500, seed=0)
        rng = np.random.default_rng(0)
        for _ in range(30):
            decision, twin = one.ask(), other.ask()
            assert decision.action == twin.action
            reward = float(decision.features[0] - decision.features[2] + 0.5 * rng.standard_normal())
            one.tell(decision, reward)
            other.tell(twin, reward)
        np.testing.assert_allclose(other.posterior.mean() * units, one.posterior.mean(), rtol=1e-6, atol=1e-9)
    one_size = sb.SpikeSlab(one.posterior.prior.inclusion, sb.InverseGammaSlab(2.0, 1.0, of_noise=True))
    planted = sb.SparseIDS(ACTIONS * units, one_size, n_draws=500, seed=0)
    for _ in range(5):
        planted.tell(planted.ask(), 1.0)
    assert not np.allclose(planted.posterior.mean() * units, one.posterior.mean(), atol=0.05), "planted: one size"


# What it says of itself


def test_diagnostics_are_recorded() -> None:
    instance = sb.environments.GaussianActions(6, 2, n_actions=15).sample(0)
    make = sb.maker(sb.SparseIDS, prior=sb.SpikeSlab(0.3, 0.5), n_draws=500, selection="randomised")
    trace = sb.simulate(make, instance, 30, seed=0, record=True)
    assert set(trace.recorded) == {
        "expected regret", "information gain", "ratio", "P(optimal)", "first candidate", "second candidate",
        "probability of the second", "ratio minimised", "entropy of the optimal action (nats)", "effective draws",
    }  # fmt: skip
    regret, gain = trace.recorded["expected regret"], trace.recorded["information gain"]
    np.testing.assert_allclose(trace.recorded["ratio"], regret**2 / gain)
    assert (trace.recorded["ratio minimised"] <= trace.recorded["ratio"] * (1 + 1e-9)).all()
    chosen = np.where(
        trace.actions == trace.recorded["first candidate"],
        1 - trace.recorded["probability of the second"],
        trace.recorded["probability of the second"],
    )
    np.testing.assert_allclose(trace.probabilities, chosen)
    assert trace.recorded["entropy of the optimal action (nats)"][0] <= np.log(15)
    assert sb.simulate(make, instance, 5, seed=0).recorded == {}


@pytest.mark.parametrize("rule", ["information-ratio", "cost-to-go"])
@pytest.mark.parametrize("intercept", [False, True])
def test_diagnostics_are_those_of_the_draws(intercept: bool, rule: str) -> None:
    policy = sb.SparseIDS(ACTIONS, sb.SpikeSlab(0.3, 0.5), 1.0, n_draws=500, seed=0, intercept=intercept, rule=rule)
    past = [policy.ask(), policy.ask(ACTIONS[3:4])]
    policy.tell(past, [1.0, 0.0])
    draws, decision = policy.posterior.draws(), policy.ask(ACTIONS[:7])
    centre = (past[0].features + past[1].features) / 2 if intercept else 0.0
    known, reasons = information(draws, ACTIONS[:7] - centre), decision.reasons
    assert 1 < draws.effective_sample_size < 499
    assert sorted(reasons.candidates) == list(range(7))
    level = 0.5 if intercept else 0.0  # σ²/W, of two rewards
    information_in_nats = 0.5 * np.log1p((known.unbiased_gain + 0.05 * known.reward_variance) / (1.0 + level))
    ratio = rule == "information-ratio"
    for name, values in (
        ("P(optimal)", known.optimal_probability),
        ("expected regret", known.expected_regret),
        ("information gain", known.gain) if ratio else ("information (nats)", information_in_nats),
    ):
        np.testing.assert_allclose(reasons.columns[name], values[reasons.candidates], rtol=1e-5)  # single precision
    entropy = known.entropy if ratio else known.unbiased_entropy
    assert decision.diagnostics["entropy of the optimal action (nats)"] == pytest.approx(entropy)
    assert decision.diagnostics["effective draws"] == pytest.approx(draws.effective_sample_size)


def test_explanations_name_features_and_the_coin() -> None:
    frame = pd.DataFrame(some_actions(8, 3), columns=["price", "size", "age"], index=list("abcdefgh"))
    policy = sb.SparseIDS(frame, sb.SpikeSlab(0.5, 1.0), 0.1, n_draws=500, selection="randomised", seed=1)
    coins = 0
    for _ in range(20):
        decision = policy.ask()
        text = str(policy.explain(decision))
        mixture = decision.reasons.mixture
        assert mixture is not None
        if mixture.first != mixture.second:
            assert f"A coin decided: action {'abcdefgh'[mixture.first]} with probability" in text
            coins += 1
        policy.tell(decision, 3.0 * float(decision.features[0]))
    assert coins > 0
    last = str(policy.explain(policy.ask()))
    assert "largest parts of its expected reward" in last
    assert "from price" in last
    assert [row["feature"] for row in policy.posterior.summary().to_dicts()] == ["price", "size", "age"]
    parts = decision.reasons.contributions
    np.testing.assert_allclose(np.abs(parts), np.sort(np.abs(parts))[::-1])


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="engine: expected one of 'particles'"):
        sb.SparseIDS(ACTIONS, engine="nuts")
    with pytest.raises(TypeError, match=r"engine_options: expected what particles takes \(threads\), got"):
        sb.SparseIDS(ACTIONS, engine_options={"chains": 3})
    with pytest.raises(TypeError, match=r"engine_options: expected what gibbs takes \(chains, burn_in\), got"):
        sb.SparseIDS(ACTIONS, engine="gibbs", engine_options={"seed": 3})
    with pytest.raises(
        TypeError, match=r"prior: expected .* for Enumeration, got the policy's default, .*: give one that enumeration"
    ):
        sb.SparseIDS(ACTIONS, engine="enumeration")
    with pytest.raises(TypeError, match=r"GaussianPrior\(variance=1.0, mean=0.0\)$"):
        sb.SparseIDS(ACTIONS, sb.GaussianPrior())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="engine_options: expected a mapping"):
        sb.SparseTS(ACTIONS, engine_options=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="prior: expected a SpikeSlab, got GaussianPrior"):
        sb.SparseIDS(ACTIONS, prior=sb.GaussianPrior())  # type: ignore[arg-type]
    prior = sb.SpikeSlab.from_paper(beta=0.3, lambda0=0.05, lambda1=0.5, noise_variance=1.0)
    with pytest.raises(
        TypeError, match="rewards: expected Gaussian rewards of known variance for Langevin, got the policy's default"
    ):
        sb.SparseIDS(ACTIONS, prior, engine="langevin")
    with pytest.raises(TypeError, match=r"engine_options: expected what particles takes \(threads\), got"):
        sb.SparseIDS(ACTIONS, engine_options={1: 2})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="noise_variance: expected rows of equal length"):
        sb.SparseTS(ACTIONS, noise_variance=[[1.0], [1.0, 2.0]])
    with pytest.raises(TypeError, match="path: expected the name of a file, got 3"):
        sb.SparseIDS(ACTIONS, n_draws=100).save(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="selection: expected one of"):
        sb.SparseIDS(ACTIONS, selection="greedy")
