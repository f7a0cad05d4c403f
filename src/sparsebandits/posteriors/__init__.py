"""Posterior engines, one per file: each learns from observations and gives weighted draws of the coefficients."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.posteriors.diagnostics import Health as Health
    from sparsebandits.posteriors.draws import Draws as Draws
    from sparsebandits.posteriors.engine import Engine as Engine
    from sparsebandits.posteriors.langevin import DivergenceError as DivergenceError
    from sparsebandits.posteriors.langevin import PowerDecay as PowerDecay
    from sparsebandits.posteriors.quadrature import Nodes as Nodes
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
