"""Every policy, made alike: the one table that drives the tests which all of them have to pass."""

from collections.abc import Callable
from typing import Any

import numpy as np

import sparsebandits as sb
from sparsebandits.policies.policy import KIND, VERSION
from sparsebandits.storage import pack

Maker = Callable[..., sb.Policy]

POLICIES: dict[str, Maker] = {
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
