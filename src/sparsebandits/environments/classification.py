"""Data sets for classification as bandits, as in Bietti, Agarwal and Langford (2021) and many papers before.

The data are those that scikit-learn brings along; nothing is downloaded.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sparsebandits.arguments import FloatArray, IntArray, check_choice, frozen
from sparsebandits.environments.contexts import Contexts
from sparsebandits.environments.labelled import LabelledInstance
from sparsebandits.randomness import CONTEXT_STREAM, Seed, child, stream

LOADERS = {
    "digits": "load_digits",
    "breast-cancer": "load_breast_cancer",
    "wine": "load_wine",
    "iris": "load_iris",
}
"""Names of the data sets, and of the functions of ``sklearn.datasets`` that load them."""


@dataclass(frozen=True)
class Classification:
    """Instances in which the class of a row of data has to be guessed.

    The context of a round is a row; its columns are a constant and the columns of the data, standardised to mean 0 and
    variance 1 over all rows. Columns with one value only are left out. There is one action per class, with coefficients
    of its own: the features of action a are the context in block a and zeros elsewhere. The reward is 1 if the class is
    right, and 0 otherwise.

    ===============  ====  =======  ==================  ======
    data             rows  classes  columns (p)         d
    ===============  ====  =======  ==================  ======
    "digits"         1797  10       61 and a constant   620
    "breast-cancer"  569   2        30 and a constant   62
    "wine"           178   3        13 and a constant   42
    "iris"           150   3        4 and a constant    15
    ===============  ====  =======  ==================  ======

    Parameters
    ----------
    data : {"digits", "breast-cancer", "wine", "iris"}
        The data set of scikit-learn.

    Notes
    -----
    Rows come in a random order that depends on the seed alone. After all rows have been seen, they come again in
    another order. Regret is against always being right, so it is the number of wrong guesses.

    Examples
    --------
    >>> instance = Classification("wine").sample(seed=0)
    >>> instance
    LabelledInstance(3 actions of 42 features, one of which is right in each round)
    >>> instance.contexts.names[:3], instance.contexts.item_names
    (('constant', 'alcohol', 'malic_acid'), ('class_0', 'class_1', 'class_2'))
    """

    data: str

    def __post_init__(self) -> None:
        check_choice("data", self.data, tuple(LOADERS))

    def sample(self, seed: Seed) -> LabelledInstance:
        """Return the instance that belongs to a seed: an order of the rows.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        LabelledInstance
        """
        root = child(seed)  # fresh entropy is drawn once
        table = read_data(self.data)
        count = len(table.rows)

        @lru_cache(maxsize=2)
        def order(number: int) -> IntArray:
            return stream(root, CONTEXT_STREAM, number).permutation(count)

        def place(t: int) -> int:
            return int(order(t // count)[t % count])

        contexts = Contexts(
            lambda t: table.rows[place(t)], table.columns, np.eye(len(table.classes)), table.classes, table.classes
        )
        return LabelledInstance(contexts, lambda t: int(table.labels[place(t)]))


class Data(NamedTuple):
    """A data set for classification.

    Parameters
    ----------
    rows : array of shape (n, p)
        A constant and the standardised columns.
    labels : int array of shape (n,)
        The class of each row, counted from 0.
    columns, classes : tuple of str
        Names of columns and classes.
    """

    rows: FloatArray
    labels: IntArray
    columns: tuple[str, ...]
    classes: tuple[str, ...]


@lru_cache(maxsize=len(LOADERS))
def read_data(data: str) -> Data:
    """Return a data set of scikit-learn with standardised columns.

    Parameters
    ----------
    data : str
        One of the keys of ``LOADERS``.

    Returns
    -------
    Data
    """
    from sklearn import datasets  # a slow import, which other environments do not need

    loaded = getattr(datasets, LOADERS[data])()
    values = np.asarray(loaded.data, dtype=np.float64)
    varies = np.ptp(values, axis=0) > 0.0
    kept = values[:, varies]
    rows = np.column_stack((np.ones(len(kept)), (kept - kept.mean(axis=0)) / kept.std(axis=0)))
    names = [str(name) for name, used in zip(loaded.feature_names, varies, strict=True) if used]
    classes = tuple([str(name) for name in loaded.target_names])
    return Data(frozen(rows), frozen(np.asarray(loaded.target, dtype=np.intp)), ("constant", *names), classes)
