"""Correlated Gaussian actions and a sparse θ*: the setting of Figure 3 of Hao, Lattimore and Deng (2021).

Each action is N(0, Σ) with Σ_ij = ρ^|i−j|. θ* has a uniformly random support of size s with normal values, scaled to
norm 1 ("randomly generated from a multivariate normal distribution, truncated to be sparse and normalized").
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_between, check_count, check_positive
from sparsebandits.environments.instance import Instance
from sparsebandits.randomness import Seed, stream


@dataclass(frozen=True)
class GaussianActions:
    """Instances with Gaussian actions.

    Parameters
    ----------
    dimension : int
        Number of features d.
    sparsity : int
        Number of features that matter s, from 1 to d.
    n_actions : int, default=200
        Number of actions K.
    correlation : float, default=0.6
        Correlation ρ of neighbouring features, from -1 to 1.
    noise_variance : float, default=2.0
        Variance of a reward around its mean.

    Examples
    --------
    >>> instance = GaussianActions(dimension=40, sparsity=4).sample(seed=0)
    >>> instance.actions.shape, int(np.count_nonzero(instance.theta))
    ((200, 40), 4)
    """

    dimension: int
    sparsity: int
    n_actions: int = 200
    correlation: float = 0.6
    noise_variance: float = 2.0

    def __post_init__(self) -> None:
        check_count("dimension", self.dimension)
        check_count("n_actions", self.n_actions)
        if check_count("sparsity", self.sparsity) > self.dimension:
            raise ArgumentValueError("sparsity", f"at most dimension ({self.dimension})", f"{self.sparsity}")
        check_between("correlation", self.correlation, -1.0, 1.0)
        check_positive("noise_variance", self.noise_variance)

    def sample(self, seed: Seed) -> Instance:
        """Return the instance that belongs to a seed.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        Instance
        """
        rng = stream(seed)
        actions = correlated_rows(rng, self.n_actions, self.dimension, self.correlation)
        return Instance(actions, sparse_direction(rng, self.dimension, self.sparsity), self.noise_variance)


def correlated_rows(rng: Generator, rows: int, columns: int, correlation: float) -> FloatArray:
    """Draw rows from N(0, Σ) with Σ_ij = ρ^|i−j|.

    Parameters
    ----------
    rng : Generator
        Source of the randomness.
    rows, columns : int
        Number of rows, and of their coordinates.
    correlation : float
        Correlation ρ of neighbouring coordinates, from -1 to 1.

    Returns
    -------
    array of shape (rows, columns)
    """
    # A stationary first-order autoregression along the coordinates has covariance ρ^|i−j|.
    drawn = rng.standard_normal((rows, columns))
    innovation = np.sqrt(1.0 - correlation**2)
    for j in range(1, columns):
        drawn[:, j] = correlation * drawn[:, j - 1] + innovation * drawn[:, j]
    return drawn


def sparse_direction(rng: Generator, dimension: int, sparsity: int) -> FloatArray:
    """Draw a vector of norm 1 with a uniformly random support.

    Parameters
    ----------
    rng : Generator
        Source of the randomness.
    dimension : int
        Number of coordinates.
    sparsity : int
        Number of coordinates that are not zero.

    Returns
    -------
    array of shape (dimension,)
    """
    theta = np.zeros(dimension)
    support = rng.choice(dimension, size=sparsity, replace=False)
    theta[support] = rng.standard_normal(sparsity)
    return np.asarray(theta / np.linalg.norm(theta))
