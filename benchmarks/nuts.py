"""Gibbs against NumPyro's No-U-Turn sampler on the same posterior: ``make bench-nuts``.

A Laplace spike, d = 100 and n = 300, at two widths of the spike. NUTS cannot draw γ, so it gets the mixture with γ
summed out. It runs twice: with a likelihood of the rows, which is how a model is written, and with one of X'X, which is
cheaper. All run four chains. What counts are effective draws of the slowest feature a second of processor time,
warm-up included and compilation not. As the spike narrows, NUTS stops crossing between the two components; so means are
compared too.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import argparse
from collections.abc import Callable
from functools import partial
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import laplace, norm
from numpyro.infer import MCMC, NUTS

import sparsebandits as sb
from sparsebandits.checks import FloatArray
from sparsebandits.posteriors.diagnostics import effective_draws, split_r_hat
from sparsebandits.tables import Table

DIMENSION, COUNT, NOISE, CHAINS = 100, 300, 2.0, 4
WANTED = {0.1: 30.0, 0.01: 1000.0}
INCLUSION, SLAB_VARIANCE = 0.1, 0.1


def data() -> tuple[FloatArray, FloatArray]:
    """Return actions of one instance, chosen at random, and their rewards."""
    instance = sb.GaussianActions(DIMENSION, 10, noise_variance=NOISE).sample(0)
    rng = np.random.default_rng(0)
    x = instance.actions[rng.integers(len(instance.actions), size=COUNT)]
    return x, x @ instance.theta + np.sqrt(NOISE) * rng.standard_normal(COUNT)


def gibbs(x: FloatArray, y: FloatArray, scale: float, draws: int, seed: int) -> FloatArray:
    prior = sb.SpikeSlab(INCLUSION, SLAB_VARIANCE, spike=sb.LaplaceSpike(scale))
    posterior = sb.Gibbs(prior, DIMENSION, NOISE, draws, seed, CHAINS)
    posterior.update(x, y)
    return posterior.draws().theta


def sampler(x: FloatArray, y: FloatArray, scale: float, draws: int, rows: bool) -> Any:
    """Return NUTS, set up for this posterior."""
    gram, moment = jnp.asarray(x.T @ x / NOISE), jnp.asarray(x.T @ y / NOISE)
    features, rewards = jnp.asarray(x), jnp.asarray(y)

    def potential(theta: Any) -> Any:
        slab = np.log(INCLUSION) + norm.logpdf(theta, 0.0, np.sqrt(SLAB_VARIANCE))
        spike = np.log(1.0 - INCLUSION) + laplace.logpdf(theta, 0.0, scale)
        misfit = 0.5 * theta @ gram @ theta - moment @ theta
        if rows:
            misfit = 0.5 * ((rewards - features @ theta) ** 2).sum() / NOISE
        return misfit - jnp.logaddexp(slab, spike).sum()

    return MCMC(
        NUTS(potential_fn=potential),
        num_warmup=1000,
        num_samples=draws // CHAINS,
        num_chains=CHAINS,
        chain_method="sequential",
        progress_bar=False,
    )


def nuts(x: FloatArray, y: FloatArray, scale: float, draws: int, rows: bool) -> Callable[[int], FloatArray]:
    """Return a function of the seed that runs compiled NUTS from dispersed starts."""
    start = jnp.asarray(0.3 * np.random.default_rng(0).standard_normal((CHAINS, DIMENSION)))
    mcmc = sampler(x, y, scale, draws, rows)
    mcmc.run(jax.random.PRNGKey(0), init_params=start)  # compiles

    def run(seed: int) -> FloatArray:
        mcmc.run(jax.random.PRNGKey(seed + 1), init_params=start)
        return np.asarray(mcmc.get_samples(), dtype=np.float64)

    return run


class Run(NamedTuple):
    """What one run gave: effective draws, R-hat, seconds, posterior means."""

    effective: float
    r_hat: float
    seconds: float
    means: FloatArray


def measure(run: Callable[[int], FloatArray], seed: int) -> Run:
    begun = process_time()
    theta = run(seed)
    seconds = process_time() - begun
    effective, r_hat = effective_draws(theta, CHAINS).min(), split_r_hat(theta, CHAINS).max()
    return Run(float(effective), float(r_hat), seconds, theta.mean(axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    x, y = data()
    gibbs(x, y, 0.1, 100, 0)  # compile
    table: list[tuple[Any, ...]] = []
    for scale, wanted in WANTED.items():
        competitors: dict[str, Callable[[int], FloatArray]] = {
            "Gibbs": partial(gibbs, x, y, scale, given.draws),
            "NUTS of rows": nuts(x, y, scale, given.draws, rows=True),
            "NUTS of X'X": nuts(x, y, scale, given.draws, rows=False),
        }
        found: dict[str, list[Run]] = {name: [] for name in competitors}
        for seed in range(given.repeats):
            for name, run in competitors.items():
                found[name].append(measure(run, seed))
        rates = {name: median(r.effective / r.seconds for r in runs) for name, runs in found.items()}
        for name, runs in found.items():
            apart = max(float(np.abs(r.means - g.means).max()) for r, g in zip(runs, found["Gibbs"], strict=True))
            ratio = rates["Gibbs"] / rates[name]
            verdict = (None, None, "") if name == "Gibbs" else (ratio, wanted, "yes" if ratio >= wanted else "no")
            effective, r_hat = median(r.effective for r in runs), median(r.r_hat for r in runs)
            seconds = median(r.seconds for r in runs)
            table.append((scale, name, effective, r_hat, seconds, rates[name], apart, *verdict))
    titles = ("spike", "sampler", "effective", "R-hat", "seconds", "a second", "means apart", "ratio", "wanted", "met")
    print(f"d = {DIMENSION}, n = {COUNT}, {given.draws} draws from {CHAINS} chains, medians of {given.repeats} runs\n")
    print(Table(titles, table))


if __name__ == "__main__":
    main()
