"""Policies whose actions depend on who is asking: the same as giving the features by hand, saved, recorded, refused."""

import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, SaveFileError
from sparsebandits.policies import Items, offers

RNG = np.random.default_rng(5)
ITEMS: dict[str, Any] = {"price": RNG.normal(10.0, 3.0, 6), "kind": [["book", "film", "song"][k % 3] for k in range(6)]}
COUNTRIES = "DFDU" * 10
USERS: list[dict[str, Any]] = [{"age": float(age), "country": COUNTRIES[age - 20]} for age in range(20, 60)]
MAKERS = {
    "SparseIDS": sb.SparseIDS,
    "SparseTS": sb.SparseTS,
    "LinearIDS": sb.LinearIDS,
    "LinTS": sb.LinTS,
    "LinUCB": sb.LinUCB,
}


def items_of(policy: sb.Policy) -> Items:
    assert isinstance(policy.actions, Items)
    return policy.actions


def reward(user: dict[str, Any], action: int) -> float:
    return float((user["age"] - 40) / 10 * (ITEMS["kind"][action] == "film") + (user["country"] == "D") * 0.5)


@pytest.mark.parametrize("name", MAKERS)
def test_a_context_is_the_same_as_its_features_by_hand(name: str) -> None:
    with_contexts = MAKERS[name](ITEMS, contexts=USERS, seed=3)
    by_hand = MAKERS[name](Items.of(ITEMS, USERS), seed=3)
    for user in USERS[:15]:
        one = with_contexts.ask(context=user)
        other = by_hand.ask(actions=items_of(with_contexts).for_context(user))
        assert (one.action, one.probability) == (other.action, other.probability)
        np.testing.assert_array_equal(one.features, other.features)
        with_contexts.tell(one, reward(user, one.action))
        by_hand.tell(other, reward(user, one.action))


def test_it_learns_who_likes_what() -> None:
    policy = sb.SparseIDS(ITEMS, contexts=USERS, seed=1)
    rng = np.random.default_rng(1)
    for _ in range(150):
        user = USERS[rng.integers(len(USERS))]
        decision = policy.ask(context=user)
        policy.tell(decision, reward(user, decision.action) + 0.3 * rng.standard_normal())
    summary = {row["feature"]: row for row in policy.posterior.summary()}
    assert summary["age × kind=film"]["P(included)"] > 0.9
    assert summary["age × price"]["P(included)"] < 0.3
    old, young = policy.ask(context={"age": 59, "country": "D"}), policy.ask(context={"age": 20, "country": "D"})
    assert ITEMS["kind"][old.action] == "film"
    assert ITEMS["kind"][young.action] != "film"
    assert "context: age 59, country D" in str(policy.explain(old))


def test_units_of_columns_do_not_matter() -> None:
    months = [{**user, "age": 12 * user["age"] + 7} for user in USERS]
    years, later = sb.SparseIDS(ITEMS, contexts=USERS, seed=1), sb.SparseIDS(ITEMS, contexts=months, seed=1)
    for user, other in zip(USERS[:20], months[:20], strict=True):
        one, two = years.ask(context=user), later.ask(context=other)
        assert one.action == two.action
        years.tell(one, reward(user, one.action))
        later.tell(two, reward(user, one.action))


def test_only_available_items_are_chosen() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(ITEMS, index=list("abcdef"))
    policy = sb.SparseTS(table, contexts=USERS, seed=0)
    for user in USERS[:20]:
        decision = policy.ask(context=user, available=["f", "b"])
        assert decision.label in "bf"
        assert decision.available == (1, 5)
        np.testing.assert_array_equal(
            decision.features, items_of(policy).for_context(user).features[list("abcdef").index(decision.label)]
        )
    batch = policy.ask(context=USERS[0], available=[0, 2, 4], n=3, distinct=True)
    assert sorted(one.action for one in batch) == [0, 2, 4]
    assert [one.action for one in policy.ask(context=USERS[0], available=["c"], n=2)] == [2, 2]
    for wrong in (["z"], [], ["a", "a"], "a", 3, [7], [True], [-1]):
        with pytest.raises(ArgumentError, match=r"^available"):
            policy.ask(context=USERS[0], available=wrong)


