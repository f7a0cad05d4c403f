"""Asking and telling, in one place for every policy.

A :class:`Policy` gives decisions ids, remembers which await their reward, takes rewards late, repeated, in any
order and in batches, explains, saves and loads. What to play is a :class:`Rule`'s affair, which knows nothing of
ids or files. Each public policy is a thin constructor that puts a rule into a ``Policy``.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_count,
    check_number,
    frozen,
    shown,
)
from sparsebandits.files import pack, write_atomically
from sparsebandits.policies.actions import ActionSet, named_rows
from sparsebandits.policies.decision import Choice, Decision, Explanation, Mixture, Reasons
from sparsebandits.posteriors.draws import Posterior
from sparsebandits.randomness import Seed, generator_state, restore_generator, stream

KIND = "sparsebandits.policy"
VERSION = 2
POLICY_STREAM, ENGINE_STREAM = 0, 1  # below a policy's seed: its own coin flips, and its posterior's draws


class Rule(Protocol):
    """How to choose an action, and how to learn from a reward."""

    def choose(self, actions: ActionSet, rng: Generator) -> Choice:
        """Choose a row of ``actions``. Changes nothing that :meth:`learn` relies on."""

    def learn(self, features: FloatArray, rewards: FloatArray) -> None:
        """Learn from a batch ``(n, d), (n,)`` of actions and their rewards, which have been checked.

        A rule whose choices carry an ``observation`` gets those rows instead of the actions' features.
        """

    def state(self) -> dict[str, Any]:
        """Return arrays and JSON values that :meth:`restore` continues from, bit for bit."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""


class PosteriorRule:
    """What rules have in common that learn through one posterior and keep nothing else; they add ``choose``."""

    def __init__(self, posterior: Posterior) -> None:
        self.posterior = posterior

    def learn(self, features: FloatArray, rewards: FloatArray) -> None:
        """Update the posterior."""
        self.posterior.absorb(features, rewards)

    def state(self) -> dict[str, Any]:
        """Return the posterior's state."""
        return self.posterior.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        self.posterior.restore(state)


Told: TypeAlias = Decision | int


