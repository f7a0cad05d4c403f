"""Model assumptions: priors of the coefficients, how a reward arises from them, and sufficient statistics."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.model.evidence import Evidence as Evidence
    from sparsebandits.model.features import Level as Level
    from sparsebandits.model.monitoring import Game as Game
    from sparsebandits.model.monitoring import dueling as dueling
    from sparsebandits.model.monitoring import transductive as transductive
    from sparsebandits.model.priors import default_prior as default_prior
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
