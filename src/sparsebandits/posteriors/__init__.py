"""Posterior engines: one a file, all with the same constructor, all giving :class:`Draws`."""

from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.posteriors.draws import Draws, Posterior
from sparsebandits.posteriors.enumeration import Enumeration

__all__ = ["Conjugate", "Draws", "Enumeration", "Posterior"]
