"""Read a saved policy back. Nothing in the file is executed: classes are looked up by name (``codec.py``)."""

import os
from collections.abc import Callable
from types import FunctionType
from typing import Any

from sparsebandits.arguments import ArgumentTypeError, SaveFileError, shown
from sparsebandits.files import unpack
from sparsebandits.policies.codec import Decoder
from sparsebandits.policies.policy import KIND, VERSION, Policy

OLDER = "it was written by release 0.1 or before release 0.2: load it there, and tell its rewards to a new policy"


def load(path: str | os.PathLike[str], *own: Callable[..., Any]) -> Policy:
    """Return the policy that ``policy.save(path)`` wrote; it continues exactly where it was, bit for bit.

    Parameters
    ----------
    path : str or path
        The file.
    *own : classes and functions
        Rules, engines and policies of your own that the policy is made of, such as ``load(path, MyRule)``, and the
        function that makes its features, if it has one.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    SaveFileError
        If the file is missing, truncated, damaged, of another kind or of another version.
    """
    for part in own:
        if not isinstance(part, type | FunctionType):
            raise ArgumentTypeError("own", "classes of rules, engines or policies, or functions", shown(part))
    state = unpack(path, KIND, VERSION, OLDER)
    decoder = Decoder(own)
    try:
        policy = decoder.part(state["policy"], state["package"])
        if not issubclass(policy, Policy):
            raise SaveFileError(f"path: expected a policy in {path}, got a {policy.__name__}")
        return policy.restored(state, decoder)
    except SaveFileError:
        raise
    except Exception as error:  # whatever fails inside a well-formed file, the file is at fault
        raise SaveFileError(f"path: {path} is not a whole policy of this release ({error!r})") from error
