"""Policies of one's own that an experiment file names as ``module:Class``: imported, and made once to try them."""

import sys
from collections.abc import Callable
from functools import reduce
from importlib import import_module, invalidate_caches
from inspect import signature
from typing import Any

from sparsebandits.arguments import ArgumentError, shown
from sparsebandits.experiments.simulate import PolicyMaker, Problem


def import_policy(name: str, folder: str) -> Callable[..., Any]:
    """Return the class or function of a name; importing its module runs it.

    Parameters
    ----------
    name : str
        Module and class, such as ``"mypackage.policies:Greedy"``.
    folder : str
        Where modules are found besides the places of ``sys.path``, to which it is added: worker processes that are
        started later have it, too.

    Returns
    -------
    callable
        A policy class, or a function that makes a policy.

    Raises
    ------
    ValueError
        If there is no such name, if its module fails, or if it cannot be called.

    Examples
    --------
    >>> import_policy("sparsebandits.policies.linear:LinTS", ".").__name__
    'LinTS'
    """
    module, _, inside = name.partition(":")
    if folder not in sys.path:
        sys.path.append(folder)
        invalidate_caches()
    try:
        found: Any = reduce(getattr, inside.split("."), import_module(module))
    except Exception as error:  # a module may raise anything
        raise ValueError(f"cannot import {name!r}: {type(error).__name__}: {error}") from error
    try:
        signature(found)
    except (TypeError, ValueError):
        raise ValueError(f"expected a policy class, or a function that makes one, got {shown(found)}") from None
    return found  # type: ignore[no-any-return]


def try_policy(make: PolicyMaker, problem: Problem) -> None:
    """Make a policy of one's own once, before a run.

    Parameters
    ----------
    make : callable
        The maker of the policy.
    problem : Problem
        What it is made for.

    Raises
    ------
    ValueError
        If it cannot be made, or cannot be asked and told.
    """
    try:
        made = make(problem)
    except ArgumentError:
        raise
    except Exception as error:  # as above
        raise ValueError(f"the policy cannot be made: {type(error).__name__}: {error}") from error
    if not all(callable(getattr(made, name, None)) for name in ("ask", "tell")):
        raise ValueError(f"expected a policy, with ask and tell, got {shown(made)}")
