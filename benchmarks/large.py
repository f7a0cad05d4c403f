"""One large problem, 10,000 actions of 1,000 features: ``python -m benchmarks.large`` (a minute, one core).

Prints the milliseconds of CPU of a decision (ask and tell) over stretches of rounds, how often the particles moved, the
regret and the peak of the memory.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import argparse
import resource
from time import process_time

import numpy as np

import sparsebandits as sb
from sparsebandits.randomness import IndexedNormals
from sparsebandits.tables import Table

DIMENSION, SPARSITY, ACTIONS, NOISE = 1000, 10, 10_000, 2.0


def policy_for(instance: sb.Instance, seed: int) -> sb.SparseIDS:
    return sb.SparseIDS(
        instance.actions, sb.SpikeSlab(SPARSITY / DIMENSION, 1.0 / SPARSITY), instance.noise_variance, seed=seed
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--stretches", type=int, default=5)
    given = parser.parse_args()
    instance = sb.GaussianActions(DIMENSION, SPARSITY, ACTIONS, noise_variance=NOISE).sample(0)
    warm = policy_for(instance, 0)  # compiles
    warm.tell(warm.ask(), 5.0)
    policy, noise = policy_for(instance, 1), IndexedNormals(2)
    ms, regret, moved = np.empty((given.rounds, 2)), np.empty(given.rounds), np.zeros(given.rounds)
    last = policy.posterior.draws().theta
    for t in range(given.rounds):
        begun = process_time()
        decision = policy.ask()
        asked = process_time()
        reward = float(instance.means[decision.action]) + np.sqrt(NOISE) * noise(t, decision.action)
        begun_again = process_time()
        policy.tell(decision, reward)
        ms[t] = 1000 * (asked - begun), 1000 * (process_time() - begun_again)
        theta = policy.posterior.draws().theta
        regret[t], moved[t], last = instance.gaps[decision.action], theta is not last, theta
    rows = [
        (
            f"{part[0] + 1} to {part[-1] + 1}",
            *ms[part].mean(axis=0).tolist(),
            int(moved[part].sum()),
            regret[part].sum(),
        )
        for part in np.array_split(np.arange(given.rounds), given.stretches)
    ]
    print(Table(("rounds", "ask (ms)", "tell (ms)", "rounds with a move", "regret"), rows))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{ms.sum(axis=1).mean():.0f} ms a decision (median {np.median(ms.sum(axis=1)):.0f}), peak {peak:.0f} MB")


if __name__ == "__main__":
    main()
