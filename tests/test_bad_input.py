"""Every public entry refuses what it cannot use, names the argument, and changes nothing.

A table lists each entry, one of its arguments, and a strategy of values that are wrong for it.
"""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError
from tests.policies.table import ALL, POLICIES, Maker, fingerprint, play, some_actions

not_finite = st.sampled_from([np.nan, np.inf, -np.inf, 1e51, -1e300, 10**400])
not_a_number = st.one_of(
    st.text(max_size=5),
    st.none(),
    st.booleans(),
    st.binary(max_size=3),
    st.just({}),
    st.just(object()),
    st.just(1j),
)
no_array = not_a_number.filter(lambda value: not isinstance(value, bool))
bad_number = st.one_of(not_finite, not_a_number, st.lists(st.floats(), max_size=3))
bad_variance = st.one_of(bad_number, st.floats(max_value=0.0), st.just(1e-60))
bad_variances = st.one_of(not_finite, no_array, st.floats(max_value=0.0), st.just([1.0, -1.0]), st.just([[1.0]]))
bad_weight = st.one_of(bad_number, st.floats(max_value=-0.001)).filter(lambda value: value is not None)
bad_length = st.one_of(st.integers(max_value=-1), st.floats(), st.text(max_size=3), st.none(), st.booleans())
bad_count = st.one_of(st.integers(max_value=0), st.floats(), st.text(max_size=3), st.none(), st.booleans())
bad_index = st.one_of(st.integers(max_value=-1), st.floats(), st.text(max_size=3), st.booleans())
not_positive = st.sampled_from([0.0, -1.0, np.nan, "two"])
not_a_path = st.sampled_from([None, 7, b"policy", object()])
WRONG_TARGETS = (
    *(["a", "b", "c"], np.array(["1", "2", "3"]), pd.Series(["a", "b", "c"]), [b"1", b"2", b"3"], [object()] * 3),
    *([10**400] * 3, np.array(["2020-01-01"] * 3, dtype="datetime64[D]"), ["a", 1.0, None]),
)
WRONG_MODELS = (
    *("a model", object(), SimpleNamespace(predict=1), SimpleNamespace(fit=1, predict=len)),
    *(SimpleNamespace(predict=lambda x: None), SimpleNamespace(predict=lambda x: np.ones(len(x) + 1))),
)
text_column = pd.DataFrame({"size": [1.0, 2.0], "colour": ["red", "blue"]})


@st.composite
def bad_matrix(draw: st.DrawFn, columns: int | None = None) -> Any:
    """Not a matrix of finite numbers with at least one row, and ``columns`` columns if given."""
    kind = draw(st.sampled_from(["shape", "value", "type", "ragged"] + ["columns"] * (columns is not None)))
    if kind == "shape":
        return draw(st.sampled_from([np.empty((0, 3)), np.empty((3, 0)), np.ones(3), np.ones((2, 2, 2)), np.ones(())]))
    if kind == "value":
        matrix = np.ones((3, columns or 2))
        flat = draw(st.integers(0, matrix.size - 1))
        matrix.flat[flat] = draw(st.sampled_from([np.nan, np.inf, -np.inf, 1e60]))
        return matrix
    if kind == "ragged":
        return [[1.0, 2.0], [3.0]]
    if kind == "columns":
        assert columns is not None
        wrong = draw(st.integers(1, columns + 2).filter(lambda n: n != columns))
        return draw(hnp.arrays(np.float64, (2, wrong), elements=st.just(1.0)))
    return draw(st.sampled_from(["matrix", None, [["a", "b"]], np.ones((2, 2), dtype=complex), object()]))


environment = sb.environments.GaussianActions(dimension=4, sparsity=2, n_actions=5)
instance = environment.sample(0)


maker = sb.maker(sb.LinTS)
log = sb.journal.DecisionLog.from_open_bandit({"action": [0, 1], "reward": [1.0, 2.0], "pscore": [0.5, 0.5]})


