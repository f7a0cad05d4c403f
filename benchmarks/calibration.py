"""Simulation-based calibration of the engines: ``python -m benchmarks.calibration`` (some minutes).

Talts, Betancourt, Simpson, Vehtari and Gelman (2018). Draw θ from the prior and rewards given θ; then the rank of θ
among draws of its posterior is uniform, if the posterior is right. So are the ranks of what is computed from θ: here
each coefficient, the log likelihood, the number of coefficients that are not small, and the best reward. Besides,
inclusion probabilities are calibrated: of the coefficients given 70%, 70% are in the model. Ties are broken at random.

Writes ``tests/posteriors/calibration.json``: the counts, the date, and a digest of the code that they were made with.
The test suite checks all three. Langevin is among them to show what an approximation looks like, and an engine that is
told the wrong noise, to show that the test sees it.
"""

import argparse
import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.random import Generator

import sparsebandits as sb
from benchmarks import sources
from sparsebandits.arguments import FloatArray

STORED = Path(__file__).parent.parent / "tests" / "posteriors" / "calibration.json"
D, ROWS, NOISE, DRAWS, BINS = 5, 12, 1.0, 99, 20
SMALL = 0.1
INCLUSION, SLAB_VARIANCE = 0.3, 1.0

Engine: TypeAlias = sb.Enumeration | sb.Particles | sb.Gibbs | sb.Langevin
Sampler: TypeAlias = Callable[[FloatArray, FloatArray, int], tuple[Engine, FloatArray]]


def _prior(spike: Any) -> sb.SpikeSlab:
    return sb.SpikeSlab(INCLUSION, SLAB_VARIANCE, spike=spike)


def sampled(make: Callable[[int], Engine]) -> Sampler:
    """Return a sampler of independent draws from an engine."""

    def run(x: FloatArray, y: FloatArray, seed: int) -> tuple[Engine, FloatArray]:
        engine = make(seed)
        engine.update(x, y)
        return engine, engine.sample(np.random.default_rng(seed), DRAWS)

    return run


def thinned(make: Callable[[int], Engine]) -> Sampler:
    """Return a sampler that keeps every tenth draw of one chain."""

    def run(x: FloatArray, y: FloatArray, seed: int) -> tuple[Engine, FloatArray]:
        engine = make(seed)
        engine.update(x, y)
        return engine, engine.draws().theta[9::10]

    return run


POINT, LAPLACE = _prior(sb.PointMass()), _prior(sb.LaplaceSpike(0.05))
WIDE = _prior(sb.LaplaceSpike(0.3))
"""About as wide as the likelihood of a coefficient, which the sweeps of Gibbs treat apart."""

CASES: dict[str, tuple[sb.SpikeSlab, Sampler]] = {
    "Enumeration": (POINT, sampled(lambda seed: sb.Enumeration(POINT, D, NOISE))),
    "Particles": (POINT, sampled(lambda seed: sb.Particles(POINT, D, NOISE, 2000, seed))),
    "Particles, Laplace spike": (LAPLACE, sampled(lambda seed: sb.Particles(LAPLACE, D, NOISE, 2000, seed))),
    "Gibbs": (POINT, thinned(lambda seed: sb.Gibbs(POINT, D, NOISE, 10 * DRAWS, seed, chains=1))),
    "Gibbs, Laplace spike": (LAPLACE, thinned(lambda seed: sb.Gibbs(LAPLACE, D, NOISE, 10 * DRAWS, seed, chains=1))),
    "Gibbs, wide Laplace spike": (WIDE, thinned(lambda seed: sb.Gibbs(WIDE, D, NOISE, 10 * DRAWS, seed, chains=1))),
    "Langevin": (LAPLACE, thinned(lambda seed: sb.Langevin(LAPLACE, D, NOISE, 10 * DRAWS, seed, burn_in=1000))),
    "planted: noise": (POINT, sampled(lambda seed: sb.Particles(POINT, D, 0.6 * NOISE, 2000, seed))),
}

QUANTITIES = (*(f"coefficient {j}" for j in range(D)), "log likelihood", "not small", "best reward")


def quantities(theta: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return each of QUANTITIES for rows of θ, shape ``(·, 8)``."""
    misfit = ((y - theta @ x.T) ** 2).sum(axis=1)
    columns = (-misfit / (2 * NOISE), (np.abs(theta) > SMALL).sum(axis=1), (theta @ x.T).max(axis=1))
    return np.column_stack((theta, *columns))


def replicate(case: str, seed: int) -> tuple[list[int], list[float], list[bool]]:
    """Return the ranks of the truth, the inclusion probabilities, and what was in the model."""
    prior, sampler = CASES[case]
    rng: Generator = np.random.default_rng((seed, 1))
    drawn = prior.sample(rng, 1, D)
    theta = drawn.theta
    x = rng.standard_normal((ROWS, D)) @ np.linalg.cholesky(0.4 * np.eye(D) + 0.6).T
    y = x @ theta[0] + np.sqrt(NOISE) * rng.standard_normal(ROWS)
    engine, draws = sampler(x, y, seed)
    found, truth = quantities(draws, x, y), quantities(theta, x, y)
    below, ties = (found < truth).sum(axis=0), (found == truth).sum(axis=0)
    return (below + rng.integers(0, ties + 1)).tolist(), engine.inclusion().tolist(), drawn.included[0].tolist()


def calibrate(case: str, seeds: range, workers: int = 1) -> dict[str, Any]:
    """Return counts of ranks in bins, and of inclusions by their stated probability: how many, and how many were."""
    results = Parallel(n_jobs=workers)(delayed(replicate)(case, seed) for seed in seeds)
    ranks, stated, true = (np.array(part) for part in zip(*results, strict=True))
    counts = {
        name: np.bincount(ranks[:, i] * BINS // (DRAWS + 1), minlength=BINS).tolist()
        for i, name in enumerate(QUANTITIES)
    }
    group = np.minimum((stated * 10).astype(int), 9)
    inclusion = []
    for which in (group == g for g in range(10)):
        sums = (stated[which].sum(), (stated * (1 - stated))[which].sum(), true[which].sum())
        inclusion.append([int(which.sum()), *map(float, sums)])  # how many, expected to be in, its variance, were in
    return {"ranks": counts, "inclusion": inclusion}


def digest() -> str:
    """Return a digest of the code of the engines and of all that they import, without comments and docstrings."""
    return sources.digest(sources.modules_in("sparsebandits/posteriors"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    cases = {}
    for case in CASES:
        print(case, flush=True)
        cases[case] = calibrate(case, range(given.replications), given.workers)
    stored = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "code": digest(),
        "replications": given.replications,
        "cases": cases,
    }
    STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
