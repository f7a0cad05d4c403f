"""The wrong thing in every argument of public entries, and files of tables and experiments that are not what they seem.

An attempt is refused if it ends with the documented error. Otherwise it has to be right: no NaN may come out of numbers
that were accepted, and a table or an experiment has to be what a slow reader of the same bytes finds. Files of text
carry no checksum, so a digit that was changed is another table, not a damaged one.
"""

import csv
import io
import math
import tomllib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import sparsebandits as sb
from benchmarks.attacks.outcome import Outcome
from sparsebandits.advice.cells import is_number, unescaped
from sparsebandits.advice.csv_file import CsvReader
from sparsebandits.advice.values import is_code
from sparsebandits.arguments import ArgumentError
from sparsebandits.experiments.plan import ExperimentFileError, read_plan

WRONG: tuple[Any, ...] = (
    *(None, "", "text", b"bytes", "a\0b", "\ud800", True, False, 1j, object(), {}, [], (), [[]], {"a": 1}, int),
    *(math.nan, math.inf, -math.inf, -1, -0.5, 0, 0.0, -(10**400), 10**400, 10**5000, 10**30, 1e300, 5e-324, 2.5),
    *(np.nan, np.float32(2.5), np.array(3.0), np.ones(3), np.ones((2, 2)), np.empty((0, 3)), np.array(["a"])),
    *(np.array([None]), np.array([1j]), np.datetime64("2020-01-01"), np.ma.masked, lambda *_: None, lambda: 1),
)
"""Values that are wrong for most arguments; those that are right for one are not counted as silent."""

READING = (ArgumentError, OSError)
SCIKIT = (ArgumentError, ValueError)
"""Errors of entries that read files, and of those whose arguments scikit-learn checks."""

Call = Callable[..., object]
Attempt = tuple[Callable[[], object], tuple[type[Exception], ...]]


@dataclass(frozen=True)
class Entry:
    """A public entry and arguments that it takes; one after the other is replaced by a wrong value."""

    name: str
    call: Call
    arguments: dict[str, Any]
    documented: tuple[type[Exception], ...] = (ArgumentError,)


