"""Policies: asking and telling, the same for all of them.

A policy is a posterior that learns, a rule that chooses, and a record of decisions and rewards. :class:`Policy` gives
decisions ids, remembers which await their reward, takes rewards late, repeated, in any order and in batches, explains,
saves and loads. Named policies (``linear.py``, ``sparse.py``, ``rivals/``) are short constructors that combine a
posterior and a rule.

The path of one ``ask``: actions -> Beliefs -> rule.choose -> Choice -> Decision. The path of one ``tell``: reward ->
journal -> posterior.absorb. Both work on a fork of the posterior, which takes its place in the same step in which the
decision or the rewards are noted (``atomic.py``): an exception at any point, Ctrl-C included, leaves nothing by half.
"""

import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from threading import RLock
from typing import Any, Protocol, TypeAlias, TypeVar, cast, overload

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_count,
    check_flag,
    check_number,
    check_positive,
    frozen,
    shown,
)
from sparsebandits.atomic import at_once, forked, interruptible
from sparsebandits.files import pack, write_atomically
from sparsebandits.layouts import wrong
from sparsebandits.model.families import Linked, Poisson
from sparsebandits.model.forgetting import moment
from sparsebandits.model.rewards import Gaussian
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.codec import Decoder, check_savable, encode, encode_learner, package_of, settings_of
from sparsebandits.policies.decision import Decision, Explanation
from sparsebandits.policies.saved import check_actions, check_record
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.randomness import COIN_STREAM, Seed, copied, generator_state, restore_generator, stream
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice
from sparsebandits.rules.linked import beliefs_about
from sparsebandits.rules.optima import OptimaMemory
from sparsebandits.rules.rule import Rule
from sparsebandits.rules.wins import WinsMemory

KIND = "sparsebandits.policy"
VERSION = 5
MOST_BATCH = 10**6
"""Largest number of decisions at once."""
ENOUGH_TO_TELL = 20
"""Number of rewards after which a policy looks once whether all of them are 0 or 1."""
CLICKS = (
    "all rewards so far are 0 or 1, but the policy takes them as numbers with Gaussian noise; "
    "rewards=sb.Bernoulli() takes them as clicks"
)
LEARNER = ("absorb", "state", "restore", "__dict__")
"""What every learner has."""