ENTRIES: list[tuple[str, Callable[[Any], object], str, st.SearchStrategy[Any]]] = [
    ("Evidence", lambda v: sb.model.Evidence(v), "dimension", bad_count),
    ("GaussianPrior", lambda v: sb.GaussianPrior(variance=v), "variance", bad_variances),
    ("GaussianPrior", lambda v: sb.GaussianPrior(mean=v), "mean", st.one_of(not_finite, no_array)),
    ("Conjugate", lambda v: sb.Conjugate(v, 3), "prior", not_a_number),
    ("Conjugate", lambda v: sb.Conjugate(sb.GaussianPrior(), v), "dimension", bad_count),
    ("Conjugate", lambda v: sb.Conjugate(sb.GaussianPrior(), 3, v), "noise_variance", bad_variance.filter(bool)),
    ("Conjugate", lambda v: sb.Conjugate(sb.GaussianPrior(), 3, n_draws=v), "n_draws", bad_count),
    ("Conjugate", lambda v: sb.Conjugate(sb.GaussianPrior(), 3, seed=v), "seed", bad_index),
    ("Laplace", lambda v: sb.Laplace(v, 3), "prior", not_a_number),
    ("Laplace", lambda v: sb.Laplace(sb.GaussianPrior(), v), "dimension", bad_count),
    ("Laplace", lambda v: sb.Laplace(sb.GaussianPrior(), 3, n_draws=v), "n_draws", bad_count),
    ("Laplace", lambda v: sb.Laplace(sb.GaussianPrior(), 3, seed=v), "seed", bad_index),
    (
        "Laplace",
        lambda v: sb.Laplace(sb.GaussianPrior(), 3, rewards=v),
        "rewards",
        not_a_number.filter(lambda v: v is not None),
    ),
    ("Draws", lambda v: sb.posteriors.Draws(v, [1.0]), "theta", bad_matrix()),
    ("LinTS", lambda v: sb.LinTS(np.eye(2), inflation=v), "inflation", bad_variance),
    ("LinTS", lambda v: sb.LinTS(np.eye(2), probability_draws=v), "probability_draws", bad_count),
    ("LinUCB", lambda v: sb.LinUCB(np.eye(2), width=v), "width", st.one_of(bad_number, st.just(-0.1))),
    (
        "FrequentistIDS",
        lambda v: sb.rivals.FrequentistIDS(np.eye(2), width=v),
        "width",
        st.one_of(bad_number, st.just(-0.1)),
    ),
    ("FrequentistIDS", lambda v: sb.rivals.FrequentistIDS(np.eye(2), gain=v), "gain", st.text(max_size=3)),
    ("FrequentistIDS", lambda v: sb.rivals.FrequentistIDS(np.eye(2), selection=v), "selection", st.text(max_size=4)),
    (
        "FeelGoodTS",
        lambda v: sb.rivals.FeelGoodTS(np.eye(2), optimism=v),
        "optimism",
        st.one_of(bad_number, st.just(-0.1)).filter(lambda value: value is not None),
    ),
    (
        "FeelGoodTS",
        lambda v: sb.rivals.FeelGoodTS(np.eye(2), cap=v),
        "cap",
        bad_number.filter(lambda value: value is not None),
    ),
    ("FeelGoodTS", lambda v: sb.rivals.FeelGoodTS(np.eye(2), likelihood=v), "likelihood", bad_variance),
    ("SOIDS", lambda v: sb.rivals.SOIDS(np.eye(2), bound=v), "bound", bad_variance),
    ("SOIDS", lambda v: sb.rivals.SOIDS(np.eye(2), likelihood=v), "likelihood", bad_variance),
    ("SOIDS", lambda v: sb.rivals.SOIDS(np.eye(2), exponent=v), "exponent", st.one_of(bad_number, st.just(1.9))),
    ("SOIDS", lambda v: sb.rivals.SOIDS(np.eye(2), selection=v), "selection", st.text(max_size=4)),
    (
        "SOIDS",
        lambda v: sb.rivals.SOIDS(np.eye(2), sparsity=v),
        "sparsity",
        st.one_of(bad_number, st.sampled_from([-1.0, 0.0, 2.1])).filter(lambda value: value is not None),
    ),
    ("LearningRate", lambda v: sb.rivals.LearningRate(1.0, 2, v), "ratio2", bad_variance),
    ("LearningRate", lambda v: sb.rivals.LearningRate(1.0, v, 4.0), "dimension", bad_count),
    ("OnlineToConfidence", lambda v: sb.rivals.OnlineToConfidence(np.eye(2), bound=v), "bound", bad_variance),
    (
        "OnlineToConfidence",
        lambda v: sb.rivals.OnlineToConfidence(np.eye(2), sparsity=v),
        "sparsity",
        bad_index.filter(bool),
    ),
    ("OnlineToConfidence", lambda v: sb.rivals.OnlineToConfidence(np.eye(2), scale=v), "scale", bad_variance),
    ("OnlineToConfidence", lambda v: sb.rivals.OnlineToConfidence(np.eye(2), n_draws=v), "n_draws", bad_count),
    (
        "OnlineToConfidence",
        lambda v: sb.rivals.OnlineToConfidence(np.eye(2), n_draws=50, delta=v),
        "delta",
        st.one_of(bad_number, st.sampled_from([-0.1, 0.0, 1.1])),
    ),
    (
        "OnlineToConfidence",
        lambda v: sb.rivals.OnlineToConfidence(np.eye(2), n_draws=50, regret=v),
        "regret",
        st.one_of(st.text(max_size=4), st.just(-0.1), st.sampled_from([None, np.nan, np.inf])),
    ),
    ("LinearIDS", lambda v: sb.LinearIDS(np.eye(2), n_draws=v), "n_draws", bad_count.filter(lambda v: v is not None)),
    (
        "LinearIDS",
        lambda v: sb.LinearIDS(np.eye(2), exponent=v),
        "exponent",
        st.one_of(bad_number, st.just(1.9)),
    ),
    ("LinearIDS", lambda v: sb.LinearIDS(np.eye(2), selection=v), "selection", st.text(max_size=4)),
    ("LinearIDS", lambda v: sb.LinearIDS(np.eye(2), gain=v), "gain", st.text(max_size=4)),
    ("LassoGreedy", lambda v: sb.rivals.LassoGreedy(np.eye(2), penalty=v), "penalty", bad_weight),
    ("LassoGreedy", lambda v: sb.rivals.LassoGreedy(np.eye(2), exploration=v), "exploration", bad_length),
    ("ThresholdedLasso", lambda v: sb.rivals.ThresholdedLasso(np.eye(2), penalty=v), "penalty", bad_weight),
    ("SALasso", lambda v: sb.rivals.SALasso(np.eye(2), penalty=v), "penalty", bad_weight),
    ("SALasso", lambda v: sb.rivals.SALasso(np.eye(2), refit_growth=v), "refit_growth", bad_weight),
    ("LassoBandit", lambda v: sb.rivals.LassoBandit(np.eye(2), forced_samples=v), "forced_samples", bad_count),
    ("LassoBandit", lambda v: sb.rivals.LassoBandit(np.eye(2), localisation=v), "localisation", bad_weight),
    ("LassoBandit", lambda v: sb.rivals.LassoBandit(np.eye(2), forced_penalty=v), "forced_penalty", bad_weight),
    ("LassoBandit", lambda v: sb.rivals.LassoBandit(np.eye(2), all_penalty=v), "all_penalty", bad_weight),
    ("LassoBandit", lambda v: sb.rivals.LassoBandit(np.eye(2), parameters=v), "parameters", st.text(max_size=4)),
    ("DRLasso", lambda v: sb.rivals.DRLasso(np.eye(2), exploration=v), "exploration", bad_weight),
    ("DRLasso", lambda v: sb.rivals.DRLasso(np.eye(2), penalty=v), "penalty", bad_weight),
    ("DRLasso", lambda v: sb.rivals.DRLasso(np.eye(2), uniform_rounds=v), "uniform_rounds", bad_length),
    (
        "DRLasso",
        lambda v: sb.rivals.DRLasso(np.eye(2), cut_off=v),
        "cut_off",
        bad_variance.filter(lambda v: v is not None),
    ),
    ("SquareCB", lambda v: sb.rivals.SquareCB(np.eye(2), scale=v), "scale", bad_weight),
    ("SquareCB", lambda v: sb.rivals.SquareCB(np.eye(2), exponent=v), "exponent", bad_weight),
    ("SquareCB", lambda v: sb.rivals.SquareCB(np.eye(2), noise_variance=v), "noise_variance", bad_variance),
    ("SquareCB", lambda v: sb.rivals.SquareCB(np.eye(2), regressor=v), "regressor", st.text(max_size=4)),
    ("FALCON", lambda v: sb.rivals.FALCON(np.eye(2), scale=v), "scale", bad_weight),
    ("FALCON", lambda v: sb.rivals.FALCON(np.eye(2), window=v), "window", st.text(max_size=2)),
    (
        "FALCON",
        lambda v: sb.rivals.FALCON(np.eye(2), sparsity=v),
        "sparsity",
        st.one_of(bad_count, st.just(3)).filter(lambda v: v is not None),
    ),
    (
        "VariationalTS",
        lambda v: sb.rivals.VariationalTS(np.eye(2), noise_variance=v),
        "noise_variance",
        bad_variance.filter(lambda v: v is not None),
    ),
    ("VariationalTS", lambda v: sb.rivals.VariationalTS(np.eye(2), rate=v), "rate", bad_variance),
    ("VariationalTS", lambda v: sb.rivals.VariationalTS(np.eye(2), slab=v), "slab", st.text(max_size=4)),
    ("VariationalTS", lambda v: sb.rivals.VariationalTS(np.eye(2), exponent=v), "exponent", bad_weight),
    ("VariationalTS", lambda v: sb.rivals.VariationalTS(np.eye(2), restart=v), "restart", bad_count),
    ("DynamicBatch", lambda v: sb.rivals.DynamicBatch(np.eye(2), horizon=v, sparsity=1), "horizon", bad_count),
    ("DynamicBatch", lambda v: sb.rivals.DynamicBatch(np.eye(2), 9, 1, batches=v), "batches", bad_count),
    (
        "DynamicBatch",
        lambda v: sb.rivals.DynamicBatch(np.eye(2), 9, sparsity=v),
        "sparsity",
        st.one_of(bad_count, st.just(3)),
    ),
    (
        "DynamicBatch",
        lambda v: sb.rivals.DynamicBatch(np.eye(2), 9, 1, penalty=v),
        "penalty",
        bad_weight.filter(lambda v: v is not None),
    ),
    ("MCPBandit", lambda v: sb.rivals.MCPBandit(np.eye(2), concavity=v), "concavity", bad_variance),
    ("MCPBandit", lambda v: sb.rivals.MCPBandit(np.eye(2), parameters=v), "parameters", st.text(max_size=4)),
    ("MCPBandit", lambda v: sb.rivals.MCPBandit(np.eye(2), forced_samples=v), "forced_samples", bad_count),
    (
        "BestSubset",
        lambda v: sb.rivals.BestSubset(np.eye(2), sparsity=v),
        "sparsity",
        st.one_of(bad_count, st.just(3)),
    ),
    ("BestSubset", lambda v: sb.rivals.BestSubset(np.eye(2), 1, width=v), "width", bad_weight),
    ("BestSubset", lambda v: sb.rivals.BestSubset(np.eye(2), 1, penalty=v), "penalty", bad_variance),
    ("BestSubset", lambda v: sb.rivals.BestSubset(np.eye(2), 1, most_subsets=v), "most_subsets", bad_count),
    ("ILTCB", lambda v: sb.rivals.ILTCB(np.eye(2), exploration=v), "exploration", bad_variance),
    ("ILTCB", lambda v: sb.rivals.ILTCB(np.eye(2), psi=v), "psi", bad_variance),
    ("ILTCB", lambda v: sb.rivals.ILTCB(np.eye(2), most_steps=v), "most_steps", bad_count),
    ("ILTCB", lambda v: sb.rivals.ILTCB(np.eye(2), regressor=v), "regressor", st.text(max_size=4)),
    (
        "ConfidenceRadius",
        lambda v: sb.rules.ConfidenceRadius(delta=v),
        "delta",
        st.one_of(bad_number, st.sampled_from([-0.1, 0.0, 1.1])),
    ),
    ("ConfidenceRadius", lambda v: sb.rules.ConfidenceRadius(norm_bound=v), "norm_bound", bad_variance),
    ("ESTC", lambda v: sb.rivals.ESTC(np.eye(2), horizon=v, sparsity=1), "horizon", bad_count),
    ("ESTC", lambda v: sb.rivals.ESTC(np.eye(2), horizon=9, sparsity=v), "sparsity", st.one_of(bad_count, st.just(3))),
    (
        "ESTC",
        lambda v: sb.rivals.ESTC(np.eye(2), exploration=v, horizon=9, sparsity=1),
        "exploration",
        bad_count.filter(lambda v: v is not None),
    ),
    (
        "ESTC",
        lambda v: sb.rivals.ESTC(np.eye(2), exploration=3, penalty=v),
        "penalty",
        st.one_of(bad_number, st.just(-0.1)),
    ),
    (
        "ESTC",
        lambda v: sb.rivals.ESTC(np.eye(2), exploration=3, bound=v),
        "bound",
        bad_variance.filter(lambda v: v is not None),
    ),
    ("regret_bound", lambda v: sb.theory.regret_bound(v, 4, 2), "horizon", st.one_of(bad_count, st.just(10**60))),
    ("regret_bound", lambda v: sb.theory.regret_bound(9, v, 1), "dimension", st.one_of(bad_count, st.just(10**60))),
    ("regret_bound", lambda v: sb.theory.regret_bound(9, 4, v), "sparsity", st.one_of(bad_count, st.integers(5, 9))),
    (
        "regret_bound",
        lambda v: sb.theory.regret_bound(9, 4, 2, v),
        "n_actions",
        bad_count.filter(lambda v: v is not None and v != np.inf),
    ),
    (
        "regret_bound",
        lambda v: sb.theory.regret_bound(9, 4, 2, 8, v),
        "c_min",
        st.one_of(bad_variance, st.just(0.0)).filter(lambda v: v is not None),
    ),
    ("regret_bound", lambda v: sb.theory.regret_bound(9, 4, 2, noise_variance=v), "noise_variance", bad_variance),
    (
        "regret_bound",
        lambda v: sb.theory.regret_bound(9, 4, 2, bound=v),
        "bound",
        bad_variance.filter(lambda v: v is not None),
    ),
    (
        "regret_bound",
        lambda v: sb.theory.regret_bound(9, 4, 2, constant=v),
        "constant",
        st.one_of(bad_number, st.just(0.9)),
    ),
    (
        "generic_bound",
        lambda v: sb.theory.generic_bound(9, 1.0, v, 1.0),
        "exponent",
        st.one_of(bad_number, st.just(1.9)),
    ),
    (
        "generic_bound",
        lambda v: sb.theory.generic_bound(9, v, 2.0, 1.0),
        "information",
        st.sampled_from([-1.0, np.nan]),
    ),
    ("generic_bound", lambda v: sb.theory.generic_bound(9, 1.0, 2.0, v), "ratio", st.sampled_from([-1.0, np.nan])),
    ("least_generic_bound", lambda v: sb.theory.least_generic_bound(9, 1.0, v), "ratio", st.just({})),
    ("hypercube_design", lambda v: sb.theory.hypercube_design(v), "dimension", bad_count),
    ("unseen_features", lambda v: sb.theory.unseen_features(v), "actions", bad_matrix()),
    (
        "sparse_optimal_actions",
        lambda v: sb.theory.sparse_optimal_actions(v, sb.GaussianPrior(), 1, n_draws=5),
        "actions",
        bad_matrix(),
    ),
    (
        "sparse_optimal_actions",
        lambda v: sb.theory.sparse_optimal_actions(np.eye(2), sb.GaussianPrior(), v, n_draws=5),
        "sparsity",
        bad_count,
    ),
    (
        "sparse_optimal_actions",
        lambda v: sb.theory.sparse_optimal_actions(np.eye(2), sb.GaussianPrior(), 1, n_draws=v),
        "n_draws",
        bad_count,
    ),
    (
        "sparse_optimal_actions",
        lambda v: sb.theory.sparse_optimal_actions(np.eye(2), sb.GaussianPrior(), 1, n_draws=5, seed=v),
        "seed",
        bad_index,
    ),
    ("exploratory_design", lambda v: sb.theory.exploratory_design(v), "actions", bad_matrix()),
    ("exploratory_design", lambda v: sb.theory.exploratory_design(np.eye(2), v), "solver", not_a_number),
    (
        "restricted_eigenvalue",
        lambda v: sb.theory.restricted_eigenvalue(v, 1),
        "H",
        st.one_of(bad_matrix(), st.sampled_from([np.ones((2, 3)), [[1.0, 2.0], [0.0, 1.0]], -np.eye(2)])),
    ),
    (
        "restricted_eigenvalue",
        lambda v: sb.theory.restricted_eigenvalue(np.eye(2), v),
        "sparsity",
        st.one_of(bad_count, st.just(3)),
    ),
    (
        "restricted_eigenvalue",
        lambda v: sb.theory.restricted_eigenvalue(np.eye(2), 1, v),
        "L",
        st.one_of(bad_number, st.just(-1.0)),
    ),
    ("HardInstance", lambda v: sb.environments.HardInstance(v, 2), "dimension", bad_count),
    (
        "HardInstance",
        lambda v: sb.environments.HardInstance(4, v),
        "sparsity",
        st.one_of(bad_count, st.sampled_from([1, 5])),
    ),
    ("HardInstance", lambda v: sb.environments.HardInstance(4, 2, epsilon=v), "epsilon", bad_variance),
    ("HardInstance", lambda v: sb.environments.HardInstance(4, 2, informative_set=v), "informative_set", not_a_number),
    (
        "HardInstance",
        lambda v: sb.environments.HardInstance(4, 2, n_informative=v),
        "n_informative",
        st.one_of(bad_count.filter(lambda v: v is not None), st.sampled_from([1, 9])),
    ),
    ("HardInstance", lambda v: sb.environments.HardInstance(4, 2, noise_variance=v), "noise_variance", bad_variance),
    ("tune", lambda v: sb.tune(v, [1.0], environment, 3, 2), "make", not_a_number),
    ("tune", lambda v: sb.tune(lambda c: maker, v, environment, 3, 2), "candidates", not_a_number),
    ("tune", lambda v: sb.tune(lambda c: maker, [1.0], environment, v, 2), "horizon", bad_count),
    ("tune", lambda v: sb.tune(lambda c: maker, [1.0], environment, 3, v), "trials", bad_count),
    ("tune", lambda v: sb.tune(lambda c: maker, [1.0], environment, 3, 2, v), "seed", bad_index),
    ("Instance", lambda v: sb.environments.Instance(v, np.ones(2), 1.0), "actions", bad_matrix()),
    ("Instance", lambda v: sb.environments.Instance(np.eye(2), np.ones(2), v), "noise_variance", bad_variance),
    ("GaussianActions", lambda v: sb.environments.GaussianActions(v, 1), "dimension", bad_count),
    (
        "GaussianActions",
        lambda v: sb.environments.GaussianActions(3, v),
        "sparsity",
        st.one_of(bad_count, st.integers(4, 9)),
    ),
    ("GaussianActions", lambda v: sb.environments.GaussianActions(3, 1, n_actions=v), "n_actions", bad_count),
    (
        "GaussianActions",
        lambda v: sb.environments.GaussianActions(3, 1, correlation=v),
        "correlation",
        st.one_of(bad_number, st.just(1.01)),
    ),
    (
        "GaussianActions",
        lambda v: sb.environments.GaussianActions(3, 1, noise_variance=v),
        "noise_variance",
        bad_variance,
    ),
    ("GaussianActions.sample", lambda v: environment.sample(v), "seed", bad_index),
    ("ChangingActions", lambda v: sb.environments.ChangingActions(v), "environment", not_a_number),
    ("Instance", lambda v: sb.environments.Instance(np.eye(2), v, 1.0), "theta", st.one_of(not_finite, no_array)),
    ("Instance", lambda v: sb.environments.Instance(np.eye(2), np.ones(2), 1.0, intercept=v), "intercept", bad_number),
    (
        "Instance",
        lambda v: sb.environments.Instance(np.eye(2), np.ones(2), rewards=v),
        "rewards",
        not_a_number.filter(lambda value: value is not None),
    ),
    ("LogisticActions", lambda v: sb.environments.LogisticActions(v, 1), "dimension", bad_count),
    (
        "LogisticActions",
        lambda v: sb.environments.LogisticActions(3, 1, base_rate=v),
        "base_rate",
        st.one_of(bad_number, st.sampled_from([0.0, 1.0, 2.0, -1.0])),
    ),
    ("LogisticActions", lambda v: sb.environments.LogisticActions(3, 1, signal=v), "signal", bad_variance),
    ("LogisticActions", lambda v: sb.environments.LogisticActions(3, 1, link=v), "link", not_a_number),
    ("PoissonActions", lambda v: sb.environments.PoissonActions(v, 1), "dimension", bad_count),
    ("PoissonActions", lambda v: sb.environments.PoissonActions(3, 1, base_rate=v), "base_rate", bad_variance),
    ("PoissonActions", lambda v: sb.environments.PoissonActions(3, 1, signal=v), "signal", bad_variance),
    ("ContextualActions", lambda v: sb.environments.ContextualActions(v), "user_features", bad_count),
    ("ContextualActions", lambda v: sb.environments.ContextualActions(3, v), "item_features", bad_count),
    ("ContextualActions", lambda v: sb.environments.ContextualActions(n_items=v), "n_items", bad_count),
    (
        "ContextualActions",
        lambda v: sb.environments.ContextualActions(3, 2, sparsity=v),
        "sparsity",
        st.one_of(bad_count, st.integers(7, 9)),
    ),
    (
        "ContextualActions",
        lambda v: sb.environments.ContextualActions(correlation=v),
        "correlation",
        st.one_of(bad_number, st.just(1.01)),
    ),
    ("ContextualActions", lambda v: sb.environments.ContextualActions(rewards=v), "rewards", not_a_number),
    (
        "ContextualActions",
        lambda v: sb.environments.ContextualActions(noise_variance=v),
        "noise_variance",
        bad_variance.filter(lambda value: value is not None),
    ),
    (
        "ContextualActions",
        lambda v: sb.environments.ContextualActions(rewards="logistic", base_rate=v),
        "base_rate",
        st.one_of(bad_number, st.sampled_from([0.0, 1.0, 2.0, -1.0])).filter(lambda value: value is not None),
    ),
    ("ContextualActions", lambda v: sb.environments.ContextualActions(signal=v), "signal", bad_variance),
    ("ContextualActions.sample", lambda v: sb.environments.ContextualActions().sample(v), "seed", bad_index),
    ("Classification", lambda v: sb.environments.Classification(v), "data", not_a_number),
    ("Classification.sample", lambda v: sb.environments.Classification("iris").sample(v), "seed", bad_index),
    (
        "Dosing",
        lambda v: sb.environments.Dosing(v),
        "extra_features",
        bad_count.filter(lambda value: type(value) is bool or value != 0),
    ),
    ("Dosing", lambda v: sb.environments.Dosing(variation=v), "variation", st.one_of(bad_number, st.just(-0.1))),
    ("Dosing", lambda v: sb.environments.Dosing(thresholds=v), "thresholds", not_a_number),
    ("Dosing", lambda v: sb.environments.Dosing(thresholds=(v, 50.0)), "thresholds", bad_variance),
    ("Dosing.sample", lambda v: sb.environments.Dosing().sample(v), "seed", bad_index),
    ("Drifting", lambda v: sb.environments.Drifting(v), "environment", not_a_number),
    ("Drifting", lambda v: sb.environments.Drifting(environment, every=v), "every", bad_count),
    ("Drifting", lambda v: sb.environments.Drifting(environment, change=v), "change", not_a_number),
    ("Drifting.sample", lambda v: sb.environments.Drifting(environment).sample(v), "seed", bad_index),
    ("Hypercube", lambda v: sb.environments.Hypercube(v, 1), "dimension", bad_count),
    ("Hypercube", lambda v: sb.environments.Hypercube(3, v), "sparsity", st.one_of(bad_count, st.integers(4, 9))),
    ("Hypercube", lambda v: sb.environments.Hypercube(3, 2, v), "noise_variance", bad_variance),
    (
        "Hypercube",
        lambda v: sb.environments.Hypercube(3, 2, effect=v),
        "effect",
        st.one_of(bad_variance, st.just(0.51)).filter(lambda value: value is not None),
    ),
    ("Hypercube.sample", lambda v: sb.environments.Hypercube(3, 2).sample(v), "seed", bad_index),
    (
        "HypercubeElimination",
        lambda v: sb.rivals.HypercubeElimination(v, horizon=9),
        "actions",
        st.one_of(bad_count, bad_matrix(), st.sampled_from([["a", "a"], [], ["a", 1], np.eye(3)])),
    ),
    (
        "HypercubeElimination",
        lambda v: sb.rivals.HypercubeElimination(3, v, horizon=9),
        "noise_variance",
        bad_variance,
    ),
    ("HypercubeElimination", lambda v: sb.rivals.HypercubeElimination(3, horizon=v), "horizon", bad_count),
    (
        "HypercubeElimination",
        lambda v: sb.rivals.HypercubeElimination(3, horizon=9, mean_bound=v),
        "mean_bound",
        bad_variance,
    ),
    ("HypercubeElimination", lambda v: sb.rivals.HypercubeElimination(3, horizon=9, seed=v), "seed", bad_index),
    ("UnitBall", lambda v: sb.environments.UnitBall(v, 1), "dimension", bad_count),
    ("UnitBall", lambda v: sb.environments.UnitBall(3, v), "sparsity", st.one_of(bad_count, st.integers(4, 9))),
    ("UnitBall", lambda v: sb.environments.UnitBall(3, 2, v), "noise_variance", bad_variance),
    ("UnitBall", lambda v: sb.environments.UnitBall(3, 2, norm=v), "norm", bad_variance),
    ("UnitBall", lambda v: sb.environments.UnitBall(3, 2, noise=v), "noise", st.sampled_from(["none", 1, None])),
    ("UnitBall", lambda v: sb.environments.UnitBall(3, 2, equal=v), "equal", st.sampled_from(["yes", 2, None])),
    ("sparse_regression", lambda v: sb.environments.sparse_regression(v), "seed", bad_index),
    (
        "sparse_regression",
        lambda v: sb.environments.sparse_regression(0, v),
        "theta",
        st.sampled_from([[], "a", np.eye(2), 1.0]),
    ),
    ("sparse_regression", lambda v: sb.environments.sparse_regression(0, n_rows=v), "n_rows", bad_count),
    (
        "sparse_regression",
        lambda v: sb.environments.sparse_regression(0, noise_variance=v),
        "noise_variance",
        bad_variance,
    ),
    (
        "sparse_regression",
        lambda v: sb.environments.sparse_regression(0, correlation=v),
        "correlation",
        st.sampled_from([1.5, -2, "a", None, np.nan]),
    ),
    ("UnitBall.sample", lambda v: sb.environments.UnitBall(3, 2).sample(v), "seed", bad_index),
    (
        "SLUCB",
        lambda v: sb.rivals.SLUCB(v, horizon=9),
        "actions",
        st.one_of(bad_count, bad_matrix(), st.sampled_from([["a", "a"], [], ["a", 1], np.eye(3)])),
    ),
    ("SLUCB", lambda v: sb.rivals.SLUCB(3, v, horizon=9), "noise_variance", bad_variance),
    ("SLUCB", lambda v: sb.rivals.SLUCB(3, horizon=v), "horizon", bad_count),
    ("SLUCB", lambda v: sb.rivals.SLUCB(3, horizon=9, norm_bound=v), "norm_bound", bad_variance),
    ("SLUCB", lambda v: sb.rivals.SLUCB(3, horizon=9, sparsity=v), "sparsity", bad_count),
    ("SLUCB", lambda v: sb.rivals.SLUCB(3, horizon=9, penalty=v), "penalty", bad_variance),
    ("SLUCB", lambda v: sb.rivals.SLUCB(3, horizon=9, width=v), "width", bad_variance),
    ("SLUCB", lambda v: sb.rivals.SLUCB(3, horizon=9, threshold=v), "threshold", bad_variance),
    ("SLUCB", lambda v: sb.rivals.SLUCB(3, horizon=9, delta=v), "delta", st.sampled_from([0.0, 1.5, -1, "a", None])),
    ("SLUCB", lambda v: sb.rivals.SLUCB(3, horizon=9, seed=v), "seed", bad_index),
    (
        "ConfidenceRadius",
        lambda v: sb.LinUCB(np.eye(2), width=v),
        "width",
        st.sampled_from(["auto", sb.rules.ConfidenceRadius]),
    ),
    ("unseen_features", lambda v: sb.theory.unseen_features(v), "actions", st.just(text_column)),
    ("exploratory_design", lambda v: sb.theory.exploratory_design(v), "actions", st.just(text_column)),
    ("entropy", lambda v: sb.theory.entropy(v, 4, 2, None), "horizon", not_positive),
    ("entropy", lambda v: sb.theory.entropy(9, 4, 2, None, v), "noise_variance", not_positive),
    ("entropy_as_printed", lambda v: sb.theory.entropy_as_printed(9, v, 2, None), "dimension", not_positive),
    ("ratios", lambda v: sb.theory.ratios(4, 2, v), "c_min", not_positive),
    ("ratios_as_printed", lambda v: sb.theory.ratios_as_printed(4, v, 1.0), "sparsity", not_positive),
    ("regret_bounds_over", lambda v: sb.theory.regret_bounds_over(v), "bounds", not_a_number),
    (
        "regret_bounds_over",
        lambda v: sb.theory.regret_bounds_over(sb.theory.regret_bound(9, 4, 2), v),
        "points",
        st.one_of(bad_count, st.just(1)),
    ),
    ("crossover", lambda v: sb.theory.crossover(v, lambda n: 2.0), "psi", st.one_of(not_a_number, st.just(1.0))),
    ("crossover", lambda v: sb.theory.crossover(sb.theory.ratios(4, 2, 1.0), v), "information", not_a_number),
    (
        "crossover",
        lambda v: sb.theory.crossover(sb.theory.ratios(4, 2, 1.0), lambda n: v),
        "information",
        st.one_of(not_a_number, st.sampled_from([np.nan, -1.0, np.ones(2)])),
    ),
    ("entropy", lambda v: sb.theory.entropy(9, 4, 2, v), "n_actions", st.sampled_from([0, "a", np.ones(2), 2.5])),
    ("ratios", lambda v: sb.theory.ratios(v, 2, 1.0), "dimension", st.sampled_from([np.ones(2), None, True, 10**400])),
    ("nats_factor", lambda v: sb.theory.nats_factor(v, 1.0), "largest_mean", st.one_of(not_a_number, st.just(-1.0))),
    ("ratio_bounds", lambda v: sb.theory.ratio_bounds(3, v, 1.0, 1.0), "c_min", st.one_of(not_a_number, st.just(-1.0))),
    ("mixture_rate", lambda v: sb.theory.mixture_rate(v, 1.0, 1.0), "known", not_a_number),
    (
        "regime",
        lambda v: sb.theory.regime(9, 4, 2, None, None, v),
        "information",
        st.one_of(not_a_number, st.just(-1.0)),
    ),
    ("decide", lambda v: sb.decide(text_column, name=v), "name", st.sampled_from([1, 1.5, b"size", ("size",)])),
    ("decide", lambda v: sb.decide(text_column, untried=v), "untried", st.sampled_from([None, 1, "yes"])),
    ("decide", lambda v: sb.decide(text_column, n_draws=v), "n_draws", st.sampled_from([10**30, 10**400])),
    (
        "LinTS",
        lambda v: sb.LinTS(np.eye(2), probability_draws=v),
        "probability_draws",
        st.sampled_from([10**9, 10**30]),
    ),
    ("Experiment", lambda v: sb.Experiment(environment, {"a": maker}, 3, v), "trials", st.just(10**400)),
    ("Experiment", lambda v: sb.Experiment(environment, {"a": maker}, v, 3), "horizon", st.just(10**5000)),
    ("SpikeSlabRegressor", lambda v: sb.SpikeSlabRegressor().fit(np.eye(3), v), "y", st.sampled_from(WRONG_TARGETS)),
    ("doubly_robust", lambda v: sb.offpolicy.doubly_robust(log, [0.5, 0.5], v), "model", st.sampled_from(WRONG_MODELS)),
    ("maker", lambda v: sb.maker(v), "policy", st.one_of(not_a_number, st.just(sb.LinTS(np.eye(2))))),
    ("maker", lambda v: sb.maker(sb.LinTS, **{v: 1.0}), "settings", st.sampled_from(["widht", "n_draws"])),
    ("simulate", lambda v: sb.simulate(lambda problem: v, instance, 3), "make_policy", not_a_number),
    ("simulate", lambda v: sb.simulate(v, instance, 3), "make_policy", not_a_number),
    ("simulate", lambda v: sb.simulate(maker, v, 3), "instance", not_a_number),
    ("simulate", lambda v: sb.simulate(maker, instance, v), "horizon", bad_count),
    ("simulate", lambda v: sb.simulate(maker, instance, 3, seed=v), "seed", bad_index),
    ("play", lambda v: sb.play(v, lambda decision: 0.0, 3), "policy", not_a_number),
    ("play", lambda v: sb.play(sb.LinTS(np.eye(2)), v, 3), "reward", bad_number),
    ("play", lambda v: sb.play(sb.LinTS(np.eye(2)), lambda decision: 0.0, v), "rounds", bad_count),
    ("DecisionLog", lambda v: sb.journal.DecisionLog(v), "actions", bad_matrix().filter(lambda v: v is not None)),
    ("inverse_propensity", lambda v: sb.offpolicy.inverse_propensity(v, [0.5, 0.5]), "log", not_a_number),
    (
        "inverse_propensity",
        lambda v: sb.offpolicy.inverse_propensity(log, v),
        "target",
        st.one_of(no_array, not_finite),
    ),
    (
        "inverse_propensity",
        lambda v: sb.offpolicy.inverse_propensity(log, [0.5, 0.5], confidence=v),
        "confidence",
        st.one_of(bad_number, st.sampled_from([0.0, 1.0, 95])),
    ),
    ("doubly_robust", lambda v: sb.offpolicy.doubly_robust(log, [0.5, 0.5], blocks=v), "blocks", bad_count),
    ("Experiment", lambda v: sb.Experiment(environment, {"a": maker}, v, 3), "horizon", bad_count),
    ("Experiment", lambda v: sb.Experiment(environment, {"a": maker}, 3, v), "trials", bad_count),
    ("Experiment", lambda v: sb.Experiment(environment, {"a": maker}, 3, 3, v), "seed", bad_index),
    (
        "Experiment",
        lambda v: sb.Experiment(v, {"a": maker}, 3, 3),
        "environment",
        st.one_of(not_a_number, st.just(sb.environments.GaussianActions)),
    ),
    ("Experiment", lambda v: sb.Experiment(environment, v, 3, 3), "policies", st.sampled_from([[], {}, {1: maker}])),
    (
        "Experiment.run",
        lambda v: sb.Experiment(environment, {"a": maker}, 3, 3).run(progress=v),
        "progress",
        not_a_number.filter(lambda v: v is not None),
    ),
    ("Result", lambda v: sb.Result({"a": v}, {}), r"regret\['a'\]", st.sampled_from([[[1.0]], np.ones(3)])),
    ("Result.load", lambda v: sb.Result.load(v), "path", not_a_path),
    ("Policy.save", lambda v: sb.LinTS(np.eye(2)).save(v), "path", not_a_path),
    ("load", lambda v: sb.load(v), "path", not_a_path),
    (
        "Experiment.run",
        lambda v: sb.Experiment(environment, {"a": maker}, 3, 3).run(workers=v),
        "workers",
        bad_count,
    ),
]


