"""Tables in, recommendations out: what ``decide`` and ``sparsebandits design`` do."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.advice.advice import Recommendation as Recommendation
    from sparsebandits.advice.assumed import Assumed as Assumed
    from sparsebandits.advice.design import Exploration as Exploration
    from sparsebandits.advice.effects import FeatureEffect as FeatureEffect
    from sparsebandits.advice.read import read_actions as read_actions
    from sparsebandits.advice.stopping import Stopping as Stopping
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
