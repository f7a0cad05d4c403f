"""What an attack found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """Counts of one attack; every attempt is counted in exactly one of the last four.

    Attributes
    ----------
    attack : str
        What was tried.
    tried : int
        Number of attempts.
    refused : int
        Attempts that ended with the documented error, and changed nothing.
    identical : int
        Attempts after which everything is as it should be.
    silent : int
        Attempts after which something is wrong, and nothing said so.
    crashed : int
        Attempts that ended with any other error, or killed the process.
    """

    attack: str
    tried: int
    refused: int
    identical: int
    silent: int
    crashed: int
