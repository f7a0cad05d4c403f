"""FrequentistIDS: gaps, gains and minimiser from their definitions, with inverses computed anew in every round."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.policies.rivals.frequentist_ids import directed_gain
from tests.policies.table import share_of_guessing, some_actions

PRIOR, WIDTH = 0.3, 1.3


def textbook(
    actions: FloatArray, noise: FloatArray, x: FloatArray, y: FloatArray, of_each: FloatArray, width: float, gain: str
) -> tuple[FloatArray, FloatArray]:
    """Return gap estimates and gains; ``of_each`` are the noise variances of the rewards ``y``."""
    v = np.eye(actions.shape[1]) / PRIOR + x.T @ np.diag(1 / of_each) @ x
    inverse = np.linalg.inv(v)
    mean = inverse @ (x.T @ (y / of_each))
    bonus = np.array([width * np.sqrt(a @ inverse @ a) for a in actions])
    upper, lower = actions @ mean + bonus, actions @ mean - bonus
    best = actions[int(upper.argmax())]
    gains = []
    for a, sigma2 in zip(actions, noise, strict=True):
        after = np.linalg.inv(v + np.outer(a, a) / sigma2)
        full = np.log(1 + a @ inverse @ a / sigma2)
        gains.append(full if gain == "full" else np.log((best @ inverse @ best) / (best @ after @ best)))
    return upper.max() - lower, np.array(gains)


def best_mixture(gap: FloatArray, gain: FloatArray) -> float:
    """Return the least ratio over pairs of actions and a fine grid of probabilities."""
    q = np.linspace(0, 1, 201)[:, np.newaxis, np.newaxis]
    top = ((1 - q) * gap[:, np.newaxis] + q * gap) ** 2
    return float((top / ((1 - q) * gain[:, np.newaxis] + q * gain)).min())


@pytest.mark.parametrize("gain", ["full", "directed"])
@pytest.mark.parametrize("selection", ["randomised", "deterministic"])
@pytest.mark.parametrize("noises", [np.full(9, 0.5), np.linspace(0.1, 3.0, 9)], ids=["one noise", "noise by action"])
@pytest.mark.parametrize("radius", [False, True])
def test_gaps_gains_and_minimiser(gain: str, selection: str, noises: FloatArray, radius: bool) -> None:
    actions = some_actions(9, 4)
    same = bool(np.ptp(noises) == 0)
    policy = sb.rivals.FrequentistIDS(
        actions,
        sb.GaussianPrior(PRIOR),
        float(noises[0]) if same else noises,
        sb.rules.ConfidenceRadius(0.1, 0.5) if radius else WIDTH,
        gain,
        selection,
        seed=1,
    )
    x, y, of_each = np.empty((0, 4)), np.empty(0), np.empty(0)
    for t, reward in enumerate(np.random.default_rng(0).standard_normal(40)):
        width = WIDTH
        if radius:
            v = np.eye(4) / PRIOR + x.T @ np.diag(1 / of_each) @ x
            log_det = np.linalg.slogdet(v)[1] + 4 * np.log(PRIOR)
            width = np.sqrt(2 * np.log(10) + log_det) + 0.5 / np.sqrt(PRIOR)
        rows = np.arange(9) if t % 5 else np.array([t % 9, (t + 3) % 9, (t + 4) % 9])  # now and then, three of them
        gap, information = textbook(actions[rows], noises[rows], x, y, of_each, width, gain)
        changed = None if len(rows) == 9 else actions[rows]
        decision = policy.ask(changed, None if changed is None or same else noises[rows])
        columns = decision.reasons.columns
        for k, a in enumerate(decision.reasons.candidates.tolist()):
            assert columns["gap estimate"][k] == pytest.approx(gap[a], abs=1e-9)
            assert columns["information gain"][k] == pytest.approx(information[a], abs=1e-9)
        if selection == "deterministic":
            assert decision.action == int((gap**2 / information).argmin())
            assert decision.probability == 1.0
        else:
            best, found = best_mixture(gap, information), decision.reasons.notes["ratio minimised"]
            assert best * (1 - 1e-3) < found < best * (1 + 1e-9)
        policy.tell(decision, float(reward))
        x, y = np.vstack((x, decision.features)), np.append(y, reward)
        of_each = np.append(of_each, noises[rows[decision.action]])


def test_it_plays_as_often_as_it_says() -> None:
    actions, noises = some_actions(9, 4), np.geomspace(0.01, 50.0, 9)
    policy = sb.rivals.FrequentistIDS(actions, noise_variance=noises, gain="full", seed=0)
    while not 0.1 < policy.ask().probability < 0.9:
        decision = policy.ask()
        policy.tell(decision, float(decision.features[0]))
    decisions = [policy.ask() for _ in range(2000)]
    first = decisions[0]
    assert 0.05 < first.probability < 0.95
    count = sum(d.action == first.action for d in decisions)
    assert stats.binomtest(count, 2000, first.probability).pvalue > 1e-5
    assert stats.binomtest(count, 2000, 1 - first.probability).pvalue < 1e-5, "planted: the other one's probability"


def test_of_two_equal_actions_the_one_with_less_noise_is_played() -> None:
    """The upper bounds are equal, so optimism cannot tell them apart; planted: the noises the other way round."""
    actions = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.1]])
    for noises, quiet in (([4.0, 0.1, 1.0], 1), ([0.1, 4.0, 1.0], 0)):
        policy = sb.rivals.FrequentistIDS(actions, noise_variance=noises, seed=0)
        for _ in range(5):
            decision = policy.ask()
            assert decision.action == quiet
            policy.tell(decision, 1.0)


def test_directed_gain_where_nothing_is_left_to_learn() -> None:
    assert directed_gain(np.zeros(2), np.zeros(2), 1.0, 0).tolist() == [0.0, 0.0]
    assert np.isfinite(directed_gain(np.array([1.0]), np.array([1.0]), 1e-40, 0)).all()
    policy: Any = sb.rivals.FrequentistIDS(np.zeros((2, 2)))
    assert policy.ask().diagnostics["gap estimate"] == 0.0


@pytest.mark.parametrize("gain", ["full", "directed"])
def test_regret_on_an_easy_instance(gain: str) -> None:
    """With 99% confidence its mean regret is below a quarter of guessing's; planted: rewards of the wrong sign."""
    environment = sb.environments.GaussianActions(5, 2, n_actions=10, noise_variance=0.1)

    def make(instance: sb.environments.Instance, seed: int) -> sb.Policy:
        return sb.rivals.FrequentistIDS(instance.actions, noise_variance=0.1, gain=gain, seed=seed)

    assert share_of_guessing(make, environment) < 1 / 4
    assert share_of_guessing(make, environment, sign=-1.0) > 1 / 4