def test_booleans_of_a_user_are_kept_and_shown_as_given(tmp_path: Path) -> None:
    users = [{"premium": k % 3 == 0, "age": 20.0 + k} for k in range(30)]
    policy = sb.SparseIDS(ITEMS, contexts=users, seed=0)
    waiting = policy.ask(context=users[3])
    assert waiting.context == {"premium": True, "age": 23.0}
    assert "context: premium True, age 23" in str(policy.explain(waiting))
    policy.save(tmp_path / "premium.policy")
    again = sb.load(tmp_path / "premium.policy")
    assert again.pending[0].context == {"premium": True, "age": 23.0}
    assert again.ask(context=users[4]).features.tolist() == policy.ask(context=users[4]).features.tolist()
    assert "context: premium True, age 23" in str(again.explain(again.pending[0]))


def test_available_serves_policies_without_contexts() -> None:
    policy = sb.SparseIDS(np.eye(4), seed=0)
    assert policy.ask(available=[2]).action == 2


def test_a_saved_policy_continues_bit_for_bit(tmp_path: Path) -> None:
    policy = sb.SparseIDS(ITEMS, contexts=USERS, seed=1)
    waiting = policy.ask(context=USERS[0], available=[1, 2])
    for user in USERS[:5]:
        decision = policy.ask(context=user)
        policy.tell(decision, reward(user, decision.action))
    policy.save(tmp_path / "policy")
    again = sb.load(tmp_path / "policy")
    assert again.pending[0].context == USERS[0]
    assert again.pending[0].available == (1, 2)
    again.tell(waiting.id, 1.0)
    policy.tell(waiting, 1.0)
    for user in USERS[5:15]:
        one, other = policy.ask(context=user), again.ask(context=user)
        assert (one.action, one.probability) == (other.action, other.probability)
        policy.tell(one, reward(user, one.action))
        again.tell(other, reward(user, one.action))
    assert policy.posterior.state().keys() == again.posterior.state().keys()
    np.testing.assert_array_equal(policy.posterior.mean(), again.posterior.mean())


def fit(user: dict[str, Any], item: dict[str, Any]) -> dict[str, float]:
    return {"fit": user["age"] * item["price"] / 400, "German book": float(user["country"] + item["kind"] == "Dbook")}


def test_a_function_of_ones_own_is_passed_to_load(tmp_path: Path) -> None:
    policy = sb.LinUCB(ITEMS, contexts=USERS, features=fit, seed=1)
    decision = policy.ask(context=USERS[0])
    assert decision.features.tolist() == list(fit(USERS[0], items_of(policy).table.row(decision.action)).values())
    policy.save(tmp_path / "policy")
    with pytest.raises(SaveFileError, match="the function 'fit'"):
        sb.load(tmp_path / "policy")
    assert sb.load(tmp_path / "policy", fit).ask(context=USERS[1]).action == policy.ask(context=USERS[1]).action


def test_the_journal_keeps_context_and_features(tmp_path: Path) -> None:
    journal = sb.journal.JsonLines(tmp_path / "decisions.jsonl")
    policy = sb.SparseIDS(ITEMS, contexts=USERS, seed=1, journal=journal)
    decision = policy.ask(context=USERS[3], available=[0, 4])
    policy.tell(decision, 0.5)
    (record,) = sb.journal.JsonLines(tmp_path / "decisions.jsonl").records()
    assert record.extra == {"context": USERS[3], "available": [0, 4]}
    np.testing.assert_array_equal(record.features, decision.features)
    assert record.reward == 0.5


def test_contexts_may_be_drawn_or_only_named() -> None:
    def draw(rng: np.random.Generator) -> dict[str, Any]:
        return {"age": rng.normal(40, 10), "country": str(rng.choice(["D", "F"]))}

    drawn = sb.SparseIDS(ITEMS, contexts=draw, seed=1)
    assert "age × price" in (drawn.actions.feature_names or ())
    named = sb.SparseIDS(np.eye(3), contexts=["heat", "noise"], seed=1)
    decision = named.ask(context=[0.5, -1.0])
    expected = {"heat × item 1": 0.5, "noise": -1.0}
    names = list(named.actions.feature_names or ())
    rows = items_of(named).for_context([0.5, -1.0]).features
    assert rows[:, names.index("noise")].tolist() == [expected["noise"]] * 3
    np.testing.assert_array_equal(decision.features, rows[decision.action])
    many = [{"age": float(i)} for i in range(5000)]
    assert len(items_of(sb.LinUCB(ITEMS, contexts=many)).contexts) == 1000


