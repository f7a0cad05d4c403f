"""Figure 3 of Hao, Lattimore and Deng (2021): cumulative regret on Gaussian actions, at d = 20, 40 and 100.

200 actions from N(0, Σ) with Σ_ij = 0.6^|i−j|, s = d/10 nonzero coefficients, ‖θ*‖ = 1, noise variance 2, 200 trials,
10,000 draws. The paper does not state the horizon; it is 1000 here. Every Bayesian policy has a prior with the right
second moment: inclusion s/d and slab N(0, 1/s), or N(0, I/d).

ESTC is shown twice: with the exploration length and penalty of its theorem, and with a tuned length and a
cross-validated penalty. As far as the paper says, it tunes only LinUCB.

Sparse IDS and sparse TS are also shown on the paper's own sampler (``algorithm1.py``). Two policies are not in the
paper: this package's default rule with the same prior and a known horizon, and its default policy, which knows none of
noise, sparsity, effect size and horizon.
"""

from pathlib import Path

import sparsebandits as sb
from papers.hao2021 import algorithm1
from papers.hao2021.runs import DRAWS, NOISE_VARIANCE, SCALES, Report, Scale, Setup, files_of, final_regret
from sparsebandits import Result
from sparsebandits.experiments import PolicyMaker, Tuning
from sparsebandits.results import Rows

DIMENSIONS = (20, 40, 100)
ACTIONS, FEATURES_PER_EFFECT = 200, 10
SPARSE_IDS, SPARSE_TS = "sparse IDS", "sparse TS"
COST_TO_GO, DEFAULT = "sparse cost to go", "SparseIDS, default"
"""This package's default rule with known prior and horizon, and its default policy."""

ESTC = ("ESTC", "ESTC, tuned")
WIDTHS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
LENGTHS = (25, 50, 75, 100, 150, 200, 300)


def environment(dimension: int) -> sb.environments.GaussianActions:
    """Return the worlds of a panel."""
    return sb.environments.GaussianActions(
        dimension,
        dimension // FEATURES_PER_EFFECT,
        n_actions=ACTIONS,
        correlation=0.6,
        noise_variance=NOISE_VARIANCE,
    )


def policies(dimension: int, scale: Scale) -> dict[str, PolicyMaker | Tuning]:
    """Return all policies except those on the paper's sampler."""
    sparsity = dimension // FEATURES_PER_EFFECT
    prior = sb.SpikeSlab(sparsity / dimension, 1.0 / sparsity)
    lengths = tuple(length for length in LENGTHS if length <= scale.horizon)
    return {
        SPARSE_IDS: sb.maker(sb.SparseIDS, prior=prior, rule="information-ratio", n_draws=DRAWS),
        SPARSE_TS: sb.maker(sb.SparseTS, prior=prior, n_draws=DRAWS),
        "linear IDS": sb.maker(sb.LinearIDS),
        "LinTS": sb.maker(sb.LinTS),
        "LinUCB, tuned": Tuning(
            "width", WIDTHS, lambda width: sb.maker(sb.LinUCB, width=width), scale.tuning_trials, scale.horizon
        ),
        ESTC[0]: sb.maker(sb.rivals.ESTC, sparsity=sparsity),
        ESTC[1]: Tuning(
            "exploration",
            lengths,
            lambda length: sb.maker(sb.rivals.ESTC, exploration=length, penalty="cross-validation"),
            scale.tuning_trials,
            scale.horizon,
        ),
        COST_TO_GO: sb.maker(sb.SparseIDS, prior=prior),
        DEFAULT: sb.maker(sb.SparseIDS, noise_variance=None, horizon=None, intercept=True),
    }


def on_papers_sampler(dimension: int, constants: algorithm1.Constants | None = None) -> dict[str, PolicyMaker]:
    """Return sparse IDS and sparse TS on Algorithm 1, by default with the constants that were tuned here."""
    sparsity = dimension // FEATURES_PER_EFFECT
    return algorithm1.policies(constants or algorithm1.TUNED[dimension], sparsity / dimension, 1.0 / sparsity)


def setups(scale: Scale) -> dict[int, Setup]:
    """Return what is compared, by dimension."""
    return {d: Setup(name_of(d), environment(d), policies(d, scale), on_papers_sampler(d), scale) for d in DIMENSIONS}


def main(out: Path, size: str, workers: int) -> Report:
    """Run the missing trials in ``out``, draw the figure there, and return the final regret of each policy."""
    results = {dimension: setup.run(out, workers) for dimension, setup in setups(SCALES[size]).items()}
    return Report(table(results), [*draw(results, out), *files_of(out, map(name_of, DIMENSIONS))])


def name_of(dimension: int) -> str:
    """Return the name of the results at this dimension."""
    return f"figure3-d{dimension}"


def draw(results: dict[int, Result], out: Path) -> list[Path]:
    """Draw one panel per dimension; the curves of ESTC, with several times the regret of others, may leave it."""
    panels = {
        f"d = {dimension}, s = {dimension // FEATURES_PER_EFFECT}": result for dimension, result in results.items()
    }
    files = [out / f"figure3.{suffix}" for suffix in ("png", "svg")]
    for file in files:
        title = f"{ACTIONS} Gaussian actions, one feature in ten matters, noise variance {NOISE_VARIANCE:g}"
        sb.plots.regret_panels(panels, file, title, beyond=ESTC)
    return files


def table(results: dict[int, Result]) -> Rows:
    """Return final regret by dimension."""
    return Rows.of([{"d": d, **row} for d, result in results.items() for row in final_regret(result)])
