"""x* under weighted draws: its distribution, and how much rewards depend on it.

:class:`~sparsebandits.rules.optima.Optima` has the draws in cells, one for each set of actions that tie; here weights
make groups of them, one for each action that x* may be. Where predictions of the draws are kept, one pass over them
gives Var(E[⟨a, θ⟩ | x*]) and Var⟨a, θ⟩ of every action; otherwise both come from the nonzero coefficients of groups and
draws, or from matrix products.
"""

from functools import cached_property

import numpy as np
import scipy  # scipy.sparse, which is slow to import, is loaded on first use
from numpy.random import Generator

from sparsebandits.arguments import FloatArray, IntArray, frozen
from sparsebandits.posteriors.rows import Rows
from sparsebandits.rules.optima import BLOCK, ROUNDING, Kept, Optima, power_above

MOST_PRODUCTS = 200_000_000
"""Number of products, K d² or G K d, above which variances are computed in single precision from nonzero coefficients,
and those of rewards from some of the draws: they would take longer than all the rest of a decision."""

REPRESENTATIVES = 512
"""Number of draws that are picked for that."""

VISIBLE = 1e-6
"""A variance below this share of the squared offset of the draws is computed in double precision: single precision has
seven digits, and the difference of two numbers has fewer."""

ERRORS = 2.0
"""Standard errors that each of two means may be off, for them to count as equal."""


