"""What every policy promises about decisions and rewards, for each of them in the table."""

import numpy as np
import pandas as pd
import pytest

import sparsebandits as sb
from sparsebandits.posteriors.engine import Engine
from tests.policies.table import ALL, CANNOT_LEARN_A_FIXED_SET, POLICIES, Maker, fingerprint, play, some_actions

every_policy = pytest.mark.parametrize("make", ALL.values(), ids=ALL)
with_rows = pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES)
ESTIMATES = [name for name in POLICIES if hasattr(getattr(sb.rivals, name.split(",")[0], None), "coefficients")]


@every_policy
def test_a_decision_says_what_it_is(make: Maker) -> None:
    actions = some_actions()
    policy = make(actions, seed=0)
    first, second = policy.ask(), policy.ask()
    assert (first.id, second.id) == (0, 1)
    for decision in (first, second):
        assert 0 < decision.probability <= 1
        if len(policy.actions):
            assert 0 <= decision.action < 6
            np.testing.assert_array_equal(decision.features, actions[decision.action])
        else:
            assert decision.action == -1
            size = 1.0 if isinstance(policy.actions, sb.policies.Cube) else 1 / np.sqrt(3)
            np.testing.assert_allclose(np.abs(decision.features), np.full(3, size), rtol=1e-15)
        with pytest.raises(ValueError, match="read-only"):
            decision.features[0] = 0.0
    assert [d.id for d in policy.pending] == [0, 1]


@every_policy
def test_same_seed_same_decisions(make: Maker) -> None:
    assert play(make(some_actions(), seed=5), 30) == play(make(some_actions(), seed=5), 30)


def late_share_of_best(policy: sb.Policy, sign: float) -> float:
    """Share of the last 100 of 400 rounds in which the best action is played; rewards come multiplied by ``sign``."""
    rng = np.random.default_rng(0)
    means = np.array([0.1, 0.9, 0.3, 0.2])
    played = []
    for _ in range(400):
        decision = policy.ask()
        policy.tell(decision, sign * (means[decision.action] + 0.3 * rng.standard_normal()))
        played.append(decision.action)
    return float(np.mean(np.array(played[300:]) == 1))


@pytest.mark.parametrize("name", [name for name in POLICIES if name not in CANNOT_LEARN_A_FIXED_SET])
def test_it_learns(name: str) -> None:
    make = POLICIES[name]
    assert late_share_of_best(make(np.eye(4), noise_variance=0.1, seed=0), 1.0) > 0.8
    assert late_share_of_best(make(np.eye(4), noise_variance=0.1, seed=0), -1.0) < 0.2, "planted: the wrong sign"


@every_policy
def test_rewards_late_out_of_order_and_in_batches_lead_to_the_same_knowledge(make: Maker) -> None:
    policy = make(some_actions(), seed=0)
    decisions = [policy.ask() for _ in range(9)]
    rewards = np.linspace(-1, 1, 9)
    policy.tell(decisions[4], rewards[4])
    policy.tell([decisions[k] for k in (8, 1, 3)], rewards[[8, 1, 3]])
    policy.tell([decisions[k].id for k in (0, 2)], [rewards[0], rewards[2]])
    policy.tell(decisions[5].id, rewards[5])
    policy.tell([decisions[6]], rewards[6:7])
    assert [d.id for d in policy.pending] == [7]
    policy.tell(np.int64(7), np.float32(rewards[7]))  # type: ignore[arg-type]
    assert policy.pending == ()
    x = np.array([d.features for d in decisions])
    y = rewards.copy()
    y[7] = np.float32(rewards[7])
    if isinstance(policy, sb.rivals.HypercubeElimination):
        np.testing.assert_array_equal(policy.posterior.rounds, np.full(3, 9))
        np.testing.assert_allclose(policy.posterior.totals, x.T @ y, atol=1e-12)
    if isinstance(policy, sb.rivals.SLUCB):
        assert policy.posterior.rounds == 9
        np.testing.assert_allclose(policy.posterior.totals, 3 * x.T @ y, atol=1e-12)
    if isinstance(policy, sb.rivals.ESTC):  # keeps the rewards themselves
        rows = np.column_stack((policy.posterior.features, policy.posterior.rewards))
        np.testing.assert_array_equal(np.unique(rows, axis=0), np.unique(np.column_stack((x, y)), axis=0))
    posterior = getattr(policy.posterior, "forecaster", policy.posterior)
    if not isinstance(posterior, Engine):  # the Lasso policies, which keep their data, are in test_lasso_policies.py
        return
    if posterior.level is not None:
        np.testing.assert_allclose(posterior.level.features, x.mean(axis=0), atol=1e-12)
        x, y = x - x.mean(axis=0), y - y.mean()
    np.testing.assert_allclose(posterior.evidence.gram, x.T @ x, atol=1e-12)
    np.testing.assert_allclose(posterior.evidence.moment, x.T @ y, atol=1e-12)
    if isinstance(posterior, sb.Conjugate):
        expected = np.linalg.solve(x.T @ x + 3.0 * np.eye(3), x.T @ y)  # prior variance 1/d, unit noise
        np.testing.assert_allclose(posterior.mean(), expected, atol=1e-10)


