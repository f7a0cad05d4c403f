"""Which expansion the rewards speak for."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sparsebandits as sb
from sparsebandits.advice import comparison
from sparsebandits.advice.comparison import MOST_COMPARED, best_expansion
from sparsebandits.advice.expansion import Expansion, expand
from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.model.priors import InverseGammaSlab, default_prior

NAMES = ("a", "b", "c", "d")


def table() -> FloatArray:
    return np.random.default_rng(0).uniform(-1.0, 1.0, (80, 4))


def means(truth: str) -> FloatArray:
    x = table()
    return {
        "linear": 2.0 * x[:, 0] - x[:, 1],
        "quadratic": x[:, 0] + 3.0 * x[:, 1] ** 2,
        "interactions": x[:, 0] + x[:, 1] + 3.0 * x[:, 0] * x[:, 1],
        "splines": np.where(x[:, 0] > 0.4, 10.0 * (x[:, 0] - 0.4), 0.0) + x[:, 1],
    }[truth]


@pytest.mark.parametrize("truth", ["quadratic", "interactions", "splines"])
def test_the_truth_has_the_largest_evidence(truth: str) -> None:
    """Planted: with the smallest evidence in place of the largest, all of these fail."""
    tried = np.arange(80)
    rewards = means(truth) + np.random.default_rng(0).normal(0.0, 0.3, 80)
    best, found = best_expansion(table(), NAMES, None, None, tried, rewards, n_draws=1000)
    assert best.how == truth == max(found, key=lambda how: found[how])
    assert set(found) == {"linear", "quadratic", "interactions", "splines"}
    assert found[truth] > found["linear"] + 10.0


def test_terms_that_are_not_needed_gain_nothing() -> None:
    """Squares that are left out cost little, so the evidence of both is close; its standard error is about 0.4 here."""
    rewards = means("linear") + np.random.default_rng(0).normal(0.0, 0.3, 80)
    _, found = best_expansion(table(), NAMES, None, None, np.arange(80), rewards)
    assert found["linear"] > max(found.values()) - 2.5
    assert found["linear"] > found["splines"]


FAMILIES = {"gaussian": None, "bernoulli": sb.Bernoulli(), "poisson": sb.Poisson()}


@pytest.mark.parametrize("family", FAMILIES)
def test_clicks_and_counts_have_the_priors_of_their_policies(family: str) -> None:
    """The prior of counts has a known slab variance, that of all others a learnt one. Exact: the seeds are the same.

    Planted: clicks with the prior of counts, in the advice or in the evidence.
    """
    tried = np.arange(20)
    rewards = {"gaussian": means("quadratic")[:20], "bernoulli": tried % 2.0, "poisson": tried % 5.0}[family]
    one = expand(table(), NAMES, how="quadratic")
    prior = default_prior(one.features - one.features.mean(axis=0), family == "poisson", sb.Hierarchy(one.parents))
    assert isinstance(prior.slab_variance, InverseGammaSlab) == (family != "poisson")
    policy = sb.SparseIDS(one.features, prior, rewards=FAMILIES[family], n_draws=200, seed=5)
    policy.posterior.update(one.features[tried], rewards)
    common: dict[str, Any] = {"family": FAMILIES[family], "n_draws": 200, "seed": 5}
    _, found = best_expansion(table(), NAMES, None, None, tried, rewards, **common)
    assert found["quadratic"] == policy.posterior.log_evidence
    frame = pd.DataFrame(table(), columns=list(NAMES)).assign(reward=np.append(rewards, np.full(60, np.nan)))
    advice = sb.decide(frame, effects="quadratic", family=family, n_draws=200, seed=5)
    mine, theirs = advice.policy.posterior.prior, policy.posterior.prior
    assert repr((mine.inclusion, mine.slab_variance)) == repr((theirs.inclusion, theirs.slab_variance))


def test_clicks_are_compared_too() -> None:
    rng = np.random.default_rng(4)
    tried = rng.integers(0, 80, 300)
    clicks = (rng.random(300) < 1.0 / (1.0 + np.exp(4.0 - 12.0 * table()[tried, 0] ** 2))).astype(float)
    best, found = best_expansion(table(), NAMES, None, None, tried, clicks, family=sb.Bernoulli(), n_draws=500)
    assert best.how != "linear"
    assert found["quadratic"] > found["linear"] + 5.0


def test_few_rewards_leave_features_as_they_are() -> None:
    best, found = best_expansion(table(), NAMES, None, None, np.arange(9), means("quadratic")[:9])
    assert (best.how, found) == ("linear", {})


def test_what_has_too_many_columns_or_no_evidence_does_not_take_part(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = np.random.default_rng(5).uniform(size=(20, 64))
    names = [f"x{j}" for j in range(64)]
    numbers = {"linear": -3.0, "quadratic": np.nan, "splines": -4.0}
    monkeypatch.setattr(comparison, "_log_evidence", lambda one, *rest: numbers[one.how])
    best, found = best_expansion(wide, names, None, None, np.arange(20), np.arange(20.0))
    assert (best.how, [*found]) == ("linear", ["linear", "quadratic", "splines"])


def test_a_table_of_sixty_columns_takes_seconds_since_products_are_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What takes long is the number of columns, so that is what is bounded; squares and splines still take part."""
    sizes: list[int] = []

    def evidence(one: Expansion, *rest: object) -> float:
        sizes.append(len(one.names))
        return -3.0

    monkeypatch.setattr(comparison, "_log_evidence", evidence)
    wide = pd.DataFrame(np.random.default_rng(5).normal(size=(20, 60)), columns=[f"x{j}" for j in range(60)])
    advice = sb.decide(wide.assign(reward=np.arange(20.0)), effects="auto", n_draws=100, seed=0)
    assert sizes == [60, 120, 240]
    assert any(note.startswith("interactions were not compared") for note in advice.notes)
    assert any("state effects interactions" in note for note in advice.notes)
    sizes.clear()
    wider = np.random.default_rng(5).normal(size=(20, MOST_COMPARED + 1))
    best, _ = best_expansion(
        wider, [f"x{j}" for j in range(wider.shape[1])], None, None, np.arange(20), np.arange(20.0)
    )
    assert (best.how, sizes) == ("linear", [MOST_COMPARED + 1]), "the columns themselves always take part"


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ArgumentError, match="names"):
        best_expansion(table(), NAMES[:2], None, None, np.arange(20), np.arange(20.0))
    with pytest.raises(ArgumentError, match="rewards"):
        best_expansion(table(), NAMES, None, None, np.arange(20), np.arange(19.0))
