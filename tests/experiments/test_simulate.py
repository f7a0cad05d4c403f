import hashlib
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.environments import World
from sparsebandits.environments.changing import FixedActions
from sparsebandits.experiments import PolicyMaker
from sparsebandits.randomness import NOISE_STREAM, POLICY_STREAM, IndexedNormals, child
from sparsebandits.results.statistics import mean_interval

environment = sb.environments.GaussianActions(dimension=6, sparsity=2, n_actions=15)


lin_ts, lin_ucb = sb.maker(sb.LinTS), sb.maker(sb.LinUCB)


def test_regret_comes_from_true_means() -> None:
    instance = environment.sample(0)
    trace = sb.simulate(lin_ts, instance, 50, seed=1)
    means = instance.actions @ instance.theta
    np.testing.assert_allclose(trace.regret, np.cumsum(means.max() - means[trace.actions]))
    assert (trace.seconds > 0).all()
    assert ((trace.probabilities > 0) & (trace.probabilities <= 1)).all()


def test_all_policies_face_the_same_world() -> None:
    instance = environment.sample(0)
    one, other = (sb.simulate(make, instance, 200, seed=1) for make in (lin_ts, lin_ucb))
    together = one.actions == other.actions
    assert 5 < together.sum() < 200
    np.testing.assert_array_equal(one.rewards[together], other.rewards[together])
    noise = IndexedNormals(child(1, NOISE_STREAM))
    expected = [instance.means[a] + np.sqrt(2.0) * noise(t, int(a)) for t, a in enumerate(one.actions)]
    np.testing.assert_array_equal(one.rewards, expected)


def test_same_seed_same_bytes_other_seed_others() -> None:
    instance = environment.sample(0)
    first, again, other = (sb.simulate(lin_ts, instance, 30, seed=s) for s in (1, 1, 2))
    assert first.rewards.tobytes() == again.rewards.tobytes()
    assert first.rewards.tobytes() != other.rewards.tobytes()


def test_a_maker_passes_what_may_be_known_and_settings_win() -> None:
    problem = sb.experiments.Problem(np.eye(3), 0.7, 10, np.random.SeedSequence(0))
    assert sb.maker(sb.LinTS)(problem).posterior.noise_variance == 0.7
    told = sb.maker(sb.LinUCB, noise_variance=2.0, width=0.5)(problem)
    assert (told.posterior.noise_variance, told.rule) == (2.0, sb.rules.Optimism(0.5))


clicks = sb.environments.LogisticActions(dimension=6, sparsity=2, n_actions=15)


def gave(**settings: Any) -> dict[str, Any]:
    """Return what a policy with arguments ``rewards`` and ``intercept`` gets in a world of clicks."""
    got: dict[str, Any] = {}

    def policy(
        actions: object,
        seed: object,
        noise_variance: object = "not given",
        rewards: object = "not given",
        intercept: object = "not given",
    ) -> sb.Policy:
        got.update(noise_variance=noise_variance, rewards=rewards, intercept=intercept)
        return sb.LinTS(actions)

    sb.simulate(sb.maker(policy, **settings), clicks.sample(0), 2)
    return got


def test_in_a_world_of_clicks_a_maker_passes_the_family_and_settings_win() -> None:
    family = {"noise_variance": "not given", "rewards": sb.Bernoulli(intercept=True), "intercept": True}
    assert gave() == family
    assert gave(intercept=False) == {**family, "intercept": False}
    assert gave(rewards=sb.Gaussian()) == {**family, "rewards": sb.Gaussian()}
    assert gave(noise_variance=0.3) == {**family, "noise_variance": 0.3, "rewards": "not given"}


