"""Streams of random numbers that depend on their purpose, never on the order in which they are used.

A seed is an integer, a ``numpy.random.SeedSequence``, or ``None`` for fresh entropy. ``stream(seed, *key)`` is the
generator at ``key`` below the seed: the same seed and key give the same numbers on any number of workers.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.random import PCG64, Generator, Philox, SeedSequence
from numpy.random.bit_generator import ISeedSequence

from sparsebandits.arguments import ArgumentTypeError, check_count, shown

Seed: TypeAlias = int | SeedSequence | None

INSTANCE_STREAM, NOISE_STREAM, POLICY_STREAM = 0, 1, 2
"""Below the seed of a trial: what the instance, the noise and the policy are made from."""

COIN_STREAM, ENGINE_STREAM, OBSERVER_STREAM = 0, 1, 3
"""Below the seed of a policy: the rule's coin flips, the posterior's draws, and those of an observer."""

CONTEXT_STREAM = 0x636F6E74
"""Below the seed of an instance: the contexts of its rounds."""

LEVEL_STREAM = 0x6C65766C
"""Below the seed 0: the standard normal number of each draw, from which a rule makes the level of rewards."""

TUNING_STREAM = 0x74756E65
"""Below the seed of an experiment: the root of the trials that parameters are tuned on."""


def child(seed: Seed, *key: int) -> SeedSequence:
    """Return the seed at ``key`` below ``seed``, without changing ``seed``.

    Parameters
    ----------
    seed : int, SeedSequence or None
        The seed; None for fresh entropy, which is different in every call.
    *key : int
        The path from the seed to its descendant.

    Returns
    -------
    SeedSequence

    Raises
    ------
    ArgumentError
        If the seed is something else, or negative.
    """
    if not isinstance(seed, SeedSequence):
        if seed is not None and not hasattr(seed, "__index__"):
            raise ArgumentTypeError("seed", "a whole number, a SeedSequence or None", shown(seed))
        seed = SeedSequence(None if seed is None else check_count("seed", seed, least=0, most=None))
    return SeedSequence(entropy=seed.entropy, spawn_key=(*seed.spawn_key, *key))


def stream(seed: Seed, *key: int) -> Generator:
    """Return the generator at ``key`` below ``seed``.

    Parameters
    ----------
    seed : int, SeedSequence or None
        The seed; None for fresh entropy, which is different in every call.
    *key : int
        The path from the seed to its descendant.

    Returns
    -------
    Generator

    Examples
    --------
    >>> stream(7, 2).integers(100) == stream(child(7, 2)).integers(100)
    np.True_
    """
    return Generator(PCG64(child(seed, *key)))


class _NoSeed(ISeedSequence):
    """Zeros, for a generator whose state is set at once: real seeds take longer to make than the copy of a state."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return np.zeros(n_words, dtype)


_NO_SEED: Any = _NoSeed()


def generator_state(generator: Generator) -> dict[str, Any]:
    """Return the state of a generator as plain integers and strings.

    Parameters
    ----------
    generator : Generator
        It is not changed.

    Returns
    -------
    dict
    """
    return dict(generator.bit_generator.state)


def copied(generator: Generator) -> Generator:
    """Return a generator that gives the same numbers, and leaves the original where it is.

    Parameters
    ----------
    generator : Generator
        One that :func:`stream` returned.

    Returns
    -------
    Generator

    Examples
    --------
    >>> one = stream(7)
    >>> copied(one).integers(100) == one.integers(100)
    np.True_
    """
    bits: Any = PCG64(_NO_SEED)
    bits.state = generator.bit_generator.state
    return Generator(bits)


def restore_generator(generator: Generator, state: Mapping[str, Any]) -> None:
    """Set the state of a generator.

    Parameters
    ----------
    generator : Generator
        It is changed in place.
    state : mapping
        What :func:`generator_state` returned.
    """
    generator.bit_generator.state = dict(state)


class IndexedNormals:
    """Standard normals addressed by ``(round, action)``.

    Two policies that play the same action in the same round of a trial receive the same number, whatever else they have
    done: common random numbers. Nothing is stored. Philox is a counter-based generator (Salmon et al. 2011), so the
    number is computed from its address.

    Parameters
    ----------
    seed : int, SeedSequence or None
        The seed; None for fresh entropy.

    Examples
    --------
    >>> noise = IndexedNormals(0)
    >>> noise(3, 5) == noise(3, 5), noise(3, 5) == noise(5, 3)
    (True, False)
    """

    def __init__(self, seed: Seed) -> None:
        self._bits = Philox(key=child(seed).generate_state(2, np.uint64))
        self._generator = Generator(self._bits)
        self._state: Any = dict(self._bits.state)

    def __call__(self, round_number: int, action: int) -> float:
        """Return the normal at this address.

        Parameters
        ----------
        round_number, action : int
            The address.

        Returns
        -------
        float
        """
        # The two low words of the 256-bit counter are left to the generator: one normal may consume several numbers.
        counter = np.array([0, 0, action, round_number], dtype=np.uint64)
        self._state["state"] = {"counter": counter, "key": self._state["state"]["key"]}
        self._bits.state = self._state
        return float(self._generator.standard_normal())
