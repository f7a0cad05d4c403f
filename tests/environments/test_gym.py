"""Instances as a Gymnasium environment."""

import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pandas as pd
import pytest
from gymnasium.utils.env_checker import check_env

import sparsebandits as sb
from sparsebandits.environments import Environment
from sparsebandits.environments.gym import ID, BanditEnv
from sparsebandits.randomness import INSTANCE_STREAM, POLICY_STREAM, child
from tests.statistical import assert_means_agree

FIXED = sb.environments.GaussianActions(dimension=4, sparsity=2, n_actions=12)
PROBLEMS: dict[str, Any] = {
    "an instance": FIXED.sample(0),
    "a fresh instance each episode": FIXED,
    "changing actions": sb.environments.ChangingActions(FIXED).sample(1),
    "fresh and changing": sb.environments.ChangingActions(FIXED),
    "a hard instance": sb.environments.HardInstance(dimension=5, sparsity=2),
    "clicks": sb.environments.LogisticActions(dimension=4, sparsity=2, n_actions=12, base_rate=0.4),
    "counts": sb.environments.PoissonActions(dimension=4, sparsity=2, n_actions=12),
    "a drift": sb.environments.Drifting(FIXED, every=3).sample(0),
    "fresh drifts": sb.environments.Drifting(FIXED, every=3, change="rotation"),
    "users": sb.environments.ContextualActions(4, 3, n_items=12, sparsity=5),
    "users who click": sb.environments.ContextualActions(4, 3, 12, 5, rewards="logistic", base_rate=0.4).sample(0),
    "classes": sb.environments.Classification("digits"),
    "patients": sb.environments.Dosing(extra_features=0),
}
every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


@every_problem
def test_gymnasium_finds_nothing_to_object_to(problem: Any) -> None:
    """Its warnings are errors here."""
    env = gymnasium.make(f"sparsebandits.environments.gym:{ID}", problem=problem, horizon=30)
    check_env(env.unwrapped)


def test_several_at_once() -> None:
    envs = gymnasium.make_vec(ID, num_envs=3, vectorization_mode="sync", problem=FIXED, horizon=5)
    features, _ = envs.reset(seed=0)
    assert features.shape == (3, 12, 4)
    assert len({one.tobytes() for one in features}) == 3
    _, rewards, _, _, info = envs.step([0, 1, 2])
    assert rewards.shape == info["regret"].shape == (3,)


def episode(env: BanditEnv, rows: list[int], **reset: Any) -> list[tuple[bytes, float]]:
    features, _ = env.reset(**reset)
    seen = [(features.tobytes(), 0.0)]
    for row in rows:
        features, reward, *_ = env.step(row)
        seen.append((features.tobytes(), reward))
    return seen


@every_problem
def test_a_seed_gives_the_same_episodes_again(problem: Any) -> None:
    one, other = BanditEnv(problem, horizon=5), BanditEnv(problem, horizon=5)
    rows = [row % len(one.reset()[0]) for row in (3, 0, 3, 7, 1)]
    other.reset(seed=9)
    first = [episode(one, rows, seed=4), episode(one, rows), episode(one, rows)]
    again = [episode(other, rows, seed=4), episode(other, rows), episode(other, rows)]
    assert first == again
    assert len({str(one) for one in first}) == 3  # all of them different
    assert episode(one, rows, seed=5) != first[0]


def test_an_instance_stays_and_an_environment_draws_afresh() -> None:
    stays, fresh = BanditEnv(PROBLEMS["an instance"], 5), BanditEnv(FIXED, 5)
    assert stays.reset(seed=0)[0].tobytes() == stays.reset()[0].tobytes()
    assert fresh.reset(seed=0)[0].tobytes() != fresh.reset()[0].tobytes()


@pytest.mark.parametrize("environment", [FIXED, sb.environments.ChangingActions(FIXED)], ids=["fixed", "changing"])
def test_our_policies_see_the_world_of_simulate(environment: Environment) -> None:
    horizon, seed = 40, 3
    env = BanditEnv(environment, horizon)
    trace = sb.simulate(sb.LinTS, environment.sample(child(seed, INSTANCE_STREAM)), horizon, seed)
    actions, info = env.reset(seed=seed)
    policy = sb.LinTS(
        actions, noise_variance=info["noise_variance"], seed=child(seed, POLICY_STREAM), intercept=False
    )  # as sb.maker makes it
    rewards, regret, truncated = [], 0.0, False
    while not truncated:
        decision = policy.ask(actions)
        actions, reward, terminated, truncated, info = env.step(np.int64(decision.action))
        policy.tell(decision, reward)
        rewards.append(reward)
        regret += info["regret"]
        assert not terminated
    np.testing.assert_array_equal(rewards, trace.rewards)
    assert regret == pytest.approx(trace.regret[-1])