@pytest.mark.parametrize(
    ("call", "argument", "values"), [entry[1:] for entry in ENTRIES], ids=[f"{e[0]}-{e[2]}" for e in ENTRIES]
)
@given(data=st.data())
def test_constructors_and_functions(
    call: Callable[[Any], object], argument: str, values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    value = data.draw(values)
    with pytest.raises((TypeError, ValueError), match=rf"^(prior\.)?{argument}: .*(got|expected)"):
        call(value)


every_policy = pytest.mark.parametrize("make", ALL.values(), ids=ALL)
with_rows = pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES)


@with_rows
@given(data=st.data())
def test_policies_refuse_bad_actions_and_settings(make: Maker, data: st.DataObject) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^actions: expected"):
        make(data.draw(bad_matrix()))
    with pytest.raises((TypeError, ValueError), match=r"^noise_variance: expected"):
        make(
            np.eye(2),
            noise_variance=data.draw(bad_variance.filter(lambda v: v is not None and not isinstance(v, list))),
        )
    with pytest.raises((TypeError, ValueError), match=r"^seed: expected"):
        make(np.eye(2), seed=data.draw(bad_index))
    with pytest.raises((TypeError, ValueError), match=r"^prior"):
        make(np.eye(2), prior=data.draw(st.sampled_from([1.0, "normal", sb.GaussianPrior([1.0, 1.0, 1.0])])))


