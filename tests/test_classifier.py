"""The classifier: its numbers against its draws, against least squares of its own kind, and in any units and labels."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import sparsebandits as sb
from sparsebandits.arguments import FloatArray

CLASSES = np.array(["bought", "left"])
SCALES = np.logspace(-2, 2, 6)


def data(n: int = 300, seed: int = 0) -> tuple[FloatArray, Any]:
    """Two of six features matter, in different units; the second label is the likelier one."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 6))
    second = rng.random(n) < special.expit(0.5 + 2.0 * x[:, 0] - 1.5 * x[:, 5])
    return x * SCALES + 5.0, CLASSES[second.astype(int)]


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("spike", [sb.PointMass(), sb.LaplaceSpike(0.02), sb.GaussianSpike(0.001)])
def test_finds_what_matters_in_any_unit(link: str, spike: sb.PointMass) -> None:
    x, y = data()
    model = sb.SpikeSlabClassifier(link=link, spike=spike, n_draws=1000, random_state=0).fit(x, y)
    assert model.classes_.tolist() == CLASSES.tolist()
    assert (model.inclusion_ > 0.5).nonzero()[0].tolist() == [0, 5]
    assert (model.coef_.shape, model.intercept_.shape) == ((1, 6), (1,))
    if link == "logit":
        rival = LogisticRegression(C=np.inf, max_iter=10_000).fit((x - 5.0) / SCALES, y)
        np.testing.assert_allclose(model.coef_[0, [0, 5]] * SCALES[[0, 5]], rival.coef_[0, [0, 5]], rtol=0.2)
    assert model.score(x, y) > 0.8


def test_probabilities_are_averages_over_the_posterior() -> None:
    x, y = data()
    model = sb.SpikeSlabClassifier(n_draws=500, random_state=0).fit(x, y)
    draws = model.posterior_.draws()
    eta = (x - x.mean(axis=0)) / x.std(axis=0) @ draws.theta.T + draws.intercepts
    found = model.predict_proba(x)
    np.testing.assert_allclose(found[:, 1], special.expit(eta) @ draws.weights, rtol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(special.expit(model.decision_function(x)), found[:, 1])
    np.testing.assert_array_equal(model.predict(x), CLASSES[(found[:, 1] > 0.5).astype(int)])
    np.testing.assert_allclose(x @ model.coef_[0] + model.intercept_[0], eta @ draws.weights, atol=1e-9)
    far = model.decision_function(x[:2] + 1e9 * np.eye(6)[[0, 5]])
    assert np.isfinite(far).all()
    np.testing.assert_array_equal(np.sign(far), [1.0, -1.0])


def test_blocks_of_rows_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data()
    model = sb.SpikeSlabClassifier(n_draws=100, random_state=0).fit(x, y)
    whole = model.predict_proba(x)
    monkeypatch.setattr("sparsebandits.sklearn.AT_ONCE", 700)
    np.testing.assert_allclose(model.predict_proba(x), whole, rtol=1e-12)


def test_probabilities_are_calibrated() -> None:
    """Of 4000 new rows in ten groups, as many are of the second class as their probabilities say.

    Probabilities of coefficients half as large are caught. The error of the fit itself is small beside that of a group.
    """
    x, y = data(4600)
    model = sb.SpikeSlabClassifier(random_state=0).fit(x[:600], y[:600])

    def misfit(probability: FloatArray) -> float:
        order = np.array_split(np.argsort(probability), 10)
        second = y[600:] == CLASSES[1]
        z = [
            (second[rows] - probability[rows]).sum() / np.sqrt((probability[rows] * (1 - probability[rows])).sum())
            for rows in order
        ]
        return float(np.square(z).sum())

    limit = 2.0 * stats.chi2.isf(1e-5, 10)
    assert misfit(model.predict_proba(x[600:])[:, 1]) < limit
    assert misfit(special.expit(0.5 * model.decision_function(x[600:]))) > limit


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (-1, 1), (False, True), (2.0, 7.0)])
def test_any_two_labels(labels: Any) -> None:
    x, y = data(100)
    renamed = np.array(labels)[(y == CLASSES[1]).astype(int)]
    one = sb.SpikeSlabClassifier(n_draws=100, random_state=0).fit(x, y)
    other = sb.SpikeSlabClassifier(n_draws=100, random_state=0).fit(x, renamed)
    np.testing.assert_array_equal(other.coef_, one.coef_)
    np.testing.assert_array_equal(other.predict(x) == labels[1], one.predict(x) == CLASSES[1])
    assert other.predict(x).dtype == np.array(labels).dtype


def test_units_do_not_matter() -> None:
    x, y = data()
    one = sb.SpikeSlabClassifier(n_draws=500, random_state=0).fit(x, y)
    other = sb.SpikeSlabClassifier(n_draws=500, random_state=0).fit(8.0 * x, y)
    np.testing.assert_allclose(other.predict_proba(8.0 * x), one.predict_proba(x), rtol=1e-6)
    np.testing.assert_allclose(8.0 * other.coef_, one.coef_, rtol=1e-6, atol=1e-12)
    for unit in (2.0**-700, 2.0**700):  # whose squares are out of the range of numbers
        other = sb.SpikeSlabClassifier(n_draws=500, random_state=0).fit(unit * x, y)
        np.testing.assert_allclose(other.predict_proba(unit * x), one.predict_proba(x), rtol=1e-6)


