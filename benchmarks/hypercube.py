"""How the regret of HypercubeElimination grows with the sparsity s and with the dimension d.

``python -m benchmarks.hypercube`` prints the mean regret over a grid of s and d, and fits log regret = c + α log s +
β log d to it. With effects of one size the theory has α = 1 and β = 0: the regret is a sum of log(n) / |θ_i| over the s
coordinates that matter, and the others cost nothing. A second sweep lets effects shrink as 1/s, so that ‖θ*‖₁ = 1: each
of the s terms grows with s, and α is 2.
"""

import argparse
from collections.abc import Sequence

import numpy as np

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.experiments import shown_progress
from sparsebandits.tables import Table

RESAMPLES = 2000


def final_regrets(environment: sb.environments.Hypercube, horizon: int, trials: int) -> FloatArray:
    """Return the regret at the horizon, one number a trial."""
    policies = {"HypercubeElimination": sb.rivals.HypercubeElimination}
    return sb.Experiment(environment, policies, horizon, trials).run().final("HypercubeElimination")


def exponents(factors: FloatArray, regrets: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fit log mean regret to log ``factors`` (cells, p) by least squares; ``regrets`` is (cells, trials).

    Returns the p exponents and their 95% bootstrap interval over trials.
    """
    design = np.column_stack((np.ones(len(factors)), np.log(factors)))
    solve = np.linalg.pinv(design)[1:]
    rng = np.random.default_rng(0)
    cells, trials = regrets.shape
    picked = rng.integers(trials, size=(RESAMPLES, cells, trials))
    means = np.take_along_axis(regrets[np.newaxis], picked, axis=2).mean(axis=2)
    low, high = np.quantile(np.log(means) @ solve.T, [0.025, 0.975], axis=0)
    return solve @ np.log(regrets.mean(axis=1)), low, high


def sweep(
    label: str, dimensions: Sequence[int], sparsities: Sequence[int], shrinking: bool, horizon: int, trials: int
) -> None:
    cells = [(d, s) for d in dimensions for s in sparsities]
    largest = max(sparsities)
    regrets = []
    with shown_progress(label) as progress:
        for d, s in cells:
            environment = sb.environments.Hypercube(d, s, effect=1.0 / (s if shrinking else largest))
            regrets.append(final_regrets(environment, horizon, trials))
            progress(len(regrets), len(cells))
    found = np.array(regrets)
    print(f"\n{label}; {horizon} rounds, {trials} trials, mean regret\n")
    rows = [(d, *(float(found[cells.index((d, s))].mean()) for s in sparsities)) for d in dimensions]
    print(Table(("d", *(f"s = {s}" for s in sparsities)), rows))
    names = ["s", "d"] if len(dimensions) > 1 else ["s"]
    factors = np.array([[s, d][: len(names)] for d, s in cells], dtype=np.float64)
    exponent, low, high = exponents(factors, found)
    fitted = list(zip(names, exponent.tolist(), low.tolist(), high.tolist(), strict=True))
    print(f"\n{Table(('regret grows with', 'exponent', '95% from', 'to'), fitted)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--sparsities", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--horizon", type=int, default=4000)
    parser.add_argument("--trials", type=int, default=10)
    given = parser.parse_args()
    size = f"effects of size 1/{max(given.sparsities)}"
    sweep(size, given.dimensions, given.sparsities, False, given.horizon, given.trials)
    sweep("effects of size 1/s", given.dimensions[:1], given.sparsities, True, given.horizon, given.trials)


if __name__ == "__main__":
    main()
