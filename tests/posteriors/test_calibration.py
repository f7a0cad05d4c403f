"""Simulation-based calibration: the stored run, whether it belongs to this code, and a short one now."""

import json
from typing import Any

import numpy as np
import pytest
from benchmarks.calibration import BINS, CASES, SAME, STORED, calibrate, digest, names
from scipy import stats

from tests.statistical import FAMILY_WISE

EXACT = [case for case in CASES if case != "Langevin" and not case.startswith("planted")]


def p_value(case: dict[str, Any]) -> float:
    """Return the smallest p-value of all quantities and of the inclusions, corrected for their number."""
    found = [stats.chisquare(counts).pvalue for counts in case["ranks"].values()]
    stated, variance, true = (np.array([row[i] for row in case["inclusion"]]) for i in (1, 2, 3))
    use = variance > 1.0  # groups with enough in them
    z = (true[use] - stated[use]) / np.sqrt(variance[use])
    found.extend(2 * stats.norm.sf(np.abs(z)))
    return float(min(found)) * len(found)


@pytest.fixture(scope="module")
def stored() -> Any:
    return json.loads(STORED.read_text(encoding="utf-8"))


def test_the_stored_run_belongs_to_this_code(stored: Any) -> None:
    """Or this code gives the same to the bit in replications that were played with both (``--same``)."""
    known = {stored["code"], *(one["code"] for one in stored.get("same", []) if one["replications"] >= SAME)}
    assert digest() in known, f"engines have changed since {stored['date']}: python -m benchmarks.calibration"
    assert stored["replications"] >= 1000
    for case in CASES:
        for name in names(case):
            counts = stored["cases"][case]["ranks"][name]
            assert len(counts) == BINS
            assert sum(counts) == stored["replications"]


@pytest.mark.parametrize("case", EXACT)
def test_exact_engines_are_calibrated(case: str, stored: Any) -> None:
    assert p_value(stored["cases"][case]) > FAMILY_WISE


def test_what_is_wrong_is_seen(stored: Any) -> None:
    """Algorithm 1 is an approximation; and one engine was told 60% of the noise variance."""
    for case in ("Langevin", "planted: noise"):
        assert p_value(stored["cases"][case]) < FAMILY_WISE, case


@pytest.mark.parametrize("case", ["Enumeration", "Particles", "Particles, clicks"])
def test_a_short_run_is_calibrated_too(case: str) -> None:
    assert p_value(calibrate(case, range(10_000, 10_200))) > FAMILY_WISE
