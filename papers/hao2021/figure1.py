"""Figure 1 of Hao, Lattimore and Deng (2021): posteriors of the first three coordinates in a sparse regression.

d = 10, n = 100, rows N(0, Σ) with Σ_ij = 0.6^|i−j|, θ* = (3, 2, 0, …): ``sb.environments.sparse_regression`` draws it.
Three rows of panels, which differ in one thing each: the paper's sampler (Algorithm 1, one chain); Particles under the
same prior, so that the first two rows differ only by the error of the sampler; Particles with a point mass as the
spike, so that the last two differ only by the prior.

The figure shows the first data set; the table averages over as many data sets as there are trials.

The paper does not state the noise, β, λ₀ and λ₁. Here the noise variance is 1 (as in its model section), β = 0.3 (its
s = 3 of d = 10), λ₀ = 0.05 and λ₁ = 10.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import sparsebandits as sb
from papers.hao2021.current import code, is_current
from papers.hao2021.runs import SCALES, Report
from sparsebandits.experiments import now, shown_progress, surroundings
from sparsebandits.files import write_atomically
from sparsebandits.results import Rows, estimate_mean

TRUTH = np.array([3.0, 2.0, 0, 0, 0, 0, 0, 0, 0, 0])
SHOWN = 3
"""Number of coordinates in the figure."""

ROWS, NOISE_VARIANCE, CORRELATION, BETA, LAMBDA0, LAMBDA1 = 100, 1.0, 0.6, 0.3, 0.05, 10.0
DRAWS, BURN_IN = 10_000, 1000
PAPERS_OWN = "Algorithm 1 (Langevin), Laplace spike"
ERRORS = tuple(f"error of coefficient {j + 1}" for j in range(SHOWN))
PATTERN = "pattern found"
FILE = "figure1.json"
SETTINGS = {
    **{"truth": TRUTH.tolist(), "rows": ROWS, "noise variance": NOISE_VARIANCE, "correlation": CORRELATION},
    **{"beta": BETA, "lambda0": LAMBDA0, "lambda1": LAMBDA1, "draws": DRAWS, "burn-in": BURN_IN},
}
"""What the file keeps of them, so that results of other settings are not taken for these."""


def posteriors(seed: int) -> dict[str, sb.Langevin | sb.Particles]:
    """Return the three engines, updated with one data set."""
    d = len(TRUTH)
    data = sb.environments.sparse_regression(seed, TRUTH, ROWS, correlation=CORRELATION, noise_variance=NOISE_VARIANCE)
    laplace = sb.SpikeSlab.from_paper(BETA, LAMBDA0, LAMBDA1, NOISE_VARIANCE)
    point_mass = sb.SpikeSlab(BETA, NOISE_VARIANCE * LAMBDA1)
    engines: dict[str, sb.Langevin | sb.Particles] = {
        PAPERS_OWN: sb.Langevin(laplace, d, NOISE_VARIANCE, DRAWS, seed, burn_in=BURN_IN),
        "Particles (exact), Laplace spike": sb.Particles(laplace, d, NOISE_VARIANCE, DRAWS, seed),
        "Particles (exact), point-mass spike": sb.Particles(point_mass, d, NOISE_VARIANCE, DRAWS, seed),
    }
    for engine in engines.values():
        engine.update(data.x, data.y)
    return engines


def found(seed: int) -> dict[str, dict[str, float]]:
    """Return the errors of posterior means, and whether inclusion probabilities above 1/2 are the true pattern."""
    rows = {}
    for name, engine in posteriors(seed).items():
        apart = np.abs(engine.mean() - TRUTH)[:SHOWN].tolist()
        pattern = float(np.array_equal(engine.inclusion() > 0.5, TRUTH != 0))
        rows[name] = {**dict(zip(ERRORS, apart, strict=True)), PATTERN: pattern}
    return rows


def is_finished(there: Mapping[str, Any], count: int) -> bool:
    """Return whether a file has as many data sets, with these settings, made by code that gives the same."""
    sets, settings = len(there.get("data sets", ())), there.get("settings")
    return (sets, settings) == (count, SETTINGS) and is_current(there["provenance"])


def main(out: Path, size: str, workers: int) -> Report:
    """Draw the figure into ``out``; return the errors of posterior means over data sets."""
    count, file = SCALES[size].trials, out / FILE
    there = json.loads(file.read_text()) if file.exists() else {}
    if not is_finished(there, count):
        made_by, rows, began = code(papers_sampler=True), [], perf_counter()
        with shown_progress(f"figure1, {count} data sets") as progress:
            for row in Parallel(workers, return_as="generator")(delayed(found)(seed) for seed in range(count)):
                rows.append(row)
                progress(len(rows), count)
        content = {
            "settings": SETTINGS,
            "provenance": {
                "finished": now(),
                "seconds": round(perf_counter() - began, 1),
                "workers": workers,
                "code": made_by,
                **surroundings(),
            },
            "data sets": rows,
        }
        write_atomically(file, (json.dumps(content, indent=1) + "\n").encode())
    return Report(table(file), [*draw(out), file])


def draw(out: Path) -> list[Path]:
    """Draw the posteriors of the first data set."""
    engines = posteriors(0)
    files = [out / f"figure1.{suffix}" for suffix in ("png", "svg")]
    for file in files:
        sb.plots.histograms(
            {name: engine.draws() for name, engine in engines.items()},
            TRUTH[:SHOWN],
            file,
            title="Posterior of the first three coefficients (Hao, Lattimore and Deng 2021, figure 1)",
            caption=f"d = {len(TRUTH)}, n = {ROWS}, noise variance {NOISE_VARIANCE:g}; prior: inclusion {BETA:g}, slab "
            f"variance {NOISE_VARIANCE * LAMBDA1:g}, Laplace spike of scale {np.sqrt(NOISE_VARIANCE) * LAMBDA0:g}\n"
            f"{DRAWS:,} draws per row, seed 0; Algorithm 1 as one chain after {BURN_IN:,} steps of burn-in",
        )
    return files


def table(file: Path) -> Rows:
    """Return means over data sets with 95% intervals: errors of posterior means, and how often the pattern is found."""
    every = json.loads(file.read_text())["data sets"]
    rows = []
    for name in every[0]:
        for what in (*ERRORS, PATTERN):
            mean = estimate_mean(np.array([row[name][what] for row in every]))
            estimate = {"mean": mean.value, "95% from": mean.low, "to": mean.high}
            rows.append({"posterior": name, "what": what, **estimate, "data sets": len(every)})
    return Rows.of(rows)
