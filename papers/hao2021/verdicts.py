"""Verdicts on the paper's claims: every number, interval and verdict of README.md, computed from results.

``python -m papers.hao2021.verdicts`` prints the tables from the committed results, and ``python -m papers.hao2021 all``
those from its own results. ``python -m papers.hao2021.renew`` writes the former into the README, and a test compares.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from papers.hao2021 import claims, comparisons
from papers.hao2021.comparisons import Rows

RESULTS = Path(__file__).parent / "results"
README = RESULTS.parent / "README.md"
SECTIONS: Mapping[str, Callable[[Path], Rows]] = {
    "what holds": claims.what_holds,
    "figure 1": comparisons.posteriors_are_near,
    "figure 3: the lowest regret": comparisons.lowest_regret,
    "figure 3: on the paper's sampler": comparisons.on_papers_sampler,
    "the constants of Algorithm 1": comparisons.constants_of_algorithm_1,
    "figure 3: beyond the paper": comparisons.beyond_the_paper,
    "figure 3: the advantage over d": comparisons.advantage_grows,
    "figure 3: ESTC": comparisons.early_and_late,
    "figure 2": comparisons.invests_in_information,
    "claim 1": comparisons.optimism_is_linear,
    "times": comparisons.times,
}


def verdicts(results: Path = RESULTS) -> dict[str, str]:
    """Return the table of each section, in Markdown."""
    return {name: markdown(section(results)) for name, section in SECTIONS.items()}


def markdown(rows: Rows) -> str:
    """Return a Markdown table, whose columns are the keys of the first row."""
    columns = list(rows[0]) if rows else []
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(str(row[column]) for column in columns) + " |" for row in rows]
    return "\n".join(lines)


def write_readme() -> None:
    """Write the tables of the committed results into the README, between marks that name their sections."""
    text = README.read_text(encoding="utf-8")
    for name, table in verdicts().items():
        begin, end = f"<!-- {name} -->", "<!-- end -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{table}\n\n{end}{rest.split(end, 1)[1]}"
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name, text in verdicts(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS).items():
        print(f"## {name}\n\n{text}\n")
