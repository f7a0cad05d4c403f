"""What the package has, read from its code: ``python -m benchmarks.systems`` writes it into the documentation.

docs/rivals.md has tables of all policies, estimators, posteriors, priors, rules, environments and theory: public name,
source, first line of the docstring, file. The source is the first publication that the docstring of the object cites,
or else that of its module. What was not published says "No published source" there. An object that says neither is an
error, so nothing is on the page that the code does not say.

docs/paper.md has all publications that Hao, Lattimore and Deng (2021) cite, with what implements them here. Which they
are is written below (``OWN``, ``CITED``, ``ANALYSES``), as the code cannot say it; that a name exists, and that its
docstring cites the publication, is checked.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import sparsebandits as sb
from benchmarks.games import write_tables
from sparsebandits import lazy

COMMAND = "python -m benchmarks.systems"
DOCS = Path(__file__).parents[1] / "docs"
RIVALS, PAPER = DOCS / "rivals.md", DOCS / "paper.md"
WIDTH = 120
"""Characters in a line of text."""

NAME = r"(?:(?:Van|Del|De) )?[^\W\d_a-zα-ω][\w’-]+"
CITATION = re.compile(rf"(?<!\w)({NAME}(?:(?:, {NAME})* and {NAME}| et al\.)?),? \(?((?:19|20)\d\d)(?![\w.]\d)\b")
UNPUBLISHED = "No published source"
ROLE = re.compile(r":\w+:`~?(?:[\w.]+\.)?(\w+)`")


class MissingSourceError(Exception):
    """A public object whose docstrings cite nothing, and do not say that there is nothing to cite."""


class System(NamedTuple):
    """One public object, as the tables show it."""

    name: str
    source: str
    summary: str
    file: str
    parts: tuple[str, ...] = ()


class Cited(NamedTuple):
    """What the paper names, or a publication that it cites for an algorithm, an estimator or a sampler.

    Attributes
    ----------
    what : str
        Authors and year, as the docstrings here have them, or what the paper calls it.
    role : str
        What the paper says of it.
    here : tuple of str
        Public names below ``sb``; empty if it is missing.
    missing : str
        What of it is not here.
    """

    what: str
    role: str
    here: tuple[str, ...]
    missing: str = ""


THE_PAPER = "Hao, Lattimore and Deng 2021"
OWN = (
    Cited("Algorithm 1", "empirical Bayesian sparse sampling", ("Langevin",)),
    Cited(
        "Algorithm 2", 'sparse IDS, `SparseIDS(rule="information-ratio")`', ("SparseIDS", "rules.InformationDirected")
    ),
    Cited("Algorithm 3", "estimates of Δ and v, and the ratio", ("rules.Information", "rules.minimise_over_actions")),
    Cited("sparse TS", "Thompson sampling on the same posterior", ("SparseTS",)),
    Cited("Ψ_λ, and IDS over distributions", "any λ ≥ 2", ("rules.ratios", "rules.minimise_over_distributions")),
    Cited("§6.1, the prior", "Gaussian slab, Laplace spike", ("SpikeSlab", "LaplaceSpike")),
    Cited("illustrative example", "where optimism fails; Figure 2 and Claim 1", ("environments.HardInstance",)),
    Cited("Figure 1", "sparse linear regression", ("environments.sparse_regression",)),
    Cited("Figure 3", "Gaussian actions", ("environments.GaussianActions",)),
    Cited("C_min(𝒜)", "exploratory sets of actions", ("theory.exploratory_design",)),
    Cited("sparse optimal actions", "second condition of Theorem 1", ("theory.sparse_optimal_actions",)),
    Cited("φ²", "restricted eigenvalue", ("theory.restricted_eigenvalue",)),
    Cited("Theorem 1, corollary, Table 1", "bounds on regret", ("theory.regret_bound",)),
    Cited("Table 2", "regimes", ("theory.regime",)),
    Cited("Lemma 1", "regret from information ratios", ("theory.generic_bound", "theory.least_generic_bound")),
    Cited("lemma on Ψ_{*,2} and Ψ_{*,3}", "bounds on the ratios", ("theory.ratios", "theory.ratios_as_printed")),
    Cited("lemma on mutual information", "bound on I(x*; F)", ("theory.entropy", "theory.entropy_as_printed")),
    Cited("π^mix", "the mixture of the proof", ("theory.proof_mixture", "theory.mixture_rate")),
)
"""What the paper itself defines."""

CITED = (
    Cited(
        "Abbasi-Yadkori, Pál and Szepesvári 2011", "LinUCB, in its experiments", ("LinUCB", "rules.ConfidenceRadius")
    ),
    Cited("Agrawal and Goyal 2013", "LinTS with a Gaussian prior, in its experiments", ("LinTS", "rules.Thompson")),
    Cited(
        "Russo and Van Roy 2018", "IDS; its Algorithm 6 in the experiments", ("LinearIDS", "rules.InformationDirected")
    ),
    Cited(
        "Hao, Lattimore and Wang 2020",
        "ESTC, in its experiments and Table 1; the hard instance",
        ("rivals.ESTC", "environments.HardInstance", "theory.exploratory_design"),
    ),
    Cited(
        "Abbasi-Yadkori, Pál and Szepesvári 2012",
        "online-to-confidence-set conversion, Table 1",
        ("rivals.OnlineToConfidence",),
    ),
    Cited(
        "Lattimore, Crammer and Szepesvári 2015",
        "selective explore-then-commit on the hypercube, Table 1",
        ("rivals.HypercubeElimination", "environments.Hypercube"),
    ),
    Cited(
        "Carpentier and Munos 2012",
        "the unit ball with vector-valued noise",
        ("rivals.SLUCB", "environments.UnitBall"),
        "The pages with its algorithm were not available; constants are derived",
    ),
    Cited("Bastani and Bayati 2020", "contextual, with assumptions on contexts", ("rivals.LassoBandit",)),
    Cited("Wang, Wei and Yao 2018", "the same", ("rivals.MCPBandit",)),
    Cited("Kim and Paik 2019", "the same", ("rivals.DRLasso",)),
    Cited(
        "Wang, Chen, Fang, Wang and Li 2020", "the same", ("rivals.BestSubset",), "Its second algorithm, on SupLinUCB"
    ),
    Cited("Ren and Zhou 2020", "the same", ("rivals.DynamicBatch",)),
    Cited("Oh, Iyengar and Zeevi 2021 (2020 in the paper)", "the same", ("rivals.SALasso",)),
    Cited("Agarwal, Hsu, Kale, Langford, Li and Schapire 2014", "contextual, general policies", ("rivals.ILTCB",)),
    Cited("Foster and Rakhlin 2020", "contextual, by regression", ("rivals.SquareCB",)),
    Cited("Simchi-Levi and Xu 2020", "the same", ("rivals.FALCON",)),
    Cited(
        "Liu, Buccapatnam and Shroff 2018",
        "IDS with graph feedback, `SparseIDS(actions, feedback=graph)`",
        ("environments.GraphFeedback",),
    ),
    Cited("Kirschner and Krause 2018", "IDS with heteroscedastic noise", ("rivals.FrequentistIDS",)),
    Cited(
        "Kirschner, Lattimore and Krause 2020",
        "IDS for partial monitoring",
        ("rivals.PartialMonitoringIDS", "model.Game", "environments.DuelingFeedback"),
    ),
    Cited(
        "Kirschner, Lattimore, Vernade and Szepesvári 2021 (2020 in the paper)",
        "asymptotically optimal IDS",
        ("rivals.AsymptoticIDS",),
    ),
    Cited("Mitchell and Beauchamp 1988", "spike and slab with a point mass", ("SpikeSlab", "PointMass")),
    Cited("George and McCulloch 1993", "SSVS: a Gaussian spike, by Gibbs sampling", ("GaussianSpike", "Gibbs")),
    Cited(
        "Ročková and George 2014",
        "EMVS: Gaussian spike, Beta and inverse-gamma hyperpriors",
        ("rivals.EMVS", "BetaInclusion", "InverseGammaNoise"),
    ),
    Cited("Ročková and George 2018", "spike-and-slab Lasso", ("rivals.SpikeSlabLasso", "LaplaceSpike")),
    Cited(
        "Deng, Zhang, Liang and Lin 2019",
        "the sampler that Algorithm 1 adapts, `Langevin(batch_size=…)`",
        ("Langevin",),
        "Its adaptation of β and σ, and neural networks",
    ),
    Cited("Robbins and Monro 1951", "stochastic approximation", ("posteriors.PowerDecay",)),
    Cited("Tibshirani 1996", "the Lasso", ("rivals.LassoEstimator",)),
    Cited(
        "Chu, Li, Reyzin and Schapire 2011",
        "linear bandits: LinUCB with a given width",
        ("LinUCB",),
        "SupLinUCB, the variant with the proof",
    ),
    Cited(
        "Dani, Hayes and Kakade 2008",
        "linear bandits: ConfidenceBall",
        ("rivals.SLUCB",),
        "On its own; `SLUCB` has it on the coordinates that it found",
    ),
    Cited("Auer 2002", "linear bandits", (), "LinRel and SupLinRel"),
    Cited("Rusmevichientong and Tsitsiklis 2010", "linear bandits", (), "PEGE and the uncertainty ellipsoid policy"),
    Cited("Lattimore and Szepesvári 2017", "that optimism is not optimal", (), "Its asymptotically optimal allocation"),
    Cited("Combes, Magureanu and Proutière 2017", "the same", (), "OSSB, for structured bandits"),
    Cited("Hao, Lattimore and Szepesvári 2020", "the same", (), "Its allocation matching, for contextual bandits"),
    Cited("Hao, Lattimore, Szepesvári and Wang 2021", "sparse linear MDPs", (), "Reinforcement learning as a whole"),
    Cited(
        "Lattimore and György 2021 (2020 in the paper)",
        "that the right λ depends on the rate of regret",
        ("rules.InformationDirected",),
        "Its mirror descent, for adversarial rewards",
    ),
)
"""Publications that the paper cites for something that runs, in the order of its text, those that are missing last."""

ANALYSES = (
    "Bai, Ročková and George 2020 (a survey)",
    "Bubeck and Sellke 2020",
    "Dong and Van Roy 2018",
    "Dong, Ma and Van Roy 2019",
    "Javanmard and Montanari 2014",
    "Lattimore and Szepesvári 2019",
    "Lattimore and Szepesvári 2020 (a textbook)",
    "Lu and Van Roy 2019",
    "Rudelson and Zhou 2013",
    "Russo and Van Roy 2014",
    "Vershynin 2009",
    "Yang and Barron 1999",
)
"""Publications that the paper cites for an analysis, a lower bound or a step of a proof."""


def main() -> None:
    """Write the tables into docs/rivals.md and docs/paper.md."""
    write_tables(RIVALS, f"{COMMAND} policies", table(policies()))
    write_tables(RIVALS, f"{COMMAND} others", others())
    write_tables(PAPER, COMMAND, cited())


def source(value: Any) -> str:
    """Return the source of a public class or function: authors and year, or that it has none.

    Parameters
    ----------
    value : class or function
        Public object.

    Returns
    -------
    str
        The first citation in its own docstring, or else in that of its module.

    Raises
    ------
    MissingSourceError
        If neither docstring cites anything or says that there is no published source.
    """
    module = import_module(value.__module__)
    for text in (_plain(value.__doc__), _plain(module.__doc__)):
        found = CITATION.search(text)
        if UNPUBLISHED in text:
            return "this package"
        if found is not None:
            return f"{found[1]} {found[2]}"
    raise MissingSourceError(
        f"{module.__name__}.{value.__name__} has no source: cite one in its docstring or in that of the module, as "
        f"'Authors (year)', or say '{UNPUBLISHED}'"
    )


def system(name: str, value: Any, parts: Iterable[str] = ()) -> System:
    """Return a public object as the tables show it."""
    summary = ROLE.sub(r"``\1``", inspect.getdoc(value) or "").split("\n", 1)[0]
    file = value.__module__.removeprefix("sparsebandits.").replace(".", "/") + ".py"
    return System(name, source(value), summary, file, tuple(parts))


def policies() -> list[System]:
    """Return all named policies and rivals, with the learners, rules and estimators in their files."""
    return [*_systems(sb, _is_policy), *_systems(sb.rivals, _is_policy)]


def rivals() -> set[str]:
    """Return the public names of the policies in ``sb.rivals``."""
    return {name for name, value in _public(sb.rivals) if _is_policy(value)}


def others() -> str:
    """Return the tables of all that are not policies, each under its title."""
    with_policy = {value.__module__ for _, value in _public(sb.rivals) if _is_policy(value)}
    estimators = [
        *_systems(sb, lambda value: value.__module__ == "sparsebandits.sklearn"),
        *_systems(sb.rivals, lambda value: value.__module__ not in with_policy),
    ]
    groups = {
        "Estimators, and what several rivals share": estimators,
        "Posteriors": _systems(sb, lambda value: _is_a(value, sb.posteriors.Engine)),
        "Priors and rewards": [
            *_systems(sb, lambda value: value.__module__.startswith("sparsebandits.model.")),
            *_systems(sb.model, lambda value: value.__module__ == "sparsebandits.model.monitoring"),
        ],
        "Rules": _systems(sb.rules, lambda value: _is_a(value, sb.rules.Rule)),
        "Environments": _systems(sb.environments, _is_environment),
        "Theory": _systems(sb.theory, inspect.isfunction),
    }
    return "\n\n".join(f"### {title}\n\n{table(rows)}" for title, rows in groups.items())


def table(systems: Iterable[System]) -> str:
    """Return systems as a table of Markdown."""
    rows = ["| name | source | what it is | file, with |", "|---|---|---|---|"]
    for one in systems:
        beside = "".join(f", `{part}`" for part in one.parts)
        rows.append(f"| `{one.name}` | {one.source} | {_cell(one.summary)} | `{one.file}`{beside} |")
    return "\n".join(rows)


def cited() -> str:
    """Return what the paper defines and cites as tables of Markdown, with what has it here."""
    for one in OWN:
        checked(one, THE_PAPER)
    for one in CITED:
        checked(one, one.what.partition(" (")[0])
    middle = "What it cites for an algorithm, an estimator or a sampler:"
    rest = (
        f"What it cites for an analysis, a lower bound or a step of a proof, nothing that runs: {'; '.join(ANALYSES)}."
    )
    return "\n\n".join([_listed("in the paper", OWN), middle, _listed("publication", CITED), fill(rest, WIDTH)])


def checked(one: Cited, publication: str) -> None:
    """Require that what is said to be here exists and cites the publication.

    Parameters
    ----------
    one : Cited
        A row of the table.
    publication : str
        Authors and year that the docstring of each name, or that of its module, has to cite.

    Raises
    ------
    AttributeError
        If a name does not exist.
    MissingSourceError
        If a docstring does not cite the publication, or if a row has neither a name nor says what is missing.
    """
    if not one.here and not one.missing:
        raise MissingSourceError(f"{one.what}: name what has it, or say what is missing")
    for name in one.here:
        value: Any = reduce(getattr, name.split("."), sb)
        text = f"{_plain(value.__doc__)} {_plain(import_module(value.__module__).__doc__)}"
        if publication not in {" ".join(found.groups()) for found in CITATION.finditer(text)}:
            raise MissingSourceError(f"sb.{name} does not cite {publication} in its docstring or in that of its module")


def _listed(title: str, rows: Iterable[Cited]) -> str:
    lines = [f"| {title} | what it is | here | not here |", "|---|---|---|---|"]
    for one in rows:
        names = ", ".join(f"`sb.{name}`" for name in one.here) or "missing"
        lines.append(f"| {one.what} | {one.role} | {names} | {one.missing} |")
    return "\n".join(lines)


def _systems(namespace: Any, wanted: Callable[[Any], bool]) -> list[System]:
    """Return the public objects of a namespace that are wanted, each with the others of its file."""
    known = list(_public(namespace))
    parts: dict[str, list[str]] = {value.__module__: [] for _, value in known if wanted(value)}
    for name, value in known:
        if value.__module__ in parts and not wanted(value):
            source(value)  # a part has to have one, too
            parts[value.__module__].append(name)
    return [system(name, value, parts[value.__module__]) for name, value in known if wanted(value)]


def _public(namespace: Any) -> Iterator[tuple[str, Any]]:
    """Yield the public classes and functions of a namespace, in the order in which it lists them."""
    for name, value in lazy.public("sparsebandits", [namespace.__name__]):
        if inspect.isclass(value) or inspect.isfunction(value):
            yield name, value


def _is_a(value: Any, base: type) -> bool:
    return inspect.isclass(value) and issubclass(value, base) and value is not base


def _is_policy(value: Any) -> bool:
    return _is_a(value, sb.Policy)


def _is_environment(value: Any) -> bool:
    """Return whether instances are drawn from it, or it is a function that draws data."""
    return inspect.isfunction(value) or (hasattr(value, "sample") and value is not sb.environments.Environment)


def _plain(text: str | None) -> str:
    """Return a docstring in one line."""
    return " ".join((text or "").split())


def _cell(text: str) -> str:
    """Return text for a cell of a table."""
    return text.replace("|", "\\|").replace("``", "`")


if __name__ == "__main__":
    main()