def test_names_of_contexts_that_are_drawn_are_kept() -> None:
    """A sampler that returns a Series lost them."""
    pandas = pytest.importorskip("pandas")
    for kind in (dict, pandas.Series, lambda row: pandas.DataFrame([row])):
        items = Items.of([[1.0], [2.0]], lambda rng: kind({"age": rng.normal(), "size": rng.normal()}), ["size", "age"])  # noqa: B023
        assert items.feature_names == ("size", "age")


def test_a_context_far_outside_the_table_is_refused() -> None:
    """In units such as 1e-200, products of its numbers overflow."""
    table = [{"a": 1e-200, "b": 1e-299}, {"a": 3e-200, "b": 5e-299}]
    items = Items.of(ITEMS, table, sb.features.concat(sb.features.cross(), sb.features.cross("a", "b")))
    for context in ([1.0, 1.0], [1e50, 1e50], [2e-200, 1e50]):
        with pytest.raises(ArgumentError, match="context: expected numbers whose products are finite"):
            items.for_context(context)


def test_categories_and_units_are_those_of_the_whole_table() -> None:
    """They were those of the 1,000 contexts that are kept, so a rare category had no feature."""
    users: list[dict[str, Any]] = [{"plan": "free", "age": 0.0} for _ in range(5000)]
    users[3003]["plan"] = users[4001]["plan"] = "pro"
    users[4001]["age"] = 10.0
    items = Items.of(ITEMS, users, ["plan", "age"])
    assert items.feature_names == ("plan=free", "plan=pro", "age")
    assert len(items.contexts) == 1000
    ages = [user["age"] for user in users]
    expected = [0.0, 1.0, (10.0 - np.mean(ages)) / np.std(ages)]
    np.testing.assert_allclose(items.for_context(users[4001]).features, np.tile(expected, (6, 1)), rtol=1e-12)


def test_memory_is_bounded_however_many_items_and_contexts() -> None:
    """All pairs of items and contexts were made at once: here 1,000 × 60 × 440 features, 211 MB."""
    rng = np.random.default_rng(0)
    arguments = rng.standard_normal((60, 20)), rng.standard_normal((1000, 20))
    tracemalloc.start()
    items = Items.of(*arguments)
    items.check()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 70e6  # a block of 16 MB, the two factors of its products, and the features
    np.testing.assert_allclose(items.features, items.pairs(1000).mean(axis=0), atol=1e-12)


