"""All policies on the same worlds, each rival tuned: ``python -m benchmarks.rivals`` (about ten minutes on two cores).

Two settings: 200 actions that stay, and 20 fresh ones a round, for which the Lasso policies were made. A rival with a
constant that its theory leaves too large gets the best of a few candidates, chosen by regret on trials of their own
(``sparsebandits.tune``), beside the constant of its source. The sparse policies are told the sparsity and the noise
variance and are not tuned.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import argparse
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import sparsebandits as sb
from benchmarks import PAPERS
from sparsebandits.experiments.simulate import PolicyMaker
from sparsebandits.files import write_atomically
from sparsebandits.results.statistics import mean_interval
from sparsebandits.tables import Table

SEED, DIMENSION, SPARSITY, NOISE, HORIZON = 2022, 40, 4, 2.0, 500
PRIOR = sb.SpikeSlab(SPARSITY / DIMENSION, 1.0 / SPARSITY)
SETTINGS: dict[str, Any] = {
    "200 actions that stay": sb.environments.GaussianActions(DIMENSION, SPARSITY, 200, noise_variance=NOISE),
    "20 fresh actions a round": sb.environments.ChangingActions(
        sb.environments.GaussianActions(DIMENSION, SPARSITY, 20, noise_variance=NOISE)
    ),
}


def random_play(problem: sb.experiments.Problem) -> sb.Policy:
    return sb.policies.LinearPolicy(problem.actions, sb.rules.Uniform(), seed=problem.seed)


UNTUNED: dict[str, PolicyMaker] = {
    "SparseIDS": sb.maker(sb.SparseIDS, prior=PRIOR, **PAPERS),
    "SparseIDS, default prior": sb.maker(sb.SparseIDS, noise_variance=None, **PAPERS),
    "SparseTS": sb.maker(sb.SparseTS, prior=PRIOR, n_draws=10_000),
    "LinearIDS": sb.maker(sb.LinearIDS),
    "LinTS": sb.maker(sb.LinTS),
    "LinUCB, confidence radius": sb.maker(sb.LinUCB, width=sb.rules.ConfidenceRadius()),
    "FrequentistIDS": sb.maker(sb.rivals.FrequentistIDS),
    "FeelGoodTS": sb.maker(sb.rivals.FeelGoodTS, prior=PRIOR),
    "SOIDS": sb.maker(sb.rivals.SOIDS, prior=PRIOR),
    "ESTC, as its theorem has it": sb.maker(sb.rivals.ESTC, sparsity=SPARSITY),
    "OnlineToConfidence": sb.maker(sb.rivals.OnlineToConfidence, prior=PRIOR, sparsity=SPARSITY, n_draws=2000),
    "ThresholdedLasso": sb.maker(sb.rivals.ThresholdedLasso),
    "SALasso": sb.maker(sb.rivals.SALasso),
    "LassoBandit": sb.maker(sb.rivals.LassoBandit),
    "DRLasso": sb.maker(sb.rivals.DRLasso),
    "SquareCB": sb.maker(sb.rivals.SquareCB),
    "SquareCB, spike and slab": sb.maker(sb.rivals.SquareCB, regressor="spike-and-slab"),
    "FALCON": sb.maker(sb.rivals.FALCON),
    "VariationalTS": sb.maker(sb.rivals.VariationalTS),
    "DynamicBatch": sb.maker(sb.rivals.DynamicBatch, sparsity=SPARSITY),
    "MCPBandit": sb.maker(sb.rivals.MCPBandit),
    "BestSubset": sb.maker(sb.rivals.BestSubset, sparsity=SPARSITY),
    "ILTCB": sb.maker(sb.rivals.ILTCB, sparsity=SPARSITY),
    "random": random_play,
}
STAY, FRESH = tuple(SETTINGS)
DEVIATION = math.sqrt(NOISE)
TUNED: dict[str, tuple[Callable[[Any], PolicyMaker], Sequence[Any]]] = {
    "LinUCB, tuned": (lambda width: sb.maker(sb.LinUCB, width=width), (1.0, 1.5, 2.0, 3.0)),
    "FrequentistIDS, tuned": (lambda width: sb.maker(sb.rivals.FrequentistIDS, width=width), (1.0, 1.5, 2.0, 3.0)),
    "ESTC, tuned": (
        lambda rounds: sb.maker(sb.rivals.ESTC, exploration=rounds, penalty="cross-validation"),
        (50, 75, 100, 150, 200),
    ),
    "OnlineToConfidence, tuned": (
        lambda scale: sb.maker(sb.rivals.OnlineToConfidence, prior=PRIOR, sparsity=SPARSITY, n_draws=2000, scale=scale),
        (0.05, 0.1, 0.2),
    ),
    "LassoGreedy, tuned": (
        lambda rounds: sb.maker(sb.rivals.LassoGreedy, exploration=rounds),
        (0, 25, 50, 100),
    ),
    "ThresholdedLasso, tuned": (
        lambda penalty: sb.maker(sb.rivals.ThresholdedLasso, penalty=penalty * DEVIATION),
        (0.02, 0.05, 0.1, 0.2),
    ),
    "SALasso, tuned": (lambda penalty: sb.maker(sb.rivals.SALasso, penalty=penalty * DEVIATION), (0.1, 0.2, 0.4, 0.8)),
    "LassoBandit, one parameter, tuned": (
        lambda samples: sb.maker(sb.rivals.LassoBandit, parameters="shared", forced_samples=samples),
        (1, 5, 20),
    ),
    "SquareCB, tuned": (
        lambda scale: sb.maker(sb.rivals.SquareCB, regressor="spike-and-slab", scale=scale),
        (3.0, 10.0, 30.0, 100.0),
    ),
    "FALCON, tuned": (
        lambda scale: sb.maker(sb.rivals.FALCON, regressor="lasso", sparsity=SPARSITY, window="all", scale=scale),
        (2.0, 5.0, 15.0, 50.0),
    ),
    "VariationalTS, tuned": (lambda rate: sb.maker(sb.rivals.VariationalTS, rate=rate), (0.3, 1.0, 3.0)),
    "DynamicBatch, tuned": (
        lambda batches: sb.maker(sb.rivals.DynamicBatch, sparsity=SPARSITY, batches=batches, split=False),
        (3, 5, 8),
    ),
    "MCPBandit, tuned": (
        lambda penalty: sb.maker(sb.rivals.MCPBandit, all_penalty=penalty * DEVIATION),
        (0.1, 0.3, 1.0),
    ),
    "BestSubset, tuned": (
        lambda width: sb.maker(sb.rivals.BestSubset, sparsity=SPARSITY, width=width),
        (0.3, 1.0, 2.0),
    ),
    "ILTCB, tuned": (
        lambda exploration: sb.maker(sb.rivals.ILTCB, sparsity=SPARSITY, exploration=exploration, psi=0.05),
        (0.03, 0.1, 0.3),
    ),
}
ONLY_STAY = ("ESTC, as its theorem has it", "ESTC, tuned")
"""A distribution over actions to explore from is computed for each set anew, which is not what ESTC is for."""


def run(name: str, trials: int, tuning_trials: int, workers: int, directory: Path) -> None:
    """Tune, compare, print and keep the numbers of one setting."""
    environment = SETTINGS[name]
    policies, chosen = dict(UNTUNED), {}
    for policy, (make, candidates) in TUNED.items():
        if name == STAY or policy not in ONLY_STAY:
            tuned = sb.tune(make, candidates, environment, HORIZON, tuning_trials, SEED, workers)
            policies[policy], chosen[policy] = make(tuned.best), tuned.record()
            print(f"{policy}: {tuned}", flush=True)
    if name != STAY:
        policies = {policy: made for policy, made in policies.items() if policy not in ONLY_STAY}
    result = sb.Experiment(environment, policies, HORIZON, trials, SEED).run(workers=workers)
    base, rows = result.final("SparseIDS"), []
    for policy in sorted(policies, key=lambda policy: float(result.final(policy).mean())):
        final = result.final(policy)
        low, high = mean_interval(final)
        apart = tuple(float(x) for x in mean_interval(final - base)) if policy != "SparseIDS" else (None, None)
        best = chosen[policy]["best"] if policy in chosen else None
        spent = 1000.0 * float(np.median(result.seconds[policy]))
        rows.append((policy, best, float(final.mean()), float(low), float(high), *apart, spent))
    table = Table(("policy", "chosen", "regret", "from", "to", "minus SparseIDS, from", "to ", "ms"), rows)
    print(f"\n{name}, {trials} trials\n\n{table}\n", flush=True)
    content = {
        "setting": name,
        "trials": trials,
        "table": [dict(zip(table.columns, row, strict=True)) for row in table.rows],
        "tuning": chosen,
    }
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / f"rivals-{'stay' if name == STAY else 'fresh'}.json"
    write_atomically(file, (json.dumps(content, indent=1) + "\n").encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--tuning-trials", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--settings", nargs="+", choices=tuple(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--directory", type=Path, default=Path("out"))
    given = parser.parse_args()
    for name in given.settings:
        run(name, given.trials, given.tuning_trials, given.workers, given.directory)


if __name__ == "__main__":
    main()
