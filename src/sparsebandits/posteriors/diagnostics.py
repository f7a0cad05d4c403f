"""How far draws can be trusted: how well Markov chains have mixed, and what an engine reports about itself."""

from dataclasses import dataclass

import numpy as np

from sparsebandits.arguments import FloatArray
from sparsebandits.tables import as_html


@dataclass(frozen=True)
class Health:
    """What an engine reports about its own sampling. Print it to read it.

    Parameters
    ----------
    good : bool
        Whether the draws can be used as they are.
    text : str
        Why, in words.
    """

    good: bool
    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return as_html(f"{'good' if self.good else 'NOT good'}: {self.text}")


def split_r_hat(theta: FloatArray, chains: int) -> FloatArray:
    """Return the split R-hat of each coordinate; chains that agree have 1.

    Parameters
    ----------
    theta : array of shape (M, d)
        Draws of θ, chain after chain.
    chains : int
        Number of chains.

    Returns
    -------
    array of shape (d,)
        R-hat of each coordinate; infinite where chains are stuck at different values.

    References
    ----------
    Gelman, Carlin, Stern, Dunson, Vehtari and Rubin (2013), *Bayesian Data Analysis*, 3rd edition, §11.4.
    """
    parts = theta.reshape(chains, -1, theta.shape[1])
    half = parts.shape[1] // 2
    parts = np.concatenate((parts[:, :half], parts[:, half : 2 * half]))
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt((half - 1) / half + between / within)
    return np.where(within > 0, ratio, np.where(between > 0, np.inf, 1.0))


def effective_draws(theta: FloatArray, chains: int) -> FloatArray:
    """Return the effective number of draws of Markov chains, for each coordinate.

    The autocorrelation is summed over pairs of lags for as long as they are positive (Geyer 1992), and includes the
    variance between chains (Gelman et al. 2013).

    Parameters
    ----------
    theta : array of shape (M, d)
        Draws of θ, chain after chain.
    chains : int
        Number of chains.

    Returns
    -------
    array of shape (d,)
        Number of independent draws that the draws of each coordinate are worth.

    References
    ----------
    Geyer (1992), *Practical Markov chain Monte Carlo*.
    Gelman, Carlin, Stern, Dunson, Vehtari and Rubin (2013), *Bayesian Data Analysis*, 3rd edition, §11.5.
    """
    parts = theta.reshape(chains, -1, theta.shape[1])
    length = parts.shape[1]
    centred = parts - parts.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * length, axis=1)
    covariance = np.fft.irfft(spectrum * np.conj(spectrum), axis=1)[:, :length].mean(axis=0) / length
    within = covariance[0] * length / (length - 1)
    between = parts.mean(axis=1).var(axis=0, ddof=1) if chains > 1 else 0.0
    total = within * (length - 1) / length + between
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = 1.0 - (within - covariance * length / (length - 1)) / total
    correlation[0] = 1.0
    pairs = correlation[0 : 2 * (length // 2) : 2] + correlation[1 : 2 * (length // 2) : 2]
    alive = np.cumprod(pairs > 0, axis=0)
    time = np.maximum(2.0 * (pairs * alive).sum(axis=0) - 1.0, 1.0 / np.log10(max(theta.shape[0], 10)))
    return np.asarray(np.where(total > 0, theta.shape[0] / time, theta.shape[0]))
