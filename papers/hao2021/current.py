"""Which code the results were made by, and whether it gives the same as the code now.

Results keep a digest of the code that affects them: policies, engines, rules, environments, simulation and tuning,
without comments and docstrings. Results on exact posteriors do not depend on the code of Algorithm 1. Settings are not
part of the digest: results keep them, and they are compared with those of the experiments (``runs.is_finished``). A
test fails if the committed results have other settings, or another digest than the code now. Then:

- ``python -m papers.hao2021.renew`` runs again what is out of date, into ``results``, and writes the README's tables;
- ``python -m papers.hao2021.renew --same CHECKOUT`` plays the first trial of every policy, and of every candidate in
  tuning, with this code and with that of a checkout which the results belong to, and if all are the same to the bit,
  notes it in ``results/same.json``.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import sources

SAME = Path(__file__).parent / "results" / "same.json"
MODULES = (
    "sparsebandits.environments.gaussian_actions",
    "sparsebandits.environments.hard_instance",
    "sparsebandits.environments.regression_data",
    "sparsebandits.experiments.trial",
    "sparsebandits.experiments.tuning",
    "sparsebandits.policies.linear",
    "sparsebandits.policies.rivals.estc",
    "sparsebandits.policies.rivals.online_to_confidence",
    "sparsebandits.policies.sparse",
    "sparsebandits.posteriors.langevin",
    "sparsebandits.posteriors.particles",
)
"""What the experiments use; all that these import counts too."""

WITHOUT = (
    "sparsebandits.experiments.description",
    "sparsebandits.experiments.executors",
    "sparsebandits.experiments.provenance",
    "sparsebandits.experiments.store",
    "sparsebandits.results.result",
)
"""What the experiments import to describe, distribute, keep and draw."""

ALGORITHM1 = ("sparsebandits.posteriors.langevin", "sparsebandits.posteriors.kernels.langevin")
"""What only the policies on the paper's sampler use."""


@cache
def code(papers_sampler: bool) -> str:
    """Return the digest of the code now, with that of the paper's sampler or without."""
    return sources.digest(MODULES, without=WITHOUT if papers_sampler else (*WITHOUT, *ALGORITHM1))


def same() -> dict[str, list[str]]:
    """Return, by digest, the code that was found to give the same."""
    found: dict[str, list[str]] = json.loads(SAME.read_text(encoding="utf-8")) if SAME.exists() else {}
    return found


def is_current(provenance: Mapping[str, Any]) -> bool:
    """Return whether the code now gives what results with this provenance have.

    Codes that were noted together give the same, whichever of them made the results.
    """
    made_by, now = str(provenance.get("code")), {code(False), code(True)}
    together = [{one, *others} for one, others in same().items()]
    return any(made_by in codes and not now.isdisjoint(codes) for codes in [*together, now])
