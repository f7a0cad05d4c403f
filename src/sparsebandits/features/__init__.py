"""Features of a user and an item: how who is asking and what can be offered become one row of numbers per item.

A map is declared with ``user``, ``item``, ``cross``, ``per_item`` and ``concat``, or is a function of one's own.
"""

from typing import TYPE_CHECKING

from sparsebandits import lazy

if TYPE_CHECKING:
    from sparsebandits.features.encoding import Column as Column
    from sparsebandits.features.encoding import Encoding as Encoding
    from sparsebandits.features.frame import Frame as Frame
    from sparsebandits.features.maps import Columns as Columns
    from sparsebandits.features.maps import Concat as Concat
    from sparsebandits.features.maps import Cross as Cross
    from sparsebandits.features.maps import FeatureMap as FeatureMap
    from sparsebandits.features.maps import Item as Item
    from sparsebandits.features.maps import PerItem as PerItem
    from sparsebandits.features.maps import User as User
    from sparsebandits.features.maps import concat as concat
    from sparsebandits.features.maps import cross as cross
    from sparsebandits.features.maps import item as item
    from sparsebandits.features.maps import per_item as per_item
    from sparsebandits.features.maps import user as user
else:
    __getattr__, __dir__, __all__ = lazy.names(__name__)
