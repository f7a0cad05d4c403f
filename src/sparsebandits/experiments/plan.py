"""An experiment as one TOML file, checked before anything runs; docs/experiments.md describes the file.

Errors name the file, the line and the key. Every policy is made once on an instance, so that a wrong parameter is found
before the run and not hours later.
"""

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, is_dataclass
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from sparsebandits import lazy
from sparsebandits.arguments import ArgumentError, check_count, did_you_mean, shown
from sparsebandits.environments import (
    ChangingActions,
    Classification,
    ContextualActions,
    Dosing,
    Drifting,
    Environment,
    GaussianActions,
    GraphFeedback,
    HardInstance,
    Hypercube,
    LogisticActions,
    PoissonActions,
    UnitBall,
)
from sparsebandits.experiments.description import describe, untracked
from sparsebandits.experiments.experiment import Experiment, Progress, Watcher
from sparsebandits.experiments.own_code import import_policy, try_policy
from sparsebandits.experiments.simulate import PolicyMaker, Problem, maker
from sparsebandits.experiments.toml_lines import KeyPath, NestingError, key_lines, nearest_line, refuse_deep
from sparsebandits.experiments.tuning import Tuned, tune
from sparsebandits.files import check_path
from sparsebandits.model.priors import SpikeSlab
from sparsebandits.policies.codec import NAMESPACES
from sparsebandits.policies.policy import Policy
from sparsebandits.randomness import child
from sparsebandits.results.result import Result
from sparsebandits.results.trials import folder_name

Makers: TypeAlias = Mapping[str, Callable[..., Any]]

KEYS = ("title", "environment", "policies", "horizon", "trials", "seed", "record", "points", "baseline")
TUNING_KEYS = ("tune", "trials", "horizon")
TUNING_TRIALS = 20

ENVIRONMENTS: Makers = {
    kind.__name__: kind
    for kind in (
        GaussianActions,
        LogisticActions,
        PoissonActions,
        HardInstance,
        Hypercube,
        UnitBall,
        ChangingActions,
        Drifting,
        GraphFeedback,
        ContextualActions,
        Classification,
        Dosing,
    )
}
POLICY_KINDS: Makers = {
    name: kind
    for name, kind in lazy.public("sparsebandits.policies", NAMESPACES)
    if isinstance(kind, type) and issubclass(kind, Policy) and kind is not Policy
}
PART_KINDS: Makers = {
    **{
        name: part
        for room in ("sparsebandits.model", "sparsebandits.rules")
        for name, part in lazy.public(room, NAMESPACES)
        if isinstance(part, type) and is_dataclass(part)
    },
    "SpikeSlab.from_paper": SpikeSlab.from_paper,
}
LARGEST_FILE = 1_000_000
"""Largest number of bytes of a file; the longest experiment of the paper has 2,000."""

GIVEN = ("actions", "seed")
"""Arguments of a policy that the trial provides."""

PROVIDED = ("horizon", "noise_variance", "rewards", "intercept", "feedback")
"""Arguments that the trial provides unless the file does."""


class ExperimentFileError(ValueError):
    """An experiment file cannot be run as it is."""


@dataclass(frozen=True)
class Tuning:
    """A setting that is tuned: chosen among candidates, on trials apart from the comparison.

    Attributes
    ----------
    setting : str
        Name of the setting.
    candidates : tuple
        Values to choose from.
    make : callable
        Returns the maker of the policy for a candidate.
    trials, horizon : int
        Number of trials of tuning, and their rounds.
    """

    setting: str
    candidates: tuple[Any, ...]
    make: Callable[[Any], PolicyMaker]
    trials: int
    horizon: int