def test_a_rule_looks_at_fewer_contexts_if_these_have_many_features(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = sb.rules.ContextualInformationDirected(contexts=5)
    known, named, recent = Items.of(ITEMS, USERS), Items.of(ITEMS, ["age", "size"]), np.arange(10.0).reshape(5, 2)
    for items in (known, named):
        for fit, expected in ((100, 5), (3, 3), (0, 1)):
            monkeypatch.setattr(offers, "AROUND", fit * items.features.size, raising=False)
            found = offers.around_contexts(rule, items, None, recent)
            assert found is not None
            assert len(found) == expected
            latest = named.pairs_of(recent[-expected:]).reshape(len(found.features), -1)
            assert items is known or np.array_equal(found.features, latest)


def test_predictions_are_of_a_context_and_those_of_its_features() -> None:
    policy = sb.LinTS(ITEMS, contexts=USERS, seed=1)
    for user in USERS:
        decision = policy.ask(context=user)
        policy.tell(decision, reward(user, decision.action))
    for user in USERS[:3]:
        one, other = policy.predict(context=user), policy.predict(items_of(policy).for_context(user))
        for name in ("mean", "sd", "optimal_probability"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_there_is_no_prediction_without_a_context() -> None:
    """Averages of products are zero up to rounding, and the item with the best rounding was the best one."""
    policy = sb.SparseIDS(ITEMS, contexts=USERS, features=sb.features.cross("age", "price"), seed=1)
    assert np.abs(policy.actions.features).max() < 1e-12
    with pytest.raises(ArgumentError, match="context: expected a context, or actions in its place, got neither"):
        policy.predict()
    with pytest.raises(ArgumentError, match="made without contexts"):
        sb.LinUCB(np.eye(2)).predict(context=USERS[0])


def test_health_of_the_rule_is_that_of_a_context() -> None:
    policy = sb.SparseIDS(ITEMS, contexts=USERS, seed=1)
    assert "this is the prior" in policy.health().text
    for user in USERS[:10]:
        decision = policy.ask(context=user)
        policy.tell(decision, reward(user, decision.action))
    own = policy.posterior.health()
    assert str(policy.health()) == f"{own}. health(context=...) reports on the rule too"
    by_hand = sb.Policy(items_of(policy).for_context(USERS[3]), policy.posterior, policy.rule, seed=1)
    assert str(policy.health(context=USERS[3])) == str(by_hand.health()) != str(policy.health())
    with pytest.raises(ArgumentError, match="one without country"):
        policy.health(context={"age": 3.0})
    thompson = sb.LinTS(ITEMS, contexts=USERS, seed=1)
    thompson.tell(thompson.ask(context=USERS[0], n=2), [1.0, 2.0])
    assert str(thompson.health()) == str(thompson.posterior.health())  # this rule reports nothing


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.ask(), "context: expected a context, or actions in its place, got neither"),
        (lambda p: p.ask(np.zeros((2, 19)), context=USERS[0]), "got both"),
        (lambda p: p.ask(context={"age": 3}), "one without country"),
        (lambda p: p.ask(context={"age": "old", "country": "D"}), "a number in the column 'age'"),
        (lambda p: p.ask(context={"age": 3, "country": 7}), "text in the column 'country'"),
        (lambda p: p.ask(context={"age": None, "country": "D"}), "column 'age'"),
        (lambda p: p.ask(context={"age": float("nan"), "country": "D"}), "NaN"),
        (lambda p: p.ask(context=[3]), "2 values"),
        (lambda p: p.ask(context="Ann"), "a row with age, country"),
        (lambda p: p.ask(context=7), "a row with age, country"),
        (lambda p: sb.SparseIDS(np.eye(2)).ask(context=[1]), "made without contexts"),
        (lambda p: sb.SparseIDS(np.eye(2), features="age"), "none without contexts"),
        (lambda p: sb.SparseIDS(ITEMS, contexts=USERS, features="size"), "columns of users or items"),
        (lambda p: sb.SparseIDS(ITEMS, contexts=USERS, features=sb.features.concat("age", "age")), "each feature once"),
        (lambda p: sb.SparseIDS(ITEMS, contexts=7), "contexts: expected a DataFrame"),
        (lambda p: sb.SparseIDS(ITEMS, contexts=["a", "a"]), "a different name"),
        (lambda p: sb.SparseIDS(Items.of(ITEMS, USERS), contexts=USERS), "items without contexts beside them"),
    ],
)
def test_what_is_refused_changes_nothing(call: Any, message: str) -> None:
    policy = sb.SparseIDS(ITEMS, contexts=USERS, seed=1)
    with pytest.raises(ArgumentError, match=message):
        call(policy)
    assert not policy.pending
    fresh = sb.SparseIDS(ITEMS, contexts=USERS, seed=1)
    assert policy.ask(context=USERS[0]).action == fresh.ask(context=USERS[0]).action


def test_items_of_another_map_in_a_file_are_refused() -> None:
    items = Items.of(ITEMS, USERS)
    items.check()
    with pytest.raises(ArgumentError, match="the features that its tables make"):
        replace(items, features=items.features + 1.0).check()


def test_disjoint_parameters_per_item() -> None:
    policy = sb.LinTS(np.eye(3), contexts=["heat"], features=sb.features.per_item(), seed=0)
    rows = items_of(policy).for_context([2.0]).features
    np.testing.assert_array_equal(rows, [[2, 1, 0, 0, 0, 0], [0, 0, 2, 1, 0, 0], [0, 0, 0, 0, 2, 1]])


