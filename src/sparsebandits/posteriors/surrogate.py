"""Moves for clicks and counts: sweeps under a Gaussian likelihood, corrected to leave the exact posterior unchanged.

Surrogate transition (Liu 2001, *Monte Carlo Strategies in Scientific Computing*, §9.4.3). Let L be the likelihood and L̃
a Gaussian one near it. A sweep of ``moves.py`` that is reversible for the posterior under L̃ proposes θ', which each
member accepts with probability

    min(1, [L(θ') / L̃(θ')] / [L(θ) / L̃(θ)]).

A sweep through the coordinates in some order is not reversible, but a sweep or its reverse, with equal probabilities,
is. Each member tosses a coin of its own. (For one member a random order would do as well. But all members have the same
order, and the error that they have in common would not vanish as their number grows.)

L̃ has, for each distinct row x_u of features with s_u successes in n_u trials, the quadratic log likelihood

    g_u (η − η̄_u) − ½ ω_u (η − η̄_u)²,

where η̄_u, g_u and ω_u are averages of η, of the score and of the information over the members. (An expansion at the
posterior mean is accepted far less often where the posterior is wide.) The intercept α ~ N(0, v), if there is one, is
integrated out of L̃, and drawn given θ' afterwards: with W = Σ ω_u,

    α | θ ~ N(Σ ω_u (z_u − ⟨x_u, θ⟩) / (W + 1/v), 1 / (W + 1/v)),   z_u = η̄_u + g_u / ω_u.

The averages are those of the members before the move. So members depend on each other, by a share that vanishes as
their number grows, as in every adaptive sequential sampler.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray
from sparsebandits.model.counts import Counts
from sparsebandits.model.families import FARTHEST, Linked
from sparsebandits.posteriors.ensemble import Ensemble, Sums, joined
from sparsebandits.posteriors.moves import Sweep
from sparsebandits.posteriors.rows import Rows

BLOCK = 2**18
"""Number of predictions that are computed at a time."""

LEAST = 1e-9
"""Smallest information of a row, as a share of its trials: rows that say nothing have none."""


class Surrogate:
    """A Gaussian likelihood near that of clicks or counts, and moves by it.

    Parameters
    ----------
    family : Linked
        Family of the rewards.
    counts : Counts
        The data.
    members : Ensemble
        Members whose averages it has.

    Attributes
    ----------
    sums : Sums
        What sweeps take: the sufficient statistics of L̃, with α integrated out.
    accepted : float
        Share of the members that accepted the last proposal.
    """

    def __init__(self, family: Linked, counts: Counts, members: Ensemble) -> None:
        self._family, self._counts = family, counts
        self._centre, self._gradient, self._information = self._averages(members)
        x, weights = counts.rows, self._information
        response = self._centre + self._gradient / weights
        moment, gram = (weights * response) @ x, (x.T * weights) @ x
        self._pull, self._total, self._along = 0.0, 0.0, np.zeros(counts.dimension)
        if members.intercepts is not None:
            self._total = float(weights.sum()) + 1.0 / family.intercept_variance
            self._pull, self._along = float(weights @ response), weights @ x
            gram -= np.outer(self._along, self._along) / self._total
            moment -= self._along * (self._pull / self._total)
        self.sums = Sums.given(gram, moment, float(weights @ (response * response)))
        self._fit = self._misfits(members)
        self.accepted = 1.0

    def step(self, sweeps: tuple[Sweep, Sweep], members: Ensemble, rng: Generator) -> None:
        """Propose by a sweep or its reverse, and accept or stay, in place.

        Parameters
        ----------
        sweeps : tuple of two callables
            A sweep that leaves the posterior under the surrogate unchanged, and its reverse.
        members : Ensemble
            The members; only coefficients, inclusions and intercepts change. They have to be those of the last step,
            or those that the surrogate was made from.
        rng : Generator
            Source of randomness.
        """
        coins, parts = rng.random(len(members)) < 0.5, []
        places = [np.flatnonzero(coins), np.flatnonzero(~coins)]
        for place, sweep in zip(places, sweeps, strict=True):
            if len(place):
                parts.append(members.take(place))
                sweep(parts[-1], self.sums, rng)
        proposed = joined(parts).take(np.argsort(np.concatenate(places)))
        if members.intercepts is not None:
            mean = (self._pull - proposed.products(self._along)) / self._total
            proposed.intercepts = mean + rng.standard_normal(len(members)) / np.sqrt(self._total)
        fit = self._misfits(proposed)
        accept = np.log(rng.random(len(members))) < fit - self._fit
        self._fit = np.where(accept, fit, self._fit)
        self.accepted = float(accept.mean())
        _replace(members, proposed, accept)

    def _averages(self, members: Ensemble) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the means over members of η, of the score and of the information, each of shape ``(U,)``."""
        counts = self._counts
        sums = np.zeros((3, len(counts.trials)))
        for block in _blocks(members, len(counts.trials)):
            eta = np.clip(block.etas(counts.rows), -FARTHEST, FARTHEST)
            slope, drift, information = self._family.slopes(eta)
            score = counts.successes * slope.sum(axis=0) - counts.trials * drift.sum(axis=0)
            sums += np.array([eta.sum(axis=0), score, counts.trials * information.sum(axis=0)])
        centre, gradient, information = sums / len(members)
        return centre, gradient, np.maximum(information, LEAST * counts.trials + 1e-300)

    def _misfits(self, members: Ensemble) -> FloatArray:
        """Return log L − log L̃ of each member, shape ``(M,)``."""
        counts, found = self._counts, []
        for block in _blocks(members, len(counts.trials)):
            eta = block.etas(counts.rows)
            natural, cumulant = self._family.parameters(np.clip(eta, -FARTHEST, FARTHEST))
            apart = eta - self._centre
            found.append(
                natural @ counts.successes
                - cumulant @ counts.trials
                - apart @ self._gradient
                + 0.5 * ((apart * apart) @ self._information)
            )
        return np.concatenate(found)


def log_likelihoods(family: Linked, counts: Counts, members: Ensemble) -> FloatArray:
    """Return log L of each member.

    Parameters
    ----------
    family : Linked
        Family of the rewards.
    counts : Counts
        The data.
    members : Ensemble
        The members.

    Returns
    -------
    array of shape (M,)
    """
    found = []
    for block in _blocks(members, len(counts.trials)):
        eta = np.clip(block.etas(counts.rows), -FARTHEST, FARTHEST)
        natural, cumulant = family.parameters(eta)
        found.append(natural @ counts.successes - cumulant @ counts.trials)
    return np.concatenate(found)


def _blocks(members: Ensemble, rows: int) -> list[Ensemble]:
    step = max(1, BLOCK // max(rows, 1))
    size = len(members)
    if size <= step:
        return [members]
    return [members.take(np.arange(start, min(start + step, size))) for start in range(0, size, step)]


def _replace(members: Ensemble, proposed: Ensemble, accept: NDArray[np.bool_]) -> None:
    """Give members the coefficients, inclusions and intercepts that they accept, in place."""
    if isinstance(members.coefficients, Rows) and isinstance(proposed.coefficients, Rows):
        size = len(members)
        chosen = np.where(accept, size + np.arange(size), np.arange(size))
        members.coefficients = Rows.joined([members.coefficients, proposed.coefficients]).take(chosen).compact()
    else:
        accepted = accept[:, np.newaxis]
        members.coefficients = np.where(accepted, proposed.theta, members.theta)
        members.included = np.where(accepted, proposed.inside, members.inside)
    if members.intercepts is not None and proposed.intercepts is not None:
        members.intercepts = np.where(accept, proposed.intercepts, members.intercepts)
