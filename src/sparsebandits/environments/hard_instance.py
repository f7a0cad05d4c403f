"""The instance on which optimism fails: the illustrative example of Hao, Lattimore and Deng (2021, Section 4).

The actions are the union of two sets, and s of the d coordinates of θ* are not zero:

    informative    x ∈ {−1, 1}^(d−1) × {1}: every coordinate is seen at once, at a regret of about 1 per round;
    uninformative  x ∈ {−1, 0, 1}^(d−1) × {0} with ‖x‖₁ = s − 1: one of them is the best;
    θ*             ε on s − 1 of the first d − 1 coordinates, −1 on the last.

The informative set is all corners (Hao, Lattimore and Wang 2020), or O(s log(ed/s)) of them, drawn at random until the
restricted eigenvalue φ²(Σ̂, s, 3) of Σ̂, the mean of xx', is at least 1/4. Three details differ from the printed text.
The last coordinate of informative actions is +1, as in the paper's appendix: with the −1 of its Section 4 they would be
good actions. Σ̂ is a mean, not a sum. And the ε are at random coordinates, not at the first s − 1; otherwise a policy
that breaks ties by row number would be lucky or unlucky by the order of the rows.
"""

from dataclasses import dataclass, field
from itertools import combinations, product
from math import ceil, comb, e, log

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_choice, check_count, check_positive, frozen
from sparsebandits.environments.instance import Instance
from sparsebandits.randomness import Seed, stream
from sparsebandits.theory.eigenvalue import Bounds, relaxed_bounds, restricted_eigenvalue

CONE = 3.0
LEAST_EIGENVALUE = 0.25
"""The lower bound on φ²(Σ̂, s, 3) that the paper requires."""

SIZES = (6.0, 9.0, 13.5, 20.0)
"""Numbers of informative actions, as multiples of s log(ed/s), tried in this order unless the number is given."""

DRAWS = 20
"""Sets that are drawn at most of each size."""

MOST_ACTIONS = 200_000
SETS = ("subset", "hypercube")