@dataclass(frozen=True)
class Plan:
    """An experiment with settings to tune first; :func:`read_plan` makes it from a file.

    Attributes
    ----------
    environment : Environment
        What instances are drawn from.
    policies : mapping of str to policy maker or Tuning
        The policies by name.
    horizon, trials : int
        Rounds per trial, and number of trials.
    seed : int, default=0
        Root of all randomness.
    record : bool, default=False
        Whether to keep the diagnostics of decisions.
    points : int, default=None
        Approximate number of recorded rounds per curve; None records all rounds.
    baseline : str, default=None
        Policy that the others are compared with.
    title : str, default=""
        Title of the figure.
    """

    environment: Environment
    policies: Mapping[str, PolicyMaker | Tuning]
    horizon: int
    trials: int
    seed: int = 0
    record: bool = False
    points: int | None = None
    baseline: str | None = None
    title: str = ""

    def run(
        self,
        directory: str | os.PathLike[str] | None = None,
        workers: int = 1,
        shown: Callable[[str], AbstractContextManager[Progress | Watcher | None]] = lambda label: nullcontext(),
        scheduler: Any = None,
    ) -> Result:
        """Tune the settings to be tuned, then run the experiment.

        Parameters
        ----------
        directory : str or path, default=None
            As for :meth:`Experiment.run`; the trials of tuning are in ``directory/tuning``.
        workers : int, default=1
            Number of processes on this machine.
        shown : callable, optional
            Returns, for a label, a context manager that yields a ``progress`` for :meth:`Experiment.run`, such as
            :func:`shown_progress`.
        scheduler : str or distributed.Client, default=None
            As for :meth:`Experiment.run`.

        Returns
        -------
        Result
            The trials of all policies; its provenance says what was tuned.
        """
        policies, tuned = {}, {}
        for name, policy in self.policies.items():
            if isinstance(policy, Tuning):
                below = None if directory is None else Path(directory) / "tuning" / folder_name(name)
                choice = self._tuned(name, policy, below, workers, shown, scheduler)
                tuned[name] = {"setting": policy.setting, **choice.record()}
                policies[name] = policy.make(choice.best)
            else:
                policies[name] = policy
        notes = {"title": self.title, "baseline": self.baseline, "tuned": tuned}
        experiment = Experiment(
            self.environment, policies, self.horizon, self.trials, self.seed, self.record, self.points, notes
        )
        with shown(f"{self.trials} trials of {len(policies)} policies") as progress:
            return experiment.run(directory, workers, progress, scheduler)

    @property
    def untracked(self) -> list[str]:
        """Policies of the file that are not of this package, so that the digest of its sources does not cover them."""
        makers = [
            policy.make(policy.candidates[0]) if isinstance(policy, Tuning) else policy
            for policy in self.policies.values()
        ]
        return untracked(describe("policies", makers))

    def _tuned(
        self,
        name: str,
        policy: Tuning,
        directory: Path | None,
        workers: int,
        shown: Callable[[str], AbstractContextManager[Progress | Watcher | None]],
        scheduler: Any,
    ) -> Tuned:
        """Choose the candidate of one policy."""
        with shown(f"tuning {policy.setting} of {name}") as progress:
            return tune(
                policy.make,
                policy.candidates,
                self.environment,
                policy.horizon,
                policy.trials,
                self.seed,
                workers,
                progress,
                directory,
                scheduler,
            )


def read_plan(path: str | os.PathLike[str], allow_code: bool = False) -> Plan:
    """Read an experiment file.

    Parameters
    ----------
    path : str or path
        A TOML file, as docs/experiments.md describes it.
    allow_code : bool, default=False
        Whether to import policies that the file names as ``"module:Class"``. Importing a module runs it. Modules are
        found as Python finds them, and in the directory of the file, which is added to ``sys.path``.

    Returns
    -------
    Plan

    Raises
    ------
    ExperimentFileError
        If the file cannot be run; it names the line and the key.
    OSError
        If the file cannot be read.
    """
    check_path(path)
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except ValueError as error:  # a NUL in the name
        raise ExperimentFileError(f"{path!r}: expected the name of a file: {error}") from None
    if len(content) > LARGEST_FILE:
        raise ExperimentFileError(f"{path}: expected at most {LARGEST_FILE} bytes, got more")
    try:
        text = content.decode()
        refuse_deep(text)
        values = tomllib.loads(text)
    except UnicodeDecodeError:
        raise ExperimentFileError(f"{path}: expected text in UTF-8") from None
    except NestingError as error:
        raise ExperimentFileError(f"{path}, line {error.line}: {error}") from None
    except ValueError as error:  # of tomllib, which names the line, or a number of thousands of digits
        raise ExperimentFileError(f"{path}: expected valid TOML: {error}") from None
    folder = str(Path(path).absolute().parent) if allow_code else None
    return _Reader(str(path), key_lines(text), folder).plan(values)


