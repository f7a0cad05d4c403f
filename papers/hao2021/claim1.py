"""Claim 1 of Hao, Lattimore and Deng (2021): optimism has near-linear regret where data are poor; IDS does not.

The illustrative example with d = 200, s = 2, ε = 0.5 and unit noise, over 1000 rounds. Finding the best of 398
uninformative actions by trying them takes about σ²/ε² rounds each, more than there are. An informative action costs
about 1 and carries information about all of them. The proof asks for d ≥ n / (s log(n) log(ed/s)), which is 13 here.

The sparse policies know the structure of the instance, as in figure 2, and so does the forecaster of
online-to-confidence optimism. LinUCB has a Gaussian prior with the same moments. Both optimists are also tuned, over
candidates that reach far below what their theory allows.

Sparse IDS and sparse TS also play on the paper's own sampler (``algorithm1.py``) under a prior that is the same for all
coefficients, with constants that were tuned on this instance, and 2,000 draws.
"""

from functools import cache
from pathlib import Path

import numpy as np

import sparsebandits as sb
from papers.hao2021 import algorithm1
from papers.hao2021.figure2 import IDS, RANDOMISED, TS, informed_prior, mean_square
from papers.hao2021.runs import DRAWS, SCALES, Report, Scale, Setup, files_of
from sparsebandits import Result
from sparsebandits.experiments import PolicyMaker, Tuning
from sparsebandits.results import Rows

NAME = "claim1"
DIMENSION, SPARSITY, EPSILON, INFORMATIVE = 200, 2, 0.5, 400
OPTIMISM, OPTIMISM_TUNED = "online-to-confidence", "online-to-confidence, tuned"
LINUCB = "LinUCB, tuned"
RADII = (0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.1)
WIDTHS = (0.25, 0.5, 1.0, 2.0, 3.0)
LANGEVIN_DRAWS = 2000


@cache
def environment() -> sb.environments.HardInstance:
    """Return the illustrative example."""
    return sb.environments.HardInstance(DIMENSION, SPARSITY, EPSILON, n_informative=INFORMATIVE, noise_variance=1.0)


def policies(scale: Scale) -> dict[str, PolicyMaker | Tuning]:
    """Return IDS and TS, and the optimists with the constants of their theory and tuned."""
    prior = informed_prior(DIMENSION, SPARSITY, EPSILON)
    square = prior.slab_variance + prior.slab_mean**2
    gaussian = sb.GaussianPrior(
        prior.inclusion * square - (prior.inclusion * prior.slab_mean) ** 2, prior.inclusion * prior.slab_mean
    )
    bound = float(np.hypot(1.0, EPSILON))  # ‖θ*‖

    def optimism(radius: float) -> PolicyMaker:
        return sb.maker(sb.rivals.OnlineToConfidence, prior=prior, bound=bound, sparsity=SPARSITY, scale=radius)

    def linucb(width: float) -> PolicyMaker:
        return sb.maker(sb.LinUCB, prior=gaussian, width=width)

    return {
        IDS: sb.maker(sb.SparseIDS, prior=prior, rule="information-ratio", n_draws=DRAWS),
        RANDOMISED: sb.maker(sb.SparseIDS, prior=prior, selection="randomised", n_draws=DRAWS),
        TS: sb.maker(sb.SparseTS, prior=prior, n_draws=DRAWS),
        OPTIMISM: optimism(1.0),
        OPTIMISM_TUNED: Tuning("scale", RADII, optimism, scale.tuning_trials, scale.horizon),
        LINUCB: Tuning("width", WIDTHS, linucb, scale.tuning_trials, scale.horizon),
    }


def on_papers_sampler(constants: algorithm1.Constants | None = None) -> dict[str, PolicyMaker]:
    """Return IDS and TS on Algorithm 1, by default with the constants that were tuned here."""
    square = mean_square(SPARSITY, EPSILON)
    return algorithm1.policies(constants or algorithm1.TUNED[DIMENSION], SPARSITY / DIMENSION, square, LANGEVIN_DRAWS)


def setup(scale: Scale) -> Setup:
    """Return what is compared."""
    return Setup(NAME, environment(), policies(scale), on_papers_sampler(), scale)


def main(out: Path, size: str, workers: int) -> Report:
    """Run the missing trials in ``out``, draw the figure there, and return how fast each regret grows."""
    result = setup(SCALES[size]).run(out, workers)
    return Report(table(result), [*draw(result, out), *files_of(out, [NAME])])


def draw(result: Result, out: Path) -> list[Path]:
    """Draw regret over rounds."""
    files = [out / f"claim1.{suffix}" for suffix in ("png", "svg")]
    for file in files:
        result.plot(file, f"Illustrative example, d = {DIMENSION}, s = {SPARSITY}, ε = {EPSILON:g}, unit noise")
    return files


def table(result: Result) -> Rows:
    """Return final regret, its growth, and pulls of informative actions, best policy first."""
    pulls = result.pulls_of(environment().informative)
    rows = []
    for row in result.growth():
        name = row["policy"]
        final, played = float(result.final(name).mean()), float(pulls[name].mean())
        rows.append({"policy": name, "final regret": final, **row, "informative pulls": played})
    return Rows.of(rows)
