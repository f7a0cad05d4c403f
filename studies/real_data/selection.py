"""Which features matter once the whole pool has been measured: spike and slab and the Lasso on the same matrix.

The order in which features enter is that of the Lasso path (Efron et al. 2004, with the Lasso modification). Cp is
their estimate of risk after k steps of least angle regression, RSS / σ² − n + 2k, with σ² from all features.
Cross-validation is scikit-learn's ``LassoCV`` with ten folds.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LassoCV, lars_path

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from studies.real_data.pools import Pool


def entry_order(features: FloatArray, reward: FloatArray) -> list[int]:
    """Return the features in the order in which they enter the Lasso path, without those that never do."""
    _, _, path = lars_path(features, reward, method="lasso")
    entered = [(int(np.flatnonzero(steps)[0]), j) for j, steps in enumerate(path) if steps.any()]
    return [j for _, j in sorted(entered)]


def least_angle_by_cp(features: FloatArray, reward: FloatArray) -> list[int]:
    """Return the features of least angle regression, in order, up to the step of smallest Cp."""
    _, active, path = lars_path(features, reward, method="lar")
    least_squares = np.linalg.lstsq(features, reward, rcond=None)[0]
    freedom = len(reward) - features.shape[1] - 1  # an intercept is fitted by centring
    noise = np.sum((reward - features @ least_squares) ** 2) / freedom
    squares = np.sum((reward[:, np.newaxis] - features @ path) ** 2, axis=0)
    steps = int(np.argmin(squares / noise + 2.0 * np.arange(path.shape[1])))
    return [int(j) for j in active[:steps]]


def cross_validated(features: FloatArray, reward: FloatArray) -> list[int]:
    """Return the features that the Lasso keeps at the penalty of smallest cross-validated error."""
    return [int(j) for j in np.flatnonzero(LassoCV(cv=10, max_iter=100_000).fit(features, reward).coef_)]


def selection(pool: Pool, n_draws: int = 10_000) -> dict[str, Any]:
    """Return inclusion probabilities under the two default priors of the package, and what the Lasso selects."""
    policy = sb.SparseIDS(pool.features, n_draws=n_draws, seed=0)  # for its posterior, updated with all data at once
    policy.posterior.update(pool.features, pool.reward)
    regressor = sb.SpikeSlabRegressor(n_draws=n_draws, random_state=0).fit(pool.features, pool.reward)
    learnt = {row["hyperparameter"]: row["mean"] for row in policy.posterior.hyperparameters().to_dicts()}
    return {
        "inclusion": policy.posterior.inclusion().round(4).tolist(),
        "mean": policy.posterior.mean().round(4).tolist(),
        "inclusion, regressor": regressor.inclusion_.round(4).tolist(),
        "hyperparameters": {str(name): round(float(value or 0.0), 4) for name, value in learnt.items()},
        "Lasso order": entry_order(pool.features, pool.reward),
        "least angle by Cp": least_angle_by_cp(pool.features, pool.reward),
        "Lasso by cross-validation": cross_validated(pool.features, pool.reward),
    }
