"""The dose of an anticoagulant, from a made-up model of patients. There are no patient data here.

The problem has the form of the warfarin study of Bastani and Bayati (2020): the record of a patient arrives, one of
three doses is chosen, and the reward says whether it was the right one. The study's data are not used. All numbers
below are invented. Their signs follow what is generally known about warfarin: older patients and carriers of variants
of VKORC1 and CYP2C9 need less, heavier ones more. Nothing was fitted to data. Do not draw conclusions about patients
or doses from this model.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    LARGEST,
    ArgumentValueError,
    FloatArray,
    check_between,
    check_count,
    check_positive,
    shown,
)
from sparsebandits.environments.contexts import Contexts
from sparsebandits.environments.labelled import LabelledInstance
from sparsebandits.randomness import CONTEXT_STREAM, Seed, child, stream

DOSES = ("low", "medium", "high")

ANCESTRIES = ("European", "Asian", "African")
ANCESTRY_SHARES = (0.55, 0.3, 0.15)
VKORC1_FREQUENCIES = (0.4, 0.9, 0.1)  # of the A allele, by ancestry
CYP2C9_FREQUENCIES = (0.2, 0.05, 0.03)  # of variant alleles, by ancestry

DRUGS = {"amiodarone": 0.1, "enzyme inducer": 0.05, "statin": 0.4, "aspirin": 0.3}
"""Shares of patients who take other drugs."""

MEDIAN_DOSE = 44.0
"""Milligrams per week at which the logarithm of the dose is the intercept of the model."""

EFFECTS = {
    "age": -0.11,
    "female": 0.0,
    "height": 0.03,
    "weight": 0.13,
    "Asian": 0.0,
    "African": 0.0,
    "VKORC1 GA": -0.32,
    "VKORC1 AA": -0.75,
    "CYP2C9 one variant": -0.25,
    "CYP2C9 two variants": -0.7,
    "amiodarone": -0.25,
    "enzyme inducer": 0.35,
    "statin": 0.0,
    "aspirin": 0.0,
    "smoker": 0.1,
}
"""Effect of each column of a record on the logarithm of the dose, per unit of the column as ``record`` makes it."""


@dataclass(frozen=True)
class Dosing:
    """Instances in which the dose of a made-up drug has to be chosen for made-up patients.

    The model, all of whose numbers are invented:

    - age ~ N(65, 14²) years; 45% are female; height ~ N(176, 7²) cm, 13 cm less for women; weight ~ N(84, 14²) kg at
      170 cm and 0.8 kg more per cm.
    - Ancestry is European, Asian or African (55%, 30%, 15%). It has no effect on the dose by itself, but is correlated
      with genotypes: the A allele of VKORC1 has frequency 0.4, 0.9 or 0.1, variant alleles of CYP2C9 together 0.2, 0.05
      or 0.03, two alleles per patient, drawn independently.
    - 10% take amiodarone, 5% an enzyme inducer, 40% a statin, 30% aspirin; 15% smoke.
    - The right weekly dose in mg is 44 e^(η + ε), ε ~ N(0, σ²) with σ = ``variation``, where η is the sum of −0.11 per
      14 years of age above 65, 0.03 per 10 cm of height above 170, 0.13 per 16 kg of weight above 84, −0.32 for VKORC1
      GA and −0.75 for AA, −0.25 for one variant of CYP2C9 and −0.7 for two, −0.25 for amiodarone, 0.35 for an enzyme
      inducer and 0.1 for smokers. Nothing else has an effect.
    - The dose is low below ``thresholds[0]`` mg, high above ``thresholds[1]`` mg, and medium otherwise.

    The context is a constant, the 15 columns of the record (age, height and weight in the units above, the others 0 or
    1), and ``extra_features`` measurements without any effect, which are standard normal. The three actions have
    coefficients of their own: the features of action a are the context in block a and zeros elsewhere. The reward is 1
    if the dose is right, and 0 otherwise.

    Parameters
    ----------
    extra_features : int, default=20
        Number of measurements without effect. Actions have d = 3 (16 + ``extra_features``) features.
    variation : float, default=0.2
        Standard deviation of the logarithm of the right dose among patients with the same record, at least 0.
    thresholds : tuple of two floats, default=(21.0, 49.0)
        Weekly doses in mg that separate low from medium and medium from high; the values of the warfarin study.

    Notes
    -----
    A patient is a function of (seed, round) alone, so all policies of a trial see the same patients. Regret is against
    always being right. No policy can be, because of ``variation``, so regret grows linearly even for the best one. With
    the defaults, a low, medium or high dose is right for about 24%, 65% and 11% of patients, and the best decision from
    the record is right for about 81%.

    References
    ----------
    Bastani, H. and Bayati, M. (2020). Online decision making with high-dimensional covariates. Operations Research 68.

    Examples
    --------
    >>> instance = Dosing(extra_features=0).sample(seed=0)
    >>> instance
    LabelledInstance(3 actions of 48 features, one of which is right in each round)
    >>> instance.contexts.names[:5], instance.contexts.item_names
    (('constant', 'age', 'female', 'height', 'weight'), ('low', 'medium', 'high'))
    """

    extra_features: int = 20
    variation: float = 0.2
    thresholds: tuple[float, float] = (21.0, 49.0)

    def __post_init__(self) -> None:
        check_count("extra_features", self.extra_features, least=0)
        check_between("variation", self.variation, 0.0, LARGEST)
        if not isinstance(self.thresholds, tuple | list) or len(self.thresholds) != 2:
            raise ArgumentValueError("thresholds", "two numbers", shown(self.thresholds))
        low, high = (check_positive("thresholds", threshold) for threshold in self.thresholds)
        if not low < high:
            raise ArgumentValueError("thresholds", "the lower one first", shown(self.thresholds))
        object.__setattr__(self, "thresholds", (low, high))  # a list in an experiment file

    def sample(self, seed: Seed) -> LabelledInstance:
        """Return the instance that belongs to a seed: a sequence of patients.

        Parameters
        ----------
        seed : int, SeedSequence or None
            The seed; None for fresh entropy.

        Returns
        -------
        LabelledInstance
        """
        root = child(seed)  # fresh entropy is drawn once
        effects = np.array(list(EFFECTS.values()))
        low, high = self.thresholds

        def patient(t: int) -> tuple[FloatArray, float]:
            rng = stream(root, CONTEXT_STREAM, t)
            known = record(rng)
            dose = MEDIAN_DOSE * math.exp(float(effects @ known) + self.variation * rng.standard_normal())
            return np.concatenate(([1.0], known, rng.standard_normal(self.extra_features))), dose

        def label(t: int) -> int:
            dose = patient(t)[1]
            return int(dose >= low) + int(dose > high)

        names = ("constant", *EFFECTS, *(f"measurement {j}" for j in range(self.extra_features)))
        return LabelledInstance(Contexts(lambda t: patient(t)[0], names, np.eye(3), DOSES, DOSES), label)


def record(rng: Generator) -> FloatArray:
    """Draw the record of a patient.

    Parameters
    ----------
    rng : Generator
        Source of the randomness.

    Returns
    -------
    array of shape (15,)
        In the order of ``EFFECTS``; age in units of 14 years from 65, height of 10 cm from 170, weight of 16 kg from
        84, and 0 or 1 otherwise.
    """
    age = rng.standard_normal()
    female = float(rng.random() < 0.45)
    height = 176.0 - 13.0 * female + 7.0 * rng.standard_normal()
    weight = 84.0 + 0.8 * (height - 170.0) + 14.0 * rng.standard_normal()
    ancestry = rng.choice(len(ANCESTRIES), p=ANCESTRY_SHARES)
    vkorc1, cyp2c9 = rng.binomial(2, [VKORC1_FREQUENCIES[ancestry], CYP2C9_FREQUENCIES[ancestry]])
    drugs = rng.random(len(DRUGS)) < list(DRUGS.values())
    smoker = rng.random() < 0.15
    body = (age, female, (height - 170.0) / 10.0, (weight - 84.0) / 16.0)
    genes = (ancestry == 1, ancestry == 2, vkorc1 == 1, vkorc1 == 2, cyp2c9 == 1, cyp2c9 == 2)
    return np.array([*body, *genes, *drugs, smoker], dtype=np.float64)