@pytest.mark.parametrize("change", [None, "abrupt", "rotation"])
@pytest.mark.parametrize("name", ["clicks", "counts"])
def test_sparse_policies_get_the_family_of_their_world(name: str, change: str | None) -> None:
    counts = sb.environments.PoissonActions(dimension=6, sparsity=2, n_actions=15)
    fixed: FixedActions = clicks if name == "clicks" else counts
    instance: World = (fixed if change is None else sb.environments.Drifting(fixed, 10, change)).sample(0)
    made: list[sb.Policy] = []

    def make(problem: sb.experiments.Problem) -> sb.Policy:
        made.append(sb.maker(sb.SparseTS, n_draws=100)(problem))
        return made[-1]

    trace = sb.simulate(make, instance, 25, seed=1)
    assert made[0].posterior.rewards == instance.rewards
    assert instance.rewards.intercept
    assert trace.rewards.min() == 0.0
    assert (trace.rewards == np.round(trace.rewards)).all()


def test_in_a_world_of_clicks_a_policy_without_rewards_has_its_own_noise_variance() -> None:
    trace = sb.simulate(sb.rivals.SALasso, clicks.sample(0), 5)
    assert set(trace.rewards) <= {0.0, 1.0}


def test_a_gaussian_policy_learns_the_level_of_a_world_with_an_intercept() -> None:
    for instance in (clicks.sample(0), sb.environments.Instance(np.eye(3), np.ones(3), 1.0, intercept=5.0)):
        made: list[sb.Policy] = []

        def make(problem: sb.experiments.Problem, made: list[sb.Policy] = made) -> sb.Policy:
            made.append(sb.maker(sb.LinTS, rewards=sb.Gaussian(0.3))(problem))
            return made[-1]

        sb.simulate(make, instance, 3)
        assert made[0].posterior.rewards == sb.Gaussian(0.3, intercept=True)


GAUSSIAN_TRACES = {  # of the commit before there were other families: actions, and rewards to nine decimals
    "LinTS": "09c83eee871d8c1e",
    "SparseTS": "fd3dfe21c6523efa",
}


@pytest.mark.parametrize("name", GAUSSIAN_TRACES)
def test_gaussian_worlds_are_what_they_were_before_there_were_others(name: str) -> None:
    make = {"LinTS": sb.maker(sb.LinTS), "SparseTS": sb.maker(sb.SparseTS, n_draws=200)}[name]
    trace = sb.simulate(make, environment.sample(0), 60, seed=3)
    played = trace.actions.astype("<i8").tobytes() + np.round(trace.rewards, 9).astype("<f8").tobytes()
    assert hashlib.sha256(played).hexdigest()[:16] == GAUSSIAN_TRACES[name]


def test_a_policy_is_not_shown_the_truth() -> None:
    seen: list[sb.experiments.Problem] = []

    def spy(problem: sb.experiments.Problem) -> sb.Policy:
        seen.append(problem)
        return sb.LinUCB(problem.actions)

    sb.simulate(spy, environment.sample(0), 3)
    known = {"actions", "noise_variance", "horizon", "seed", "rewards", "items", "users", "feedback"}
    assert set(vars(seen[0])) == known
    assert seen[0].rewards == sb.Gaussian(2.0)
    for instance in (clicks.sample(0), sb.environments.Drifting(clicks, every=2).sample(0)):
        sb.simulate(spy, instance, 3)
        assert seen[-1].rewards == sb.Bernoulli(intercept=True), "neither the intercept nor the rounds of change"


@pytest.mark.parametrize("make", [lin_ts, lin_ucb])
def test_a_fixed_instance_is_played_as_by_hand(make: PolicyMaker) -> None:
    """The loop written out for fixed actions gives the same bytes."""
    instance, rounds = environment.sample(4), 60
    trace = sb.simulate(make, instance, rounds, seed=9)
    policy = make(sb.experiments.Problem(instance.actions, instance.noise_variance, rounds, child(9, POLICY_STREAM)))
    noise, actions, rewards = IndexedNormals(child(9, NOISE_STREAM)), [], []
    for t in range(rounds):
        decision = policy.ask()
        rewards.append(float(instance.means[decision.action]) + float(np.sqrt(2.0)) * noise(t, decision.action))
        policy.tell(decision, rewards[-1])
        actions.append(decision.action)
    assert trace.actions.tolist() == actions
    assert trace.rewards.tobytes() == np.array(rewards).tobytes()
    assert trace.regret.tobytes() == np.cumsum(instance.gaps[actions]).tobytes()


