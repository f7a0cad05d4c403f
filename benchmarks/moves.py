"""When particles move and how far: errors against enumeration and sweeps made, ``python -m benchmarks.moves``.

Histories of sparse information-directed sampling are replayed with 5,000 particles, some seeds each, for several values
of the share of effective particles at which they move and of the correlation at which a move may stop.
"""

import argparse

import numpy as np

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.posteriors import particles
from sparsebandits.posteriors.moves import Moves
from sparsebandits.tables import Table

NOISE, ROUNDS, EVERY = 2.0, 200, 10
SETTINGS = ((0.5, 0.7), (0.5, 0.5), (0.35, 0.7), (particles.LEAST_SHARE, particles.FORGOTTEN), (0.25, 0.6))


def history(dimension: int, sparsity: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return features, rewards, and the exact means and inclusions after every tenth round."""
    instance = sb.environments.GaussianActions(dimension, sparsity, noise_variance=NOISE).sample(seed)
    prior = sb.SpikeSlab(sparsity / dimension, 1 / sparsity)
    posterior, truth = sb.Particles(prior, dimension, NOISE, 2000, seed), sb.Enumeration(prior, dimension, NOISE)
    policy = sb.Policy(instance.actions, posterior, sb.rules.InformationDirected(), seed)
    rng, x, y, exact = np.random.default_rng(seed), [], [], []
    for t in range(1, ROUNDS + 1):
        decision = policy.ask()
        reward = float(instance.means[decision.action]) + np.sqrt(NOISE) * rng.standard_normal()
        policy.tell(decision, reward)
        truth.update(decision.features, reward)
        x.append(decision.features)
        y.append(reward)
        if t % EVERY == 0:
            exact.append((truth.mean(), truth.inclusion()))
    return np.array(x), np.array(y), np.array(exact)


def errors(posterior: sb.Particles, x: FloatArray, y: FloatArray, exact: FloatArray) -> tuple[FloatArray, int]:
    """Return what a run along a history is off by, in the shape of ``exact``, and how many sweeps it made."""
    sweeps, found = 0, []
    made = Moves.hyperparameters  # follows each sweep

    def counted(self: Moves, *given: object) -> None:
        nonlocal sweeps
        sweeps += 1
        made(self, *given)  # type: ignore[arg-type]

    Moves.hyperparameters = counted  # type: ignore[method-assign, assignment]
    try:
        for t, (row, reward) in enumerate(zip(x, y, strict=True), start=1):
            posterior.update(row, reward)
            if t % EVERY == 0:
                found.append((posterior.mean(), posterior.inclusion()))
    finally:
        Moves.hyperparameters = made  # type: ignore[method-assign]
    return np.array(found) - exact, sweeps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dimension", type=int, default=12)
    parser.add_argument("--sparsity", type=int, default=2)
    parser.add_argument("--histories", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=6)
    given = parser.parse_args()
    d, prior = given.dimension, sb.SpikeSlab(given.sparsity / given.dimension, 1 / given.sparsity)
    histories = [history(d, given.sparsity, seed) for seed in range(given.histories)]
    rows = []
    for share, forgotten in SETTINGS:
        particles.LEAST_SHARE, particles.FORGOTTEN = share, forgotten
        runs = [
            errors(sb.Particles(prior, d, NOISE, 5000, 100 + seed), *past)
            for past in histories
            for seed in range(given.seeds)
        ]
        off = np.array([run[0] for run in runs])
        mean, inclusion = np.sqrt((off**2).mean(axis=(0, 1, 3))).tolist()
        rows.append((share, forgotten, mean, inclusion, float(np.mean([run[1] for run in runs]))))
    print(f"d = {d}, s = {given.sparsity}, {given.histories} histories of {ROUNDS} rounds, {given.seeds} runs each\n")
    print(Table(("share", "correlation", "error of means", "error of inclusions", "sweeps a run"), rows))


if __name__ == "__main__":
    main()
