"""Instances as a Gymnasium environment, so that the agents of other libraries can play them.

An observation is the features of the actions that may be played now, ``(K, d)``; an action is the index of one of its
rows; the reward is drawn from the family of the instance, such as the mean reward ⟨a, θ*⟩ plus Gaussian noise. An
episode is truncated at the horizon and never terminates before. ``info`` holds what an agent may not use, for its
evaluation: the mean reward of the action that was played, its regret, and the best action.

Gymnasium (Towers et al. 2024, arXiv:2407.17032) is optional: ``pip install 'sparsebandits[gym]'``. Importing this
module registers ``sparsebandits/Bandit-v0``; so does ``gymnasium.make("sparsebandits.environments.gym:...")``.
"""

from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from sparsebandits.arguments import LARGEST, ArgumentTypeError, ArgumentValueError, FloatArray, check_count, shown
from sparsebandits.environments.instance import Environment, Round
from sparsebandits.randomness import INSTANCE_STREAM, NOISE_STREAM, IndexedNormals, child

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    raise ImportError(
        "sparsebandits.environments.gym needs Gymnasium, which is not installed: pip install 'sparsebandits[gym]'"
    ) from error

ID = "sparsebandits/Bandit-v0"


@runtime_checkable
class Rows(Protocol):
    """An instance whose actions are rows; actions and θ* may be others in each round."""

    def at(self, round_number: int) -> Round:
        """Return the actions of one round and what they are worth.

        Parameters
        ----------
        round_number : int
            The round, counted from 0.

        Returns
        -------
        Round
            Such as an :class:`Instance` with the actions and the θ* of the round.
        """


class BanditEnv(gymnasium.Env[FloatArray, np.int64]):
    """A bandit problem as a Gymnasium environment.

    Parameters
    ----------
    problem : instance or environment
        An instance is the same in every episode; from an environment, each episode draws a new instance.
    horizon : int
        Number of rounds in an episode.

    Attributes
    ----------
    instance : Instance, or another one whose actions are rows
        The instance of this episode, with its solution.

    Notes
    -----
    ``reset(seed=s)`` gives the world that ``simulate(..., seed=s)`` plays: the same noise, and for an environment the
    instance ``environment.sample(child(s, 0))``. Later episodes, ``reset()``, follow from that seed.

    Examples
    --------
    >>> from sparsebandits.environments import GaussianActions
    >>> env = BanditEnv(GaussianActions(dimension=5, sparsity=2, n_actions=10), horizon=100)
    >>> actions, info = env.reset(seed=0)
    >>> actions.shape, sorted(info)
    ((10, 5), ['noise_variance', 'rewards'])
    >>> actions, reward, terminated, truncated, info = env.step(3)
    >>> sorted(info)
    ['best_action', 'mean_reward', 'regret']
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's

    def __init__(self, problem: Environment | Rows, horizon: int) -> None:
        self.horizon = check_count("horizon", horizon)
        self._problem = problem
        if isinstance(problem, type):
            raise ArgumentTypeError("problem", "an instance or an environment", f"the class {problem.__name__}")
        first = problem.sample(0) if hasattr(problem, "sample") else problem
        self.instance = _check_rows(first)
        self._shape = self.instance.at(0).actions.shape
        self.action_space = cast("spaces.Space[np.int64]", spaces.Discrete(self._shape[0]))
        self.observation_space = spaces.Box(-LARGEST, LARGEST, self._shape, np.float64)
        self._round: int | None = None  # None: no episode has begun

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[FloatArray, dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            The seed of this episode and of those that follow it.
        options : dict, optional
            Not used.

        Returns
        -------
        observation : array of shape (K, d)
            The actions of the first round.
        info : dict
            ``rewards``, the family of the rewards, and ``noise_variance``, the variance of a Gaussian reward around its
            mean, NaN for other families.
        """
        super().reset(seed=seed)
        root = int(self.np_random.integers(2**63)) if seed is None else seed
        if hasattr(self._problem, "sample"):
            self.instance = _check_rows(self._problem.sample(child(root, INSTANCE_STREAM)))
        self._noise = IndexedNormals(child(root, NOISE_STREAM))
        self._round = 0
        first = self.instance.at(0)
        return self._observation(), {"noise_variance": first.noise_variance, "rewards": first.rewards}

    def step(self, action: np.int64 | int) -> tuple[FloatArray, float, bool, bool, dict[str, Any]]:
        """Play one action.

        Parameters
        ----------
        action : int
            A row of the last observation.

        Returns
        -------
        observation : array of shape (K, d)
            The actions of the next round.
        reward : float
            The reward of the action.
        terminated : bool
            Always false.
        truncated : bool
            Whether the episode has reached its horizon.
        info : dict
            ``mean_reward`` and ``regret`` of the action, and ``best_action``.

        Raises
        ------
        RuntimeError
            If no episode is under way.
        ArgumentError
            If ``action`` is not a row of the observation; no round passes.
        """
        if self._round is None or self._round >= self.horizon:
            state = "none has begun" if self._round is None else f"this one ended after {self.horizon} rounds"
            raise RuntimeError(f"step: expected an episode under way, but {state}; call reset() first")
        row = check_count("action", action, least=0)
        if row >= self._shape[0]:
            raise ArgumentValueError("action", f"a row from 0 to {self._shape[0] - 1}", f"{row}")
        now = self.instance.at(self._round)
        outcome = now.outcome(self._round, row, now.actions[row])
        reward = outcome.reward(self._round, now.rewards, self._noise)
        info = {"mean_reward": outcome.mean, "regret": outcome.regret, "best_action": int(now.means.argmax())}
        self._round += 1
        return self._observation(), reward, False, self._round == self.horizon, info

    def _observation(self) -> FloatArray:
        """Return the actions of this round."""
        assert self._round is not None
        actions = self.instance.at(self._round).actions
        if actions.shape != self._shape:
            raise ArgumentValueError("problem", f"actions of shape {self._shape} in every round", f"{actions.shape}")
        return actions.copy()  # the agent may write into it


def _check_rows(instance: object) -> Rows:
    """Require an instance whose actions are rows that show their own rewards."""
    if not isinstance(instance, Rows) or not callable(instance.at):
        raise ArgumentTypeError("problem", "an instance or an environment whose actions are rows", shown(instance))
    graph = getattr(instance, "feedback", None)
    if graph is not None and not np.diagonal(graph).all():  # a step returns the reward of its action
        raise ArgumentValueError("problem", "actions that show their own reward", "a feedback graph that hides some")
    return instance


if ID not in gymnasium.registry:
    gymnasium.register(ID, entry_point=f"{__name__}:BanditEnv")
