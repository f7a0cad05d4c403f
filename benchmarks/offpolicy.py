"""How often intervals of off-policy estimates hold the truth: ``python -m benchmarks.offpolicy`` (some minutes).

Logs of policies that learn, one decision at a time and in batches, on tables without ties and on one of zeros and ones
with equal rows; and harder logs of a policy that does not learn. The tables are in docs/interfaces.md. Writes
``benchmarks/results/offpolicy.json``.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import sparsebandits as sb
from benchmarks.section import Figures, around, run
from sparsebandits.arguments import FloatArray
from sparsebandits.journal.offpolicy import OverlapWarning, doubly_robust, inverse_propensity
from sparsebandits.tables import Table

LOGS, ROUNDS = 200, 200
HARD_ROUNDS = 500


def normal_table(rng: Any) -> FloatArray:
    return np.asarray(rng.standard_normal((8, 4)))


def ones_table(rng: Any) -> FloatArray:
    """Return zeros and ones, in which rows tie and two are equal."""
    table = np.where(rng.random((8, 4)) < 0.5, 1.0, 0.0)
    table[1] = table[0]
    return table


LOGGED: dict[str, tuple[Callable[[Any], FloatArray], Callable[..., sb.Policy], int]] = {
    "`SparseTS`": (normal_table, sb.SparseTS, 1),
    "`SparseTS`, batches of five": (normal_table, sb.SparseTS, 5),
    "`SparseTS`, table of zeros and ones": (ones_table, sb.SparseTS, 1),
    "`LinTS`": (normal_table, sb.LinTS, 1),
}


def log_of(name: str, seed: int) -> tuple[sb.journal.DecisionLog, FloatArray]:
    """Return the log of a policy that learns, and the mean rewards of the actions."""
    make, policy, batch = LOGGED[name]
    rng = np.random.default_rng([seed, 7])
    actions = make(rng)
    means = actions @ rng.standard_normal(4) / 2
    log = sb.journal.DecisionLog()
    played = policy(actions, seed=seed, journal=log, **({"n_draws": 1000} if policy is sb.SparseTS else {}))
    for _ in range(ROUNDS // batch):
        decisions = played.ask(n=batch)
        played.tell(decisions, [float(means[one.action] + np.sqrt(2.0) * rng.standard_normal()) for one in decisions])
    return log, means


def held(log: Any, target: FloatArray, value: float) -> dict[str, bool]:
    """Return which intervals hold the value, and whether there was a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OverlapWarning)
        plain, robust = inverse_propensity(log, target), doubly_robust(log, target)
    return {
        "IPS": bool(plain.low <= value <= plain.high),
        "DR": bool(robust.low <= value <= robust.high),
        "warned": any(issubclass(one.category, OverlapWarning) for one in caught),
    }


def learning(name: str, seed: int) -> dict[str, dict[str, bool]]:
    """Return what holds in one log of a policy that learns, by target."""
    log, means = log_of(name, seed)
    order, found = np.argsort(-means), {}
    for label, rows in {"the best action": order[:1], "the second best action": order[1:2], "uniform": order}.items():
        target = np.zeros(8)
        target[rows] = 1.0 / len(rows)
        try:
            found[label] = held(log, target, float(target @ means))
        except ValueError:  # never played: refused
            found[label] = {"IPS": False, "DR": False, "warned": True}
    return found


def hard(seed: int) -> dict[str, bool]:
    """Return what holds in a log of skewed noise and small propensities, whose target plays what is rarest."""
    rng = np.random.default_rng([seed, 8])
    rows = np.random.default_rng(8).standard_normal((5, 3))
    means, played = 1.0 + rows @ [1.0, -0.5, 0.0], np.array([0.05, 0.1, 0.25, 0.3, 0.3])
    target = np.array([0.8, 0.05, 0.05, 0.05, 0.05])
    action = rng.choice(5, size=HARD_ROUNDS, p=played)
    reward = means[action] + rng.exponential(size=HARD_ROUNDS) - 1.0
    columns = {"action": action, "reward": reward, "pscore": played[action], "action_context": rows}
    log = sb.journal.DecisionLog.from_open_bandit(columns)
    return held(log, target, float(target @ means))


def measure(quick: bool) -> Figures:
    logs = 4 if quick else LOGS
    parallel = Parallel(n_jobs=2)
    rows = []
    for name in LOGGED:
        found = parallel(delayed(learning)(name, seed) for seed in range(logs))
        for target in found[0]:
            shares = {key: float(np.mean([one[target][key] for one in found])) for key in ("IPS", "DR", "warned")}
            rows.append({"log": name, "target": target, **shares})
    hards = parallel(delayed(hard)(seed) for seed in range(logs))
    return {
        "logs": logs,
        "learning": rows,
        "hard": {key: float(np.mean([one[key] for one in hards])) for key in ("IPS", "DR", "warned")},
    }


def page(figures: Figures) -> str:
    rows = [
        (one["log"], one["target"], *(f"{100 * one[key]:.0f}%" for key in ("IPS", "DR", "warned")))
        for one in figures["learning"]
    ]
    titles = ("log of", "target", "coverage of IPS", "coverage of doubly robust", "logs with a warning")
    hards = figures["hard"]
    return (
        f"Coverage of 95% intervals of off-policy estimates, {figures['logs']} logs each\n{around(figures)}\n\n"
        f"{Table(titles, rows)}\n\nharder logs: IPS {100 * hards['IPS']:.0f}%, doubly robust {100 * hards['DR']:.0f}%, "
        f"warned {100 * hards['warned']:.0f}%"
    )


if __name__ == "__main__":
    run("offpolicy", measure, page)