@every_policy
@given(data=st.data())
def test_asking_and_telling_refuse_and_change_nothing(make: Maker, data: st.DataObject) -> None:
    policy = make(some_actions(), seed=0)
    play(policy, 4)
    decision = policy.ask()
    before = fingerprint(policy)
    with pytest.raises((TypeError, ValueError), match=r"^actions: expected"):
        policy.ask(data.draw(bad_matrix(columns=3).filter(lambda value: value is not None)))
    with pytest.raises((TypeError, ValueError), match=r"^reward: expected"):
        policy.tell(decision, data.draw(bad_number.filter(lambda value: not isinstance(value, bool))))
    unknown = st.one_of(
        st.integers(min_value=5),
        st.integers(max_value=-1),
        st.text(max_size=3),
        st.none(),
        st.booleans(),
        st.floats(),
    )
    with pytest.raises((TypeError, ValueError), match=r"^decision: expected"):
        policy.tell(data.draw(unknown), 1.0)
    with pytest.raises((TypeError, ValueError), match=r"^decision: expected"):
        policy.explain(data.draw(unknown))
    told = data.draw(st.integers(0, 3))
    with pytest.raises(ValueError, match=rf"^reward: expected .* for decision {told}, as told before, got"):
        policy.tell(told, data.draw(st.floats(-1e40, 1e40).filter(lambda r: r != policy._rewards[told])))
    assert fingerprint(policy) == before


