"""Choose a policy's parameter on worlds that no comparison uses.

A rival is tuned before it is compared, as Hao, Lattimore and Deng (2021) tune the width of LinUCB over a candidate set.
Tuned on the trials of the comparison itself it would have seen the answers. So the trials of tuning come from a root
seed of their own, 128 bits that are derived from ``seed`` below a key that no experiment uses: tuning and comparing
with the same ``seed`` share no instance, no noise and no coin flip.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, check_count, shown
from sparsebandits.environments import Environment
from sparsebandits.experiments.experiment import Experiment, Progress, Watcher
from sparsebandits.experiments.simulate import PolicyMaker, check_maker
from sparsebandits.policies.policy import Policy
from sparsebandits.randomness import TUNING_STREAM
from sparsebandits.results.intervals import mean_interval
from sparsebandits.tables import Table


@dataclass(frozen=True)
class Tuned:
    """The best candidate, and all that a reader needs to repeat the choice.

    Attributes
    ----------
    best : the candidate with the smallest mean regret; the first of equals
    table : each candidate with its mean regret and 95% interval, in the order given
    at_edge : whether the best is the first or the last of several, so that a wider set might hold a better one
    horizon, trials, seed : of the trials it was chosen on
    """

    best: Any
    table: Table
    at_edge: bool
    horizon: int
    trials: int
    seed: int

    def __str__(self) -> str:
        edge = "; it is at the edge of the candidates" if self.at_edge else ""
        return (
            f"{self.best!r} of {len(self.table.rows)} candidates, by mean regret over {self.trials} trials of "
            f"{self.horizon} rounds apart from the comparison (seed {self.seed}){edge}"
        )

    def record(self) -> dict[str, Any]:
        """Return the choice as JSON values, for a result's record."""
        return {
            "best": repr(self.best),
            "candidates": self.table.to_dicts(),
            "at_edge": self.at_edge,
            "horizon": self.horizon,
            "trials": self.trials,
            "seed": self.seed,
        }


def tuning_seed(seed: int) -> int:
    """Return the root seed of tuning that belongs to ``seed``."""
    words = SeedSequence(check_count("seed", seed, least=0), spawn_key=(TUNING_STREAM,)).generate_state(4)
    return sum(int(word) << (32 * place) for place, word in enumerate(words))


def tune(
    make: Callable[[Any], PolicyMaker | type[Policy]],
    candidates: Sequence[Any] | NDArray[Any],
    environment: Environment,
    horizon: int,
    trials: int,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | Watcher | None = None,
    directory: str | os.PathLike[str] | None = None,
    scheduler: Any = None,
) -> Tuned:
    """Return the candidate whose policy has the smallest mean regret, on trials apart from any comparison.

    Parameters
    ----------
    make : gives the maker of the policy with a candidate for its parameter
    candidates : values to choose from; all meet the same worlds
    environment, horizon, trials, seed : as for :class:`Experiment`
    workers, progress, directory, scheduler : as for :meth:`Experiment.run`

    >>> from sparsebandits import LinUCB, maker
    >>> from sparsebandits.environments import GaussianActions
    >>> environment = GaussianActions(dimension=5, sparsity=2, n_actions=20)
    >>> tuned = tune(lambda width: maker(LinUCB, width=width), [0.5, 1.0, 10.0], environment, horizon=50, trials=10)
    >>> tuned.best < 10.0
    True
    >>> policies = {"LinUCB, tuned": maker(LinUCB, width=tuned.best)}
    """
    if not callable(make) or isinstance(make, type):
        example = "such as lambda width: maker(LinUCB, width=width)"
        raise ArgumentTypeError("make", f"a function from a candidate to a policy's maker, {example}", shown(make))
    if isinstance(candidates, np.ndarray) and candidates.ndim == 1:
        candidates = candidates.tolist()
    if isinstance(candidates, str | bytes) or not isinstance(candidates, Sequence) or not candidates:
        raise ArgumentValueError("candidates", "a sequence of at least one value", shown(candidates))
    names = [shown(candidate) for candidate in candidates]
    if len(set(names)) < len(names):
        names = [str(number) for number in range(len(candidates))]
    policies = {
        name: check_maker(f"make({shown(candidate)})", make(candidate))
        for name, candidate in zip(names, candidates, strict=True)
    }
    experiment = Experiment(environment, policies, horizon, trials, tuning_seed(seed), points=1)
    result = experiment.run(directory, workers, progress, scheduler)
    means = [float(result.final(name).mean()) for name in policies]
    best = min(range(len(means)), key=means.__getitem__)
    rows = []
    for name, candidate, mean in zip(policies, candidates, means, strict=True):
        low, high = mean_interval(result.final(name))
        rows.append((repr(candidate), mean, float(low), float(high)))
    return Tuned(
        best=candidates[best],
        table=Table(("candidate", "final regret", "95% from", "to"), rows),
        at_edge=len(candidates) > 1 and best in (0, len(candidates) - 1),
        horizon=horizon,
        trials=trials,
        seed=seed,
    )