CHANGING = {
    "LinTS": sb.maker(sb.LinTS),
    "LinUCB": sb.maker(sb.LinUCB),
    "LinearIDS": sb.maker(sb.LinearIDS, n_draws=200),
    "SparseIDS": sb.maker(sb.SparseIDS, n_draws=200),
    "SparseTS": sb.maker(sb.SparseTS, n_draws=200),
}


class Stubborn(sb.LinUCB):
    """Always plays the first row."""

    def ask(self, actions: object = None, **options: Any) -> sb.Decision:  # type: ignore[override]
        assert isinstance(actions, np.ndarray)
        return super().ask(actions[:1])


def watched(make: PolicyMaker, seen: list[tuple[Any, sb.Decision]]) -> PolicyMaker:
    """Record what a policy is offered and what it decides."""

    def made(problem: sb.experiments.Problem) -> sb.Policy:
        policy = make(problem)
        ask = policy.ask

        def asked(actions: object = None) -> sb.Decision:
            seen.append((actions, ask(actions)))
            return seen[-1][1]

        policy.ask = asked  # type: ignore[method-assign,assignment]
        return policy

    return made


def test_on_changing_sets_all_policies_face_the_same_world() -> None:
    rounds, noise = 40, IndexedNormals(child(1, NOISE_STREAM))
    worlds = []
    for make in CHANGING.values():
        instance = sb.environments.ChangingActions(environment).sample(0)  # anew for each policy, as an experiment does
        seen: list[tuple[FloatArray, sb.Decision]] = []
        trace = sb.simulate(watched(make, seen), instance, rounds, seed=1)
        offers = np.array([actions for actions, _ in seen])
        means = offers @ instance.theta
        chosen = means[np.arange(rounds), trace.actions]
        np.testing.assert_allclose(trace.regret, np.cumsum(means.max(axis=1) - chosen))
        expected = [np.sqrt(2.0) * noise(t, int(a)) for t, a in enumerate(trace.actions)]
        np.testing.assert_allclose(trace.rewards - chosen, expected, atol=1e-12)
        worlds.append(offers.tobytes())
    assert len(set(worlds)) == 1
    assert len({actions.tobytes() for actions, _ in seen}) == rounds


def test_policies_learn_on_changing_sets() -> None:
    """Less than half the regret of a policy that does not learn, which is also the planted bug."""
    sets = sb.environments.ChangingActions(
        sb.environments.GaussianActions(dimension=4, sparsity=2, n_actions=10, noise_variance=0.5)
    )
    result = sb.Experiment(sets, {**CHANGING, "wrong": Stubborn}, horizon=60, trials=5, seed=2).run()
    for name in result.regret:
        _, high = mean_interval(result.final(name) - 0.5 * result.final("wrong"))
        assert (high < 0) == (name != "wrong"), name


def test_on_the_cube_noise_depends_on_the_round_alone() -> None:
    instance = sb.environments.Hypercube(dimension=3, sparsity=2, noise_variance=0.5).sample(0)

    def enumerated(problem: sb.experiments.Problem) -> sb.Policy:
        assert problem.actions == 3
        corners = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]])
        return sb.LinTS(corners, noise_variance=problem.noise_variance, seed=problem.seed)

    noise = IndexedNormals(child(1, NOISE_STREAM))
    for make in (sb.maker(sb.rivals.HypercubeElimination), enumerated):
        seen: list[tuple[None, sb.Decision]] = []
        trace = sb.simulate(watched(make, seen), instance, 30, seed=1)
        assert trace.actions.tolist() == [decision.action for _, decision in seen]
        assert len({decision.features.tobytes() for _, decision in seen}) > 1
        means = np.array([decision.features @ instance.theta for _, decision in seen])
        expected = [np.sqrt(0.5) * noise(t, 0) for t in range(30)]
        np.testing.assert_allclose(trace.rewards - means, expected, atol=1e-12)
        np.testing.assert_allclose(trace.regret, np.cumsum(instance.best - means), atol=1e-12)


