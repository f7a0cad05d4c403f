"""Figures in one style: told apart by colour-blind readers (Okabe and Ito 2008) and in black and white."""

from sparsebandits.results.plots.bars import horizon_bars, pull_histograms
from sparsebandits.results.plots.bounds import bound_curves
from sparsebandits.results.plots.curves import difference_curves, regret_curves, regret_panels, sweep
from sparsebandits.results.plots.information import RatioPanel, TotalPanel, information_panels, information_path
from sparsebandits.results.plots.posteriors import histograms, zero_centred_bins

__all__ = [
    "RatioPanel",
    "TotalPanel",
    "bound_curves",
    "difference_curves",
    "histograms",
    "horizon_bars",
    "information_panels",
    "information_path",
    "pull_histograms",
    "regret_curves",
    "regret_panels",
    "sweep",
    "zero_centred_bins",
]
