"""Read a saved policy back. Nothing in the file is executed: classes are looked up by name among ours."""

import os
from typing import Any

from sparsebandits.arguments import ArgumentTypeError, shown
from sparsebandits.files import SaveFileError, unpack
from sparsebandits.model.priors import (
    BetaInclusion,
    GaussianPrior,
    GaussianSpike,
    InverseGammaNoise,
    InverseGammaSlab,
    LaplaceSpike,
    PointMass,
    SpikeSlab,
)
from sparsebandits.policies.ids import LinearIDS
from sparsebandits.policies.linucb import ConfidenceRadius, LinUCB
from sparsebandits.policies.policy import KIND, VERSION, Policy
from sparsebandits.policies.rivals.dr_lasso import DRLasso
from sparsebandits.policies.rivals.estc import ESTC
from sparsebandits.policies.rivals.frequentist_ids import FrequentistIDS
from sparsebandits.policies.rivals.hypercube_elimination import HypercubeElimination
from sparsebandits.policies.rivals.lasso_bandit import LassoBandit
from sparsebandits.policies.rivals.lasso_greedy import LassoGreedy
from sparsebandits.policies.rivals.online_to_confidence import OnlineToConfidence
from sparsebandits.policies.rivals.sa_lasso import SALasso
from sparsebandits.policies.rivals.thresholded_lasso import ThresholdedLasso
from sparsebandits.policies.sparse import SparseIDS, SparseTS
from sparsebandits.policies.thompson import LinTS

POLICIES: tuple[type[Policy], ...] = (
    SparseIDS,
    SparseTS,
    LinearIDS,
    LinTS,
    LinUCB,
    ESTC,
    FrequentistIDS,
    OnlineToConfidence,
    HypercubeElimination,
    LassoGreedy,
    ThresholdedLasso,
    SALasso,
    LassoBandit,
    DRLasso,
)
PARTS: tuple[type[Any], ...] = (
    GaussianPrior,
    SpikeSlab,
    PointMass,
    LaplaceSpike,
    GaussianSpike,
    BetaInclusion,
    InverseGammaSlab,
    InverseGammaNoise,
    ConfidenceRadius,
)


def load(path: str | os.PathLike[str], *own: type[Policy]) -> Policy:
    """Return the policy that ``policy.save(path)`` wrote; it continues bit for bit.

    A policy class of your own is passed by name: ``load(path, MyPolicy)``.

    Raises
    ------
    SaveFileError
        if the file is missing, truncated, damaged, of another kind or of another version
    """
    for policy in own:
        if not (isinstance(policy, type) and issubclass(policy, Policy)):
            raise ArgumentTypeError("own", "policy classes", shown(policy))
    state = unpack(path, KIND, VERSION)
    policies = {policy.__name__: policy for policy in (*POLICIES, *own)}
    try:
        if state["policy"] not in policies:
            known = ", ".join(policies)
            raise SaveFileError(f"path: {path} holds a {state['policy']}; pass its class to load (known: {known})")
        policy = policies[state["policy"]]
        arguments = {name: decode(value) for name, value in state["arguments"].items()}
        loaded = policy(policy.action_set.restored(state), **arguments)
        loaded.restore(state)
    except SaveFileError:
        raise
    except Exception as error:  # whatever is wrong inside a well-formed file, the file is what is wrong
        raise SaveFileError(f"path: {path} is not a whole policy of this release ({error!r})") from error
    return loaded


def decode(value: Any) -> Any:
    """Undo ``policy.encode``."""
    if isinstance(value, dict) and "part" in value:
        parts = {part.__name__: part for part in PARTS}
        return parts[value["part"]](**{name: decode(field) for name, field in value.items() if name != "part"})
    return value
