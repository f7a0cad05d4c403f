"""What all posterior engines share, so that an engine's file holds its algorithm alone.

An engine learns from observations (x, y, weight) and gives weighted draws of θ. It keeps each argument of its
constructor under the argument's own name, as scikit-learn's estimators do: what a saved policy has to remember of an
engine follows from that (``policies/codec.py``).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    LARGEST,
    MOST_DRAWS,
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    check_array,
    check_columns,
    check_count,
    check_observations,
    check_positive,
    column_order,
    shown,
)
from sparsebandits.atomic import forked, interruptible
from sparsebandits.layouts import GENERATOR, Absent, Layout, Maybe, Names, Number, Reals, read, wrong
from sparsebandits.model.counts import Counts
from sparsebandits.model.evidence import Evidence
from sparsebandits.model.families import LARGEST_LOG, Linked, Poisson
from sparsebandits.model.features import Level
from sparsebandits.model.forgetting import Discount
from sparsebandits.model.limits import check_sums, slab, unit_of
from sparsebandits.model.rewards import Gaussian, Rewards
from sparsebandits.model.tails import Spread
from sparsebandits.posteriors.diagnostics import Health
from sparsebandits.posteriors.draws import Draws, moments
from sparsebandits.randomness import Seed, generator_state, restore_generator, stream
from sparsebandits.tables import Rows, Table

TIED = "x: features so large and so nearly copies of each other that rounding hides the prior; scale them down"

ROUNDING = 1e-12
"""Share of the level of rewards below which they do not differ."""

LEAST_DRAWS = 10
"""With fewer draws, the effective number could hardly halve, and stale draws would never be replaced."""

TINY = 1e-6
"""Probability below which a summary prints a bound; draws do not resolve smaller ones."""


class Engine(ABC):
    """Posterior of θ; a subclass adds how to condition on observations and how to draw.

    Parameters
    ----------
    prior : prior of θ
        One that the engine serves; the engine refuses others when it is made.
    dimension : int
        Number of features d.
    rewards : Rewards
        How a reward arises from θ. If Gaussian rewards have an intercept, that is integrated out here, and the subclass
        sees contrasts (``model/features.py``). For clicks and counts it is the subclass that learns the intercept: the
        level at ``origin``, which is zero until :meth:`set_origin`.
    n_draws : int
        Number of draws that :meth:`draws` gives.
    seed : int, SeedSequence or None
        Seed of the engine's random numbers.
    least_draws : int, default=10
        Smallest ``n_draws`` that the engine accepts.
    """

    chains = 1  # number of chains; draws are in the order of chains
    picks_from_draws = True  # whether ``sample`` picks from ``draws()`` by weight; a closed form draws afresh
    feature_names: tuple[str, ...] | None = None
    gained: float | None = None  # log evidence of the last rewards given those before, if the engine has an estimate

    saved: ClassVar[Layout] = {
        "evidence": Maybe(Evidence.saved),
        "counts": Absent(Counts.saved),
        "origin": Absent(Reals("dimension")),
        "level": Maybe(Level.saved),
        "spread": Spread.saved,
        "unit": Number(low=0.0, high=LARGEST),
        "clock": Absent(Number(low=-LARGEST, high=LARGEST)),
        "rng": GENERATOR,
        "feature_names": Maybe(Names("dimension")),
    }
    """What :meth:`state` returns; an engine that saves more adds to it."""

    def __init__(
        self, prior: Any, dimension: int, rewards: Rewards, n_draws: int, seed: Seed, least_draws: int = LEAST_DRAWS
    ) -> None:
        self.prior = prior
        self.dimension = check_count("dimension", dimension)
        self.rewards = rewards
        self.n_draws = check_count("n_draws", n_draws, least_draws, MOST_DRAWS)
        # Of contrasts, if Gaussian rewards have an intercept.
        self.evidence: Any = (Counts if isinstance(rewards, Linked) else Evidence)(self.dimension)
        self.level = Level(np.zeros(self.dimension)) if rewards.intercept and not isinstance(rewards, Linked) else None
        self.origin: FloatArray | None = None
        self.spread = Spread()
        self.unit = 0.0 if getattr(rewards.variance, "of_rewards", False) else 1.0  # zero while it is not known
        self.clock: float | None = None  # time of the newest reward, if rewards are discounted
        self._rng = stream(seed)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.prior!r}, dimension={self.dimension}, rewards={self.rewards!r}, "
            f"n_draws={self.n_draws}; {round(self.evidence.count, 1)} observations)"
        )

    @property
    def forgetting(self) -> Discount | None:
        """How old rewards are discounted; None if they are not."""
        return self.rewards.forgetting

    @property
    def row(self) -> int:
        """Number of columns of what :meth:`absorb` takes."""
        return self.dimension

    @property
    @abstractmethod
    def noise_variance(self) -> float:
        """Noise variance of a reward of weight one, or its posterior mean where it is learnt."""

    @abstractmethod
    def condition(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None, counts: FloatArray | None = None
    ) -> None:
        """Condition on rewards without an intercept, y = ⟨x, θ⟩ + noise.

        Called on a fork by :meth:`absorb`: it may add to ``evidence``, which is a copy, and replaces everything else
        that it changes, so that the arrays of the original stay as they are.

        Parameters
        ----------
        x : array of shape (n, d)
            Features.
        y : array of shape (n,)
            Rewards.
        weights : array of shape (n,), optional
            Weight w of each observation, whose noise variance is σ² / w; by default 1. If rewards are discounted, this
            times their share.
        counts : array of shape (n,), optional
            What each observation counts in n, if rewards are discounted, as σ^(−n) is a factor of the likelihood; by
            default 1. The engine has been told to :meth:`forget` before.
        """

    def forget(self, factor: float) -> None:
        """Let everything so far count less; on a fork, and always before :meth:`condition`.

        Parameters
        ----------
        factor : float
            Power that the likelihood so far is raised to, from 0 to 1.
        """
        self.evidence = self.evidence.scaled(factor)

    def absorb(
        self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None, times: FloatArray | None = None
    ) -> None:
        """Learn from a batch that has been checked: all of it, or nothing if anything is raised.

        Parameters
        ----------
        x : array of shape (n, d)
            Features.
        y : array of shape (n,)
            Rewards.
        weights : array of shape (n,), optional
            Weight w of each observation, whose noise variance is σ² / w; by default 1.
        times : array of shape (n,), optional
            Time of each observation, in the unit of ``forgetting``; by default each is one unit after the one before.
            They count only if rewards are discounted.
        """
        fork = forked(self)
        fork.gained = None
        level, spread = None, self.spread
        if isinstance(self.rewards, Linked):
            x = x if self.origin is None else x - self.origin
        if self.rewards.tails is not None:
            own = self.spread.weights(y, self.rewards.tails)
            spread = self.spread.after(y, own)
            if (own < 1.0).any():
                weights = own if weights is None else own * weights
        before, passage = self.level, None
        if self.forgetting is not None and len(y):
            passage = self.forgetting.passage(self.clock, times, len(y))
            x, y, weights = x[passage.order], y[passage.order], passage.weights(weights)
            before = None if before is None else before.scaled(passage.factor)
            fork.clock = passage.clock
        if before is not None:
            x, y, level = before.contrasts(x, y, weights)
            weights = None
        counts = None if passage is None else passage.counts(None if level is None else len(y))
        least = 0.0 if level is None else ROUNDING * abs(level.reward)  # equal rewards differ by rounding
        if self.unit == 0.0 and (np.abs(y) > least).any():
            squares = y * y if weights is None else weights * y * y
            fork.set_unit(unit_of(float(squares.sum() / (len(y) if counts is None else counts.sum()))))
        if passage is not None:
            fork.forget(passage.factor)
            fork.condition(x, y, weights, counts)
        elif len(y):
            fork.evidence = self.evidence.copied()
            fork.condition(x, y, weights)
        fork.level, fork.spread = level, spread
        self.__dict__ = vars(fork)

    def set_origin(self, origin: FloatArray) -> None:
        """Set where the intercept of clicks or counts is the level of rewards, before anything is learnt.

        The prior of the intercept is about the level there; with the mean features of the actions, adding a number to a
        feature changes nothing.

        Parameters
        ----------
        origin : array of shape (d,)
            Features.
        """
        self.origin = origin

    def check_limits(self, x: FloatArray, y: FloatArray, weights: FloatArray | None = None) -> None:
        """Refuse observations beyond what an engine over models can tell apart (``model/limits.py``).

        Parameters
        ----------
        x : array of shape (n, d)
            Features, relative to their means if there is an intercept.
        y : array of shape (n,)
            Rewards, likewise.
        weights : array of shape (n,), optional
            Weight of each observation; by default 1.

        Raises
        ------
        ArgumentValueError
            If they are outside of the range.
        """
        if self.unit == 0.0:  # all rewards are zero so far
            return
        weighted_x, weighted_y = (x, y) if weights is None else (x * weights[:, np.newaxis], y * weights)
        squares = self.evidence.squares + np.einsum("ij,ij->j", weighted_x, x)
        check_sums(self.prior, self._slab, self.noise, squares, self.evidence.square + float(weighted_y @ y))

    @cached_property
    def _slab(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the slab, as limits are checked with them."""
        return slab(self.prior, self.dimension)

    def check_saved_limits(self) -> None:
        """Refuse a saved state whose sums no observations within the limits could have.

        Raises
        ------
        SaveFileError
            If they are outside of the range.
        """
        try:
            self.check_limits(np.empty((0, self.dimension)), np.empty(0))
        except ArgumentValueError as error:
            raise wrong("evidence", error.expected, error.got) from None

    def check_intercepts(self, drawn: Mapping[str, Any]) -> None:
        """Refuse saved draws that have intercepts where there are none, or have none where there are.

        Parameters
        ----------
        drawn : mapping
            What was saved of the draws, which may have ``intercepts``.

        Raises
        ------
        SaveFileError
            If it is so.
        """
        if ("intercepts" in drawn) is not (isinstance(self.rewards, Linked) and self.rewards.intercept):
            raise wrong("drawn.intercepts", "numbers if, and only if, clicks or counts have an intercept", "others")

    def believer(self) -> "Engine":
        """Return a copy that may be told rewards which have not been seen, such as expected ones.

        Its noise variance is fixed where it is learnt, at the geometric mean of its draws: expected rewards have no
        noise, and would make the learnt one too small.

        Returns
        -------
        Engine
            The copy; the engine itself learns nothing from what it is told.
        """
        other = deepcopy(self)
        if isinstance(self.rewards, Gaussian) and not self.rewards.known:
            logs = np.log(self.learnt()["noise_variance"])
            other.rewards = replace(self.rewards, variance=float(np.exp(self.draws().weights @ logs)), tails=None)
            other.unit = 1.0
        return other

    def set_unit(self, unit: float) -> None:
        """Set the unit of the rewards, once, before the first rewards that differ are learnt from; on a fork.

        Parameters
        ----------
        unit : float
            Power of two next to the size of these rewards, or of their contrasts if there is an intercept.
        """
        self.unit = unit

    @property
    def noise(self) -> Any:
        """Noise variance σ², or its prior in the unit of the rewards."""
        variance: Any = self.rewards.variance
        return variance if self.rewards.known else variance.in_unit(self.unit or 1.0)

    @abstractmethod
    def draws(self) -> Draws:
        """Return weighted draws of θ given all observations.

        ``theta`` is the *same* array for as long as only weights change, which tells a rule that the best action
        under each draw is already known.

        Returns
        -------
        Draws
            The draws and their weights.
        """

    @abstractmethod
    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return equally weighted draws of θ.

        Parameters
        ----------
        rng : Generator
            Source of randomness.
        size : int
            Number of draws.

        Returns
        -------
        array of shape (size, d)
            Draws, one per row.
        """

    @abstractmethod
    def inclusions(self) -> FloatArray:
        """Return P(γ_j = 1), the probability that each feature matters, shape ``(d,)``."""

    def inclusion(self, features: str | Sequence[str] | None = None) -> Any:
        """Return P(γ_j = 1), the probability that a feature matters.

        Parameters
        ----------
        features : str or sequence of str, optional
            Names of features, if these came with names; by default all features.

        Returns
        -------
        float or array
            Probability of one feature, of each of several, or of all in the order of the columns, shape ``(d,)``.

        Raises
        ------
        ArgumentValueError
            If there is no such feature.
        """
        found = self.inclusions()
        if features is None:
            return found
        if not isinstance(features, str | Sequence):
            raise ArgumentTypeError("features", "a name or names of features", shown(features))
        named = feature_names(self.feature_names, self.dimension)
        unknown = [name for name in ([features] if isinstance(features, str) else features) if name not in named]
        if unknown:
            raise ArgumentValueError("features", f"names among {shown(named)}", shown(unknown[0]))
        if isinstance(features, str):
            return float(found[named.index(features)])
        return found[[named.index(name) for name in features]]

    @abstractmethod
    def health(self) -> Health:
        """Report how far the sampling can be trusted; whether the model is right is another question."""

    def state(self) -> dict[str, Any]:
        """Return everything that continuing bit for bit needs, as arrays and JSON values."""
        names = None if self.feature_names is None else list(self.feature_names)
        linked = isinstance(self.rewards, Linked)
        return {
            "evidence": None if linked else self.evidence.state(),
            **({"counts": self.evidence.state()} if linked else {}),
            **({} if self.origin is None else {"origin": self.origin}),
            "level": None if self.level is None else self.level.state(),
            "spread": self.spread.state(),
            "unit": self.unit,
            **({} if self.clock is None else {"clock": self.clock}),
            "rng": generator_state(self._rng),
            "feature_names": names,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state.

        Parameters
        ----------
        state : mapping
            What :meth:`state` returned.

        Raises
        ------
        SaveFileError
            If it is not a state of an engine with these settings.
        """
        found = self._found(Engine.saved, state)
        if (found["level"] is None) != (self.level is None):
            raise wrong("level", "means if, and only if, rewards have an intercept", shown(state["level"]))
        learnt = getattr(self.rewards.variance, "of_rewards", False)
        if not (learnt and (found["unit"] == 0.0 or math.frexp(found["unit"])[0] == 0.5)) and found["unit"] != 1.0:
            raise wrong("unit", "a power of two, or zero while it is not known" if learnt else "1", str(found["unit"]))
        learnt_from = "counts" if isinstance(self.rewards, Linked) else "evidence"
        if found.get(learnt_from) is None:
            raise wrong(learnt_from, "what has been observed", "nothing")
        self.evidence.restore(state[learnt_from])
        self.origin = found.get("origin")
        self.level = None if found["level"] is None else Level(**found["level"])
        self.spread = Spread.restored(found["spread"])
        self.unit = found["unit"]
        self.clock = self._restored_clock(found.get("clock"))
        restore_generator(self._rng, found["rng"])
        self.feature_names = found["feature_names"]

    def _restored_clock(self, clock: float | None) -> float | None:
        """Return the time of the newest reward, which there is if, and only if, discounted rewards have come."""
        some = self.evidence.count > 0 or (self.level is not None and self.level.weight > 0.0)
        if (clock is not None) != (some and self.forgetting is not None):
            raise wrong("clock", "a time if, and only if, rewards have come and are discounted", str(clock))
        return clock

    def _found(self, layout: Layout, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a layout says of a state, checked; a subclass may save more."""
        return read(layout, state, {"dimension": self.dimension, "n_draws": self.n_draws}, more=True)

    def update(self, x: object, y: object, weight: object = None, time: object = None, exposure: object = None) -> None:
        """Condition on observations: on all of them, or on none if anything is raised, Ctrl-C included.

        Parameters
        ----------
        x : array of shape (d,) or (n, d), or DataFrame
            Features of one observation or of a batch. Columns of a DataFrame are matched by name with those of the
            first one.
        y : float or array of shape (n,)
            Rewards.
        weight : float or array of shape (n,), optional
            Weight w of each observation, whose noise variance is σ² / w; by default 1.
        time : float or array of shape (n,), optional
            When each observation was made, if rewards are discounted: in decisions, by default each one after the one
            before; or in seconds since 1970 if forgetting is in time.
        exposure : float or array of shape (n,), optional
            Exposure of each count, such as hours or impressions, if rewards are Poisson; by default 1.

        Raises
        ------
        ArgumentError
            If shapes do not match, if a number is not finite, if columns have other names than before, or if times are
            missing or superfluous.
        """
        values, names = check_columns("x", x)
        features, rewards = check_observations(values, y, self.dimension)
        if names is not None and self.feature_names not in (None, names):
            features = np.ascontiguousarray(features[:, column_order("x", self.feature_names or (), names)])
        if isinstance(self.rewards, Linked):
            self.rewards.check(rewards)
        fork = forked(self)
        with interruptible():
            weights = None if weight is None else _check_weights("weight", weight, len(rewards))
            if exposure is not None:
                if not isinstance(self.rewards, Poisson):
                    raise ArgumentValueError("exposure", "none, since rewards are not Poisson", shown(exposure))
                exposures = _check_weights("exposure", exposure, len(rewards))
                rewards, weights = rewards / exposures, exposures if weights is None else weights * exposures
            fork.absorb(features, rewards, weights, _check_times(time, len(rewards), self.forgetting))
        fork.feature_names = self.feature_names or names
        self.__dict__ = vars(fork)

    def mean(self) -> FloatArray:
        """Return E[θ], shape ``(d,)``."""
        return self.draws().mean()

    def variances(self, x: FloatArray) -> FloatArray:
        """Return the posterior variance of ⟨x_k, θ⟩ for each row of ``x``.

        Parameters
        ----------
        x : array of shape (K, d)
            Rows, such as actions.

        Returns
        -------
        array of shape (K,)
            One variance per row.
        """
        variances = np.einsum("kj,kj->k", self.covariance_times(x.T).T, x)
        return np.asarray(np.maximum(variances, 0.0))

    def covariance_times(self, x: FloatArray) -> FloatArray:
        """Return the product of the posterior covariance with a vector or matrix.

        Parameters
        ----------
        x : array of shape (d,) or (d, K)
            A vector, or a matrix of columns.

        Returns
        -------
        array of shape (d,) or (d, K)
            Cov[θ] x.
        """
        draws = self.draws()
        apart = draws.theta - draws.mean()
        return np.asarray(apart.T @ (draws.weights * (apart @ x).T).T)

    def learnt(self) -> Mapping[str, FloatArray]:
        """Return draws of the hyperparameters that are learnt, by name, each of shape ``(M,)``."""
        return {}

    def summary(self, names: Sequence[str] | None = None) -> Rows:
        """Return mean, standard deviation, 95% interval, P(included) and P(positive) of each coefficient.

        Coefficients of clicks are differences in log-odds (with the logit link), those of counts in log rates; then
        exp(mean), the odds ratio or the rate ratio of one unit of the feature, stands beside them.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the features, by default the columns of the DataFrame that they came in.

        Returns
        -------
        Rows
            One row per feature, in the order of the features. They are printed with those first that are most likely to
            matter, and probabilities below 1e-6 as ``<1e-6``.
        """
        features = feature_names(self.feature_names if names is None else names, self.dimension)
        other = forked(self)  # since whoever looks changes nothing
        draws = other.draws()
        columns = moments(draws.theta, draws.weights)
        columns |= {"P(included)": other.inclusion(), "P(positive)": draws.weights @ (draws.theta > 0)}
        if isinstance(self.rewards, Linked) and self.rewards.ratio is not None:
            columns |= {self.rewards.ratio: np.exp(np.minimum(columns["mean"], LARGEST_LOG))}
        found = _rows("feature", features, columns)
        order = sorted(found, key=lambda row: (-row["P(included)"], -abs(row["mean"])))
        cells = [tuple(_written(key, value) for key, value in row.items()) for row in order]
        return replace(found, printed=Table(found.printed.columns, cells))

    def hyperparameters(self) -> Rows:
        """Return mean, standard deviation and 95% interval of each hyperparameter that is learnt."""
        other = forked(self)
        draws, learnt = other.draws(), other.learnt()
        values = np.column_stack(list(learnt.values())) if learnt else np.empty((len(draws), 0))
        return _rows("hyperparameter", list(learnt), moments(values, draws.weights))

    def to_xarray(self, names: Sequence[str] | None = None) -> Any:
        """Return an ``xarray.Dataset`` as ArviZ reads it: ``theta`` over (chain, draw, feature), and what is learnt.

        Weighted draws are resampled to equal weights first; their effective number is in ``attrs``. xarray has to be
        installed.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the features, by default the columns of the DataFrame that they came in.

        Returns
        -------
        xarray.Dataset
            ``theta``, ``probability_included`` and the hyperparameters that are learnt.
        """
        import xarray

        draws = self.draws()
        rows = np.arange(len(draws))
        if np.ptp(draws.weights) > 0:
            rows = stream(0).choice(len(draws), size=len(draws), p=draws.weights)
        variables: dict[str, Any] = {
            name: (("chain", "draw"), values[rows].reshape(self.chains, -1)) for name, values in self.learnt().items()
        }
        theta = draws.theta[rows].reshape(self.chains, -1, self.dimension)
        variables["theta"] = ("chain", "draw", "feature"), theta
        variables["probability_included"] = ("feature",), np.array(self.inclusion())
        coordinates = {
            "chain": np.arange(self.chains),
            "draw": np.arange(theta.shape[1]),
            "feature": feature_names(self.feature_names if names is None else names, self.dimension),
        }
        worth = draws.effective_sample_size
        return xarray.Dataset(variables, coordinates, {"engine": type(self).__name__, "effective_sample_size": worth})


def _check_weights(name: str, weight: object, count: int) -> FloatArray:
    values = _one_or_each(name, weight, count)
    if values.size:
        check_positive(name, float(values.min()))
    return values


def _check_times(time: object, count: int, forgetting: Discount | None) -> FloatArray | None:
    if time is None:
        if forgetting is not None and forgetting.unit == "seconds":
            raise ArgumentValueError("time", "a time per observation, since forgetting is in time", "none")
        return None
    if forgetting is None:
        raise ArgumentValueError("time", "none, since rewards are not discounted", shown(time))
    return _one_or_each("time", time, count)


def _one_or_each(name: str, value: object, count: int) -> FloatArray:
    values = check_array(name, value)
    if values.shape not in ((), (count,)):
        raise ArgumentValueError(name, f"one number, or {count}, one per observation", f"shape {values.shape}")
    return np.broadcast_to(values, count)


def _rows(of: str, names: Sequence[str], columns: Mapping[str, FloatArray]) -> Rows:
    """Return one row per name with one number from each column."""
    values = {column: numbers.tolist() for column, numbers in columns.items()}
    return Rows.of([{of: name, **{c: values[c][i] for c in values}} for i, name in enumerate(names)])


def _written(column: str, value: Any) -> Any:
    """Return a cell as it is printed: a tiny probability as a bound."""
    return "<1e-6" if column.startswith("P(") and 0.0 < value < TINY else value


def feature_names(names: Sequence[str] | None, dimension: int) -> list[str]:
    """Return the names of the features, or their numbers if they have no names.

    Parameters
    ----------
    names : sequence of str or None
        Names, if there are any.
    dimension : int
        Number of features d.

    Returns
    -------
    list of str
        One name per feature.

    Raises
    ------
    ArgumentValueError
        If the names are not d different ones.
    """
    if names is None:
        return [str(j) for j in range(dimension)]
    if not isinstance(names, Sequence | np.ndarray) and not hasattr(names, "__array__"):
        raise ArgumentTypeError("names", f"{dimension} names, one per feature", shown(names))
    if isinstance(names, str) or len(names) != dimension or len(set(names)) < dimension:
        raise ArgumentValueError("names", f"{dimension} different names, one per feature", shown(names))
    return [str(name) for name in names]
