"""Beliefs about clicks and counts against plain loops over draws."""

from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from scipy import stats

import sparsebandits as sb
from sparsebandits.model.families import Linked
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.rows import Rows
from sparsebandits.rules import linked
from sparsebandits.rules.linked import LinkedBeliefs, beliefs_about

LOGIT, PROBIT, POISSON = sb.Bernoulli(intercept=True), sb.Bernoulli("probit", intercept=True), sb.Poisson()
every_family = pytest.mark.parametrize("family", [LOGIT, PROBIT, POISSON], ids=["logit", "probit", "poisson"])
ACTIONS, DRAWS, FEATURES = 7, 60, 3


class Fixed:
    """A posterior of given draws."""

    picks_from_draws = True

    def __init__(self, family: Linked, theta: Any, weights: Any, intercepts: Any, sparse: bool) -> None:
        self.rewards = family
        source = Rows.of(theta) if sparse else theta
        self._draws = Draws.trusted(source, weights, intercepts if family.intercept else None)

    def draws(self) -> Draws:
        """Return the draws."""
        return self._draws

    def mean(self) -> Any:
        """Return their mean."""
        return self._draws.mean()


def example(family: Linked, sparse: bool, rng: Generator) -> tuple[LinkedBeliefs, Any, Any]:
    """Return beliefs, mean rewards of each action under each draw, and weights."""
    features = rng.standard_normal((ACTIONS, FEATURES))
    features[4] = features[2]
    theta = rng.standard_normal((DRAWS, FEATURES)) * (rng.random((DRAWS, FEATURES)) < 0.6)
    theta *= 0.4 if family is POISSON else 1.0
    weights, intercepts = rng.dirichlet(np.ones(DRAWS)), rng.normal(-1.0, 0.5, DRAWS)
    features.flags.writeable = False
    beliefs = beliefs_about(Fixed(family, theta, weights, intercepts, sparse), features)
    eta = features @ theta.T + (intercepts if family.intercept else 0.0)
    assert isinstance(beliefs, LinkedBeliefs)
    return beliefs, family.mean(eta), weights


def groups(beliefs: LinkedBeliefs) -> Any:
    """Return the share of each draw in each group, shape (G, M), from the definition of x* and its ties."""
    best = beliefs.best
    shares = np.zeros((len(best.support), DRAWS))
    for cell, group, share in zip(best.cell, best.group, best.share, strict=True):
        shares[group, best.optima.cell == cell] += share
    return shares


@every_family
@pytest.mark.parametrize("sparse", [True, False])
def test_against_plain_loops(family: Linked, sparse: bool) -> None:
    """Planted: mean rewards at the mean of the draws instead of averaged; all numbers differ by a tenth."""
    beliefs, mu, weights = example(family, sparse, np.random.default_rng(1))
    mean = mu @ weights
    assert beliefs.means == pytest.approx(mean, rel=1e-5)
    assert beliefs.means_of(np.array([3, 1])) == pytest.approx(mean[[3, 1]], rel=1e-5)
    assert beliefs.predictions == pytest.approx(mu)
    assert beliefs.expected_regret == pytest.approx(mu.max(axis=0) @ weights - mean, abs=1e-6)
    shares = groups(beliefs) * weights
    probability = shares.sum(axis=1)
    assert probability.sum() == pytest.approx(1.0)
    between = sum(p * (mu @ one / p - mean) ** 2 for one, p in zip(shares, probability, strict=True))
    total = (mu - mean[:, np.newaxis]) ** 2 @ weights
    assert beliefs.information.gain == pytest.approx(between, rel=1e-4)
    assert beliefs.variances == pytest.approx(total, rel=1e-4)
    noise = mu @ weights if family is POISSON else (mu * (1 - mu)) @ weights
    assert beliefs.noise_variances == pytest.approx(noise, rel=1e-5)
    assert beliefs.variance_gain == pytest.approx(between / noise, rel=1e-4)
    best = np.zeros(ACTIONS)
    for m in range(DRAWS):
        rows = np.flatnonzero(mu[:, m] >= mu[:, m].max() * (1 - 1e-12))
        if len(np.unique(beliefs.features[rows], axis=0)) == 1:
            best[rows] += weights[m] / len(rows)
    alone = best > 0
    assert (beliefs.optimal_probability[alone] >= best[alone] - 1e-9).all()


