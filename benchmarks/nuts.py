"""Gibbs against the No-U-Turn samplers of NumPyro and BlackJAX on the same posterior: ``make bench-nuts``.

A Laplace spike, d = 100 and n = 300, at two widths of the spike. NUTS cannot draw γ, so it gets the mixture with γ
summed out, and the likelihood through X'X and X'y, which is cheaper than through the rows. All run four chains from
dispersed starts, 10,000 draws in all; NUTS takes 1,000 steps of warm-up a chain before, as is usual. What counts are
effective draws of the slowest feature a second of processor time, warm-up included and compilation not. As the spike
narrows, NUTS stops crossing between the two components; so means are compared too.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import sys
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any, TypeAlias

import numpy as np

import sparsebandits as sb
from benchmarks.section import Figures, around, run, short, target, targets_table
from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors.diagnostics import effective_draws, split_r_hat
from sparsebandits.tables import Cell, Table

DIMENSION, COUNT, NOISE, CHAINS = 100, 300, 2.0, 4
INCLUSION, SLAB_VARIANCE = 0.1, 0.1
WANTED = {0.1: 15.0, 0.01: 1000.0}
"""Times as many effective draws a second as NUTS, by the width of the spike."""

REPEATS = {0.1: 3, 0.01: 2}
"""Runs of each sampler; a narrow spike takes NUTS more than a minute."""

EASY = 1.0
"""A width at which NUTS is quick: there it is compiled."""

Drawn: TypeAlias = tuple[float, FloatArray]
"""Seconds of warm-up, where it is apart, and draws, chain after chain."""

Sampler: TypeAlias = Callable[[float, int], Drawn]
"""From the width of the spike and a seed."""

Density: TypeAlias = Callable[[Any], Any]
WarmUp: TypeAlias = Callable[[Any, Any], Any]  # of a key and a start
Step: TypeAlias = Callable[[Any, Any], Any]  # of what is carried on and a key
Peer: TypeAlias = Callable[[Density, int], tuple[WarmUp, Step]]


def data() -> tuple[FloatArray, FloatArray]:
    """Return actions of one instance, chosen at random, and their rewards."""
    instance = sb.environments.GaussianActions(DIMENSION, 10, noise_variance=NOISE).sample(0)
    rng = np.random.default_rng(0)
    x = instance.actions[rng.integers(len(instance.actions), size=COUNT)]
    return x, x @ instance.theta + np.sqrt(NOISE) * rng.standard_normal(COUNT)


def gibbs(x: FloatArray, y: FloatArray, draws: int) -> Sampler:
    """Return our own sampler; its warm-up is part of a run."""

    def sample(scale: float, seed: int) -> Drawn:
        prior = sb.SpikeSlab(INCLUSION, SLAB_VARIANCE, spike=sb.LaplaceSpike(scale))
        posterior = sb.Gibbs(prior, DIMENSION, NOISE, draws, seed, CHAINS)
        posterior.update(x, y)
        return 0.0, posterior.draws().theta

    return sample


def log_density(theta: Any, gram: Any, moment: Any, scale: Any) -> Any:
    """Return the log posterior density of θ, up to a constant."""
    import jax.numpy as jnp
    from jax.scipy.stats import laplace, norm

    slab = np.log(INCLUSION) + norm.logpdf(theta, 0.0, np.sqrt(SLAB_VARIANCE))
    spike = np.log(1.0 - INCLUSION) + laplace.logpdf(theta, 0.0, scale)
    return jnp.logaddexp(slab, spike).sum() + moment @ theta - 0.5 * theta @ gram @ theta


def nuts(x: FloatArray, y: FloatArray, draws: int, warm_up: int, peer: Peer) -> Sampler:
    """Return a peer's NUTS, compiled: the chains one after the other, each by a loop of compiled steps."""
    import jax
    import jax.numpy as jnp

    gram, moment = jnp.asarray(x.T @ x / NOISE), jnp.asarray(x.T @ y / NOISE)
    start = jnp.asarray(0.3 * np.random.default_rng(0).standard_normal((CHAINS, DIMENSION)))

    def density_of(scale: Any) -> Density:
        return lambda theta: log_density(theta, gram, moment, scale)

    def warmed(keys: Any, scale: Any) -> Any:
        return jax.lax.map(lambda given: peer(density_of(scale), warm_up)[0](*given), (keys, start))

    def drawn(keys: Any, tuned: Any, scale: Any) -> Any:
        def chain(given: Any) -> Any:
            key, warm = given
            step = peer(density_of(scale), warm_up)[1]
            return jax.lax.scan(step, warm, jax.random.split(key, draws // CHAINS))[1]

        return jax.lax.map(chain, (keys, tuned))

    compiled_warm_up, compiled_draws = jax.jit(warmed), jax.jit(drawn)

    def sample(scale: float, seed: int) -> Drawn:
        first, second = jax.random.split(jax.random.PRNGKey(seed), (2, CHAINS))
        begun = process_time()
        tuned = jax.block_until_ready(compiled_warm_up(first, scale))
        seconds = process_time() - begun
        return seconds, np.asarray(compiled_draws(second, tuned, scale), dtype=np.float64).reshape(-1, DIMENSION)

    sample(EASY, 0)
    return sample


def numpyro_nuts(density: Density, count: int) -> tuple[WarmUp, Step]:
    """Return NumPyro's warm-up from a start, and its step."""
    from jax.lax import fori_loop
    from numpyro.infer import NUTS

    kernel = NUTS(potential_fn=lambda theta: -density(theta))

    def warm_up(key: Any, start: Any) -> Any:
        begun = kernel.init(key, count, start, (), {})
        return fori_loop(0, count, lambda _, state: kernel.sample(state, (), {}), begun)

    def step(state: Any, key: Any) -> Any:
        kernel.init(key, count, state.z, (), {})  # tells the kernel the density; nothing of it is left when compiled
        state = kernel.sample(state, (), {})
        return state, state.z

    return warm_up, step


def blackjax_nuts(density: Density, count: int) -> tuple[WarmUp, Step]:
    """Return BlackJAX's window adaptation from a start, and its step."""
    import blackjax

    def warm_up(key: Any, start: Any) -> Any:
        found, _ = blackjax.window_adaptation(blackjax.nuts, density).run(key, start, count)
        return found.state, found.parameters

    def step(tuned: Any, key: Any) -> Any:
        state, parameters = tuned
        state, _ = blackjax.nuts(density, **parameters).step(key, state)
        return (state, parameters), state.position

    return warm_up, step


def one_run(sampler: Sampler, scale: float, seed: int) -> tuple[Figures, FloatArray]:
    """Return the figures of one run, and the posterior means that it found."""
    begun = process_time()
    warm, theta = sampler(scale, seed)
    seconds = process_time() - begun
    effective, r_hat = effective_draws(theta, CHAINS).min(), split_r_hat(theta, CHAINS).max()
    figures = {"effective": float(effective), "r_hat": float(r_hat), "seconds": seconds, "warm_up": warm}
    return figures, theta.mean(axis=0)


def measure(quick: bool) -> Figures:
    """Run the samplers in turns, at both widths of the spike."""
    draws, warm_up = (1000, 100) if quick else (10_000, 1000)
    x, y = data()
    samplers = {
        "Gibbs": gibbs(x, y, draws),
        "NumPyro NUTS": nuts(x, y, draws, warm_up, numpyro_nuts),
        "BlackJAX NUTS": nuts(x, y, draws, warm_up, blackjax_nuts),
    }
    samplers["Gibbs"](EASY, 0)  # compile
    runs = []
    for scale, repeats in REPEATS.items():
        found: dict[str, list[Figures]] = {name: [] for name in samplers}
        for seed in range(1 if quick else repeats):
            ours: FloatArray = np.empty(0)
            for name, sampler in samplers.items():  # Gibbs first
                print(f"nuts: spike {scale:g}, run {seed + 1}, {name}", file=sys.stderr, flush=True)
                figures, means = one_run(sampler, scale, seed + 1)
                ours = means if name == "Gibbs" else ours
                found[name].append({**figures, "apart": float(np.abs(means - ours).max())})
        runs += [{"spike": scale, "sampler": name, "runs": of_name} for name, of_name in found.items()]
    return {"draws": draws, "warm_up": warm_up, "samplers": runs, "targets": goals(runs)}


def goals(runs: list[Figures]) -> list[Figures]:
    """Return how many times as many effective draws a second Gibbs makes as each NUTS."""
    reached = []
    for scale, wanted in WANTED.items():
        ours, *others = (one for one in runs if one["spike"] == scale)
        for other in others:
            ratios = [rate(mine) / rate(theirs) for mine, theirs in zip(ours["runs"], other["runs"], strict=True)]
            reached.append(target(f"Gibbs / {other['sampler']}, spike {scale:g}", ratios, wanted))
    return reached


def rate(figures: Figures) -> float:
    """Return effective draws a second."""
    return float(figures["effective"] / figures["seconds"])


def page(figures: Figures) -> str:
    """Return the section as text."""
    rows: list[tuple[Cell, ...]] = [
        (
            one["spike"],
            one["sampler"],
            len(one["runs"]),
            *(short(median(r[key] for r in one["runs"])) for key in ("effective", "r_hat", "seconds", "warm_up")),
            short(median(rate(r) for r in one["runs"])),
            short(max(r["apart"] for r in one["runs"])),
        )
        for one in figures["samplers"]
    ]
    titles = ("spike", "sampler", "runs", "effective", "R-hat", "seconds", "warm-up", "a second", "means apart")
    return "\n".join(
        (
            f"Effective draws of the slowest feature a second of processor time: d = {DIMENSION}, n = {COUNT}",
            f"{CHAINS} chains, {figures['draws']:,} draws in all, runs in turns; "
            f"NUTS in single precision, {figures['warm_up']:,} steps of warm-up a chain",
            around(figures),
            "",
            str(Table(titles, rows)),
            "Medians of runs; seconds include the warm-up. Means apart: the largest difference from Gibbs, in any run.",
            "",
            targets_table(figures["targets"]),
        )
    )


if __name__ == "__main__":
    run("nuts", measure, page, ("numpyro", "blackjax", "jax"))