class Learner(Protocol):
    """Interface of what learns in a policy: every engine, and the estimators of rivals."""

    def absorb(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Learn from a batch that has been checked.

        A learner with an attribute ``forgetting`` that is not None gets the times of the decisions, too, as ``times``.

        A policy calls it on a fork, which shares all attributes with the learner. So it replaces what it changes
        (``self.total = self.total + y @ x``), and changes nothing in place: then ``tell`` is all or nothing.

        Parameters
        ----------
        x : array of shape (n, d)
            Features of the chosen actions, or the ``observation`` of each choice if the rule's choices have one.
        y : array of shape (n,)
            Rewards.
        weights : array of shape (n,), optional
            Weight of each observation; by default 1.
        """

    def state(self) -> dict[str, Any]:
        """Return arrays and JSON values that :meth:`restore` continues from, bit for bit."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""


class Recorder(Protocol):
    """Interface of a record of decisions and rewards; ``sparsebandits.journal`` has several."""

    def decided(self, decision: Decision, offered: ActionSet) -> None:
        """Record a decision, before ``ask`` returns it.

        Parameters
        ----------
        decision : Decision
            The decision.
        offered : ActionSet
            The actions that it was chosen from.
        """

    def rewarded(self, decision: Decision, reward: float) -> None:
        """Record a reward, before the posterior learns from it.

        Parameters
        ----------
        decision : Decision
            The decision.
        reward : float
            Its reward.
        """


Told: TypeAlias = Decision | int
Method = TypeVar("Method", bound=Callable[..., Any])


def _one_at_a_time(method: Method) -> Method:
    """Let calls from several threads wait for each other, and let Ctrl-C end one as a KeyboardInterrupt."""

    @wraps(method)
    def alone(self: "Policy", *arguments: Any, **named: Any) -> Any:
        with self._lock, interruptible():
            return method(self, *arguments, **named)

    return cast(Method, alone)


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a policy expects of some actions.

    Attributes
    ----------
    mean : array of shape (K,)
        Expected reward of each action; NaN as long as no reward has come if rewards have an unknown level.
    sd : array of shape (K,)
        Standard deviation of the mean reward of each action, without the noise of a single reward; infinite as long as
        nothing is known of the unit of the rewards, since they are all equal.
    optimal_probability : array of shape (K,)
        Probability that each action is the best of them.
    """

    mean: FloatArray
    sd: FloatArray
    optimal_probability: FloatArray


class Policy:
    """A posterior that learns and a rule that chooses, with a memory of decisions.

    Its methods may be called from several threads: they wait for each other, and each is atomic. So decisions have ids
    of their own, and the result is that of the same calls one after the other. The posterior has no lock of its own:
    while other threads ask and tell, read it through the policy.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action, one column per feature.
    posterior : Engine or other learner
        The learner, such as ``sb.Particles(prior, dimension=d)``.
    rule : Rule
        The decision rule, such as ``sb.rules.InformationDirected()``.
    seed : int, SeedSequence or None
        Seed of the rule's random choices. The posterior has its own seed.
    journal : Recorder, optional
        Where decisions and rewards are recorded, such as ``sb.journal.JsonLines("decisions.jsonl")``.

    Raises
    ------
    ArgumentError
        If the rule cannot work with this posterior, or if a part could not be saved.

    Examples
    --------
    >>> import sparsebandits as sb
    >>> posterior = sb.Particles(sb.SpikeSlab(0.5, 1.0), dimension=3, seed=0)
    >>> policy = Policy(np.eye(3), posterior, sb.rules.InformationDirected(), seed=0)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self, actions: object, posterior: Any, rule: Rule, seed: Seed = None, journal: Recorder | None = None
    ) -> None:
        if not isinstance(rule, Rule):
            raise ArgumentTypeError("rule", "a Rule, such as InformationDirected()", shown(rule))
        if isinstance(posterior, type) or not all(hasattr(posterior, one) for one in LEARNER):
            raise ArgumentTypeError("posterior", "an engine, such as Particles(prior, dimension=d)", shown(posterior))
        self.actions = actions if isinstance(actions, ActionSet) else ActionSet.of(actions)
        self.posterior = posterior
        self.rule = rule
        self.journal = journal
        dimension = getattr(posterior, "dimension", self.actions.dimension)
        if dimension != self.actions.dimension:
            expected = f"one for the {self.actions.dimension} features of the actions"
            raise ArgumentValueError("posterior", expected, f"one for {dimension}")
        rule.check(posterior)
        parts = self._parts()  # refuses now, and not when it is saved, what cannot be saved
        check_savable("rule", parts["rule"], rule)
        self._check_fit()
        if getattr(posterior, "feature_names", None) is None:
            posterior.feature_names = self.actions.feature_names
        self._rng = stream(seed, COIN_STREAM)
        self._optima = OptimaMemory()
        self._origin = self._where_the_level_is()
        self._own = self._relative(self.actions)
        self._wins = WinsMemory(self._own)
        self._pending: dict[int, Decision] = {}
        self._rewards = np.full(64, np.nan)  # by id; NaN while pending, so that a repeated reward can be recognised
        self._evidence = np.full(64, np.nan)  # log evidence of each reward, by id; NaN where there is no estimate
        self._asked = 0
        learnt_at = getattr(posterior, "clock", None)
        self._start = 0.0 if learnt_at is None else learnt_at + 1.0  # time of decision 0, where they count time
        self._unrecorded: dict[int, tuple[Decision, ActionSet]] = {}  # decisions that the journal may not have yet
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle consists of: all but the lock, as it is at one moment."""
        with self._lock:
            state = {
                **vars(self),
                "posterior": forked(self.posterior),
                "_rng": copied(self._rng),
                "_optima": OptimaMemory(),
                "_wins": WinsMemory(self._own),
                "_rewards": self._rewards.copy(),
                "_evidence": self._evidence.copy(),
                "_pending": dict(self._pending),
                "_unrecorded": dict(self._unrecorded),
            }
        del state["_lock"]
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore a copy or a pickle, which has a lock of its own, and whose arrays come back writable."""
        self.__dict__ = {**state, "_lock": RLock()}
        frozen(self._own)  # or variances would not be kept from one reward to the next

    def _where_the_level_is(self) -> FloatArray | None:
        """Return the mean features of the actions, if rewards have an unknown level; clicks learn it there."""
        rewards = getattr(self.posterior, "rewards", None)
        if not isinstance(rewards, Linked):
            return None if getattr(self.posterior, "level", None) is None else self.actions.features.mean(axis=0)
        if rewards.intercept and self.posterior.origin is None and self.posterior.evidence.count == 0:
            self.posterior.set_origin(self.actions.features.mean(axis=0))
        origin: FloatArray | None = self.posterior.origin
        return origin

    def _check_fit(self) -> None:
        """Refuse a posterior of other features, noise that cannot be weighed, and a journal that is none."""
        names, own = getattr(self.posterior, "feature_names", None), self.actions.feature_names
        if names is not None and own is not None and tuple(names) != own:
            raise ArgumentValueError("posterior", f"one of the features {shown(own)}", f"one of {shown(names)}")
        rewards = getattr(self.posterior, "rewards", None)
        if self.actions.noise_variances is not None and not getattr(rewards, "known", False):
            raise ArgumentTypeError("posterior", "a known noise variance where actions have theirs", shown(rewards))
        if self.journal is not None and not (hasattr(self.journal, "decided") and hasattr(self.journal, "rewarded")):
            raise ArgumentTypeError("journal", "a journal, such as JsonLines(path)", shown(self.journal))

    def __repr__(self) -> str:
        told = {name: getattr(self.posterior, name) for name in settings_of(self.posterior) if name != "dimension"}
        learner = ", ".join(f"{name}={shown(value)}" for name, value in told.items())
        parts = f"{self.actions}; {type(self.posterior).__name__}({learner}); {self.rule!r}"
        return f"{type(self).__name__}({parts}; {self._asked} asked, {len(self._pending)} pending)"

    @overload
    def ask(
        self,
        actions: object = None,
        noise_variance: object = None,
        n: None = None,
        distinct: bool = False,
        pending: bool | None = None,
        time: object = None,
        exposure: object = None,
    ) -> Decision: ...

    @overload
    def ask(
        self,
        actions: object = None,
        noise_variance: object = None,
        *,
        n: int,
        distinct: bool = False,
        pending: bool | None = None,
        time: object = None,
        exposure: object = None,
    ) -> tuple[Decision, ...]: ...

    @_one_at_a_time
    def ask(
        self,
        actions: object = None,
        noise_variance: object = None,
        n: int | None = None,
        distinct: bool = False,
        pending: bool | None = None,
        time: object = None,
        exposure: object = None,
    ) -> Decision | tuple[Decision, ...]:
        """Choose the next action, or a batch of them.

        May be called again before a reward has come; decisions without a reward are in :attr:`pending`. Nothing is
        learnt in between: a random rule (Thompson sampling, randomised IDS) draws again, and a deterministic one gives
        the same action again, unless pending decisions count, or few rounds of a known horizon are left.

        A batch is chosen one by one, as if each decision before had already given its expected reward, which leaves the
        mean where it is and reduces the uncertainty (Ginsbourger, Le Riche and Carraro 2010, "kriging believer";
        Desautels, Krause and Burdick 2014); a learnt noise variance stays where it is meanwhile. A rule with a horizon
        counts all of the batch as played, since nothing is learnt before its rewards have come. A rule that draws
        afresh, as Thompson sampling does, needs no such help. If a journal fails in the middle of a batch, the
        decisions that it has recorded are in :attr:`pending`.

        After an exception, a decision has been made or it has not: either it is in :attr:`pending`, or nothing has
        changed and asking again gives it. If Ctrl-C strikes while the journal records a decision, the decision has been
        made, and the next call that uses the journal makes sure that it is on record.

        Parameters
        ----------
        actions : array or DataFrame of shape (K, d), optional
            Actions to choose from, for this decision only; by default the policy's own.
        noise_variance : array of shape (K,), optional
            Noise variance of each of these actions; needed if the policy was made with one per action.
        n : int, optional
            Number of decisions in a batch; by default one decision, not in a tuple.
        distinct : bool, default=False
            Whether no row may occur twice in the batch. The probability of a decision is then among the rows that are
            left, so the log of such batches does not serve off-policy evaluation.
        pending : bool, optional
            Whether decisions that await their reward count as if their expected reward had come. By default they do in
            a batch, unless the rule draws afresh, and not for a single decision.
        time : datetime or float, optional
            When the decision is made, if the policy forgets in time: a datetime, or seconds since 1970. By default now.
        exposure : float, optional
            For Poisson rewards: how long, or how often, the action will be exposed, such as hours or impressions. The
            count that is told later is that of all of it, and expected rewards are per unit. By default 1.

        Returns
        -------
        Decision or tuple of Decision
            The action, its probability and the reasons; as many as ``n`` says.

        Raises
        ------
        ArgumentError
            If the actions do not have the policy's features, if noise variances are missing or superfluous, if there
            are not enough actions for a batch of distinct ones, if the learner has no expected rewards for pending
            decisions, or if a time is given and the policy does not forget in time.
        """
        if actions is None and noise_variance is not None:
            expected = "none without actions, since the policy's own have theirs"
            raise ArgumentValueError("noise_variance", expected, shown(noise_variance))
        available = self.actions if actions is None else self.actions.matched(actions, noise_variance)
        if time is not None and not self._in_time:
            raise ArgumentValueError("time", "none, since the policy does not forget in time", shown(time))
        made_at = moment(time) if self._in_time else None
        exposed = self._check_exposure(exposure)
        count = 1 if n is None else check_count("n", n, most=MOST_BATCH)
        if check_flag("distinct", distinct) and count > len(available):
            raise ArgumentValueError("n", f"at most {len(available)}, the number of actions", f"{count}")
        believes = hasattr(self.posterior, "believer")
        if pending is not None and check_flag("pending", pending) and not believes:
            got = f"True, but {type(self.posterior).__name__} has no expected rewards"
            raise ArgumentValueError("pending", "False", got)
        counts = n is not None and believes and not self.rule.draws_afresh if pending is None else pending
        self._record_all()
        played = self._asked + count - 1  # nothing is learnt before the last of a batch
        believer, memory, wins = None, self._optima, self._wins
        left = np.arange(len(available))
        found: list[Decision] = []
        for _ in range(count):
            fork, rng = forked(self.posterior), copied(self._rng)
            awaited = found[-1:] if believer is not None else tuple(self._pending.values())
            if counts and awaited:  # a copy believes what has not been seen
                if believer is None:
                    believer, memory, wins = fork.believer(), OptimaMemory(), WinsMemory(self._own)
                self._believe(believer, awaited)
            offered = available.rows(left) if distinct and len(left) < len(available) else available
            beliefs = self._beliefs(offered, fork if believer is None else believer, memory, played, wins)
            choice = self.rule.choose(beliefs, rng)
            self._check_choice(choice, offered)
            wanted = self.rule.draws_wanted(beliefs) if hasattr(fork, "want") and believer is None else None
            if wanted is not None:
                fork.want(wanted)
            if offered is not available:
                choice = choice.among(left)
            decision = self._decided(choice, available, fork, rng, made_at, exposed)
            found.append(decision)
            left = left[left != decision.action]
        return found[0] if n is None else tuple(found)

    def _believe(self, posterior: Any, decisions: Sequence[Decision]) -> None:
        """Let a posterior learn the expected rewards of decisions."""
        if decisions:
            x = np.array([one.features for one in decisions])
            offered = x if self._origin is None or posterior.level is not None else x - self._origin
            expected = beliefs_about(posterior, offered).means
            if getattr(self.posterior, "unit", 1.0) == 0.0:  # then differences are Monte Carlo error
                expected = np.full(len(x), 0.0 if posterior.level is None else posterior.level.reward)
            posterior.absorb(x, expected, self._weights(decisions), **self._times(decisions))  # per unit of exposure

    def _check_exposure(self, exposure: object) -> float | None:
        """Require a positive number, or none if rewards are no counts."""
        if exposure is None:
            return None
        if not isinstance(getattr(self.posterior, "rewards", None), Poisson):
            raise ArgumentValueError("exposure", "none, since rewards are not Poisson", shown(exposure))
        return check_positive("exposure", exposure)

    def _check_choice(self, choice: Choice, available: ActionSet) -> None:
        """Refuse a rule's choice of a row that is not there, or one without a probability."""
        if not (0 <= choice.action < len(available.features) or choice.features is not None):
            raise ArgumentValueError("rule", f"one that chooses a row below {len(available)}", f"row {choice.action}")
        if not 0.0 <= choice.probability <= 1.0:
            raise ArgumentValueError("rule", "one that gives a probability", repr(choice.probability))

    def _decided(
        self,
        choice: Choice,
        available: ActionSet,
        fork: Any,
        rng: Generator,
        made_at: float | None,
        exposed: float | None,
    ) -> Decision:
        """Return a choice as a decision, which awaits its reward from now on.

        In the same step, the posterior becomes the fork that has been asked, and ``rng`` the policy's generator.
        """
        features = available.features[choice.action] if choice.features is None else choice.features
        names = available.labels if choice.reasons.about == "action" else available.feature_names
        features.flags.writeable = False
        noise = available.noise_variances
        reasons = choice.reasons if self._origin is None else replace(choice.reasons, compared=True)
        family = getattr(self.posterior, "rewards", None)
        if isinstance(family, Linked):
            reasons = replace(reasons, scale=family.scale)
        decision = Decision(
            id=self._asked,
            action=choice.action,
            features=features,
            probability=choice.probability,
            probability_draws=choice.probability_draws,
            reasons=reasons,
            labels=_named(names, choice.reasons.candidates.tolist()),
            feature_names=_named(available.feature_names, choice.reasons.drivers.tolist()),
            noise_variance=None if noise is None else float(noise[choice.action]),
            policy=type(self).__name__,
            observation=None if choice.observation is None else frozen(choice.observation),
            time=made_at,
            exposure=exposed,
        )
        if decision.id == len(self._rewards):
            self._rewards = np.concatenate((self._rewards, np.full(decision.id, np.nan)))
            self._evidence = np.concatenate((self._evidence, np.full(decision.id, np.nan)))
        before = vars(self.posterior), self._rng
        at_once(
            (self._unrecorded.update, {} if self.journal is None else {decision.id: (decision, available)}),
            (self._pending.__setitem__, decision.id, decision),
            (setattr, self.posterior, "__dict__", vars(fork)),
            (setattr, self, "_rng", rng),
            (setattr, self, "_asked", decision.id + 1),
        )
        try:
            self._record_all()
        except Exception:  # the journal refuses it: as if it had not been asked for
            at_once(
                (setattr, self.posterior, "__dict__", before[0]),
                (setattr, self, "_rng", before[1]),
                (setattr, self, "_asked", decision.id),
                (self._pending.pop, decision.id),
                (self._unrecorded.pop, decision.id, None),
            )
            raise
        return decision

    def _record_all(self) -> None:
        """Let the journal record decisions that it may not have; one that it has changes nothing."""
        for number, (decision, offered) in tuple(self._unrecorded.items()):
            if self.journal is not None:
                self.journal.decided(decision, offered)
            self._unrecorded.pop(number)

    @_one_at_a_time
    def predict(self, actions: object = None) -> Prediction:
        """Return what the policy expects of each action.

        Parameters
        ----------
        actions : array or DataFrame of shape (K, d), optional
            The actions; by default the policy's own.

        Returns
        -------
        Prediction
            Mean and standard deviation of the mean reward of each action, and the probability that it is the best.

        Raises
        ------
        ArgumentError
            If the actions do not have the policy's features, or if the learner has no posterior.

        Examples
        --------
        >>> import sparsebandits as sb
        >>> policy = sb.LinUCB(np.eye(2), seed=0)
        >>> policy.tell(policy.ask(n=2, distinct=True), [1.0, 3.0])
        >>> policy.predict().mean.shape
        (2,)
        """
        if not hasattr(self.posterior, "draws"):
            raise ArgumentTypeError("policy", "one with a posterior to predict from", type(self.posterior).__name__)
        available = self.actions if actions is None else self.actions.plain().matched(actions)
        beliefs = self._beliefs(available, self.posterior, OptimaMemory(), self._asked)
        mean, variance = beliefs.means, beliefs.variances + beliefs.level_variance
        if beliefs.level is not None and beliefs.level.weight == 0.0:  # at any level
            mean, variance = np.full(len(mean), np.nan), np.full(len(mean), np.inf)
        elif getattr(self.posterior, "unit", 1.0) == 0.0:  # all rewards are equal so far, whatever their unit is
            level = 0.0 if beliefs.level is None else beliefs.level.reward
            mean, variance = np.full(len(mean), level), np.full(len(mean), np.inf)
        return Prediction(mean, np.sqrt(variance), beliefs.optimal_probability)

    @_one_at_a_time
    def health(self) -> Health:
        """Report how far decisions can be trusted: what the posterior reports, and what the rule reports of the draws.

        Rules that weigh information report how much of it is noise of the draws. The rule of least cost to go takes
        most of that part out (docs/mathematics.md has what it leaves); the paper's rule leaves it in. Rivals that
        reweight the draws report how many are left. As long as nothing has been learnt there is nothing to report: the
        prior may be so wide that the gain differs much between seeds.

        Returns
        -------
        Health
            Whether all is well, and why, in words.

        Raises
        ------
        ArgumentError
            If the learner has no posterior.

        Examples
        --------
        >>> import sparsebandits as sb
        >>> sb.LinearIDS(np.eye(2), seed=0).health().good
        True
        """
        if not hasattr(self.posterior, "draws"):
            raise ArgumentTypeError("policy", "one with a posterior to report on", type(self.posterior).__name__)
        own: Health = self.posterior.health()
        beliefs = self._beliefs(self.actions, self.posterior, OptimaMemory(), self._asked)
        if beliefs.are_the_priors:
            return Health(own.good, f"{own.text}. Nothing has been learnt yet: this is the prior")
        found = self.rule.health(beliefs)
        return own if found is None else Health(own.good and found.good, f"{own.text}. {found.text}")

    def _relative(self, available: ActionSet) -> FloatArray:
        """Return features relative to the mean of the policy's own, which an intercept makes free: digits are kept."""
        return available.features if self._origin is None else frozen(available.features - self._origin)

    def _beliefs(
        self,
        available: ActionSet,
        posterior: Any,
        memory: OptimaMemory,
        played: int,
        wins: WinsMemory | None = None,
    ) -> Beliefs:
        features = self._own if available is self.actions else self._relative(available)
        return beliefs_about(posterior, features, available.noise_variances, played, memory, self._origin, wins)

    @_one_at_a_time
    def tell(self, decision: Told | Iterable[Told], reward: object) -> None:
        """Give the reward of a decision, or rewards for a sequence of decisions.

        Giving the same reward for the same decision again changes nothing. A different reward, or an unknown decision,
        is an error.

        All of a call is learnt, or nothing if anything is raised, Ctrl-C included: then telling the same again does
        what the call would have done. Only a journal may know more: rewards are recorded one by one before they are
        learnt. Those that it has are not recorded twice, and it refuses other rewards for the same decisions.

        Parameters
        ----------
        decision : Decision, int, or sequence of them
            What ``ask`` returned, or its ``id``.
        reward : float or sequence of floats
            One reward per decision.

        Raises
        ------
        ArgumentError
            If a decision is not one of this policy's, or if it already has another reward.
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
                got = f"{batch[new[0]]!r} and {new[1]!r}"
                raise ArgumentValueError("reward", f"one reward for decision {new[0]}", got)
        if batch:
            self._learn(batch)

    @_one_at_a_time
    def explain(self, decision: Told) -> Explanation:
        """Return why a decision was made: what the policy knew about it and about the leading alternatives.

        Parameters
        ----------
        decision : Decision or int
            The decision, or its id while it awaits its reward; after that, only the decision itself has the reasons.

        Returns
        -------
        Explanation
            Text and table; print it to read it.

        Raises
        ------
        ArgumentError
            If the decision is not one of this policy's, or if it is an id whose reward has come.
        """
        if not isinstance(decision, Decision):
            number = self._known_id(decision)
            if number not in self._pending:
                expected = "the decision itself, since it has its reward already"
                raise ArgumentValueError("decision", expected, f"its id {number}")
            decision = self._pending[number]
        return Explanation(decision)

    @property
    def log_evidence(self) -> FloatArray:
        """Log evidence of the reward of each decision given those before, shape ``(t,)``.

        NaN while the reward is awaited, and where the posterior has no estimate (Particles have one). It falls where
        rewards surprise, as they do when the world has changed: :func:`sparsebandits.plots.drift` shows it.
        """
        return self._evidence[: self._asked].copy()

    @property
    def pending(self) -> tuple[Decision, ...]:
        """Decisions that await their reward, oldest first."""
        return tuple(self._pending.values())

    @_one_at_a_time
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to a file in an existing directory, in one step; ``sparsebandits.load`` reads it.

        The journal, if there is one, is not part of the file.

        Parameters
        ----------
        path : str or path
            The file.

        Raises
        ------
        OSError
            If the file cannot be written; the error says how large it would have been. The old file is left as it was.
        """
        self._record_all()
        write_atomically(path, pack(KIND, VERSION, self.state()))

    def _parts(self) -> dict[str, Any]:
        return {
            "actions": encode("actions", self.actions),
            "posterior": encode_learner("posterior", self.posterior),
            "rule": encode("rule", self.rule),
        }

    @_one_at_a_time
    def state(self) -> dict[str, Any]:
        """Return everything that continuing bit for bit needs, as arrays and JSON values."""
        return {
            "policy": type(self).__name__,
            "package": package_of(type(self)),
            **self._parts(),
            "learnt": self.posterior.state(),
            "rng": generator_state(self._rng),
            "asked": self._asked,
            **({"start": self._start} if self._start else {}),
            "rewards": self._rewards[: self._asked].copy(),
            "evidence": self._evidence[: self._asked].copy(),
            "pending": {str(number): encode("decision", decision) for number, decision in self._pending.items()},
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any], decoded: Decoder) -> "Policy":
        """Return the policy whose :meth:`state` is given; ``load`` calls this.

        Parameters
        ----------
        state : mapping
            What :meth:`state` returned.
        decoded : Decoder
            Decodes the parts.

        Returns
        -------
        Policy
            The policy, which continues bit for bit.

        Raises
        ------
        SaveFileError
            If it is not the state of a policy.
        """
        policy = cls.__new__(cls)
        actions, asked = check_actions(decoded(state["actions"])), check_count("asked", state["asked"], least=0)
        posterior = decoded.learner(state["posterior"], state["learnt"], actions.dimension)
        Policy.__init__(policy, actions, posterior, decoded(state["rule"]))
        policy.posterior.restore(state["learnt"])
        pending = {int(number): decoded(saved) for number, saved in state["pending"].items()}
        sizes = {"asked": asked, "dimension": actions.dimension}
        if hasattr(posterior, "row"):
            sizes["row"] = posterior.row
        record = check_record(state, pending, sizes)
        restore_generator(policy._rng, record["rng"])
        policy._asked, policy._pending, policy._start = asked, pending, record.get("start", 0.0)
        if any((one.time is None) is policy._in_time for one in pending.values()):
            raise wrong("pending", "decisions with a time if, and only if, the policy forgets in time", "others")
        policy._rewards = np.concatenate((record["rewards"], np.full(64, np.nan)))
        evidence = record.get("evidence", np.full(asked, np.nan))
        policy._evidence = np.concatenate((evidence, np.full(64, np.nan)))
        for decision in pending.values():
            frozen(decision.features)
        return policy

    def _known_id(self, decision: Told) -> int:
        if not isinstance(decision, Decision | int | np.integer):
            raise ArgumentTypeError("decision", "a decision or its id", shown(decision))
        number = decision.id if isinstance(decision, Decision) else check_count("decision", decision, least=0)
        if number >= self._asked:
            known = f"{self._asked} decisions" if self._asked else "decisions, of which there are none yet"
            raise ArgumentValueError("decision", f"one of this policy's {known}", f"id {number}")
        return number

    def _new_reward(self, decision: Told, reward: object) -> tuple[int, float] | None:
        """Return id and reward if they are new, None if they were told before; refuse a different reward."""
        if isinstance(reward, bool | np.bool_):  # a click
            reward = float(reward)
        number, value = self._known_id(decision), check_number("reward", reward)
        if number in self._pending:
            if isinstance(decision, Decision) and not _same(decision, self._pending[number]):
                got = f"another policy's with the same id, {number}"
                raise ArgumentValueError("decision", "one of this policy's", got)
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
            raise ArgumentValueError("reward", f"{len(decisions)} rewards, one per decision", f"{len(rewards)}")
        return decisions, rewards

    def _weights(self, decisions: Sequence[Decision]) -> FloatArray | None:
        """Return the weight of a reward of each decision.

        That is σ² / v where actions have noise variances v of their own, and the exposure of counts.
        """
        if any(one.exposure is not None for one in decisions):
            return _exposures(decisions)
        if self.actions.noise_variances is None:
            return None
        weights: FloatArray = self.posterior.rewards.variance / np.array(
            [float(d.noise_variance or 0.0) for d in decisions]
        )
        return weights

    @property
    def _in_time(self) -> bool:
        """Whether the policy forgets in time, not in decisions."""
        forgetting = getattr(self.posterior, "forgetting", None)
        return forgetting is not None and forgetting.unit == "seconds"

    def _times(self, decisions: Sequence[Decision]) -> dict[str, FloatArray]:
        """Return the times of decisions, as an argument of a learner that forgets; nothing for other learners."""
        if getattr(self.posterior, "forgetting", None) is None:
            return {}
        if self._in_time:
            return {"times": np.array([one.time for one in decisions], dtype=np.float64)}
        return {"times": self._start + np.array([one.id for one in decisions], dtype=np.float64)}

    def _learn(self, batch: Mapping[int, float]) -> None:
        told, before = [self._pending[number] for number in batch], vars(self.posterior)
        features = np.array([d.features if d.observation is None else d.observation for d in told])
        rewards, fork = np.fromiter(batch.values(), dtype=np.float64), forked(self.posterior)
        family = getattr(self.posterior, "rewards", None)
        if isinstance(family, Linked):
            family.check(rewards)
        rates = rewards / _exposures(told)
        fork.absorb(features, rates, self._weights(told), **self._times(told))  # first, since it may refuse them
        self._record_all()
        if self.journal is not None:
            for one, value in zip(told, batch.values(), strict=True):
                self.journal.rewarded(one, value)
        if vars(self.posterior) is not before:
            raise RuntimeError("the policy was told a reward within this call, by a signal handler or a journal")
        before_these = self._asked - len(self._pending)
        gained = getattr(fork, "gained", None)  # of all of the batch
        evidence = math.nan if gained is None else gained / len(batch)
        at_once(
            (self._rewards.__setitem__, list(batch), rewards),
            (self._evidence.__setitem__, list(batch), evidence),
            *((self._pending.pop, number) for number in batch),
            (setattr, self.posterior, "__dict__", vars(fork)),
        )
        if isinstance(family, Gaussian) and before_these < ENOUGH_TO_TELL <= before_these + len(batch):
            told_rewards = self._rewards[: self._asked]
            found = set(told_rewards[~np.isnan(told_rewards)].tolist())
            if found == {0.0, 1.0}:
                warnings.warn(CLICKS, stacklevel=4)


def _named(labels: Sequence[str] | None, rows: Sequence[int]) -> tuple[str, ...] | None:
    """Return the names of some rows, if rows have names."""
    return None if labels is None else tuple(labels[row] for row in rows)


def _exposures(decisions: Sequence[Decision]) -> FloatArray:
    return np.array([1.0 if one.exposure is None else one.exposure for one in decisions])


def _same(one: Decision, other: Decision) -> bool:
    same = one.policy == other.policy and one.action == other.action
    return one is other or (same and bool(np.array_equal(one.features, other.features)))
