"""Best actions of many contexts under each draw, and sums of draws by them, from compressed rows.

Scores of all actions are in single precision. Where the largest two are closer than their rounding, they are compared
again in double precision: so what is returned for a context does not depend on the other contexts, nor on the machine.
Arrays have one row per context, since what belongs to one context then stays in the cache.
"""

from typing import Any

import numpy as np
from numba import njit

from sparsebandits.posteriors.kernels.compiled import THREADED

EXACT: dict[str, Any] = {**THREADED, "fastmath": False}
"""Settings of kernels whose comparisons decide between actions."""

SINGLE = 1.2e-7
"""Rounding of a sum in single precision, per term and as a share of the terms."""

ROUNDINGS = 4
"""Roundings of a term beside those of the sum: of the coefficient, of two factors, and of their product."""

SMALLEST, LARGEST = 1e-30, 1e37
"""Terms that single precision can hold; others are compared in double precision."""

EQUAL = 1e-12
"""Numbers that differ by this share of the terms they are summed from count as equal, as in ``rules/optima.py``."""


@njit(**EXACT)
def _margin(terms: float, count: int) -> Any:
    """Return how much two scores in single precision may miss each other; infinity if they may leave its range."""
    if not SMALLEST < terms < LARGEST:
        return np.float32(np.inf)
    return np.float32(SINGLE * (count + ROUNDINGS) * terms)


@njit(**EXACT)
def _settled(scores: Any, addresses: Any, terms: float) -> tuple[int, Any]:
    """Return the first of the largest scores, and the sum of the addresses of all of them if there are several."""
    place = 0
    for a in range(1, len(scores)):
        if scores[a] > scores[place]:
            place = a
    least, first, several, key = scores[place] - EQUAL * terms, -1, 0, np.uint64(0)
    for a in range(len(scores)):
        if scores[a] >= least:
            first = a if several == 0 else first
            several += 1
            key += addresses[a]
    return first, key if several > 1 else np.uint64(0)


@njit(**EXACT)
def best_of_contexts(
    begins: Any,
    ends: Any,
    columns: Any,
    values: Any,
    actions: Any,
    units: Any,
    features: Any,
    starts: Any,
    addresses: Any,
) -> tuple[Any, Any, Any]:
    """Return the best action of each context under each draw, its value, and which actions are as good.

    Parameters
    ----------
    begins, ends : int arrays of shape (M,)
        Where the nonzero coefficients of each draw begin and end.
    columns, values : int and float arrays
        Column and value of each nonzero coefficient.
    actions : float32 array of shape (d, N)
        Features of the actions of all contexts in units by which none is above one, one column per action.
    units : array of shape (d,)
        The units.
    features : array of shape (N, d)
        The features.
    starts : int array of shape (m + 1,)
        Where the actions of each context start.
    addresses : uint64 array of shape (K,)
        Random numbers whose sums identify a set of actions of a context, of which the largest has K.

    Returns
    -------
    best : int32 array of shape (m, M)
        Number of the best action among those of its context, the first if several are.
    value : array of shape (m, M)
        Its mean reward ⟨φ, θ⟩.
    ties : uint64 array of shape (m, M)
        Sum of the addresses of the best actions, up to rounding, if there are several; else zero.
    """
    draws, contexts = len(begins), len(starts) - 1
    best, value = np.empty((contexts, draws), np.int32), np.empty((contexts, draws))
    ties = np.zeros((contexts, draws), np.uint64)
    sums, exact = np.empty(actions.shape[1], np.float32), np.empty(np.diff(starts).max())
    for i in range(draws):
        sums[:] = np.float32(0.0)
        terms = 0.0
        for k in range(begins[i], ends[i]):
            coefficient = values[k] * units[columns[k]]
            terms += abs(coefficient)
            row, single = actions[columns[k]], np.float32(coefficient)
            for a in range(len(sums)):
                sums[a] += single * row[a]
        margin = _margin(terms, ends[i] - begins[i])
        for s in range(contexts):
            low, high = starts[s], starts[s + 1]
            place, largest, second = low, sums[low], np.float32(-np.inf)
            for a in range(low + 1, high):
                if sums[a] > largest:
                    place, largest, second = a, sums[a], largest
                elif sums[a] > second:
                    second = sums[a]
            if not second < largest - margin and high > low + 1:
                size = 0.0
                for a in range(low, high):
                    score = around = 0.0
                    for k in range(begins[i], ends[i]):
                        term = values[k] * features[a, columns[k]]
                        score += term
                        around += abs(term)
                    exact[a - low], size = score, max(size, around)
                first, ties[s, i] = _settled(exact[: high - low], addresses[: high - low], size)
                place = low + first
            score = 0.0
            for k in range(begins[i], ends[i]):
                score += values[k] * features[place, columns[k]]
            best[s, i], value[s, i] = place - low, score
    return best, value, ties


