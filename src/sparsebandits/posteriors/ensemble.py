"""What moves are about: members with θ, γ and hyperparameters, and the data as sums.

With a point-mass spike θ is in compressed rows, and γ says which entries there are; otherwise both are dense.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.layouts import wrong
from sparsebandits.model.counts import Counts
from sparsebandits.model.evidence import Evidence
from sparsebandits.posteriors.rows import Rows

WEAK = 1e5
"""Squared signal, in noise variances, up to which X'X may be in single precision in sweeps over models."""

WIDE = 4000
"""Number of features above which X'X is in single precision for sweeps over models: a matrix of 128 MB in double."""


class Sums:
    """Sufficient statistics, in which the last observation may count in part.

    Parameters
    ----------
    evidence : Evidence
        All observations but the last.
    x, y : array of shape (d,) and float, optional
        The last observation.
    weight : float, default=0.0
        What it counts, its own weight times the part of it that counts.
    part : float, default=0.0
        That part.

    Attributes
    ----------
    moment : array of shape (d,)
        X'y.
    squares : array of shape (d,)
        Diagonal of X'X.
    square : float
        y'y.
    count : float
        n.
    """

    def __init__(
        self, evidence: Evidence, x: FloatArray | None = None, y: float = 0.0, weight: float = 0.0, part: float = 0.0
    ) -> None:
        self._evidence: Evidence | None = evidence
        self._row = None if x is None or weight == 0.0 else math.sqrt(weight) * x
        further = 0.0 if self._row is None or x is None else x
        self.moment: FloatArray = evidence.moment + weight * y * further
        self.squares: FloatArray = evidence.squares + weight * (further * further)
        self.square = evidence.square + weight * y * y
        self.count = evidence.count + part

    @classmethod
    def given(cls, gram: FloatArray, moment: FloatArray, square: float) -> "Sums":
        """Return sums that are already known.

        Parameters
        ----------
        gram : array of shape (d, d)
            X'X.
        moment : array of shape (d,)
            X'y.
        square : float
            y'y.

        Returns
        -------
        Sums
        """
        sums = cls.__new__(cls)
        sums._evidence, sums.moment, sums.square, sums.count = None, moment, square, 0
        sums.squares = np.maximum(np.diag(gram), 0.0)  # rounding may leave a constant column below zero
        sums.__dict__["gram"] = gram
        return sums

    @classmethod
    def of_counts(cls, counts: Counts) -> "Sums":
        """Return Σ n x x', Σ n x and Σ n over the distinct rows of clicks or counts.

        Parameters
        ----------
        counts : Counts
            The rows, with their trials n.

        Returns
        -------
        Sums
            Those of rewards that are all one.
        """
        weighted = counts.rows.T * counts.trials
        return cls.given(weighted @ counts.rows, weighted.sum(axis=1), float(counts.trials.sum()))

    @cached_property
    def gram(self) -> FloatArray:
        """X'X, shape ``(d, d)``, in C order."""
        assert self._evidence is not None
        gram: FloatArray = self._evidence.gram_with(self._row)
        return gram

    def gram_for_models(self, signal: float) -> Any:
        """Return X'X for sweeps over models, in single precision where double would fill the memory.

        Parameters
        ----------
        signal : float
            How many noise variances rewards and predictions may have, squared; above ``WEAK``, rounding would show.

        Returns
        -------
        array of shape (d, d)
        """
        within = 1e-30 < float(self.squares.max()) < 1e30
        if self._evidence is None or len(self.squares) <= WIDE or signal > WEAK or not within:
            return self.gram
        return self._narrow_gram

    @cached_property
    def _narrow_gram(self) -> Any:
        assert self._evidence is not None
        return self._evidence.gram_with(self._row, np.float32)

    @cached_property
    def neighbours(self) -> IntArray:
        """The most correlated coordinates of each, by X'X."""
        from sparsebandits.posteriors.kernels.collapsed import correlated_neighbours

        narrow = "_narrow_gram" in vars(self) and "gram" not in vars(self)
        found: IntArray = correlated_neighbours(self._narrow_gram if narrow else self.gram)
        return found

    def scaled(self, units: FloatArray, single: bool) -> tuple[Any, Any]:
        """Return X'X and X'y for coefficients in some units, both in single or double precision."""
        precision = np.float32 if single else np.float64
        if self._evidence is None:
            gram = (self.gram * units * units[:, np.newaxis]).astype(precision)
            return gram, (self.moment * units).astype(precision)
        gram = self._evidence.gram_with(self._row, precision, units)
        return gram, (self.moment * units).astype(precision)


