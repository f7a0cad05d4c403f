"""Regret of the sparse policies against the dense ones: ``python -m benchmarks.sparse`` (about an hour on two cores).

Paired trials on the instances of Figure 3 (GaussianActions, K = 200, correlation 0.6, noise variance 2). The policies
that are told the true support are the floor: what is left to lose when it is known which features matter. Outcomes are
appended to a file as they come, so an interrupted run goes on where it was; ``--report`` prints the tables alone.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))  # before NumPy

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.random import SeedSequence

import sparsebandits as sb
from benchmarks import PAPERS
from sparsebandits.randomness import INSTANCE_STREAM, child
from sparsebandits.results.statistics import growing, mean_interval
from sparsebandits.tables import Table

SEED, NOISE = 2021, 2.0
POINTS = 50
"""Points of a regret curve that are kept."""

Maker = Callable[[sb.environments.Instance, sb.experiments.Problem], sb.Policy]


@dataclass(frozen=True)
class Setting:
    """A family of instances, a horizon, and who plays."""

    dimension: int
    sparsity: int
    horizon: int
    policies: tuple[str, ...]
    scale: float = 1.0  # of the rewards

    def instance(self, trial: int) -> sb.environments.Instance:
        """Return the instance of a trial."""
        environment = sb.environments.GaussianActions(self.dimension, self.sparsity, noise_variance=NOISE)
        drawn = environment.sample(child(SeedSequence(SEED, spawn_key=(trial,)), INSTANCE_STREAM))
        return sb.environments.Instance(drawn.actions, self.scale * drawn.theta, self.scale**2 * drawn.noise_variance)


def true_prior(instance: sb.environments.Instance, **changes: Any) -> sb.SpikeSlab:
    s, d = np.count_nonzero(instance.theta), len(instance.theta)
    return sb.SpikeSlab(**{"inclusion": s / d, "slab_variance": 1.0 / s, **changes})


def sparse_ids(instance: sb.environments.Instance, problem: sb.experiments.Problem, **settings: Any) -> sb.Policy:
    given: dict[str, Any] = {
        "prior": true_prior(instance),
        "noise_variance": problem.noise_variance,
        "seed": problem.seed,
        "intercept": False,
        **({"n_draws": PAPERS["n_draws"]} if "selection" in settings else PAPERS),
    } | settings
    return sb.SparseIDS(problem.actions, **given)


def sparse_ts(instance: sb.environments.Instance, problem: sb.experiments.Problem) -> sb.Policy:
    return sb.SparseTS(
        problem.actions,
        true_prior(instance),
        problem.noise_variance,
        n_draws=PAPERS["n_draws"],
        seed=problem.seed,
        intercept=False,
    )


def told(policy: Any) -> Maker:
    """Return a maker of a dense policy that sees the features which matter, and nothing else."""

    def make(instance: sb.environments.Instance, problem: sb.experiments.Problem) -> sb.Policy:
        support = np.flatnonzero(instance.theta)
        prior = sb.GaussianPrior(1.0 / len(support))
        made: sb.Policy = policy(
            problem.actions[:, support], prior, problem.noise_variance, seed=problem.seed, intercept=False
        )
        return made

    return make


def dense(policy: Any) -> Maker:
    def make(instance: sb.environments.Instance, problem: sb.experiments.Problem) -> sb.Policy:
        made: sb.Policy = policy(
            problem.actions, noise_variance=problem.noise_variance, seed=problem.seed, intercept=False
        )
        return made

    return make


def variant(**settings: Any) -> Maker:
    return lambda instance, problem: sparse_ids(instance, problem, **settings)


def learnt(**changes: Any) -> Maker:
    return lambda instance, problem: sparse_ids(instance, problem, prior=true_prior(instance, **changes))


def papers(instance: sb.environments.Instance, problem: sb.experiments.Problem) -> sb.Policy:
    """Return sparse IDS on the paper's sampler, with the constants that ``papers.hao2021.tuning`` starts from."""
    prior = true_prior(instance, spike=sb.LaplaceSpike(0.1))
    options: dict[str, Any] = {"chains": 100, "warm_start": True, "learning_rate": 1.0}
    return sparse_ids(instance, problem, prior=prior, engine="langevin", engine_options=options)


MAKERS: dict[str, Maker] = {
    "SparseIDS": variant(),
    "SparseIDS, 40,000 particles": variant(n_draws=40_000),
    "SparseIDS, other seeds": lambda instance, problem: sparse_ids(
        instance, problem, seed=int(problem.seed.generate_state(1)[0])
    ),
    "SparseIDS, randomised": variant(selection="randomised"),
    "SparseIDS, Langevin": papers,
    "SparseIDS, enumeration": variant(engine="enumeration"),
    "SparseIDS, sparsity learnt": lambda instance, problem: sparse_ids(
        instance,
        problem,
        prior=true_prior(instance, inclusion=sb.BetaInclusion(1.0, problem.actions.shape[1] / 5.0 - 1.0)),
    ),
    "SparseIDS, noise learnt": variant(noise_variance=sb.InverseGammaNoise(1.0, 0.1)),
    "SparseIDS, slab learnt": learnt(slab_variance=sb.InverseGammaSlab(2.0, 0.4)),
    "SparseIDS(actions)": lambda instance, problem: sb.SparseIDS(problem.actions, seed=problem.seed, **PAPERS),
    "SparseTS": sparse_ts,
    "SparseTS(actions)": lambda instance, problem: sb.SparseTS(
        problem.actions, n_draws=PAPERS["n_draws"], seed=problem.seed
    ),
    "LinearIDS": dense(sb.LinearIDS),
    "LinTS": dense(sb.LinTS),
    "LinUCB": dense(sb.LinUCB),
    "LinearIDS, given the support": told(sb.LinearIDS),
    "LinTS, given the support": told(sb.LinTS),
}