@pytest.mark.parametrize(
    "wrong",
    [np.array("1"), np.array([1.0, 2.0]), np.complex128(1j), np.ma.masked, 10**5000, np.array(None), [[1.0], [2.0]]],
    ids=["text", "vector", "complex", "masked", "endless", "none", "nested"],
)
def test_odd_rewards(wrong: object) -> None:
    policy = sb.LinTS(np.eye(2), seed=0)
    decision = policy.ask()
    with pytest.raises((TypeError, ValueError), match=r"^reward: expected"):
        policy.tell(decision, wrong)
    with pytest.raises(TypeError, match=r"^decision: expected"):
        policy.tell(np.array(0), [1.0])
    assert policy.pending == (decision,)


@pytest.mark.parametrize(
    "wrong",
    [
        np.ma.masked_array(np.eye(2), mask=np.eye(2) > 0),
        np.array([["1", "2"]], dtype=object),
        np.array([[1.0, None]], dtype=object),
        np.array([[1j, 2.0]]),
    ],
    ids=["masked", "object strings", "none", "complex"],
)
def test_odd_actions(wrong: object) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^actions: expected"):
        sb.LinTS(wrong)


def test_large_but_legal_features_work() -> None:
    """Engines over models refuse what rounding would hide, measured by the noise (``model/limits.py``)."""
    large = np.eye(2) * 1e26
    for name, make in POLICIES.items():
        if name.endswith("spike and slab"):  # a rival on such an engine
            continue
        if not name.endswith(("all learnt", "default prior")):  # some of these learn the noise, whatever is given
            play(make(large, noise_variance=1e44, seed=0), 5)
        if not name.startswith(("Sparse", "OnlineToConfidence", "FeelGood", "SOIDS")):
            play(make(large, noise_variance=1e30, seed=0), 5)
    for name in ("SparseIDS", "SparseIDS, Gibbs", "SparseIDS, enumeration", "OnlineToConfidence"):
        with pytest.raises(ArgumentError, match=r"^x: expected features at which the prior predicts rewards within"):
            play(POLICIES[name](large, noise_variance=1e30, seed=0), 5)


