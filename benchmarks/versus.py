"""Decisions per second of two checkouts, side by side: ``python -m benchmarks.versus PATH_OF_THE_OTHER_SRC``.

Each policy plays 300 rounds at d = 100, K = 200 in a process of its own, by turns from this source tree and from the
other one, REPEATS times; the rate is by processor time, the ratio the median over turns. Both trees use this
interpreter's packages. The actions played are compared too: the same seed should give the same decisions.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import sparsebandits as sb

REPEATS = 7
HERE = Path(sb.__file__).parents[1]
CODE = """
import hashlib, json, sys
from time import process_time
import numpy as np
import sparsebandits as sb
rng = np.random.default_rng(0)
actions = rng.standard_normal((200, 100))
theta = np.where(np.arange(100) < 10, 0.3, 0.0)
noise = 1.4 * rng.standard_normal(400)
makers = {
    "LinUCB": lambda: sb.LinUCB(actions, noise_variance=2.0),
    "LinTS": lambda: sb.LinTS(actions, noise_variance=2.0, seed=0),
    "SparseIDS": lambda: sb.SparseIDS(actions, sb.SpikeSlab(0.1, 0.1), 2.0, seed=0, n_draws=10000),
}
policy, played, spent = makers[sys.argv[1]](), [], 0.0
for t in range(320):
    started = process_time()
    decision = policy.ask()
    middle = process_time()
    reward = float(actions[decision.action] @ theta + noise[t])
    told = process_time()
    policy.tell(decision, reward)
    if t >= 20:
        spent += (middle - started) + (process_time() - told)
    played.append(decision.action)
print(json.dumps([300 / spent, hashlib.sha256(bytes(played)).hexdigest()]))
"""


def rate(source: Path, policy: str) -> tuple[float, str]:
    """Return decisions per second of a policy from a source tree, and a digest of what it played."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    answer = subprocess.run(
        [sys.executable, "-c", CODE, policy],
        env={**os.environ, **threads, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    speed, digest = json.loads(answer.stdout)
    return float(speed), str(digest)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versus")
    parser.add_argument("other", type=Path, help="directory that holds the other sparsebandits package")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    given = parser.parse_args()
    rows = []
    for policy in ("LinUCB", "LinTS", "SparseIDS"):
        turns = [(rate(HERE, policy), rate(given.other, policy)) for _ in range(given.repeats)]
        ratios = [here[0] / there[0] for here, there in turns]
        same = all(here[1] == there[1] for here, there in turns)
        rates = round(median(here[0] for here, _ in turns)), round(median(there[0] for _, there in turns))
        rows.append({"policy": policy, "here": rates[0], "there": rates[1], "ratio": median(ratios)})
        rows[-1] |= {"least": min(ratios), "most": max(ratios), "same decisions": str(same)}
    print(sb.results.Rows.of(rows))


if __name__ == "__main__":
    main()