@njit(**EXACT)
def best_of_products(
    begins: Any,
    ends: Any,
    columns: Any,
    values: Any,
    of_user: Any,
    of_item: Any,
    units: Any,
    single_users: Any,
    single_items: Any,
    users: Any,
    items: Any,
    addresses: Any,
) -> tuple[Any, Any, Any]:
    """Return what :func:`best_of_contexts` does, if features are products of a user's and an item's factor.

    A draw's coefficients are multiplied by the users' factors first, and those with the same factor of the item are
    added. What is left is a small product for each item, of arrays that stay in the nearest cache.

    Parameters
    ----------
    begins, ends, columns, values : arrays
        The draws as compressed rows.
    of_user, of_item : int arrays of shape (d,)
        Which factors are those of each feature.
    units : array of shape (d,)
        Product of the units of both.
    single_users : float32 array of shape (P, m)
        Factors of the users, in units by which none is above one.
    single_items : float32 array of shape (K, Q)
        Factors of the items, in units by which none is above one.
    users, items : arrays of shape (P, m) and (K, Q)
        The factors.
    addresses : uint64 array of shape (K,)
        Random numbers whose sums identify a set of items.

    Returns
    -------
    best, value, ties : arrays of shape (m, M)
        As :func:`best_of_contexts`.
    """
    draws, contexts, count, width = len(begins), len(single_users[0]), len(items), items.shape[1]
    best, value = np.empty((contexts, draws), np.int32), np.empty((contexts, draws))
    ties = np.zeros((contexts, draws), np.uint64)
    slot, slots = np.full(width, -1), np.empty(width, np.int64)
    parts, weight = np.empty((width + 3, contexts), np.float32), np.empty(width + 3, np.float32)
    scores, largest = np.empty((count, contexts), np.float32), np.empty((2, contexts), np.float32)
    near, place = np.empty(contexts, np.int32), np.empty(contexts, np.int32)
    exact, total = np.empty(count), np.empty(contexts)
    for i in range(draws):
        begin, end = begins[i], ends[i]
        terms, used = 0.0, 0
        for k in range(begin, end):
            j = columns[k]
            if slot[of_item[j]] < 0:
                slot[of_item[j]], slots[used] = used, of_item[j]
                parts[used] = np.float32(0.0)
                used += 1
            coefficient = values[k] * units[j]
            terms += abs(coefficient)
            part, row, single = parts[slot[of_item[j]]], single_users[of_user[j]], np.float32(coefficient)
            for s in range(contexts):
                part[s] += single * row[s]
        for q in range(used):
            slot[slots[q]] = -1
        parts[used : used + 3], weight[used : used + 3] = np.float32(0.0), np.float32(0.0)  # four are added at a time
        largest[0] = np.float32(-np.inf)
        for a in range(count):
            for q in range(used):
                weight[q] = single_items[a, slots[q]]
            own, old, new = scores[a], largest[a % 2], largest[(a + 1) % 2]
            own[:] = np.float32(0.0)
            for q in range(0, used, 4):
                w0, w1, w2, w3 = weight[q], weight[q + 1], weight[q + 2], weight[q + 3]
                if w0 == 0.0 and w1 == 0.0 and w2 == 0.0 and w3 == 0.0:  # features that this item does not have
                    continue
                p0, p1, p2, p3 = parts[q], parts[q + 1], parts[q + 2], parts[q + 3]
                for s in range(contexts):
                    own[s] += (w0 * p0[s] + w1 * p1[s]) + (w2 * p2[s] + w3 * p3[s])
            for s in range(contexts):  # into another array, since stores under a condition are slow
                new[s] = own[s] if own[s] > old[s] else old[s]
        margin, least = _margin(terms, end - begin), largest[count % 2]
        near[:], place[:], total[:] = 0, 0, 0.0
        for s in range(contexts):
            least[s] -= margin
        for a in range(count):
            own, number = scores[a], np.int32(a)
            for s in range(contexts):
                hit = own[s] >= least[s]
                near[s] += np.int32(1) if hit else np.int32(0)
                place[s] += number if hit else np.int32(0)
        for s in range(contexts):
            if near[s] == 1 and margin < np.inf:
                continue
            size = 0.0
            for a in range(count):
                score = around = 0.0
                for k in range(begin, end):
                    term = values[k] * users[of_user[columns[k]], s] * items[a, of_item[columns[k]]]
                    score += term
                    around += abs(term)
                exact[a], size = score, max(size, around)
            place[s], ties[s, i] = _settled(exact, addresses, size)
        for k in range(begin, end):
            row, j = users[of_user[columns[k]]], of_item[columns[k]]
            for s in range(contexts):
                total[s] += values[k] * row[s] * items[place[s], j]
        for s in range(contexts):
            best[s, i], value[s, i] = place[s], total[s]
    return best, value, ties


