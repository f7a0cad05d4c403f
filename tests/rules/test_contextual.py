"""Contextual IDS: regret and gain of all contexts against slow versions, one context, and an instance built for it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.rows import Rows
from sparsebandits.rules import ContextualInformationDirected, InformationDirected
from sparsebandits.rules.around import Around
from sparsebandits.rules.listed import Listed, quadratic_forms

RNG = np.random.default_rng(7)


def around(contexts: int = 5, dimension: int = 6) -> Around:
    sizes = RNG.integers(1, 5, contexts)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    probability = RNG.dirichlet(np.ones(contexts))
    return Around(Listed(RNG.standard_normal((int(starts[-1]), dimension)), starts), probability)


def sparse_draws(count: int = 40, dimension: int = 6) -> Draws:
    theta = RNG.standard_normal((count, dimension)) * (RNG.random((count, dimension)) < 0.4)
    return Draws(theta, RNG.dirichlet(np.ones(count)))


def compressed(draws: Draws) -> Draws:
    theta = draws.theta
    counts = (theta != 0).sum(axis=1)
    ends = np.cumsum(counts)
    rows = Rows(ends - counts, ends, np.nonzero(theta)[1].astype(np.int32), theta[theta != 0], theta.shape[1])
    return Draws.trusted(rows, draws.weights)


@pytest.mark.parametrize("kind", ["dense", "compressed"])
def test_regret_and_spread_are_loops_over_contexts_and_draws(kind: str) -> None:
    """Planted: the mean of θ is not subtracted from that of a group; the spread is off by the square of it."""
    for _ in range(10):
        coming, dense = around(), sparse_draws()
        draws = dense if kind == "dense" else compressed(dense)
        mean = dense.weights @ dense.theta
        optimal = coming.optimal(draws, mean)
        regret, spread = coming.regret(draws, coming.features @ mean, optimal), np.zeros((6, 6))
        for s in range(len(coming)):
            own = coming.features[coming.starts[s] : coming.starts[s + 1]]
            values = dense.theta @ own.T
            likely = np.where(values > values.max(axis=1, keepdims=True) - 1e-9, own @ mean, -np.inf)  # if several tie
            best = likely.argmax(axis=1)
            np.testing.assert_array_equal(optimal.action[s], best)
            expected = dense.weights @ values.max(axis=1) - own @ mean
            np.testing.assert_allclose(regret[coming.starts[s] : coming.starts[s + 1]], expected, atol=1e-5)
            for a in np.unique(best):
                members = best == a
                share = dense.weights[members].sum()
                apart = dense.weights[members] @ dense.theta[members] / share - mean
                spread += coming.probability[s] * share * np.outer(apart, apart)
        np.testing.assert_allclose(coming.spread(draws, mean, optimal, single=True), spread, atol=1e-5)
        np.testing.assert_allclose(coming.spread(draws, mean, optimal), spread, atol=1e-12)


def test_quadratic_forms_are_loops_over_rows() -> None:
    rows, factor, centre = RNG.standard_normal((7, 4)), RNG.standard_normal((4, 4)), RNG.standard_normal(4)
    spread = factor @ factor.T
    for c in (None, centre):
        apart = rows if c is None else rows - c
        np.testing.assert_allclose(quadratic_forms(rows, spread, c), [a @ spread @ a for a in apart])
        single = quadratic_forms(rows.astype(np.float32), spread, c)
        np.testing.assert_allclose(single, [a @ spread @ a for a in apart], rtol=1e-4)


@pytest.mark.parametrize("gain", ["variance", "mutual-information"])
@pytest.mark.parametrize("engine", ["table", "conjugate", "particles"])
def test_with_one_context_it_is_randomised_ids(gain: str, engine: str) -> None:
    actions = np.random.default_rng(3).standard_normal((6, 3))
    whole = (tuple(range(6)),)

    def policy(rule: Any) -> sb.Policy:
        learners: dict[str, Any] = {
            "table": lambda: sb.Table(
                sb.Hypotheses(np.random.default_rng(4).standard_normal((9, 3))), noise_variance=1.0
            ),
            "conjugate": lambda: sb.Conjugate(sb.GaussianPrior(1.0), 3, 1.0, n_draws=200, seed=2),
            "particles": lambda: sb.Particles(sb.SpikeSlab(0.5, 1.0), 3, 1.0, n_draws=200, seed=2),
        }
        return sb.Policy(actions, learners[engine](), rule, seed=5)

    one = policy(ContextualInformationDirected(gain=gain, available=whole))
    other = policy(InformationDirected(selection="randomised", gain=gain))
    alone = policy(ContextualInformationDirected(gain=gain))
    for t in range(12):
        decisions = [each.ask() for each in (one, other, alone)]
        assert len({(d.action, d.probability) for d in decisions}) == 1
        for each, decision in zip((one, other, alone), decisions, strict=True):
            each.tell(decision, float(np.sin(t)) + actions[decision.action, 0])


def sparse_instance(places: int, effect: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, int]:
    """Return actions, hypotheses and the size of the first context, after Theorem 6.3 of Hao et al. (2022)."""
    cube = np.hstack([rng.choice([-1.0, 1.0], (40, places)), np.ones((40, 1))])
    first = np.vstack([np.zeros((1, places + 1)), cube])
    second = np.hstack([np.eye(places), np.zeros((places, 1))])
    return np.vstack([first, second]), np.hstack([effect * np.eye(places), -np.ones((places, 1))]), len(first)


def regret_of(rule: Any, seed: int, rounds: int = 150) -> float:
    rng = np.random.default_rng(seed)
    actions, theta, first = sparse_instance(40, 0.9, rng)
    means = actions @ theta[rng.integers(len(theta))]
    sets = tuple(range(first)), tuple(range(first, len(actions)))
    if rule == "contextual":
        rule = ContextualInformationDirected(available=sets)
    policy = sb.Policy(actions, sb.Table(sb.Hypotheses(theta), noise_variance=1.0), rule, seed=seed)
    total = 0.0
    for _ in range(rounds):
        offered = sets[rng.integers(2)]
        decision = policy.ask(available=offered)
        policy.tell(decision, means[decision.action] + rng.standard_normal())
        total += means[list(offered)].max() - means[decision.action]
    return total


def test_it_explores_for_the_other_context_where_conditional_ids_does_not() -> None:
    """Planted: the gain of the context at hand alone; regret is that of conditional IDS, several times as large."""
    found = [(regret_of("contextual", s), regret_of(InformationDirected(selection="randomised"), s)) for s in range(4)]
    contextual, conditional = np.mean(found, axis=0)
    assert contextual < 0.6 * conditional


ITEMS = {"price": RNG.normal(10.0, 3.0, 5), "kind": ["a", "b", "a", "c", "b"]}
USERS: list[dict[str, Any]] = [{"age": float(age), "country": "DF"[age % 2]} for age in range(20, 50)]


@pytest.mark.parametrize("gain", ["variance", "total-variance", "mutual-information"])
def test_contexts_come_from_the_table_of_the_policy(gain: str, tmp_path: Path) -> None:
    items = sb.policies.Items.of(ITEMS, USERS)
    rule = ContextualInformationDirected(gain=gain, contexts=10)
    learner = sb.Particles(sb.SpikeSlab(0.2, 1.0), items.dimension, 1.0, n_draws=100, seed=0)
    policy = sb.Policy(items, learner, rule, seed=1)
    for user in USERS[:6]:
        decision = policy.ask(context=user)
        assert decision.diagnostics["contexts in the ratio"] in (10.0, 11.0)
        policy.tell(decision, user["age"] / 30)
    policy.save(tmp_path / "policy")
    again = sb.load(tmp_path / "policy")
    for user in USERS[6:10]:
        one, other = policy.ask(context=user), again.ask(context=user)
        assert (one.action, one.probability) == (other.action, other.probability)
        policy.tell(one, 1.0)
        again.tell(other, 1.0)


def test_contexts_that_are_not_known_are_those_that_came_last(tmp_path: Path) -> None:
    items = sb.policies.Items.of(np.eye(3), ["heat", "noise"])
    learner = sb.Conjugate(sb.GaussianPrior(1.0), items.dimension, 1.0, n_draws=50, seed=0)
    policy = sb.Policy(items, learner, ContextualInformationDirected(contexts=4), seed=1)
    found = []
    for t in range(8):
        decision = policy.ask(context=[float(t), -1.0])
        found.append(decision.diagnostics["contexts in the ratio"])
        policy.tell(decision, 0.0)
    assert found == [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 5.0, 5.0]
    policy.save(tmp_path / "policy")
    again = sb.load(tmp_path / "policy")
    one, other = policy.ask(context=[3.0, 1.0]), again.ask(context=[3.0, 1.0])
    assert (one.action, one.probability) == (other.action, other.probability)
    refused = policy.state()["recent"]
    with pytest.raises(ArgumentError):
        policy.ask(context=["hot", 1.0])
    np.testing.assert_array_equal(policy.state()["recent"], refused)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"exponent": 1.0}, "exponent"),
        ({"gain": "entropy"}, "gain"),
        ({"contexts": 0}, "contexts"),
        ({"available": ()}, "available"),
        ({"available": ((0, 0),)}, "available"),
        ({"available": ((0,), ())}, "available"),
        ({"available": 5}, "available: expected a sequence of sequences of rows"),
        ({"available": (5, 6)}, "available: expected a sequence of rows"),
        ({"available": ("01", "2")}, "available: expected a sequence of rows"),
        ({"available": {0: (1,)}}, "available"),
        ({"available": ((0,), (1,)), "probability": (0.5,)}, "probability"),
        ({"available": ((0,), (1,)), "probability": ()}, "probability"),
        ({"available": ((0,), (1,)), "probability": 0.5}, "probability: expected a sequence of numbers"),
        ({"available": ((0,), (1,)), "probability": np.array([0.5, 0.6])}, "probability: expected 2 that sum to one"),
        ({"available": ((0,), (1,)), "probability": (1.5, -0.5)}, "probability"),
        ({"probability": (1.0,)}, "probability"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=rf"^{message}"):
        ContextualInformationDirected(**settings)


def test_settings_may_be_arrays_and_lists() -> None:
    rule = ContextualInformationDirected(available=np.array([[1, 0], [2, 3]]), probability=np.array([0.25, 0.75]))  # type: ignore[arg-type]
    assert rule == ContextualInformationDirected(available=((0, 1), (2, 3)), probability=(0.25, 0.75))
    assert ContextualInformationDirected(available=[[0], range(2)]).available == ((0,), (0, 1))  # type: ignore[arg-type]


def test_what_a_policy_cannot_serve_is_refused() -> None:
    rule = ContextualInformationDirected(available=((0, 1), (7,)))
    with pytest.raises(ArgumentError, match="rows below 3"):
        sb.Policy(np.eye(3), sb.Conjugate(sb.GaussianPrior(1.0), 3, 1.0), rule)
    with pytest.raises(ArgumentError, match="Gaussian rewards"):
        sb.policies.SparsePolicy(np.eye(3), ContextualInformationDirected(), rewards=sb.Bernoulli())


def revealing(arms: int, rule: Any, seed: int, rounds: int = 80) -> float:
    """Return the regret of Example 1 of Hao et al. (2022).

    In the first context one of the arms brings 1, the others nothing. In the second an arm brings 1, and another one
    brings nothing, but shows the rewards of all arms of the first.
    """
    rng = np.random.default_rng(seed)
    theta = np.hstack([np.eye(arms), np.ones((arms, 1)), np.zeros((arms, 1))])
    means = theta[rng.integers(arms)]
    sets = tuple(range(arms)), (arms, arms + 1)
    if rule == "contextual":
        rule = ContextualInformationDirected(gain="mutual-information", available=sets)
    actions = sb.policies.ActionSet.of(np.eye(arms + 2)).with_feedback({arms + 1: [*range(arms)]})
    policy = sb.Policy(actions, sb.Table(sb.Hypotheses(theta), noise_variance=0.1), rule, seed=seed)
    total = 0.0
    for _ in range(rounds):
        offered = sets[rng.integers(2)]
        decision = policy.ask(available=offered)
        shown = decision.observed or (decision.action,)
        policy.tell(decision, {row: means[row] + 0.3 * rng.standard_normal() for row in shown})
        total += means[list(offered)].max() - means[decision.action]
    return total


def test_an_action_that_reveals_another_context_is_played_for_it() -> None:
    """Planted: neighbours that are not on offer do not count; the revealing arm is never played."""
    conditional = InformationDirected(selection="randomised", gain="mutual-information")
    found = [(revealing(20, "contextual", s), revealing(20, conditional, s)) for s in range(4)]
    contextual, other = np.mean(found, axis=0)
    assert contextual < 4.0
    assert contextual < 0.5 * other


def test_draws_of_hardly_any_weight_leave_the_spread_finite() -> None:
    """A quotient of probabilities overflowed, and contextual IDS ended in an error once a hypothesis was ruled out."""
    theta = np.eye(3)
    draws = Draws(theta, np.array([0.5, 0.5, 1e-310]))
    coming = Around(Listed(np.eye(3), np.array([0, 3])), np.ones(1))
    mean = draws.weights @ theta
    spread = coming.spread(draws, mean, coming.optimal(draws, mean))
    np.testing.assert_allclose(spread[:2, :2], [[0.25, -0.25], [-0.25, 0.25]])
    assert np.isfinite(spread).all()


KINDS, COUNTRIES = [{"kind": kind} for kind in "abc"], [{"country": "DE"}, {"country": "FR"}]
PRODUCTS = sb.features.concat(sb.features.item("kind"), sb.features.cross("country", "kind"))


def policy_of(actions: Any, theta: FloatArray, seed: int = 0, noise: float = 1.0, **given: Any) -> sb.Policy:
    """Return contextual IDS under a table of hypotheses."""
    table = sb.Table(sb.Hypotheses(theta), noise_variance=noise)
    return sb.Policy(actions, table, ContextualInformationDirected(**given), seed=seed)


def gains(decision: sb.Decision) -> dict[int, float]:
    reasons = decision.reasons
    return dict(zip(reasons.candidates.tolist(), reasons.columns["information gain"].tolist(), strict=True))


def test_contexts_that_occur_several_times_are_one() -> None:
    """Each copy had a mixture of its own, of which the first was always played: it got all of the exploration."""
    once = sb.policies.Items.of(KINDS, COUNTRIES, PRODUCTS)
    theta = np.random.default_rng(33).normal(size=(6, once.dimension))
    shares = []
    for copies in (1, 10):
        items = sb.policies.Items.of(KINDS, COUNTRIES * copies, PRODUCTS)
        played = [policy_of(items, theta, seed).ask(context=COUNTRIES[0]).action for seed in range(60)]
        shares.append(played)
    assert shares[0] == shares[1]
    assert 0 < np.mean([action == 1 for action in shares[0]]) < 1
    rows = policy_of(np.eye(3), np.eye(3), available=((0, 1), (1, 2), (0, 1)))
    rows.ask(available=[0, 1])
    assert rows._around().probability.tolist() == pytest.approx([2 / 3, 1 / 3])  # type: ignore[union-attr]


def test_actions_that_tie_are_compared_by_their_mean_whatever_their_order() -> None:
    """The first of them was taken, which gave actions information that nobody has, and regret was paid for it."""
    theta = np.array([[a, 0.0, b] for a in (0.1, -0.1) for b in (0.0, -1.0)])
    rows = {"p": [1.0, 0, 0], "n": [-1.0, 0, 0], "safe": [0, 1.0, 0], "risky": [0, 0, 1.0]}
    for order in (["safe", "risky"], ["risky", "safe"]):
        names = ["p", "n", *order]
        policy = policy_of(np.array([rows[name] for name in names]), theta, available=((0, 1), (2, 3)))
        decisions = [policy.ask(available=[2, 3]) for _ in range(20)]
        assert {names[one.action] for one in decisions} == {"safe"}
        assert gains(decisions[0])[names.index("risky")] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("kind", ["dense", "compressed"])
def test_ties_do_not_depend_on_the_order_of_rows(kind: str) -> None:
    """Under a third of the draws all actions tie, and under others those of a category do."""
    rng = np.random.default_rng(5)
    theta = rng.standard_normal((60, 4)) * (rng.random((60, 4)) < 0.3)
    dense = Draws(theta, rng.dirichlet(np.ones(60)))
    draws = dense if kind == "dense" else compressed(dense)
    features = np.column_stack([rng.integers(0, 2, (12, 2)), rng.standard_normal((12, 2))]).astype(float)
    for mean in (dense.weights @ theta, np.zeros(4)):  # before the first reward, no mean decides
        expected = None
        for order in (np.arange(12), rng.permutation(6), rng.permutation(6)):
            order = np.concatenate((order[:6], 6 + order[:6]))[:12] if len(order) == 6 else order
            coming = Around(Listed(features[order], np.array([0, 6, 12])), np.full(2, 0.5))
            spread = coming.spread(draws, mean, coming.optimal(draws, mean))
            expected = spread if expected is None else expected
            np.testing.assert_allclose(spread, expected, atol=1e-12)


def test_items_show_rewards_of_others_in_every_context() -> None:
    """The graph was forgotten as soon as there were two contexts."""
    theta = np.column_stack([np.eye(6), np.full(6, -1.0)])
    found = []
    for count in (1, 2):
        arms, users = [{"arm": f"a{i}"} for i in range(7)], [{"u": float(i)} for i in range(count)]
        items = sb.policies.Items.of(arms, users, sb.features.item("arm")).with_feedback({6: range(6)})
        decision = policy_of(items, theta, noise=0.01).ask(context={"u": 0.0})
        found.append(gains(decision)[6])
    assert found == pytest.approx([5 / 6, 5 / 6])


@pytest.mark.parametrize("gain", ["variance", "total-variance", "mutual-information"])
def test_noise_variances_of_actions_count(gain: str) -> None:
    """With several contexts they were left out, or were those of the first row."""
    actions = sb.policies.ActionSet.of(np.eye(3)).with_noise([100.0, 0.01, 0.01])
    alone = gains(policy_of(actions, np.eye(3), gain=gain, available=((0, 1, 2),)).ask())
    several = gains(policy_of(actions, np.eye(3), gain=gain, available=((0, 1, 2), (0, 1))).ask())
    assert alone[0] < 0.01 * alone[1]
    assert several[0] < 0.01 * several[1]
    if gain != "variance":  # the gain about θ and about all best actions is the same in both
        assert several == pytest.approx(alone)


def test_rows_of_contexts_may_be_named_in_any_order() -> None:
    """Otherwise the context at hand is not found among those that may come."""
    world = np.column_stack([np.eye(5), np.ones(5), np.zeros(5)])
    graph = np.eye(7, dtype=bool)
    graph[6, :5] = True
    actions = sb.policies.ActionSet.of(np.eye(7)).with_feedback(graph)
    for contexts in (((0, 1, 2, 3, 4), (5, 6)), ((4, 2, 0, 3, 1), (6, 5))):
        decision = policy_of(actions, world, noise=0.1, available=contexts).ask(available=contexts[1])
        assert decision.diagnostics["contexts in the ratio"] == 2
        assert gains(decision)[6] > 0.1


@pytest.mark.parametrize("gain", ["variance", "total-variance", "mutual-information"])
@pytest.mark.parametrize("noise", [None, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]])
@pytest.mark.parametrize("contexts", [1, 2, "named", "rows"])
def test_rewards_of_actions_that_are_not_on_offer_count(contexts: Any, noise: list[float] | None, gain: str) -> None:
    """Only those among the actions on offer did, in a context that is not one of the table as it is."""
    theta = np.column_stack([np.eye(6), np.full(6, -1.0)])
    arms = [{"arm": f"a{i}"} for i in range(7)]
    users: Any = ["u"] if contexts == "named" else [{"u": float(i)} for i in range(2 if contexts == 2 else 1)]
    actions: sb.policies.ActionSet = sb.policies.Items.of(arms, users, sb.features.item("arm"))
    asked: dict[str, Any] = {"context": {"u": 0.0}}
    given: dict[str, Any] = {"gain": gain}
    if contexts == "rows":
        actions, asked, given = sb.policies.ActionSet.of(np.eye(7)), {}, {**given, "available": ((0, 1, 6),)}
    actions = actions.with_feedback({6: range(6)})
    actions = actions if noise is None else actions.with_noise(noise)
    decision = policy_of(actions, theta, **given).ask(**asked, available=[0, 1, 6])
    found = gains(decision)
    assert found[6] > 1.02 * (found[0] + found[1])  # equal if the four others that it shows did not count
    if gain == "total-variance":  # of each of six hypotheses: 5 / 36
        expected = sum(5 / 36 / one for one in ([1.0] * 6 if noise is None else noise[:6]))
        assert found[6] == pytest.approx(expected)
