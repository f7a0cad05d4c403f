"""Figure 2 of Hao, Lattimore and Deng (2021): regret and pulls of informative actions on the illustrative example.

d = 10, s = 2, noise variance 2, 200 trials, 10,000 draws. The paper does not state the horizon and ε: the horizon is
1000 here, and ε is swept. There are two priors, as the paper does not state that either. The informed prior knows the
structure of the instance: the last coefficient is −1, and each of the others is N(0, ε²) with probability
(s − 1)/(d − 1), else zero. The symmetric prior knows only the number and the mean square of the coefficients.

Sparse IDS and sparse TS also play on the paper's own sampler (``algorithm1.py``), whose prior is the symmetric one: as
it is printed, it has one spike and one slab for all coefficients. Its constants were tuned at one ε.
"""

from functools import cache
from pathlib import Path

import numpy as np

import sparsebandits as sb
from papers.hao2021 import algorithm1
from papers.hao2021.runs import DRAWS, NOISE_VARIANCE, SCALES, Report, Scale, Setup, files_of, final_regret
from sparsebandits import Result
from sparsebandits.arguments import FloatArray
from sparsebandits.experiments import PolicyMaker
from sparsebandits.results import Rows

DIMENSION, SPARSITY = 10, 2
EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.8, 1.0)
SHOWN = 0.5
"""The ε of the histograms, one figure per prior, and of the search for the constants of Algorithm 1."""

KNOWN_VARIANCE = 1e-4
"""Prior variance of the coefficient that the informed prior knows."""

IDS, RANDOMISED, TS = "sparse IDS", "sparse IDS, randomised", "sparse TS"
SYMMETRIC = ", symmetric prior"
HISTOGRAMS = {
    "histogram": ("informed", (IDS, RANDOMISED, TS)),
    "histogram-symmetric": ("symmetric", (IDS + SYMMETRIC, TS + SYMMETRIC, algorithm1.IDS, algorithm1.TS)),
}
"""The figures of histograms, with the prior of their policies."""


def informed_prior(dimension: int, sparsity: int, epsilon: float) -> sb.SpikeSlab:
    """Return the prior that knows the structure of the illustrative example."""
    inclusion = np.full(dimension, (sparsity - 1) / (dimension - 1))
    mean, variance = np.zeros(dimension), np.full(dimension, epsilon**2)
    inclusion[-1], mean[-1], variance[-1] = 1.0, -1.0, KNOWN_VARIANCE
    return sb.SpikeSlab(inclusion, variance, mean)


def mean_square(sparsity: int, epsilon: float) -> float:
    """Return the mean square of the nonzero coefficients of the illustrative example."""
    return ((sparsity - 1) * epsilon**2 + 1.0) / sparsity


def policies(epsilon: float) -> dict[str, PolicyMaker]:
    """Return IDS and TS under both priors."""
    informed = informed_prior(DIMENSION, SPARSITY, epsilon)
    symmetric = sb.SpikeSlab(SPARSITY / DIMENSION, mean_square(SPARSITY, epsilon))
    return {
        IDS: sb.maker(sb.SparseIDS, prior=informed, rule="information-ratio", n_draws=DRAWS),
        RANDOMISED: sb.maker(sb.SparseIDS, prior=informed, selection="randomised", n_draws=DRAWS),
        TS: sb.maker(sb.SparseTS, prior=informed, n_draws=DRAWS),
        IDS + SYMMETRIC: sb.maker(sb.SparseIDS, prior=symmetric, rule="information-ratio", n_draws=DRAWS),
        TS + SYMMETRIC: sb.maker(sb.SparseTS, prior=symmetric, n_draws=DRAWS),
    }


def on_papers_sampler(epsilon: float, constants: algorithm1.Constants | None = None) -> dict[str, PolicyMaker]:
    """Return IDS and TS on Algorithm 1 under the symmetric prior, by default with the constants tuned here."""
    square = mean_square(SPARSITY, epsilon)
    return algorithm1.policies(constants or algorithm1.TUNED[DIMENSION], SPARSITY / DIMENSION, square)


@cache
def environment(epsilon: float) -> sb.environments.HardInstance:
    """Return the illustrative example."""
    return sb.environments.HardInstance(DIMENSION, SPARSITY, epsilon, noise_variance=NOISE_VARIANCE)


def name_of(epsilon: float) -> str:
    """Return the name of the results at this ε."""
    return f"figure2-e{epsilon:g}"


def setups(scale: Scale) -> dict[float, Setup]:
    """Return what is compared, by ε."""
    thin = scale.thinned(3)
    return {
        epsilon: Setup(name_of(epsilon), environment(epsilon), policies(epsilon), on_papers_sampler(epsilon), thin)
        for epsilon in EPSILONS
    }


def main(out: Path, size: str, workers: int) -> Report:
    """Run the missing trials in ``out``, draw the figures there, and return regret and pulls of each policy."""
    results = {epsilon: setup.run(out, workers) for epsilon, setup in setups(SCALES[size]).items()}
    return Report(table(results), [*draw(results, out), *files_of(out, map(name_of, EPSILONS))])


def draw(results: dict[float, Result], out: Path) -> list[Path]:
    """Draw regret over rounds, regret and informative pulls over ε, and histograms at one ε."""
    pulls = {epsilon: informative_pulls(result, epsilon) for epsilon, result in results.items()}
    names = list(next(iter(results.values())).regret)
    regret = {name: {epsilon: result.final(name) for epsilon, result in results.items()} for name in names}
    informative = {name: {epsilon: counts[name] for epsilon, counts in pulls.items()} for name in names}
    title = f"Illustrative example, d = {DIMENSION}, s = {SPARSITY}, noise variance {NOISE_VARIANCE:g}"
    files = []
    for suffix in ("png", "svg"):
        paths = [out / f"figure2-{part}.{suffix}" for part in ("regret", "pulls", "rounds", *HISTOGRAMS)]
        sb.plots.sweep(regret, paths[0], "ε", title=title)
        sb.plots.sweep(informative, paths[1], "ε", "informative pulls in a trial", title)
        sb.plots.regret_panels({f"ε = {epsilon:g}": result for epsilon, result in results.items()}, paths[2], title)
        for path, (prior, policies) in zip(paths[3:], HISTOGRAMS.values(), strict=True):
            shown = {name.removesuffix(SYMMETRIC): pulls[SHOWN][name] for name in policies}
            caption = f"Illustrative example, d = {DIMENSION}, s = {SPARSITY}, ε = {SHOWN:g}, {prior} prior"
            sb.plots.pull_histograms(shown, path, caption, "pulls of informative actions in a trial")
        files += paths
    return files


def informative_pulls(result: Result, epsilon: float) -> dict[str, FloatArray]:
    """Return how often each policy played informative actions, one number per trial."""
    return result.pulls_of(environment(epsilon).informative)


def table(results: dict[float, Result]) -> Rows:
    """Return final regret and informative pulls by ε."""
    rows = []
    for epsilon, result in results.items():
        pulls = informative_pulls(result, epsilon)
        for row in final_regret(result):
            rows.append({"ε": epsilon, **row, "informative pulls": float(pulls[row["policy"]].mean())})
    return Rows.of(rows)