@every_policy
def test_telling_again(make: Maker) -> None:
    policy = make(some_actions(), seed=0)
    decision, other = policy.ask(), policy.ask()
    policy.tell(decision, 0.5)
    before = fingerprint(policy)
    policy.tell(decision, 0.5)
    policy.tell(decision.id, 0.5)
    policy.tell([decision, decision], [0.5, 0.5])
    policy.tell((one for one in [decision]), (one for one in [0.5]))
    assert fingerprint(policy) == before
    for told, reward, message in (
        (decision, 0.6, r"reward: expected 0\.5 for decision 0, as told before, got 0\.6"),
        ([other, decision], [1.0, 0.6], r"reward: expected 0\.5 for decision 0, as told before"),
        ([other, other], [1.0, 2.0], r"reward: expected one reward for decision 1, got 1\.0 and 2\.0"),
        (2, 1.0, "decision: expected one of this policy's 2 decisions, got id 2"),
        ([other, 99], [1.0, 1.0], "got id 99"),
        (-1, 1.0, "decision: expected a whole number of at least 0, got -1"),
        (True, 1.0, "decision: expected a whole number, got True"),
        ("0", 1.0, "decision: expected a decision, its id, or a sequence of them, got '0'"),
        (None, 1.0, "decision: expected a decision"),
        (1.0, 1.0, "decision: expected a decision"),
        (other, None, "reward: expected a number, got None"),
        (other, "good", "reward: expected a number, got 'good'"),
        (other, float("nan"), "reward: expected a finite number"),
        (other, float("inf"), "reward: expected a finite number"),
        (other, 1e60, "reward: expected a finite number"),
        (other, [1.0], "reward: expected a number"),
        ([other], 1.0, "reward: expected as many rewards as decisions, got 1.0"),
        ([other], [1.0, 2.0], "reward: expected 1 rewards, one per decision, got 2"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            policy.tell(told, reward)  # type: ignore[arg-type]
        assert fingerprint(policy) == before, (told, reward)
    policy.tell([], [])
    assert fingerprint(policy) == before


@with_rows
def test_another_policys_decision_is_refused(make: Maker) -> None:
    policy, stranger = make(some_actions(), seed=0), make(some_actions(seed=9), seed=0)
    policy.ask()
    with pytest.raises(ValueError, match="decision: expected one of this policy's, got another policy's"):
        policy.tell(stranger.ask(), 1.0)


@with_rows
def test_changing_action_sets(make: Maker) -> None:
    policy = make(some_actions(), seed=0)
    play(policy, 5)
    for k in range(1, 8):
        actions = some_actions(n_actions=k, seed=k)
        decision = policy.ask(actions)
        np.testing.assert_array_equal(decision.features, actions[decision.action])
        policy.tell(decision, 1.0)
    assert policy.ask().action < 6
    before = fingerprint(policy)
    for bad, message in (
        (some_actions(dimension=2), r"actions: expected 3 columns, one per feature, got shape \(6, 2\)"),
        (np.empty((0, 3)), r"actions: expected at least one row"),
        ([1.0, 2.0, 3.0], r"actions: expected 2 dimensions, got shape \(3,\)"),
        ([[1.0, np.inf, 0.0]], r"actions: expected finite numbers .* got inf at position \(0, 1\)"),
        ([["a", "b", "c"]], "actions: expected an array of numbers, got strings"),
        ([[1.0, 2.0, 3.0], [1.0]], "actions: expected rows of equal length"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            policy.ask(bad)
        assert fingerprint(policy) == before


@every_policy
@pytest.mark.parametrize(("n_actions", "dimension"), [(1, 1), (1, 4), (5, 1), (3, 20)])
def test_smallest_sizes(make: Maker, n_actions: int, dimension: int) -> None:
    policy = make(some_actions(n_actions, dimension), seed=0)
    decisions = play(policy, 10)
    if n_actions == 1 and len(policy.actions):
        assert decisions == [(0, 1.0)] * 10


@with_rows
def test_identical_and_zero_actions(make: Maker) -> None:
    for actions in (np.ones((4, 2)), np.zeros((3, 2))):
        decisions = play(make(actions, seed=0), 10)
        assert all(0 <= action < len(actions) for action, _ in decisions)


@with_rows
def test_explanations(make: Maker) -> None:
    frame = pd.DataFrame(some_actions(20), columns=["price", "size", "age"], index=[f"offer {k}" for k in range(20)])
    policy = make(frame, seed=0)
    play(policy, 5)
    decision = policy.ask()
    assert decision.label == f"offer {decision.action}"
    for explanation in (policy.explain(decision), policy.explain(decision.id)):
        text = str(explanation)
        assert text.startswith(f"{type(policy).__name__} chose action offer {decision.action} with probability")
        rows = explanation.table
        assert [row["chosen"] for row in rows] == [True] + [False] * (len(rows) - 1)
        assert rows[0]["action"] == decision.label
        assert 8 <= len(rows) <= 10
        assert len({row["action"] for row in rows}) == len(rows)
        assert all(isinstance(row["action"], str) for row in rows)
    policy.tell(decision, 1.0)
    assert str(policy.explain(decision)) == text
    with pytest.raises(ValueError, match=f"decision: expected the decision itself.*, got its id {decision.id}"):
        policy.explain(decision.id)
    with pytest.raises(ValueError, match="decision: expected one of this policy's"):
        policy.explain(99)


@pytest.mark.parametrize("name", ESTIMATES)
def test_reading_coefficients_changes_nothing(name: str) -> None:
    """Planted: an estimate that is made when it is read starts the next one from another place."""
    read, unread = (POLICIES[name](some_actions(8, 4), seed=0) for _ in range(2))
    for round_number in range(6):
        batches = [[policy.ask() for _ in range(4)] for policy in (read, unread)]
        assert [(one.action, one.probability) for one in batches[0]] == [
            (one.action, one.probability) for one in batches[1]
        ]
        for number, (one, other) in enumerate(zip(*batches, strict=True)):
            reward = float(one.features[0]) + np.sin(4 * round_number + number)
            read.tell(one, reward)
            unread.tell(other, reward)
            before = fingerprint(read)
            assert np.isfinite(read.coefficients).all()  # type: ignore[attr-defined]
            assert fingerprint(read) == before == fingerprint(unread)


def test_tables_with_other_things_than_numbers_are_refused_by_column() -> None:
    frame = pd.DataFrame({"price": [1.0, 2.0], "colour": ["red", "blue"]})
    with pytest.raises(
        TypeError, match="actions: expected numbers in every column, got something else in 'colour'; encode"
    ):
        sb.LinTS(frame)
    mixed = pd.DataFrame({"price": [1.0, 2.0], "count": [1, 2]})
    np.testing.assert_array_equal(sb.LinTS(mixed).actions.features, [[1.0, 1.0], [2.0, 2.0]])


@with_rows
def test_columns_are_matched_by_name(make: Maker) -> None:
    frame = pd.DataFrame(some_actions(), columns=["price", "size", "age"])
    policy = make(frame, seed=0)
    other = pd.DataFrame(some_actions(seed=3), columns=["price", "size", "age"])
    straight, turned = policy.ask(other), policy.ask(other[["age", "price", "size"]])
    for decision in (straight, turned):
        np.testing.assert_array_equal(decision.features, other.to_numpy()[decision.action])
    before = fingerprint(policy)
    for wrong in (other.rename(columns={"price": "weight"}), other[["price", "size"]], other.assign(more=1.0)):
        with pytest.raises(ValueError, match="actions: expected the columns"):
            policy.ask(wrong)
    with pytest.raises(ValueError, match=r"a different name for every column, got .* more than once"):
        policy.ask(pd.DataFrame(np.ones((2, 3)), columns=["price", "price", "age"]))
    assert fingerprint(policy) == before


def test_true_and_false_are_one_and_zero() -> None:
    flags = pd.DataFrame({"price": [1.0, 2.0], "sale": [True, False]})
    policy, same = sb.LinUCB(flags, seed=0), sb.LinUCB(flags.astype(float), seed=0)
    policy.tell(policy.ask(), True)
    same.tell(same.ask(), 1.0)
    assert fingerprint(policy) == fingerprint(same)


def test_the_users_array_is_copied() -> None:
    actions = some_actions()
    policy = sb.LinTS(actions, seed=0)
    actions[:] = np.nan
    assert np.isfinite(policy.ask().features).all()


def test_repr_names_the_settings() -> None:
    assert repr(sb.LinUCB(np.eye(3), width=1.5)) == (
        "LinUCB(3 actions of 3 features; Conjugate(prior=GaussianPrior(variance=0.3333333333333333, mean=0.0), "
        "n_draws=10000, rewards=Gaussian(variance=1.0, intercept=True, tails=None)); Optimism(width=1.5); "
        "0 asked, 0 pending)"
    )
    frame = pd.DataFrame(np.diag([2.0, 1.0]), index=["a", "b"])
    assert repr(sb.LinUCB(frame, intercept=False).ask()) == "Decision(id=0, action=0, label='a', probability=1)"
    tied = sb.LinUCB(frame).ask()  # two actions are as far from their mean as each other
    assert repr(tied) == f"Decision(id=0, action={tied.action}, label={'ab'[tied.action]!r}, probability=0.5)"
    assert repr(sb.LinTS(np.eye(1)).ask()) == "Decision(id=0, action=0, probability=1 (estimated from 101 draws))"
    assert repr(sb.Conjugate(sb.GaussianPrior(), 2)) == (
        "Conjugate(GaussianPrior(variance=1.0, mean=0.0), dimension=2, "
        "rewards=Gaussian(variance=1.0, intercept=False, tails=None), n_draws=10000; 0 observations)"
    )
