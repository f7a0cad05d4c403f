"""Work on many particles in blocks, by one thread or several: compiled kernels let other threads run meanwhile.

Blocks do not depend on the number of threads, and each has a random state of its own, so the result is the same to the
byte for any number of them.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

BLOCK = 2048
"""Number of particles in a block."""

Found = TypeVar("Found")


def in_blocks(work: Callable[[slice], Found], size: int, threads: int) -> list[Found]:
    """Return what some work gives for each block, in order.

    Parameters
    ----------
    work : callable
        Takes the slice of a block.
    size : int
        Number of particles.
    threads : int
        Number of threads.

    Returns
    -------
    list
        One result per block.

    Examples
    --------
    >>> in_blocks(lambda block: block.stop - block.start, 5000, threads=2)
    [2048, 2048, 904]
    """
    blocks = [slice(start, min(start + BLOCK, size)) for start in range(0, size, BLOCK)]
    if threads == 1 or len(blocks) == 1:
        return [work(block) for block in blocks]
    with ThreadPoolExecutor(min(threads, len(blocks))) as pool:  # made anew: a pool does not survive a fork
        return list(pool.map(work, blocks))
