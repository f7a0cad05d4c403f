"""Changes in one step: whatever interrupts a change, it has been made or it has not.

An exception may strike between any two bytecodes (Ctrl-C, a signal handler), and inside the code that would undo a
change, too. So nothing is undone. What learns works on a *fork*, which shares everything with the original: it replaces
what it changes, and never changes a shared array in place. When all is computed, the fork takes the place of the
original in one step. CPython handles signals, and hands over to other threads, between bytecodes only: a function of C
that calls other functions of C is one step.

Compiled code that is interrupted while it calls back into Python turns Ctrl-C into an error of its own, such as a
SystemError. :func:`interruptible` turns it back.
"""

from collections import deque
from contextlib import AbstractContextManager
from itertools import starmap
from operator import call
from typing import Any, TypeVar

One = TypeVar("One")


def forked(original: One) -> One:
    """Return a copy that shares all attributes; those that are learners themselves are forked, too.

    A class names the latter in ``learners``. The copy becomes the original by ``original.__dict__ = vars(copy)``.

    Parameters
    ----------
    original : object
        An object with a ``__dict__``.

    Returns
    -------
    object
        The copy.

    Examples
    --------
    >>> class Counter:
    ...     count = 1
    >>> one = Counter()
    >>> other = forked(one)
    >>> other.count += 1
    >>> one.count, other.count
    (1, 2)
    """
    kind = type(original)
    other = kind.__new__(kind)
    attributes = dict(vars(original))
    for name in getattr(kind, "learners", ()):
        attributes[name] = forked(attributes[name])
    other.__dict__ = attributes
    return other


def at_once(*calls: tuple[Any, ...]) -> None:
    """Make several calls of functions of C, with nothing in between.

    Parameters
    ----------
    *calls : tuple
        A function of C that calls no Python and handles no signals, such as ``setattr`` or a method of a dict, and its
        arguments. Those that may fail, for want of memory, come first. NumPy handles signals where it makes an array
        of a list.

    Examples
    --------
    >>> found = {}
    >>> at_once((found.setdefault, "one", 1), (found.setdefault, "two", 2))
    >>> found
    {'one': 1, 'two': 2}
    """
    deque(starmap(call, calls), maxlen=0)


def was_interrupted(error: BaseException) -> bool:
    """Return whether an error is what compiled code has made of Ctrl-C.

    Parameters
    ----------
    error : exception
        What was raised.

    Returns
    -------
    bool
        Whether a KeyboardInterrupt is the cause of it, or the cause of its cause. One that was merely being handled
        when the error occurred does not count.

    Examples
    --------
    >>> error = SystemError()
    >>> error.__cause__ = KeyboardInterrupt()
    >>> was_interrupted(error), was_interrupted(SystemError())
    (True, False)
    """
    cause: BaseException | None = error
    seen: set[int] = set()  # an error may be its own cause
    while cause is not None and not isinstance(cause, KeyboardInterrupt) and id(cause) not in seen:
        seen.add(id(cause))
        cause = cause.__cause__
    return isinstance(cause, KeyboardInterrupt)


class _Interruptible:
    """What :func:`interruptible` returns; a generator would take several times as long."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and was_interrupted(error):
            raise KeyboardInterrupt from None


def interruptible() -> AbstractContextManager[None]:
    """Let Ctrl-C end what is inside as a KeyboardInterrupt, also where compiled code has made another error of it."""
    return _INTERRUPTIBLE


_INTERRUPTIBLE = _Interruptible()
