"""Whoever looks at a policy changes nothing: decisions after ``predict`` and the like are those without."""

from collections.abc import Callable

import numpy as np
import pytest
from benchmarks.attacks.interrupts import POLICIES

import sparsebandits as sb

READINGS: dict[str, Callable[[sb.Policy], object]] = {
    "predict": lambda policy: policy.predict(),
    "health": lambda policy: policy.health(),
    "summary": lambda policy: policy.posterior.summary(),
    "coefficients": lambda policy: policy.coefficients,  # type: ignore[attr-defined]
    "card": lambda policy: policy._repr_html_(),
    "state": lambda policy: policy.state(),
}


def played(make: Callable[..., sb.Policy], reading: Callable[[sb.Policy], object] | None) -> list[tuple[int, float]]:
    """Return actions and probabilities of decisions, with a reading after each of three rewards."""
    policy, noise, found = make(), np.random.default_rng(0), []
    for _ in range(3):
        decisions = policy.ask(n=2)
        found += [(one.action, one.probability) for one in decisions]
        for one in decisions:
            policy.tell(one, float(one.features.sum() + noise.standard_normal()))
            if reading is not None:
                reading(policy)
    return found


@pytest.mark.parametrize("name", POLICIES)
def test_reading_changes_no_decision(name: str) -> None:
    """LinTS drew from the generator of its posterior in ``predict``; rivals made estimates that started others."""
    expected = played(POLICIES[name], None)
    for what, reading in READINGS.items():
        try:
            found = played(POLICIES[name], reading)
        except (AttributeError, sb.arguments.ArgumentError):  # not all of them have one
            continue
        assert found == expected, what
