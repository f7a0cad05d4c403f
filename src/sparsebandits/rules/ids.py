"""Information-directed sampling: play the action that costs little regret for the information it brings.

Russo and Van Roy (2018), Algorithm 6 for linear bandits; Hao, Lattimore and Deng (2021), Algorithm 2. From draws of
θ come the expected regret Δ and the information gain of each action (Algorithm 3); then the ratio Δ^λ / gain is
minimised over actions ("deterministic", the paper's Algorithm 2) or over distributions ("randomised"). Rows with the
same regret and gain are equally likely. That the right λ depends on the rate at which regret grows was observed by
Lattimore and György (2021).
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_choice, check_number
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import PRIORS, Choice, Mixture, Reasons
from sparsebandits.rules.optima import ROUNDING
from sparsebandits.rules.ratio import Minimiser, minimise_over_actions, minimise_over_distributions, ratios
from sparsebandits.rules.rule import Rule

SELECTIONS = {"deterministic": minimise_over_actions, "randomised": minimise_over_distributions}
AMERICAN = {"randomized": "randomised"}
GAINS = {
    "variance": "variance_gain",
    "unbiased-variance": "unbiased_variance_gain",
    "mutual-information": "mutual_information",
    "unbiased-mutual-information": "unbiased_mutual_information",
}
"""Information gains, and what they are called in ``Beliefs``."""


def check_selection(selection: object) -> str:
    """Require a known ``selection``, in British or American spelling; return the British one."""
    return check_choice("selection", AMERICAN.get(str(selection), selection), tuple(SELECTIONS))


def drawn(minimiser: Minimiser, regret: FloatArray, gain: FloatArray, rng: Generator) -> tuple[int, float, Mixture]:
    """Draw one of a minimiser's actions; of rows with the same regret and gain, as equal rows have, any one.

    Parameters
    ----------
    minimiser : Minimiser
        Distribution on at most two actions.
    regret, gain : array of shape (K,)
        Regret and gain of each action.
    rng : Generator
        Source of randomness, which is used only where there is a choice.

    Returns
    -------
    action, probability, mixture : int, float, Mixture
        The action, its probability, and the two actions of which it is one.
    """
    row, probability = minimiser.first, 1.0 - minimiser.probability
    if minimiser.first != minimiser.second and rng.random() < minimiser.probability:
        row, probability = minimiser.second, minimiser.probability
    alike = np.abs(regret - regret[row]) <= ROUNDING * regret.max()
    alike &= np.abs(gain - gain[row]) <= ROUNDING * gain.max()
    rows = np.flatnonzero(alike)
    action = int(rows[rng.integers(len(rows))]) if len(rows) > 1 else row
    first, second = (action if other == row else other for other in (minimiser.first, minimiser.second))
    return action, probability / len(rows), Mixture(first, second, minimiser.probability)


@dataclass(frozen=True)
class InformationDirected(Rule):
    """Minimise the information ratio Δ^λ / gain.

    Parameters
    ----------
    exponent : float, default=2.0
        λ of the information ratio, at least 2.
    selection : {"deterministic", "randomised"}, default="deterministic"
        Minimise over actions, as Hao et al. do, or over distributions, as Russo and Van Roy do.
    gain : str, default="variance"
        Information gain: "variance" of the conditional mean reward, as in Algorithm 3, or "mutual-information" with the
        best action; "unbiased-variance" and "unbiased-mutual-information" are without what the noise of the draws adds.

    Examples
    --------
    >>> InformationDirected(selection="randomized")
    InformationDirected(exponent=2.0, selection='randomised', gain='variance')
    """

    exponent: float = 2.0
    selection: str = "deterministic"
    gain: str = "variance"

    def __post_init__(self) -> None:
        exponent = check_number("exponent", self.exponent)
        if exponent < 2:
            raise ArgumentValueError("exponent", "a number of at least 2", repr(self.exponent))
        check_choice("gain", self.gain, tuple(GAINS))
        object.__setattr__(self, "exponent", exponent)
        object.__setattr__(self, "selection", check_selection(self.selection))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Minimise the ratio; draw one of the two actions if the minimiser has two."""
        gain: FloatArray = beliefs.shown(getattr(beliefs, GAINS[self.gain]))
        known = beliefs.information
        minimiser = SELECTIONS[self.selection](known.expected_regret, gain, self.exponent)
        action, probability, mixture = drawn(minimiser, known.expected_regret, gain, rng)
        ratio = ratios(known.expected_regret, gain, self.exponent)
        columns = {
            **beliefs.shown_first,
            "expected regret": known.expected_regret,
            "information gain": gain,
            "ratio": ratio,
            "P(optimal)": known.optimal_probability,
        }
        notes = {
            "ratio minimised": minimiser.ratio,
            "entropy of the optimal action (nats)": known.entropy,
            "effective draws": beliefs.draws.effective_sample_size,
        }
        remarks = (PRIORS,) if beliefs.are_the_priors else ()
        contributions = beliefs.features[action] * known.mean
        reasons = Reasons.top(
            action, known.optimal_probability, columns, contributions, notes, mixture, -ratio, remarks
        )
        return Choice(action, probability, reasons)

    def draws_wanted(self, beliefs: Beliefs) -> int:
        """Return the number of draws of which few enough are alone in their groups."""
        return beliefs.information.draws_wanted

    def health(self, beliefs: Beliefs) -> Health:
        """Report how much of the gain is noise of the draws."""
        return beliefs.information.health(corrected=self.gain.startswith("unbiased"))
