"""A few problems of any magnitude; ``make attack`` tries hundreds."""

from benchmarks.attacks.extremes import attack


def test_no_magnitude_gives_a_wrong_posterior_in_silence() -> None:
    for outcome in attack(0.02):
        assert outcome.silent == outcome.crashed == 0, outcome
        assert outcome.tried == outcome.refused + outcome.identical
