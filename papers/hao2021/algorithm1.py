"""Algorithm 1 of Hao, Lattimore and Deng (2021) behind sparse IDS and sparse TS: its constants, and who plays with it.

The paper leaves all constants open. ``python -m papers.hao2021.tuning`` searches for them, by the regret of sparse IDS
on trials of its own; sparse TS has the same sampler, so that the two policies differ by their rules alone. Sparse TS
needs a single draw per round: the chains take as many steps, of which it keeps every tenth.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sparsebandits as sb
from papers.hao2021.runs import DRAWS
from sparsebandits.experiments import PolicyMaker

IDS, TS = "sparse IDS, Langevin", "sparse TS, Langevin"

SPARED, FEWEST = 10, 4
"""Sparse TS keeps one step in ten, but at least four per chain, which is the least that the engine takes."""


@dataclass(frozen=True)
class Constants:
    """What Algorithm 1 leaves open.

    Attributes
    ----------
    spike : float
        Scale b = σλ₀ of the Laplace spike.
    slab : float
        Variance σ²λ₁ of the slab, in units of the mean square of the coefficients that matter.
    rate : float
        Step η_k in units of 1 / L.
    thinning : int
        The paper's T.
    chains : int
        Number of chains that share the draws.
    burn_in : int
        Steps of each chain that are discarded in each round.
    warm : bool
        Whether chains continue where they were in the last round.
    decay : float
        Exponent of ω_k = k^−decay.
    """

    spike: float = 0.1
    slab: float = 1.0
    rate: float = 1.0
    thinning: int = 1
    chains: int = 100
    burn_in: int = 0
    warm: bool = True
    decay: float = 0.6

    def prior(self, inclusion: float, mean_square: float) -> sb.SpikeSlab:
        """Return the prior, given the share of the coefficients that matter, and their mean square."""
        return sb.SpikeSlab(inclusion, self.slab * mean_square, spike=sb.LaplaceSpike(self.spike))

    def options(self, every: int = 1) -> dict[str, Any]:
        """Return the options of the engine, which keeps one in ``every`` of the steps that are draws otherwise."""
        return {
            "chains": self.chains,
            "burn_in": self.burn_in,
            "thinning": self.thinning * every,
            "learning_rate": self.rate,
            "step_size": sb.posteriors.PowerDecay(self.decay),
            "warm_start": self.warm,
        }


TUNED: Mapping[int, Constants] = {
    10: Constants(spike=0.0125, rate=0.5, chains=50),
    20: Constants(spike=0.025, rate=0.5),
    40: Constants(spike=0.05, rate=0.5, chains=50, decay=0.75),
    100: Constants(spike=0.05, slab=0.5, rate=0.5, burn_in=10, decay=0.75),
    200: Constants(spike=0.0125, slab=0.25, rate=0.5, burn_in=10, decay=0.75),
}
"""What the search found, by dimension: 10 is that of figure 2, 200 that of Claim 1, the others those of figure 3."""


def policies(constants: Constants, inclusion: float, mean_square: float, draws: int = DRAWS) -> dict[str, PolicyMaker]:
    """Return sparse IDS with the paper's rule, and sparse TS, both on Algorithm 1.

    Parameters
    ----------
    constants : Constants
        Constants of Algorithm 1.
    inclusion, mean_square : float
        Share of the coefficients that matter, and their mean square.
    draws : int, default=10000
        Number of draws of sparse IDS per decision, or more if that is less than four per chain.

    Returns
    -------
    dict of str to policy maker
    """
    prior, fewest = constants.prior(inclusion, mean_square), FEWEST * constants.chains
    draws = max(draws, fewest)
    every = min(SPARED, draws // fewest)

    def settings(every: int) -> dict[str, Any]:
        options = constants.options(every)
        return {"prior": prior, "engine": "langevin", "engine_options": options, "n_draws": draws // every}

    ids = sb.maker(sb.SparseIDS, rule="information-ratio", **settings(1))
    return {IDS: ids, TS: sb.maker(sb.SparseTS, **settings(every))}
