"""Run the attacks at full size, and put their table into ``docs/reliability.md``: ``make attack``.

``python -m benchmarks.attacks TOPIC ...`` runs some of them; ``--scale 0.01`` is a short form, which writes nothing.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.attacks.outcome import Outcome
from benchmarks.section import RESULTS, circumstances
from sparsebandits.files import write_atomically

TOPICS = ("files", "faults", "interrupts", "threads", "extremes", "messages")
STORED = RESULTS / "attacks.json"
PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- begin: make attack -->", "<!-- end -->"
COLUMNS = ("tried", "refused", "identical", "silent", "crashed")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the attacks and show what they found; return 1 if anything was silent or crashed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks")
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"some of {', '.join(TOPICS)}; by default all")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the attempts; below 1 nothing is written")
    told = parser.parse_args(arguments)
    if unknown := set(told.topics) - set(TOPICS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    failed = 0
    for topic in told.topics or TOPICS:
        print(f"{topic} ...", file=sys.stderr, flush=True)
        start = time.monotonic()
        found: list[Outcome] = import_module(f"benchmarks.attacks.{topic}").attack(told.scale)
        print(table({topic: {"seconds": time.monotonic() - start, "outcomes": [asdict(one) for one in found]}}))
        failed += sum(one.silent + one.crashed for one in found)
        if told.scale == 1.0:
            keep(topic, found, time.monotonic() - start)
    return int(failed > 0)


def keep(topic: str, found: Sequence[Outcome], seconds: float) -> None:
    """Store what an attack found beside what the others have found, and put all of it into the page."""
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    stored[topic] = {
        "circumstances": circumstances(),
        "seconds": round(seconds),
        "outcomes": [asdict(one) for one in found],
    }
    ordered = {name: stored[name] for name in TOPICS if name in stored}
    write_atomically(STORED, (json.dumps(ordered, indent=1, ensure_ascii=False) + "\n").encode())
    write_atomically(PAGE, filled(PAGE.read_text(encoding="utf-8"), ordered).encode())


def filled(page: str, stored: dict[str, Any]) -> str:
    """Return the page with the table of what is stored."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table(stored)}\n\n{END}{rest.split(END, 1)[1]}"


def table(stored: dict[str, Any]) -> str:
    """Return outcomes as a table in Markdown, with their sum."""
    rows = [one for topic in stored.values() for one in topic["outcomes"]]
    lines = [f"| attack | {' | '.join(COLUMNS)} |", "|---" + "|---:" * len(COLUMNS) + "|"]
    lines += [f"| {one['attack']} | {' | '.join(f'{one[name]:,}' for name in COLUMNS)} |" for one in rows]
    if len(stored) > 1:
        lines.append(f"| **sum** | {' | '.join(f'**{sum(one[name] for one in rows):,}**' for name in COLUMNS)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
