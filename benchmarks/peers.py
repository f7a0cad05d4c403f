"""Other packages behind two methods, ``ask`` and ``tell``, so that they can be timed on the same problem.

The problem is a linear bandit with one θ shared by K fixed actions that are described by features. Each peer
is used through its public interface, in the fastest way found that still solves this problem, with the same
prior N(0, prior variance) of each coordinate and the same known noise variance. For packages that speak of
ridge regression these are λ = noise variance / prior variance, and a factor √(noise variance) on the width of
a bound or on the spread of a draw. One disjoint model an arm, which most of these packages offer first, would
be another problem. Vowpal Wabbit knows neither prior nor noise: it is stochastic gradient descent on the same features.

A peer is imported when its competitor is made, so that one that is missing does not stop the others.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sparsebandits.arguments import FloatArray


@dataclass(frozen=True, eq=False)
class Problem:
    """What a competitor may know: the actions ``(K, d)``, the noise, how many features matter, a seed."""

    actions: FloatArray
    noise_variance: float
    sparsity: int  # for those who can use it: no peer can
    seed: int
    width: float = 2.0  # standard deviations that an upper bound lies above the mean

    @property
    def prior_variance(self) -> float:
        """Prior variance of each coordinate of θ, which has length 1."""
        return 1.0 / int(self.actions.shape[1])

    @property
    def penalty(self) -> float:
        """λ of the ridge regression whose estimate is the posterior mean."""
        return self.noise_variance / self.prior_variance


class Competitor(Protocol):
    """Decides one action at a time and learns from one reward at a time."""

    def ask(self) -> int:
        """Return the row of the action to play."""

    def tell(self, action: int, reward: float) -> None:
        """Learn the reward of the action that was just asked for."""


@dataclass(frozen=True)
class Entry:
    """One line of the comparison."""

    name: str
    library: str
    kind: str  # "TS", "UCB", "IDS" or "SGD"
    make: Callable[[Problem], Competitor]
    note: str = ""  # what a reader has to know to judge the line
    learns: bool = True  # whether it is a sound version of its kind; the section on regret shows it
    slow: bool = False  # so slow that it is measured on fewer rounds and trials


class BayesianBanditsAgent:
    """The agent with one learner for all arms; ``policy`` names one of the package's policies.

    The featurizer hands over the whole matrix as a view when all arms are asked for, at no cost to the peer.
    """

    def __init__(self, problem: Problem, policy: str, **settings: Any) -> None:
        import bayesianbandits as bb

        rows = np.array(problem.actions)

        def features(context: object, tokens: Sequence[int]) -> FloatArray:
            return (rows if len(tokens) == len(rows) else rows[tokens]).T[np.newaxis]

        self._context = np.zeros((1, 1))  # there is no context besides the actions; the features ignore it
        self._agent = bb.LipschitzContextualAgent(
            arms=[bb.Arm(token, learner=None) for token in range(len(rows))],
            policy=getattr(bb, policy)(**settings),
            arm_featurizer=bb.FunctionArmFeaturizer(features),
            learner=bb.NormalRegressor(alpha=1.0 / problem.prior_variance, beta=1.0 / problem.noise_variance),
            random_seed=problem.seed,
        )

    def ask(self) -> int:
        """Pull; the agent remembers the arm for the update."""
        return int(self._agent.pull(self._context)[0])

    def tell(self, action: int, reward: float) -> None:
        """Update the arm that was pulled last."""
        self._agent.update(self._context, np.array([reward]))


class BayesianBanditsModel:
    """Thompson sampling by hand on one of the package's models, which saves what the agent costs."""

    def __init__(self, rows: FloatArray, model: Any) -> None:
        self._rows, self._model = np.array(rows), model

    def offer(self, rows: FloatArray) -> None:
        """Choose from other rows from now on."""
        self._rows = np.array(rows)

    def ask(self) -> int:
        """Play the best action under one draw."""
        return int(self._model.sample(self._rows)[0].argmax())

    def tell(self, action: int, reward: float) -> None:
        """Condition on one observation."""
        self._model.partial_fit(self._rows[action : action + 1], np.array([reward]))


