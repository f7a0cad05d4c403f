"""Tables as people have them: any units, any level, any order of the rows, equal rows, batches."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray, IntArray

POLICIES: dict[str, Callable[..., sb.Policy]] = {
    "SparseIDS": lambda a, **more: sb.SparseIDS(a, n_draws=400, **more),
    "SparseTS": lambda a, **more: sb.SparseTS(a, n_draws=400, **more),
    "LinearIDS": lambda a, **more: sb.LinearIDS(a, n_draws=400, **more),
    "LinTS": sb.LinTS,
    "LinUCB": sb.LinUCB,
}
RNG = np.random.default_rng(3)
TABLE = RNG.standard_normal((12, 5))
TRUTH = np.array([1.0, 0.0, 0.0, -0.7, 0.0])
NOISE = 0.3 * RNG.standard_normal(60)


def played(policy: sb.Policy, rewards: Callable[[float], float] = float, rounds: int = 60) -> list[int]:
    """Return the rows that a policy plays on ``TABLE``, whose rewards are passed through a function."""
    actions = []
    for t in range(rounds):
        decision = policy.ask()
        actions.append(decision.action)
        policy.tell(decision, rewards(float(TABLE[decision.action] @ TRUTH + NOISE[t])))
    return actions


@pytest.mark.parametrize("power", [-40, -3, 20])
@pytest.mark.parametrize("name", ["SparseIDS", "SparseTS"])
def test_rewards_in_any_power_of_two_give_the_same_decisions(name: str, power: int) -> None:
    one, other = POLICIES[name](TABLE, seed=0), POLICIES[name](TABLE, seed=0)
    assert played(one) == played(other, lambda reward: reward * 2.0**power)
    np.testing.assert_allclose(one.posterior.inclusion(), other.posterior.inclusion(), rtol=1e-12)
    np.testing.assert_allclose(one.posterior.mean() * 2.0**power, other.posterior.mean(), rtol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("size", [1e-20, 1e-12, 1e12, 1e20])
@pytest.mark.parametrize("engine", ["particles", "gibbs"])
def test_rewards_of_any_size_are_learnt_from(engine: str, size: float, intercept: bool) -> None:
    """``model/limits.py`` has the range; beyond it they are refused."""
    policy = sb.SparseIDS(TABLE, n_draws=100, engine=engine, seed=0, intercept=intercept)
    played(policy, lambda reward: reward * size, rounds=6)
    assert 0.01 < policy.posterior.unit / size < 100.0
    assert np.isfinite(policy.predict().mean).all()


@pytest.mark.parametrize("name", ["SparseIDS", "SparseTS"])
def test_features_in_any_power_of_two_give_the_same_decisions(name: str) -> None:
    unit = 2.0 ** np.array([10, -20, 0, 3, 30])
    one, other = POLICIES[name](TABLE, seed=0), POLICIES[name](TABLE * unit, seed=0)
    assert played(one) == played(other)
    np.testing.assert_allclose(one.posterior.inclusion(), other.posterior.inclusion(), rtol=1e-9)


@pytest.mark.parametrize("name", POLICIES)
def test_rewards_and_features_at_any_level_give_the_same_decisions(name: str) -> None:
    """Levels are powers of two, so that only the last digits of the numbers are lost."""
    one, other = POLICIES[name](TABLE, seed=0), POLICIES[name](TABLE + 2.0 ** np.array([3, 0, 5, 1, 2]), seed=0)
    assert played(one) == played(other, lambda reward: reward + 4096.0)
    np.testing.assert_allclose(one.posterior.mean(), other.posterior.mean(), rtol=1e-6, atol=1e-9)


def test_a_noise_prior_with_a_floor_is_caught() -> None:
    """The planted bug: the default of version 0.1."""
    make = POLICIES["SparseIDS"]
    floor = sb.InverseGammaNoise(1.0, 0.1)
    one, other = make(TABLE, noise_variance=floor, seed=0), make(TABLE, noise_variance=floor, seed=0)
    played(one)
    played(other, lambda reward: reward * 2.0**-20)
    assert abs(one.posterior.inclusion() - other.posterior.inclusion()).max() > 0.3


@pytest.mark.parametrize("name", ["SparseIDS", "SparseTS"])
@pytest.mark.parametrize("given", [None, sb.SpikeSlab(0.3, 1.0)], ids=["default prior", "prior in units of rewards"])
def test_rewards_of_zero_before_the_first_other_one(name: str, given: Any) -> None:
    """They count, whenever the unit becomes known: against the same rewards in one batch, on Gibbs."""
    plain = sb.Gaussian()  # what is out of line counts in full
    policy = POLICIES[name](TABLE, prior=given, seed=0, rewards=plain)
    rows = np.arange(12).repeat(3)
    rewards = np.where(np.arange(36) < 30, 0.0, 1.0 + NOISE[:36])
    decisions = [policy.ask(TABLE[row : row + 1]) for row in rows]
    for decision, reward in zip(decisions, rewards, strict=True):
        policy.tell(decision, float(reward))
    assert policy.posterior.unit == 2.0 ** round(np.log2(abs(rewards[30]) * np.sqrt(30 / 31)))
    other = sb.Gibbs(policy.posterior.prior, 5, n_draws=20_000, seed=0, rewards=policy.posterior.rewards)
    other.level, other.unit = other.level, policy.posterior.unit
    other.absorb(TABLE[rows], rewards)
    many = [POLICIES[name](TABLE, prior=given, seed=seed, rewards=plain) for seed in range(8)]
    for one in many:
        for row, reward in zip(rows, rewards, strict=True):
            one.posterior.absorb(TABLE[row : row + 1], np.array([reward]))
    found = np.mean([one.posterior.inclusion() for one in many], axis=0)
    np.testing.assert_allclose(found, other.inclusion(), atol=0.06)


@pytest.mark.parametrize("seed", range(3))
def test_equal_rewards_and_then_a_large_one(seed: int) -> None:
    """The unit becomes known late, and leaves few of the particles that were to fit any unit."""
    policy = POLICIES["SparseIDS"](TABLE, prior=sb.SpikeSlab(0.4, 1.0), seed=seed)
    for reward in [0.0] * 5 + [3000.0, 0.0, 0.0]:
        policy.tell(policy.ask(), reward)
    assert policy.posterior.unit > 1000.0
    assert np.isfinite(policy.predict().mean).all()


@pytest.mark.parametrize("rewards", [[5.0], [5.0, 5.0, 5.0]])
def test_nothing_is_predicted_in_a_unit_that_is_not_known(rewards: list[float]) -> None:
    policy = POLICIES["SparseIDS"](TABLE, seed=0)
    for reward in rewards:
        policy.tell(policy.ask(), reward)
    found = policy.predict()
    np.testing.assert_array_equal(found.mean, 5.0)
    np.testing.assert_array_equal(found.sd, np.inf)
    policy.tell(policy.ask(), 6.0)
    assert np.isfinite(policy.predict().sd).all()


def test_the_first_of_a_batch_is_the_next_decision() -> None:
    """Nothing has to be believed for it, so a learnt noise is not replaced by its mean."""
    for n in (None, 3):
        policy = sb.SparseIDS(TABLE, seed=0, gain="mutual-information", n_draws=300)
        played(policy, rounds=6)
        first = policy.ask() if n is None else policy.ask(n=n)[0]
        if n is None:
            alone = first
    assert first.action == alone.action
    assert str(first.reasons) == str(alone.reasons)


ONE_HOT = np.eye(8)


def firsts(make: Callable[..., sb.Policy], table: FloatArray, tries: int = 200) -> IntArray:
    """Return how often each row is the first decision."""
    return np.bincount([make(table, seed=seed).ask().action for seed in range(tries)], minlength=len(table))


@pytest.mark.parametrize("name", ["SparseTS", "SparseIDS", "LinUCB", "LinTS"])
def test_every_row_may_come_first(name: str) -> None:
    """On a table in which all rows are alike, each is as likely to be played first as any other."""

    def make(table: FloatArray, seed: int) -> sb.Policy:
        more: dict[str, Any] = {"n_draws": 200} if name.startswith("Sparse") else {}
        made: sb.Policy = getattr(sb, name)(table, seed=seed, **more)
        return made

    counts = firsts(make, ONE_HOT)
    assert stats.chisquare(counts).pvalue > 1e-4, counts


@pytest.mark.parametrize("name", POLICIES)
def test_equal_rows_are_equally_likely(name: str) -> None:
    table = np.concatenate((np.tile([3.0, 0.0, 0.0, -3.0, 0.0], (5, 1)), TABLE[1:4]))
    policy = POLICIES[name](table, seed=0)
    batch = policy.ask(n=8, distinct=True)
    policy.tell(batch, [float(one.features @ TRUTH) for one in batch])
    counts, said = np.zeros(8), np.zeros(8)
    for _ in range(300):
        decision = policy.ask()
        counts[decision.action] += 1
        said[decision.action] = decision.probability
    assert stats.chisquare(counts[:5]).pvalue > 1e-4, counts
    np.testing.assert_allclose(said[:5], said[0], rtol=0.25 if name == "LinTS" else 1e-9)  # estimated for LinTS


# Predictions and batches


@pytest.mark.parametrize("name", POLICIES)
def test_predictions_are_those_of_the_posterior(name: str) -> None:
    policy = POLICIES[name](TABLE, seed=0)
    assert np.isnan(policy.predict().mean).all()
    assert np.isinf(policy.predict().sd).all()
    played(policy, lambda reward: reward + 100.0)
    found = policy.predict()
    np.testing.assert_allclose(found.mean, 100.0 + TABLE @ TRUTH, atol=6 * found.sd.max())
    assert found.optimal_probability.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(policy.predict(TABLE[::-1].copy()).mean, found.mean[::-1], rtol=1e-9)
    theta, weights = policy.posterior.draws().theta, policy.posterior.draws().weights
    level = policy.posterior.level
    drawn = level.reward + (TABLE - level.features) @ theta.T
    mean = drawn @ weights
    spread = (drawn - mean[:, np.newaxis]) ** 2 @ weights + policy.posterior.noise_variance / level.weight
    exact = name.startswith("Lin")  # then draws are not what is asked for
    np.testing.assert_allclose(found.mean, mean, atol=0.4 if exact else 1e-9)
    np.testing.assert_allclose(found.sd, np.sqrt(spread), rtol=0.4 if exact else 1e-9)


def test_without_an_intercept_predictions_start_at_the_prior() -> None:
    found = sb.LinUCB(TABLE, intercept=False).predict()
    np.testing.assert_array_equal(found.mean, 0.0)
    np.testing.assert_allclose(found.sd, np.sqrt((TABLE**2).sum(axis=1) / 5))


@pytest.mark.parametrize("name", POLICIES)
def test_asking_for_a_batch_learns_nothing(name: str) -> None:
    policy = POLICIES[name](TABLE, seed=0)
    played(policy, rounds=10)
    before = policy.posterior.state()
    batch = policy.ask(n=5)
    after = policy.posterior.state()
    assert [one.id for one in batch] == [10, 11, 12, 13, 14]
    assert policy.pending == batch
    for key in ("evidence", "level", "unit"):
        np.testing.assert_equal(after[key], before[key])
    policy.tell(batch, TABLE[[one.action for one in batch]] @ TRUTH)
    assert policy.pending == ()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("rewards", [[], [0.0], [0.0, 0.0]])
def test_a_batch_before_rewards_differ_believes_that_they_do_not(rewards: list[float], intercept: bool) -> None:
    """Expected rewards have Monte Carlo error. It must neither be the unit of rewards nor be taken for effects."""
    policy = POLICIES["SparseIDS"](TABLE, seed=0, intercept=intercept)
    for reward in rewards:
        policy.tell(policy.ask(), reward + (7.0 if intercept else 0.0))
    before = policy.posterior.inclusion().max()
    believes = policy.posterior.believer()
    noise = believes.noise_variance
    assert policy.posterior.mean().any(), "Monte Carlo error"
    for one in policy.ask(n=8):
        policy._believe(believes, (one,))
    assert believes.noise_variance == pytest.approx(noise), "expected rewards have no noise, which must not be learnt"
    assert believes.inclusion().max() < before + 0.05
    assert policy.posterior.unit == 0.0
    assert policy.posterior.evidence.count == max(len(rewards) - intercept, 0)


def test_a_batch_of_distinct_actions() -> None:
    policy = POLICIES["SparseIDS"](TABLE, seed=0)
    batch = policy.ask(n=12, distinct=True)
    assert sorted(one.action for one in batch) == list(range(12))
    for one in batch:
        np.testing.assert_array_equal(one.features, TABLE[one.action])
        assert one.reasons.candidates[0] == one.action
    with pytest.raises(ArgumentError, match=r"^n: expected at most 12, the number of actions, got 13$"):
        policy.ask(n=13, distinct=True)


def test_pending_decisions_count_on_request() -> None:
    """A deterministic rule repeats itself, unless what is pending counts."""
    policy = POLICIES["SparseIDS"](TABLE, seed=0)
    played(policy, rounds=3)
    alone = [policy.ask().action for _ in range(6)]
    assert len(set(alone)) == 1
    policy = POLICIES["SparseIDS"](TABLE, seed=0)
    played(policy, rounds=3)
    counting = [policy.ask(pending=True).action for _ in range(6)]
    assert counting[0] == alone[0]
    assert len(set(counting)) > 1


def test_a_learner_without_expected_rewards_cannot_count_what_is_pending() -> None:
    policy = sb.rivals.ESTC(TABLE, exploration=4)
    assert len(policy.ask(n=3)) == 3
    with pytest.raises(ArgumentError, match=r"^pending: expected False, got True, but LassoOnce has no expected"):
        policy.ask(pending=True)
    with pytest.raises(ArgumentError, match=r"^policy: expected one with a posterior"):
        policy.predict()


# Propensities


@pytest.mark.parametrize("name", ["SparseTS", "SparseIDS, randomised"])
@pytest.mark.parametrize("table", ["zeros and ones", "normal"])
def test_pairs_of_a_batch_are_as_likely_as_their_propensities_say(name: str, table: str) -> None:
    """The propensity of the second decision is given the first; planted: as if the first could be played again."""
    rows = np.array([[1.0, 0, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]]) if table == "zeros and ones" else TABLE[:4, :3]
    policy = (
        sb.SparseTS(rows, n_draws=300, seed=0)
        if name == "SparseTS"
        else sb.SparseIDS(rows, n_draws=300, selection="randomised", seed=0)
    )
    policy.posterior.update(rows, rows @ [0.3, -0.2, 0.1] + [0.1, -0.3, 0.2, 0.0])
    tries, played, said, alone = 1500, np.zeros((4, 4)), np.zeros((4, 4)), np.zeros((4, 4))
    for _ in range(tries):
        one, other = policy.ask(n=2, distinct=True, pending=False)
        assert one.action != other.action
        played[one.action, other.action] += 1
        said[one.action, other.action] = one.probability * other.probability
        alone[one.action, other.action] = said[one.action, other.action] * (1.0 - one.probability)
    met = said > 0
    expected, found = said[met] * tries, played[met]
    assert expected.sum() == pytest.approx(tries, rel=0.05)  # pairs that were never met are rare
    if len(found) > 1:
        assert stats.chisquare(found, expected * found.sum() / expected.sum()).pvalue > 1e-4
    if name == "SparseTS":
        wrong = alone[met]
        assert stats.chisquare(found, wrong * found.sum() / wrong.sum()).pvalue < 1e-4


@pytest.mark.filterwarnings("ignore::sparsebandits.journal.offpolicy.OverlapWarning")
def test_off_policy_estimates_of_batches_with_ties_hold_the_truth() -> None:
    """Logs of a policy that learns in batches on a table with equal rows: intervals for the action that is played."""
    table = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    held, weights = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        log = sb.journal.DecisionLog()
        policy = sb.SparseTS(table, n_draws=300, seed=seed, journal=log)
        for _ in range(20):
            batch = policy.ask(n=5)
            policy.tell(batch, [float(one.features[0] + rng.standard_normal()) for one in batch])
        found = sb.offpolicy.inverse_propensity(log, [0.5, 0.5, 0.0, 0.0, 0.0])
        held.append(found.low <= 1.0 <= found.high)
        weights.append(found.mean_weight)
    assert np.mean(held) > 0.8
    assert np.mean(weights) == pytest.approx(1.0, abs=4 * np.std(weights) / np.sqrt(40))


@pytest.mark.parametrize("power", [10, 60])
def test_rewards_in_another_unit_give_the_same_decisions_where_the_noise_is_learnt(power: int) -> None:
    """A power of two: bit for bit, whatever the actions are."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        actions, noise = rng.standard_normal((60, 8)), rng.standard_normal(25)
        played = []
        for unit in (1.0, 2.0**power):
            policy = sb.SparseIDS(actions, seed=0)
            chosen = []
            for extra in noise.tolist():
                decision = policy.ask()
                chosen.append(decision.action)
                policy.tell(decision, unit * (float(actions[decision.action, 0]) + extra))
            played.append(chosen)
        assert played[0] == played[1]