@dataclass(frozen=True)
class HardInstance:
    """Instances that share one action set, each with a θ* of its own.

    Parameters
    ----------
    dimension : int
        Number of features d, at least 2.
    sparsity : int
        Number of non-zero coordinates of θ* s, including the last one; from 2 to d.
    epsilon : float, default=0.3
        The value ε of the other non-zero coordinates.
    informative_set : {"subset", "hypercube"}, default="subset"
        Whether the informative actions are some of the 2^(d−1) corners or all of them.
    n_informative : int, optional
        Size of the subset, at most 2^(d−1). By default 6 s log(ed/s), rounded up, or with 9, 13.5 or 20 in place of 6
        if the restricted eigenvalue needs more. Many small subsets may have to be tried: that takes about a minute at
        d = 50 and far longer beyond, where ``n_informative=2 * dimension`` takes seconds.
    noise_variance : float, default=2.0
        Variance of a reward around its mean.
    set_seed : int, default=0
        Seed of the subset, which is the same for all instances.

    Attributes
    ----------
    actions : array of shape (K, d)
        All actions, informative ones first.
    informative : bool array of shape (K,)
        Which actions are informative.
    restricted_eigenvalue : Bounds
        Certified bounds on φ²(Σ̂, s, 3) of the informative set.

    Raises
    ------
    ArgumentValueError
        If there would be too many actions, or no subset was found with a restricted eigenvalue of at least 1/4.

    Examples
    --------
    >>> environment = HardInstance(dimension=10, sparsity=2, epsilon=0.3)
    >>> int(environment.informative.sum()), len(environment.actions), environment.restricted_eigenvalue.lower >= 0.25
    (32, 50, True)
    >>> instance = environment.sample(seed=0)
    >>> float(instance.means.max()), float(instance.gaps[environment.informative].min())
    (0.3, 1.0)
    """

    dimension: int
    sparsity: int
    epsilon: float = 0.3
    informative_set: str = "subset"
    n_informative: int | None = None
    noise_variance: float = 2.0
    set_seed: int = 0
    actions: FloatArray = field(init=False, repr=False, compare=False)
    informative: NDArray[np.bool_] = field(init=False, repr=False, compare=False)
    restricted_eigenvalue: Bounds = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_count("dimension", self.dimension, least=2)
        if check_count("sparsity", self.sparsity, least=2) > self.dimension:
            raise ArgumentValueError("sparsity", f"at most dimension ({self.dimension})", f"{self.sparsity}")
        check_positive("epsilon", self.epsilon)
        check_choice("informative_set", self.informative_set, SETS)
        check_positive("noise_variance", self.noise_variance)
        check_count("set_seed", self.set_seed, least=0, most=None)
        uninformative = self._uninformative()
        informative, bounds = self._hypercube() if self.informative_set == "hypercube" else self._subset()
        actions = np.concatenate((informative, uninformative))
        object.__setattr__(self, "actions", frozen(actions))
        object.__setattr__(self, "informative", frozen(actions[:, -1] != 0))
        object.__setattr__(self, "restricted_eigenvalue", bounds)

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
        theta = np.zeros(self.dimension)
        theta[stream(seed).choice(self.dimension - 1, size=self.sparsity - 1, replace=False)] = self.epsilon
        theta[-1] = -1.0
        return Instance(self.actions, theta, self.noise_variance)

    def _hypercube(self) -> tuple[FloatArray, Bounds]:
        """Return all corners."""
        if self.n_informative is not None:
            raise ArgumentValueError("n_informative", "None for the whole hypercube", f"{self.n_informative}")
        if 2 ** (self.dimension - 1) > MOST_ACTIONS:
            raise ArgumentValueError(
                "dimension",
                f"at most {MOST_ACTIONS} corners, 2^(d−1), for the whole hypercube",
                f"{self.dimension}; informative_set='subset' has fewer",
            )
        corners = np.array(list(product((-1.0, 1.0), repeat=self.dimension - 1)))
        # The mean of xx' is the identity, whose restricted eigenvalue is 1.
        return np.concatenate((corners, np.ones((len(corners), 1))), axis=1), Bounds(1.0, 1.0)

    def _subset(self) -> tuple[FloatArray, Bounds]:
        """Return a random set of corners with a large enough restricted eigenvalue."""
        d, s = self.dimension, self.sparsity
        if self.n_informative is None:
            sizes = [ceil(constant * s * log(e * d / s)) for constant in SIZES]
            if sizes[-1] > 2 ** (d - 1):
                sizes = [size for size in sizes if size < 2 ** (d - 1)]
                if not sizes:
                    return self._hypercube()
        else:
            sizes = [check_count("n_informative", self.n_informative)]
        if sizes[0] > 2 ** (d - 1):
            raise ArgumentValueError("n_informative", f"at most {2 ** (d - 1)}, all corners", f"{self.n_informative}")
        rng = stream(self.set_seed)
        best = 0.0
        for size in np.repeat(sizes, DRAWS).tolist():
            actions = _corners(rng, size, d)
            moment = actions.T @ actions / size
            if relaxed_bounds(moment, s, CONE).upper < LEAST_EIGENVALUE:  # much faster than a certificate
                continue
            bounds = restricted_eigenvalue(moment, s, CONE)
            if bounds.lower >= LEAST_EIGENVALUE:
                return actions, bounds
            best = max(best, bounds.lower)
        raise ArgumentValueError(
            "n_informative",
            f"enough actions for a restricted eigenvalue of at least {LEAST_EIGENVALUE}",
            f"{self.n_informative}; the best certified lower bound was {best:.3g}, with {sizes[-1]} actions",
        )

    def _uninformative(self) -> FloatArray:
        """Return all (s − 1)-sparse sign vectors, with 0 as the last coordinate."""
        free, size = self.dimension - 1, self.sparsity - 1
        count = comb(free, size) * 2**size
        if count > MOST_ACTIONS:
            raise ArgumentValueError(
                "sparsity",
                f"at most {MOST_ACTIONS} uninformative actions",
                f"{count} of them (dimension {self.dimension}, sparsity {self.sparsity})",
            )
        signs = np.array(list(product((1.0, -1.0), repeat=size)))
        supports = np.array(list(combinations(range(free), size)))
        actions = np.zeros((len(supports), len(signs), self.dimension))
        actions[
            np.arange(len(supports))[:, np.newaxis, np.newaxis],
            np.arange(len(signs))[:, np.newaxis],
            supports[:, np.newaxis, :],
        ] = signs
        return actions.reshape(count, self.dimension)


def _corners(rng: Generator, size: int, dimension: int) -> FloatArray:
    """Draw ``size`` different corners of {−1, 1}^(d−1) × {1}, uniformly."""
    actions = np.ones((size, dimension))
    if dimension <= 20:
        numbers = rng.choice(2 ** (dimension - 1), size=size, replace=False)
        actions[:, :-1] -= 2.0 * (numbers[:, np.newaxis] >> np.arange(dimension - 1) & 1)
        return actions
    again = np.arange(size)
    while len(again):  # duplicates are drawn again
        actions[again, :-1] = rng.choice((-1.0, 1.0), size=(len(again), dimension - 1))
        again = np.setdiff1d(np.arange(size), np.unique(actions, axis=0, return_index=True)[1])
    return actions
