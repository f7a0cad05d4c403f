"""The attack on files, in short: nothing is silent, and nothing crashes."""

import pytest
from benchmarks.attacks.files import attack


@pytest.mark.skipif("not hasattr(__import__('os'), 'fork')", reason="attempts run in forked processes")
def test_no_file_is_silently_wrong_or_crashes() -> None:
    found = attack(0.002)
    assert sum(one.tried for one in found) > 300
    for one in found:
        assert one.silent == one.crashed == 0, one
        assert one.refused + one.identical == one.tried > 0, one
