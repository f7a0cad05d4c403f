"""The best action x* under each draw of θ, and what it is when several actions tie.

Under a point-mass spike actions tie exactly: all of them where θ = 0, and all that share the features that matter where
features are 0 and 1. Equal rows are one action throughout. Of other actions that tie under a draw, x* is the one with
the largest posterior mean; those that tie in that too, or whose means the draws cannot tell apart, share the draw
evenly. So x* does not depend on the order of the rows. (Algorithm 3 as printed has an argmax there, which in a program
is the first of them.)

Which actions tie depends on θ alone, and which of them is x* on the weights too. So :class:`Optima` has the draws in
*cells*, one for each set of actions that tie (mostly sets of one), and ``best.py`` resolves them for some weights.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray, IntArray, frozen
from sparsebandits.posteriors.draws import mostly_zero
from sparsebandits.posteriors.rows import Rows
from sparsebandits.posteriors.threads import BLOCK as THREAD_BLOCK
from sparsebandits.posteriors.threads import in_blocks
from sparsebandits.randomness import stream

if TYPE_CHECKING:
    from sparsebandits.posteriors.kernels.panels import Grouped, Panels

BLOCK = 256
"""Number of draws whose predictions are computed at a time: they fit into the cache at a few hundred actions."""

MOST_KEPT = 16_000_000
"""Number of predictions that are kept from one decision to the next, since between two moves of the draws only their
weights change: 64 MB of them, and twice that for a moment."""

FEW = 2**19
"""Number of predictions above which only some draws' are kept, where group means are cheaper than a pass over all: the
variance of rewards, which some 2,000 draws give to within 3%, is then all that they are needed for."""

LEAST_KEPT = 2000
"""Number of draws whose predictions are kept at least."""

THINNER = 5
"""Features per draw, K d / M, up to which group means are cheaper."""

SINGLE = 1e-6
"""Share of the terms that predictions are summed from, by which single precision may miss them."""

ROUNDING = 1e-12
"""Numbers that differ by this share of the terms they are summed from count as equal."""


def tied(values: FloatArray, terms: Any = None) -> NDArray[np.bool_]:
    """Return which values are the largest, up to rounding.

    Parameters
    ----------
    values : array of shape (..., K)
        Values, of which the largest along the last axis are looked for.
    terms : array of shape (..., 1), optional
        Size of the terms that values are summed from; by default the largest absolute value.

    Returns
    -------
    bool array of shape (..., K)
        Whether each value is the largest.
    """
    if terms is None:
        terms = np.abs(values).max(initial=0.0)
        if not math.isfinite(terms):
            terms = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    return np.asarray(values >= values.max(axis=-1, keepdims=True) - ROUNDING * terms)


def power_above(value: float) -> float:
    """Return the least power of two that is not below a number; one if that is zero."""
    return float(2.0 ** math.ceil(math.log2(max(value, 1e-300)))) if value > 0.0 else 1.0


def pick(values: FloatArray, rng: Generator) -> tuple[int, float]:
    """Return a row with the largest value; rows that tie are equally likely.

    Parameters
    ----------
    values : array of shape (K,)
        Value of each row.
    rng : Generator
        Source of randomness, which is used only if rows tie.

    Returns
    -------
    row, probability : int, float
        The row and its probability.

    Examples
    --------
    >>> pick(np.array([1.0, 3.0, 2.0]), np.random.default_rng(0))
    (1, 1.0)
    """
    rows = tied(values).nonzero()[0]
    return int(rows[rng.integers(len(rows))] if len(rows) > 1 else rows[0]), 1.0 / len(rows)


def sums_of_bits(features: FloatArray) -> NDArray[np.uint64]:
    """Return a number of each row that depends on its features alone: equal rows have equal numbers.

    Parameters
    ----------
    features : array of shape (K, d)
        The rows.

    Returns
    -------
    uint64 array of shape (K,)
        Sums modulo 2⁶⁴; −0 is 0.
    """
    bits = np.ascontiguousarray(features + 0.0).view(np.uint64)
    bits ^= bits >> np.uint64(40)  # since a product keeps few of the highest bits, and small integers have no others
    factors = Generator(PCG64(0)).integers(2**63, size=bits.shape[1], dtype=np.uint64) | np.uint64(1)
    return np.asarray((bits * factors).sum(axis=1, dtype=np.uint64))


class Prepared:
    """A set of actions, with what is worth computing only once for it.

    Parameters
    ----------
    features : array of shape (K, d)
        One row per action.
    beside : array of shape (K,), optional
        A number of each action, such as its cost: rows with the same features and another number are two actions.

    Attributes
    ----------
    distinct : array of shape (U, d)
        The rows, each once.
    first : int array of shape (U,)
        Where each of them first occurs.
    number : int array of shape (K,)
        Which of them each row is.
    copies : int array of shape (U,)
        How often each of them occurs.
    """

    def __init__(self, features: FloatArray, beside: FloatArray | None = None) -> None:
        self.features = features
        keys = features if beside is None else np.column_stack((features, beside))
        if len(np.unique(sums_of_bits(keys))) == len(features):  # as is usual: no two are the same
            self.number = self.first = np.arange(len(features))
            self.copies, self.distinct = np.ones(len(features), dtype=np.intp), features
            return
        seen: dict[bytes, int] = {}
        digests = (blake2b(row + 0.0, digest_size=16).digest() for row in keys)  # −0 is 0
        self.number = np.array([seen.setdefault(digest, len(seen)) for digest in digests], dtype=np.intp)
        self.copies = np.bincount(self.number)
        self.first = np.unique(self.number, return_index=True)[1]
        self.distinct = features if len(seen) == len(features) else np.ascontiguousarray(features[self.first])

    def of_rows(self, values: FloatArray) -> FloatArray:
        """Return for each row the number of its action."""
        return values if self.distinct is self.features else values[self.number]

    @cached_property
    def panels(self) -> "Panels":
        """The distinct rows in the layout that the kernels for sparse draws need."""
        from sparsebandits.posteriors.kernels.panels import Panels  # compiled code, which dense draws do not need

        return Panels(self.distinct, self.reach)

    @cached_property
    def mean_squares(self) -> FloatArray:
        """Mean square of each feature, shape ``(d,)``."""
        return np.asarray(np.einsum("kj,kj->j", self.distinct, self.distinct) / len(self.distinct))

    @cached_property
    def reach(self) -> FloatArray:
        """Largest absolute value of each feature, shape ``(d,)``."""
        return np.asarray(np.maximum(self.distinct.max(axis=0), -self.distinct.min(axis=0)))

    @cached_property
    def addresses(self) -> FloatArray:
        """Random whole numbers whose sums identify a set of rows, shape ``(U, 2)``; sums are exact."""
        largest = 2**52 // len(self.distinct)
        return stream(0).integers(0, largest, size=(len(self.distinct), 2)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Optima:
    """The actions that are best under each draw, and the draws in cells by them. Depends on θ and the actions alone.

    Cell c consists of the draws ``order[starts[c]:starts[c + 1]]``. Under each of them the best actions are the
    distinct rows ``members[member_starts[c]:member_starts[c + 1]]``.

    Attributes
    ----------
    actions : Prepared
        The actions.
    source : array of shape (M, d) or Rows
        The draws.
    value : array of shape (M,)
        Mean reward of the best action, max_b ⟨b, θ^m⟩.
    cell : int array of shape (M,)
        Cell of each draw.
    order : int array of shape (M,)
        Draws, sorted by cell.
    starts : int array of shape (C + 1,)
        Where each cell starts in ``order``.
    members : int array
        Best actions of the cells, one cell after the other.
    member_starts : int array of shape (C + 1,)
        Where each cell starts in ``members``.
    rows : Rows or None
        The nonzero coefficients of each draw, if they are few.
    kept : Kept or None
        Predictions of the draws, if they are sparse, and if there are not too many.
    spread : array of shape (U,) or None
        Var⟨a, θ⟩ of the distinct actions, with equal weights, if there are too many.
    """

    actions: Prepared
    source: FloatArray | Rows
    value: FloatArray
    cell: IntArray
    order: IntArray
    starts: IntArray
    members: IntArray
    member_starts: IntArray
    rows: Rows | None
    kept: "Kept | None"
    spread: FloatArray | None

    @cached_property
    def _memory(self) -> dict[str, Any]:
        return {}

    def remembered(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return what depends on θ and the actions alone, and is computed when it is first asked for."""
        if name not in self._memory:
            self._memory[name] = compute()
        return self._memory[name]

    @cached_property
    def grouped(self) -> "Grouped":
        """The nonzero coefficients by cell, if they are few."""
        from sparsebandits.posteriors.kernels.panels import Grouped

        assert self.rows is not None
        return Grouped(self.rows, self.order, self.starts, self.rows.dimension)


