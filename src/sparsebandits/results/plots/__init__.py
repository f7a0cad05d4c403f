"""Figures in one style, which colour-blind readers (Okabe and Ito 2008) and black-and-white prints can tell apart.

The functions of ``style`` are public too, for figures of your own in the same style.
"""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.results.plots.actions import candidates as candidates
    from sparsebandits.results.plots.bars import horizon_bars as horizon_bars
    from sparsebandits.results.plots.bars import pull_histograms as pull_histograms
    from sparsebandits.results.plots.bounds import bound_curves as bound_curves
    from sparsebandits.results.plots.coefficient import posterior as posterior
    from sparsebandits.results.plots.curves import difference_curves as difference_curves
    from sparsebandits.results.plots.curves import regret_curves as regret_curves
    from sparsebandits.results.plots.curves import regret_panels as regret_panels
    from sparsebandits.results.plots.curves import sweep as sweep
    from sparsebandits.results.plots.features import effects as effects
    from sparsebandits.results.plots.features import inclusion as inclusion
    from sparsebandits.results.plots.history import progress as progress
    from sparsebandits.results.plots.information import RatioPanel as RatioPanel
    from sparsebandits.results.plots.information import TotalPanel as TotalPanel
    from sparsebandits.results.plots.information import information_panels as information_panels
    from sparsebandits.results.plots.information import information_path as information_path
    from sparsebandits.results.plots.posteriors import histograms as histograms
    from sparsebandits.results.plots.posteriors import zero_centred_bins as zero_centred_bins
    from sparsebandits.results.plots.style import COLOURS as COLOURS
    from sparsebandits.results.plots.style import PALE as PALE
    from sparsebandits.results.plots.style import Look as Look
    from sparsebandits.results.plots.style import Target as Target
    from sparsebandits.results.plots.style import dress as dress
    from sparsebandits.results.plots.style import house_style as house_style
    from sparsebandits.results.plots.style import legend_below as legend_below
    from sparsebandits.results.plots.style import legend_shape as legend_shape
    from sparsebandits.results.plots.style import looks as looks
    from sparsebandits.results.plots.style import new_figure as new_figure
    from sparsebandits.results.plots.style import write as write
    from sparsebandits.results.plots.surprise import drift as drift
    from sparsebandits.results.plots.weighing import ratio as ratio
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