def plain_information(family: Linked, mu: Any, shares: Any) -> Any:
    """Return I(x*; Y_a) from the joint distribution of group and reward, in plain sums."""
    found = []
    for rewards in mu:
        if family is POISSON:
            mass = stats.poisson.pmf(np.arange(400)[:, np.newaxis], rewards)
        else:
            mass = np.stack((1 - rewards, rewards))
        joint = mass @ shares.T  # (y, g)
        independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        inside = joint > 1e-100
        found.append(float((joint[inside] * np.log(joint[inside] / independent[inside])).sum()))
    return np.array(found)


@every_family
@pytest.mark.parametrize("sparse", [True, False])
def test_mutual_information_is_exact(family: Linked, sparse: bool) -> None:
    """Planted: the entropy at the mean of a group's rewards weighted by one instead of P(g); off by a factor."""
    beliefs, mu, weights = example(family, sparse, np.random.default_rng(2))
    truth = plain_information(family, mu, groups(beliefs) * weights)
    assert beliefs.mutual_information == pytest.approx(truth, rel=2e-4, abs=1e-7)
    some = np.array([5, 2, 4])
    assert beliefs.mutual_information_of(some) == pytest.approx(truth[some], rel=2e-4, abs=1e-7)
    if family is POISSON:
        assert beliefs.best.informations[0][beliefs.best.optima.actions.number] == pytest.approx(truth, rel=0.6)
    else:
        all_draws = plain_information(family, mu, np.diag(weights))
        assert beliefs.best.informations[1][beliefs.best.optima.actions.number] == pytest.approx(all_draws, rel=1e-3)


@every_family
def test_blocks_give_the_same(family: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a block that forgets the intercepts."""
    whole, _, _ = example(family, True, np.random.default_rng(3))
    wanted = (whole.means, whole.information.gain, whole.variances, *whole.best.informations, whole.mutual_information)
    monkeypatch.setattr(linked, "MOST_KEPT", 5 * DRAWS)
    monkeypatch.setattr(linked, "AT_ONCE", 17)
    parts, _, _ = example(family, True, np.random.default_rng(3))
    found = (parts.means, parts.information.gain, parts.variances, *parts.best.informations, parts.mutual_information)
    for one, other in zip(found, wanted, strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-8)


def test_noise_of_the_draws_is_taken_out() -> None:
    """From 250 draws, most of the noise is taken out of the information; planted: no correction."""
    rng, features = np.random.default_rng(4), np.random.default_rng(5).standard_normal((40, 8))
    features.flags.writeable = False

    def informed(size: int) -> Any:
        theta, weights = 0.5 * rng.standard_normal((size, 8)), np.full(size, 1.0 / size)
        beliefs = beliefs_about(Fixed(LOGIT, theta, weights, rng.normal(-2.0, 0.3, size), False), features)
        assert isinstance(beliefs, LinkedBeliefs)
        return beliefs.mutual_information, beliefs.informed(beliefs.information, 0.0)[0]

    truth = informed(50_000)[0]
    plain, corrected = np.mean([informed(250) for _ in range(20)], axis=0)
    assert np.abs(corrected - truth).mean() < 0.4 * np.abs(plain - truth).mean()


def test_pace_is_that_of_rare_clicks() -> None:
    features = np.random.default_rng(0).standard_normal((5, 2))
    features.flags.writeable = False
    theta, weights = np.zeros((40, 2)), np.full(40, 1 / 40)
    rare = beliefs_about(Fixed(LOGIT, theta, weights, np.full(40, np.log(0.02 / 0.98)), False), features)
    even = beliefs_about(Fixed(LOGIT, theta, weights, np.zeros(40), False), features)
    assert rare.pace == pytest.approx(0.25 / (0.02 * 0.98), rel=1e-5)
    assert even.pace == pytest.approx(1.0)


def test_large_counts_have_an_approximate_information() -> None:
    beliefs, _, _ = example(POISSON, True, np.random.default_rng(6))
    beliefs.posterior._draws.intercepts = np.full(DRAWS, 12.0)
    assert np.isfinite(beliefs.mutual_information).all()
    assert (beliefs.mutual_information >= 0).all()
