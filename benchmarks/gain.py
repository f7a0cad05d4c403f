"""How much the noise of the draws adds to the information gain: ``python -m benchmarks.gain`` (about twenty minutes).

The gain v and the entropy of x* are computed from few draws, as they are and corrected, and compared with those of a
million draws: of the exact posterior at d = 10 (``Enumeration``), and of particles on the same history at d = 100. A
second table compares ½ log(1 + v/σ²) with the exact mutual information. The tables go to docs/mathematics.md, the
numbers to ``benchmarks/results/gain.json``.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import SeedSequence

import sparsebandits as sb
from benchmarks.games import write_tables
from sparsebandits.posteriors.draws import Draws
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.information import Information, information

STORED = Path(__file__).parent / "results" / "gain.json"
PAGE = Path(__file__).parent.parent / "docs" / "mathematics.md"
COMMAND = "python -m benchmarks.gain"
SEED = 20261117
MANY = 1_000_000
FEW = (1000, 2000, 4000, 10_000)
REPEATS = 40
HISTORIES, CHECKED = 4, (0, 25, 50, 100, 150)


def errors(found: Information, truth: Information) -> dict[str, float]:
    """Return the relative error of the gain, summed over actions, and the error of the entropy in nats."""
    total = float(truth.gain.sum())
    return {
        "gain": float(found.gain.sum()) / total - 1.0,
        "gain, corrected": float(found.unbiased_gain.sum()) / total - 1.0,
        "entropy": found.entropy - truth.entropy,
        "entropy, corrected": found.unbiased_entropy - truth.entropy,
    }


def exact(many: int, few: tuple[int, ...], repeats: int) -> list[dict[str, Any]]:
    """Return the mean errors with draws of an exact posterior at d = 10, after 8 rewards, for 40 actions."""
    rng = np.random.default_rng(SEED)
    actions = rng.standard_normal((40, 10))
    posterior = sb.Enumeration(sb.SpikeSlab(0.3, 1.0), 10, 1.0, n_draws=100, seed=0)
    x = actions[rng.integers(40, size=8)]
    posterior.update(x, x[:, :3].sum(axis=1) + rng.standard_normal(8))

    def drawn(count: int) -> Information:
        return information(Draws(posterior.sample(rng, count), np.full(count, 1.0 / count)), actions)

    truth = drawn(many)
    return [
        {"posterior": "exact, d = 10", "draws": count, **mean([errors(drawn(count), truth) for _ in range(repeats)])}
        for count in few
    ]


def along_games(many: int, few: tuple[int, ...], histories: int, checked: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return the mean errors with particles at d = 100, along games that SparseIDS with the largest of few plays."""
    found: dict[int, list[dict[str, float]]] = {count: [] for count in few}
    for trial in range(histories):
        world = sb.environments.GaussianActions(100, 10).sample(SeedSequence([SEED, trial]))
        told: dict[str, Any] = {"prior": sb.SpikeSlab(0.1, 0.1), "noise_variance": world.noise_variance}
        noise = np.sqrt(2.0) * np.random.default_rng([SEED, trial, 1]).standard_normal(max(checked) + 1)
        policy = sb.SparseIDS(world.actions, n_draws=max(few), seed=trial, intercept=False, **told)
        engines = {count: sb.Particles(dimension=100, n_draws=count, seed=trial, **told) for count in (*few, many)}
        for t in range(max(checked) + 1):
            if t in checked:
                truth = information(engines[many].draws(), world.actions)
                for count in few:
                    found[count].append(errors(information(engines[count].draws(), world.actions), truth))
            decision = policy.ask()
            reward = float(world.means[decision.action] + noise[t])
            policy.tell(decision, reward)
            for engine in engines.values():
                engine.update(decision.features, reward)
    return [{"posterior": "particles, d = 100", "draws": count, **mean(found[count])} for count in few]


def mutual(draws: int, checked: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return how I = ½ log(1 + v / σ²) agrees with the exact mutual information, over the actions, along a game."""
    world, rows = sb.environments.GaussianActions(40, 4).sample(SeedSequence([SEED, 99])), []
    policy = sb.SparseIDS(world.actions, sb.SpikeSlab(0.1, 0.25), 2.0, n_draws=draws, seed=0, intercept=False)
    rng = np.random.default_rng([SEED, 99, 1])
    for t in range(max(checked) + 1):
        if t in checked:
            beliefs = Beliefs(policy.posterior, world.actions)
            exact, ours = beliefs.mutual_information, 0.5 * np.log1p(beliefs.information.gain / world.noise_variance)
            agree = {"correlation": float(np.corrcoef(exact, ours)[0, 1]), "ratio": float(np.median(exact / ours))}
            rows.append({"round": t, **{name: round(value, 4) for name, value in agree.items()}})
        decision = policy.ask()
        policy.tell(decision, float(world.means[decision.action] + np.sqrt(2.0) * rng.standard_normal()))
    return rows


def mean(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(float(np.mean([row[name] for row in rows])), 4) for name in rows[0]}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the errors as a table."""
    lines = [
        "| posterior | draws | gain | gain, corrected | entropy (nats) | entropy, corrected |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        gains = " | ".join(f"{row[name]:+.1%}" for name in ("gain", "gain, corrected"))
        entropies = " | ".join(f"{row[name]:+.3f}" for name in ("entropy", "entropy, corrected"))
        lines.append(f"| {row['posterior']} | {row['draws']:,} | {gains} | {entropies} |")
    return "\n".join(lines)


def tables(kept: dict[str, list[dict[str, Any]]]) -> str:
    """Return both tables."""
    return f"{table(kept['errors'])}\n\n{mutual_table(kept['mutual information'])}"


def mutual_table(rows: list[dict[str, Any]]) -> str:
    """Return the agreement as a table."""
    lines = ["| rewards | correlation over actions | median of I(x*; Y) to ½ log(1 + v/σ²) |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {row['round']} | {row['correlation']:.4f} | {row['ratio']:.2f} |" for row in rows)])


def main() -> None:
    """Compute the errors, keep them, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gain")
    parser.add_argument("--report", action="store_true", help="write the table of what is kept")
    if not parser.parse_args().report:
        rows = exact(MANY, FEW, REPEATS) + along_games(MANY, FEW, HISTORIES, CHECKED)
        found = {"errors": rows, "mutual information": mutual(2000, (0, 5, 20, 60))}
        STORED.write_text(json.dumps(found, indent=1) + "\n")
    kept = json.loads(STORED.read_text())
    write_tables(PAGE, COMMAND, tables(kept))
    print(tables(kept))


if __name__ == "__main__":
    main()
