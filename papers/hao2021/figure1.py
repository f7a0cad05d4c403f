"""Figure 1 of Hao, Lattimore and Deng (2021): posteriors of the first three coordinates in a sparse regression.

d = 10, n = 100, rows N(0, Σ) with Σ_ij = 0.6^|i−j|, θ* = (3, 2, 0, …). Three rows of panels, which differ in one thing
each: the paper's sampler (Algorithm 1, one chain); Particles under the same prior, so that the first two differ by the
error of the sampler alone; Particles with a point mass for the spike, so that the last two differ by the prior alone.

The paper does not give noise, β, λ₀ and λ₁: here the noise variance is 1 (its model section), β = 0.3 (its s = 3 of
d = 10), λ₀ = 0.05 and λ₁ = 10.
"""

from pathlib import Path

import numpy as np

import sparsebandits as sb
from sparsebandits.experiments.plots import histograms
from sparsebandits.tables import Table

TRUTH = np.array([3.0, 2.0, 0, 0, 0, 0, 0, 0, 0, 0])
ROWS, NOISE_VARIANCE, BETA, LAMBDA0, LAMBDA1 = 100, 1.0, 0.3, 0.05, 10.0
SEED, BURN_IN = 0, 1000


def posteriors(n_draws: int) -> dict[str, sb.Langevin | sb.Particles]:
    """Return the three engines, given the same rows."""
    d = len(TRUTH)
    rng = np.random.default_rng(SEED)
    x = sb.GaussianActions(d, 1, n_actions=ROWS, correlation=0.6).sample(SEED).actions
    y = x @ TRUTH + np.sqrt(NOISE_VARIANCE) * rng.standard_normal(ROWS)
    laplace = sb.SpikeSlab.from_paper(BETA, LAMBDA0, LAMBDA1, NOISE_VARIANCE)
    point_mass = sb.SpikeSlab(BETA, NOISE_VARIANCE * LAMBDA1)
    engines: dict[str, sb.Langevin | sb.Particles] = {
        "Algorithm 1 (Langevin), Laplace spike": sb.Langevin(
            laplace, d, NOISE_VARIANCE, n_draws, SEED, burn_in=BURN_IN
        ),
        "Particles (exact), Laplace spike": sb.Particles(laplace, d, NOISE_VARIANCE, n_draws, SEED),
        "Particles (exact), point-mass spike": sb.Particles(point_mass, d, NOISE_VARIANCE, n_draws, SEED),
    }
    for engine in engines.values():
        engine.update(x, y)
    return engines


def main(out: Path, n_draws: int = 10_000) -> tuple[Table, list[Path]]:
    """Draw the figure into ``out``; return the posterior means and inclusions beside the truth, and the files."""
    engines = posteriors(n_draws)
    files = [out / f"figure1.{suffix}" for suffix in ("png", "svg")]
    for file in files:
        histograms(
            {name: engine.draws() for name, engine in engines.items()},
            TRUTH[:3],
            file,
            title="Posterior of the first three coefficients (Hao, Lattimore and Deng 2021, figure 1)",
            caption=f"d = {len(TRUTH)}, n = {ROWS}, noise variance {NOISE_VARIANCE:g}; prior: inclusion {BETA:g}, slab "
            f"variance {NOISE_VARIANCE * LAMBDA1:g}, Laplace spike of scale {np.sqrt(NOISE_VARIANCE) * LAMBDA0:g}\n"
            f"{n_draws:,} draws a row, seed {SEED}; Algorithm 1 as one chain after {BURN_IN:,} steps of burn-in",
        )
    rows = [
        (name, j + 1, float(TRUTH[j]), float(engine.mean()[j]), float(engine.inclusion()[j]))
        for name, engine in engines.items()
        for j in range(len(TRUTH))
    ]
    return Table(("posterior", "coordinate", "truth", "mean", "P(included)"), rows), files