@pytest.mark.filterwarnings("ignore:all rewards so far are 0 or 1")
@pytest.mark.parametrize("kind", ["clicks", "counts", "fresh drifts", "users", "classes"])
def test_other_worlds_are_those_of_simulate(kind: str) -> None:
    horizon, seed, environment = 20, 3, PROBLEMS[kind]
    instance = environment.sample(child(seed, INSTANCE_STREAM))
    trace = sb.simulate(sb.maker(sb.LinTS, rewards=sb.Gaussian(0.5)), instance, horizon, seed)
    env = BanditEnv(environment, horizon)
    _, info = env.reset(seed=seed)
    assert info["rewards"] == instance.rewards
    steps = [env.step(row) for row in trace.actions.tolist()]
    assert [step[1] for step in steps] == trace.rewards.tolist()
    np.testing.assert_allclose(np.cumsum([step[4]["regret"] for step in steps]), trace.regret)
    best = [int(instance.at(t).means.argmax()) for t in range(horizon)]
    assert [step[4]["best_action"] for step in steps] == best


@pytest.mark.parametrize("kind", ["an instance", "changing actions"])
def test_guessing_costs_the_mean_gap_and_noise_has_its_variance(kind: str) -> None:
    """Fails on the planted regret against the mean action, and on noise that is not scaled by its deviation."""
    horizon, problem = 600, {**PROBLEMS, "changing actions": sb.environments.ChangingActions(FIXED).sample(1)}[kind]
    env = BanditEnv(PROBLEMS[kind], horizon)
    env.action_space.seed(0)
    env.reset(seed=0)
    told = []
    for t in range(horizon):
        row = env.action_space.sample()
        _, reward, _, _, info = env.step(row)
        means = problem.at(t).actions @ problem.theta
        assert info["best_action"] == means.argmax()
        assert info["mean_reward"] == pytest.approx(means[row])
        told.append((info["regret"] - (means.max() - means.mean()), reward - info["mean_reward"], np.ptp(means)))
    excess, noise, spread = np.array(told).T
    error = excess.std() / np.sqrt(horizon)
    assert_means_agree(excess.mean(), np.zeros(()), error)
    variance, its_error = (noise**2).mean(), np.asarray(problem.noise_variance * np.sqrt(2 / horizon))
    assert_means_agree(variance, np.asarray(problem.noise_variance), its_error)
    assert_means_agree(noise.mean(), np.zeros(()), np.asarray(noise.std() / np.sqrt(horizon)))
    with pytest.raises(AssertionError, match="z-score"):
        assert_means_agree((excess - spread / 2).mean(), np.zeros(()), error)
    with pytest.raises(AssertionError, match="z-score"):
        assert_means_agree(variance / np.sqrt(2.0), np.asarray(problem.noise_variance), its_error)


def test_an_episode_ends_at_the_horizon_and_has_to_be_begun() -> None:
    env = BanditEnv(FIXED, horizon=2)
    with pytest.raises(RuntimeError, match=r"^step: expected .* none has begun; call reset\(\) first"):
        env.step(0)
    env.reset(seed=0)
    assert [env.step(0)[3], env.step(0)[3]] == [False, True]
    with pytest.raises(RuntimeError, match=r"^step: expected .* ended after 2 rounds"):
        env.step(0)
    env.reset()
    assert env.step(0)[3] is False


@pytest.mark.parametrize("wrong", [-1, 12, 1.5, "0", None, True])
def test_a_wrong_action_is_refused_and_no_round_passes(wrong: Any) -> None:
    env, untouched = BanditEnv(FIXED, horizon=3), BanditEnv(FIXED, horizon=3)
    env.reset(seed=0)
    untouched.reset(seed=0)
    with pytest.raises((TypeError, ValueError), match=r"^action: expected"):
        env.step(wrong)
    assert env.step(1)[1] == untouched.step(1)[1]


def test_an_agent_may_write_into_its_observation() -> None:
    env = BanditEnv(PROBLEMS["an instance"], horizon=3)
    features, _ = env.reset(seed=0)
    features[:] = 0.0
    assert env.step(0)[0].any()


class Growing:
    """An environment whose instances differ in size."""

    def __init__(self) -> None:
        self.size = 2

    def sample(self, seed: Any) -> sb.environments.Instance:
        self.size += 1
        return sb.environments.Instance(np.eye(self.size), np.ones(self.size), 1.0)


def test_what_it_cannot_be_made_of() -> None:
    cube = sb.environments.Hypercube(5, 2)
    wrong: Any
    for wrong in (cube, cube.sample(0), np.eye(2), None, pd.DataFrame(np.eye(2))):
        with pytest.raises(TypeError, match=r"^problem: expected an instance or an environment whose actions are rows"):
            BanditEnv(wrong, horizon=3)
    with pytest.raises(TypeError, match=r"^problem: expected .* got the class GaussianActions"):
        BanditEnv(sb.environments.GaussianActions, horizon=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^horizon: expected"):
        BanditEnv(FIXED, horizon=0)
    with pytest.raises(ValueError, match=r"^problem: expected actions of shape \(3, 3\) in every round, got \(4, 4\)"):
        BanditEnv(Growing(), horizon=3).reset()
    plain = sb.environments.GaussianActions(4, 2, n_actions=2)
    BanditEnv(sb.environments.GraphFeedback(plain, np.ones((2, 2))), horizon=3)
    with pytest.raises(ValueError, match=r"^problem: expected actions that show their own reward"):
        BanditEnv(sb.environments.GraphFeedback(plain, [[1, 1], [1, 0]]), horizon=3)


def test_without_gymnasium_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['gymnasium'] = None; import sparsebandits.environments.gym"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: sparsebandits.environments.gym needs Gymnasium" in answer.stderr
    assert "pip install 'sparsebandits[gym]'" in answer.stderr