class Kept(NamedTuple):
    """Predictions of the draws, and what they are relative to.

    Attributes
    ----------
    predictions : array of shape (M, U)
        ⟨a, θ^m − reference⟩ / scale of the distinct actions in single precision, in the order of the cells.
    means : array of shape (U,)
        ⟨a, reference⟩, where the reference is the mean of the draws, whatever their weights.
    scale : float
        A power of two by which the largest prediction is about one.
    every : int
        Which draws the predictions are of: 1 for all, in the order of the cells; n for every n-th, in their own order.
    """

    predictions: Any
    means: FloatArray
    scale: float
    every: int = 1


def best_actions(
    source: FloatArray | Rows, actions: FloatArray | Prepared, threads: int = 1, exact: bool = False
) -> Optima:
    """Find the best actions under each draw.

    Parameters
    ----------
    source : array of shape (M, d) or Rows
        Draws of θ, one per row.
    actions : array of shape (K, d) or Prepared
        One row per action.
    threads : int, default=1
        Number of threads; the result is the same for any number.
    exact : bool, default=False
        Whether everything is in double precision, as for draws without Monte Carlo error; otherwise draws that are
        mostly zero are compressed, and their predictions are in single precision.

    Returns
    -------
    Optima
        The best actions, and the draws in cells by them.
    """
    known = actions if isinstance(actions, Prepared) else Prepared(actions)
    rows: Rows | None = None
    kept: Kept | None = None
    spread: FloatArray | None = None
    if isinstance(source, Rows):
        rows = source
    elif not exact and mostly_zero(source):
        rows = Rows.of(source)
    if rows is not None:
        best, ties, kept, spread = _best_of_rows(rows, known, threads)
    else:
        assert not isinstance(source, Rows)
        best, value, ties = _best_by_product(source, known)
    several = np.flatnonzero(ties)

    def inside(places: IntArray | slice) -> NDArray[np.bool_]:
        some = several[places]
        return _inside(source.take(some).dense if isinstance(source, Rows) else source[some], known)

    cells = in_cells(known, best, several, inside)
    if rows is not None:
        value = _values_of_best(rows, known, cells.best)
    order = cells.order
    if kept is not None and kept.every == 1:
        kept = kept._replace(predictions=kept.predictions[order])
    elif kept is not None and rows is not None:
        thinned = np.arange(0, len(rows), kept.every)  # in an order that does not depend on that of the actions
        kept = _predictions(rows, thinned, known.distinct, known)._replace(every=kept.every)
    return Optima(known, source, value, *cells[1:], rows, kept, spread)


