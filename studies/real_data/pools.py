"""Real tables to search, shipped with scikit-learn: one row per candidate, and a measurement that a search reveals.

Features are the standardised columns, their squares and their products, each standardised again, as in the quadratic
model of Efron, Hastie, Johnstone and Tibshirani (2004), "Least angle regression", Annals of Statistics 32, 407-499: ten
columns of 442 diabetes patients, 45 products and nine squares (sex has two values, so its square adds nothing) make 64
features. The measurement is standardised too: its mean over the pool is 0, which is why no intercept is needed, and its
unit is one standard deviation. Both standardisations use the whole pool. The features are known before a search; the
mean and the deviation of the measurement strictly are not, but they are the same for all searchers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_diabetes, load_wine

from sparsebandits.arguments import FloatArray, IntArray

TOP = 10
"""Number of candidates that a search is for."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Candidates, and what measuring each of them reveals.

    Attributes
    ----------
    name : str
        Name of the pool.
    candidates : str
        What the rows are, such as "patients".
    measured : str
        What the reward is, such as "progression".
    features : array of shape (K, d)
        One row per candidate.
    feature_names : tuple of str
        One per feature.
    reward : array of shape (K,)
        The measurement of each candidate.
    """

    name: str
    candidates: str
    measured: str
    features: FloatArray
    feature_names: tuple[str, ...]
    reward: FloatArray

    def __len__(self) -> int:
        return len(self.features)

    @property
    def top(self) -> IntArray:
        """The rows that a search is for, largest reward first."""
        return np.argsort(-self.reward, kind="stable")[:TOP]


def standardised(values: FloatArray) -> FloatArray:
    """Return columns of mean 0 and variance 1."""
    centred = values - values.mean(axis=0)
    return np.asarray(centred / centred.std(axis=0))


def quadratic(columns: FloatArray, names: Sequence[str]) -> tuple[FloatArray, tuple[str, ...]]:
    """Return standardised columns, then their squares (except of columns with two values), then their products.

    Examples
    --------
    >>> quadratic(np.array([[0.0, 1.0], [1.0, 3.0], [1.0, 2.0]]), ["sex", "age"])[1]
    ('sex', 'age', 'age^2', 'sex:age')
    """
    main = standardised(columns)
    count = len(names)
    squares = [j for j in range(count) if len(np.unique(columns[:, j])) > 2]
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    second = [main[:, j] ** 2 for j in squares] + [main[:, i] * main[:, j] for i, j in pairs]
    named = [f"{names[j]}^2" for j in squares] + [f"{names[i]}:{names[j]}" for i, j in pairs]
    return standardised(np.column_stack([main, *second])), (*names, *named)


def diabetes() -> Pool:
    """Return 442 patients: 64 features from ten baseline measurements, and the progression of the disease in a year."""
    data = load_diabetes(scaled=False)
    features, names = quadratic(data.data, data.feature_names)
    return Pool("diabetes", "patients", "progression", features, names, standardised(data.target))


def wine() -> Pool:
    """Return 178 wines: 90 features from twelve chemical measurements, and the thirteenth, their proline content."""
    data = load_wine()
    measured = data.feature_names.index("proline")
    others = [name for name in data.feature_names if name != "proline"]
    short = {"od280/od315_of_diluted_wines": "od280/od315"}
    names = [short.get(name, name.replace("_", " ")) for name in others]
    features, names_of_all = quadratic(np.delete(data.data, measured, axis=1), names)
    return Pool("wine", "wines", "proline", features, names_of_all, standardised(data.data[:, measured]))


POOLS = {"diabetes": diabetes, "wine": wine}