def test_policies_and_instances_that_do_not_fit_are_refused() -> None:
    cube = sb.environments.Hypercube(dimension=3, sparsity=2).sample(0)
    with pytest.raises(
        TypeError, match="actions: expected one row per action, got 3; a dimension is for policies that play"
    ):
        sb.simulate(sb.LinTS, cube, 3)
    with pytest.raises(TypeError, match="actions: expected the dimension of a cube"):
        sb.simulate(sb.rivals.HypercubeElimination, environment.sample(0), 3)
    with pytest.raises(ValueError, match="action: expected a row of the actions, got a decision without one"):
        sb.simulate(lambda problem: sb.rivals.HypercubeElimination(6, horizon=3), environment.sample(0), 3)


def test_a_maker_passes_the_horizon_where_it_is_wanted() -> None:
    problem = sb.experiments.Problem(3, 0.7, 10, np.random.SeedSequence(0))
    assert sb.maker(sb.rivals.HypercubeElimination)(problem).posterior.horizon == 10
    assert sb.maker(sb.rivals.HypercubeElimination, horizon=99)(problem).posterior.horizon == 99


def test_a_policy_that_forgets_in_time_is_refused() -> None:
    """Planted: it was played by the clock on the wall, and the same seed gave another regret each time."""
    instance = sb.environments.GaussianActions(3, 1, 5).sample(seed=0)
    hours = sb.Discount(timedelta(hours=1))
    with pytest.raises(ArgumentError, match=r"^make_policy: expected a policy that forgets in decisions"):
        sb.simulate(lambda problem: sb.LinTS(problem.actions, forgetting=hours), instance, 5, seed=0)


def test_a_policy_with_contexts_is_asked_with_the_user_of_the_round() -> None:
    world = sb.environments.ContextualActions(3, 2, n_items=4, sparsity=2).sample(seed=1)
    asked: list[Any] = []

    class Noting(sb.LinTS):
        def ask(self, *arguments: Any, **settings: Any) -> Any:
            asked.append(settings)
            return super().ask(*arguments, **settings)

    def make(problem: sb.experiments.Problem) -> sb.Policy:
        assert problem.users is not None
        assert not np.isin(world.contexts.rows(10), problem.users).any()
        return Noting(problem.items, contexts=problem.users, seed=problem.seed)

    trace = sb.simulate(make, world, 10, seed=0)
    assert [list(one) for one in asked] == [["context"]] * 10
    np.testing.assert_array_equal([one["context"] for one in asked], world.contexts.rows(10))
    regrets = np.diff(trace.regret, prepend=0.0)
    for t, action in enumerate(trace.actions):
        means = world.contexts.actions(t) @ world.at(t).theta
        assert regrets[t] == pytest.approx(means.max() - means[action])


def test_contexts_true_gives_a_policy_the_users_and_items() -> None:
    world = sb.environments.ContextualActions(3, 2, n_items=4, sparsity=2).sample(seed=1)

    def by_hand(problem: sb.experiments.Problem) -> sb.Policy:
        settings: Any = {"noise_variance": problem.noise_variance, "intercept": False, "seed": problem.seed}
        return sb.LinTS(problem.items, contexts=problem.users, **settings)

    found = sb.simulate(sb.maker(sb.LinTS, contexts=True), world, 10, seed=0)
    np.testing.assert_array_equal(found.actions, sb.simulate(by_hand, world, 10, seed=0).actions)


def test_contexts_beside_products_of_users_and_items_are_refused() -> None:
    """Planted: the products would be taken for items, and crossed with the columns of the users again."""
    world = sb.environments.ContextualActions(3, 2, n_items=4, sparsity=2).sample(seed=1)
    users = [{"age": 30.0}, {"age": 50.0}]
    with pytest.raises(ArgumentError, match="contexts: expected True, for the users and items of the environment"):
        sb.simulate(sb.maker(sb.LinTS, contexts=users), world, 10)
    with pytest.raises(ArgumentError, match="contexts: expected True only where the environment has users and items"):
        sb.simulate(sb.maker(sb.LinTS, contexts=True), environment.sample(0), 10)