class Policy:
    """A rule with a memory of its decisions.

    Parameters
    ----------
    actions : array or DataFrame ``(K, d)``, one row an action
    rule : what to play
    arguments : what the constructor of this policy was given besides ``actions`` and ``seed``, for :meth:`save`
    seed : seed of the policy's own coin flips
    """

    action_set: type[ActionSet] = ActionSet
    """What the policy chooses from."""

    def __init__(self, actions: object, rule: Rule, arguments: Mapping[str, Any], seed: Seed = None) -> None:
        self.actions = self.action_set.of(actions)
        self.rule = rule
        self.arguments = dict(arguments)
        self._rng = stream(seed, POLICY_STREAM)
        self._pending: dict[int, Decision] = {}
        self._rewards = np.empty(64)  # by id; NaN while pending, so that a repeated reward can be recognised
        self._asked = 0

    def __repr__(self) -> str:
        told = {n: shown(v) if isinstance(v, np.ndarray) else repr(v) for n, v in self.arguments.items()}
        settings = "".join(f", {name}={value}" for name, value in told.items())
        return f"{type(self).__name__}({self.actions}{settings}; {self._asked} asked, {len(self._pending)} pending)"

    def ask(self, actions: object = None, noise_variance: object = None) -> Decision:
        """Choose the next action, from ``actions`` if given (for this decision only), else from the policy's own.

        ``noise_variance`` is one a row of ``actions``, and is wanted if the policy was made with one an action.

        May be called again before any reward has come; what is still open is in :attr:`pending`. Nothing is learnt
        in between: a policy that flips coins (Thompson sampling, randomised IDS) flips them anew, a deterministic
        one gives the same action again.
        """
        if actions is None and noise_variance is not None:
            raise ArgumentValueError(
                "noise_variance", "none without actions, since the policy's own have theirs", shown(noise_variance)
            )
        available = self.actions if actions is None else self.actions.matched(actions, noise_variance)
        choice = self.rule.choose(available, self._rng)
        features = available.features[choice.action] if choice.features is None else choice.features
        names = available.labels if choice.reasons.about == "action" else available.feature_names
        decision = Decision(
            id=self._asked,
            action=choice.action,
            features=frozen(features),
            probability=choice.probability,
            probability_draws=choice.probability_draws,
            reasons=choice.reasons,
            labels=named_rows(names, choice.reasons.candidates.tolist()),
            feature_names=named_rows(available.feature_names, choice.reasons.drivers.tolist()),
            noise_variance=(
                None if available.noise_variances is None else float(available.noise_variances[choice.action])
            ),
            policy=type(self).__name__,
            observation=None if choice.observation is None else frozen(choice.observation),
        )
        if self._asked == len(self._rewards):
            self._rewards = np.concatenate((self._rewards, np.empty(self._asked)))
        self._rewards[self._asked] = np.nan
        self._pending[decision.id] = decision
        self._asked += 1
        return decision

    def tell(self, decision: Told | Iterable[Told], reward: object) -> None:
        """Give the reward of a decision (or its id), or a sequence of rewards for a sequence of decisions.

        The same reward for the same decision again changes nothing. A different one, or an unknown decision, is an
        error, and then nothing of the call has been learnt.
        """
        if isinstance(decision, Decision | int | np.integer):
            new = self._new_reward(decision, reward)
            if new is not None:
                self._learn({new[0]: new[1]})
            return
        decisions, rewards = self._as_batch(decision, reward)
        batch: dict[int, float] = {}
        for one, value in zip(decisions, rewards, strict=True):
            new = self._new_reward(one, value)
            if new is not None and batch.setdefault(*new) != new[1]:
                raise ArgumentValueError(
                    "reward", f"one reward for decision {new[0]}", f"{batch[new[0]]!r} and {new[1]!r}"
                )
        if batch:
            self._learn(batch)

    def explain(self, decision: Told) -> Explanation:
        """Return why a decision was made: what the policy knew of it and of its foremost rivals.

        Pass the decision, or its id while it awaits its reward; afterwards the reasons live in the decision alone.
        """
        if not isinstance(decision, Decision):
            number = self._known_id(decision)
            if number not in self._pending:
                raise ArgumentValueError(
                    "decision", "the decision itself, since it has its reward already", f"its id {number}"
                )
            decision = self._pending[number]
        return Explanation(decision)

    @property
    def pending(self) -> tuple[Decision, ...]:
        """Decisions that await their reward, oldest first."""
        return tuple(self._pending.values())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write :meth:`state` to a file in an existing directory, in one step; ``sparsebandits.load`` reads it."""
        write_atomically(path, pack(KIND, VERSION, self.state()))

    def state(self) -> dict[str, Any]:
        """Return everything that continuing bit for bit needs, as arrays and JSON values."""
        return {
            "policy": type(self).__name__,
            "arguments": {name: encode(value) for name, value in self.arguments.items()},
            **self.actions.state(),
            "rng": generator_state(self._rng),
            "asked": self._asked,
            "rewards": self._rewards[: self._asked].copy(),
            "pending": {str(number): _decision_state(decision) for number, decision in self._pending.items()},
            "rule": self.rule.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state; ``load`` calls this on a freshly made policy."""
        self.rule.restore(state["rule"])
        restore_generator(self._rng, state["rng"])
        self._asked = int(state["asked"])
        self._rewards = np.concatenate((state["rewards"], np.empty(64)))
        self._pending = {int(number): _restored_decision(saved) for number, saved in state["pending"].items()}

    def _known_id(self, decision: Told) -> int:
        if not isinstance(decision, Decision | int | np.integer):
            raise ArgumentTypeError("decision", "a decision or its id", shown(decision))
        number = decision.id if isinstance(decision, Decision) else check_count("decision", decision, least=0)
        if number >= self._asked:
            known = f"{self._asked} decisions" if self._asked else "decisions, of which there are none yet"
            raise ArgumentValueError("decision", f"one of this policy's {known}", f"id {number}")
        return number

    def _new_reward(self, decision: Told, reward: object) -> tuple[int, float] | None:
        """Return id and reward if they are news, nothing if they have been told; refuse contradictions."""
        if isinstance(reward, bool | np.bool_):  # a click
            reward = float(reward)
        number, value = self._known_id(decision), check_number("reward", reward)
        if number in self._pending:
            if isinstance(decision, Decision) and not _same(decision, self._pending[number]):
                raise ArgumentValueError(
                    "decision", "one of this policy's", f"another policy's with the same id, {number}"
                )
            return number, value
        if value != self._rewards[number]:
            before = float(self._rewards[number])
            raise ArgumentValueError("reward", f"{before!r} for decision {number}, as told before", repr(value))
        return None

    def _as_batch(self, decision: object, reward: object) -> tuple[Sequence[Told], Sequence[object]]:
        one = isinstance(decision, str | bytes | bool | float) or getattr(decision, "shape", None) == ()
        if one or not isinstance(decision, Iterable):
            raise ArgumentTypeError("decision", "a decision, its id, or a sequence of them", shown(decision))
        scalar = isinstance(reward, np.ndarray) and reward.ndim == 0
        if isinstance(reward, str | bytes) or not isinstance(reward, Iterable) or scalar:
            raise ArgumentTypeError("reward", "as many rewards as decisions", shown(reward))
        decisions, rewards = list(decision), list(reward)
        if len(decisions) != len(rewards):
            raise ArgumentValueError("reward", f"{len(decisions)} rewards, one a decision", f"{len(rewards)}")
        return decisions, rewards

    def _learn(self, batch: Mapping[int, float]) -> None:
        told = [self._pending[number] for number in batch]
        features = np.array([d.features if d.observation is None else d.observation for d in told])
        rewards = np.fromiter(batch.values(), dtype=np.float64)
        if self.actions.noise_variances is not None:  # a reward of noise variance v, divided by √v, has one of 1
            scale = np.sqrt(np.array([d.noise_variance for d in told], dtype=np.float64))
            features, rewards = features / scale[:, np.newaxis], rewards / scale
        self.rule.learn(features, rewards)
        for number, value in batch.items():
            self._rewards[number] = value
            del self._pending[number]