def _cells_of_members(starts: IntArray) -> tuple[IntArray, IntArray]:
    """Return how many members each cell has, and the cell of each member."""
    sizes = np.diff(starts)
    return sizes, np.repeat(np.arange(len(sizes)), sizes)


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
    exact : bool, default=False
        Whether the draws are all values that θ may have, so that nothing here has a Monte Carlo error.

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
    expected_value : float
        E max_b ⟨b, θ⟩.
    square : float
        Σ w², the inverse of the effective number of draws; zero if the draws are exact.
    """

    def __init__(
        self,
        optima: Optima,
        weights: FloatArray,
        exact_mean: FloatArray | None = None,
        sampled: bool = False,
        exact: bool = False,
    ) -> None:
        self.optima, self.weights, self._sampled, self.exact = optima, weights, sampled and not exact, exact
        of_cells = self._add_up(optima, weights)
        if exact:
            self.square = 0.0
        self.mean: FloatArray = self._mean()
        self.predictions: FloatArray = optima.actions.distinct @ self.mean
        if len(optima.members) == len(of_cells) and of_cells.all():  # nothing ties: each cell is a group
            self.cell = self.group = np.arange(len(of_cells))
            self.support, self.share, self.probability = optima.members, np.ones(len(of_cells)), of_cells
            return
        self.cell, action, self.share = self._resolved(of_cells, self.mean if exact_mean is None else exact_mean)
        self.support, self.group = np.unique(action, return_inverse=True)
        self.probability = np.bincount(self.group, of_cells[self.cell] * self.share).astype(np.float64, copy=False)

    @property
    def from_predictions(self) -> bool:
        """Whether :meth:`moments` has both variances from predictions of the draws, which are kept."""
        return self.optima.kept is not None

    def _mean(self) -> FloatArray:
        """Return E θ; from sums over cells where these are needed anyway."""
        optima = self.optima
        if optima.rows is None:
            return np.asarray(self._sums.sum(axis=0))
        if optima.kept is not None and optima.kept.every > 1:
            found = np.bincount(optima.grouped.columns, self._sums, optima.rows.dimension)
            return found.astype(np.float64, copy=False)
        return optima.rows.mean(frozen(self.weights))

    def _add_up(self, optima: Optima, weights: FloatArray) -> FloatArray:
        """Set what is summed over all draws; return the weight of each cell."""
        if optima.rows is not None:
            from sparsebandits.posteriors.kernels.choosing import sums_of_cells  # compiled code, as elsewhere here

            found = sums_of_cells(frozen(weights), optima.order, optima.starts, optima.value)
            of_cells, self._squares, self.expected_value, self.square, self._ordered = found
            return np.asarray(of_cells)
        ordered = weights[optima.order]
        self._squares = np.add.reduceat(ordered * ordered, optima.starts[:-1])
        self.expected_value, self.square = float(weights @ optima.value), float(weights @ weights)
        return np.asarray(np.add.reduceat(ordered, optima.starts[:-1]))

    @cached_property
    def _sums(self) -> FloatArray:
        """Σ w θ over each cell: the values of compressed rows if the draws are sparse, else of shape ``(C, d)``."""
        optima, sorted_weights = self.optima, self.weights[self.optima.order]
        if optima.rows is not None:
            return optima.grouped.sums(sorted_weights)
        assert not isinstance(optima.source, Rows)
        shape = (len(optima.starts) - 1, len(sorted_weights))
        return np.asarray(
            scipy.sparse.csr_array((sorted_weights, optima.order, optima.starts), shape=shape) @ optima.source
        )

    def _resolved(self, of_cells: FloatArray, mean: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return cell, action and share of each pair, in the order of actions, for cells that have any weight."""
        optima = self.optima
        sizes, cell = optima.remembered("cells of members", lambda: _cells_of_members(optima.member_starts))
        kept = of_cells[cell] > 0  # weights may underflow
        if len(optima.members) > len(sizes):  # some cells have several actions
            found, error = self._compared(mean)
            largest = np.maximum.reduceat(found - error, optima.member_starts[:-1])
            kept &= found + error >= largest[cell]
        cell, action = cell[kept], optima.members[kept]
        share = 1.0 / np.bincount(cell, minlength=len(sizes))[cell]
        order = np.argsort(action, kind="stable")
        return cell[order], action[order], share[order]

    def _compared(self, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what actions that tie are compared by, and by how much it may be off, as ``optima.members``."""
        optima = self.optima
        found = (self.predictions if mean is self.mean else optima.actions.distinct @ mean)[optima.members]
        error = np.full(len(found), ROUNDING * float(np.abs(mean) @ optima.actions.reach))
        return found, error + ERRORS * self._errors() if self._sampled else error

    def _errors(self) -> FloatArray:
        """Return the Monte Carlo error of each tied action's mean compared with the leader's, as ``optima.members``.

        From the variance of each coefficient; their covariances are left out, which would take too long.
        """
        optima = self.optima
        if optima.rows is not None:
            squares = optima.grouped.squares(self.weights[optima.order], len(self.mean))
        else:
            assert not isinstance(optima.source, Rows)
            squares = self.weights @ (optima.source * optima.source)
        variances = np.maximum(squares - self.mean * self.mean, 0.0) * self.square
        tied, place = optima.remembered("members", lambda: np.unique(optima.members, return_inverse=True))
        distinct, found = optima.actions.distinct, np.empty(len(tied))
        leader = distinct[self.predictions.argmax()]
        for start in range(0, len(tied), BLOCK):
            apart = distinct[tied[start : start + BLOCK]] - leader
            found[start : start + BLOCK] = np.sqrt((apart * apart) @ variances)
        return np.asarray(found[place])

    @cached_property
    def compressed(self) -> Rows:
        """E[θ | x* = g] of each group as compressed rows; columns ascend only where nothing ties."""
        grouped, dimension = self.optima.grouped, len(self.mean)
        lengths = np.diff(grouped.starts)[self.cell]
        each_a_group = len(self.cell) == len(grouped.starts) - 1 == len(self.support)
        if each_a_group and np.array_equal(self.cell, np.arange(len(self.cell))):  # in the same order
            values = self._sums / np.repeat(self.probability, lengths)
            return Rows(grouped.starts[:-1], grouped.starts[1:], grouped.columns, values, dimension)
        ends = np.cumsum(lengths)
        entry = np.arange(ends[-1]) + np.repeat(grouped.starts[self.cell] - (ends - lengths), lengths)
        share, probability = np.repeat(self.share, lengths), np.repeat(self.probability[self.group], lengths)
        starts = np.concatenate(([0], np.cumsum(np.bincount(self.group, lengths)))).astype(np.int64)
        # Dividing last: a probability may be so small that its inverse overflows.
        values = share * self._sums[entry] / probability
        place = np.repeat(np.arange(len(self.support)), np.diff(starts)) * dimension + grouped.columns[entry]
        once, which = np.unique(place, return_inverse=True)  # cells of a group may have columns in common
        merged = np.bincount(which, values).astype(np.float64, copy=False)
        bounds = np.searchsorted(once, np.arange(len(self.support) + 1) * dimension)
        return Rows(bounds[:-1], bounds[1:], (once % dimension).astype(np.int32), merged, dimension)

    def conditional_mean(self) -> FloatArray:
        """Return E[θ | x* = g], shape ``(G, d)``."""
        groups, dimension = len(self.support), len(self.mean)
        if self.optima.rows is None:
            starts = np.concatenate(([0], np.cumsum(np.bincount(self.group))))
            sums = scipy.sparse.csr_array((self.share, self.cell, starts), shape=(groups, len(self._sums))) @ self._sums
            return np.asarray(sums / self.probability[:, np.newaxis])
        rows = self.compressed
        columns, values = rows.columns, rows.values
        places = np.repeat(np.arange(groups), rows.counts) * dimension + columns
        dense: FloatArray = np.bincount(places, values, groups * dimension).astype(np.float64, copy=False)
        return dense.reshape(groups, dimension)

    def moments(self, centre: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return what :meth:`variances` and :meth:`reward_variances` do, from predictions where these are kept.

        Parameters
        ----------
        centre : array of shape (d,), optional
            What actions are compared with; zero by default.

        Returns
        -------
        between, total : arrays of shape (U,)
            Both variances. Those from predictions are in single precision: right to four digits, or to a millionth of
            the largest.
        """
        if self.optima.kept is None:
            return self.variances(centre), self.reward_variances(centre)
        if self.optima.kept.every > 1:
            return self.variances(centre), self._thin_variances(self.optima.kept, centre)
        found = self.moments_of(self.optima.kept, slice(None), centre)
        if centre is not None and (found[1] < VISIBLE * self._squared_offset(centre)).any():
            return self.variances(centre), self.reward_variances(centre)
        return found

    def _thin_variances(self, kept: Kept, centre: FloatArray | None) -> FloatArray:
        """Return Var⟨a − centre, θ⟩ of each distinct action from the predictions of some of the draws."""
        from sparsebandits.posteriors.kernels.panels import moments_of_predictions

        some, single = np.arange(0, len(self.weights), kept.every), np.float32
        weights, offset = self.weights[some], np.zeros(len(some), single)
        weights = weights / weights.sum()
        if centre is not None:
            assert self.optima.rows is not None
            products = self.optima.rows.take(some).products(centre)
            offset = ((products - float(centre @ self.mean)) / kept.scale).astype(single)
        one = np.array([0, len(some)]), np.array([0, 1]), np.array([0]), np.ones(1), np.ones(1)
        mean = ((self.predictions - kept.means) / kept.scale).astype(single)
        found = moments_of_predictions(kept.predictions, offset, weights.astype(single), *one, mean)
        fewer = (1.0 - self.square) / (1.0 - float(weights @ weights))  # as all draws would have it
        return np.asarray(found[1] * (fewer * kept.scale**2))

    def _squared_offset(self, centre: FloatArray) -> float:
        assert self.optima.rows is not None
        offset = self.optima.rows.products(centre) - float(centre @ self.mean)
        return float(self.weights @ (offset * offset))

    def moments_of(
        self, kept: Kept, actions: slice | IntArray, centre: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return both variances of some distinct actions from predictions that are kept.

        Parameters
        ----------
        kept : Kept
            Predictions for these actions.
        actions : slice or int array
            The actions.
        centre : array of shape (d,), optional
            What actions are compared with; zero by default.

        Returns
        -------
        between, total : arrays, one entry per action
            Both variances, in single precision.
        """
        from sparsebandits.posteriors.kernels.panels import moments_of_predictions

        optima = self.optima
        assert optima.rows is not None
        order, single = optima.order, np.float32
        offset = np.zeros(len(order), single)
        if centre is not None:
            offset = ((optima.rows.products(centre)[order] - float(centre @ self.mean)) / kept.scale).astype(single)
        between, total = moments_of_predictions(
            kept.predictions,
            offset,
            self._ordered,
            optima.starts,
            *self._pairs,
            self.probability,
            ((self.predictions[actions] - kept.means) / kept.scale).astype(single),
        )
        return between * kept.scale**2, total * kept.scale**2

    @property
    def _pairs(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Where the pairs of each cell start, and group and share of each pair, in the order of cells."""
        cells = len(self.optima.starts) - 1
        if self.cell is self.group:  # each cell is a group
            return np.arange(cells + 1), self.group, self.share
        by_cell = np.argsort(self.cell, kind="stable")
        return np.searchsorted(self.cell[by_cell], np.arange(cells + 1)), self.group[by_cell], self.share[by_cell]

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
        if self.optima.rows is not None and len(self.support) * actions.distinct.size > MOST_PRODUCTS:
            return self._spreads(self.compressed, self.probability, centre)
        deviations = self.conditional_mean() - self.mean
        products = deviations @ actions.distinct.T
        if centre is not None:
            products -= (deviations @ centre)[:, np.newaxis]
        return np.asarray(self.probability @ (products * products))

    def _spreads(self, rows: Rows, weights: FloatArray, centre: FloatArray | None) -> FloatArray:
        """Return Σ_g weights[g] ⟨a − centre, row g − E θ⟩² of each distinct action, shape ``(U,)``."""
        from sparsebandits.posteriors.kernels.panels import weighted_squares
        from sparsebandits.posteriors.kernels.rows import sizes_of_terms

        actions, single = self.optima.actions, np.float32
        mean, apart, rest = rows.apart()
        panels, start = actions.panels, self.predictions - actions.distinct @ (mean - rest)
        offset = np.zeros(len(weights)) if centre is None else rows.products(centre) - float(centre @ self.mean)
        terms = sizes_of_terms((*rows.arrays[:3], apart), actions.reach).max() + np.abs(offset).max()
        scale = power_above(float(terms) + float(np.abs(start).max()))
        found = weighted_squares(
            (*rows.arrays[:3], (apart * (panels.units / scale)[rows.columns]).astype(single)),
            weights.astype(single),
            panels.padded(start / scale),
            (offset / scale).astype(single),
            panels.single,
            len(actions.distinct),
        )
        return np.asarray(found * scale**2)

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
            if optima.actions.distinct.size * len(self.mean) > MOST_PRODUCTS:
                draws, shares = self._representatives()
                return self._spreads(optima.rows.take(draws), shares, centre)
            from sparsebandits.posteriors.kernels.rows import second_moments

            moments = second_moments(optima.rows.arrays, frozen(self.weights), len(self.mean))
        else:
            assert not isinstance(optima.source, Rows)
            moments = (optima.source.T * self.weights) @ optima.source
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
        draw, columns, values = optima.rows.entries()
        scale = optima.actions.mean_squares
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
        """Σ_g P(g) / n_g, with n_g the effective number of draws in group g: the noise in v as a share of Var⟨a, θ⟩.

        Zero if the draws are exact.
        """
        if self.exact:
            return 0.0
        if self.cell is self.group:  # each cell is a group
            return float((self._squares / self.probability).sum())
        return float((self._squares[self.cell] * self.share**2 / self.probability[self.group]).sum())

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
        if actions.distinct is actions.features:
            return probability
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
