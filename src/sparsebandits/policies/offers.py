"""What is on offer when a policy is asked, and what may be offered in the rounds to come.

Actions are the policy's own, others that were given for one decision, or those of whoever is asking if the policy has
contexts (``items.py``). A rule that looks at the rounds to come gets an :class:`~sparsebandits.rules.around.Around`:
of the contexts that it was given, of those that the policy was made with, or of the latest that have asked.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sparsebandits.arguments import ArgumentValueError, FloatArray, IntArray, shown
from sparsebandits.features.maps import FeatureMap
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.items import Items
from sparsebandits.rules.around import Around
from sparsebandits.rules.listed import Listed
from sparsebandits.rules.products import Products
from sparsebandits.rules.rule import Rule

AROUND = 10_000_000
"""Largest number of cells of the features of all contexts that a rule looks at (80 MB, and as much for copies)."""


def on_offer(
    own: ActionSet, actions: object, noise_variance: object, context: object
) -> tuple[Mapping[str, float | str] | None, ActionSet]:
    """Return who is asking, if the policy has contexts, and the actions to choose from.

    Parameters
    ----------
    own : ActionSet
        The policy's own actions.
    actions, noise_variance, context : object
        What ``ask`` was given.

    Returns
    -------
    asker, offered : dict or None, ActionSet
        Who is asking, by the names of columns, and the actions.

    Raises
    ------
    ArgumentError
        If the actions do not have the policy's features, or if a context is missing or superfluous.
    """
    if not isinstance(own, Items):
        if context is not None:
            raise ArgumentValueError("context", "none, since the policy was made without contexts", shown(context))
        return None, own if actions is None else own.matched(actions, noise_variance)
    if (context is None) == (actions is None):
        got = "neither" if context is None else "both"
        raise ArgumentValueError("context", "a context, or actions in its place", got)
    if context is None:
        return None, own.matched(actions, noise_variance)
    asker = own.read(context)
    return asker, own.offered(asker)


def check_around(rule: Rule, own: ActionSet) -> None:
    """Refuse a rule with contexts of rows that the actions do not have.

    Parameters
    ----------
    rule : Rule
        A rule that looks at the rounds to come.
    own : ActionSet
        The policy's own actions.

    Raises
    ------
    ArgumentValueError
        If it is so, or if nothing could be known of contexts.
    """
    named = getattr(rule, "available", None)
    if named is not None and (isinstance(own, Items) or max(map(max, named)) >= len(own)):
        raise ArgumentValueError("rule", f"one whose contexts are rows below {len(own)}", shown(rule))
    if isinstance(own, Items) and not own.known and not isinstance(own.map, FeatureMap):
        raise ArgumentValueError("contexts", "a table beside features that are a function", "names of columns")


def around_rows(rule: Any, own: ActionSet, features: FloatArray) -> Around | None:
    """Return what may be offered of the policy's own rows.

    Parameters
    ----------
    rule : Rule
        A rule that looks at the rounds to come.
    own : ActionSet
        The policy's own actions, which have no contexts.
    features : array of shape (K, d)
        Their features, relative to the mean if there is an intercept.

    Returns
    -------
    Around or None
        None if the rule says nothing of it.
    """
    if rule.available is None:
        return None
    rows = np.concatenate([np.array(one) for one in rule.available])
    starts = np.concatenate(([0], np.cumsum([len(one) for one in rule.available])))
    graph, noise = own.feedback, own.noise_variances
    of_rows = None if noise is None else noise[rows]
    shown_by = None if graph is None else (graph[rows].astype(np.float64), features)
    return Around(Listed(features[rows], starts), np.array(rule.probability), of_rows, shown_by, noise).merged()


def around_contexts(
    rule: Any, own: Items, origin: FloatArray | None, recent: FloatArray, before: Around | None = None
) -> Around | None:
    """Return what may be offered to contexts.

    There are as many contexts as the rule asks for, and fewer if their features would not fit into ``AROUND`` cells:
    with 1,000 items of 960 features there are 10.

    Parameters
    ----------
    rule : Rule
        A rule that looks at the rounds to come.
    own : Items
        The policy's own items.
    origin : array of shape (d,), optional
        What features are relative to.
    recent : array of shape (m, c)
        The latest contexts, where none are known beforehand.
    before : Around, optional
        What this returned in the last round, of which most contexts are the same.

    Returns
    -------
    Around or None
        None if no context is known yet.
    """
    if not own.known and not len(recent):
        return None
    most = min(rule.contexts, max(1, AROUND // own.features.size))
    factors, size = own.factors, len(own)
    actions: Listed | Products
    if factors is not None:
        users = factors.users(own.some_users(most) if own.known else recent[-most:])
        actions = Products(users, own.item_factors, factors.of_user, factors.of_item, origin)
    else:
        pairs = own.pairs(most) if own.known else own.pairs_of(recent[-most:])
        features = pairs.reshape(-1, pairs.shape[2])
        actions = Listed(features if origin is None else features - origin, size * np.arange(len(pairs) + 1))
    count = len(actions.starts) - 1
    repeated = None if own.noise_variances is None else np.tile(own.noise_variances, count)
    found = Around(actions, np.full(count, 1.0 / count), repeated, graph=own.feedback).merged()
    return found if factors is None else found.after(before)


def at_hand(offers: ActionSet, left: IntArray | None, features: FloatArray) -> Around | None:
    """Return the rows that are on offer now, with the rewards that they show of rows that are not.

    Parameters
    ----------
    offers : ActionSet
        The actions, before some of them were left out.
    left : int array, optional
        The rows that are on offer; by default all.
    features : array of shape (K, d)
        Features of all actions, relative to the mean if there is an intercept.

    Returns
    -------
    Around or None
        A single context; None if there is no feedback graph, or if all rows are on offer.
    """
    graph, noise = offers.feedback, offers.noise_variances
    if left is None or graph is None or len(left) == len(offers):
        return None
    own = None if noise is None else noise[left]
    shown_by = graph[left].astype(np.float64), features
    return Around(Listed(features[left], np.array([0, len(left)])), np.ones(1), own, shown_by, noise)


def remembered(rule: Any, own: ActionSet, recent: FloatArray, asker: Mapping[str, float | str] | None) -> FloatArray:
    """Return the latest contexts with another one, if the rule needs them and none are known beforehand.

    Parameters
    ----------
    rule : Rule
        The rule.
    own : ActionSet
        The policy's own actions.
    recent : array of shape (m, c)
        The latest contexts so far.
    asker : dict, optional
        Who is asking.

    Returns
    -------
    array of shape (m + 1, c)
        At most as many as the rule looks at; ``recent`` itself if it needs none.
    """
    if asker is None or not rule.around or not isinstance(own, Items) or own.known:
        return recent
    row = own.users.encoded_row(asker)[np.newaxis]
    return np.concatenate((recent, row))[-rule.contexts :] if len(recent) else row
