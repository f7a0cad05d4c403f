"""Worlds in which a policy is told an observation in place of the reward."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError
from sparsebandits.randomness import NOISE_STREAM, IndexedNormals, child

BASE = sb.environments.GaussianActions(dimension=3, sparsity=2, n_actions=4, noise_variance=0.1)
ENVIRONMENTS: dict[str, Any] = {
    "dueling": sb.environments.DuelingFeedback(BASE),
    "transductive": sb.environments.TransductiveFeedback(BASE, np.eye(3)),
}
both = pytest.mark.parametrize("name", ENVIRONMENTS)


@both
def test_the_policy_is_told_observations_and_regret_is_that_of_rewards(name: str) -> None:
    """Planted: telling the reward, or the regret of observations."""
    instance = ENVIRONMENTS[name].sample(3)
    made: list[sb.Policy] = []

    def make(problem: Any) -> sb.Policy:
        made.append(sb.maker(sb.rivals.PartialMonitoringIDS)(problem))
        return made[-1]

    trace, noise = sb.simulate(make, instance, 40, seed=1), IndexedNormals(child(1, NOISE_STREAM))
    reward, shown = instance.actions.actions @ instance.theta, instance.actions.observations @ instance.theta
    normals = np.sqrt(0.1) * np.array([noise(t, action) for t, action in enumerate(trace.actions.tolist())])
    np.testing.assert_allclose(made[0].told, shown[trace.actions] + normals, rtol=1e-12)
    np.testing.assert_allclose(trace.rewards, reward[trace.actions] + normals, rtol=1e-12)
    np.testing.assert_allclose(trace.regret, np.cumsum(reward.max() - reward[trace.actions]), rtol=1e-9, atol=1e-12)


def share_of_guessing(environment: Any, sign: float = 1.0) -> float:
    """Return what mean regret, as a share of that of guessing, is below with 99% confidence: 6 trials, 120 rounds."""
    shares = []
    for seed in range(6):
        instance = environment.sample(seed)
        instance.observations = sign * instance.observations
        regret = sb.simulate(sb.rivals.PartialMonitoringIDS, instance, 120, seed).regret[-1]
        shares.append(float(regret) / (120 * instance.gaps.mean()))
    return float(np.mean(shares) + stats.t.ppf(0.99, 5) * np.std(shares, ddof=1) / np.sqrt(6))


@both
def test_regret(name: str) -> None:
    """With 99% confidence its mean regret is below half of guessing's; planted: observations of the wrong sign."""
    assert share_of_guessing(ENVIRONMENTS[name]) < 1 / 2
    assert share_of_guessing(ENVIRONMENTS[name], sign=-1.0) > 1 / 2


@both
def test_an_experiment(name: str) -> None:
    policies = {"IDS": sb.rivals.PartialMonitoringIDS, "full": sb.maker(sb.rivals.PartialMonitoringIDS, gain="full")}
    result = sb.Experiment(ENVIRONMENTS[name], policies, horizon=10, trials=2).run()
    assert result.regret["IDS"].shape == result.regret["full"].shape == (2, 10)


@both
def test_policies_that_need_rewards_are_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match=r"^actions: expected one row per action that shows its own reward"):
        sb.simulate(sb.LinTS, ENVIRONMENTS[name].sample(0), 5)


def test_environments_are_compared_by_value_and_check_what_they_are_given() -> None:
    assert ENVIRONMENTS["transductive"] == sb.environments.TransductiveFeedback(BASE, np.eye(3).tolist())
    same = sb.environments.TransductiveFeedback(BASE).sample(0)
    np.testing.assert_array_equal(same.actions.observations[4:], same.actions.actions[:4])
    for wrong in (3, sb.environments.LogisticActions(3, 2), sb.environments.ChangingActions(BASE)):
        with pytest.raises(ArgumentError, match=r"^environment: expected"):
            sb.environments.DuelingFeedback(wrong).sample(0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"^game: expected a Game"):
        sb.environments.MonitoredInstance(np.eye(2), [1.0, 0.0], 1.0)  # type: ignore[arg-type]
