"""Who takes part in the sections ``decisions`` and ``regret``, and how one plays.

Every library is given the noise variance and that θ has length 1, so that the prior variance of a coordinate is 1/d.
``SparseIDS, noise known`` has the same knowledge, and learns sparsity and effect size. Beside it stand SparseIDS and
SparseTS with known hyperparameters (they also know how many features matter) and SparseIDS with its default prior
(which learns the noise too).

``SparseIDS`` and ``SparseIDS, default prior`` have the default rule and the default number of draws. ``SparseIDS,
10,000 draws`` and ``SparseIDS, noise known`` have the paper's rule with 10,000 draws.
"""

import math
from collections.abc import Callable, Sequence
from textwrap import fill
from time import perf_counter
from typing import Any

import sparsebandits as sb
from benchmarks import PAPERS
from benchmarks.peers import PEERS, Competitor, Entry, Problem
from sparsebandits.randomness import IndexedNormals, Seed

LIBRARY = "sparsebandits"


class Ours:
    """A policy of this package; the decision is kept between ``ask`` and ``tell``."""

    def __init__(self, policy: sb.Policy) -> None:
        self._policy = policy
        self._decision: sb.Decision

    def ask(self) -> int:
        """Ask the policy."""
        self._decision = self._policy.ask()
        return self._decision.action

    def tell(self, action: int, reward: float) -> None:
        """Tell the policy."""
        self._policy.tell(self._decision, reward)


def dense(name: str, kind: str, policy: Callable[..., sb.Policy], note: str, **settings: Any) -> Entry:
    def make(problem: Problem) -> Competitor:
        prior = sb.GaussianPrior(variance=problem.prior_variance)
        known: dict[str, Any] = {"noise_variance": problem.noise_variance, "seed": problem.seed, "intercept": False}
        return Ours(policy(problem.actions, prior, **known, **settings))

    return Entry(name, LIBRARY, kind, make, note)


def sparse(name: str, kind: str, policy: Callable[..., sb.Policy], note: str, **settings: Any) -> Entry:
    def make(problem: Problem) -> Competitor:
        dimension = problem.actions.shape[1]
        prior = sb.SpikeSlab(inclusion=problem.sparsity / dimension, slab_variance=1.0 / problem.sparsity)
        known: dict[str, Any] = {"noise_variance": problem.noise_variance, "seed": problem.seed, "intercept": False}
        return Ours(policy(problem.actions, prior, **known, **settings))

    return Entry(name, LIBRARY, kind, make, note)


def make_default(problem: Problem) -> Competitor:
    return Ours(sb.SparseIDS(problem.actions, seed=problem.seed))


def make_noise_known(problem: Problem) -> Competitor:
    known: dict[str, Any] = {"noise_variance": problem.noise_variance, "seed": problem.seed, "intercept": False}
    return Ours(sb.SparseIDS(problem.actions, **known, **PAPERS))


LIN_TS = dense("LinTS", "TS", sb.LinTS, "also estimates the probability of each decision, from 100 standing draws")
LIN_UCB = dense(
    "LinUCB",
    "UCB",
    sb.LinUCB,
    "keeps the variances of fixed actions up to date; other actions in each round would cost more",
    width=Problem.width,
)
LINEAR_IDS = dense(
    "LinearIDS, 1,000 draws",
    "IDS",
    sb.LinearIDS,
    "reweights its draws and makes them anew when their effective number has halved",
    n_draws=1000,
)
LARGE_IDS = dense("LinearIDS, 10,000 draws", "IDS", sb.LinearIDS, "the same", n_draws=10_000)
SPARSE_IDS = sparse(
    "SparseIDS", "IDS", sb.SparseIDS, "knows that a tenth of the features matters; default rule and number of draws"
)
LARGE_SPARSE_IDS = sparse(
    "SparseIDS, 10,000 draws",
    "IDS",
    sb.SparseIDS,
    "knows that a tenth of the features matters; the paper's rule",
    **PAPERS,
)
SPARSE_TS = sparse(
    "SparseTS, 10,000 draws", "TS", sb.SparseTS, "knows that a tenth of the features matters", n_draws=PAPERS["n_draws"]
)
DEFAULT_IDS = Entry(
    "SparseIDS, default prior",
    LIBRARY,
    "IDS",
    make_default,
    "is given the actions only, and learns sparsity, effect size and noise; default rule and number of draws",
)
NOISE_KNOWN_IDS = Entry(
    "SparseIDS, noise known",
    LIBRARY,
    "IDS",
    make_noise_known,
    "learns sparsity and effect size; the paper's rule, 10,000 draws",
)
OURS = (LIN_TS, LIN_UCB, LINEAR_IDS, LARGE_IDS, SPARSE_IDS, LARGE_SPARSE_IDS, SPARSE_TS, DEFAULT_IDS)
LIBRARIES = tuple(dict.fromkeys(entry.library for entry in PEERS))


def play(
    competitor: Competitor,
    instance: sb.environments.Instance,
    rounds: int,
    noise_seed: Seed,
    clock: Callable[[], float] = perf_counter,
) -> tuple[float, float]:
    """Return decisions per second, by the time inside ``ask`` and ``tell``, and the regret from true means."""
    noise, deviation = IndexedNormals(noise_seed), math.sqrt(instance.noise_variance)
    seconds = regret = 0.0
    for t in range(rounds):
        asked = clock()
        action = competitor.ask()
        seconds += clock() - asked
        reward = float(instance.means[action]) + deviation * noise(t, action)
        regret += float(instance.gaps[action])
        told = clock()
        competitor.tell(action, reward)
        seconds += clock() - told
    return rounds / seconds, regret


def reason(entry: Entry, error: Exception) -> str:
    """Return why a peer has no figures; ours have to run."""
    if entry.library == LIBRARY:
        raise error
    return f"{'not installed' if isinstance(error, ImportError) else 'failed'} ({type(error).__name__}: {error})"


def listed(title: str, names: Sequence[str]) -> str:
    """Return names after a title, in lines of the page's width that break between names alone."""
    whole = "; ".join(name.replace(" ", "\u00a0") for name in names)  # a space that does not break
    return fill(f"{title}: {whole or 'none'}", 120, subsequent_indent="  ").replace("\u00a0", " ")
