"""Particles against enumeration along bandit histories: ``python -m benchmarks.accuracy`` (some minutes at d = 20).

Sparse information-directed sampling on the particles makes the history, 300 rounds of it, so that the design is the one
that a policy makes and not a random one. Prints the largest error of posterior means and of inclusion probabilities.
"""

import argparse

import numpy as np

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.tables import Table

NOISE, SPARSITY = 2.0, 2


def errors(dimension: int, rounds: int, checks: tuple[int, ...], seed: int) -> FloatArray:
    """Return the largest error of means and of inclusions at each check, shape ``(checks, 2)``."""
    instance = sb.environments.GaussianActions(dimension, SPARSITY, noise_variance=NOISE).sample(seed)
    prior = sb.SpikeSlab(SPARSITY / dimension, 1 / SPARSITY)
    posterior, truth = sb.Particles(prior, dimension, NOISE, seed=seed), sb.Enumeration(prior, dimension, NOISE)
    policy = sb.Policy(instance.actions, posterior, sb.rules.InformationDirected(), seed)
    rng = np.random.default_rng(seed)
    found = []
    for t in range(1, rounds + 1):
        decision = policy.ask()
        reward = float(instance.means[decision.action]) + np.sqrt(NOISE) * rng.standard_normal()
        policy.tell(decision, reward)
        truth.update(decision.features, reward)
        if t in checks:
            mean, inclusion = posterior.mean() - truth.mean(), posterior.inclusion() - truth.inclusion()
            found.append((np.abs(mean).max(), np.abs(inclusion).max()))
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dimension", type=int, default=12)
    parser.add_argument("--histories", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=300)
    given = parser.parse_args()
    checks = tuple(sorted({max(given.rounds // 10, 1), given.rounds // 3, given.rounds}))
    found = np.array([errors(given.dimension, given.rounds, checks, seed) for seed in range(given.histories)])
    rows = [(t, *found[:, i].max(axis=0).tolist(), *found[:, i].mean(axis=0).tolist()) for i, t in enumerate(checks)]
    print(f"d = {given.dimension}, {given.histories} histories, 10,000 particles\n")
    print(Table(("after round", "mean, worst", "inclusion, worst", "mean, average", "inclusion, average"), rows))


if __name__ == "__main__":
    main()