@dataclass(frozen=True)
class _Reader:
    """Turns the values of a file into a plan.

    ``lines`` has the line of each key, and ``folder`` is where modules may be imported from: None if they may not.
    """

    file: str
    lines: dict[KeyPath, int]
    folder: str | None = None

    def plan(self, values: dict[str, Any]) -> Plan:
        """Return the plan of a whole file."""
        self._refuse_unknown((), values, KEYS)
        for key in ("environment", "policies", "horizon", "trials"):
            if key not in values:
                self._fail((), f"{key}: missing")
        counts = {
            key: self._called((key,), partial(check_count, key, values[key], int(key != "seed")))
            for key in ("horizon", "trials", "seed", "points")
            if key in values
        }
        for key, kind, expected in (("record", bool, "true or false"), ("title", str, "text")):
            if not isinstance(values.get(key, kind()), kind):
                self._fail((key,), f"expected {expected}, got {shown(values[key])}")
        environment = self._made(("environment",), values["environment"], ENVIRONMENTS, ENVIRONMENTS)
        policies = values["policies"]
        if not isinstance(policies, dict) or not policies:
            self._fail(("policies",), f"expected a table [policies.NAME] for each policy, got {shown(policies)}")
        baseline = values.get("baseline")
        if baseline is not None and baseline not in policies:
            self._fail(("baseline",), f"expected one of {_listed(policies)}, got {shown(baseline)}")
        return Plan(
            environment,
            self._policies(policies, environment, counts["horizon"]),
            record=values.get("record", False),
            baseline=baseline,
            title=values.get("title", ""),
            **counts,
        )

    def _policies(
        self, tables: dict[str, Any], environment: Environment, horizon: int
    ) -> dict[str, PolicyMaker | Tuning]:
        """Return the policies by name, after making each of them once, with every candidate."""
        instance = self._called(("environment",), partial(environment.sample, child(0)))
        problem = Problem.of(instance, horizon, child(0))
        policies: dict[str, PolicyMaker | Tuning] = {}
        for name, table in tables.items():
            path = ("policies", name)
            self._called(path, partial(folder_name, name))
            if isinstance(table, dict) and name in POLICY_KINDS:
                table = {"kind": name, **table}
            own = self._own(path, table)
            policy = self._policy(path, table, horizon, {**POLICY_KINDS, **own})
            tried = map(policy.make, policy.candidates) if isinstance(policy, Tuning) else (policy,)
            for make in tried:
                self._called(path, partial(try_policy, make, problem) if own else partial(make, problem))
            policies[name] = policy
        return policies

    def _own(self, path: KeyPath, table: Any) -> Makers:
        """Return the policy of one's own that a table names as ``module:Class``, by that name; empty if it does not."""
        kind = table.get("kind") if isinstance(table, dict) else None
        if not isinstance(kind, str) or ":" not in kind:
            return {}
        if self.folder is None:
            self._fail((*path, "kind"), f"{kind!r} is code, which runs only with --allow-code (allow_code=True)")
        return {kind: self._called((*path, "kind"), partial(import_policy, kind, self.folder))}

    def _policy(self, path: KeyPath, table: Any, horizon: int, kinds: Makers) -> PolicyMaker | Tuning:
        """Return the policy of a table, or its tuning if one of its settings has a key ``tune``."""
        policy, settings = self._kind(path, table, kinds, GIVEN)
        tuned = [(place, value) for place, value in _tables(settings, ()) if "tune" in value]
        if not tuned:
            return self._maker(path, policy, settings)
        if len(tuned) > 1:
            self._fail((*path, *tuned[1][0]), "expected at most one tuned setting per policy, got a second")
        place, asked = tuned[0]
        where = (*path, *place)
        self._refuse_unknown(where, asked, TUNING_KEYS)
        candidates = asked["tune"]
        if not isinstance(candidates, list) or not candidates:
            self._fail((*where, "tune"), f"expected a list of values to choose from, got {shown(candidates)}")
        trials, rounds = (
            self._called((*where, key), partial(check_count, key, asked.get(key, default)))
            for key, default in (("trials", TUNING_TRIALS), ("horizon", horizon))
        )

        def make(candidate: Any) -> PolicyMaker:
            return self._maker(path, policy, _replaced(settings, place, candidate))

        return Tuning(".".join(place), tuple(candidates), make, trials, rounds)

    def _maker(self, path: KeyPath, policy: Callable[..., Policy], settings: Mapping[str, Any]) -> PolicyMaker:
        return maker(policy, **{key: self._part((*path, key), value, PART_KINDS) for key, value in settings.items()})

    def _part(self, path: KeyPath, value: Any, kinds: Makers) -> Any:
        """Return a setting with its parts made: a table with a key ``kind`` is one of ``kinds``."""
        if isinstance(value, dict) and "kind" in value:
            return self._made(path, value, kinds, kinds)
        if isinstance(value, dict):
            return {key: self._part((*path, key), item, kinds) for key, item in value.items()}
        if isinstance(value, list):
            return [self._part(path, item, kinds) for item in value]
        return value

    def _made(self, path: KeyPath, table: Any, kinds: Makers, inner: Makers) -> Any:
        made, settings = self._kind(path, table, kinds)
        arguments = {key: self._part((*path, key), value, inner) for key, value in settings.items()}
        return self._called(path, partial(made, **arguments))

    def _kind(
        self, path: KeyPath, table: Any, kinds: Makers, given: Iterable[str] = ()
    ) -> tuple[Callable[..., Any], dict[str, Any]]:
        """Return the class or function of a table's ``kind``, and its settings, with their names checked."""
        if not isinstance(table, dict) or "kind" not in table:
            self._fail(path, f"expected a table with a kind, one of {_listed(kinds)}, got {shown(table)}")
        kind = table["kind"]
        if not isinstance(kind, str) or kind not in kinds:
            got = f"{shown(kind)}{did_you_mean(kind, kinds)}"
            self._fail((*path, "kind"), f"expected one of {_listed(kinds)}, got {got}")
        taken = signature(kinds[kind]).parameters.values()
        parameters = [p for p in taken if p.name not in given and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        if not any(p.kind is p.VAR_KEYWORD for p in taken):
            self._refuse_unknown(path, table, ("kind", *(p.name for p in parameters)))
        for parameter in parameters:
            optional = parameter.default is not Parameter.empty or (given and parameter.name in PROVIDED)
            if not optional and parameter.name not in table:
                self._fail(path, f"{parameter.name}: missing, {kind} needs it")
        return kinds[kind], {key: value for key, value in table.items() if key != "kind"}

    def _refuse_unknown(self, path: KeyPath, table: Mapping[str, Any], known: Iterable[str]) -> None:
        for key in table:
            if key not in known:
                hint = did_you_mean(key, known) or f", expected one of {_listed(known)}"
                self._fail((*path, key), f"unknown key{hint}")

    def _called(self, path: KeyPath, call: Callable[[], Any]) -> Any:
        """Return what ``call`` returns; an argument error gets the line of the key that it names."""
        try:
            return call()
        except ExperimentFileError:
            raise
        except ArgumentError as error:
            named = error.name.split(".")
            for key in (path, (*path, *named), (*path, named[-1]), (*path, named[0])):
                if key in self.lines and key[-1] in named:
                    self._fail(key, f"expected {error.expected}, got {error.got}")
            self._fail(path, str(error))
        except (ValueError, TypeError) as error:
            self._fail(path, str(error))

    def _fail(self, path: KeyPath, message: str) -> NoReturn:
        """Raise an error with the line of ``path``."""
        line = nearest_line(self.lines, path)
        where = self.file if line is None else f"{self.file}, line {line}"
        raise ExperimentFileError(f"{where}: {'.'.join(path)}{': ' if path else ''}{message}")


def _tables(value: Any, path: KeyPath) -> Iterable[tuple[KeyPath, dict[str, Any]]]:
    """Yield all tables inside a table, with their paths."""
    for key, item in value.items():
        if isinstance(item, dict):
            yield (*path, key), item
            yield from _tables(item, (*path, key))


def _replaced(table: Mapping[str, Any], place: KeyPath, value: Any) -> dict[str, Any]:
    """Return a copy of a nested table with another value at ``place``."""
    key, *rest = place
    return {**table, key: _replaced(table[key], tuple(rest), value) if rest else value}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
