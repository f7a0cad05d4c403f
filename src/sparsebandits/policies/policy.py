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
from dataclasses import dataclass
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
from sparsebandits.policies.card import card
from sparsebandits.policies.codec import Decoder, check_savable, encode, encode_learner, package_of, settings_of
from sparsebandits.policies.decision import Decision, Decisions, Explanation
from sparsebandits.policies.feedback import readings
from sparsebandits.policies.items import Items, rows_of
from sparsebandits.policies.observations import (
    Reading,
    evidence_of_exposures,
    exposures,
    learnt_rows,
    of_each,
    own_reward,
    record_reward,
    several,
)
from sparsebandits.policies.offers import around_contexts, around_rows, at_hand, check_around, on_offer, remembered
from sparsebandits.policies.saved import check_actions, check_feedback, check_record
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.randomness import COIN_STREAM, Seed, copied, generator_state, restore_generator, stream
from sparsebandits.rules.around import Around
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import Choice
from sparsebandits.rules.linked import beliefs_about
from sparsebandits.rules.optima import OptimaMemory
from sparsebandits.rules.rule import Rule
from sparsebandits.rules.wins import WinsMemory
from sparsebandits.tables import Cell, Table, as_html

KIND = "sparsebandits.policy"
VERSION = 5
MOST_BATCH = 10**6
"""Largest number of decisions at once."""
ENOUGH_TO_TELL = 20
"""Number of rewards from which on a policy looks whether all of them are 0 or 1, until it has warned or one is not."""
CLICKS = (
    "all rewards so far are 0 or 1, but the policy takes them as numbers with Gaussian noise; "
    "a policy with rewards=sb.Bernoulli() takes them as clicks"
)
MOST_PRINTED = 20
"""Number of actions of a prediction that a notebook shows."""
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

        With a feedback graph there is a third argument, the rewards of all observed actions by row; then ``reward`` is
        None if the chosen action is not among them.
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
    labels : tuple of str or None
        Names of the actions, if they have names.
    """

    mean: FloatArray
    sd: FloatArray
    optimal_probability: FloatArray
    labels: tuple[str, ...] | None = None

    def _repr_html_(self) -> str:
        """Return the actions that are most likely to be the best as a table, which notebooks show."""
        count, order = len(self.mean), np.lexsort((-self.mean, -self.optimal_probability))[:MOST_PRINTED]
        rows: list[tuple[Cell, ...]] = [
            (
                str(row) if self.labels is None else self.labels[row],
                float(self.mean[row]),
                float(self.sd[row]),
                float(self.optimal_probability[row]),
            )
            for row in order.tolist()
        ]
        left_out = f"{len(rows)} of {count} actions, the most likely to be the best" if len(rows) < count else ""
        return as_html(left_out, Table(("action", "mean", "sd", "P(best)"), rows))


class Policy:
    """A posterior that learns and a rule that chooses, with a memory of decisions.

    Its methods may be called from several threads: they wait for each other, and each is atomic. So decisions have ids
    of their own, and the result is that of the same calls one after the other. The posterior has no lock of its own:
    while other threads ask and tell, read it through the policy.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d), or Items
        One row per action, one column per feature; or ``sb.policies.Items.of(items, contexts)``, whose features depend
        on who is asking.
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
        self._shown: dict[int, tuple[int, tuple[float, ...]]] = {}  # by id: action and rewards, if there is a graph
        self._asked = 0
        learnt_at = getattr(posterior, "clock", None)
        self._start = 0.0 if learnt_at is None else learnt_at + 1.0  # time of decision 0, where they count time
        self._unrecorded: dict[int, tuple[Decision, ActionSet]] = {}  # decisions that the journal may not have yet
        self._coming: Around | None = None  # what may be offered; the latest contexts change, others do not
        self._recent = np.empty((0, 0))  # the latest contexts, where none are known beforehand
        if rule.around:
            check_around(rule, self.actions)
        self._are_clicks: bool | None = None  # None while it cannot be told
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
                "_coming": None,
                "_rewards": self._rewards.copy(),
                "_evidence": self._evidence.copy(),
                "_shown": dict(self._shown),
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
        if self.actions.noise_variances is not None and isinstance(rewards, Linked):
            expected = f"none with noise variances beside {shown(rewards)}"
            raise ArgumentValueError("actions", expected, str(self.actions))
        if self.actions.noise_variances is not None and not getattr(rewards, "known", False):
            raise ArgumentTypeError("posterior", "a known noise variance where actions have theirs", shown(rewards))
        row = getattr(self.posterior, "row", self.actions.dimension)
        if self.actions.feedback is not None and row != self.actions.dimension:
            expected = "one that learns from features alone where there is a feedback graph"
            raise ArgumentTypeError("posterior", expected, type(self.posterior).__name__)
        if self.journal is not None and not (hasattr(self.journal, "decided") and hasattr(self.journal, "rewarded")):
            raise ArgumentTypeError("journal", "a journal, such as JsonLines(path)", shown(self.journal))

    def __repr__(self) -> str:
        told = {name: getattr(self.posterior, name) for name in settings_of(self.posterior) if name != "dimension"}
        learner = ", ".join(f"{name}={shown(value)}" for name, value in told.items())
        parts = f"{self.actions}; {type(self.posterior).__name__}({learner}); {self.rule!r}"
        return f"{type(self).__name__}({parts}; {self._asked} asked, {len(self._pending)} pending)"

    @_one_at_a_time
    def _repr_html_(self) -> str:
        """Return a short description, with the features that are most likely to matter, which notebooks show."""
        return card(self)

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
        context: object = None,
        available: object = None,
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
        context: object = None,
        available: object = None,
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
        context: object = None,
        available: object = None,
    ) -> Decision | tuple[Decision, ...]:
        """Choose the next action, or a batch of them.

        May be called again before a reward has come; decisions without a reward are in :attr:`pending`. Nothing is
        learnt in between: a random rule (Thompson sampling, randomised IDS) draws again, and a deterministic one gives
        the same action again, unless pending decisions count, or few rounds of a known horizon are left.

        A batch is chosen one by one, as if each decision before had already given its expected reward, which leaves the
        mean where it is and reduces the uncertainty (Ginsbourger, Le Riche and Carraro 2010, "kriging believer";
        Desautels, Krause and Burdick 2014). For counts it is the exponential of the expected log rate, since the mean
        of a wide distribution of rates is far above most of them. A learnt noise variance stays where it is meanwhile.
        A rule with a horizon counts all of the batch as played, since nothing is learnt before its rewards have come. A
        rule that draws afresh, as Thompson sampling does, needs no such help. If a journal fails in the middle of a
        batch, the decisions that it has recorded are in :attr:`pending`.

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
        context : mapping, Series or sequence, optional
            Who is asking: one value per column of the ``contexts`` that the policy was made with, which need it.
        available : sequence of str or int, or of K booleans, optional
            Names or rows of the actions that can be chosen, if not all can; or whether each of them can. If all names
            are whole numbers, an integer is a name and not a row.

        Returns
        -------
        Decision or tuple of Decision
            The action, its probability and the reasons; as many as ``n`` says.

        Raises
        ------
        ArgumentError
            If the actions do not have the policy's features, if noise variances are missing or superfluous, if there
            are not enough actions for a batch of distinct ones, if the learner has no expected rewards for pending
            decisions, if a time is given and the policy does not forget in time, or if a context is missing or
            superfluous.
        """
        if actions is None and noise_variance is not None:
            expected = "none without actions, since the policy's own have theirs"
            raise ArgumentValueError("noise_variance", expected, shown(noise_variance))
        asker, offers = on_offer(self.actions, actions, noise_variance, context)
        if time is not None and not self._in_time:
            raise ArgumentValueError("time", "none, since the policy does not forget in time", shown(time))
        made_at = moment(time) if self._in_time else None
        exposed = self._check_exposure(exposure)
        count = 1 if n is None else check_count("n", n, most=MOST_BATCH)
        left = None if available is None else rows_of(offers, available)  # None if all are
        open_to = None if left is None else tuple(left.tolist())
        if check_flag("distinct", distinct):
            left = np.arange(len(offers)) if left is None else left
            if count > len(left):
                raise ArgumentValueError("n", f"at most {len(left)}, the number of actions", f"{count}")
        believes = hasattr(self.posterior, "believer")
        if pending is not None and check_flag("pending", pending) and not believes:
            got = f"True, but {type(self.posterior).__name__} has no expected rewards"
            raise ArgumentValueError("pending", "False", got)
        counts = n is not None and believes and not self.rule.draws_afresh if pending is None else pending
        self._record_all()
        played = self._asked + count - 1  # nothing is learnt before the last of a batch
        believer, memory, wins = None, self._optima, self._wins
        found: list[Decision] = []
        for _ in range(count):
            fork, rng = forked(self.posterior), copied(self._rng)
            awaited = found[-1:] if believer is not None else list(self._pending.values()) if counts else []
            if awaited:  # a copy believes what has not been seen
                if believer is None:
                    believer, memory, wins = fork.believer(), OptimaMemory(), WinsMemory(self._own)
                self._believe(believer, awaited)
            offered = offers if left is None or len(left) == len(offers) else offers.rows(left)
            beliefs = self._beliefs(offered, fork if believer is None else believer, memory, played, wins)
            if offers is self.actions and offered is not offers:
                beliefs.rows = left
            if self.rule.around:
                beliefs.around = self._around()
                beliefs.here = at_hand(offers, left, self._own if offers is self.actions else self._relative(offers))
            choice = self.rule.choose(beliefs, rng)
            self._check_choice(choice, offered)
            wanted = self.rule.draws_wanted(beliefs) if hasattr(fork, "want") and believer is None else None
            if wanted is not None:
                fork.want(wanted)
            if left is not None and offered is not offers:
                choice = choice.among(left)
            asked = {"time": made_at, "exposure": exposed, "context": asker, "available": open_to}
            decision = self._decided(choice, offers, fork, rng, asked)
            found.append(decision)
            left = left[left != decision.action] if distinct and left is not None else left
        return found[0] if n is None else Decisions(found)

    def _around(self) -> Around | None:
        """Return what may be offered in the rounds to come, the same if that does not change; None if not known."""
        own = self.actions
        if self._coming is not None and not (isinstance(own, Items) and not own.known):
            return self._coming
        if isinstance(own, Items):
            self._coming = around_contexts(self.rule, own, self._origin, self._recent, self._coming)
        else:
            self._coming = around_rows(self.rule, own, self._own)
        return self._coming

    def _believe(self, posterior: Any, decisions: Sequence[Decision]) -> None:
        """Let a posterior learn the expected rewards of decisions, of counts the typical ones."""
        x = np.concatenate([learnt_rows(one) for one in decisions])
        if len(x):
            offered = x if self._origin is None or posterior.level is not None else x - self._origin
            expected = beliefs_about(posterior, offered).believed
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
        if available.feedback is not None and choice.observation is not None:
            expected = "one that learns from features alone where there is a feedback graph"
            raise ArgumentValueError("rule", expected, type(self.rule).__name__)

    def _decided(
        self,
        choice: Choice,
        available: ActionSet,
        fork: Any,
        rng: Generator,
        asked: Mapping[str, Any],
    ) -> Decision:
        """Return a choice as a decision, which awaits its reward from now on.

        In the same step, the posterior becomes the fork that has been asked, and ``rng`` the policy's generator.
        """
        features = available.features[choice.action] if choice.features is None else choice.features
        names = available.labels if choice.reasons.about == "action" else available.feature_names
        features.flags.writeable = False
        noise = available.noise_variances
        observed, observation = available.observed(choice.action), choice.observation
        if observed is not None:
            observation = available.features[list(observed)]
        reasons, family = choice.reasons, getattr(self.posterior, "rewards", None)
        known: dict[str, Any] = {} if self._origin is None else {"compared": True}
        if isinstance(family, Linked):
            known["scale"] = family.scale
        if known:
            reasons = object.__new__(type(choice.reasons))  # replace() would take several times as long
            vars(reasons).update(vars(choice.reasons), **known)
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
            observation=None if observation is None else frozen(observation),
            observed=observed,
            observed_noise=None if noise is None or observed is None else frozen(noise[list(observed)]),
            observed_labels=None if observed is None else _named(available.labels, observed),
            **asked,
        )
        if decision.id == len(self._rewards):
            self._rewards = np.concatenate((self._rewards, np.full(decision.id, np.nan)))
            self._evidence = np.concatenate((self._evidence, np.full(decision.id, np.nan)))
        before = vars(self.posterior), self._rng, self._recent
        at_once(
            (self._unrecorded.update, {} if self.journal is None else {decision.id: (decision, available)}),
            (self._pending.__setitem__, decision.id, decision),
            (setattr, self.posterior, "__dict__", vars(fork)),
            (setattr, self, "_rng", rng),
            (setattr, self, "_recent", remembered(self.rule, self.actions, self._recent, decision.context)),
            (setattr, self, "_asked", decision.id + 1),
        )
        try:
            self._record_all()
        except Exception:  # the journal refuses it: as if it had not been asked for
            at_once(
                (setattr, self.posterior, "__dict__", before[0]),
                (setattr, self, "_rng", before[1]),
                (setattr, self, "_recent", before[2]),
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
    def predict(self, actions: object = None, context: object = None) -> Prediction:
        """Return what the policy expects of each action.

        Items have no expected rewards of their own, since these depend on who is asking: features that are averaged
        over contexts may be zero, or nearly equal. So a policy with contexts needs one, as for :meth:`ask`.

        Parameters
        ----------
        actions : array or DataFrame of shape (K, d), optional
            The actions; by default the policy's own.
        context : mapping, Series or sequence, optional
            Who is asking, if the policy has contexts; needed unless there are actions in its place.

        Returns
        -------
        Prediction
            Mean and standard deviation of the mean reward of each action, and the probability that it is the best.

        Raises
        ------
        ArgumentError
            If the actions do not have the policy's features, if a context is missing or superfluous, or if the learner
            has no posterior.

        Examples
        --------
        >>> import sparsebandits as sb
        >>> policy = sb.LinUCB(np.eye(2), seed=0)
        >>> policy.tell(policy.ask(n=2, distinct=True), [1.0, 3.0])
        >>> policy.predict().mean.shape
        (2,)
        """
        available, beliefs = self._seen(actions, context)
        mean, variance = beliefs.means, beliefs.variances + beliefs.level_variance
        if beliefs.level is not None and beliefs.level.weight == 0.0:  # at any level
            mean, variance = np.full(len(mean), np.nan), np.full(len(mean), np.inf)
        elif getattr(self.posterior, "unit", 1.0) == 0.0:  # all rewards are equal so far, whatever their unit is
            level = 0.0 if beliefs.level is None else beliefs.level.reward
            mean, variance = np.full(len(mean), level), np.full(len(mean), np.inf)
        return Prediction(mean, np.sqrt(variance), beliefs.optimal_probability, available.labels)

    @_one_at_a_time
    def beliefs(self, actions: object = None, context: object = None) -> Beliefs:
        """Return what a rule would choose from: draws, mean rewards, regrets and gains of the actions.

        Reading it changes nothing of the policy.

        Parameters
        ----------
        actions : array or DataFrame of shape (K, d), optional
            The actions; by default the policy's own.
        context : mapping, Series or sequence, optional
            Who is asking, if the policy has contexts; needed unless there are actions in its place.

        Returns
        -------
        Beliefs
            Of a copy of the posterior.

        Raises
        ------
        ArgumentError
            As :meth:`predict`.

        Examples
        --------
        >>> import sparsebandits as sb
        >>> sb.LinearIDS(np.eye(2), seed=0).beliefs().expected_regret.shape
        (2,)
        """
        return self._seen(actions, context)[1]

    def _seen(self, actions: object, context: object) -> tuple[ActionSet, Beliefs]:
        """Return the actions that are looked at, and beliefs of a copy of the posterior."""
        if not hasattr(self.posterior, "draws"):
            raise ArgumentTypeError("policy", "one with a posterior to predict from", type(self.posterior).__name__)
        if actions is None or context is not None:
            available = on_offer(self.actions, actions, None, context)[1]
        else:
            available = self.actions.plain().matched(actions)
        return available, self._beliefs(available, forked(self.posterior), OptimaMemory(), self._asked)

    @_one_at_a_time
    def health(self, context: object = None) -> Health:
        """Report how far decisions can be trusted: what the posterior reports, and what the rule reports of the draws.

        Rules that weigh information report how much of it is noise of the draws. The rule of least cost to go takes
        most of that part out (docs/mathematics.md has what it leaves); the paper's rule leaves it in. Rivals that
        reweight the draws report how many are left. As long as nothing has been learnt there is nothing to report: the
        prior may be so wide that the gain differs much between seeds. What a rule reports is of the actions on offer,
        so a policy with contexts has it for one context only.

        Parameters
        ----------
        context : mapping, Series or sequence, optional
            Who is asking, if the policy has contexts; without one, only the posterior is reported on.

        Returns
        -------
        Health
            Whether all is well, and why, in words.

        Raises
        ------
        ArgumentError
            If the learner has no posterior, or if a context is wrong or superfluous.

        Examples
        --------
        >>> import sparsebandits as sb
        >>> sb.LinearIDS(np.eye(2), seed=0).health().good
        True
        """
        if not hasattr(self.posterior, "draws"):
            raise ArgumentTypeError("policy", "one with a posterior to report on", type(self.posterior).__name__)
        fork = forked(self.posterior)
        own: Health = fork.health()
        offered = self.actions if context is None else on_offer(self.actions, None, None, context)[1]
        beliefs = self._beliefs(offered, fork, OptimaMemory(), self._asked)
        if beliefs.are_the_priors:
            return Health(own.good, f"{own.text}. Nothing has been learnt yet: this is the prior")
        if isinstance(offered, Items):  # whose own rows are averages, which nobody is offered
            reports = type(self.rule).health is not Rule.health
            return Health(own.good, f"{own.text}. health(context=...) reports on the rule too") if reports else own
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
        noise, graph = available.noise_variances, available.feedback
        return beliefs_about(posterior, features, noise, played, memory, self._origin, wins, feedback=graph)

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
            One reward per decision. With a feedback graph, it is the rewards of all actions that the decision shows
            (``decision.observed``): a mapping or a Series from rows or names to rewards, or a sequence in the order of
            ``decision.observed``. If all names are whole numbers, an integer is a name and not a row.

        Raises
        ------
        ArgumentError
            If a decision is not one of this policy's, or if it already has another reward; with a feedback graph also
            if the rewards are not those of the observed actions.

        Examples
        --------
        The last action shows the rewards of the other two, and not its own:

        >>> import sparsebandits as sb
        >>> policy = sb.LinUCB(np.eye(3), feedback={2: [0, 1]}, seed=0)
        >>> decision = policy.ask(available=[2])
        >>> decision.observed
        (0, 1)
        >>> policy.tell(decision, {0: 1.5, 1: -0.5})
        """
        if isinstance(decision, Decision | int | np.integer):
            new = self._new_reward(decision, reward)
            if new is not None:
                self._learn({new[0]: new[1]})
            return
        decisions, rewards = self._as_batch(decision, reward)
        batch: dict[int, Reading] = {}
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
    def told(self) -> FloatArray:
        """Reward of each decision, shape ``(t,)``; NaN while it is awaited.

        With a feedback graph, it is the reward of the chosen action, and NaN if the decision does not show it;
        :meth:`shown` has the others.
        """
        return self._rewards[: self._asked].copy()

    @_one_at_a_time
    def shown(self, decision: Told) -> dict[int, float]:
        """Return all rewards that a decision has shown, by row of the actions.

        Parameters
        ----------
        decision : Decision or int
            The decision, or its id.

        Returns
        -------
        dict of int to float
            Empty while they are awaited. Without a feedback graph, there are none either; :attr:`told` has the reward.

        Raises
        ------
        ArgumentError
            If the decision is not one of this policy's.

        Examples
        --------
        >>> import sparsebandits as sb
        >>> policy = sb.LinUCB(np.eye(2), feedback=np.ones((2, 2)), seed=0)
        >>> policy.tell(policy.ask(), [1.0, 3.0])
        >>> policy.shown(0)
        {0: 1.0, 1: 3.0}
        """
        action, values = self._shown.get(self._known_id(decision), (0, ()))
        return dict(zip(self.actions.observed(action) or (), values, strict=False))

    @property
    def log_evidence(self) -> FloatArray:
        """Log evidence of the reward of each decision given those before, shape ``(t,)``.

        NaN while the reward is awaited, and where the posterior has no estimate: Particles have one, and so has
        Laplace for clicks and counts. Rewards that were told in one call, among them all that one decision shows, share
        the mean of theirs. It falls where rewards surprise, as Gaussian ones do when the world has changed; that of
        clicks and counts depends on their rate, and that of counts on the exposure too.
        :func:`sparsebandits.plots.drift` shows whether the world has moved.
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
            **({"recent": self._recent} if len(self._recent) else {}),
            "rewards": self._rewards[: self._asked].copy(),
            "evidence": self._evidence[: self._asked].copy(),
            "pending": {str(number): encode("decision", decision) for number, decision in self._pending.items()},
            **({} if self.actions.feedback is None else {"shown": self._shown_arrays()}),
        }

    def _shown_arrays(self) -> dict[str, Any]:
        """Return what decisions with a feedback graph have shown, as three arrays."""
        return {
            "id": np.array(list(self._shown), dtype=np.int64),
            "action": np.array([action for action, _ in self._shown.values()], dtype=np.int64),
            "reward": np.array([one for _, values in self._shown.values() for one in values], dtype=np.float64),
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
        policy._shown = check_feedback(actions, record, pending)
        policy._rewards = np.concatenate((record["rewards"], np.full(64, np.nan)))
        evidence = record.get("evidence", np.full(asked, np.nan))
        policy._recent = record.get("recent", policy._recent)
        policy._are_clicks = _are_clicks(record["rewards"])
        policy._evidence = np.concatenate((evidence, np.full(64, np.nan)))
        for decision in pending.values():
            frozen(decision.features)
            if decision.observation is not None:
                frozen(decision.observation)
        return policy

    def _known_id(self, decision: Told) -> int:
        if not isinstance(decision, Decision | int | np.integer):
            raise ArgumentTypeError("decision", "a decision or its id", shown(decision))
        number = decision.id if isinstance(decision, Decision) else check_count("decision", decision, least=0)
        if number >= self._asked:
            known = f"{self._asked} decisions" if self._asked else "decisions, of which there are none yet"
            raise ArgumentValueError("decision", f"one of this policy's {known}", f"id {number}")
        return number

    def _new_reward(self, decision: Told, reward: object) -> tuple[int, Reading] | None:
        """Return id and reward if they are new, None if they were told before; refuse a different reward."""
        number = self._known_id(decision)
        value = self._reading(number, reward)
        if number in self._pending:
            if isinstance(decision, Decision) and not _same(decision, self._pending[number]):
                got = f"another policy's with the same id, {number}"
                raise ArgumentValueError("decision", "one of this policy's", got)
            return number, value
        before = self._shown[number][1] if isinstance(value, tuple) else float(self._rewards[number])
        if value != before:
            raise ArgumentValueError("reward", f"{before!r} for decision {number}, as told before", repr(value))
        return None

    def _reading(self, number: int, reward: object) -> Reading:
        """Return a reward as a number, or those of all actions that the decision shows if there is a graph."""
        if self.actions.feedback is None:
            return check_number("reward", float(reward) if isinstance(reward, bool | np.bool_) else reward)
        action = self._pending[number].action if number in self._pending else self._shown[number][0]
        return readings(self.actions.observed(action) or (), reward, len(self.actions), self.actions.labels)

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
        """Return the weight of each reward of each decision.

        That is σ² / v where actions have noise variances v of their own, and the exposure of counts.
        """
        exposed = exposures(decisions)
        if exposed is not None or self.actions.noise_variances is None:
            return exposed
        own = [np.array([d.noise_variance]) if d.observed_noise is None else d.observed_noise for d in decisions]
        weights: FloatArray = self.posterior.rewards.variance / np.concatenate(own)
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
            return {"times": of_each(decisions, lambda one: one.time)}
        return {"times": self._start + of_each(decisions, lambda one: one.id)}

    def _of_exposures(self, decisions: Sequence[Decision], counts: FloatArray, posterior: Any) -> float:
        """Return what is missing in the log evidence of counts with an exposure."""
        exposed = exposures(decisions)
        if exposed is None:
            return 0.0
        missing = evidence_of_exposures(counts, exposed)
        if posterior.forgetting is None:
            return math.fsum(missing)
        ages = posterior.clock - self._times(decisions)["times"]
        return float(posterior.forgetting.shares(ages) @ np.array(missing))

    def _learn(self, batch: Mapping[int, Reading]) -> None:
        told, before = [self._pending[number] for number in batch], vars(self.posterior)
        features = np.concatenate([learnt_rows(one) for one in told])
        rewards = np.array([one for reading in batch.values() for one in several(reading)])
        family = getattr(self.posterior, "rewards", None)
        if isinstance(family, Linked):
            family.check(rewards)
        fork = forked(self.posterior)
        if len(rewards):  # a decision may show nothing
            exposed = exposures(told)
            rates = rewards if exposed is None else rewards / exposed
            fork.absorb(features, rates, self._weights(told), **self._times(told))  # first, since it may refuse them
        self._record_all()
        own = [own_reward(one, value) for one, value in zip(told, batch.values(), strict=True)]
        if self.journal is not None:
            for one, value, reward in zip(told, batch.values(), own, strict=True):
                record_reward(self.journal, one, value, reward)
        if vars(self.posterior) is not before:
            raise RuntimeError("the policy was told a reward within this call, by a signal handler or a journal")
        gained = getattr(fork, "gained", None)  # of all of the batch
        evidence = math.nan
        if gained is not None and len(rewards):
            evidence = (gained + self._of_exposures(told, rewards, fork)) / len(rewards)
        if isinstance(family, Linked) and evidence > 0.0:  # of a probability: an approximation may put it above one
            evidence = 0.0
        seen = {one.id: (one.action, batch[one.id]) for one in told if one.observed is not None}
        places = np.array(list(batch))  # since NumPy handles signals while it makes an array of a list
        at_once(
            (self._rewards.__setitem__, places, np.array(own)),
            (self._shown.update, seen),
            (self._evidence.__setitem__, places, evidence),
            *((self._pending.pop, number) for number in batch),
            (setattr, self.posterior, "__dict__", vars(fork)),
        )
        if isinstance(family, Gaussian) and self._are_clicks is None:
            self._are_clicks = _are_clicks(self.told)
            if self._are_clicks:
                warnings.warn(CLICKS, stacklevel=4)


def _are_clicks(rewards: FloatArray) -> bool | None:
    """Return whether all of enough rewards are 0 or 1, and both occur; None if that cannot be told yet."""
    found = rewards[~np.isnan(rewards)]
    if not np.isin(found, (0.0, 1.0)).all():
        return False
    return True if len(found) >= ENOUGH_TO_TELL and 0.0 < found.mean() < 1.0 else None


def _named(labels: Sequence[str] | None, rows: Sequence[int]) -> tuple[str, ...] | None:
    """Return the names of some rows, if rows have names."""
    return None if labels is None else tuple(labels[row] for row in rows)


def _same(one: Decision, other: Decision) -> bool:
    same = one.policy == other.policy and one.action == other.action
    return one is other or (same and bool(np.array_equal(one.features, other.features)))