def entries() -> list[Entry]:
    """Return the public functions of ``theory`` and ``offpolicy``, ``decide``, the regressor, and counts of others."""
    theory, rng = sb.theory, np.random.default_rng(0)
    x = rng.standard_normal((12, 2))
    known = sb.rules.Beliefs(sb.Conjugate(sb.GaussianPrior(), 2, n_draws=20, seed=0), x).information
    log = sb.journal.DecisionLog.from_open_bandit(
        {"action": [0, 1] * 40, "reward": [1.0, 2.0, 2.0, 1.0] * 20, "pscore": [0.5] * 80}
    )
    problem = {"horizon": 100, "dimension": 10, "sparsity": 2}
    numbers = {"largest_mean": 1.0, "longest": 1.0}
    table = {"a": np.array([1.0, 2.0, 4.0]), "b": np.array([3.0, 1.0, 2.0])}
    world = sb.environments.GaussianActions(3, 1, n_actions=4)

    def frame(**options: Any) -> object:
        import pandas as pd

        return sb.decide(**{"actions": pd.DataFrame(table), "policy": "lin-ucb", "seed": 0, **options})

    def regress(y: Any = None, X: Any = None) -> object:  # noqa: N803
        return sb.SpikeSlabRegressor(n_draws=20, random_state=0).fit(x if X is None else X, y)

    def experiment(**options: Any) -> object:
        return sb.Experiment(world, {"a": sb.maker(sb.LinTS)}, **{"horizon": 2, "trials": 2, "seed": 0, **options})

    return [
        Entry("entropy", theory.entropy, {**problem, "n_actions": 5, "noise_variance": 1.0, "constant": 2.0}),
        Entry("entropy_as_printed", theory.entropy_as_printed, {**problem, "n_actions": 5, "constant": 2.0}),
        Entry("ratios", theory.ratios, {"dimension": 10, "sparsity": 2, "c_min": 1.0, "bound": 1.0, "sharpened": True}),
        Entry("ratios_as_printed", theory.ratios_as_printed, {"dimension": 10, "sparsity": 2, "c_min": 1.0}),
        Entry("generic_bound", theory.generic_bound, {"horizon": 9, "information": 1.0, "exponent": 2.0, "ratio": 1.0}),
        Entry("least_generic_bound", theory.least_generic_bound, {"horizon": 9, "information": 1.0, "ratio": {2: 1.0}}),
        Entry("crossover", theory.crossover, {"psi": theory.ratios(10, 2, 1.0), "information": lambda n: 2.0}),
        Entry("regime", theory.regime, {**problem, "n_actions": 5, "c_min": 1.0, "information": 1.0, "crosses": 2.0}),
        Entry("regret_bound", theory.regret_bound, {**problem, "n_actions": 50, "c_min": 1.0, "noise_variance": 1.0}),
        Entry("regret_bounds_over", theory.regret_bounds_over, {"bounds": theory.regret_bound(9, 4, 2), "points": 3}),
        Entry("mixture_rate", theory.mixture_rate, {"known": known, **numbers}),
        Entry("proof_mixture", theory.proof_mixture, {"known": known, "exploration": np.full(12, 1 / 12), **numbers}),
        Entry("ratio_bounds", theory.ratio_bounds, {"dimension": 3, "c_min": 1.0, **numbers}),
        Entry("nats_factor", theory.nats_factor, {"largest_mean": 1.0, "noise_variance": 1.0}),
        Entry("hypercube_design", theory.hypercube_design, {"dimension": 3}),
        Entry("unseen_features", theory.unseen_features, {"actions": x}),
        Entry("exploratory_design", theory.exploratory_design, {"actions": x, "solver": "barrier"}),
        Entry("restricted_eigenvalue", theory.restricted_eigenvalue, {"H": np.eye(3), "sparsity": 1, "L": 3.0}),
        Entry("inverse_propensity", sb.offpolicy.inverse_propensity, {"log": log, "target": [0.5, 0.5]}),
        Entry("doubly_robust", sb.offpolicy.doubly_robust, {"log": log, "target": [0.5, 0.5], "blocks": 3}),
        Entry("decide", frame, {"name": None, "rewards": None, "ignore": (), "batch": 1, "untried": False}, READING),
        Entry("SpikeSlabRegressor", regress, {"y": x[:, 0]}, SCIKIT),
        Entry("LinTS", sb.LinTS, {"actions": np.eye(2), "probability_draws": 20, "inflation": 1.0, "seed": 0}),
        Entry("LinearIDS", sb.LinearIDS, {"actions": np.eye(2), "n_draws": 20, "seed": 0}),
        Entry("Experiment", experiment, {"horizon": 2, "trials": 2, "seed": 0, "points": None}),
    ]


def sound(value: object) -> bool:
    """Return whether numbers that came out are numbers: no NaN among them."""
    numbers = [value] if isinstance(value, float) else list(value) if isinstance(value, tuple) else []
    return not any(isinstance(number, float) and math.isnan(number) for number in numbers)


def tried(name: str, attempts: Iterator[Attempt]) -> Outcome:
    """Make every attempt, and count how they ended."""
    counts = {"refused": 0, "identical": 0, "silent": 0, "crashed": 0}
    for call, documented in attempts:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ended = "identical" if sound(call()) else "silent"
        except documented:
            ended = "refused"
        except Exception:
            ended = "crashed"
        counts[ended] += 1
    return Outcome(name, sum(counts.values()), **counts)


def arguments() -> Iterator[Attempt]:
    """Yield calls with one wrong argument each. A function that a caller passes may raise what it likes."""
    for entry in entries():
        for argument in entry.arguments:
            for wrong in WRONG:
                if callable(wrong) and argument in ("target", "ratio", "information"):
                    continue
                yield partial(entry.call, **{**entry.arguments, argument: wrong}), entry.documented