RIVALS_WITH_SCALES: dict[str, Any] = {
    "SquareCB": lambda items: sb.rivals.SquareCB(items, regressor="spike-and-slab", seed=0),
    "FALCON": lambda items: sb.rivals.FALCON(items, regressor="spike-and-slab", seed=0),
    "ILTCB": lambda items: sb.rivals.ILTCB(items, regressor="spike-and-slab", seed=0),
    "FeelGoodTS": lambda items: sb.rivals.FeelGoodTS(items, n_draws=100, seed=0),
    "FeelGoodTS, tempered": lambda items: sb.rivals.FeelGoodTS(
        items, noise_variance=1.0, likelihood=0.5, n_draws=100, seed=0
    ),
    "SOIDS": lambda items: sb.rivals.SOIDS(items, n_draws=100, seed=0),
    "ESTC": lambda items: sb.rivals.ESTC(items, horizon=100, sparsity=2, seed=0),
    "DLinUCB": lambda items: sb.rivals.DLinUCB(items, sb.Discount(half_life=50), seed=0),
}


def prior_of(policy: sb.Policy) -> Any:
    """The prior that a rival derived from its actions."""
    estimator = getattr(policy.posterior, "estimator", None)
    return policy.posterior.prior if estimator is None else estimator.prior


@pytest.mark.parametrize("name", RIVALS_WITH_SCALES)
def test_rivals_learn_under_contexts(name: str) -> None:
    """Averages over standardised contexts are about 1e-16; a prior with their scales refuses the first rewards."""
    policy = RIVALS_WITH_SCALES[name](Items.of(ITEMS, USERS))
    for number, user in enumerate(USERS[::5]):
        policy.tell(policy.ask(context=user), float(number % 2) + 0.1 * number)


@pytest.mark.parametrize("name", ["SquareCB", "FALCON", "ILTCB", "FeelGoodTS, tempered"])
def test_default_priors_of_rivals_have_the_scales_of_the_features_under_contexts(name: str) -> None:
    items = Items.of(ITEMS, USERS)
    found = prior_of(RIVALS_WITH_SCALES[name](items))
    assert found.slab_variance.relative == sb.model.priors.default_prior(items.sample()).slab_variance.relative


def test_rates_and_bounds_of_rivals_are_those_of_the_features_under_contexts() -> None:
    """Norms and C_min come from the rows that may be offered, the number of actions from one round."""
    items = Items.of(ITEMS, USERS)
    longest = float(np.linalg.norm(items.sample(), axis=1).max())
    optimism: Any = sb.rivals.DLinUCB(items, sb.Discount(half_life=50)).rule
    assert optimism.length == pytest.approx(longest)
    alone = sb.rivals.ESTC(items, horizon=10**6, sparsity=1, seed=0)
    given = sb.rivals.ESTC(items, horizon=10**6, sparsity=1, bound=longest, seed=0)
    assert alone.posterior.exploration == given.posterior.exploration
    moment = np.einsum("ij,ik->jk", items.sample(), items.sample()) / len(items.sample())
    eigenvalues = np.linalg.eigvalsh(moment)
    c_span = eigenvalues[eigenvalues > 1e-9].min()
    expected = sb.policies.rivals.estc.exploration_length(10**6, items.dimension, 1, 1.0, longest, c_span)
    assert alone.posterior.exploration == pytest.approx(expected, abs=1)
    directed: Any = sb.rivals.SOIDS(items, n_draws=100).rule
    assert directed.optimism.ratio2 == 2.0 * min(items.dimension, len(items))


def test_a_category_that_the_sample_of_users_misses_has_a_prior_of_unit_scale() -> None:
    """Its products had a mean square of 1e-38, from rounding, and rewards of such users were refused."""
    items = {"price": [3.1, 5.3, 8.7, 4.2], "kind": ["book", "film", "book", "song"]}
    rng = np.random.default_rng(0)
    share = np.arange(1.0, 201.0) ** -1.2
    cities = rng.choice(200, 2000, p=share / share.sum())
    users = [{"age": float(age), "city": f"c{city}"} for age, city in zip(range(2000), cities, strict=True)]
    policy = sb.SparseIDS(items, contexts=users, n_draws=100, seed=0)
    assert max(policy.posterior.prior.slab_variance.relative) < 1e5
    rare = min(set(cities.tolist()), key=cities.tolist().count)
    policy.tell(policy.ask(context={"age": 40.0, "city": f"c{rare}"}), 1.0)
    policy.tell(policy.ask(context=users[0]), -1.0)
