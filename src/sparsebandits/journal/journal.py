"""What every journal does: take in decisions and rewards, and give the records back.

A policy with a journal calls :meth:`Journal.decided` before it hands out a decision and :meth:`Journal.rewarded` before
it learns from a reward, so the journal knows at least as much as the policy whenever a process stops. Off-policy
evaluation and the columns for other tools need :meth:`Journal.records` alone. ``memory.py`` is the shortest journal,
and the one to copy for another store.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sparsebandits.journal.record import Record
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Decision


@runtime_checkable
class Journal(Protocol):
    """Decisions and rewards of one policy, on record."""

    def decided(self, decision: Decision, offered: ActionSet) -> None:
        """Record a decision and the actions that it was chosen from.

        The same decision again changes nothing; another one with the same id is refused.
        """

    def rewarded(self, decision: Decision, reward: float) -> None:
        """Record the reward of a decision that has been recorded.

        The same reward again changes nothing; a different one is refused. A journal of a policy with a feedback graph
        takes a third argument ``shown``, the rewards of all observed actions by row; then ``reward`` may be None.
        """

    def records(self) -> Sequence[Record]:
        """Return what has been recorded, in the order of the decisions."""