def read_table(content: bytes) -> object:
    """Read a CSV file; return NaN if nothing is said about it and a slow reader finds other columns in it."""
    reader = CsvReader("file", "a.csv")
    columns, lines = reader.read(io.BytesIO(content))
    for problem in reader.problems:
        raise problem
    if reader.remarks:  # it looks like another kind of file, which the report says
        return 1.0
    text = content.decode("utf-8-sig")
    header, *rows = (row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row)
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    same = list(columns) == [cell.strip() for cell in header] and len(lines) == len(rows)
    for place, column in enumerate(columns.values()):
        cells = [row[place].strip() for row in rows]
        numeric = all(cell == "" or is_number(cell) for cell in cells) and not is_code([one for one in cells if one])
        found = [float(cell) if cell else math.nan for cell in cells] if numeric else None
        same &= (column.numbers is None) == (found is None)
        if column.numbers is not None and found is not None:
            same &= np.array_equal(column.numbers, found, equal_nan=True)
        else:
            same &= [unescaped(cell) for cell in cells if not is_number(cell)] == [
                cell for cell in column.cells if not is_number(cell)
            ]
    return 1.0 if same else math.nan


def damaged_tables(count: int) -> Iterator[Attempt]:
    """Yield readings of a CSV file with random bytes changed, removed or repeated."""
    rng = np.random.default_rng(0)
    plain = b'name,x,"y, z"\n' + b"".join(b'"a""%d",%d.5,-1e-%d\r\n' % (i, i, i) for i in range(20))
    odd = b"\",\r\n\0\xff\xef\xbb\xbf='+-@_ \t;.e9n"
    for _ in range(count):
        content = bytearray(plain)
        for _ in range(rng.integers(1, 6)):
            place = int(rng.integers(len(content)))
            content[place : place + int(rng.integers(3))] = bytes(rng.choice(list(odd), int(rng.integers(3))).tolist())
        yield partial(read_table, bytes(content)), (ArgumentError,)


def damaged_plans(count: int, directory: Path) -> Iterator[Attempt]:
    """Yield readings of experiment files: deep ones, long ones, and some with random characters changed."""
    rng, file = np.random.default_rng(0), directory / "a.toml"
    plain = (
        'title = "a"\nhorizon = 3\ntrials = 2\n[environment]\nkind = "GaussianActions"\ndimension = 3\nsparsity = 1\n'
        'n_actions = 4\n[policies.LinTS]\n[policies."b c"]\nkind = "LinUCB"\nwidth = {tune = [1.0, 2.0], trials = 2}\n'
    )
    deep = ["a=" + "[" * 10**5, "a=" + "{a=" * 10**5, ".".join("a" * 50_000) + "=1", "[" + ".".join("a" * 50_000) + "]"]
    texts = [*deep, "trials = " + "9" * 400, "trials = " + "9" * 5000, "#" * 10**7]
    for _ in range(count):
        signs = list(plain)
        for _ in range(rng.integers(1, 4)):
            place = int(rng.integers(len(signs)))
            signs[place : place + int(rng.integers(3))] = rng.choice(
                list("[]{}.=\"'\\#,\n9-eaé\0"), int(rng.integers(3))
            )
        texts.append("".join(signs))

    def read(text: str) -> object:
        file.write_text(text, encoding="utf-8")
        plan, values = read_plan(file), tomllib.loads(text)
        same = (plan.title, plan.horizon, plan.trials) == (values.get("title", ""), values["horizon"], values["trials"])
        world = {key: value for key, value in values["environment"].items() if key != "kind"}
        same &= all(getattr(plan.environment, key) == value for key, value in world.items())
        return 1.0 if same and list(plan.policies) == list(values["policies"]) else math.nan

    for text in texts:
        yield partial(read, text), (ExperimentFileError,)


def attack(scale: float) -> list[Outcome]:
    """Return what came of all attempts; ``scale`` changes the number of damaged files alone."""
    with TemporaryDirectory() as directory:
        return [
            tried("wrong arguments", arguments()),
            tried("damaged CSV", damaged_tables(math.ceil(20_000 * scale))),
            tried("damaged TOML", damaged_plans(math.ceil(2_000 * scale), Path(directory))),
        ]
