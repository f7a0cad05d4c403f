"""The regret behind the defaults of the dense policies: ``python -m benchmarks.defaults`` (some minutes).

Figure 3's instances (GaussianActions, K = 200, correlation 0.6, noise variance 2) at d = 40 and 100, 500 rounds, 100
trials, on seeds that no comparison uses. Prints the tables of docs/measurements.md.
"""

import argparse
import os

import sparsebandits as sb
from sparsebandits.experiments import PolicyMaker, shown_progress

SEED = 77
WIDTHS: tuple[float | sb.rules.ConfidenceRadius, ...] = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, sb.rules.ConfidenceRadius())


def candidates() -> dict[str, PolicyMaker]:
    policies = {"LinTS": sb.maker(sb.LinTS)}
    for selection in ("deterministic", "randomised"):
        policies[f"LinearIDS {selection}"] = sb.maker(sb.LinearIDS, selection=selection)
    for width in WIDTHS:
        name = "confidence radius" if isinstance(width, sb.rules.ConfidenceRadius) else f"width {width:g}"
        policies[f"LinUCB {name}"] = sb.maker(sb.LinUCB, width=width)
    return policies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--horizon", type=int, default=500)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[40, 100])
    given = parser.parse_args()
    for dimension in given.dimensions:
        environment = sb.environments.GaussianActions(dimension, sparsity=max(1, dimension // 10))
        experiment = sb.Experiment(environment, candidates(), given.horizon, given.trials, SEED)
        with shown_progress(f"d = {dimension}") as progress:
            result = experiment.run(workers=os.cpu_count() or 1, progress=progress)
        print(f"\nd = {dimension}, {given.horizon} rounds, {given.trials} trials\n\n{result.table()}\n")
        print(result.compare("LinearIDS deterministic"), flush=True)


if __name__ == "__main__":
    main()