def _bayesianbandits_regressor(problem: Problem) -> Competitor:
    import bayesianbandits as bb

    precisions = {"alpha": 1.0 / problem.prior_variance, "beta": 1.0 / problem.noise_variance}
    return BayesianBanditsModel(problem.actions, bb.NormalRegressor(**precisions, random_state=problem.seed))


def _contextualbandits_model(problem: Problem, rows: NDArray[Any], **settings: Any) -> Any:
    from contextualbandits.linreg import LinearRegression

    model = LinearRegression(lambda_=problem.penalty, fit_intercept=False, **settings)
    # It cannot draw before it is fitted: one row of zeros is no evidence and leaves exactly the prior.
    return model.fit(np.zeros_like(rows[:1]), np.zeros_like(rows[:1, 0]))


class ContextualBanditsUCB:
    """Sherman and Morrison's updates in single precision: the package's defaults, and its fastest mode."""

    def __init__(self, problem: Problem) -> None:
        self._rows = np.array(problem.actions, dtype=np.float32)
        self._model = _contextualbandits_model(problem, self._rows, method="sm", use_float=True)
        self._alpha = problem.width * math.sqrt(problem.noise_variance)

    def ask(self) -> int:
        """Play the action with the largest upper bound."""
        return int(self._model.predict_ucb(self._rows, alpha=self._alpha).argmax())

    def tell(self, action: int, reward: float) -> None:
        """Update with one row."""
        self._model.partial_fit(self._rows[action : action + 1], np.array([reward], dtype=np.float32))


class ContextualBanditsTS:
    """One draw for all rows, with ``precompute_ts`` as the documentation recommends.

    Release 0.3.30 draws θ with covariance X'X + λI where its inverse belongs, in every mode, so that the
    spread grows with the data and it does not learn; no public setting undoes this. It is timed as it is.
    Cholesky's method without ``precompute_ts`` is two to three times as fast when it runs, but then it draws
    from a matrix one triangle of which was never written, and fails or not by what the memory held before.
    """

    def __init__(self, problem: Problem) -> None:
        self._rows = np.array(problem.actions, dtype=np.float32)
        self._v_sq = problem.noise_variance
        self._rng = np.random.default_rng(problem.seed)
        settings = {"precompute_ts": True, "precompute_ts_multiplier": self._v_sq, "use_float": True}
        self._model = _contextualbandits_model(problem, self._rows, method="chol", calc_inv=False, **settings)

    def ask(self) -> int:
        """Play the best action under one draw."""
        draw = self._model.predict_thompson(self._rows, v_sq=self._v_sq, random_state=self._rng)
        return int(draw.argmax())

    def tell(self, action: int, reward: float) -> None:
        """Update with one row."""
        self._model.partial_fit(self._rows[action : action + 1], np.array([reward], dtype=np.float32))


class MABWiser:
    """One arm for all: the actions are contexts of a single arm, and the best context is played.

    This is the only way to one shared θ in this package, and not one that it was made for: it builds K
    dictionaries a decision, and LinTS draws a θ for each row instead of one for all, which costs more and
    explores otherwise.
    """

    ARM = "any"

    def __init__(self, problem: Problem, policy: str, width: float) -> None:
        from mabwiser.mab import MAB, LearningPolicy

        self._rows = np.array(problem.actions)
        self._decision = np.array([self.ARM])
        alpha = width * math.sqrt(problem.noise_variance)
        self._bandit = MAB(
            [self.ARM],
            getattr(LearningPolicy, policy)(alpha=alpha, l2_lambda=problem.penalty),
            seed=problem.seed,
        )
        # It cannot predict before it is fitted: one row of zeros is no evidence and leaves exactly the prior.
        self._bandit.fit(self._decision, np.zeros(1), np.zeros_like(self._rows[:1]))

    def ask(self) -> int:
        """Play the row with the largest expectation."""
        values = [expectation[self.ARM] for expectation in self._bandit.predict_expectations(self._rows)]
        return values.index(max(values))

    def tell(self, action: int, reward: float) -> None:
        """Fit the one arm to one row more."""
        self._bandit.partial_fit(self._decision, np.array([reward]), self._rows[action : action + 1])