def test_partial_fits_are_one_fit_on_the_same_scale() -> None:
    x, y = data(400)
    model = sb.SpikeSlabClassifier(n_draws=4000, random_state=0).partial_fit(x[:200], y[:200])
    model.partial_fit(x[200:], y[200:])
    whole = sb.SpikeSlabClassifier(n_draws=4000, random_state=0).fit(x, y)
    np.testing.assert_allclose(model.predict_proba(x), whole.predict_proba(x), atol=0.05)
    assert model.posterior_.evidence.count == 400


def test_labels_that_do_not_fit() -> None:
    x, y = data(60)
    model = sb.SpikeSlabClassifier(n_draws=100, random_state=0)
    with pytest.raises(ValueError, match=r"^y: expected two classes, got 1 class\(es\), \['left'\]$"):
        model.fit(x, np.full(60, "left"))
    with pytest.raises(ValueError, match=r"Only binary classification is supported\. The type of the target is multi"):
        model.fit(x, np.arange(60) % 3)
    with pytest.raises(ValueError, match=r"^y: expected labels among \['a', 'b'\], got 'left'$"):
        model.partial_fit(x, np.full(60, "left"), classes=["a", "b"])
    with pytest.raises(ValueError, match=r"^y: expected two classes, got 0 class\(es\), \[\]$"):
        model.partial_fit(x, y, classes=[])
    with pytest.raises(NotFittedError):
        model.predict(x)
    model.partial_fit(x, np.full(60, "left"), classes=CLASSES[::-1])
    assert model.predict_proba(x)[:, 1].min() > 0.8
    model.partial_fit(x, y)
    with pytest.raises(ValueError, match=r"^y: expected labels among \['bought', 'left'\], got 'stolen'$"):
        model.partial_fit(x[:1], ["stolen"])
    with pytest.raises(ValueError, match=r"^classes: expected those of the first call, \['bought', 'left'\], got"):
        model.partial_fit(x, y, classes=["bought", "stolen"])
    assert model.posterior_.evidence.count == 120
    with pytest.raises(ValueError, match="link: expected one of 'logit', 'probit'"):
        sb.SpikeSlabClassifier(link="cloglog").fit(x, y)
    with pytest.raises(TypeError, match="fit_intercept: expected"):
        sb.SpikeSlabClassifier(fit_intercept="no").fit(x, y)  # type: ignore[arg-type]


def test_without_an_intercept() -> None:
    """Nothing is centred: at zero the probability is one half, and a column of ones is as good as an intercept."""
    x, y = data()
    x = (x - 5.0) / SCALES
    model = sb.SpikeSlabClassifier(fit_intercept=False, random_state=0).fit(x, y)
    assert model.intercept_.tolist() == [0.0]
    assert model.predict_proba(np.zeros((1, 6)))[0] == pytest.approx([0.5, 0.5], abs=1e-12)
    with_ones = sb.SpikeSlabClassifier(fit_intercept=False, random_state=0).fit(np.c_[x, np.ones(len(x))], y)
    whole = sb.SpikeSlabClassifier(random_state=0).fit(x, y)
    assert with_ones.inclusion_[6] > 0.5
    np.testing.assert_allclose(with_ones.coef_[0, 6], whole.intercept_, rtol=0.3)


def test_summary_is_in_the_units_of_the_data() -> None:
    x, y = data()
    names = [f"feature {j}" for j in range(6)]
    frame = pd.DataFrame(np.insert(x[:, :5], 5, x[:, 5], axis=1), columns=names).assign(constant=3.0)
    model = sb.SpikeSlabClassifier(random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == [*names, "constant"]
    table = model.summary().to_pandas().set_index("feature")
    ordered = table.loc[model.feature_names_in_]
    assert list(table.columns) == ["mean", "sd", "2.5%", "97.5%", "P(included)", "P(positive)", "odds ratio"]
    np.testing.assert_allclose(ordered["mean"], model.coef_[0])
    np.testing.assert_allclose(ordered["P(included)"], model.inclusion_)
    np.testing.assert_allclose(ordered["odds ratio"], np.exp(np.minimum(model.coef_[0], 700.0)))
    assert table.loc["constant"].tolist() == [0.0] * 6 + [1.0]
    assert set(table.index[:2]) == {"feature 0", "feature 5"}
    probit = sb.SpikeSlabClassifier(link="probit", n_draws=100, random_state=0).fit(x, y)
    assert "odds ratio" not in probit.summary()[0]
    assert probit.health() == str(probit.posterior_.health())


def test_separable_classes() -> None:
    x = np.random.default_rng(0).standard_normal((200, 3))
    model = sb.SpikeSlabClassifier(random_state=0).fit(x, x[:, 1] > 0)
    assert model.score(x, x[:, 1] > 0) > 0.97
    assert model.inclusion_[1] > 0.99
    assert np.isfinite(model.coef_).all()
