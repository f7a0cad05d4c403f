"""Rounds with one right action: data sets for classification, and made-up patients."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import datasets

import sparsebandits as sb
from sparsebandits.environments import dosing
from sparsebandits.environments.classification import LOADERS
from tests.statistical import assert_means_agree

SIZES = {"digits": (1797, 10, 61), "breast-cancer": (569, 2, 30), "wine": (178, 3, 13), "iris": (150, 3, 4)}
DOSING: Any = sb.environments.Dosing(extra_features=3)
PROBLEMS: dict[str, Any] = {"wine": sb.environments.Classification("wine"), "dosing": DOSING}
pytestmark = pytest.mark.filterwarnings("ignore:all rewards so far are 0 or 1")  # linear policies are quick
every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
linear_policy = sb.maker(sb.LinTS, rewards=sb.Gaussian(0.2))


@pytest.mark.parametrize("data", LOADERS)
def test_a_pass_has_every_row_once_with_its_class(data: str) -> None:
    count, classes, columns = SIZES[data]
    raw = getattr(datasets, LOADERS[data])()
    instance = sb.environments.Classification(data).sample(0)
    rows, labels = instance.contexts.rows(count), np.array(instance.labels(count))
    assert instance.actions.shape == (classes, classes * (columns + 1))
    assert len(instance.contexts.names) == columns + 1
    assert (rows[:, 0] == 1.0).all()
    np.testing.assert_allclose(rows[:, 1:].mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(rows[:, 1:].std(axis=0), 1.0)
    kept = raw.data[:, raw.data.std(axis=0) > 0]
    standardised = (kept - kept.mean(axis=0)) / kept.std(axis=0)
    expected = sorted(zip(standardised.round(8).tolist(), raw.target.tolist(), strict=True))
    assert sorted(zip(rows[:, 1:].round(8).tolist(), labels.tolist(), strict=True)) == expected
    again = instance.contexts.rows(count, first=count)
    assert sorted(again.tolist()) == sorted(rows.tolist()), "the second pass has the same rows"
    assert again.tolist() != rows.tolist(), "in another order"


@every_problem
def test_a_rounds_row_depends_on_seed_and_round_alone(problem: Any) -> None:
    one, again, other = (problem.sample(seed) for seed in (0, 0, 1))
    sets = {t: (one.offered(t).tobytes(), one.at(t).right) for t in (0, 1, 2, 200, 401)}
    for t in (401, 2, 0, 200, 1):
        assert (again.offered(t).tobytes(), again.at(t).right) == sets[t]
        assert other.offered(t).tobytes() != sets[t][0]
    assert one.labels(3) == [sets[t][1] for t in range(3)]
    assert one.labels(2, first=1) == [sets[t][1] for t in (1, 2)]
    fresh = problem.sample(None)
    first = fresh.offered(1).tobytes()
    fresh.offered(2)
    assert fresh.offered(1).tobytes() == first


@every_problem
def test_each_class_has_the_row_in_its_own_block(problem: Any) -> None:
    instance = problem.sample(3)
    width = len(instance.contexts.names)
    for t in (0, 7):
        row, offered = instance.contexts.row(t), instance.offered(t)
        for a in range(3):
            np.testing.assert_array_equal(offered[a, a * width : (a + 1) * width], row)
            assert np.count_nonzero(offered[a]) == np.count_nonzero(row)
    name = f"{instance.contexts.names[1]} × {instance.contexts.item_names[2]}"
    assert instance.contexts.feature_names[2 * width + 1] == name
    np.testing.assert_array_equal(instance.actions, instance.offered(0))


@every_problem
def test_regret_is_the_number_of_wrong_decisions_and_rewards_are_the_right_ones(problem: Any) -> None:
    rounds, traces = 200, []
    labels = np.array(problem.sample(0).labels(rounds))
    for policy in (linear_policy, sb.maker(sb.LinUCB, rewards=sb.Gaussian(0.2))):
        trace = sb.simulate(policy, problem.sample(0), rounds, seed=1)
        right = trace.actions == labels
        np.testing.assert_array_equal(trace.rewards, right.astype(float))
        np.testing.assert_array_equal(trace.regret, np.cumsum(~right))
        traces.append(trace)
    assert (traces[0].actions != traces[1].actions).any()
    instance = problem.sample(0)
    for t in (0, 5):
        assert instance.at(t).means.tolist() == [float(row == labels[t]) for row in range(3)]
    with pytest.raises(ValueError, match="action: expected a row of the actions, got a decision without one"):
        instance.outcome(0, -1, instance.actions[0])


def test_policies_are_told_that_rewards_are_clicks() -> None:
    instance = PROBLEMS["wine"].sample(0)
    assert instance.rewards == sb.Bernoulli(intercept=True)
    assert math.isnan(instance.noise_variance)
    trace = sb.simulate(sb.LinTS, instance, 15, seed=0)
    assert set(trace.rewards.tolist()) <= {0.0, 1.0}


def test_a_sparse_policy_plays_them() -> None:
    instance = sb.environments.Classification("iris").sample(0)
    trace = sb.simulate(sb.maker(sb.SparseTS, n_draws=50), instance, 15, seed=0)
    assert trace.regret[-1] <= 15


def test_a_linear_policy_learns_to_classify() -> None:
    """Guessing is wrong in two of three rounds; the last hundred rounds of a second pass have less than a tenth."""
    wrong = np.diff(sb.simulate(linear_policy, PROBLEMS["wine"].sample(0), 300, seed=0).regret)[-100:]
    assert wrong.mean() < 0.1


def test_a_dose_is_right_as_often_as_the_model_says() -> None:
    """Labels against the stated probabilities, which are computed here from the record and a normal distribution."""
    patients = 3000
    instance = sb.environments.Dosing(extra_features=0).sample(0)
    rows, labels = instance.contexts.rows(patients), np.array(instance.labels(patients))
    column = dict(zip(instance.contexts.names, rows.T, strict=True))
    eta = (
        -0.11 * column["age"]
        + 0.03 * column["height"]
        + 0.13 * column["weight"]
        - 0.32 * column["VKORC1 GA"]
        - 0.75 * column["VKORC1 AA"]
        - 0.25 * column["CYP2C9 one variant"]
        - 0.7 * column["CYP2C9 two variants"]
        - 0.25 * column["amiodarone"]
        + 0.35 * column["enzyme inducer"]
        + 0.1 * column["smoker"]
    )
    below = stats.norm.cdf((np.log([[21.0], [49.0]]) - math.log(44.0) - eta) / 0.2)
    chances = np.array([below[0], below[1] - below[0], 1.0 - below[1]])
    found = np.array([(labels == dose).mean() for dose in range(3)])
    error = np.sqrt((chances * (1 - chances)).sum(axis=1)) / patients
    assert_means_agree(found, chances.mean(axis=1), error)
    with pytest.raises(AssertionError, match="z-score"):  # planted: low and high exchanged
        assert_means_agree(found[::-1], chances.mean(axis=1), error)
    np.testing.assert_allclose(chances.mean(axis=1), [0.24, 0.65, 0.11], atol=0.02)  # as the docstring says
    assert chances.max(axis=0).mean() == pytest.approx(0.81, abs=0.02)


def test_patients_are_as_the_model_says() -> None:
    rng, patients = np.random.default_rng(0), 6000
    rows = np.array([dosing.record(rng) for _ in range(patients)])
    column = dict(zip(dosing.EFFECTS, rows.T, strict=True))
    a_allele, variant = np.array([0.4, 0.9, 0.1]), np.array([0.2, 0.05, 0.03])
    shares = np.array([0.55, 0.3, 0.15])
    expected = {
        "female": 0.45,
        "Asian": 0.3,
        "African": 0.15,
        "VKORC1 GA": shares @ (2 * a_allele * (1 - a_allele)),
        "VKORC1 AA": shares @ a_allele**2,
        "CYP2C9 one variant": shares @ (2 * variant * (1 - variant)),
        "CYP2C9 two variants": shares @ variant**2,
        "amiodarone": 0.1,
        "enzyme inducer": 0.05,
        "statin": 0.4,
        "aspirin": 0.3,
        "smoker": 0.15,
    }
    for name in expected:
        assert set(column[name].tolist()) <= {0.0, 1.0}
    rates = np.array(list(expected.values()))
    found = np.array([column[name].mean() for name in expected])
    assert_means_agree(found, rates, np.sqrt(rates * (1 - rates) / patients))
    height, weight = 170 + 10 * column["height"], 84 + 16 * column["weight"]
    centred = np.array(
        [column["age"], height - 176 + 13 * column["female"], weight - 84 - 0.8 * (height - 170)]
    ) / np.array([[1.0], [7.0], [14.0]])
    assert_means_agree(centred.mean(axis=1), np.zeros(3), np.full(3, 1 / np.sqrt(patients)))
    assert_means_agree((centred**2).mean(axis=1), np.ones(3), np.full(3, np.sqrt(2 / patients)))


def test_other_settings_keep_the_patients() -> None:
    rows = DOSING.sample(4).contexts.rows(20)
    for other in (replace(DOSING, extra_features=5), replace(DOSING, variation=0.0)):
        np.testing.assert_array_equal(other.sample(4).contexts.rows(20)[:, :19], rows)
    labels = [replace(DOSING, thresholds=pair).sample(4).labels(200) for pair in ((1.0, 2.0), (1.0, 900.0))]
    assert labels == [[2] * 200, [1] * 200]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sb.environments.Classification("iriss"), r"^data: expected one of 'digits', .* got 'iriss'"),
        (lambda: replace(PROBLEMS["wine"], data=3), r"^data: expected one of .* got 3"),
        (lambda: replace(DOSING, extra_features=-1), r"^extra_features: expected a whole number of at least 0, got -1"),
        (lambda: replace(DOSING, variation=-0.1), r"^variation: expected a number from 0"),
        (lambda: replace(DOSING, thresholds=(49.0, 21.0)), r"^thresholds: expected the lower one first"),
        (lambda: replace(DOSING, thresholds=(21.0,)), r"^thresholds: expected two numbers, got \(21.0,\)"),
        (lambda: replace(DOSING, thresholds=(0.0, 1.0)), r"^thresholds: expected a positive number"),
        (lambda: replace(DOSING, thresholds="ab"), r"^thresholds: expected two numbers"),
        (lambda: replace(DOSING, thresholds=None), r"^thresholds: expected two numbers"),
        (lambda: DOSING.sample(0).labels(0), r"^rounds: expected a whole number of at least 1"),
    ],
)
def test_wrong_arguments(make: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()
