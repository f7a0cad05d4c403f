"""The best action x* under each draw of θ, and what it is when several actions tie.

Under a point-mass spike actions tie exactly: all of them where θ = 0, and all that share the features that matter where
features are 0 and 1. Equal rows are one action throughout. Of other actions that tie under a draw, x* is the one with
the largest posterior mean; those that tie in that too, or whose means the draws cannot tell apart, share the draw
evenly. So x* does not depend on the order of the rows. (Algorithm 3 as printed has an argmax there, which in a program
is the first of them.)

Which actions tie depends on θ alone, and which of them is x* on the weights too. So :class:`Optima` has the draws in
*cells*, one for each set of actions that tie (mostly sets of one), and :class:`Best` resolves them for some weights.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.randomness import stream

if TYPE_CHECKING:
    from sparsebandits.posteriors.kernels.sparse_draws import Grouped, Panels, Rows

BLOCK = 256
"""Number of draws whose predictions are computed at a time: they fit into the cache at a few hundred actions."""

MOSTLY_ZERO = 0.25
"""Share of nonzero coefficients below which going through them one by one is faster than a matrix product."""

MOST_PRODUCTS = 200_000_000
"""Number of products K d² above which variances of rewards are estimated from some of the draws: they would take longer
than all the rest of a decision."""

REPRESENTATIVES = 512
"""Number of draws that are picked for that."""

MOST_KEPT = 16_000_000
"""Number of predictions that are kept from one decision to the next, since between two moves of the draws only their
weights change: 64 MB of them, and twice that for a moment."""

SINGLE_REACH = (1e-10, 1e10)
"""Size of predictions that are kept in single precision: their squares, times a weight, stay within its range."""

VISIBLE = 1e-6, 1e-4
"""A variance below these shares, of the squared offset of the draws and of the squared shift of the mean, is computed
in double precision: single has seven digits, and the difference of two numbers has fewer."""

ERRORS = 2.0
"""Standard errors that each of two means may be off, for them to count as equal."""

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
        finite = np.abs(values[np.isfinite(values)])
        terms = finite.max(initial=0.0)
    return np.asarray(values >= values.max(axis=-1, keepdims=True) - ROUNDING * terms)


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
    rows = np.flatnonzero(tied(values))
    return int(rows[rng.integers(len(rows))] if len(rows) > 1 else rows[0]), 1.0 / len(rows)


class Prepared:
    """A set of actions, with what is worth computing only once for it.

    Parameters
    ----------
    features : array of shape (K, d)
        One row per action.

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

    def __init__(self, features: FloatArray) -> None:
        self.features = features
        seen: dict[bytes, int] = {}
        rows = (row.tobytes() for row in features + 0.0)  # −0 is 0
        self.number = np.array([seen.setdefault(row, len(seen)) for row in rows], dtype=np.intp)
        self.copies = np.bincount(self.number)
        self.first = np.unique(self.number, return_index=True)[1]
        self.distinct = features if len(seen) == len(features) else np.ascontiguousarray(features[self.first])

    @cached_property
    def panels(self) -> "Panels":
        """The distinct rows in the layout that the kernels of ``sparse_draws`` need."""
        from sparsebandits.posteriors.kernels.sparse_draws import Panels  # compiled code, which dense draws do not need

        return Panels(self.distinct)

    @cached_property
    def mean_squares(self) -> FloatArray:
        """Mean square of each feature, shape ``(d,)``."""
        return np.asarray(np.mean(self.distinct * self.distinct, axis=0))

    @cached_property
    def reach(self) -> FloatArray:
        """Largest absolute value of each feature, shape ``(d,)``."""
        return np.asarray(np.abs(self.distinct).max(axis=0))

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
    theta : array of shape (M, d)
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
    """

    actions: Prepared
    theta: FloatArray
    value: FloatArray
    cell: IntArray
    order: IntArray
    starts: IntArray
    members: IntArray
    member_starts: IntArray
    rows: "Rows | None"
    kept: "Kept | None"

    @cached_property
    def grouped(self) -> "Grouped":
        """The nonzero coefficients by cell, if they are few."""
        from sparsebandits.posteriors.kernels.sparse_draws import Grouped

        assert self.rows is not None
        return Grouped(self.rows, self.order, self.starts, self.theta.shape[1])


class Kept(NamedTuple):
    """Predictions of all draws, and the coefficients that they are relative to.

    Attributes
    ----------
    predictions : array of shape (M, U)
        ⟨a, θ^m − reference⟩ of the distinct actions, in the order of the cells, and in single precision unless that
        would underflow or overflow.
    reference : array of shape (d,)
        The mean of the draws, whatever their weights, so that differences are small.
    """

    predictions: Any
    reference: FloatArray


def best_actions(theta: FloatArray, actions: FloatArray | Prepared) -> Optima:
    """Find the best actions under each draw.

    Parameters
    ----------
    theta : array of shape (M, d)
        Draws of θ, one per row.
    actions : array of shape (K, d) or Prepared
        One row per action.

    Returns
    -------
    Optima
        The best actions, and the draws in cells by them.
    """
    known = actions if isinstance(actions, Prepared) else Prepared(actions)
    rows: Any = None
    if np.count_nonzero(theta[:BLOCK]) < MOSTLY_ZERO * theta[:BLOCK].size:
        from sparsebandits.posteriors.kernels import sparse_draws

        rows = sparse_draws.compressed(theta)
        best, value, ties, kept = _best_of_rows(rows, known, len(theta))
    else:
        (best, value, ties), kept = _best_by_product(theta, known), None
    several = np.flatnonzero(ties)
    label, sets = _sets_of_ties(theta[several], known)
    count = len(known.distinct)
    best = best.copy()
    best[several] = label + count  # cells of one action come first, ascending, then those of several
    cells, cell = np.unique(best, return_inverse=True)
    order = np.argsort(cell, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(cell))))
    single = cells[cells < count]
    chosen = [sets[c - count] for c in cells[len(single) :].tolist()]
    members = np.concatenate((single, *chosen)).astype(np.intp, copy=False)
    sizes = np.concatenate((np.ones(len(single), dtype=np.intp), [len(one) for one in chosen]))
    member_starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.intp, copy=False)
    if kept is not None:
        kept = kept._replace(predictions=kept.predictions[order])
    return Optima(known, theta, value, cell, order, starts, members, member_starts, rows, kept)


def _best_of_rows(rows: "Rows", actions: Prepared, draws: int) -> tuple[IntArray, FloatArray, Any, Kept | None]:
    """Return one best action under each draw, its mean reward, whether others may be as good, and predictions."""
    from sparsebandits.posteriors.kernels.sparse_draws import best_of_rows, compressed, sizes_of_terms, weighted_mean

    count = len(actions.distinct)
    tolerance = sizes_of_terms(rows, actions.reach) * ROUNDING
    mean = weighted_mean(rows, np.full(draws, 1.0 / draws), actions.distinct.shape[1])
    reference = compressed(mean[np.newaxis])
    shape = (draws, count) if draws * count <= MOST_KEPT else (0, 0)
    for precision in (np.float32, np.float64):
        kept = np.empty(shape, precision)
        with np.errstate(over="ignore"):
            *found, reach = best_of_rows(rows, actions.panels.double, count, tolerance, reference, kept)
        if not len(kept) or SINGLE_REACH[0] < reach < SINGLE_REACH[1]:
            break
    best, value, ties = found
    return best, value, ties, Kept(kept, mean) if len(kept) else None


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


def _sets_of_ties(theta: FloatArray, actions: Prepared) -> tuple[IntArray, list[IntArray]]:
    """Return the number of the set of best actions of each draw, and the sets."""
    keys = np.empty((len(theta), 2))
    for start in range(0, len(theta), BLOCK):
        block = slice(start, start + BLOCK)
        keys[block] = _inside(theta[block], actions) @ actions.addresses
    # As complex numbers: NumPy compares rows as structures, and turns a Ctrl-C in there into a TypeError.
    _, example, label = np.unique(keys.view(np.complex128).ravel(), return_index=True, return_inverse=True)
    return label.reshape(-1), [np.flatnonzero(_inside(theta[m : m + 1], actions)) for m in example.tolist()]


def _inside(theta: FloatArray, actions: Prepared) -> NDArray[np.bool_]:
    """Return whether each action is among the best under each draw."""
    return tied(theta @ actions.distinct.T, (np.abs(theta) @ actions.reach)[:, np.newaxis])


class OptimaMemory:
    """Remembers :func:`best_actions` of the last draws and actions, by identity, since both arrays are read-only."""

    def __init__(self) -> None:
        self._last: Optima | None = None

    def of(self, theta: FloatArray, actions: FloatArray) -> Optima:
        """Return the best actions; compute again only what depends on an array that has changed.

        Parameters
        ----------
        theta : array of shape (M, d)
            Draws of θ; read-only.
        actions : array of shape (K, d)
            One row per action; read-only.

        Returns
        -------
        Optima
            The best actions.
        """
        known = Prepared(actions) if self._last is None else self._last.actions
        if known.features is not actions:
            known = Prepared(actions)
        if self._last is None or self._last.theta is not theta or self._last.actions is not known:
            self._last = best_actions(theta, known)
        return self._last


class Best:
    """x* under weighted draws: its distribution, and the mean of θ given it.

    Parameters
    ----------
    optima : Optima
        The best actions under each draw.
    weights : array of shape (M,)
        Weights of the draws, which sum to one.
    exact_mean : array of shape (d,), optional
        The posterior mean by which actions that tie are compared, if it is known exactly; by default that of the draws.
    sampled : bool, default=False
        Whether the draws are a sample, so that means which differ by less than their Monte Carlo error count as equal.

    Attributes
    ----------
    mean : array of shape (d,)
        E θ, over the draws.
    predictions : array of shape (U,)
        ⟨a, E θ⟩ of the distinct actions.
    cell, group : int arrays of shape (P,)
        Pairs of a cell and a group that gets a share of it, in the order of groups.
    share : array of shape (P,)
        The shares; those of a cell sum to one.
    support : int array of shape (G,)
        Distinct action x* of each group, ascending.
    probability : array of shape (G,)
        P(x* = support).
    """

    def __init__(
        self, optima: Optima, weights: FloatArray, exact_mean: FloatArray | None = None, sampled: bool = False
    ) -> None:
        self.optima, self.weights, self._sampled = optima, weights, sampled
        of_cells: FloatArray = np.add.reduceat(weights[optima.order], optima.starts[:-1])
        if optima.rows is not None:
            from sparsebandits.posteriors.kernels.sparse_draws import weighted_mean

            self.mean: FloatArray = weighted_mean(optima.rows, weights, optima.theta.shape[1])
        else:
            self.mean = self._sums.sum(axis=0)
        self.predictions: FloatArray = optima.actions.distinct @ self.mean
        if len(optima.members) == len(of_cells) and of_cells.all():  # nothing ties: each cell is a group
            self.cell = self.group = np.arange(len(of_cells))
            self.support, self.share, self.probability = optima.members, np.ones(len(of_cells)), of_cells
            return
        self.cell, action, self.share = self._resolved(of_cells, self.mean if exact_mean is None else exact_mean)
        self.support, self.group = np.unique(action, return_inverse=True)
        self.probability = np.bincount(self.group, of_cells[self.cell] * self.share).astype(np.float64, copy=False)

    @cached_property
    def _sums(self) -> FloatArray:
        """Σ w θ over each cell: the values of compressed rows if the draws are sparse, else of shape ``(C, d)``."""
        optima, sorted_weights = self.optima, self.weights[self.optima.order]
        if optima.rows is not None:
            return optima.grouped.sums(sorted_weights)
        shape = (len(optima.starts) - 1, len(sorted_weights))
        return np.asarray(csr_array((sorted_weights, optima.order, optima.starts), shape=shape) @ optima.theta)

    def _resolved(self, of_cells: FloatArray, mean: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return cell, action and share of each pair, in the order of actions, for cells that have any weight."""
        optima = self.optima
        sizes = np.diff(optima.member_starts)
        cell = np.repeat(np.arange(len(sizes)), sizes)
        kept = of_cells[cell] > 0  # weights may underflow
        if len(optima.members) > len(sizes):  # some cells have several actions
            found = (self.predictions if mean is self.mean else optima.actions.distinct @ mean)[optima.members]
            error = np.full(len(found), ROUNDING * float(np.abs(mean) @ optima.actions.reach))
            if self._sampled:
                error += ERRORS * self._errors()[optima.members]
            largest = np.maximum.reduceat(found - error, optima.member_starts[:-1])
            kept &= found + error >= largest[cell]
        cell, action = cell[kept], optima.members[kept]
        share = 1.0 / np.bincount(cell, minlength=len(sizes))[cell]
        order = np.argsort(action, kind="stable")
        return cell[order], action[order], share[order]

    def _errors(self) -> FloatArray:
        """Return the Monte Carlo error of each distinct action's mean compared with the leader's.

        From the variance of each coefficient; their covariances are left out, which would take too long.
        """
        optima = self.optima
        if optima.rows is not None:
            squares = optima.grouped.squares(self.weights[optima.order], len(self.mean))
        else:
            squares = self.weights @ (optima.theta * optima.theta)
        variances = np.maximum(squares - self.mean * self.mean, 0.0) * float(self.weights @ self.weights)
        distinct = optima.actions.distinct
        apart = distinct - distinct[self.predictions.argmax()]
        return np.asarray(np.sqrt((apart * apart) @ variances))

    @cached_property
    def compressed(self) -> "Rows":
        """E[θ | x* = g] of each group as compressed rows, in which a column may occur more than once."""
        from sparsebandits.posteriors.kernels.sparse_draws import Rows

        grouped = self.optima.grouped
        lengths = np.diff(grouped.starts)[self.cell]
        each_a_group = len(self.cell) == len(grouped.starts) - 1 == len(self.support)
        if each_a_group and np.array_equal(self.cell, np.arange(len(self.cell))):  # in the same order
            return Rows(grouped.starts, grouped.columns, self._sums / np.repeat(self.probability, lengths))
        ends = np.cumsum(lengths)
        entry = np.arange(ends[-1]) + np.repeat(grouped.starts[self.cell] - (ends - lengths), lengths)
        share, probability = np.repeat(self.share, lengths), np.repeat(self.probability[self.group], lengths)
        starts = np.concatenate(([0], np.cumsum(np.bincount(self.group, lengths)))).astype(np.int64)
        # Dividing last: a probability may be so small that its inverse overflows.
        return Rows(starts, grouped.columns[entry], share * self._sums[entry] / probability)

    def conditional_mean(self) -> FloatArray:
        """Return E[θ | x* = g], shape ``(G, d)``."""
        groups, dimension = len(self.support), len(self.mean)
        if self.optima.rows is None:
            starts = np.concatenate(([0], np.cumsum(np.bincount(self.group))))
            sums = csr_array((self.share, self.cell, starts), shape=(groups, len(self._sums))) @ self._sums
            return np.asarray(sums / self.probability[:, np.newaxis])
        starts, columns, values = self.compressed
        places = np.repeat(np.arange(groups), np.diff(starts)) * dimension + columns
        dense: FloatArray = np.bincount(places, values, groups * dimension).astype(np.float64, copy=False)
        return dense.reshape(groups, dimension)

    def moments(self, centre: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return what :meth:`variances` and :meth:`reward_variances` do, from predictions where these are kept.

        If rounding in single precision would be visible, both are computed in double precision instead.

        Parameters
        ----------
        centre : array of shape (d,), optional
            What actions are compared with; zero by default.

        Returns
        -------
        between, total : arrays of shape (U,)
            Both variances, to four digits.
        """
        optima, kept = self.optima, self.optima.kept
        if kept is None:
            return self.variances(centre), self.reward_variances(centre)
        from sparsebandits.posteriors.kernels.sparse_draws import moments_of_predictions, products

        precision, shift, weights = kept.predictions.dtype, self.mean - kept.reference, self.weights[optima.order]
        mean, offset = optima.actions.distinct @ shift, np.zeros(len(weights))
        if centre is not None:
            mean = mean - float(centre @ shift)
            offset = (products(optima.rows, centre) - float(centre @ kept.reference))[optima.order]
            if precision == np.float32 and float(np.abs(offset).max()) > SINGLE_REACH[1]:
                return self.variances(centre), self.reward_variances(centre)
        by_cell = np.argsort(self.cell, kind="stable")
        between, total = moments_of_predictions(
            kept.predictions,
            offset.astype(precision),
            weights.astype(precision),
            optima.starts,
            np.searchsorted(self.cell[by_cell], np.arange(len(optima.starts))),
            self.group[by_cell],
            self.share[by_cell],
            self.probability,
            mean,
        )
        least = np.maximum(VISIBLE[0] * float(weights @ (offset * offset)), VISIBLE[1] * mean * mean)
        if precision == np.float32 and (total < least).any():
            return self.variances(centre), self.reward_variances(centre)
        return between, total

    def variances(self, centre: FloatArray | None = None) -> FloatArray:
        """Return Σ_g P(g) ⟨a − centre, E[θ | x* = g] − E θ⟩² of each distinct action, shape ``(U,)``.

        Parameters
        ----------
        centre : array of shape (d,), optional
            What actions are compared with; zero by default.

        Returns
        -------
        array of shape (U,)
            How much the mean reward of each action depends on which action is best.
        """
        actions = self.optima.actions
        if self.optima.rows is not None:
            rows = self.compressed
            if len(rows.values) <= MOSTLY_ZERO * len(self.support) * len(self.mean):  # means of many draws: few zeros
                return self._spreads(rows, self.probability, centre)
        deviations = self.conditional_mean() - self.mean
        products = deviations @ actions.distinct.T
        if centre is not None:
            products -= (deviations @ centre)[:, np.newaxis]
        return np.asarray(self.probability @ (products * products))

    def _spreads(self, rows: "Rows", weights: FloatArray, centre: FloatArray | None) -> FloatArray:
        """Return Σ_g weights[g] ⟨a − centre, row g − E θ⟩² of each distinct action, shape ``(U,)``."""
        from sparsebandits.posteriors.kernels.sparse_draws import spreads

        offset = np.zeros(len(weights))
        if centre is not None:
            of_entries = rows.values * centre[rows.columns]
            offset = np.add.reduceat(np.append(of_entries, 0.0), np.minimum(rows.starts[:-1], len(of_entries)))
            offset = np.where(np.diff(rows.starts) > 0, offset, 0.0) - float(centre @ self.mean)
        return spreads(rows, weights, self.predictions, offset, self.optima.actions.panels, len(self.mean))

    def reward_variances(self, centre: FloatArray | None = None) -> FloatArray:
        """Return Var⟨a − centre, θ⟩ of each distinct action over the draws, shape ``(U,)``.

        For many actions with many features it is estimated from some of the draws, to within 6% or so.

        Parameters
        ----------
        centre : array of shape (d,), optional
            What actions are compared with; zero by default.

        Returns
        -------
        array of shape (U,)
            Variance of the mean reward of each action.
        """
        optima = self.optima
        if optima.rows is not None:
            from sparsebandits.posteriors.kernels.sparse_draws import compressed, second_moments

            if optima.actions.distinct.size * len(self.mean) > MOST_PRODUCTS:
                draws, shares = self._representatives()
                return self._spreads(compressed(optima.theta[draws]), shares, centre)
            moments = second_moments(optima.rows, self.weights, len(self.mean))
        else:
            moments = (optima.theta.T * self.weights) @ optima.theta
        x = optima.actions.distinct if centre is None else optima.actions.distinct - centre
        means = x @ self.mean
        return np.asarray(np.maximum(np.einsum("kj,kj->k", x @ moments, x) - means * means, 0.0))

    def _representatives(self) -> tuple[IntArray, FloatArray]:
        """Return some draws, and weights for them, by which variances of rewards can be estimated without bias.

        A draw is picked in proportion to its weight times its part of the mean variance, half by half with the weight
        alone, so that few draws far out are among them. They are picked at even steps, not at random.
        """
        optima, mean = self.optima, self.mean
        assert optima.rows is not None
        starts, columns, values = optima.rows
        scale = optima.actions.mean_squares
        draw = np.repeat(np.arange(len(self.weights)), np.diff(starts))
        apart = np.bincount(draw, scale[columns] * values * (values - 2.0 * mean[columns]), len(self.weights))
        size = np.maximum(apart + float(scale @ (mean * mean)), 0.0)
        part = self.weights * (size + float(self.weights @ size))
        total = np.cumsum(part)
        if not total[-1] > 0.0:  # all draws are equal
            return np.zeros(1, dtype=np.intp), np.ones(1)
        picked = np.searchsorted(total, total[-1] * (np.arange(REPRESENTATIVES) + 0.5) / REPRESENTATIVES)
        draws, counts = np.unique(np.minimum(picked, len(part) - 1), return_counts=True)
        return draws, counts / REPRESENTATIVES * self.weights[draws] / (part[draws] / total[-1])

    @cached_property
    def noise_share(self) -> float:
        """Σ_g P(g) / n_g, with n_g the effective number of draws in group g: the noise in v as a share of Var⟨a, θ⟩."""
        optima = self.optima
        squares = np.add.reduceat((self.weights * self.weights)[optima.order], optima.starts[:-1])
        return float((squares[self.cell] * self.share * self.share / self.probability[self.group]).sum())

    def draws(self) -> tuple[IntArray, FloatArray, IntArray]:
        """Return draws, weights and groups, in which a draw occurs once for each group that it has a share of."""
        if len(self.cell) == len(self.optima.starts) - 1:
            group = np.empty(len(self.cell), dtype=np.intp)
            group[self.cell] = self.group
            return np.arange(len(self.weights)), self.weights, group[self.optima.cell]
        lengths = np.diff(self.optima.starts)[self.cell]
        ends = np.cumsum(lengths)
        place = np.arange(ends[-1]) + np.repeat(self.optima.starts[self.cell] - (ends - lengths), lengths)
        draw = self.optima.order[place]
        return draw, self.weights[draw] * np.repeat(self.share, lengths), np.repeat(self.group, lengths)

    def row_probability(self) -> FloatArray:
        """Return P(x* = a) of each row, shape ``(K,)``; equal rows share the probability of their action."""
        actions = self.optima.actions
        probability = np.zeros(len(actions.distinct))
        probability[self.support] = self.probability
        return np.asarray((probability / actions.copies)[actions.number])

    def row_under(self, draw: int, rng: Generator) -> int:
        """Return x* under one of the draws as a row; actions that share the draw, and equal rows, are equally likely.

        Parameters
        ----------
        draw : int
            Number of the draw.
        rng : Generator
            Source of randomness, which is used only if there are several.

        Returns
        -------
        int
            The row.
        """
        shared = self.support[self.group[self.cell == self.optima.cell[draw]]]
        action = shared[rng.integers(len(shared))] if len(shared) > 1 else shared[0]
        rows = np.flatnonzero(self.optima.actions.number == action)
        return int(rows[rng.integers(len(rows))] if len(rows) > 1 else rows[0])
