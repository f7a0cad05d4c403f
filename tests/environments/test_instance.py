"""The one place where simulated rewards are made."""

import math

import numpy as np

import sparsebandits as sb
from sparsebandits.environments import Instance, Outcome
from sparsebandits.environments.gym import BanditEnv
from sparsebandits.randomness import IndexedNormals


def test_a_reward_is_its_mean_plus_the_noise_at_its_address() -> None:
    noise = IndexedNormals(0)
    assert Outcome(2.0, 0.5, 3).reward(7, 4.0, noise) == 2.0 + 2.0 * noise(7, 3)
    one, other = (Outcome(mean, 0.0, 3).reward(7, 4.0, noise) for mean in (2.0, 5.0))
    assert math.isclose(other - one, 3.0), "decisions with the same noise index get the same noise"


def test_simulate_and_gymnasium_make_the_same_rewards() -> None:
    instance, seed = Instance(np.eye(3), np.array([0.1, 0.2, 0.3]), noise_variance=0.7), 4
    trace = sb.simulate(sb.LinTS, instance, 20, seed)
    env = BanditEnv(instance, 20)
    env.reset(seed=seed)
    assert [env.step(row)[1] for row in trace.actions.tolist()] == trace.rewards.tolist()