def _best_of_rows(
    rows: Rows, actions: Prepared, threads: int
) -> tuple[IntArray, NDArray[np.bool_], Kept | None, FloatArray | None]:
    """Return one best action under each draw, whether others may be as good, and predictions or their variances.

    Coefficients that all draws have are relative to their mean, so that single precision is enough for predictions
    that differ little.
    """
    from sparsebandits.posteriors.kernels.panels import best_of_rows
    from sparsebandits.posteriors.kernels.rows import sizes_of_terms

    draws, distinct, panels = len(rows), actions.distinct, actions.panels
    mean, apart, rest = rows.apart()
    means = distinct @ mean
    terms = sizes_of_terms((*rows.arrays[:3], apart), actions.reach)
    terms += float(np.abs(rest) @ actions.reach) + float(np.abs(means).max())
    scale = power_above(float(terms.max()))
    unit = panels.units / scale
    size = draws * len(distinct)
    thin = size > FEW and distinct.size < THINNER * draws and len(distinct) * LEAST_KEPT <= FEW
    every = -(-size // FEW) if thin else 1
    kept = np.empty((draws, len(distinct)) if every == 1 and size <= MOST_KEPT else (0, 0), np.float32)
    begins, ends, columns, _ = rows.arrays
    values, reference = (apart * unit[columns]).astype(np.float32), _single_row(rest * unit)
    padded, margins = panels.padded(means / scale), (SINGLE * terms / scale).astype(np.float32)

    def search(block: slice) -> tuple[IntArray, NDArray[np.bool_], FloatArray]:
        some = begins[block], ends[block], columns, values
        given = (
            some,
            panels.single,
            len(distinct),
            reference,
            padded,
            margins[block],
            kept[block] if len(kept) else kept,
        )
        index, ties = np.zeros(len(some[0]), dtype=np.int64), np.zeros(len(some[0]), dtype=np.bool_)
        value, squares = np.full(len(some[0]), -np.inf, np.float32), np.zeros(len(padded))
        best_of_rows(*given, index, ties, value, squares, np.zeros((4, panels.single.shape[2]), np.float32))
        return index, ties, squares[: len(distinct)]

    parts = in_blocks(search, draws, threads)
    best, ties = (np.concatenate([part[i] for part in parts]) for i in range(2))
    shares = np.diff([*range(0, draws, THREAD_BLOCK), draws]) / draws
    squares = np.sum([part[2] * share for part, share in zip(parts, shares, strict=True)], axis=0)
    if len(kept) or every > 1:
        return best, ties, Kept(kept, means, scale, every), None
    return best, ties, None, squares * scale**2


def predictions_of(optima: Optima, actions: IntArray) -> Kept:
    """Return predictions of all draws for some of the distinct actions.

    Parameters
    ----------
    optima : Optima
        The draws, which are sparse, and the actions.
    actions : int array of shape (B,)
        Which of the distinct actions.

    Returns
    -------
    Kept
        Their predictions, in the order of the cells.
    """
    assert optima.rows is not None
    some = np.ascontiguousarray(optima.actions.distinct[actions])
    apart = optima.remembered("apart", lambda: _scaled_apart(optima.rows, optima.actions))
    return _predictions(optima.rows, optima.order, some, optima.actions, apart)


def _predictions(
    rows: Rows,
    order: IntArray,
    some: FloatArray,
    actions: Prepared,
    apart: tuple[FloatArray, FloatArray, FloatArray, float] | None = None,
) -> Kept:
    """Return predictions of some rows for some actions."""
    from sparsebandits.posteriors.kernels.panels import Panels, predictions_of_rows

    mean, values, rest, scale = _scaled_apart(rows, actions) if apart is None else apart
    panels = actions.panels if some is actions.distinct else Panels(some, actions.reach)
    unit = panels.units / scale
    single = (values * unit[rows.columns]).astype(np.float32)
    given = (*rows.arrays[:3], single), order, panels.single, len(some), _single_row(rest * unit)
    return Kept(predictions_of_rows(*given), some @ mean, scale)


def _scaled_apart(rows: Rows | None, actions: Prepared) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return what :meth:`Rows.apart` does, and a power of two above all predictions."""
    from sparsebandits.posteriors.kernels.rows import sizes_of_terms

    assert rows is not None
    mean, apart, rest = rows.apart()
    terms = sizes_of_terms((*rows.arrays[:3], apart), actions.reach)
    return mean, apart, rest, power_above(float(terms.max()) + float(np.abs(rest) @ actions.reach))


def _single_row(values: FloatArray) -> tuple[Any, Any, Any, Any]:
    """Return one row in single precision as compiled code takes it."""
    row = Rows.of(values[np.newaxis])
    return (*row.arrays[:3], row.values.astype(np.float32))


def _values_of_best(rows: Rows, actions: Prepared, best: IntArray) -> FloatArray:
    from sparsebandits.posteriors.kernels.panels import values_of_best

    found: FloatArray = values_of_best(rows.arrays, frozen(actions.distinct), best)
    return found


def _best_by_product(theta: FloatArray, actions: Prepared) -> tuple[IntArray, FloatArray, NDArray[np.bool_]]:
    """Return one best action under each draw, its mean reward, and whether others may be as good."""
    index, value = np.empty(len(theta), dtype=np.intp), np.empty(len(theta))
    ties = np.zeros(len(theta), dtype=bool)
    for start in range(0, len(theta), BLOCK):
        block = slice(start, start + BLOCK)
        predictions = theta[block] @ actions.distinct.T
        index[block] = predictions.argmax(axis=1)
        value[block] = predictions[np.arange(len(predictions)), index[block]]
        if not theta[block].all():  # different rows tie only where coefficients are zero
            terms = (np.abs(theta[block]) @ actions.reach)[:, np.newaxis]
            ties[block] = np.count_nonzero(tied(predictions, terms), axis=1) > 1
    return index, value, ties


class Cells(NamedTuple):
    """Draws in cells by the actions that are best under them; all but ``best`` as in :class:`Optima`.

    Attributes
    ----------
    best : int array of shape (M,)
        One best action under each draw: of several, the first.
    """

    best: IntArray
    cell: IntArray
    order: IntArray
    starts: IntArray
    members: IntArray
    member_starts: IntArray


def in_cells(
    actions: Prepared, best: IntArray, several: IntArray, inside: Callable[[IntArray | slice], NDArray[np.bool_]]
) -> Cells:
    """Put draws into cells, one for each set of actions that are best under a draw.

    Parameters
    ----------
    actions : Prepared
        The actions.
    best : int array of shape (M,)
        One best action under each draw.
    several : int array of shape (n,)
        The draws under which there may be others.
    inside : function
        Returns whether each distinct action is among the best, of shape (k, U), for some places of ``several``.

    Returns
    -------
    Cells
    """
    count, best, sets = len(actions.distinct), best.copy(), list[IntArray]()
    cell = best
    if len(several):
        label, sets = _sets_of_ties(actions, len(several), inside)
        first, alone = np.array([one[0] for one in sets]), np.array([len(one) == 1 for one in sets])
        best[several] = first[label]
        cell = best.copy()
        cell[several] = np.where(alone[label], first[label], label + count)  # single precision sees more ties than are
    sizes = np.bincount(cell)
    cells = np.flatnonzero(sizes)  # those of one action come first, ascending
    number = np.zeros(len(sizes), dtype=np.intp)
    number[cells] = np.arange(len(cells))
    cell = number[cell]
    # NumPy sorts short integers by their digits, which takes a tenth of the time.
    order = np.argsort(cell.astype(np.min_scalar_type(len(cells))), kind="stable")
    starts = np.concatenate(([0], np.cumsum(sizes[cells])))
    single = cells[cells < count]
    chosen = [sets[c - count] for c in cells[len(single) :].tolist()]
    members = np.concatenate((single, *chosen)).astype(np.intp, copy=False)
    members_each = np.concatenate((np.ones(len(single), dtype=np.intp), [len(one) for one in chosen]))
    member_starts = np.concatenate(([0], np.cumsum(members_each))).astype(np.intp, copy=False)
    return Cells(best, cell, order, starts, members, member_starts)


def _sets_of_ties(
    actions: Prepared, count: int, inside: Callable[[IntArray | slice], NDArray[np.bool_]]
) -> tuple[IntArray, list[IntArray]]:
    """Return the number of the set of best actions of each draw, and the sets."""
    keys = np.empty((count, 2))
    for start in range(0, count, BLOCK):
        block = slice(start, start + BLOCK)
        keys[block] = inside(block) @ actions.addresses
    # As complex numbers: NumPy compares rows as structures, and turns a Ctrl-C in there into a TypeError.
    _, example, label = np.unique(keys.view(np.complex128).ravel(), return_index=True, return_inverse=True)
    blocks = (inside(example[start : start + BLOCK]) for start in range(0, len(example), BLOCK))
    return label.reshape(-1), [np.flatnonzero(one) for block in blocks for one in block]


def _inside(theta: FloatArray, actions: Prepared) -> NDArray[np.bool_]:
    """Return whether each action is among the best under each draw."""
    return tied(theta @ actions.distinct.T, (np.abs(theta) @ actions.reach)[:, np.newaxis])


class OptimaMemory:
    """Remembers :func:`best_actions` of the last draws and actions, by identity, since both are never changed."""

    def __init__(self) -> None:
        self._last: Optima | None = None
        self._exact = False

    def of(self, source: FloatArray | Rows, actions: FloatArray, threads: int = 1, exact: bool = False) -> Optima:
        """Return the best actions; compute again only what depends on an array that has changed.

        Parameters
        ----------
        source : array of shape (M, d) or Rows
            Draws of θ; an array is read-only.
        actions : array of shape (K, d)
            One row per action; read-only.
        threads : int, default=1
            Number of threads.
        exact : bool, default=False
            Whether everything is in double precision.

        Returns
        -------
        Optima
            The best actions.
        """
        known = Prepared(actions) if self._last is None else self._last.actions
        if known.features is not actions:
            known = Prepared(actions)
        same = self._last is not None and self._last.source is source and self._last.actions is known
        if self._last is None or not same or self._exact is not exact:
            self._last, self._exact = best_actions(source, known, threads, exact), exact
        return self._last
