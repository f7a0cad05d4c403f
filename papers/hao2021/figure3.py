"""Figure 3 of Hao, Lattimore and Deng (2021): cumulative regret on Gaussian actions, at d = 20, 40 and 100.

200 actions from N(0, Σ) with Σ_ij = 0.6^|i−j|, s = d/10 nonzero coefficients, ‖θ*‖ = 1, noise variance 2, 200 trials,
10,000 draws. The paper does not state the horizon; it is 1000 here. Every Bayesian policy has a prior with the right
second moment: inclusion s/d and slab N(0, 1/s), or N(0, I/d).

ESTC is shown twice: with the exploration length and penalty of its theorem, and with a tuned length and a
cross-validated penalty. As far as the paper says, it tunes only LinUCB.
"""

from pathlib import Path

import sparsebandits as sb
from papers.hao2021.runs import DRAWS, NOISE_VARIANCE, SCALES, Report, Scale, final_regret, run
from sparsebandits import Result
from sparsebandits.experiments import PolicyMaker, Tuning
from sparsebandits.results import Rows

DIMENSIONS = (20, 40, 100)
ACTIONS = 200
SPARSE_IDS, PAPERS_OWN = "sparse IDS", "sparse IDS, Langevin"
ESTC = ("ESTC", "ESTC, tuned")
WIDTHS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
LENGTHS = (25, 50, 75, 100, 150, 200, 300)


def policies(dimension: int, scale: Scale) -> dict[str, PolicyMaker | Tuning]:
    """Return all policies except the one on the paper's sampler."""
    sparsity = dimension // 10
    prior = sb.SpikeSlab(sparsity / dimension, 1.0 / sparsity)
    lengths = tuple(length for length in LENGTHS if length <= scale.horizon)
    return {
        SPARSE_IDS: sb.maker(sb.SparseIDS, prior=prior, rule="information-ratio", n_draws=DRAWS),
        "sparse TS": sb.maker(sb.SparseTS, prior=prior, n_draws=DRAWS),
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
    }


def papers_own(dimension: int) -> PolicyMaker:
    """Return sparse IDS on Algorithm 1, with the constants that performed best in ``benchmarks.langevin``."""
    sparsity = dimension // 10
    return sb.maker(
        sb.SparseIDS,
        prior=sb.SpikeSlab(sparsity / dimension, 1.0 / sparsity, spike=sb.LaplaceSpike(0.1)),
        rule="information-ratio",
        n_draws=DRAWS,
        engine="langevin",
        engine_options={"chains": 100, "warm_start": True, "learning_rate": 1.0},
    )


def main(out: Path, size: str, workers: int) -> Report:
    """Run the missing trials in ``out``, draw the figure there, and return the final regret of each policy."""
    scale, results = SCALES[size], {}
    for dimension in DIMENSIONS:
        environment = sb.environments.GaussianActions(
            dimension, dimension // 10, n_actions=ACTIONS, correlation=0.6, noise_variance=NOISE_VARIANCE
        )
        later = {PAPERS_OWN: (papers_own(dimension), scale.langevin_trials[dimension])}
        name = f"figure3-d{dimension}"
        results[dimension] = run(environment, policies(dimension, scale), scale, out, name, workers, later)
    return Report(table(results), [*draw(results, out), *(out / f"figure3-d{d}.parquet" for d in DIMENSIONS)])


def draw(results: dict[int, Result], out: Path) -> list[Path]:
    """Draw one panel per dimension; the curves of ESTC, with several times the regret of others, may leave it."""
    panels = {f"d = {dimension}, s = {dimension // 10}": result for dimension, result in results.items()}
    files = [out / f"figure3.{suffix}" for suffix in ("png", "svg")]
    for file in files:
        title = f"{ACTIONS} Gaussian actions, one feature in ten matters, noise variance {NOISE_VARIANCE:g}"
        sb.plots.regret_panels(panels, file, title, beyond=ESTC)
    return files


def table(results: dict[int, Result]) -> Rows:
    """Return final regret by dimension."""
    return Rows.of([{"d": d, **row} for d, result in results.items() for row in final_regret(result)])
