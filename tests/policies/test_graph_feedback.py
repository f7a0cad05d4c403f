"""Feedback graphs: what a decision shows, what is learnt, what it is worth, what is saved and what is refused."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, SaveFileError
from sparsebandits.files import pack, write_atomically
from sparsebandits.journal.events import _line
from sparsebandits.policies import ActionSet
from sparsebandits.policies.policy import KIND, VERSION
from sparsebandits.policies.saved import check_record
from sparsebandits.rules import Beliefs
from tests.policies.table import fingerprint, some_actions

MAKERS: dict[str, Callable[..., sb.Policy]] = {
    "SparseIDS": lambda actions, **given: sb.SparseIDS(actions, n_draws=100, **given),
    "SparseIDS, ratio": lambda actions, **given: sb.SparseIDS(actions, n_draws=100, selection="randomised", **given),
    "SparseIDS, nats": lambda actions, **given: sb.SparseIDS(actions, n_draws=50, gain="mutual-information", **given),
    "SparseTS": lambda actions, **given: sb.SparseTS(actions, n_draws=100, **given),
    "LinearIDS": lambda actions, **given: sb.LinearIDS(actions, n_draws=200, **given),
    "LinTS": sb.LinTS,
    "LinUCB": sb.LinUCB,
}
every_policy = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)

K = 6
ACTIONS = some_actions(K)


def random_graph(seed: int, count: int = K, density: float = 0.4) -> Any:
    return np.random.default_rng(seed).random((count, count)) < density


def rewards_of(decision: sb.Decision) -> dict[int, float]:
    """Rewards that depend on the decision and the row alone."""
    return {row: float(np.random.default_rng((decision.id, row)).normal(row)) for row in decision.observed or ()}


def play(policy: sb.Policy, rounds: int) -> list[tuple[int, float]]:
    decisions: list[sb.Decision] = []
    for _ in range(rounds):
        decisions.append(policy.ask())
        policy.tell(decisions[-1], rewards_of(decisions[-1]))
    return [(one.action, one.probability) for one in decisions]


@every_policy
def test_a_graph_of_self_loops_changes_nothing(make: Callable[..., sb.Policy]) -> None:
    """Planted: a sum over neighbours that leaves out the diagonal has no gain at all."""
    plain, looped = make(ACTIONS, seed=3), make(ACTIONS, seed=3, feedback=np.eye(K))
    for t in range(12):
        one, other = plain.ask(), looped.ask()
        assert (one.action, one.probability) == (other.action, other.probability)
        line = f"It shows the reward of row {other.action}.\n"
        assert str(plain.explain(one)) == str(looped.explain(other)).replace(line, "")
        assert other.observed == (other.action,)
        reward = float(np.sin(t) + one.action)
        plain.tell(one, reward)
        looped.tell(other, [{other.action: reward}, [reward], reward][t % 3])
    assert np.array_equal(plain.told, looped.told)
    assert json.dumps(_plain(plain.posterior.state())) == json.dumps(_plain(looped.posterior.state()))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
def test_gains_are_sums_over_neighbours(seed: int, density: float) -> None:
    """Against a slow loop. Planted: the transposed graph, in-neighbours, fails unless the graph is symmetric."""
    graph = random_graph(seed, density=density)
    posterior = sb.Conjugate(sb.GaussianPrior(1.0), 3, noise_variance=0.5, n_draws=500, seed=seed)
    posterior.update(ACTIONS[0], 1.0)
    alone, with_graph = Beliefs(posterior, ACTIONS), Beliefs(posterior, ACTIONS, feedback=graph)
    for name in ("variance_gain", "unbiased_variance_gain", "mutual_information", "unbiased_mutual_information"):
        own = getattr(alone, name)
        expected = [sum(own[b] for b in range(K) if graph[a, b]) for a in range(K)]
        np.testing.assert_allclose(with_graph.shown(getattr(with_graph, name)), expected, rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(alone.shown(own), own)
    for rule, column in (
        (sb.rules.InformationDirected(), "information gain"),
        (sb.rules.CostToGo(horizon=50), "information (nats)"),
    ):
        beliefs = Beliefs(posterior, ACTIONS, feedback=graph)
        choice = rule.choose(beliefs, np.random.default_rng(0))
        own = alone.variance_gain if column == "information gain" else alone.informed(alone.information, 0.05)[0]
        expected = graph @ own
        if column != "information gain":
            expected = np.minimum(expected, alone.information.unbiased_entropy)
        np.testing.assert_allclose(choice.reasons.columns[column], expected[choice.reasons.candidates], rtol=1e-12)
    if density == 0.3:
        assert not np.allclose(graph.T @ own, graph @ own)


def test_the_same_rows_in_another_order_are_refused() -> None:
    """The graph belongs to places, so rewards would be learnt for the wrong rows; other features are new numbers."""
    policy = sb.LinUCB(ACTIONS, feedback=random_graph(0), seed=0)
    with pytest.raises(ValueError, match="in their order, got the same rows in another order"):
        policy.ask(actions=ACTIONS[::-1])
    assert len(policy.ask(actions=ACTIONS.copy()).features) == ACTIONS.shape[1]
    assert len(policy.ask(actions=ACTIONS + 1.0).features) == ACTIONS.shape[1]


def revealing(arms: int = 6) -> tuple[Any, sb.Hypotheses, Any]:
    """One of the first arms is better by one; the last one always loses one, and shows all others."""
    theta = np.zeros((arms - 1, arms))
    theta[np.arange(arms - 1), np.arange(arms - 1)] = 1.0
    theta[:, -1] = -1.0
    graph = np.eye(arms, dtype=bool)
    graph[-1] = True
    graph[-1, -1] = False
    return np.eye(arms), sb.Hypotheses(theta), graph


@pytest.mark.parametrize("settings", [{"gain": "variance"}, {"gain": "mutual-information"}, {"horizon": 200}])
def test_a_revealing_action_is_chosen_for_what_it_shows(settings: dict[str, Any]) -> None:
    """It is never the best and tells nothing of itself. Planted: without the graph its gain is zero."""
    actions, prior, graph = revealing(20)
    given: dict[str, Any] = {"prior": prior, "noise_variance": 0.05, "intercept": False, "seed": 0}
    policy = sb.SparseIDS(actions, feedback=graph, **given, **settings)
    decision = policy.ask()
    assert decision.action == 19
    assert decision.observed == tuple(range(19))
    policy.tell(decision, [1.0 * (row == 7) for row in range(19)])
    assert np.isnan(policy.told[0])
    assert policy.shown(decision) == {row: 1.0 * (row == 7) for row in range(19)}
    assert policy.predict().optimal_probability[7] > 0.99
    assert policy.ask().action == 7
    blind = sb.SparseIDS(actions, **given, **settings)
    assert blind.ask().action != 19


def test_thompson_sampling_and_optimism_do_not_pay_for_information() -> None:
    actions, prior, graph = revealing()
    policy = sb.SparseTS(actions, prior, 1.0, feedback=graph, intercept=False, seed=0)
    linear = sb.LinUCB(actions, sb.GaussianPrior(0.01, [0.0] * 5 + [-1.0]), 1.0, feedback=graph, intercept=False)
    for one in (policy, linear):
        assert 5 not in [action for action, _ in play(one, 40)]


@pytest.mark.parametrize("intercept", [True, False])
def test_learning_from_neighbours_is_updating_by_hand(intercept: bool) -> None:
    """Exactly. Planted: features of the chosen action for all rewards, or rewards in another order, differ at once."""
    graph = random_graph(1)
    graph[0] = False  # shows nothing
    theta = np.random.default_rng(2).standard_normal((40, 3))
    gaussian = sb.Gaussian(0.7, intercept=intercept)
    for policy, by_hand in (
        (
            sb.LinTS(ACTIONS, sb.GaussianPrior(2.0), feedback=graph, rewards=gaussian, intercept=intercept, seed=0),
            sb.Conjugate(sb.GaussianPrior(2.0), 3, rewards=gaussian, seed=9),
        ),
        (
            sb.SparseTS(ACTIONS, sb.Hypotheses(theta), feedback=graph, rewards=gaussian, intercept=intercept, seed=0),
            sb.Table(sb.Hypotheses(theta), 3, rewards=gaussian, seed=9),
        ),
    ):
        for t in range(15):
            decision = policy.ask(available=[t % K])
            rewards = rewards_of(decision)
            policy.tell(decision, dict(reversed(rewards.items())))
            rows = np.flatnonzero(graph[t % K])
            assert decision.observed == tuple(rows.tolist())
            np.testing.assert_array_equal(decision.observation, ACTIONS[rows])
            if len(rows):
                by_hand.absorb(ACTIONS[rows], np.array([rewards[row] for row in rows.tolist()]))
            np.testing.assert_array_equal(policy.posterior.mean(), by_hand.mean())
        np.testing.assert_array_equal(policy.posterior.variances(ACTIONS), by_hand.variances(ACTIONS))


def test_noise_variances_are_those_of_the_rows_that_are_shown() -> None:
    """Planted: the noise of the chosen action for all rewards gives other means."""
    graph, noise = np.ones((K, K)), np.linspace(0.1, 3.0, K)
    policy = sb.LinTS(ACTIONS, noise_variance=noise, feedback=graph, intercept=False, seed=0)
    decision = policy.ask()
    np.testing.assert_array_equal(decision.observed_noise, noise)
    policy.tell(decision, range(K))
    precision = 3.0 * np.eye(3) + (ACTIONS.T / noise) @ ACTIONS
    expected = np.linalg.solve(precision, (ACTIONS.T / noise) @ np.arange(K))
    np.testing.assert_allclose(policy.posterior.mean(), expected, rtol=1e-9)


def test_counts_with_exposure_and_clicks() -> None:
    policy = sb.LinTS(ACTIONS, rewards=sb.Poisson(), feedback=np.ones((K, K)), seed=0)
    policy.tell(policy.ask(exposure=2.0), [2, 0, 4, 6, 1, 0])
    by_hand = sb.LinTS(ACTIONS, rewards=sb.Poisson(), seed=0)
    for row, count in enumerate([2, 0, 4, 6, 1, 0]):
        by_hand.tell(by_hand.ask(available=[row], exposure=2.0), count)
    np.testing.assert_allclose(policy.predict().mean, by_hand.predict().mean, rtol=0.2)
    clicks = sb.SparseIDS(ACTIONS, rewards=sb.Bernoulli(), feedback={0: [0, 1]}, n_draws=100, seed=0)
    for _ in range(5):
        decision = clicks.ask()
        clicks.tell(decision, {row: row == 1 for row in decision.observed or ()})
    with pytest.raises(ArgumentError):
        clicks.tell(clicks.ask(available=[0]), {0: 0.5, 1: 1})


def test_old_rewards_of_neighbours_are_forgotten_alike() -> None:
    policy = sb.LinTS(ACTIONS, feedback=np.ones((K, K)), forgetting=sb.Discount(half_life=3), intercept=False, seed=0)
    first = policy.ask()
    for _ in range(4):
        policy.tell(policy.ask(), range(K))
    policy.tell(first, [5.0] * K)  # late
    assert np.isfinite(policy.predict().mean).all()


@every_policy
@pytest.mark.parametrize("seed", [0, 1])
def test_random_graphs_saved_and_loaded_with_pending_decisions(
    make: Callable[..., sb.Policy], seed: int, tmp_path: Path
) -> None:
    policy = make(ACTIONS, feedback=random_graph(seed), seed=seed)
    first = policy.ask()
    rewards = rewards_of(first)
    policy.tell(first, rewards)
    play(policy, 7)
    pending = [policy.ask() for _ in range(3)]
    policy.save(tmp_path / "policy")
    loaded = sb.load(tmp_path / "policy")
    np.testing.assert_array_equal(loaded.actions.feedback, policy.actions.feedback)
    assert fingerprint(loaded) == fingerprint(policy) == fingerprint(copy.deepcopy(policy))
    for one in (policy, loaded):
        assert one.shown(0) == rewards
        one.tell([d.id for d in pending], [rewards_of(d) for d in pending])
        one.tell(2, policy.shown(2))  # again
    assert play(loaded, 6) == play(policy, 6)
    assert [d.action for d in loaded.ask(n=3)] == [d.action for d in policy.ask(n=3)]
    assert fingerprint(loaded) == fingerprint(policy)


@pytest.mark.parametrize("change", ["reward", "action", "observed", "missing", "graph"])
def test_a_file_that_the_graph_contradicts_is_refused(change: str, tmp_path: Path) -> None:
    graph = np.ones((K, K), dtype=bool)
    graph[2, 3] = False
    policy = sb.LinTS(ACTIONS, feedback=graph, seed=0)
    play(policy, 4)
    policy.ask()
    state = policy.state()
    if change == "reward":
        state["shown"]["reward"] = state["shown"]["reward"][:-1]
    elif change == "action":
        state["shown"]["action"] = state["shown"]["action"] + K
    elif change == "observed":
        state["pending"]["4"]["fields"]["observed"] = {"tuple": [0]}
    elif change == "missing":
        del state["shown"]
    else:
        state["actions"]["fields"]["feedback"] = np.eye(K, dtype=bool)
    write_atomically(tmp_path / "policy", pack(KIND, VERSION, state))
    with pytest.raises(sb.SaveFileError, match=r"^path"):
        sb.load(tmp_path / "policy")


WRONG: list[Any] = [
    1.0,
    [1.0],
    [1.0, 2.0, 3.0],
    {0: 1.0},
    {0: 1.0, 1: 2.0, 2: 3.0},
    {0: 1.0, 2: 2.0},
    {},
    [],
    "ab",
    None,
]
WRONG += [
    {0: 1.0, "first": 2.0},
    {"first": 1.0, 0: 1.0, 1: 2.0},
    [1.0, np.nan],
    [1.0, "2"],
    [1.0, None],
    {0: 1.0, True: 2.0},
]
WRONG += [{0: 1.0, 1: np.inf}, {0: 1.0, 9: 2.0}, np.array(1.0)]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_refused_rewards_change_nothing(wrong: Any) -> None:
    frame = pd.DataFrame(ACTIONS, index=["first", "second", "third", "fourth", "fifth", "sixth"])
    policy = sb.LinTS(frame, feedback={"third": ["first", 1]}, seed=0)
    policy.tell(policy.ask(available=[0]), 1.0)
    decision = policy.ask(available=["third"])
    before = fingerprint(policy)
    with pytest.raises(ArgumentError):
        policy.tell(decision, wrong)
    with pytest.raises(ArgumentError):
        policy.tell([decision], [wrong])
    assert fingerprint(policy) == before
    policy.tell(decision, pd.Series({"second": 2.0, "first": 1.0}))
    told = fingerprint(policy)
    for same in ({0: 1.0, 1: 2.0}, [1.0, 2.0], np.array([1, 2]), {"first": 1, "second": 2.0}):
        policy.tell(decision, same)
        policy.tell(decision.id, same)
    with pytest.raises(ArgumentError, match="as told before"):
        policy.tell(decision, [2.0, 1.0])
    with pytest.raises(ArgumentError):
        policy.tell(decision, wrong)
    assert fingerprint(policy) == told


def test_a_batch_is_told_at_once() -> None:
    policy, one_by_one = (sb.LinTS(ACTIONS, feedback=random_graph(2), seed=0) for _ in range(2))
    batch = policy.ask(n=4)
    policy.tell(batch, [rewards_of(d) for d in batch])
    decision = policy.ask(available=[int(np.argmax(random_graph(2).sum(axis=1)))])
    values = list(rewards_of(decision).values())
    with pytest.raises(ArgumentError, match="one reward for decision"):
        policy.tell([decision, decision], [values, values[::-1]])
    for decision in one_by_one.ask(n=4):
        one_by_one.tell(decision, rewards_of(decision))
    np.testing.assert_allclose(policy.posterior.mean(), one_by_one.posterior.mean(), rtol=1e-9)


@pytest.mark.parametrize(
    "graph",
    [
        np.ones((K, K - 1)),
        np.ones(K),
        2 * np.eye(K),
        "graph",
        3,
        {K: [0]},
        {0: [K]},
        {0: "first"},
        {0: 1},
        {"first": [0]},
        {0: [True]},
        {True: [0]},
        np.full((K, K), np.nan),
        pd.DataFrame(np.eye(K), index=list("abcdef"), columns=list("abcdeg")),
        [],
        {0: [1], np.int64(0): [2], "0": [1]},
    ],
    ids=repr,
)
def test_refused_graphs(graph: Any) -> None:
    frame = pd.DataFrame(ACTIONS, index=list("abcdef"))
    with pytest.raises(ArgumentError, match=r"^feedback"):
        sb.LinTS(frame, feedback=graph)


def test_names_and_tables() -> None:
    frame, graph = pd.DataFrame(ACTIONS, index=list("abcdef")), random_graph(4)
    table = pd.DataFrame(graph, index=list("abcdef"), columns=list("abcdef"))
    mixed = table.loc[list("fedcba"), list("badcfe")]
    lists = {name: [other for other in "abcdef" if table.loc[name, other]] for name in "abcdef"}
    for given in (graph, graph.astype(int), graph.tolist(), table, mixed, lists, dict(reversed(lists.items()))):
        np.testing.assert_array_equal(ActionSet.of(frame).with_feedback(given).feedback, graph)
    some = np.array([4, 1, 2])
    np.testing.assert_array_equal(ActionSet.of(frame).with_feedback(graph).rows(some).feedback, graph[some][:, some])
    kept: Any = ActionSet.of(frame).with_feedback(graph).feedback
    assert not kept.flags.writeable


def test_other_actions_have_the_rows_of_the_graph() -> None:
    policy = sb.LinTS(ACTIONS, feedback=random_graph(3), seed=0)
    other = some_actions(K, seed=5)
    decision = policy.ask(other)
    np.testing.assert_array_equal(decision.observation, other[list(decision.observed or ())])
    policy.tell(decision, rewards_of(decision))
    for wrong in (some_actions(K + 1), ActionSet.of(other).with_feedback(np.zeros((K, K)))):
        with pytest.raises(ArgumentError, match=r"^actions"):
            policy.ask(wrong)
    with pytest.raises(ArgumentError, match=r"^actions"):
        sb.LinTS(ACTIONS, seed=0).ask(ActionSet.of(other).with_feedback(np.eye(K)))
    assert policy.predict(some_actions(9)).mean.shape == (9,)


def test_contexts_have_a_graph_too() -> None:
    users = [{"age": float(age)} for age in range(20, 50)]
    policy = sb.SparseIDS({"price": [1.0, 2.0, 4.0]}, contexts=users, feedback={2: [0, 1]}, n_draws=100, seed=0)
    for user in users[:10]:
        decision = policy.ask(context=user)
        items: Any = policy.actions
        rows = items.for_context(user).features[list(decision.observed or ())]
        np.testing.assert_array_equal(decision.observation, rows)
        policy.tell(decision, rewards_of(decision))


@every_policy
@pytest.mark.parametrize("shows", [[[1]], [[0]]])
def test_a_single_action(make: Callable[..., sb.Policy], shows: list[list[int]]) -> None:
    policy = make(np.ones((1, 2)), feedback=shows, seed=0)
    for _ in range(3):
        decision = policy.ask()
        assert decision.observed == ((0,) if shows[0][0] else ())
        policy.tell(decision, [1.0] * shows[0][0])
    assert np.isnan(policy.told).all() != bool(shows[0][0])
    assert policy.pending == ()


def test_learners_of_other_rows_and_cubes_have_no_graph() -> None:
    graph = ActionSet.of(ACTIONS).with_feedback(np.eye(K))
    with pytest.raises(ArgumentError, match=r"^posterior"):
        sb.rivals.LassoBandit(graph)
    with pytest.raises(ArgumentError, match=r"^feedback"):
        sb.policies.Cube.of(3).with_feedback(np.eye(3))


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_the_journal_has_what_was_shown(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal: Any = sb.journal.DecisionLog() if kind == "memory" else sb.journal.JsonLines(path)
    policy = sb.LinTS(ACTIONS, feedback=random_graph(5), journal=journal, seed=0)
    play(policy, 12)
    last = policy.ask()
    if kind == "memory":
        journal.save(path)
    for records in (
        journal.records(),
        sb.journal.JsonLines(path).records(),
        sb.journal.DecisionLog.load(path).records(),
    ):
        assert [record.pending for record in records] == [False] * 12 + [True]
        for record in records[:12]:
            number: Any = record.id
            assert record.shown == policy.shown(number)
            assert record.reward == record.shown.get(record.action)
            assert tuple(record.extra["observed"]) == tuple(record.shown)
            assert (record.reward is None) == bool(np.isnan(policy.told[number]))
    log = sb.journal.DecisionLog.load(path)
    assert len(log) == np.count_nonzero(~np.isnan(policy.told))
    assert "1 pending" in repr(log)
    journal.rewarded(0, records[0].reward, records[0].shown)  # again
    for reward, shown in ((None, None), (1.0, None), (7.0, {records[0].action: 7.0}), (None, {records[0].action: 7.0})):
        with pytest.raises((ValueError, TypeError), match="reward"):
            journal.rewarded(0, reward, shown)
    policy.tell(last, rewards_of(last))
    assert "0 pending" in repr(sb.journal.JsonLines(path)) or kind == "memory"


@pytest.mark.parametrize(
    "shown", ["[[0, 1.0], [0, 2.0]]", '[["0", 1.0]]', "[[0]]", "[[-1, 1.0]]", '{"0": 1.0}', "[[0.0, 1.0]]"]
)
def test_damaged_lines_of_a_journal(shown: str, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    policy = sb.LinTS(ACTIONS, feedback=np.eye(K), journal=sb.journal.JsonLines(path), seed=0)
    policy.ask()
    with path.open("ab") as file:
        file.write(_line("reward", {"id": 0, "reward": None, "shown": json.loads(shown)}))
    with pytest.raises(sb.SaveFileError, match="line 3"):
        sb.journal.JsonLines(path)


def test_play_takes_what_is_shown() -> None:
    policy = sb.LinTS(ACTIONS, feedback=random_graph(6), seed=0)
    log = sb.play(policy, rewards_of, rounds=10)
    assert [record.shown for record in log.records()] == [policy.shown(number) for number in range(10)]


def test_an_explanation_says_what_is_shown() -> None:
    policy = sb.LinTS(ACTIONS, feedback={0: [1, 2], 1: []}, seed=0)
    assert "It shows the rewards of rows 1, 2." in str(policy.explain(policy.ask(available=[0])))
    assert "It shows no reward." in str(policy.explain(policy.ask(available=[1])))
    assert "It shows" not in str(policy.explain(policy.ask(available=[2]))), "its own, as without a graph"


def test_an_explanation_names_what_is_shown(tmp_path: Path) -> None:
    named = pd.DataFrame(ACTIONS, index=list("abcdef"))
    policy = sb.LinTS(named, feedback={"a": ["b", "c"], "d": ["e"]}, seed=0)
    several, one = policy.ask(available=["a"]), policy.ask(available=["d"])
    policy.save(tmp_path / "policy")
    for each in (policy, sb.load(tmp_path / "policy")):
        assert "It shows the rewards of b, c." in str(each.explain(several.id))
        assert "It shows the reward of e." in str(each.explain(one.id))


def test_the_record_of_decisions_without_a_reward_of_their_own() -> None:
    """All of them are checked at once: a set that was made for each took half a minute for 20,000."""
    count = 20_000
    state = sb.LinTS(ACTIONS, feedback=np.zeros((K, K)), seed=0).state()
    state["rewards"] = np.full(count, np.nan)
    state["evidence"] = np.zeros(count)
    state["shown"] = {"id": np.arange(count), "action": np.zeros(count, dtype=np.int64), "reward": np.empty(0)}
    check_record(state, {}, {"asked": count, "dimension": ACTIONS.shape[1]})
    with pytest.raises(SaveFileError, match="pending"):
        check_record({**state, "shown": {**state["shown"], "id": np.arange(1, count + 1)}}, {}, {"asked": count})
