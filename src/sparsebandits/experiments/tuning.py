"""Choose a parameter of a policy on worlds that no comparison uses.

A rival is tuned before it is compared, as Hao, Lattimore and Deng (2021) tune the width of LinUCB over a candidate set.
If it were tuned on the trials of the comparison itself, it would have seen the answers. So the trials of tuning come
from a root seed of their own, 128 bits that are derived from ``seed`` below a key that no experiment uses: tuning and
comparing with the same ``seed`` share no instance, no noise and no coin flip.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from sparsebandits.arguments import ArgumentTypeError, ArgumentValueError, check_count, shown
from sparsebandits.environments.instance import Environment
from sparsebandits.experiments.experiment import Experiment, Progress, Watcher
from sparsebandits.experiments.simulate import PolicyMaker, check_maker
from sparsebandits.policies.policy import Policy
from sparsebandits.randomness import TUNING_STREAM
from sparsebandits.results.statistics import estimate_mean
from sparsebandits.tables import Rows, as_html


@dataclass(frozen=True)
class Tuned:
    """The best candidate, and everything that a reader needs to repeat the choice.

    Attributes
    ----------
    best : object
        The candidate with the smallest mean regret; the first one of equals.
    table : Rows
        Each candidate with its mean regret and 95% interval, in the given order, under the keys "candidate", "final
        regret", "95% from" and "to".
    at_edge : bool
        Whether the best is the first or the last of several candidates, so that a wider set might hold a better one.
    horizon, trials, seed : int
        Of the trials that the candidate was chosen on.
    """

    best: Any
    table: Rows
    at_edge: bool
    horizon: int
    trials: int
    seed: int

    def __str__(self) -> str:
        edge = "; it is at the edge of the candidates" if self.at_edge else ""
        return (
            f"{self.best!r} of {len(self.table)} candidates, by mean regret over {self.trials} trials of "
            f"{self.horizon} rounds apart from the comparison (seed {self.seed}){edge}"
        )

    def _repr_html_(self) -> str:
        return as_html(str(self), self.table)

    def record(self) -> dict[str, Any]:
        """Return the choice as JSON values, for the provenance of a result."""
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
    words = SeedSequence(check_count("seed", seed, least=0, most=None), spawn_key=(TUNING_STREAM,)).generate_state(4)
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
    make : callable
        Returns the maker of the policy, or a policy class, for a candidate.
    candidates : sequence or array of shape (n,)
        Values to choose from; all meet the same worlds.
    environment : Environment
        What instances are drawn from.
    horizon : int
        Rounds per trial.
    trials : int
        Instances that every candidate is tried on.
    seed : int, default=0
        Seed of the comparison; the trials of tuning get a seed of their own from it.
    workers : int, default=1
        Processes on this machine.
    progress : callable, default=None
        As for :meth:`Experiment.run`.
    directory : str or path, default=None
        Where trials are kept, as for :meth:`Experiment.run`.
    scheduler : str or distributed.Client, default=None
        Dask scheduler whose workers are used instead of processes on this machine.

    Returns
    -------
    Tuned
        The best candidate, with the mean regret of all.

    Examples
    --------
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
    means = [estimate_mean(result.final(name)) for name in policies]
    best = min(range(len(means)), key=lambda place: means[place].value)
    rows = [
        {"candidate": repr(candidate), "final regret": mean.value, "95% from": mean.low, "to": mean.high}
        for candidate, mean in zip(candidates, means, strict=True)
    ]
    return Tuned(
        best=candidates[best],
        table=Rows.of(rows),
        at_edge=len(candidates) > 1 and best in (0, len(candidates) - 1),
        horizon=horizon,
        trials=trials,
        seed=seed,
    )
