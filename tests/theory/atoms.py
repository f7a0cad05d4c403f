"""A prior on finitely many θ: its posterior is a reweighting, so that all quantities of the paper are exact."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import softmax

import sparsebandits as sb
from sparsebandits.arguments import FloatArray, frozen
from sparsebandits.randomness import Seed, stream


class Atoms:
    """The posterior of a θ that is one of the rows of ``theta``, all equally likely a priori."""

    picks_from_draws = True
    feature_names: tuple[str, ...] | None = None

    def __init__(self, theta: FloatArray, noise_variance: float) -> None:
        self.theta, self.dimension, self.noise_variance = frozen(theta.copy()), theta.shape[1], noise_variance
        self.logs = np.zeros(len(theta))

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        self.logs = self.logs - np.square(y - self.theta @ x.T).sum(axis=1) / (2 * self.noise_variance)

    def draws(self) -> sb.posteriors.Draws:
        return sb.posteriors.Draws.trusted(self.theta, softmax(self.logs))

    def mean(self) -> FloatArray:
        return self.draws().mean()

    def sample(self, rng: Generator, size: int) -> FloatArray:
        return self.theta[rng.choice(len(self.theta), size=size, p=softmax(self.logs))]

    def state(self) -> dict[str, Any]:
        return {"logs": self.logs}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.logs = state["logs"]


class FinitePrior:
    """An environment whose θ* is one of finitely many, with an observer and a policy that have the same prior.

    Actions have entries within ±1 and atoms are ``sparsity``-sparse with norm 1, as the paper has them.
    """

    def __init__(
        self, dimension: int, sparsity: int, n_actions: int, n_atoms: int, noise_variance: float, seed: int
    ) -> None:
        rng = np.random.default_rng(seed)
        self.sparsity, self.noise_variance = sparsity, noise_variance
        self.actions = rng.uniform(-1, 1, (n_actions, dimension))
        theta = rng.standard_normal((n_atoms, dimension))
        theta[rng.random((n_atoms, dimension)).argsort(axis=1) >= sparsity] = 0.0
        self.theta: FloatArray = theta / np.linalg.norm(theta, axis=1, keepdims=True)

    def sample(self, seed: Seed) -> sb.environments.Instance:
        return sb.environments.Instance(
            self.actions, self.theta[stream(seed).integers(len(self.theta))], self.noise_variance
        )

    def observer(self, problem: sb.experiments.Problem) -> Atoms:
        return Atoms(self.theta, problem.noise_variance)

    def ids(
        self, selection: str = "randomised", gain: str = "mutual-information"
    ) -> Callable[[sb.experiments.Problem], sb.Policy]:
        def make(problem: sb.experiments.Problem) -> sb.Policy:
            rule = sb.rules.InformationDirected(2.0, selection, gain)
            return sb.Policy(problem.actions, self.observer(problem), rule, problem.seed)

        return make
