"""Decisions and rewards on record: one record, several stores, and off-policy evaluation on all of them."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.journal.journal import Journal as Journal
    from sparsebandits.journal.jsonlines import JsonLines as JsonLines
    from sparsebandits.journal.memory import DecisionLog as DecisionLog
    from sparsebandits.journal.record import Record as Record
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
