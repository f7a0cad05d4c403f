"""Decision rules: stateless, one per file, each chooses an action from what is believed."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.policies.linucb import ConfidenceRadius as ConfidenceRadius
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
