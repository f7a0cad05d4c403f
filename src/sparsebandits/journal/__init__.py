"""Decisions and rewards on record, and what can be learnt from the record about other policies."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.journal.log import DecisionLog as DecisionLog
    from sparsebandits.journal.log import play as play
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
