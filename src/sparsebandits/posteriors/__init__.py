"""Posterior engines: one a file, all with the same constructor, all giving :class:`Draws`."""

from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.posteriors.draws import Draws, Posterior

__all__ = ["Conjugate", "Draws", "Posterior"]