@given(
    x=st.one_of(bad_matrix(columns=4), hnp.arrays(np.float64, st.integers(0, 6).filter(lambda n: n != 4))),
    y=st.floats(-1, 1),
)
def test_posterior_updates_refuse_and_change_nothing(x: object, y: float) -> None:
    posterior = sb.Conjugate(sb.GaussianPrior(), 4, seed=0, n_draws=10)
    posterior.update([1.0, 2.0, 3.0, 4.0], 1.0)
    mean, covariance = posterior.mean(), posterior.covariance()
    with pytest.raises((TypeError, ValueError), match=r"^[xy]: expected"):
        posterior.update(x, y)
    with pytest.raises((TypeError, ValueError), match=r"^y: expected"):
        posterior.update(np.ones((2, 4)), [y, np.nan])
    np.testing.assert_array_equal(posterior.mean(), mean)
    np.testing.assert_array_equal(posterior.covariance(), covariance)
    assert posterior.evidence.count == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"price": [1.0]}, "actions: expected an array of numbers, got {'price': [1.0]}"),
        (instance, "actions: expected an array of numbers, got Instance(5 actions"),
        ([1.0, 2.0], "actions: expected 2 dimensions, got shape (2,)"),
    ],
    ids=["dict", "instance", "one row"],
)
def test_what_came_instead_of_actions_is_shown(wrong: object, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}"):
        sb.LinTS(wrong)