class Coba:
    """A linear learner of the package on action features alone; it is handed the actions as tuples in each round.

    Its λ is 1 and cannot be set, so the features are divided by √λ, which is the same regression. Encoding K tuples
    a round in Python is what costs; its interface has no way to hand over a matrix.
    """

    def __init__(self, problem: Problem, learner: str, **settings: float) -> None:
        import coba

        rows = problem.actions / math.sqrt(problem.penalty)
        self._actions = [tuple(row) for row in rows.tolist()]
        self._row = {action: row for row, action in enumerate(self._actions)}
        self._learner = getattr(coba, learner)(features=["a"], seed=problem.seed, **settings)
        self._probability = 1.0

    def ask(self) -> int:
        """Predict; the answer is the action itself."""
        action, self._probability = self._learner.predict(None, self._actions)
        return self._row[action]

    def tell(self, action: int, reward: float) -> None:
        """Learn from one action."""
        self._learner.learn(None, self._actions[action], reward, self._probability)


class VowpalWabbit:
    """Contextual bandits with action-dependent features; the weights are shared by all actions.

    The actions are parsed once and used in each round, which gives the same decisions as text does and is some thirty
    times as fast; only the action that was played is parsed anew, with its cost, to be learnt from.
    """

    def __init__(self, actions: FloatArray, seed: int, options: str) -> None:
        from vowpalwabbit import Example, Workspace

        self._workspace = Workspace(f"--quiet --cb_explore_adf --random_seed {seed} {options}")
        self._parsed = Example
        self._probabilities: list[float] = []
        self._random = random.Random(seed)
        self.offer(actions)

    def offer(self, actions: FloatArray) -> None:
        """Choose from these actions from now on."""
        self._rows = [f"|a {_numbered(row)}" for row in actions.tolist()]
        self._examples = self._workspace.parse(self._rows)
        self._numbers = range(len(self._rows))

    def ask(self) -> int:
        """Draw from the probabilities that it predicts."""
        self._probabilities = self._workspace.predict(self._examples)
        return self._random.choices(self._numbers, self._probabilities)[0]

    def tell(self, action: int, reward: float) -> None:
        """Learn a cost, with the probability of the action."""
        unlabelled = self._examples[action]
        label = f"0:{-reward}:{self._probabilities[action]}"
        self._examples[action] = self._parsed(self._workspace, f"{label} {self._rows[action]}")
        self._workspace.learn(self._examples)
        self._examples[action] = unlabelled


class VowpalWabbitProducts:
    """The same where actions are all products of a user's features with an item's: it multiplies them itself.

    Decisions are those of :class:`VowpalWabbit` up to rounding, and the text of a user and of the items is a twentieth
    of that of their products. It is parsed in each round, since parsed items remember the user they were parsed with.

    Parameters
    ----------
    items : array of shape (K, q)
        Features of the items.
    seed : int
        Seed.
    options : str
        Options of Vowpal Wabbit.
    """

    def __init__(self, items: FloatArray, seed: int, options: str) -> None:
        from vowpalwabbit import Workspace

        products = "--interactions ua --ignore_linear u --ignore_linear a"
        self._workspace = Workspace(f"--quiet --cb_explore_adf --random_seed {seed} {options} {products}")
        self._rows = [f"|a {_numbered(row)}" for row in items.tolist()]
        self._first = items[0]
        self._user = ""
        self._probabilities: list[float] = []
        self._random = random.Random(seed)

    def offer(self, actions: FloatArray) -> None:
        """Choose from the products of a user with all items, user by user."""
        user = self._first @ actions[0].reshape(len(self._first), -1) / (self._first @ self._first)
        self._user = f"shared |u {_numbered(user.tolist())}"

    def ask(self) -> int:
        """Draw from the probabilities that it predicts."""
        self._probabilities = self._workspace.predict([self._user, *self._rows])
        return self._random.choices(range(len(self._rows)), self._probabilities)[0]

    def tell(self, action: int, reward: float) -> None:
        """Learn a cost, with the probability of the action."""
        lines = [self._user, *self._rows]
        lines[action + 1] = f"0:{-reward}:{self._probabilities[action]} {self._rows[action]}"
        self._workspace.learn(lines)


