"""Every policy, made alike: the one table that drives the tests which all of them have to pass."""

from collections.abc import Callable
from typing import Any

import numpy as np

import sparsebandits as sb
from sparsebandits.policies.policy import KIND, VERSION
from sparsebandits.priors import check_noise
from sparsebandits.storage import pack

Maker = Callable[..., sb.Policy]

PAPER = sb.SpikeSlab.from_paper(beta=0.3, lambda0=0.1, lambda1=1.0, noise_variance=1.0)
LEARNT = sb.SpikeSlab(sb.BetaInclusion(1.0, 2.0), sb.InverseGammaSlab(2.0, 1.0))


def sparse(policy: Maker, slab: sb.SpikeSlab | None, **settings: Any) -> Maker:
    """Make a sparse policy where a dense one would be made: a Gaussian prior that fits becomes ``slab``."""

    def make(actions: Any, prior: Any = None, **given: Any) -> sb.Policy:
        if "noise_variance" in settings and "noise_variance" in given:
            check_noise(given["noise_variance"])  # which is not used, but may be wrong
        if prior is None or (
            isinstance(prior, sb.GaussianPrior) and np.size(prior.variance) in (1, np.shape(actions)[-1])
        ):
            prior = slab
        return policy(actions, **{"prior": prior, "n_draws": 300, "noise_variance": 1.0, **given, **settings})

    return make


def priorless(policy: Maker, **settings: Any) -> Maker:
    """Make a policy that has no prior where one with a Gaussian prior would be made: it is checked and forgotten."""

    def make(actions: Any, prior: Any = None, **given: Any) -> sb.Policy:
        if prior is not None:
            sb.Conjugate(prior, np.shape(actions)[-1])
        return policy(actions, **{**settings, **given})

    return make


POLICIES: dict[str, Maker] = {
    "ESTC": priorless(sb.ESTC, exploration=30),
    "ESTC, cross-validation": priorless(sb.ESTC, exploration=20, penalty="cross-validation"),
    "ESTC, the theorem's length": priorless(sb.ESTC, horizon=400, sparsity=1, bound=10.0),
    "LinTS": sb.LinTS,
    "LinTS, inflated": lambda actions, **given: sb.LinTS(actions, inflation=2.0, **given),
    "LinUCB": sb.LinUCB,
    "LinUCB, radius": lambda actions, **given: sb.LinUCB(actions, width=sb.ConfidenceRadius(), **given),
    "LinearIDS": lambda actions, **given: sb.LinearIDS(actions, n_draws=300, **given),
    "LinearIDS, randomised": lambda actions, **given: sb.LinearIDS(
        actions, n_draws=300, selection="randomised", **given
    ),
    "LinearIDS, mutual information": lambda actions, **given: sb.LinearIDS(
        actions, n_draws=100, gain="mutual-information", exponent=3.0, **given
    ),
    "SparseIDS": sparse(sb.SparseIDS, sb.SpikeSlab(0.4, 0.5)),
    "SparseIDS, all learnt": sparse(sb.SparseIDS, LEARNT, noise_variance=sb.InverseGammaNoise(2.0, 2.0)),
    "SparseIDS, randomised": sparse(sb.SparseIDS, sb.SpikeSlab(0.5, 0.5, 0.1), selection="randomised"),
    "SparseIDS, mutual information": sparse(
        sb.SparseIDS, sb.SpikeSlab(0.4, 0.5), gain="mutual-information", n_draws=50
    ),
    "SparseIDS, the paper's": sparse(sb.SparseIDS, PAPER, engine="langevin"),
    "SparseIDS, warm chains": sparse(
        sb.SparseIDS, PAPER, engine="langevin", engine_options={"chains": 64, "warm_start": True}, n_draws=256
    ),
    "SparseIDS, Gibbs": sparse(
        sb.SparseIDS, PAPER, engine="gibbs", engine_options={"burn_in": 5, "chains": 2}, n_draws=40
    ),
    "SparseIDS, enumeration": sparse(
        sb.SparseIDS, sb.SpikeSlab(0.4, 0.5), engine="enumeration", engine_options={"max_size": 3}
    ),
    "SparseTS": sparse(sb.SparseTS, sb.SpikeSlab(0.4, 0.5)),
    "SparseTS, Gaussian spike": sparse(sb.SparseTS, sb.SpikeSlab(0.4, 0.5, spike=sb.GaussianSpike(0.01))),
    "SparseTS, enumeration": sparse(
        sb.SparseTS, sb.SpikeSlab(0.4, 0.5), engine="enumeration", engine_options={"max_size": 3}, n_draws=50
    ),
}


def some_actions(n_actions: int = 6, dimension: int = 3, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((n_actions, dimension))


def play(policy: sb.Policy, rounds: int, seed: int = 0) -> list[tuple[int, float]]:
    """Ask and tell; the rewards depend on seed, round and action alone."""
    rng = np.random.default_rng(seed)
    decisions = []
    for _ in range(rounds):
        decision = policy.ask()
        policy.tell(decision, float(decision.features.sum()) + rng.standard_normal())
        decisions.append((decision.action, decision.probability))
    return decisions


def fingerprint(policy: sb.Policy) -> bytes:
    """Everything that the policy's future depends on."""
    return pack(KIND, VERSION, policy.state())
