"""Units of a column of numbers: which of them convert into each other."""

from collections import Counter
from collections.abc import Sequence

SCALES: tuple[dict[str, float], ...] = (
    {"kg": 1000.0, "g": 1.0, "mg": 1e-3, "µg": 1e-6, "ug": 1e-6, "ng": 1e-9, "t": 1e6},
    {"l": 1.0, "dl": 0.1, "cl": 1e-2, "ml": 1e-3, "µl": 1e-6, "ul": 1e-6},
    {"km": 1000.0, "m": 1.0, "dm": 0.1, "cm": 1e-2, "mm": 1e-3, "µm": 1e-6, "um": 1e-6, "nm": 1e-9},
    {
        **dict.fromkeys(("d", "day", "days", "tag", "tage"), 86400.0),
        **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "std", "stunden"), 3600.0),
        **dict.fromkeys(("min", "mins", "minute", "minutes", "minuten"), 60.0),
        **dict.fromkeys(("s", "sec", "second", "seconds", "sekunden"), 1.0),
        "ms": 1e-3,
    },
    {"mol/l": 1.0, "mmol/l": 1e-3, "µmol/l": 1e-6},
    {"gb": 1e9, "mb": 1e6, "kb": 1e3, "b": 1.0},
)
"""Units of the same quantity and their sizes, in lower case."""

MULTIPLES = {"": 1.0, "k": 1e3, "tsd": 1e3, "tsd.": 1e3, "mio": 1e6, "mio.": 1e6, "mrd": 1e9, "mrd.": 1e9, "bn": 1e9}
"""What stands for thousands and millions."""

BARE_REFUSED = frozenset(("%", "‰", "m"))
"""Units, in lower case, that a number without one may or may not be in: 0.45 and 45 %, 3 and 5 M."""

MOST_SHOWN = 4
"""Number of units that a message lists."""


class MixedError(Exception):
    """The cells of a column do not fit together.

    Parameters
    ----------
    expected : str
        What they should be.
    got : str
        What they are.
    """

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"expected {expected}, got {got}")
        self.expected, self.got = expected, got


def unit_of_all(units: Sequence[str]) -> bool:
    """Return whether units of a column, empty where a number has none, are those of one quantity, or at most one."""
    distinct = {unit for unit in units if unit}
    return len(distinct) < 2 or _sizes(distinct) is not None or all(unit.lower() in MULTIPLES for unit in distinct)


def factors(units: Sequence[str]) -> tuple[dict[str, float], list[str]]:
    """Return what numbers are multiplied by, by unit, and what was assumed, in words.

    Parameters
    ----------
    units : sequence of str
        The unit of each number, empty where it has none.

    Raises
    ------
    MixedError
        If they do not convert into each other.

    Examples
    --------
    >>> factors(["mg", "g", "mg"])
    ({'g': 1000.0, 'mg': 1.0, '': 1.0}, ['in mg, converted from g'])
    """
    counts = Counter(unit for unit in units if unit)
    bare = len(units) - sum(counts.values())
    if not counts:
        return {"": 1.0}, []
    common = min(counts, key=lambda unit: (-counts[unit], unit))
    if all(unit.lower() in MULTIPLES for unit in counts) and (bare or len(counts) > 1):
        if "K" in counts:  # thousands or kelvins
            raise _mixed(counts, bare)
        return {unit: MULTIPLES[unit.lower()] for unit in units}, [f"{common} is {MULTIPLES[common.lower()]:g}"]
    sizes = _sizes(set(counts))
    if sizes is None or (bare and (len(counts) > 1 or common.lower() in BARE_REFUSED)):
        raise _mixed(counts, bare)
    found = {unit: sizes[unit] / sizes[common] for unit in sorted(counts)}
    others = [unit for unit, factor in found.items() if factor != 1.0]
    words = [f"in {common}" + (f", converted from {' and '.join(others)}" if others else "")]
    if bare:
        words.append(f"{bare} without a unit {'is' if bare == 1 else 'are'} taken to be in {common}")
    return {**found, "": 1.0}, words


def _sizes(units: set[str]) -> dict[str, float] | None:
    """Return the sizes of units of one quantity, whatever their case; None if they are not such."""
    for scale in SCALES:
        if all(unit.lower() in scale for unit in units):
            return {unit: scale[unit.lower()] for unit in units}
    alike = len({unit.lower() for unit in units}) == 1 and not any(unit[:1] in "mM" for unit in units)  # MW is not mW
    return dict.fromkeys(units, 1.0) if alike or len(units) == 1 else None


def _mixed(units: Counter[str], bare: int) -> MixedError:
    listed = " and ".join(sorted(units)[:MOST_SHOWN])
    return MixedError("one unit per column", f"{listed}{' and numbers without a unit' if bare else ''}")