def _same(one: Decision, other: Decision) -> bool:
    same = one.policy == other.policy and one.action == other.action
    return one is other or (same and bool(np.array_equal(one.features, other.features)))


def encode(value: Any) -> Any:
    """Return a constructor's argument as JSON: parts such as priors by their class and fields."""
    if hasattr(value, "__dataclass_fields__"):
        return {
            "part": type(value).__name__,
            **{name: encode(getattr(value, name)) for name in value.__dataclass_fields__},
        }
    if isinstance(value, Mapping):
        return {name: encode(one) for name, one in value.items()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _decision_state(decision: Decision) -> dict[str, Any]:
    return {
        "id": decision.id,
        "action": decision.action,
        "features": np.array(decision.features),
        "probability": decision.probability,
        "probability_draws": decision.probability_draws,
        "labels": decision.labels,
        "feature_names": decision.feature_names,
        "noise_variance": decision.noise_variance,
        "policy": decision.policy,
        "observation": decision.observation,
        "reasons": {
            **vars(decision.reasons),
            "columns": dict(decision.reasons.columns),
            "notes": dict(decision.reasons.notes),
            "mixture": None if decision.reasons.mixture is None else vars(decision.reasons.mixture),
        },
    }


def _restored_decision(saved: Mapping[str, Any]) -> Decision:
    mixture = saved["reasons"]["mixture"]
    reasons = {**saved["reasons"], "mixture": None if mixture is None else Mixture(**mixture)}
    return Decision(
        id=saved["id"],
        action=saved["action"],
        features=frozen(saved["features"]),
        probability=saved["probability"],
        probability_draws=saved["probability_draws"],
        reasons=Reasons(**reasons),
        labels=None if saved["labels"] is None else tuple(saved["labels"]),
        feature_names=None if saved["feature_names"] is None else tuple(saved["feature_names"]),
        noise_variance=saved["noise_variance"],
        policy=saved["policy"],
        observation=saved.get("observation"),
    )
