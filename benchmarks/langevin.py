"""Choose the constants of the paper's sampler by regret: ``python -m benchmarks.langevin`` (minutes on two cores).

The paper leaves the spike's scale, the number of chains, their burn-in and the step open. Each candidate plays sparse
IDS on the same trials, whose seeds no comparison uses; exact particles play beside them.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.random import SeedSequence

import sparsebandits as sb
from benchmarks import PAPERS
from sparsebandits.randomness import INSTANCE_STREAM, child
from sparsebandits.results.statistics import mean_interval
from sparsebandits.tables import Table

SEED, HORIZON = 1998, 500


@dataclass(frozen=True)
class Candidate:
    """Constants of Algorithm 1."""

    spike: float
    chains: int
    burn_in: int
    warm: bool
    rate: float = 0.5

    def policy(self, problem: sb.experiments.Problem, inclusion: float, slab_variance: float) -> sb.Policy:
        """Return sparse IDS with them."""
        prior = sb.SpikeSlab(inclusion, slab_variance, spike=sb.LaplaceSpike(self.spike))
        options: dict[str, Any] = {"chains": self.chains, "burn_in": self.burn_in, "warm_start": self.warm}
        options["learning_rate"] = self.rate
        return sb.SparseIDS(
            problem.actions,
            prior,
            problem.noise_variance,
            "langevin",
            engine_options=options,
            seed=problem.seed,
            intercept=False,
            **PAPERS,
        )

    def __str__(self) -> str:
        start = "warm" if self.warm else "cold"
        return f"spike {self.spike:g}, {self.chains} chains, burn-in {self.burn_in}, {start}, step {self.rate:g}/L"


CANDIDATES = (
    Candidate(0.03, 1, 0, False),
    Candidate(0.1, 1, 0, False),
    Candidate(0.03, 10, 1000, False),
    Candidate(0.1, 10, 1000, False),
    Candidate(0.03, 100, 50, False),
    Candidate(0.01, 100, 0, True),
    Candidate(0.03, 100, 0, True),
    Candidate(0.1, 100, 0, True),
    Candidate(0.03, 100, 0, True, 1.0),
    Candidate(0.1, 100, 0, True, 1.0),
)


def play(candidate: Candidate | None, dimension: int, trial: int) -> tuple[float, float]:
    """Return final regret and milliseconds a decision of one trial; no candidate means particles."""
    sparsity, seed = dimension // 10, SeedSequence(SEED, spawn_key=(trial,))
    instance = sb.environments.GaussianActions(dimension, sparsity).sample(child(seed, INSTANCE_STREAM))

    def make(problem: sb.experiments.Problem) -> sb.Policy:
        if candidate is not None:
            return candidate.policy(problem, sparsity / dimension, 1.0 / sparsity)
        prior = sb.SpikeSlab(sparsity / dimension, 1.0 / sparsity)
        return sb.SparseIDS(
            problem.actions, prior, problem.noise_variance, seed=problem.seed, intercept=False, **PAPERS
        )

    trace = sb.simulate(make, instance, HORIZON, seed)
    return float(trace.regret[-1]), 1000.0 * float(trace.seconds.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--dimension", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    rows = []
    for candidate in (None, *CANDIDATES):
        played = Parallel(n_jobs=given.workers)(
            delayed(play)(candidate, given.dimension, trial) for trial in range(given.trials)
        )
        regret, ms = np.array(played).T
        low, high = mean_interval(regret)
        rows.append(
            (str(candidate or "particles"), float(regret.mean()), float(low), float(high), float(np.median(ms)))
        )
        print(*rows[-1], flush=True)
    print(Table(("sampler", "regret", "from", "to", "ms a decision"), rows))


if __name__ == "__main__":
    main()
