"""Clicks and counts: what ``GaussianActions`` draws, seen through a link."""

import math
from collections.abc import Callable
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from tests.statistical import assert_means_agree

GAUSSIAN = sb.environments.GaussianActions(6, 2, n_actions=15)
CLICKS = sb.environments.LogisticActions(6, 2, n_actions=15, base_rate=0.2, signal=1.5)
COUNTS = sb.environments.PoissonActions(6, 2, n_actions=15, base_rate=3.0, signal=0.8)
LINKED: dict[str, Any] = {
    "clicks": CLICKS,
    "clicks, probit": replace(CLICKS, link="probit"),
    "counts": COUNTS,
}
INVERSE: dict[str, Callable[[float], float]] = {
    "clicks": lambda p: math.log(p / (1.0 - p)),
    "clicks, probit": NormalDist().inv_cdf,
    "counts": math.log,
}
pytestmark = pytest.mark.filterwarnings("ignore:all rewards so far are 0 or 1")  # linear policies are quick
every_kind = pytest.mark.parametrize("kind", LINKED)


@every_kind
def test_actions_and_direction_are_those_of_gaussian_actions(kind: str) -> None:
    linked, linear = LINKED[kind].sample(3), GAUSSIAN.sample(3)
    assert linked.actions.tobytes() == linear.actions.tobytes()
    assert linked.theta.tobytes() == (LINKED[kind].signal * linear.theta).tobytes()
    assert np.linalg.norm(linked.theta) == pytest.approx(LINKED[kind].signal)
    assert linked.rewards.intercept, "a policy has to learn the base rate"


@every_kind
def test_the_link_of_the_means_is_linear_and_the_base_rate_is_at_the_centre(kind: str) -> None:
    instance, link = LINKED[kind].sample(0), INVERSE[kind]
    base = LINKED[kind].base_rate
    centre = replace(instance, actions=np.zeros((1, 6)))
    assert centre.means[0] == pytest.approx(base)
    for row, mean in zip(instance.actions, instance.means, strict=True):
        assert link(mean) - link(base) == pytest.approx(sum(a * b for a, b in zip(row, instance.theta, strict=True)))


@every_kind
def test_the_signal_is_the_spread_over_actions(kind: str) -> None:
    environment = replace(LINKED[kind], n_actions=1)
    etas = np.array([(one := environment.sample(seed)).actions[0] @ one.theta for seed in range(4000)])
    error = (etas**2).std() / np.sqrt(len(etas))
    assert_means_agree((etas**2).mean(), np.asarray(environment.signal**2), error)
    with pytest.raises(AssertionError, match="z-score"):  # planted: a norm that is a quarter too large
        assert_means_agree((etas**2).mean() * 1.25**2, np.asarray(environment.signal**2), error)


def test_defaults_of_counts_have_an_intercept_to_be_learnt() -> None:
    instance = sb.environments.PoissonActions(6, 2).sample(0)
    assert (instance.intercept, instance.rewards) == (0.0, sb.Poisson(intercept=True))


@every_kind
def test_all_policies_face_the_same_world(kind: str) -> None:
    instance = LINKED[kind].sample(0)
    policies = [sb.maker(policy, rewards=sb.Gaussian(0.5)) for policy in (sb.LinTS, sb.LinUCB)]
    one, other = (sb.simulate(policy, instance, 200, seed=1) for policy in policies)
    together = one.actions == other.actions
    assert 5 < together.sum() < 200
    np.testing.assert_array_equal(one.rewards[together], other.rewards[together])
    assert len(set(one.rewards)) > 1
    np.testing.assert_allclose(one.regret, np.cumsum(instance.means.max() - instance.means[one.actions]))


@every_kind
def test_actions_may_change_too(kind: str) -> None:
    instance = sb.environments.ChangingActions(LINKED[kind]).sample(0)
    later = instance.at(4)
    assert (later.rewards, later.intercept) == (instance.rewards, LINKED[kind].intercept)
    assert later.theta.tobytes() == instance.theta.tobytes()
    trace = sb.simulate(sb.maker(sb.LinTS, rewards=sb.Gaussian(0.5)), instance, 20, seed=1)
    gaps = [(means := instance.at(t).means).max() - means[a] for t, a in enumerate(trace.actions)]
    np.testing.assert_allclose(trace.regret, np.cumsum(gaps))


def test_rates_that_no_link_reaches_are_refused() -> None:
    for wrong in (0.0, 1.0, 1.5, -0.1):
        with pytest.raises(ValueError, match=r"^base_rate: expected a number"):
            sb.environments.LogisticActions(3, 1, base_rate=wrong)
    with pytest.raises(ValueError, match=r"^base_rate: expected a positive number"):
        sb.environments.PoissonActions(3, 1, base_rate=0.0)
    with pytest.raises(ValueError, match=r"^sparsity: expected at most dimension \(3\), got 4"):
        sb.environments.LogisticActions(3, 4)
