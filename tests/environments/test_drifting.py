from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.environments import World
from sparsebandits.environments.drifting import turned
from sparsebandits.randomness import child

FIXED: dict[str, Any] = {
    "Gaussian": sb.environments.GaussianActions(8, 2, n_actions=12),
    "clicks": sb.environments.LogisticActions(8, 2, n_actions=12, signal=2.0),
    "counts": sb.environments.PoissonActions(8, 2, n_actions=12, base_rate=4.0),
}
GAUSSIAN = FIXED["Gaussian"]
pytestmark = pytest.mark.filterwarnings("ignore:all rewards so far are 0 or 1")  # linear policies are quick
every_family = pytest.mark.parametrize("family", FIXED)
every_change = pytest.mark.parametrize("change", ["abrupt", "rotation"])
linear_policy = sb.maker(sb.LinTS, rewards=sb.Gaussian(0.5))


def thetas(instance: sb.environments.DriftingInstance, rounds: int) -> FloatArray:
    return np.array([instance.at(t).theta for t in range(rounds)])


@every_family
def test_an_abrupt_change_is_a_new_draw_every_so_many_rounds(family: str) -> None:
    instance = sb.environments.Drifting(FIXED[family], every=20).sample(5)
    drawn = [FIXED[family].sample(seed).theta for seed in (5, child(5, 1), child(5, 2))]
    np.testing.assert_array_equal(thetas(instance, 60), np.repeat(drawn, 20, axis=0))
    assert len({one.tobytes() for one in drawn}) == 3
    assert len({np.flatnonzero(one).tobytes() for one in drawn}) > 1, "supports change too"


@every_family
def test_a_rotation_goes_through_the_same_draws_in_equal_steps_of_one_length(family: str) -> None:
    instance = sb.environments.Drifting(FIXED[family], every=20, change="rotation").sample(5)
    drawn = np.array([FIXED[family].sample(seed).theta for seed in (5, child(5, 1), child(5, 2))])
    path = thetas(instance, 41)
    np.testing.assert_array_equal(path[::20], drawn)
    norm = np.linalg.norm(drawn[0])
    np.testing.assert_allclose(np.linalg.norm(path, axis=1), norm, rtol=1e-12)
    for k in range(2):
        whole = np.arccos(drawn[k] @ drawn[k + 1] / norm**2)
        steps = [
            np.arccos(a @ b / norm**2) for a, b in zip(path[20 * k :], path[20 * k + 1 : 20 * k + 21], strict=False)
        ]
        np.testing.assert_allclose(steps, whole / 20, rtol=1e-6)


@pytest.mark.parametrize("end", [[-3.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, -3.0, 0.0]], ids=["back", "same", "aside"])
def test_turns_between_any_directions_keep_the_norm(end: list[float]) -> None:
    start, target = np.array([3.0, 0.0, 0.0]), np.array(end)
    path = np.array([turned(start, target, share) for share in np.linspace(0.0, 1.0, 9)])
    np.testing.assert_allclose(path[[0, -1]], [start, target], atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(path, axis=1), 3.0)
    straight = np.linalg.norm(0.5 * (start + target))
    assert (straight < 2.9) == (end != [3.0, 0.0, 0.0]), "planted: a straight line does not keep it"


def test_a_norm_that_differs_goes_from_one_to_the_other() -> None:
    halfway = turned(np.array([1.0, 0.0]), np.array([0.0, 3.0]), 0.5)
    np.testing.assert_allclose(halfway, np.full(2, np.sqrt(2.0)))


@every_change
@every_family
def test_regret_is_against_the_best_action_of_the_round(family: str, change: str) -> None:
    environment, rounds = sb.environments.Drifting(FIXED[family], every=20, change=change), 60
    trace = sb.simulate(linear_policy, environment.sample(1), rounds, seed=1)
    instance = environment.sample(1)
    means = np.array([instance.at(t).means for t in range(rounds)])
    chosen = means[np.arange(rounds), trace.actions]
    np.testing.assert_allclose(trace.regret, np.cumsum(means.max(axis=1) - chosen))
    assert len(set(means.argmax(axis=1))) > 1, "the best action changes"
    former = np.cumsum(means[0].max() - means[0][trace.actions])  # planted: against the first θ*
    np.testing.assert_allclose(trace.regret[0], former[0])
    assert abs(trace.regret[-1] - former[-1]) > 0.1


