"""Policies: one a file, all with ``ask``, ``tell``, ``explain`` and ``save``.

What a policy of one's own is made of is here; the sparse ones bring compiled samplers, and are imported when wanted.
"""

from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Choice, Decision, Explanation, Mixture, Reasons
from sparsebandits.policies.policy import Policy, PosteriorRule, Rule

__all__ = ["ActionSet", "Choice", "Decision", "Explanation", "Mixture", "Policy", "PosteriorRule", "Reasons", "Rule"]
