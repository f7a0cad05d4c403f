"""Play a policy against an instance and time it, round by round, for the sections that watch how cost develops."""

from collections.abc import Iterator
from time import process_time
from typing import NamedTuple

import sparsebandits as sb
from benchmarks import PAPERS
from sparsebandits.randomness import IndexedNormals


class Round(NamedTuple):
    """Seconds of processor time in ``ask`` and in ``tell``, and the regret from true means."""

    ask: float
    tell: float
    regret: float


def rounds(policy: sb.Policy, world: sb.environments.World, count: int, noise_seed: int) -> Iterator[Round]:
    """Play ``count`` rounds; the noise is that of ``noise_seed``, the round and the action, whoever plays."""
    noise = IndexedNormals(noise_seed)
    for t in range(count):
        offered = world.offered(t)
        begun = process_time()
        decision = policy.ask() if offered is None else policy.ask(offered)
        asked = process_time()
        outcome = world.outcome(t, decision.action, decision.features)
        reward = outcome.reward(t, world.rewards, noise)
        rewarded = process_time()
        policy.tell(decision, reward)
        yield Round(asked - begun, process_time() - rewarded, outcome.regret)


def sparse_ids(instance: sb.environments.Instance, sparsity: int, seed: int, draws: int = 10_000) -> sb.SparseIDS:
    """Return sparse IDS on particles with known sparsity and noise."""
    prior = sb.SpikeSlab(inclusion=sparsity / instance.actions.shape[1], slab_variance=1.0 / sparsity)
    given = {**PAPERS, "n_draws": draws}
    return sb.SparseIDS(instance.actions, prior, instance.noise_variance, seed=seed, intercept=False, **given)
