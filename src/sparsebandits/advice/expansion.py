"""Squares, products and curves of features, for a sparse prior to choose from.

With z = (x − mean) / sd over the rows of the table for a continuous feature x, and z = x for an indicator:

    linear         the features themselves, in the units of the table
    quadratic      and z² of each continuous feature
    interactions   and z² of each continuous feature, z_i z_j of each pair from different columns of the table
    splines        and max(x − q, 0) at the quartiles q of each continuous feature: a line with three bends

An effect of "temperature²" is that of one standard deviation from the mean, squared; of "resin × hardener" that of both
being one standard deviation above their means; of "temperature above 150" the change of slope at 150, in the units of
the table. Because z is centred, a linear effect is the slope at the mean of the other features.

Squares and products know their parents, the features that they are made of, so that a :class:`~sparsebandits.Hierarchy`
makes them more likely where these matter. For splines that does not help: a curve may well be flat up to a bend.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_choice,
    check_matrix,
    check_vector,
    shown,
)
from sparsebandits.model.families import Linked, Poisson
from sparsebandits.model.hierarchy import Hierarchy
from sparsebandits.model.priors import SpikeSlab, default_prior

EFFECTS = ("linear", "quadratic", "interactions", "splines")
"""What an expansion may consist of, the simplest first."""

MOST_TERMS = 2000
"""Largest number of features and terms together, unless another is given."""

QUARTILES = (0.25, 0.5, 0.75)
"""Shares of the rows below the bends of a spline."""

COPIES = 1e-8
"""How far the squared correlation of two columns is below one if they are copies of each other, at most."""


@dataclass(frozen=True)
class Term:
    """A column that is made of one or two features.

    Attributes
    ----------
    name : str
        Its name.
    parents : tuple of int
        The features that it is made of: one of them (a square or a bend) or two (a product).
    knot : float or None
        Where a spline bends; None for a square or a product.
    """

    name: str
    parents: tuple[int, ...]
    knot: float | None = None


@dataclass(frozen=True, eq=False)
class Expansion:
    """Features and terms made of them.

    Attributes
    ----------
    how : str
        One of ``EFFECTS``.
    base : array of shape (K, d)
        The features as they were given.
    base_names : tuple of str
        Their names.
    continuous : tuple of bool
        Whether each feature is continuous, not an indicator.
    sources : tuple of str
        The column of the table that each feature comes from.
    terms : tuple of Term
        What stands beside the features.
    left_out : tuple of str
        Names of terms that are constant, or copies of other columns.
    """

    how: str
    base: FloatArray
    base_names: tuple[str, ...]
    continuous: tuple[bool, ...]
    sources: tuple[str, ...]
    terms: tuple[Term, ...]
    left_out: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all D columns."""
        return (*self.base_names, *(term.name for term in self.terms))

    @property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Parents of all D columns; empty for the features themselves, and for splines."""
        return (*(() for _ in self.base_names), *(term.parents if term.knot is None else () for term in self.terms))

    @cached_property
    def features(self) -> FloatArray:
        """All columns for the rows of the table, shape ``(K, D)``."""
        return self.rows(self.base)

    @cached_property
    def _scale(self) -> tuple[FloatArray, FloatArray]:
        return _centre_and_scale(self.base, self.continuous)

    def rows(self, base: FloatArray) -> FloatArray:
        """Return all columns for other rows, with the means, standard deviations and quartiles of the table.

        Parameters
        ----------
        base : array of shape (n, d)
            Features.

        Returns
        -------
        array of shape (n, D)
        """
        centre, scale = self._scale
        return np.column_stack([base, *(_column(term, base, (base - centre) / scale) for term in self.terms)])

    def prior(self, family: Linked | None = None) -> SpikeSlab:
        """Return the default prior of a policy with an intercept, with the hierarchy of the terms.

        Parameters
        ----------
        family : Bernoulli or Poisson, optional
            Clicks or counts; by default rewards are Gaussian.

        Returns
        -------
        SpikeSlab
        """
        hierarchy = Hierarchy(self.parents) if any(self.parents) else None
        return default_prior(self.features - self.features.mean(axis=0), isinstance(family, Poisson), hierarchy)


def expand(
    features: object,
    names: Sequence[str],
    continuous: Sequence[bool] | None = None,
    sources: Sequence[str] | None = None,
    how: str = "interactions",
    most: int = MOST_TERMS,
) -> Expansion:
    """Return features with squares, products or splines.

    Parameters
    ----------
    features : array of shape (K, d)
        Encoded features, one row per action.
    names : sequence of str
        One name per feature.
    continuous : sequence of bool, optional
        Whether each feature is continuous. An indicator is not: it has no square and no spline, and is multiplied as it
        is. By default a feature is continuous if it has more than two values.
    sources : sequence of str, optional
        The column of the table that each feature comes from. Features of one column are not multiplied with each other.
        By default each feature is a column of its own.
    how : {"linear", "quadratic", "interactions", "splines"}, default="interactions"
        What the features are expanded by.
    most : int, default=2000
        Largest number of features and terms together.

    Returns
    -------
    Expansion
        Features first, then the terms. A term is left out if it is constant, if it is a copy of another column up to
        its unit and level, or if a feature has its name.

    Raises
    ------
    ArgumentError
        If an argument cannot be used, or if there would be more than ``most`` columns.

    Examples
    --------
    >>> table = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [6.0, 1.0]])
    >>> found = expand(table, ["dose", "coated"], how="interactions")
    >>> found.names
    ('dose', 'coated', 'dose²', 'dose × coated')
    >>> found.parents
    ((), (), (0,), (0, 1))
    >>> expand(table, ["dose", "coated"], how="splines").names
    ('dose', 'coated', 'dose above 1.75', 'dose above 2.5', 'dose above 3.75')
    """
    base = check_matrix("features", features)
    count = base.shape[1]
    named = _one_each("names", names, count)
    columns = named if sources is None else _one_each("sources", sources, count)
    kind = check_choice("how", how, EFFECTS)
    if continuous is None:
        flags = tuple(len(np.unique(column)) > 2 for column in base.T)
    else:
        flags = tuple(bool(flag) for flag in check_vector("continuous", continuous, count))
    terms = list(_terms(kind, base, named, flags, columns))
    if count + len(terms) > most:
        got = f"{count + len(terms)} with how={kind!r}"
        raise ArgumentValueError("features", f"at most {most} columns with their {kind} terms", got)
    kept, left_out = _distinct(base, named, terms, _centre_and_scale(base, flags))
    return Expansion(kind, base, named, flags, columns, kept, left_out)


def _one_each(argument: str, names: Sequence[str], count: int) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError(argument, f"{count} texts, one per feature", shown(names))
    if len(names) != count or (argument == "names" and len(set(names)) < count):
        raise ArgumentValueError(argument, f"{count} {'different ' * (argument == 'names')}names", shown(names))
    return tuple(names)


def _terms(
    how: str, base: FloatArray, names: Sequence[str], continuous: Sequence[bool], sources: Sequence[str]
) -> Iterator[Term]:
    """Yield all terms, useful or not."""
    numeric = [j for j, flag in enumerate(continuous) if flag]
    if how in ("quadratic", "interactions"):
        yield from (Term(f"{names[j]}²", (j,)) for j in numeric)
    if how == "interactions":
        pairs = combinations(range(len(names)), 2)
        yield from (Term(f"{names[i]} × {names[j]}", (i, j)) for i, j in pairs if sources[i] != sources[j])
    if how == "splines":
        for j in numeric:
            for knot in dict.fromkeys(np.quantile(base[:, j], QUARTILES).tolist()):
                yield Term(f"{names[j]} above {knot:.4g}", (j,), knot)


def _centre_and_scale(base: FloatArray, continuous: Sequence[bool]) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of continuous features; 0 and 1 for indicators."""
    deviation = base.std(axis=0)
    return np.where(continuous, base.mean(axis=0), 0.0), np.where(continuous & (deviation > 0), deviation, 1.0)


