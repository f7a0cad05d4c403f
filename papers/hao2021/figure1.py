"""Figure 1 of Hao, Lattimore and Deng (2021): posteriors of the first three coordinates in a sparse regression.

d = 10, n = 100, rows N(0, Σ) with Σ_ij = 0.6^|i−j|, θ* = (3, 2, 0, …). The paper's sampler (Algorithm 1, one chain)
above, the exact posterior (Particles, point-mass spike) below. The paper does not give noise, β, λ₀ and λ₁: here the
noise variance is 1 (its model section), β = 0.3 (its s = 3 of d = 10), λ₀ = 0.05 and λ₁ = 10.
"""

from pathlib import Path

import numpy as np

import sparsebandits as sb
from sparsebandits.experiments.plots import histograms
from sparsebandits.tables import Table

TRUTH = np.array([3.0, 2.0, 0, 0, 0, 0, 0, 0, 0, 0])
SEED = 0


def posteriors(n_draws: int) -> dict[str, sb.Langevin | sb.Particles]:
    """Return the two engines, given the same 100 rows."""
    rng = np.random.default_rng(SEED)
    x = sb.GaussianActions(10, 1, n_actions=100, correlation=0.6).sample(SEED).actions
    y = x @ TRUTH + rng.standard_normal(100)
    paper = sb.SpikeSlab.from_paper(beta=0.3, lambda0=0.05, lambda1=10.0, noise_variance=1.0)
    exact = sb.SpikeSlab(inclusion=0.3, slab_variance=10.0)
    engines: dict[str, sb.Langevin | sb.Particles] = {
        "Algorithm 1": sb.Langevin(paper, 10, 1.0, n_draws, SEED, burn_in=1000),
        "exact": sb.Particles(exact, 10, 1.0, n_draws, SEED),
    }
    for engine in engines.values():
        engine.update(x, y)
    return engines


def main(out: Path, n_draws: int = 10_000) -> Table:
    """Draw the figure into ``out``; return the posterior means and inclusions beside the truth."""
    engines = posteriors(n_draws)
    panels = {
        f"{name}, coordinate {j + 1}": (engine.draws().theta[:, j], engine.draws().weights, float(TRUTH[j]))
        for name, engine in engines.items()
        for j in range(3)
    }
    for suffix in ("png", "svg"):
        histograms(panels, out / f"figure1.{suffix}", columns=3, label="θ")
    rows = [
        (name, j + 1, float(TRUTH[j]), float(engine.mean()[j]), float(engine.inclusion()[j]))
        for name, engine in engines.items()
        for j in range(10)
    ]
    return Table(("posterior", "coordinate", "truth", "mean", "P(included)"), rows)