@njit(**EXACT)
def numbered(best: Any, starts: Any, group: Any) -> Any:
    """Write the number of each best action among those that are the best under some draw.

    Parameters
    ----------
    best : int32 array of shape (m, M)
        Number of the best action among those of its context.
    starts : int array of shape (m + 1,)
        Where the actions of each context start.
    group : int32 array of shape (m, M)
        Where the numbers are written.

    Returns
    -------
    int array of shape (G,)
        The actions that are the best under some draw, ascending, as numbers among all.
    """
    number, found = np.full(np.diff(starts).max(), -1, np.int32), 0
    used = np.empty(starts[-1], np.int64)
    for s in range(len(best)):
        number[:] = -1
        for i in range(best.shape[1]):
            number[best[s, i]] = 0
        for a in range(starts[s + 1] - starts[s]):
            if number[a] == 0:
                number[a], used[found] = found, starts[s] + a
                found += 1
        for i in range(best.shape[1]):
            group[s, i] = number[best[s, i]]
    return used[:found]


@njit(**EXACT)
def sums_of_groups(begins: Any, ends: Any, columns: Any, values: Any, weights: Any, group: Any, of: Any) -> None:
    """Add w θ of each draw to the group that it belongs to in each context.

    Parameters
    ----------
    begins, ends, columns, values : arrays
        The draws as compressed rows.
    weights : array of shape (M,)
        Their weights.
    group : int32 array of shape (m, M)
        Group of each draw in each context.
    of : tuple of arrays of shape (G, d) and (G,)
        Σ w θ and Σ w over each group, which are added to.
    """
    sums, mass = of
    flat, width, count = sums.reshape(-1), sums.shape[1], (ends - begins).sum()
    until, column, weighted = np.empty(len(begins), np.int64), np.empty(count, np.int64), np.empty(count, sums.dtype)
    e = 0
    for i in range(len(begins)):
        for k in range(begins[i], ends[i]):
            column[e], weighted[e] = columns[k], weights[i] * values[k]
            e += 1
        until[i] = e
    for s in range(len(group)):
        e = 0
        for i in range(len(begins)):
            mass[group[s, i]] += weights[i]
            own = flat[group[s, i] * width : (group[s, i] + 1) * width]
            while e < until[i]:
                own[column[e]] += weighted[e]
                e += 1


@njit(**EXACT)
def centre_groups(sums: Any, mass: Any, share: Any, mean: Any, least: float) -> None:
    """Turn sums over groups into √(p P) (E[θ | group] − E θ), with P the mass of the group, p that of its context.

    Roots are taken first, since a quotient by the smallest masses themselves would overflow.

    Parameters
    ----------
    sums : array of shape (G, d)
        Σ w θ over each group, which are changed.
    mass, share : arrays of shape (G,)
        P and p of each group.
    mean : array of shape (d,)
        E θ.
    least : float
        Mass up to which a group counts as nothing.
    """
    for g in range(len(sums)):
        row = sums[g]
        if not mass[g] > least:
            row[:] = 0.0
            continue
        scale, shift = np.sqrt(share[g]) / np.sqrt(mass[g]), np.sqrt(share[g]) * np.sqrt(mass[g])
        for j in range(len(row)):
            row[j] = row[j] * scale - shift * mean[j]


@njit(**THREADED)
def forms_of_items(spread: Any, of_user: Any, order: Any, items: Any, forms: Any) -> None:
    """Add up W with u' W u = φ' V φ of each item, where feature j is the user's factor α(j) times a number.

    Parameters
    ----------
    spread : array of shape (d, d)
        V, symmetric.
    of_user : int array of shape (d,)
        α, the factor of the user.
    order : int array of shape (d,)
        The features; where those that follow each other have different factors of the user, this is faster.
    items : array of shape (K, d)
        The item's number of each feature.
    forms : array of shape (P, K, P)
        W of each item, along the first and the last axis, zero when this is called; it is not symmetric.
    """
    present, factor, number = np.empty(len(order), np.int64), np.empty(len(order), np.int64), np.empty(len(order))
    for a in range(len(items)):
        count = 0
        for j in order:
            if items[a, j] != 0.0:
                present[count], factor[count], number[count] = j, of_user[j], items[a, j]
                count += 1
        for p in range(count):
            row, target, twice = spread[present[p]], forms[factor[p], a], 2.0 * number[p]
            for q in range(p):
                target[factor[q]] += twice * number[q] * row[present[q]]
            target[factor[p]] += number[p] * number[p] * row[present[p]]
