"""The rule of least cost to go, against a search by brute force."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray, frozen
from sparsebandits.policies.sparse import SparsePolicy
from sparsebandits.posteriors.kernels.choosing import informations, leading, sums_of_cells
from sparsebandits.rules.choice import PRIORS
from sparsebandits.rules.cost_to_go import CostToGo, cheapest, costs
from sparsebandits.rules.information import unbiased


def slow_cost(played: float, regret: float, least: float, until: float, rounds: int) -> float:
    """Cost of playing for some rounds, summed round by round; the last one counts for the part of it that is played."""
    total, whole = 0.0, int(played)
    for k in range(whole + 1):
        part = 1.0 if k < whole else played - whole
        total += part * (regret - least + least * max(1.0 - k / until, 0.0))  # a reward helps in later rounds
    return total + (rounds - played) * least * max(1.0 - played / until, 0.0)


@given(st.floats(0.01, 2.0), st.floats(0.0, 2.0), st.floats(0.001, 3.0), st.floats(0.01, 5.0), st.integers(1, 300))
def test_costs_are_the_least_over_all_numbers_of_rounds(
    least: float, apart: float, information: float, entropy: float, rounds: int
) -> None:
    regret, until = np.array([least, least + apart]), 0.5 * entropy / information
    found = costs(regret, np.array([0.0, information]), entropy, rounds)
    most = max(min(until, rounds), 1.0)
    slow = min(slow_cost(m, regret[1], least, until, rounds) for m in {*range(1, int(most) + 1), most})
    wiggle = least / until / 8.0 + 1e-9  # a parabola and the straight lines between its points at whole numbers
    assert found.total[1] == pytest.approx(slow, rel=1e-9, abs=max(wiggle, 0.6 * least / until))
    assert found.total[1] <= slow + wiggle
    assert found.total[0] == pytest.approx(least * rounds)
    assert 1.0 <= found.rounds[1] <= most + 1e-9
    again = slow_cost(float(round(found.rounds[1])), regret[1], least, until, rounds)
    assert again >= slow - 1e-9
    m = np.linspace(1.0, most, 200)  # the formula of the docstring, over all numbers of rounds
    later = m - m * (m - 1.0) / (2.0 * until) + np.maximum(1.0 - m / until, 0.0) * (rounds - m)
    assert found.total[1] <= (apart * m + least * later).min() * (1.0 + 1e-12)


@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)), min_size=2, max_size=6),
    st.floats(0.01, 3.0),
    st.one_of(st.integers(1, 6), st.floats(1.0, 300.0)),
)
def test_no_action_costs_less_than_one_with_less_regret_and_more_information(
    actions: list[tuple[float, float]], entropy: float, rounds: float
) -> None:
    regret, information = np.array(actions).T
    total = costs(regret, np.minimum(information, entropy), entropy, rounds).total
    for a, b in ((a, b) for a in range(len(actions)) for b in range(len(actions))):
        if regret[a] >= regret[b] and information[a] <= information[b]:
            assert total[a] >= total[b] * (1.0 - 1e-12)


def test_near_copies_with_few_rounds_left() -> None:
    """Rows that are a little shorter have more regret and less information, in the last rounds too."""
    rows, played = np.vstack((np.eye(3), 0.999 * np.eye(3))), []
    for seed in range(20):
        policy = sb.SparseIDS(
            rows, sb.SpikeSlab(1.0, 1.0), 1.0, "enumeration", 200, seed=seed, intercept=False, horizon=4
        )
        rng = np.random.default_rng(seed)
        for _ in range(4):
            means = policy.posterior.mean()
            decision = policy.ask()
            played.append(decision.action < 3 or means[decision.action - 3] <= 0.0)
            policy.tell(decision, float(rows[decision.action] @ [0.3, 0.2, 0.1] + rng.standard_normal()))
    assert all(played)


def test_the_number_of_rounds_within_its_bounds() -> None:
    """N = 100, e = Δ/2 and R = 120, so that m = R − ½ − N e / Δ = 69.5."""
    found = costs(np.array([1.0, 1.5]), np.array([0.0, 0.005]), 1.0, 120)
    assert found.rounds[1] == pytest.approx(69.5)
    assert found.total[1] == pytest.approx(0.5 * 69.5 + 69.5 - 69.5 * 68.5 / 200 + 0.305 * 50.5)


@pytest.mark.parametrize(
    ("least", "entropy", "rounds"), [(0.1, 0.0, 100.0), (0.0, 1.0, 100.0), (0.1, 1.0, 1.0), (0.1, 1e-300, 1.0)]
)
def test_nothing_to_learn_or_nothing_to_learn_for_is_greedy(least: float, entropy: float, rounds: float) -> None:
    regret, information = np.array([0.3, least, 0.2]), np.array([9.0, 0.0, 1.0])
    found = costs(regret, information, entropy, rounds)
    assert found.total.argmin() == 1
    np.testing.assert_allclose(found.later, least * rounds)  # nothing is saved


def test_an_action_that_is_worse_in_both_is_never_drawn() -> None:
    """Where no action tells anything, all would cost the same if none of their rounds had to be played."""
    rng = np.random.default_rng(0)
    for information in (np.zeros(3), np.array([0.0, 1e-9, 0.0])):
        cost = costs(np.array([0.1, 2.0, 100.0]), information, 0.5, 30.0)
        assert {cheapest(cost.total, np.array([0.1, 2.0, 100.0]), rng) for _ in range(20)} == {(0, 1.0)}
    actions = np.array([[i >> j & 1 for j in range(4)] for i in range(16)], dtype=float)  # among them a row of zeros
    policy = sb.SparseIDS(actions, intercept=False, horizon=30, n_draws=300, seed=0)
    for _ in range(30):
        decision = policy.ask()
        assert decision.probability == 1.0 or decision.id == 0
        policy.tell(decision, float(actions[decision.action] @ [-1, -1, 0, -1] + rng.standard_normal()))


def test_long_horizons_are_no_ties() -> None:
    regret = np.array([1.0, 2.0, 50.0])
    cost = costs(regret, np.array([0.5, 0.5, 0.0]), 1.0, 1e15).total
    assert cheapest(cost, regret, np.random.default_rng(0)) == (0, 1.0)
    assert cheapest(np.zeros(3), np.array([3.0, 1.0, 1.0]), np.random.default_rng(0))[1] == 0.5


def test_rounds_left() -> None:
    assert [CostToGo(100).rounds_left(t) for t in (0, 60, 99, 200)] == [100, 40, 1, 1]
    assert CostToGo(0.99).rounds_left(7) == pytest.approx(100)
    assert [CostToGo().rounds_left(t) for t in (0, 800)] == [200, 1000]


@pytest.mark.parametrize("horizon", [0, -1, 2.5, 0.0, 1.0, np.float32(1.0), "ten", np.nan, True])
def test_horizons_that_are_none(horizon: object) -> None:
    with pytest.raises(ArgumentError, match=r"^horizon: expected"):
        CostToGo(horizon=horizon)  # type: ignore[arg-type]


def test_a_reward_tells_at_most_what_is_not_known() -> None:
    """With little noise, ½ log(1 + v/σ²) is larger than the entropy, which no reward can be worth more than."""
    posterior = sb.Enumeration(sb.SpikeSlab(1.0, 1.0), 2, 1e-8, n_draws=4000, seed=0)
    beliefs = sb.rules.Beliefs(posterior, np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]))
    choice = CostToGo(1000).choose(beliefs, np.random.default_rng(0))
    largest = choice.reasons.columns["information (nats)"].max()
    assert (
        largest == choice.reasons.notes["entropy of the optimal action (nats)"] == pytest.approx(np.log(2.0), abs=0.01)
    )


def test_it_pays_for_information_while_there_is_time() -> None:
    """Two opposite rows tell which of them is good, and the third tells nothing."""
    actions = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    prior = sb.SpikeSlab(1.0, 1.0)
    posterior = sb.Enumeration(prior, 2, 1.0, n_draws=4000, seed=0)
    beliefs = sb.rules.Beliefs(posterior, actions)
    long = CostToGo(1000).choose(beliefs, np.random.default_rng(0))
    assert long.action in (0, 1)
    assert set(long.reasons.columns) >= {"costs now", "saves later"}
    assert long.reasons.columns["saves later"][0] > long.reasons.columns["costs now"][0]


def test_policies_have_it(tmp_path) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    actions = rng.standard_normal((20, 5))
    policy = SparsePolicy(actions, CostToGo(30), n_draws=200, seed=0)
    for _ in range(10):
        decision = policy.ask()
        policy.tell(decision, float(actions[decision.action, 0] + 0.1 * rng.standard_normal()))
    policy.save(tmp_path / "policy")
    back = sb.load(tmp_path / "policy", SparsePolicy)
    assert back.ask().action == policy.ask().action
    assert "costs now" in str(policy.explain(policy.ask()))


def test_sparse_ids_has_it_by_default_and_the_papers_rule_is_one_word_away() -> None:
    actions = np.eye(3)
    ratio = sb.rules.InformationDirected
    assert sb.SparseIDS(actions, n_draws=50).rule == CostToGo()
    assert sb.SparseIDS(actions, n_draws=50, horizon=40).rule == CostToGo(40)
    assert sb.SparseIDS(actions, n_draws=50, horizon=0.9).rule == CostToGo(0.9)
    assert sb.SparseIDS(actions, n_draws=50, rule="information-ratio").rule == ratio()
    assert sb.SparseIDS(actions, n_draws=50, rule="information-ratio", horizon=40).rule == ratio()
    assert sb.SparseIDS(actions, n_draws=50, selection="randomised").rule == ratio(selection="randomised")
    assert sb.SparseIDS(actions, n_draws=50, exponent=3.0, rule="information-ratio").rule == ratio(exponent=3.0)
    with pytest.raises(ArgumentError, match=r'^rule: expected "information-ratio" with'):
        sb.SparseIDS(actions, n_draws=50, rule="cost-to-go", gain="variance")
    with pytest.raises(ArgumentError, match=r"^horizon: expected"):
        sb.SparseIDS(actions, n_draws=50, rule="information-ratio", horizon=-3)


def test_experiments_give_it_the_horizon() -> None:
    problem = sb.experiments.Problem(np.eye(3), 1.0, 70, np.random.SeedSequence(0))
    assert sb.maker(sb.SparseIDS, prior=sb.SpikeSlab(0.5, 1.0), n_draws=50)(problem).rule == CostToGo(70)


def test_batches_are_chosen_as_if_expected_rewards_had_come() -> None:
    """Each decision of a batch is the one of a policy that was told the expected rewards of those before."""
    rng = np.random.default_rng(1)
    actions = rng.standard_normal((30, 4))
    prior = sb.SpikeSlab(0.5, 1.0)

    def policy() -> sb.Policy:
        made = sb.SparseIDS(actions, prior, 0.5, n_draws=500, seed=3, horizon=60, intercept=False)
        decision = made.ask()
        made.tell(decision, float(actions[decision.action] @ [1.0, -1.0, 0.0, 0.0]))
        return made

    batch, alone = policy().ask(n=4), policy()
    assert [one.diagnostics["rounds ahead"] for one in batch] == [56] * 4  # after the batch, and this one
    assert len({one.action for one in batch}) > 1
    for one in batch:
        beliefs = sb.rules.Beliefs(alone.posterior, alone.actions.features, decisions=4)
        assert alone.rule.choose(beliefs, np.random.default_rng(0)).action == one.action
        alone.posterior.update(one.features, float(alone.predict().mean[one.action]))


def test_a_batch_that_is_all_there_is_buys_no_information() -> None:
    """It is greedy, but for what believing an expected reward does to a mixture."""
    rng = np.random.default_rng(5)
    actions, theta = rng.standard_normal((40, 6)), np.array([1.0, 0.0, 0.0, 0.5, 0.0, 0.0])
    rewards = actions[:6] @ theta + np.random.default_rng(6).standard_normal(6)
    gained = []
    for horizon in (6, 500):
        policy = sb.SparseIDS(actions, sb.SpikeSlab(0.3, 1.0), 1.0, n_draws=2000, seed=5, horizon=horizon)
        policy.posterior.update(actions[:6], rewards)
        means = policy.predict().mean
        batch = policy.ask(n=6, distinct=True)
        assert {one.diagnostics["rounds ahead"] for one in batch} == {horizon - 5}
        gained.append(sum(means[one.action] for one in batch) / np.sort(means)[-6:].sum())
    assert gained[0] > 0.97
    assert gained[1] < gained[0]


def test_an_explanation_adds_up() -> None:
    """The chosen candidate has the least cost, which is what it costs now, and later what it does not save."""
    rng = np.random.default_rng(2)
    actions = rng.standard_normal((15, 3))
    policy = sb.SparseIDS(actions, n_draws=400, seed=0, horizon=80)
    for _ in range(6):
        decision = policy.ask()
        policy.tell(decision, float(actions[decision.action, 0] + 0.3 * rng.standard_normal()))
        columns, notes = decision.reasons.columns, decision.reasons.notes
        nothing = notes["cost to go if nothing were learnt"]
        np.testing.assert_allclose(columns["cost to go"], columns["costs now"] + nothing - columns["saves later"])
        assert columns["cost to go"][0] == columns["cost to go"].min()


def test_health_says_how_much_of_the_gain_is_noise() -> None:
    rng = np.random.default_rng(0)
    actions, prior = rng.standard_normal((60, 8)), sb.SpikeSlab(0.5, 1.0)
    fresh = sb.SparseIDS(actions, seed=0)
    assert fresh.health().good == fresh.posterior.health().good, "no verdict on the prior"
    assert fresh.health().text.endswith("Nothing has been learnt yet: this is the prior")
    for intercept in (False, True):  # where there is an unknown level, the first reward says nothing else
        one = sb.SparseIDS(actions, seed=0, intercept=intercept)
        one.tell(one.ask(), 3.0)
        assert ("this is the prior" in one.health().text) == intercept
    few, many = (sb.SparseIDS(actions, prior, 1.0, n_draws=n, seed=0) for n in (20, 5000))
    for policy in (few, many, thompson := sb.SparseTS(actions, prior, 1.0, n_draws=5000, seed=0)):
        policy.posterior.update(actions[:3], rng.standard_normal(3))
    assert not few.health().good
    assert "DOUBTFUL, take more draws" in few.health().text
    assert many.health().good
    assert "% of it was noise of the draws" in many.health().text
    assert "remains after the correction" in many.health().text
    for gain in ("variance", "unbiased-variance"):
        paper = sb.SparseIDS(actions, prior, 1.0, n_draws=5000, seed=0, gain=gain)
        paper.posterior.update(actions[:3], rng.standard_normal(3))
        assert ("remains after the correction" in paper.health().text) == (gain == "unbiased-variance")
    assert thompson.health() == thompson.posterior.health(), "it weighs no information"
    lasso = sb.rivals.ESTC(actions, horizon=100, sparsity=2, seed=0)
    with pytest.raises(ArgumentError, match=r"^policy: expected"):
        lasso.health()


@pytest.mark.parametrize("rival", [sb.rivals.SOIDS, sb.rivals.FeelGoodTS])
def test_health_is_of_the_draws_after_a_tilt(rival: Any) -> None:
    actions = np.random.default_rng(0).standard_normal((30, 8))
    for optimism, good in ((0.0, True), (20.0, False)):
        policy = rival(actions, seed=0, optimism=optimism)
        policy.posterior.update(actions[:5], actions[:5, 1])
        assert policy.posterior.health().good
        assert policy.health().good == good
        assert "After the optimistic tilt" in policy.health().text


def test_candidates_that_are_never_the_best_are_those_of_least_cost() -> None:
    """And so do not depend on the order of the rows."""
    rng = np.random.default_rng(1)
    actions = rng.standard_normal((30, 8))
    one, other = sb.SparseIDS(actions, seed=0), sb.SparseIDS(actions[::-1], seed=0)
    for policy in (one, other):
        policy.posterior.update(actions, actions[:, 1] - 0.8 * actions[:, 4] + 0.1 * rng.standard_normal(30))
    reasons = one.ask().reasons
    never = reasons.columns["P(optimal)"] == 0
    assert never.sum() >= 2
    assert (np.diff(reasons.columns["cost to go"][never]) >= 0).all()
    assert sorted(one.ask().reasons.candidates) == sorted(29 - other.ask().reasons.candidates)


def test_notes_on_the_prior_the_rows_left_and_the_end() -> None:
    actions = np.random.default_rng(0).standard_normal((12, 3))
    policy = sb.SparseIDS(actions, seed=0, horizon=3)
    first, second = policy.ask(n=2, distinct=True)
    assert first.reasons.remarks == (PRIORS,)
    assert second.reasons.remarks == (PRIORS, "All of this refers to the 11 rows that were left.")
    assert str(policy.explain(second)).endswith("rows that were left.")
    policy.tell([first, second], [1.0, 2.0])
    last, over = policy.ask(), policy.ask()
    assert last.reasons.remarks == ()
    assert [one.reasons.notes["rounds ahead"] for one in (last, over)] == [1.0, 0.0]


def plain_costs(regret: FloatArray, information: FloatArray, entropy: float, rounds: float) -> FloatArray:
    """The formulas of the module in plain NumPy: m, the cost now and the cost later, shape ``(3, K)``."""
    least = float(regret.min())
    apart = regret - least
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        until = np.where(information > 0.0, 0.5 * entropy / information, np.inf)  # where nothing is learnt
        if least <= 0.0 or entropy <= 0.0:  # nothing to learn
            until = np.full(len(regret), np.inf)
        best = rounds - 0.5 - np.where(apart > 0.0, until * apart / least, 0.0)
    play = np.clip(best, 1.0, np.maximum(until, 1.0))
    rate = 1.0 / np.maximum(until, 1e-300)
    doubt = np.maximum(1.0 - play * rate, 0.0)
    later = least * (play - 0.5 * play * (play - 1.0) * rate + doubt * (rounds - play))
    return np.array([play, apart * play, later])


@given(
    seed=st.integers(0, 2**32),
    least=st.sampled_from([0.0, 1e-12, 0.3, 1e9]),
    entropy=st.sampled_from([0.0, 1e-300, 0.01, 3.0]),
    rounds=st.sampled_from([1.0, 2.0, 500.0, 1e15]),
)
def test_compiled_costs_are_the_plain_ones(seed: int, least: float, entropy: float, rounds: float) -> None:
    rng = np.random.default_rng(seed)
    regret = least + rng.choice([0.0, 1e-9, 0.1, 5.0], 12) * rng.random(12)
    information = np.minimum(rng.choice([0.0, 1e-12, 0.2, 9.0], 12) * rng.random(12), entropy)
    found = costs(regret, information, entropy, rounds)
    expected = plain_costs(regret, information, entropy, rounds)
    scale = np.abs(expected).max(axis=1, keepdims=True)
    assert (np.abs(np.array(found) - expected) <= 1e-9 * scale).all()


def test_costs_with_a_round_too_many_are_caught() -> None:
    regret, information = np.array([0.1, 0.3, 0.2]), np.array([0.0, 0.01, 0.2])
    found = np.array(costs(regret, information, 1.0, 100.0))
    np.testing.assert_allclose(found, plain_costs(regret, information, 1.0, 100.0))
    assert not np.allclose(found, plain_costs(regret, information, 1.0, 101.0))


@given(seed=st.integers(0, 2**32), size=st.integers(1, 40), count=st.integers(1, 12))
def test_leading_candidates_are_ranked_by_value_then_by_ties_then_by_place(seed: int, size: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    values, ties = rng.integers(0, 4, size).astype(float), rng.integers(0, 3, size).astype(float)
    expected = sorted(range(size), key=lambda k: (-values[k], -ties[k], k))[:count]
    assert leading(values, ties, count).tolist() == expected


def test_sums_of_cells_are_sums() -> None:
    rng = np.random.default_rng(0)
    weights, value = frozen(rng.dirichlet(np.ones(50))), rng.standard_normal(50)
    order, starts = rng.permutation(50), np.array([0, 7, 8, 30, 50])
    weight, squares, expected, square, ordered = sums_of_cells(weights, order, starts, value)
    parts = [weights[order[a:b]] for a, b in pairwise(starts.tolist())]
    np.testing.assert_allclose(weight, [part.sum() for part in parts])
    np.testing.assert_allclose(squares, [part @ part for part in parts])
    assert (expected, square) == pytest.approx((weights @ value, weights @ weights))
    np.testing.assert_allclose(ordered, weights[order], rtol=1e-6)


@pytest.mark.parametrize(("noise_share", "square"), [(0.1, 0.001), (0.0, 0.0), (0.7, 0.01), (1.0, 0.5), (0.5, 1.0)])
def test_informations_are_those_of_the_corrected_gain(noise_share: float, square: float) -> None:
    rng = np.random.default_rng(0)
    total, noise = rng.random(30), 1.0 + rng.random(30)
    gain = total * rng.random(30)
    found, corrected = informations(gain, total, noise, noise_share, square, 0.05)
    expected = unbiased(gain, total, noise_share, square)
    np.testing.assert_allclose(corrected, expected, rtol=1e-12)
    np.testing.assert_allclose(found, 0.5 * np.log1p((expected + 0.05 * total) / noise), rtol=1e-12)