@dataclass(eq=False)
class Ensemble:
    """Particles or chains, one member per row.

    Attributes
    ----------
    coefficients : Rows or array of shape (M, d)
        Coefficients θ: compressed rows with a point-mass spike, otherwise dense.
    included : bool array of shape (M, d) or None
        γ: whether each coordinate is in the slab; None where that is whether the row has an entry.
    beta : array of shape (M,) or None
        Inclusion probability, if it is learnt.
    slab_variances : array of shape (M,) or None
        V, if it is learnt.
    noise_variances : array of shape (M,) or None
        σ², if it is learnt.
    intercepts : array of shape (M,) or None
        α, if rewards are clicks or counts and have one; for Gaussian rewards it is integrated out.
    """

    coefficients: Rows | FloatArray
    included: NDArray[np.bool_] | None
    beta: FloatArray | None
    slab_variances: FloatArray | None
    noise_variances: FloatArray | None
    intercepts: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.coefficients)

    @property
    def rows(self) -> Rows:
        """θ as compressed rows, where the spike is a point mass."""
        assert isinstance(self.coefficients, Rows)
        return self.coefficients

    @property
    def theta(self) -> FloatArray:
        """θ, shape ``(M, d)``; with a point mass, a read-only array that is made when it is first asked for."""
        return self.coefficients.dense if isinstance(self.coefficients, Rows) else self.coefficients

    @property
    def inside(self) -> NDArray[np.bool_]:
        """γ, shape ``(M, d)``."""
        return self.theta != 0 if self.included is None else self.included

    def learnt(self) -> dict[str, FloatArray]:
        """Return the hyperparameters that are learnt, by the names of the arguments that set them."""
        named = {
            "inclusion": self.beta,
            "slab_variance": self.slab_variances,
            "noise_variance": self.noise_variances,
        }
        return {name: values for name, values in named.items() if values is not None}

    def products(self, x: FloatArray) -> FloatArray:
        """Return ⟨x, θ⟩ of each member."""
        return self.coefficients.products(x) if isinstance(self.coefficients, Rows) else self.coefficients @ x

    def etas(self, x: FloatArray) -> FloatArray:
        """Return α + ⟨x_u, θ⟩ of each member for several rows, shape ``(M, U)``."""
        found = self.coefficients.many_products(x) if isinstance(self.coefficients, Rows) else self.coefficients @ x.T
        return found if self.intercepts is None else found + self.intercepts[:, np.newaxis]

    def take(self, members: IntArray) -> "Ensemble":
        """Return copies of some members."""
        rows = self.coefficients
        taken: dict[str, Any] = {name: None if v is None else v[members] for name, v in self._others()}
        return Ensemble(rows.take(members) if isinstance(rows, Rows) else rows[members], **taken)

    def copy(self) -> "Ensemble":
        """Return a copy of all members."""
        return self.take(np.arange(len(self)))

    def distinct(self) -> int:
        """Return how many different θ there are."""
        if isinstance(self.coefficients, Rows):
            return self.coefficients.distinct()
        return len(np.unique(self.coefficients, axis=0))

    def column_moments(self) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Return mean and squared standard error of inclusions, and of coefficients, each of shape ``(d,)``."""
        size = len(self)
        if isinstance(self.coefficients, Rows):
            (inside, mean), (of_inside, of_mean) = self.coefficients.moments()
            return (inside, of_inside / size), (mean, of_mean / size)
        included = self.inside.astype(np.float64)
        return (
            (included.mean(axis=0), included.var(axis=0) / size),
            (self.theta.mean(axis=0), self.theta.var(axis=0) / size),
        )

    def state(self) -> dict[str, Any]:
        """Return the members as arrays by name."""
        rows = self.coefficients
        named = {"rows": rows.state(), "theta": None} if isinstance(rows, Rows) else {"rows": None, "theta": rows}
        return named | {name: value for name, value in self._others() if name != "intercepts" or value is not None}

    @classmethod
    def restored(cls, found: Mapping[str, Any], dimension: int) -> "Ensemble":
        """Return the members whose :meth:`state` has been read by its layout.

        Parameters
        ----------
        found : mapping
            The state.
        dimension : int
            Number of features d.

        Returns
        -------
        Ensemble
            The members.

        Raises
        ------
        SaveFileError
            If there are no coefficients, or if rows are not as they should be.
        """
        others = {name: value for name, value in found.items() if name not in ("rows", "theta")}
        dense = found["theta"] is not None
        if dense is (found["rows"] is not None) or dense is not (found["included"] is not None):
            raise wrong("particles", "rows, or theta and included", "both or neither")
        return cls(found["theta"] if dense else Rows.restored(found["rows"], dimension), **others)

    def _others(self) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in vars(self).items() if name != "coefficients"]


def joined(parts: Sequence[Ensemble]) -> Ensemble:
    """Return the members of several ensembles.

    Parameters
    ----------
    parts : sequence of Ensemble
        Ensembles of one kind.

    Returns
    -------
    Ensemble
        All members, one part after the other.
    """
    names = [name for name in vars(parts[0]) if name != "coefficients" and getattr(parts[0], name) is not None]
    others: dict[str, Any] = dict.fromkeys(name for name in vars(parts[0]) if name != "coefficients")
    others |= {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    if isinstance(parts[0].coefficients, Rows):
        return Ensemble(Rows.joined([part.rows for part in parts]), **others)
    return Ensemble(np.concatenate([part.theta for part in parts]), **others)