DENSE = ("LinearIDS", "LinTS", "LinUCB", "LinearIDS, given the support", "LinTS, given the support")
LEARNT = ("SparseIDS, sparsity learnt", "SparseIDS, noise learnt", "SparseIDS, slab learnt", "SparseIDS(actions)")
SETTINGS: dict[str, Setting] = {
    "d = 40": Setting(
        40,
        4,
        500,
        ("SparseIDS", "SparseTS", *DENSE, "SparseIDS, randomised", *LEARNT, "SparseTS(actions)", "SparseIDS, Langevin"),
    ),
    "d = 100": Setting(100, 10, 500, ("SparseIDS", "SparseTS", *DENSE, "SparseIDS, randomised", "SparseIDS(actions)")),
    "d = 10": Setting(
        10,
        2,
        1000,
        ("SparseIDS", "SparseIDS, enumeration", "SparseIDS, 40,000 particles", "SparseIDS, other seeds"),
    ),
    "d = 40, rewards 100 times larger": Setting(40, 4, 500, ("SparseIDS(actions)",), 100.0),
    "d = 40, rewards 10 times smaller": Setting(40, 4, 500, ("SparseIDS(actions)",), 0.1),
}


def play(name: str, policy: str, trial: int) -> dict[str, Any]:
    """Return the regret curve of one trial, at a few points, and the milliseconds of a decision."""
    setting = SETTINGS[name]
    instance = setting.instance(trial)
    trace = sb.simulate(
        lambda problem: MAKERS[policy](instance, problem),
        instance,
        setting.horizon,
        SeedSequence(SEED, spawn_key=(trial,)),
    )
    step = setting.horizon // POINTS
    curve = (trace.regret[step - 1 :: step] / setting.scale).round(3).tolist()
    return {"setting": name, "policy": policy, "trial": trial, "curve": curve, "ms": 1000 * float(trace.seconds.mean())}


def report(lines: list[dict[str, Any]], trials: int) -> None:
    """Print a table a setting; each policy is paired with the first on the trials that both have played."""
    for name, setting in SETTINGS.items():
        found: dict[str, dict[int, dict[str, Any]]] = {policy: {} for policy in setting.policies}
        for line in lines:
            if line["setting"] == name and line["policy"] in found and line["trial"] < trials:
                found[line["policy"]][line["trial"]] = line
        first, rows = setting.policies[0], []
        for policy, played in found.items():
            shared = sorted(set(played) & set(found[first]))
            if not shared:
                continue
            curves = np.array([played[t]["curve"] for t in shared])
            final, base = curves[:, -1], np.array([found[first][t]["curve"][-1] for t in shared])
            ratio, apart = float(base.mean() / final.mean()), (float("nan"), float("nan"))
            if policy != first:
                low, high = mean_interval(base - final)
                apart = float(low), float(high)
            low, high = mean_interval(final)
            ms = float(np.mean([played[t]["ms"] for t in shared]))
            share = 100 * float(growing(curves, np.arange(1, POINTS + 1)).mean())
            wins = int(np.count_nonzero(base < final))
            interval = float(final.mean()), float(low), float(high)
            rows.append((policy, len(shared), *interval, ratio, *apart, wins, share, ms))
        rows.sort(key=lambda row: float(row[2]))
        print(f"\n{name}, s = {setting.sparsity}, {setting.horizon} rounds\n")
        titles = ("policy", "trials", "regret", "from", "to", f"{first} / it", "difference from", "to", "wins")
        print(Table((*titles, "% growing", "ms"), rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--settings", nargs="+", choices=tuple(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--policies", nargs="+", choices=tuple(MAKERS), default=list(MAKERS))
    parser.add_argument("--file", type=Path, default=Path("out/sparse.jsonl"))
    parser.add_argument("--report", action="store_true")
    given = parser.parse_args()
    given.file.parent.mkdir(parents=True, exist_ok=True)
    text = given.file.read_text(encoding="utf-8") if given.file.exists() else ""
    lines = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    done = {(x["setting"], x["policy"], x["trial"]) for x in lines}
    jobs = [
        (name, policy, trial)
        for trial in range(given.trials)
        for name in given.settings
        for policy in SETTINGS[name].policies
        if policy in given.policies and (name, policy, trial) not in done
    ]
    if not given.report:
        parallel = Parallel(n_jobs=given.workers, return_as="generator_unordered", batch_size=1)
        with given.file.open("a", encoding="utf-8") as file:
            for outcome in parallel(delayed(play)(*job) for job in jobs):
                file.write(json.dumps(outcome) + "\n")
                file.flush()
                lines.append(outcome)
    report(lines, given.trials)


if __name__ == "__main__":
    main()
