"""Problems anywhere in the range of numbers: refused, or right to the precision of the engine.

Units, widths of slabs, signals and rewards are drawn over a hundred orders of magnitude, half of them so that signal
and noise are within some orders of each other. Each problem goes to every engine over models, one reward after the
other, and the posterior is compared with an enumeration in a hundred and fifty digits.
"""

import pickle
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

import sparsebandits as sb
from benchmarks.attacks.extended import Exact, enumerate_exactly
from benchmarks.attacks.outcome import Outcome
from sparsebandits.arguments import ArgumentError, FloatArray

INCLUSION, ROWS, DRAWS = (0.3, 0.5, 0.4), 12, 4000
PROBLEMS = 400
ENGINES = ("Enumeration", "Gibbs", "Particles")

CLOSE = {"Enumeration": (0.01, 0.05), "Gibbs": (0.1, 0.4), "Particles": (0.1, 0.4)}
"""Largest error of an inclusion probability, and of a mean in standard deviations, that is no error of the engine. For
the samplers this is six standard errors or more of a few hundred effective draws."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Data, noise and slab.

    Attributes
    ----------
    x, y : array of shape (n, d), array of shape (n,)
        Features and rewards.
    noise_variance, slab_variance : float
        Variances.
    """

    x: FloatArray
    y: FloatArray
    noise_variance: float
    slab_variance: float


def problem(rng: Generator) -> Problem:
    """Return a random problem."""
    x = rng.standard_normal((ROWS, len(INCLUSION)))
    if rng.random() < 0.3:
        x[:, 1] = x[:, 0]
    if rng.random() < 0.5:  # anything
        feature, noise, slab, reward = 10.0 ** rng.uniform(-49, 49, 4)
    else:  # signal and noise within some orders of magnitude
        feature, deviation = 10.0 ** rng.uniform(-10, 10, 2)
        noise, slab = deviation**2, (10.0 ** rng.uniform(-4, 9) * deviation / feature) ** 2
        reward = deviation * 10.0 ** rng.uniform(-2, 9)
    signal = x[:, 0] * (reward if rng.random() < 0.5 else np.sqrt(noise))
    y = np.clip(signal + np.sqrt(noise) * rng.standard_normal(ROWS), -1e50, 1e50)
    if rng.random() < 0.5:
        y[ROWS // 2] = reward
    return Problem(np.clip(feature * x, -1e50, 1e50), y, float(noise), float(slab))


def result(engine: str, one: Problem, exact: Exact) -> str:
    """Return what became of one problem: "refused", "identical", "silent" or "crashed"."""
    posterior = None
    try:
        prior = sb.SpikeSlab(INCLUSION, one.slab_variance)
        posterior = getattr(sb, engine)(prior, 3, one.noise_variance, n_draws=DRAWS, seed=0)
        for row, reward in zip(one.x, one.y, strict=True):
            before = pickle.dumps(posterior.state())
            posterior.update(row, reward)
        mean, inclusion, good = posterior.mean(), posterior.inclusion(), posterior.health().good
    except ArgumentError:
        return "refused" if posterior is None or pickle.dumps(posterior.state()) == before else "silent"
    except Exception:
        return "crashed"
    deviation = np.array(exact.deviation) + 1e-13 * np.abs(exact.mean)
    wrong_inclusion = np.abs(inclusion - exact.inclusion).max()
    wrong_mean = (np.abs(mean - exact.mean) / np.maximum(deviation, 1e-300)).max()
    right = wrong_inclusion < CLOSE[engine][0] and wrong_mean < CLOSE[engine][1]  # false for NaN
    return "identical" if right else "silent" if good else "refused"  # health says so


def attack(scale: float) -> list[Outcome]:
    """Return the outcome for every engine.

    Parameters
    ----------
    scale : float
        Share of the problems to try.

    Returns
    -------
    list of Outcome
        One per engine.
    """
    rng, found = np.random.default_rng(17), {engine: Counter[str]() for engine in ENGINES}
    for _ in range(max(round(PROBLEMS * scale), 1)):
        one = problem(rng)
        d = len(INCLUSION)
        exact = enumerate_exactly(
            one.x.tolist(), one.y.tolist(), one.noise_variance, INCLUSION, [0.0] * d, [one.slab_variance] * d
        )
        for engine in ENGINES:
            found[engine][result(engine, one, exact)] += 1
    return [
        Outcome(
            f"problems of any magnitude, {engine}",
            counts.total(),
            **{kind: counts[kind] for kind in ("refused", "identical", "silent", "crashed")},
        )
        for engine, counts in found.items()
    ]
