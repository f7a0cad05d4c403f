"""Play games on request, under this version of the package or version 0.1: the worker of ``benchmarks/former.py``.

Reads one request per line of standard input and writes one answer per line of standard output, both JSON. The first
answer, before any request, has the versions. It imports only what both versions have.
"""

import gc
import json
import sys
from importlib.metadata import version
from inspect import signature
from math import sqrt
from time import process_time
from typing import Any

import numpy as np

import sparsebandits as sb
from sparsebandits.randomness import IndexedNormals

PACKAGES = ("sparsebandits", "numpy", "scipy", "numba")


def policy_of(request: dict[str, Any], actions: Any) -> Any:
    """Return SparseIDS as the request describes it; what is None is left to the version's default."""
    given = {name: request[name] for name in ("n_draws", "rule") if request[name] is not None}
    if request["sparsity"] is not None:
        sparsity = request["sparsity"]
        given["prior"] = sb.SpikeSlab(inclusion=sparsity / actions.shape[1], slab_variance=1.0 / sparsity)
        given["noise_variance"] = request["noise_variance"]
        if "intercept" in signature(sb.SparseIDS).parameters:  # in version 0.1 there was none
            given["intercept"] = False
    return sb.SparseIDS(actions, seed=request["seed"], **given)


def play(request: dict[str, Any]) -> dict[str, Any]:
    """Play one game; return the seconds of processor time in ``ask`` and ``tell``, and the regret."""
    with np.load(request["instance"]) as kept:
        actions, means = kept["actions"], kept["means"]
    noise, deviation = IndexedNormals(request["noise_seed"]), sqrt(request["noise_variance"])
    policy = policy_of(request, actions)
    gc.collect()  # nobody pays for the game before
    seconds = regret = 0.0
    for t in range(request["rounds"]):
        begun = process_time()
        decision = policy.ask()
        seconds += process_time() - begun
        reward = float(means[decision.action]) + deviation * noise(t, decision.action)
        regret += float(means.max() - means[decision.action])
        begun = process_time()
        policy.tell(decision, reward)
        seconds += process_time() - begun
    return {"seconds": seconds, "regret": regret, "draws": policy.posterior.n_draws}


def main() -> None:
    """Answer until the input ends."""
    print(json.dumps({package: version(package) for package in PACKAGES}), flush=True)
    for line in sys.stdin:
        print(json.dumps(play(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
