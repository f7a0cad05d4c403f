"""Simulation-based calibration of the engines: ``python -m benchmarks.calibration`` (some minutes).

Talts, Betancourt, Simpson, Vehtari and Gelman (2018). Draw θ from the prior and rewards given θ; then the rank of θ
among draws of its posterior is uniform, if the posterior is right. So are the ranks of what is computed from θ: here
each coefficient (and the intercept of clicks), the log likelihood, the number of coefficients that are not small, and
the best reward. Besides, inclusion probabilities are calibrated: of the coefficients given 70%, 70% are in the model.
Ties are broken at random. Clicks and counts have the default prior, with all that it learns.

Writes ``tests/posteriors/calibration.json``: the counts, the date, and a digest of the code that they were made with.
The test suite checks all three. Code that gives the same to the bit need not be calibrated again: ``--same CHECKOUT``
plays the first twelve replications of each case with this code and with that of a checkout which the stored run
belongs to, or which gave the same, and notes it. Langevin is among the cases to show what an approximation looks like,
and an engine that is told the wrong noise, to show that the test sees it.
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
from sparsebandits.model.families import FARTHEST, Linked
from sparsebandits.model.priors import default_prior
from sparsebandits.model.rewards import Rewards

STORED = Path(__file__).parent.parent / "tests" / "posteriors" / "calibration.json"
D, ROWS, NOISE, DRAWS, BINS = 5, 12, 1.0, 99, 20
LINKED_ROWS = 40
"""Number of clicks or counts, each of which says less than a Gaussian reward."""

SAME = 12
"""Number of replications of each case by which code is found to give the same."""

SMALL = 0.1
INCLUSION, SLAB_VARIANCE = 0.3, 1.0

Engine: TypeAlias = sb.Enumeration | sb.Particles | sb.Gibbs | sb.Langevin
Sampler: TypeAlias = Callable[[FloatArray, FloatArray, int], tuple[Engine, FloatArray]]
"""Takes x, y and a seed; returns the engine and draws of the coefficients, the intercept of clicks last."""


def _prior(spike: Any) -> sb.SpikeSlab:
    return sb.SpikeSlab(INCLUSION, SLAB_VARIANCE, spike=spike)


def sampled(make: Callable[[int], Engine]) -> Sampler:
    """Return a sampler of independent draws from an engine."""

    def run(x: FloatArray, y: FloatArray, seed: int) -> tuple[Engine, FloatArray]:
        engine = make(seed)
        engine.update(x, y)
        return engine, engine.sample(np.random.default_rng(seed), DRAWS)

    return run


def picked(make: Callable[[int], Engine]) -> Sampler:
    """Return a sampler of draws with their intercepts, by weight."""

    def run(x: FloatArray, y: FloatArray, seed: int) -> tuple[Engine, FloatArray]:
        engine = make(seed)
        engine.update(x, y)
        draws = engine.draws()
        chosen = np.random.default_rng(seed).choice(len(draws), size=DRAWS, p=draws.weights)
        columns = () if draws.intercepts is None else (draws.intercepts[chosen],)
        return engine, np.column_stack((draws.theta[chosen], *columns))

    return run


def thinned(make: Callable[[int], Engine], every: int = 10) -> Sampler:
    """Return a sampler that keeps every tenth draw of one chain, or fewer, with their intercepts."""

    def run(x: FloatArray, y: FloatArray, seed: int) -> tuple[Engine, FloatArray]:
        engine = make(seed)
        engine.update(x, y)
        draws, kept = engine.draws(), slice(every - 1, None, every)
        columns = () if draws.intercepts is None else (draws.intercepts[kept],)
        return engine, np.column_stack((draws.theta[kept], *columns))

    return run


def chain(prior: sb.SpikeSlab, rewards: Rewards) -> Sampler:
    """Return every twentieth draw of a chain of Gibbs for clicks or counts, whose hyperparameters mix slowly."""
    return thinned(lambda seed: sb.Gibbs(prior, D, None, 20 * DRAWS, seed, chains=1, rewards=rewards), every=20)


POINT, LAPLACE = _prior(sb.PointMass()), _prior(sb.LaplaceSpike(0.05))
WIDE = _prior(sb.LaplaceSpike(0.3))
"""About as wide as the likelihood of a coefficient, which the sweeps of Gibbs treat apart."""

GAUSSIAN, CLICKS, COUNTS = sb.Gaussian(NOISE), sb.Bernoulli(intercept=True), sb.Poisson()
DEFAULT, OF_COUNTS = default_prior(np.ones((1, D))), default_prior(np.ones((1, D)), counts=True)

CASES: dict[str, tuple[sb.SpikeSlab, Rewards, Sampler]] = {
    "Enumeration": (POINT, GAUSSIAN, sampled(lambda seed: sb.Enumeration(POINT, D, NOISE))),
    "Particles": (POINT, GAUSSIAN, sampled(lambda seed: sb.Particles(POINT, D, NOISE, 2000, seed))),
    "Particles, Laplace spike": (LAPLACE, GAUSSIAN, sampled(lambda seed: sb.Particles(LAPLACE, D, NOISE, 2000, seed))),
    "Gibbs": (POINT, GAUSSIAN, thinned(lambda seed: sb.Gibbs(POINT, D, NOISE, 10 * DRAWS, seed, chains=1))),
    "Gibbs, Laplace spike": (
        LAPLACE,
        GAUSSIAN,
        thinned(lambda seed: sb.Gibbs(LAPLACE, D, NOISE, 10 * DRAWS, seed, chains=1)),
    ),
    "Gibbs, wide Laplace spike": (
        WIDE,
        GAUSSIAN,
        thinned(lambda seed: sb.Gibbs(WIDE, D, NOISE, 10 * DRAWS, seed, chains=1)),
    ),
    "Langevin": (
        LAPLACE,
        GAUSSIAN,
        thinned(lambda seed: sb.Langevin(LAPLACE, D, NOISE, 10 * DRAWS, seed, burn_in=1000)),
    ),
    "Particles, clicks": (DEFAULT, CLICKS, picked(lambda seed: sb.Particles(DEFAULT, D, None, 2000, seed, CLICKS))),
    "Particles, counts": (OF_COUNTS, COUNTS, picked(lambda seed: sb.Particles(OF_COUNTS, D, None, 2000, seed, COUNTS))),
    "Gibbs, clicks": (DEFAULT, CLICKS, chain(DEFAULT, CLICKS)),
    "Gibbs, counts": (OF_COUNTS, COUNTS, chain(OF_COUNTS, COUNTS)),
    "planted: noise": (POINT, GAUSSIAN, sampled(lambda seed: sb.Particles(POINT, D, 0.6 * NOISE, 2000, seed))),
}

QUANTITIES = (*(f"coefficient {j}" for j in range(D)), "log likelihood", "not small", "best reward")


def names(case: str) -> tuple[str, ...]:
    """Return the names of the quantities whose ranks a case has."""
    return (*QUANTITIES, "intercept") if CASES[case][1].intercept else QUANTITIES


def quantities(coefficients: FloatArray, x: FloatArray, y: FloatArray, rewards: Rewards) -> FloatArray:
    """Return each of the quantities for rows of coefficients, shape ``(·, 8)``, or ``(·, 9)`` with an intercept."""
    theta, intercept = coefficients[:, :D], coefficients[:, D:]
    eta = theta @ x.T
    if isinstance(rewards, Linked):
        eta = np.clip(eta + intercept.sum(axis=1, keepdims=True), -FARTHEST, FARTHEST)
        fit = rewards.log_likelihood(eta, y, 1.0).sum(axis=1)
    else:
        fit = -((y - eta) ** 2).sum(axis=1) / (2 * NOISE)
    return np.column_stack((theta, fit, (np.abs(theta) > SMALL).sum(axis=1), eta.max(axis=1), intercept))


def replicate(case: str, seed: int) -> tuple[list[int], list[float], list[bool]]:
    """Return the ranks of the truth, the inclusion probabilities, and what was in the model."""
    prior, rewards, sampler = CASES[case]
    rng: Generator = np.random.default_rng((seed, 1))
    drawn = prior.sample(rng, 1, D)
    coefficients, rows = drawn.theta, LINKED_ROWS if isinstance(rewards, Linked) else ROWS
    x = rng.standard_normal((rows, D)) @ np.linalg.cholesky(0.4 * np.eye(D) + 0.6).T
    if isinstance(rewards, Linked):
        level = rng.normal(0.0, np.sqrt(rewards.intercept_variance)) if rewards.intercept else 0.0
        if rewards.intercept:
            coefficients = np.append(coefficients, [[level]], axis=1)
        means = rewards.mean(x @ drawn.theta[0] + level)
        y = np.array([rewards.drawn(float(mean), float(rng.random())) for mean in means])
    else:
        y = x @ drawn.theta[0] + np.sqrt(NOISE) * rng.standard_normal(len(x))
    engine, draws = sampler(x, y, seed)
    found, truth = (quantities(values, x, y, rewards) for values in (draws, coefficients))
    below, ties = (found < truth).sum(axis=0), (found == truth).sum(axis=0)
    return (below + rng.integers(0, ties + 1)).tolist(), engine.inclusion().tolist(), drawn.included[0].tolist()


def calibrate(case: str, seeds: range, workers: int = 1) -> dict[str, Any]:
    """Return counts of ranks in bins, and of inclusions by their stated probability: how many, and how many were."""
    results = Parallel(n_jobs=workers)(delayed(replicate)(case, seed) for seed in seeds)
    ranks, stated, true = (np.array(part) for part in zip(*results, strict=True))
    counts = {
        name: np.bincount(ranks[:, i] * BINS // (DRAWS + 1), minlength=BINS).tolist()
        for i, name in enumerate(names(case))
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


def first_replications() -> dict[str, Any]:
    """Return the digest of the code, and the first replications of each case."""
    return {"code": digest(), "cases": {case: [replicate(case, seed) for seed in range(SAME)] for case in CASES}}


def note_same(checkout: Path) -> None:
    """Note that this code gives the same as that of the stored run, which a checkout has; refuse if it does not.

    Parameters
    ----------
    checkout : path
        A checkout of the code of the stored run, or of code that was noted before.
    """
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    program = f"""
import json
from benchmarks import calibration
cases = {{case: [calibration.replicate(case, seed) for seed in range({SAME})] for case in calibration.CASES}}
print(json.dumps({{"code": calibration.digest(), "cases": cases}}))
"""
    before, now = sources.printed_by(checkout, program), json.loads(json.dumps(first_replications()))
    if before["code"] not in (stored["code"], *(one["code"] for one in stored.get("same", []))):
        raise SystemExit("the stored run belongs to other code than that of the checkout")
    differing = [case for case in CASES if before["cases"][case] != now["cases"][case]]
    if differing:
        raise SystemExit(f"these differ, so calibrate again: {', '.join(differing)}")
    stored["same"] = [*stored.get("same", []), {"code": now["code"], "replications": SAME}]
    STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--same", type=Path, metavar="CHECKOUT", help="note that this code gives the same as that one")
    given = parser.parse_args()
    if given.same is not None:
        note_same(given.same.resolve())
        return
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
