"""Draw docs/information_path.png and docs/information_path_hard.png: ``python docs/figures/information_path.py``."""

from pathlib import Path

from PIL import Image

import sparsebandits as sb

DOCS = Path(__file__).parents[1]
HORIZON, EVERY = 300, 10


def gaussian() -> sb.theory.InformationPath:
    """Return a run of randomised sparse IDS on Gaussian actions, under the prior of its default settings."""
    world = sb.environments.GaussianActions(dimension=20, sparsity=2, n_actions=50, noise_variance=1.0)
    prior = sb.SpikeSlab(inclusion=2 / 20, slab_variance=1 / 2)
    ids = sb.maker(sb.SparseIDS, prior=prior, selection="randomised")
    return sb.experiments.information_path(ids, world, HORIZON, every=EVERY, name="sparse IDS")


def hard() -> sb.theory.InformationPath:
    """Return a run on the hard instance, where informative actions are all corners of the cube and C_min is 1.

    The prior knows what Section 4 of the paper fixes: θ_d is −1, and at most one of the others, about ±ε, is not 0. So
    the best action is an uninformative one, which has one entry that is not zero.
    """
    world = sb.environments.HardInstance(
        dimension=8, sparsity=2, epsilon=0.5, informative_set="hypercube", noise_variance=1.0
    )
    inclusion, mean, variance = [1 / 7] * 7 + [1.0], [0.0] * 7 + [-1.0], [0.25] * 7 + [1e-4]
    prior = sb.SpikeSlab(inclusion, variance, mean)

    def observer(problem: sb.experiments.Problem) -> sb.Enumeration:
        return sb.Enumeration(prior, 8, problem.noise_variance, n_draws=10_000, seed=0, max_size=1)

    options = {"engine": "enumeration", "engine_options": {"max_size": 1}}
    ids = sb.maker(sb.SparseIDS, prior=prior, selection="randomised", **options)
    return sb.experiments.information_path(ids, world, HORIZON, observer, every=EVERY, name="sparse IDS")


def draw(path: sb.theory.InformationPath, name: str, title: str) -> None:
    """Draw a figure in as many colours as it takes."""
    file = DOCS / name
    sb.plots.information_path(path, file, title)
    Image.open(file).convert("RGB").quantize(64).save(file, optimize=True)


if __name__ == "__main__":
    draw(gaussian(), "information_path.png", "Gaussian actions, d = 20, s = 2, K = 50, unit noise")
    draw(hard(), "information_path_hard.png", "Hard instance, d = 8, s = 2, ε = 0.5, K = 142, unit noise")