@pytest.mark.parametrize("seed", [np.random.default_rng(0), "0", 1.5])
def test_a_seed_of_another_kind_is_told_what_kinds_there_are(seed: Any) -> None:
    with pytest.raises(TypeError, match=r"^seed: expected a whole number, a SeedSequence or None, got"):
        sb.LinTS(np.eye(2), seed=seed)


def test_decisions_that_there_are_none_of() -> None:
    policy = sb.LinTS(np.eye(2), seed=0)
    with pytest.raises(
        ValueError, match=r"^decision: expected one of this policy's decisions, of which there are none"
    ):
        policy.tell(0, 1.0)
    with pytest.raises(TypeError, match=r"^decision: expected a decision or its id, got \[Decision"):
        policy.explain([policy.ask()])  # type: ignore[arg-type]


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    result = sb.Experiment(environment, {"a": maker}, 3, 2).run()
    policy = sb.LinTS(np.eye(2))
    with pytest.raises(OSError, match=r"^path: expected an existing directory, got .*/file$"):
        policy.save(tmp_path / "file" / "below")
    with pytest.raises(OSError, match=r"^path: expected a file or a new name, got an empty name"):
        policy.save("")
    with pytest.raises(ValueError, match=r"^path: expected a name that ends in \.png, \.svg or \.pdf, got"):
        result.plot(tmp_path / "regret.jpgg")
    with pytest.raises(TypeError, match=r"^path: expected the name of a file, got 3"):
        result.plot(3)  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_a_misspelt_name_is_told_the_right_one() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'SparseIds'; did you mean 'SparseIDS'\?"):
        sb.SparseIds  # type: ignore[attr-defined]  # noqa: B018