@every_change
@every_family
def test_actions_rewards_and_intercept_stay(family: str, change: str) -> None:
    instance, fixed = sb.environments.Drifting(FIXED[family], every=7, change=change).sample(2), FIXED[family].sample(2)
    world: World = instance
    for t in (0, 6, 7, 30):
        now = instance.at(t)
        assert world.offered(t) is None
        assert now.actions.tobytes() == instance.actions.tobytes() == fixed.actions.tobytes()
        assert now.rewards == instance.rewards == fixed.rewards
        assert now.intercept == fixed.intercept
    np.testing.assert_equal(instance.noise_variance, fixed.noise_variance)


@every_change
def test_theta_depends_on_seed_and_round_alone(change: str) -> None:
    environment = sb.environments.Drifting(GAUSSIAN, every=4, change=change)
    forwards, backwards, other, fresh = (environment.sample(seed) for seed in (0, 0, 1, None))
    path = thetas(forwards, 10)
    for t in (9, 3, 0, 5, 4):
        assert backwards.at(t).theta.tobytes() == path[t].tobytes()
        assert other.at(t).theta.tobytes() != path[t].tobytes()
    first = thetas(fresh, 10)
    assert first.tobytes() == thetas(fresh, 10).tobytes(), "fresh entropy is drawn once"


@every_family
def test_all_policies_face_the_same_world(family: str) -> None:
    environment = sb.environments.Drifting(FIXED[family], every=25)
    policies = (linear_policy, sb.maker(sb.LinUCB, rewards=sb.Gaussian(0.5)))
    one, other = (sb.simulate(policy, environment.sample(3), 100, seed=2) for policy in policies)
    together = one.actions == other.actions
    assert 3 < together.sum() < 100
    np.testing.assert_array_equal(one.rewards[together], other.rewards[together])


def test_pulls_are_counted_since_rows_stay() -> None:
    environment = sb.environments.Drifting(GAUSSIAN, every=5)
    result = sb.Experiment(environment, {"LinTS": sb.LinTS}, horizon=12, trials=2).run()
    assert result.pulls is not None
    assert result.pulls["LinTS"].sum(axis=1).tolist() == [12, 12]


def test_what_it_says_of_itself_and_what_it_refuses() -> None:
    fixed = "Instance(12 actions of 8 features of which 2 matter, noise variance 2)"
    assert (
        repr(sb.environments.Drifting(GAUSSIAN).sample(0)) == f"DriftingInstance({fixed}, another θ* every 500 rounds)"
    )
    turning = sb.environments.Drifting(GAUSSIAN, 9, "rotation").sample(0)
    assert repr(turning) == f"DriftingInstance({fixed}, θ* turns into another every 9 rounds)"
    wrong: Any
    for wrong in (sb.environments.Hypercube(5, 2), sb.environments.ChangingActions(GAUSSIAN)):
        with pytest.raises(TypeError, match=r"^environment: expected an environment whose .* got one that samples"):
            sb.environments.Drifting(wrong).sample(0)
    for wrong in (None, 3, sb.environments.GaussianActions):
        with pytest.raises(TypeError, match=r"^environment: expected an environment with sample\(seed\), got"):
            sb.environments.Drifting(wrong)
    one_feature = sb.environments.GaussianActions(1, 1, n_actions=3)
    assert sb.environments.Drifting(one_feature, every=1).sample(0).at(9).theta.shape == (1,)
    with pytest.raises(ValueError, match=r"^change: expected 'abrupt' if there is one feature, .* got 'rotation'"):
        sb.environments.Drifting(one_feature, change="rotation").sample(0)
