"""Wrong arguments and damaged tables and experiment files end with the documented error, or change nothing."""

from benchmarks.attacks.messages import attack


def test_messages() -> None:
    for outcome in attack(0.01):
        assert (outcome.silent, outcome.crashed) == (0, 0), outcome
        assert outcome.refused > 0
