"""Policies: one a file, all with ``ask``, ``tell``, ``explain`` and ``save``."""

from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Choice, Decision, Explanation, Reasons
from sparsebandits.policies.ids import LinearIDS
from sparsebandits.policies.linucb import ConfidenceRadius, LinUCB
from sparsebandits.policies.load import load
from sparsebandits.policies.policy import Policy, PosteriorRule, Rule
from sparsebandits.policies.sparse import SparseIDS, SparseTS
from sparsebandits.policies.thompson import LinTS

__all__ = [
    "ActionSet",
    "Choice",
    "ConfidenceRadius",
    "Decision",
    "Explanation",
    "LinTS",
    "LinUCB",
    "LinearIDS",
    "Policy",
    "PosteriorRule",
    "Reasons",
    "Rule",
    "SparseIDS",
    "SparseTS",
    "load",
]