def _numbered(row: Sequence[float]) -> str:
    """Return numbers as features of Vowpal Wabbit, which are named by their place."""
    return " ".join(f"{j}:{x:.9g}" for j, x in enumerate(row))


def _quantile(width: float) -> float:
    """Return the level of the normal quantile that lies ``width`` standard deviations above the mean."""
    return 0.5 * (1.0 + math.erf(width / math.sqrt(2.0)))


IDS_SAMPLES = 1000

_WRONG_COVARIANCE = "draws θ with the inverse of the covariance it should have (release 0.3.30); it does not learn"
_A_DRAW_A_ROW = "draws a θ for each of the K rows where one for all is enough; its interface has no other way"
_TUNED = "single precision, with the best of some settings on eight other instances: it takes no prior and no noise"

PEERS = (
    Entry("bayesianbandits TS", "bayesianbandits", "TS", lambda p: BayesianBanditsAgent(p, "ThompsonSampling")),
    Entry(
        "bayesianbandits TS, no agent",
        "bayesianbandits",
        "TS",
        _bayesianbandits_regressor,
        "its regressor without its agent: faster, but the loop is the user's own",
    ),
    Entry(
        "bayesianbandits UCB",
        "bayesianbandits",
        "UCB",
        lambda p: BayesianBanditsAgent(p, "UpperConfidenceBound", alpha=_quantile(p.width), samples=1000),
        "estimates the quantile from 1,000 samples, its default: it serves posteriors that are not normal",
    ),
    Entry(
        f"bayesianbandits IDS, {IDS_SAMPLES:,} samples",
        "bayesianbandits",
        "IDS",
        lambda p: BayesianBanditsAgent(p, "InformationDirectedSampling", samples=IDS_SAMPLES),
        "draws all its samples afresh in each round, also for actions that never change",
    ),
    Entry(
        "contextualbandits UCB",
        "contextualbandits",
        "UCB",
        ContextualBanditsUCB,
        "computes in single precision, its default; ours in double",
    ),
    Entry("contextualbandits TS", "contextualbandits", "TS", ContextualBanditsTS, _WRONG_COVARIANCE, learns=False),
    Entry("mabwiser UCB, one arm", "mabwiser", "UCB", lambda p: MABWiser(p, "LinUCB", width=p.width)),
    Entry("mabwiser TS, one arm", "mabwiser", "TS", lambda p: MABWiser(p, "LinTS", width=1.0), _A_DRAW_A_ROW),
    Entry(
        "coba UCB",
        "coba",
        "UCB",
        lambda p: Coba(p, "LinUCBLearner", alpha=p.width * math.sqrt(p.noise_variance)),
        "encodes the features of all actions in Python in each round",
        slow=True,
    ),
    Entry(
        "coba TS",
        "coba",
        "TS",
        lambda p: Coba(p, "LinTSLearner", v=p.noise_variance),
        "the same; its draws have one fixed seed (release 8.1.0)",
        slow=True,
    ),
    Entry(
        "vowpalwabbit squarecb",
        "vowpalwabbit",
        "SGD",
        lambda p: VowpalWabbit(p.actions, p.seed, "--noconstant --squarecb --gamma_scale 1000"),
        f"actions are parsed once, not in each round; {_TUNED}",
    ),
    Entry(
        "vowpalwabbit bag",
        "vowpalwabbit",
        "SGD",
        lambda p: VowpalWabbit(p.actions, p.seed, "--noconstant --bag 5 --learning_rate 4"),
        f"five bootstrapped models; {_TUNED}",
    ),
)
