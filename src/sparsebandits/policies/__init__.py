"""Policies: a posterior that learns and a rule that chooses, behind ``ask`` and ``tell``."""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.policies.actions import ActionSet as ActionSet
    from sparsebandits.policies.actions import Ball as Ball
    from sparsebandits.policies.actions import Cube as Cube
    from sparsebandits.policies.decision import Explanation as Explanation
    from sparsebandits.policies.items import Items as Items
    from sparsebandits.policies.linear import LinearPolicy as LinearPolicy
    from sparsebandits.policies.policy import Prediction as Prediction
    from sparsebandits.policies.sparse import SparsePolicy as SparsePolicy
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
