"""What is chosen and how: the options of ``decide`` besides those that say how a table is read, checked.

All of them are checked when a :class:`Settings` is made, and :meth:`Settings.problem` checks those that depend on the
table. So a campaign refuses at once what could not be recommended with later.
"""

from dataclasses import dataclass
from typing import NamedTuple

from sparsebandits.advice.choose import FAMILIES, POLICIES, SPARSE, looks_like_clicks
from sparsebandits.advice.expansion import EFFECTS
from sparsebandits.advice.goal import Goal
from sparsebandits.advice.history import History
from sparsebandits.arguments import (
    MOST_DRAWS,
    ArgumentValueError,
    check_choice,
    check_count,
    check_flag,
    check_positive,
    shown,
)


class Problem(NamedTuple):
    """What is wanted of which rewards.

    Attributes
    ----------
    goal : Goal
        What is wanted.
    family : str
        What rewards are: one of ``FAMILIES``.
    assumed : bool
        Whether that was assumed.
    """

    goal: Goal
    family: str
    assumed: bool


@dataclass(frozen=True)
class Settings:
    """Options of :func:`sparsebandits.decide`, where they are explained.

    Raises
    ------
    ArgumentError
        If one cannot be used, or not with the others.
    """

    policy: str = "sparse-ids"
    batch: int = 1
    untried: bool = False
    minimize: bool = False
    target: float | None = None
    effects: str = "linear"
    family: str = "auto"
    noise_variance: float | None = None
    n_draws: int = 10_000
    seed: int | None = None
    horizon: int | None = None

    def __post_init__(self) -> None:
        policy = check_choice("policy", self.policy, POLICIES)
        batch = check_count("batch", self.batch)
        goal = Goal.of(self.minimize, self.target, None, policy)
        effects = check_choice("effects", self.effects, (*EFFECTS, "auto"))
        family = check_choice("family", self.family, ("auto", *FAMILIES))
        noise = None if self.noise_variance is None else check_positive("noise_variance", self.noise_variance)
        ahead = None if self.horizon is None else check_count("horizon", self.horizon)
        if effects != "linear" and policy not in SPARSE:
            raise ArgumentValueError("effects", '"linear" for a policy without a sparse prior', shown(effects))
        if noise is not None and family in ("bernoulli", "poisson"):
            raise ArgumentValueError("noise_variance", f"none for family {family}", shown(noise))
        if ahead is not None and ahead < batch:
            raise ArgumentValueError("horizon", f"at least {batch}, the size of the batch", shown(ahead))
        if ahead is not None and policy != "sparse-ids":
            raise ArgumentValueError("horizon", 'none for a policy other than "sparse-ids"', shown(ahead))
        if family != "auto":
            goal.check_family(family)
        checked = {
            "batch": batch,
            "untried": check_flag("untried", self.untried),
            "minimize": goal.minimize,
            "target": goal.target,
            "noise_variance": noise,
            "n_draws": check_count("n_draws", self.n_draws, least=10, most=MOST_DRAWS),
            "seed": None if self.seed is None else check_count("seed", self.seed, least=0, most=None),
            "horizon": ahead,
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def problem(self, past: History) -> Problem:
        """Return what is wanted of which rewards.

        Parameters
        ----------
        past : History
            The table.

        Returns
        -------
        Problem

        Raises
        ------
        ArgumentError
            If the settings do not fit the costs or the rewards of the table.
        """
        goal = Goal.of(self.minimize, self.target, past.costs, self.policy)
        numbers = self.noise_variance is not None or goal.target is not None or goal.costs is not None
        assumed = self.family == "auto" and not numbers and looks_like_clicks(past.rewards)
        named = "bernoulli" if assumed else "gaussian" if self.family == "auto" else self.family
        goal.check_family(named)
        family = FAMILIES[named]
        if family is not None:
            family.check(past.rewards)
        return Problem(goal, named, assumed)
