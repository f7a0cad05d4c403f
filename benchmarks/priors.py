"""Default priors, screened by regret: ``python -m benchmarks.priors`` (about forty minutes).

Each candidate says how many features are expected to matter, how large all effects together are, and how large the
noise is. They are compared by regret and by the Brier score of inclusions on worlds drawn at random from a grid, and by
how many of the ten best spectra they find; both on trials from 100,000 on, which no comparison uses. Nothing has an
intercept, so that the policy that knows the hyperparameters is the one to reach. Games are kept in
``benchmarks/results/priors.jsonl``, so that a run that was stopped continues. ``--trials`` and ``--candidates`` play a
part, ``--report`` plays nothing.
"""

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sparsebandits as sb
from benchmarks.games import played
from benchmarks.out_of_the_box import DRAWS, IDS, SEED, World, found_of_top, gaussian, knowing, regret, spectra

STORED = Path(__file__).parent / "results" / "priors.jsonl"
FIRST = 100_000


@dataclass(frozen=True)
class Candidate:
    """A prior for policies that know nothing.

    Attributes
    ----------
    total : tuple of two floats
        Shape and scale of the inverse gamma prior of the size of all effects together, in units of the noise.
    few : callable
        Maps the number of features to the number that is expected to matter.
    noise : tuple of two floats
        Shape and scale of the inverse gamma prior of the noise, in units of the first rewards.
    share : float
        First parameter a of the prior Beta(a, a (d/few − 1)) of the inclusion.
    """

    total: tuple[float, float] = (2.0, 1.0)
    few: Callable[[int], float] = lambda d: min(5.0, d / 4)
    noise: tuple[float, float] = (0.5, 0.01)
    share: float = 1.0

    def policy(self, world: World, seed: int) -> sb.Policy:
        """Return SparseIDS with this prior."""
        features = world.actions
        d = features.shape[1]
        scale = tuple(1.0 / np.mean(features * features, axis=0))
        slab = sb.InverseGammaSlab(*self.total, of_noise=True, relative=scale, of_total=True)
        inclusion = sb.BetaInclusion(self.share, self.share * (d / self.few(d) - 1.0))
        noise = sb.InverseGammaNoise(*self.noise, of_rewards=True)
        prior = sb.SpikeSlab(inclusion, slab)
        return sb.SparseIDS(features, prior, noise, n_draws=DRAWS, seed=seed, intercept=False, rule="information-ratio")


def ten(d: int) -> float:
    return min(10.0, d / 4)


CANDIDATES = {
    "total IG(2, 1)": Candidate(),
    "total IG(1, 1)": Candidate((1.0, 1.0)),
    "total IG(1/2, 1/2)": Candidate((0.5, 0.5)),
    "total IG(1/2, 1/4), ten features": Candidate((0.5, 0.25), ten),
    "total IG(1/2, 1/4), Beta(2, ·)": Candidate((0.5, 0.25), share=2.0),
    "total IG(1/2, 1/8), ten features": Candidate((0.5, 0.125), ten),
    "total IG(1/2, 1/8)": Candidate((0.5, 0.125)),
}
KNOWN = "hyperparameters known"


def grid(trial: int) -> tuple[World, int]:
    """Return a world at random: small and large, few and many effects, weak and strong, short and long."""
    rng = np.random.default_rng([SEED, trial, 5])
    d = int(rng.choice([8, 20, 40, 100, 200, 500]))
    s = max(1, round(d * float(rng.choice([0.01, 0.03, 0.1, 0.3]))))
    variance, correlation = float(rng.choice([0.05, 0.5, 2.0, 8.0])), float(rng.choice([0.0, 0.6]))
    rounds = min(int(rng.choice([20, 60, 200, 500, 1000])), max(20, 1_000_000 // (d * s)))  # so that games end
    return gaussian(d, s, 200, correlation, variance)(trial), rounds


GRID, SPECTRA = "grid", "spectra"
TRIALS = {GRID: 150, SPECTRA: 60}
"""Number of trials on each kind of world."""


def play(world: str, candidate: str, trial: int) -> dict[str, Any]:
    """Return one game: its regret and the Brier score of inclusions, or how many of the ten best spectra were found."""
    number = FIRST + trial
    if world == SPECTRA:
        curves = spectra(True)(number)
        found: dict[str, float] = {"found": found_of_top(curves, CANDIDATES[candidate].policy(curves, trial), number)}
    else:
        instance, rounds = grid(number)
        make = knowing(IDS) if candidate == KNOWN else CANDIDATES[candidate].policy
        policy = make(instance, trial)
        found = {"regret": round(regret(instance, policy, rounds, number), 4)}
        found["brier"] = round(float(np.mean((policy.posterior.inclusion() - (instance.theta != 0)) ** 2)), 5)
    return {"world": world, "candidate": candidate, "trial": trial, **found}


def table(lines: Iterable[dict[str, Any]]) -> str:
    """Return the geometric mean of ratios of regret to that with known hyperparameters over the grid, and more.

    Regrets of the grid differ by orders of magnitude, so that means would be of the few worlds with the largest ones.
    """
    found: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for line in lines:
        found.setdefault((line["candidate"], line["world"]), {})[line["trial"]] = line
    known = found.get((KNOWN, GRID), {})
    rows = ["| prior | regret, to that with known hyperparameters | Brier score | spectra found |", "|---|---|---|---|"]
    for candidate in (KNOWN, *CANDIDATES):
        mine = found.get((candidate, GRID), {})
        trials = sorted(set(mine) & set(known))
        if not trials:
            continue
        logs = np.array([np.log((mine[t]["regret"] + 1e-3) / (known[t]["regret"] + 1e-3)) for t in trials])
        brier = np.mean([mine[t]["brier"] for t in trials])
        searched = [line["found"] for line in found.get((candidate, SPECTRA), {}).values()]
        rows.append(
            f"| {candidate} | {np.exp(logs.mean()):.2f} ± {logs.std() / np.sqrt(len(logs)):.2f} | {brier:.4f} "
            f"| {f'{np.mean(searched):.2f}' if searched else ''} |"
        )
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", nargs="+", choices=tuple(CANDIDATES), default=list(CANDIDATES))
    parser.add_argument("--worlds", nargs="+", choices=tuple(TRIALS), default=list(TRIALS))
    parser.add_argument("--trials", type=int, default=1000, help="at most so many of each world")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--report", action="store_true")
    given = parser.parse_args()
    jobs = [
        (world, candidate, trial)
        for trial in range(given.trials)
        for world in given.worlds
        for candidate in (KNOWN, *given.candidates)
        if trial < TRIALS[world] and not (candidate == KNOWN and world == SPECTRA)
    ]
    jobs = [] if given.report else jobs
    print(table(played(STORED, play, jobs, ("world", "candidate", "trial"), given.workers)))


if __name__ == "__main__":
    main()
