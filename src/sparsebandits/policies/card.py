"""What a notebook shows of a policy: its parts, what it has been asked and told, and which features matter."""

from dataclasses import replace
from typing import Any

import numpy as np

from sparsebandits.arguments import shown
from sparsebandits.tables import Table, as_html

TOP = 5
"""Number of features that are shown."""


def card(policy: Any) -> str:
    """Return a policy as HTML; nothing of it changes.

    Parameters
    ----------
    policy : Policy
        The policy.

    Returns
    -------
    str
        Two tables; one if there is no posterior of coefficients.
    """
    told = int(np.count_nonzero(~np.isnan(policy.told)))
    learner, prior = type(policy.posterior).__name__, getattr(policy.posterior, "prior", None)
    parts = Table(
        (type(policy).__name__, ""),
        [
            ("rule", repr(policy.rule)),
            ("posterior", learner if prior is None else f"{learner}, {shown(prior)}"),
            ("actions", str(policy.actions)),
            ("decisions", str(len(policy.told))),
            ("rewards", f"{told}, {len(policy.pending)} pending"),
        ],
    )
    if not hasattr(policy.posterior, "summary"):
        return as_html(parts)
    table = policy.posterior.summary().printed
    count = len(table.rows)
    which = f"the {TOP} of {count} features that are most likely to matter" if count > TOP else "features"
    return as_html(parts, which, replace(table, rows=table.rows[:TOP]))