def _column(term: Term, base: FloatArray, scaled: FloatArray) -> FloatArray:
    first, last = term.parents[0], term.parents[-1]
    if term.knot is not None:
        return np.maximum(base[:, first] - term.knot, 0.0)
    return scaled[:, first] * scaled[:, last]


def _distinct(
    base: FloatArray, names: Sequence[str], terms: Sequence[Term], scale: tuple[FloatArray, FloatArray]
) -> tuple[tuple[Term, ...], tuple[str, ...]]:
    """Return the terms that are neither constant nor copies of columns before them, and the names of the others."""
    directions = np.zeros((len(base), base.shape[1] + len(terms)))
    directions[:, : base.shape[1]] = _direction(base)
    count, kept, seen = base.shape[1], [], set(names)
    for term in terms:
        column = _column(term, base, (base - scale[0]) / scale[1])
        found = _direction(column[:, np.newaxis])[:, 0]
        copied = np.square(directions[:, :count].T @ found).max(initial=0.0) > 1.0 - COPIES
        if not found.any() or copied or term.name in seen:
            continue
        directions[:, count] = found
        count += 1
        kept.append(term)
        seen.add(term.name)
    among = set(kept)
    return tuple(kept), tuple(term.name for term in terms if term not in among)


def _direction(columns: FloatArray) -> FloatArray:
    """Return centred columns of length one; zero where a column is constant up to rounding."""
    apart = columns - columns.mean(axis=0)
    length, size = np.sqrt((apart * apart).sum(axis=0)), np.abs(columns).max(axis=0, initial=0.0)
    constant = length <= 1e-12 * size * np.sqrt(len(columns))
    return np.asarray(np.where(constant, 0.0, apart / np.where(constant, 1.0, length)))
