"""Results of experiments as plain data, with their statistics, figures and report."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.results.result import Result as Result
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
