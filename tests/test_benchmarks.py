"""The benchmarks start and print their page; their figures are not judged here."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks import (
    click_calibration,
    click_speed,
    clicks,
    contexts,
    decisions,
    draws,
    drift,
    effects,
    former,
    gain,
    many_features,
    out_of_the_box,
    paired,
    priors,
    regret,
    rule_games,
    rules,
    screening,
    start,
)
from benchmarks.competitors import OURS
from benchmarks.games import stored, with_tables
from benchmarks.page import BLOCK, PAGE, filled
from benchmarks.regret import ENTRIES
from benchmarks.section import Figures, release, target

import sparsebandits as sb
from sparsebandits.experiments.simulate import Problem
from sparsebandits.randomness import NOISE_STREAM, IndexedNormals, child
from sparsebandits.rules.information import REMAINS

ROOT = Path(__file__).parents[1]


def run(*arguments: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, check=True, cwd=ROOT, timeout=300
    )
    return answer.stdout


CIRCUMSTANCES = {"date": "today", "cpu": "a cpu", "cores": 2, "load": 0.0, "python": "3", "versions": {"numpy": "2"}}


def test_decisions() -> None:
    page = run("benchmarks.decisions", "--quick")
    assert "LinearIDS, 10,000 draws" in page
    assert "not installed" in page, "peers belong into the benchmark environment alone"


def competitor(name: str, rates: list[float], regrets: list[float], library: str = "peer") -> Figures:
    problem = None if rates else "not installed"
    same = {"library": library, "kind": "TS", "learns": True, "note": "", "rounds": 3, "problem": problem}
    return {"name": name, "rates": rates, "regrets": regrets, **same}


COMPETITORS = [
    competitor("LinTS", [10.0, 30.0, 20.0], [5.0, 5.0, 5.0], "sparsebandits"),
    competitor("LinUCB", [40.0, 40.0, 40.0], [2.0, 2.0, 2.0], "sparsebandits"),
    competitor("slow", [25.0, 1.0, 1.0], [6.0, 1.0, 1.0]),
    competitor("fast", [21.0, 21.0, 100.0], [4.0, 4.0, 4.0]),
    competitor("faster", [22.0, 22.0, 22.0], [5.5, 5.5]),
    competitor("absent", [], []),
]


def test_decisions_names_who_is_ahead() -> None:
    problem = {"actions": 200, "rounds": 3, "competitors": COMPETITORS, "targets": [target("a goal", [1.0, 3.0], 2.5)]}
    page = decisions.page({"circumstances": CIRCUMSTANCES, "repeats": 3, "problems": [problem]})
    assert "Ahead of LinTS: faster; fast\nAhead of LinUCB: none\n" in page
    assert "Not measured: absent, not installed" in page
    assert re.search(r"^a goal +2 +1 +3  at least 2.5  no$", page, re.MULTILINE)


def test_a_ratio_waits_for_all_its_rivals() -> None:
    missing = [t["target"] for t in decisions.targets(decisions_of(COMPETITORS), 200)]
    assert missing == ["LinTS, per second", "LinUCB, per second"]
    reached = {t["target"]: t for t in decisions.targets(decisions_of(COMPETITORS[:-1]), 200)}
    ratio = reached["LinTS / fastest peer TS (faster)"]
    assert reached["SparseIDS / peer IDS 1,000 (IDS)"]["wanted"] == 15.0
    assert (ratio["figure"], ratio["max"], ratio["met"]) == (20 / 22, 30 / 22, False)


def decisions_of(competitors: list[Figures]) -> list[Figures]:
    """Return competitors with all of ours and a peer of each kind, that of the last one where it is missing."""
    ours = [competitor(entry.name, [20.0, 30.0, 10.0], [], "sparsebandits") for entry in OURS]
    peers = [c for c in competitors if c["library"] == "peer"]
    return [*ours, *peers, *({**peers[-1], "kind": kind, "name": kind} for kind in ("UCB", "IDS"))]


def test_regret_names_who_has_less() -> None:
    setting = {"dimension": 40, "sparsity": 4, "competitors": COMPETITORS, "random": [9.0, 9.0]}
    page = regret.page({"circumstances": CIRCUMSTANCES, "rounds": 3, "settings": [setting]})
    assert "Less regret than LinTS: slow; fast*\nLess regret than LinUCB: none\n" in page
    assert re.search(r"^slow +3 +2.7 +1.7 +1$", page, re.MULTILINE)
    assert re.search(r"^playing at random +2 +9 +0 +–$", page, re.MULTILINE)


def test_games_that_were_kept_are_not_played_again(tmp_path: Path) -> None:
    games = tmp_path / "games.jsonl"
    every = [{"name": n, "dimension": d, "trial": 0, "rate": 1.0, "regret": 2.0} for n in ENTRIES for d in (40, 100)]
    games.write_text('{"name": "cut sho' + "".join("\n" + json.dumps(game) for game in every))
    assert regret.play_all(trials=1, rounds=1, path=games) == every


def test_games_that_are_played_again_have_all_of_ours() -> None:
    ours = [entry.name for entry in ENTRIES.values() if entry.library == "sparsebandits"]
    added = regret.absent([competitor(name, [], []) for name in ours[1:] if name != "SparseIDS"])
    assert [one["name"] for one in added] == [ours[0], "SparseIDS"]
    assert not any(one["regrets"] for one in added)


def test_posteriors() -> None:
    page = run("benchmarks.posteriors", "--quick")
    assert "Langevin, 1000 chains" in page


def test_accuracy() -> None:
    page = run("benchmarks.accuracy", "--dimension", "6", "--histories", "1", "--rounds", "20")
    assert "inclusion, worst" in page


def test_hypercube() -> None:
    small = ("--trials", "2", "--horizon", "30", "--dimensions", "3", "4", "--sparsities", "1", "2")
    assert run("benchmarks.hypercube", *small).count("regret grows with") == 2


def test_defaults() -> None:
    page = run("benchmarks.defaults", "--trials", "2", "--horizon", "5", "--dimensions", "10")
    assert "LinUCB confidence radius" in page


def test_large() -> None:
    """Each game has a process of its own, and all that is wanted is measured."""
    page = run("benchmarks.large", "--quick")
    goals = re.findall(r"^(d = \d+: .*?) +[\d.]+ +[\d.]+ +[\d.]+  at most (\d+) ", page, re.MULTILINE)
    assert [(name.split(": ")[1], wanted) for name, wanted in goals] == [
        ("mean decision, ms", "20"),
        ("peak of the memory, MB", "400"),
        ("wall time, s", "600"),
        ("peak of the memory, GB", "3"),
    ]
    assert len(re.findall(r"^ +\d +\d+ +\d+  \d+ to \d+ ", page, re.MULTILINE)) == 3, "two instances and one"


def test_former() -> None:
    """This version takes the place of the former one, which belongs into an environment of its own."""
    figures = former.measure(quick=True, python=Path(sys.executable), expected=release("sparsebandits"))
    page = former.page({"circumstances": CIRCUMSTANCES, **figures})
    wanted = re.findall(r"at least (\d) ", page)
    assert wanted == ["4", "2", "2", "4"]
    asked = {game["name"]: game["draws"] for game in figures["games"]}
    assert all(number == 10_000 for name, number in asked.items() if "10,000" in name)
    with pytest.raises(RuntimeError, match="expected version"):
        former.measure(quick=True, python=Path(sys.executable))


def test_a_ratio_to_the_former_version_is_taken_within_a_repeat() -> None:
    seconds = {game.name: [2.0, 20.0, 4.0] if game.former else [1.0, 4.0, 1.0] for game in former.GAMES}
    found = former.targets(seconds)[0]
    assert (found["figure"], found["min"], found["max"], found["met"]) == (4.0, 2.0, 5.0, True)


def test_goals_of_a_start_are_those_of_their_processes() -> None:
    """The number of seconds says which process it is of."""
    runs = {
        rounds: {kind: [{"seconds": s, "lines": kind == "cold"}] for kind, s in (("warm", warm), ("cold", cold))}
        for rounds, warm, cold in (("1", 0.8, 3.5), ("20", 1.0, 4.5))
    }
    goals = {goal["target"]: (goal["figure"], goal["wanted"], goal["met"]) for goal in start.goals([0.1], runs)}
    assert goals["first decision, warm, s"] == (0.8, 0.9, True)
    assert goals["first decision, cold, s"] == (3.5, 3.0, False)
    assert goals["first 20 decisions, cold, s"] == (4.5, 5.0, True)
    assert all(goals[f"line about compiling, {kind}"][2] for kind in ("warm", "cold"))


def test_trace() -> None:
    page = run("benchmarks.trace", "--show", "100")
    assert re.findall(r"^(\w+): \d+ files, \d+ switches, \d+ calls$", page, re.MULTILINE) == ["ask", "decide"]
    assert "policies/policy.py" in page
    assert "advice/read.py" in page


def test_the_page_is_what_the_stored_figures_say() -> None:
    """Every section of ``make bench`` has a block, and each block is what its figures give."""
    text = PAGE.read_text()
    sections = re.search(r"^SECTIONS \?= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert sections is not None
    assert sorted(BLOCK.findall(text)) == sorted(["missed", *sections.group(1).split()])
    assert filled(text) == text
    some = re.search(r"\d\.\d\d", text)
    assert some is not None
    assert filled(text.replace(some.group(), "9.99", 1)) == text, "a figure changed by hand is put right"


def test_a_section_that_was_not_measured_says_so() -> None:
    """Trace is a module without stored figures."""
    assert "Not measured yet." in filled("<!-- trace -->\n<!-- end -->")


README_ROWS = {
    "sparsebandits, SparseIDS": "SparseIDS, noise known",
    "sparsebandits, LinUCB": "LinUCB",
    "contextualbandits, UCB": "contextualbandits UCB",
    "MABWiser, UCB": "mabwiser UCB, one arm",
    "coba, UCB (10 instances)": "coba UCB",
    "bayesianbandits, UCB": "bayesianbandits UCB",
    "Vowpal Wabbit, bag": "vowpalwabbit bag",
    "SparseIDS, sparsity known too": "SparseIDS, 10,000 draws",
    "SparseIDS, nothing known": "SparseIDS, default prior",
}


def test_the_comparison_in_the_readme_is_the_stored_one() -> None:
    """One setting has one number: README and benchmark page quote the same result."""
    root = Path(__file__).parents[1]
    stored = json.loads((root / "benchmarks/results/regret.json").read_text())
    row = r"^\| \*?([^|*]+?)\*? \| \*?(\d+ ± \d+)\*? \| \*?(\d+ ± \d+)\*? \|$"
    cells = re.findall(row, (root / "README.md").read_text(), re.MULTILINE)
    assert {name for name, *_ in cells} == set(README_ROWS)
    for name, *numbers in cells:
        for number, setting in zip(numbers, stored["settings"], strict=True):
            (entry,) = (one for one in setting["competitors"] if one["name"] == README_ROWS[name])
            regrets = np.array(entry["regrets"])
            assert number == f"{regrets.mean():.0f} ± {regrets.std(ddof=1) / np.sqrt(len(regrets)):.0f}", name


def test_the_tables_of_the_measurements_are_what_the_stored_games_say() -> None:
    """docs/measurements.md; a changed game, and a changed table, would show."""
    text, games = out_of_the_box.PAGE.read_text(encoding="utf-8"), stored(out_of_the_box.STORED)
    assert games
    assert with_tables(text, out_of_the_box.COMMAND, out_of_the_box.page(games)) == text
    changed = [{**games[0], "found": games[0]["found"] + 100.0}, *games[1:]]
    assert with_tables(text, out_of_the_box.COMMAND, out_of_the_box.page(changed)) != text


def test_the_tables_of_the_rules_are_what_the_stored_games_say() -> None:
    """docs/rules.md: a changed game would show, and games are played as they are stored."""
    text, games, screened = rules.PAGE.read_text(encoding="utf-8"), stored(rules.STORED), stored(screening.STORED)
    assert with_tables(text, rules.COMMAND, rules.tables(games)) == text
    assert with_tables(text, rules.SUMMARY, rules.summary(games)) == text
    first = next(line for line in games if line["trial"] == 0)
    at = {mark: [value and value + 100.0 for value in found] for mark, found in first["at"].items()}
    changed = [{**line, "at": at} if line is first else line for line in games]
    assert with_tables(text, rules.COMMAND, rules.tables(changed)) != text
    assert with_tables(text, rules.SUMMARY, rules.summary(changed)) != text
    for table in screening.PLAYERS:
        assert with_tables(text, f"{screening.COMMAND} {table}", screening.show(screened, table)) == text


def test_the_tables_of_the_draws_are_what_the_stored_games_say() -> None:
    text, kept = draws.PAGE.read_text(encoding="utf-8"), stored(draws.STORED)
    for group, command in draws.COMMANDS.items():
        assert with_tables(text, command, draws.table(kept, group)) == text


@pytest.mark.parametrize(("setting", "rounds"), [("known-d20", 20), ("default-d40", 20), ("large-d500", 2)])
def test_games_of_draws_are_deterministic_but_for_their_time(setting: str, rounds: int) -> None:
    one, two = (draws.play(setting, 1000, 3, rounds) for _ in range(2))
    assert one.pop("ms") > 0 < two.pop("ms")
    assert one == two
    assert 0.0 < one["bayes"] < 5.0 * rounds


def test_games_of_draws_come_trial_by_trial() -> None:
    """A run that is stopped has about the same number of trials of every setting and every number of draws."""
    every = draws.jobs(list(draws.GROUPS["usual"]), draws.DRAWS, 1000)
    assert len(every) == len(set(every)) == 400 * 6 * 4
    assert [trial for *_, trial in every[:25]] == [0] * 24 + [1]
    assert len(draws.jobs(list(draws.GROUPS["large"]), draws.DRAWS, 1000)) == 30 * 2 * 4


def test_draws_are_compared_over_the_trials_that_both_have_played() -> None:
    """With twice the regret of 10,000 draws the ratio is two; a trial after a gap does not count."""
    games = [
        {"setting": setting, "draws": n, "trial": trial, "regret": factor * (9.0 + trial), "bayes": 7.0, "ms": 1.5}
        for setting in draws.GROUPS["usual"]
        for n, factor, trials in ((2000, 2.0, range(13)), (10_000, 1.0, (*range(12), 13)))
        for trial in trials
    ]
    page = draws.table(games, "usual")
    row = (
        "| Known hyperparameters, d = 20, s = 2 | 2,000 | 12 | 29.0 | 2.00 (2.00 to 2.00) | 7.0 | 1.00 (1.00 to 1.00) |"
    )
    assert f"{row}\n" in page
    assert "| All, geometric mean | 2,000 | 12 | | 2.00 (2.00 to 2.00) | | 1.00 (1.00 to 1.00) |" in page
    assert "| 1,000 |" not in page
    assert draws.table(games, "large") == draws.table([], "usual") == draws.EMPTY


@pytest.mark.parametrize(
    ("setting", "player"),
    [
        ("d20", "LinUCB, width 2"),
        ("unknown-d40-s4", "LinUCB, noise given"),
        ("noise variance 8", "LinearIDS"),
    ],
)
def test_games_of_dense_policies_are_played_as_they_are_stored(setting: str, player: str) -> None:
    assert rule_games.play(setting, player, 0) in stored(rules.STORED)


def apart(setting: str, player: str, factor: float = 1.0, trials: int = 16) -> float:
    """Return how far Bayes regrets of the same worlds are from stored ones, in paired standard errors."""
    games = (game for game in stored(rules.STORED) if (game["setting"], game["player"]) == (setting, player))
    before = {game["trial"]: game["at"] for game in games}
    differences = []
    for trial in range(trials):
        now = rule_games.play(setting, player, trial)["at"]
        differences.append(factor * now["500"][1] - before[trial]["500"][1])
    return float(abs(np.mean(differences)) / (np.std(differences, ddof=1) / np.sqrt(trials)))


@pytest.mark.parametrize("player", ["information ratio", "SparseIDS, horizon=500"])
def test_games_of_sparse_policies_are_like_those_that_are_stored(player: str) -> None:
    """They were played before particles were compressed rows, with other random numbers (docs/rules.md)."""
    assert apart("d20", player) < 4.0


def test_games_of_a_worse_policy_are_told_apart_from_those_that_are_stored() -> None:
    assert apart("d20", "SparseIDS, horizon=500", factor=1.5) > 4.0, "planted: half as much Bayes regret again"


def test_the_figure_of_the_rules_has_the_ratios_of_the_tables() -> None:
    games = stored(rules.STORED)
    found = rules.found_at(games, "d40", 500)
    drawn = rules.points(found, 500, 0), rules.points(found, 500, 1)
    assert [list(one) for one in drawn] == [list(rules.DRAWN), list(rules.DRAWN[:2])]
    for name, one in zip(rules.DRAWN, list(found)[1:], strict=True):
        assert f"| {drawn[0][name]} |" in next(
            row for row in rules.table(found, "d40", 500).splitlines() if row.startswith(f"| {one} |")
        )


def test_the_ratios_in_the_readme_and_the_guide_are_those_of_the_stored_games() -> None:
    games, known = stored(rules.STORED), ("d20", "d40", "d100")
    ratios = {
        (name, mark): rules.ratio(found[rules.ours(mark)[0]][:, 0], found["information ratio"][:, 0])
        for name in known
        for mark in (500, 1000)
        for found in [rules.found_at(games, name, mark)]
    }
    first, second, third = after_500 = [ratios[name, 500] for name in known]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"was {first}, {second} and {third} times that of the paper's rule at 20, 40 and 100 features" in readme
    guide = " ".join((ROOT / "docs" / "choose.md").read_text(encoding="utf-8").split())
    low, high = (f"{end(one.value for one in ratios.values()):.2f}" for end in (min, max))
    assert f"its regret is {low} to {high} times that of the paper's rule" in guide
    values = "{:.2f}, {:.2f} and {:.2f} at 20, 40 and 100 features".format(*(one.value for one in after_500))
    intervals = "{}, {} and {}".format(*(str(one)[6:-1] for one in after_500))
    assert f"after 500 rounds {values}, with 95% intervals of {intervals})" in guide
    ours, ucb, ids, paper = (
        f"{rules.found_at(games, 'd100', 1000)[name][:, 0].mean():.1f}"
        for name in ("SparseIDS, horizon=1000", *rules.DENSE, "information ratio")
    )
    sentence = f"{ours} with known hyperparameters; LinUCB has {ucb} and LinearIDS {ids}, the paper's rule {paper}"
    assert sentence in guide


def test_a_ratio_has_the_digits_that_its_verdict_needs() -> None:
    """Planted: 0.7508 printed as 0.75 does not look like a miss of 0.75."""
    assert paired.written(rules.Estimate(0.7508, 0.14), 0.75) == "0.751 (0.611 to 0.891)"
    assert paired.written(rules.Estimate(0.7508, 0.14), 0.6) == "0.75 (0.61 to 0.89)"
    assert paired.written(rules.Estimate(0.5, 0.1001), 0.6) == "0.5000 (0.3999 to 0.6001)"
    assert paired.written(rules.Estimate(0.6, 0.0), 0.6) == "0.60 (0.60 to 0.60)"


def test_ratios_of_means_and_their_geometric_mean() -> None:
    """Intervals of ratios hold the truth in 95 of 100 comparisons, those of their geometric mean too."""
    rng, inside = np.random.default_rng(0), np.zeros(2)
    for _ in range(400):
        base = rng.gamma(2.0, size=(3, 200))
        values = 0.8 * base * rng.gamma(4.0, 0.25, size=base.shape)
        one, together = rules.ratio(values[0], base[0]), rules.mean_ratio(zip(values, base, strict=True))
        inside += [abs(one.value - 0.8) < one.reach, abs(together.value - 0.8) < together.reach]
        assert together.reach < 0.8 * one.reach
    assert (np.abs(inside / 400 - 0.95) < 0.035).all()
    assert str(rules.ratio(2.0 * base[0], base[0])) == "2.00 (2.00 to 2.00)"


def test_the_bias_of_the_gain_in_the_mathematics_is_the_stored_one() -> None:
    """And what health says to remain is about what was found."""
    text, kept = gain.PAGE.read_text(encoding="utf-8"), json.loads(gain.STORED.read_text())
    assert with_tables(text, gain.COMMAND, gain.tables(kept)) == text
    for row in kept["errors"]:
        assert row["gain, corrected"] < 1.5 * REMAINS * (row["gain"] - row["gain, corrected"]) + 0.015
    assert [row["draws"] for row in gain.exact(2000, (50, 100), 2)] == [50, 100]
    assert [row["draws"] for row in gain.along_games(500, (50, 100), 1, (0, 2))] == [50, 100]
    assert [row["round"] for row in gain.mutual(50, (0, 2))] == [0, 2]


def test_the_screening_of_priors_in_the_measurements_is_the_stored_one() -> None:
    text, found = out_of_the_box.PAGE.read_text(encoding="utf-8"), priors.table(stored(priors.STORED))
    assert found in text.replace(" (**default**)", "")
    one = priors.play("spectra", "total IG(1/2, 1/8)", 0)
    assert one == priors.play("spectra", "total IG(1/2, 1/8)", 0)
    assert one in stored(priors.STORED), "the default prior plays as it is stored"


def test_settings_out_of_the_box_can_be_played() -> None:
    """The cheapest game of each kind, and none that is not deterministic."""
    for setting, player in (("pure noise", "SparseIDS(table)"), ("first decisions", "SparseTS, version 0.1")):
        one = out_of_the_box.play(setting, player, 0)
        assert one == out_of_the_box.play(setting, player, 0)
        assert 0.0 <= one["found"] <= 1.0


def test_the_tables_of_clicks_drift_and_contexts_are_what_the_stored_games_say() -> None:
    text, kept = clicks.PAGE.read_text(encoding="utf-8"), stored(clicks.STORED)
    assert with_tables(text, clicks.COMMAND, clicks.tables(kept)) == text
    assert with_tables(text, clicks.CALIBRATION, clicks.calibration(kept)) == text
    for page in (drift, contexts, many_features):
        text = page.PAGE.read_text(encoding="utf-8")
        assert with_tables(text, page.COMMAND, page.tables(stored(page.STORED))) == text


@pytest.mark.parametrize("player", ["SparseIDS, clicks", "SparseTS, clicks", "SparseIDS, Gaussian", "Laplace TS"])
def test_games_of_clicks_are_deterministic_but_for_their_time(player: str) -> None:
    one, two = (clicks.play("10%", player, 3, 25) for _ in range(2))
    assert one.pop("ms") > 0 < two.pop("ms")
    assert one == two
    assert 0.0 < one["regret"][-1] < 25.0
    assert ("calibration" in one) is (player in clicks.LOOKED_AT)


def test_predicted_clicks_are_compared_with_the_truth() -> None:
    """All actions are in a bin, and the draws behind intervals are those behind predictions."""
    found = clicks.play("10%", "SparseIDS, clicks", 0, 25)["calibration"]
    count, predicted, true = np.sum(found["bins"], axis=0)
    world, _ = paired.world_of(clicks.SETTINGS["10%"], clicks.SEED, 0)
    assert (count, true) == (200, pytest.approx(world.means.sum(), abs=1e-4))
    assert 0.0 < predicted < 200.0
    assert 0.5 < found["covered"] <= 1.0
    policy = sb.SparseIDS(world.actions, rewards=sb.Bernoulli(), seed=0)
    for reward in (0, 1, 0, 0, 1):
        policy.tell(policy.ask(), reward)
    assert click_calibration.mean_rewards(policy, world.actions).mean == pytest.approx(policy.predict().mean, abs=1e-5)


def test_intervals_of_draws_hold_the_truth_as_often_as_they_say() -> None:
    """Also with few draws: the error of the share is half a percent. The plain quantiles of 39 draws would hold 90%."""
    rng = np.random.default_rng(0)
    low, high = click_calibration.interval(rng.standard_normal((39, 2000)), np.full(39, 1 / 39))
    truth = rng.standard_normal(2000)
    assert abs(np.mean((low < truth) & (truth < high)) - 0.95) < 0.02
    weights = np.array([0.5, 0.25, 0.25])
    assert click_calibration.interval(np.array([[1.0], [2.0], [3.0]]), weights)[1] == pytest.approx([3.0])


def test_the_table_of_reliability() -> None:
    """Half of the actions are predicted at 1.5% and are at 3%, the others at 50% and are at 40%."""
    bins = np.zeros((len(click_calibration.EDGES) - 1, 3))
    bins[1], bins[7] = (100, 1.5, 3.0), (100, 50.0, 40.0)
    look = {"bins": bins.tolist(), "squared error": 0.01, "covered": 0.9}
    page = click_calibration.tables({"one": [look, look], "two": [look] * 3}, "a title")
    assert "| 1% to 2% | 50.0% | 1.5% | 3.0% | 50.0% | 1.5% | 3.0% |" in page
    assert "| 40% to 60% | 50.0% | 50.0% | 40.0% | 50.0% | 50.0% | 40.0% |" in page
    assert "| 0% to 1% | 0.0% |  |  | 0.0% |  |  |" in page
    assert "| two | 0.1000 (0.1000 to 0.1000) | 90.0% (90.0% to 90.0%) | 3 |" in page


class Stubborn:
    """A competitor that plays one row, and remembers what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[int, float]] = []

    def ask(self) -> int:
        return 7

    def tell(self, action: int, reward: float) -> None:
        self.told.append((action, reward))


def test_peers_are_told_the_rewards_that_policies_would_be() -> None:
    setting, peer = clicks.SETTINGS["10%"], Stubborn()
    found = paired.game(lambda problem: paired.Peer(peer, problem.actions), setting, 5, 2, rounds=40)
    world, root = paired.world_of(setting, 5, 2)
    noise = IndexedNormals(child(root, NOISE_STREAM))
    outcomes = [world.outcome(t, 7, world.actions[7]) for t in range(40)]
    assert peer.told == [(7, one.reward(t, world.rewards, noise)) for t, one in enumerate(outcomes)]
    assert found["regret"] == [pytest.approx(40 * world.gaps[7], abs=1e-3)]


def contest(*tuned: str) -> paired.Setting:
    def make(problem: Problem) -> paired.Peer:
        return paired.Peer(Stubborn(), problem.actions)

    family, goals = clicks.SETTINGS["10%"].family, {"twice": 0.6, "equal": 0.9}
    players = {"ours": make, "twice": make, "equal": make}
    return paired.Setting(
        "A title", family, 1000, players, goals, {name: {"good": make, "bad": make} for name in tuned}
    )


def played_by(setting: paired.Setting, trials: int) -> list[dict[str, object]]:
    """Return games in which the regret of each player is a multiple of that of the first one."""
    factors = {"ours": 1.0, "twice": 2.0, "equal": 1.0, "tuned": 4.0, "good": 3.0, "bad": 5.0}
    return [
        {"setting": "a", "player": name, "trial": t, "regret": [0.0, factors[name] * (9.0 + t)], "ms": 1.5}
        for name in (*setting.names, *setting.entries)
        for t in range(trials)
    ]


def test_players_are_compared_over_the_same_trials() -> None:
    """With twice the regret of the first, the ratio is a half; a trial after a gap does not count."""
    setting = contest()
    games = [game for game in played_by(setting, 13) if game["player"] != "equal" or game["trial"] != 11]
    page = paired.table(games, "a", setting)
    assert "| ours | 15.0 (" in page
    assert " | 0.50 (0.50 to 0.50) | at most 0.6: reached | 13 | 1.5 |" in page
    assert " | 1.00 (1.00 to 1.00) | at most 0.9: missed | 11 | 1.5 |" in page
    assert paired.table([], "a", setting) == "A title: Not played yet."


def test_a_rival_is_tuned_on_games_of_its_own(tmp_path: Path) -> None:
    setting, path = contest("tuned"), tmp_path / "games.jsonl"
    games = played_by(setting, paired.TUNING_TRIALS)
    path.write_text("".join(json.dumps(game) + "\n" for game in games[:-1]))
    with pytest.raises(RuntimeError, match="all games of its grid"):
        paired.part(path, "a", setting, "tuned")
    path.write_text("".join(json.dumps(game) + "\n" for game in games))
    assert paired.part(path, "a", setting, "tuned") == (setting.entries["good"], setting.seed, {"entry": "good"})
    assert paired.part(path, "a", setting, "bad") == (setting.entries["bad"], setting.tuning_seed, {})
    assert "tuned: `good`, the best of 2 entries." in paired.table(games, "a", setting)
    wanted = paired.jobs({"a": setting}, ["a"], None, 2)
    assert wanted == [("a", player, trial) for trial in range(2) for player in setting.names]
    assert len(paired.tuning_jobs({"a": setting}, wanted)) == 2 * paired.TUNING_TRIALS
    assert paired.tuning_jobs({"a": setting}, paired.jobs({"a": setting}, ["a"], ["ours"], 2)) == []


def test_comparisons_have_worlds_that_no_grid_was_tuned_on() -> None:
    for setting in (*clicks.SETTINGS.values(), *drift.SETTINGS.values(), *contexts.SETTINGS.values()):
        assert setting.seed != setting.tuning_seed
        assert set(setting.goals) <= set(setting.names)
        assert not set(setting.entries) & set(setting.names)
    seeds = {seed for one in (clicks, drift, contexts) for seed in (one.SEED, one.TUNING_SEED)} | {many_features.SEED}
    assert len(seeds) == 7
    assert not seeds & {draws.SEED, rule_games.SEED, screening.SEED, out_of_the_box.SEED, effects.SEED}


def test_context_speed() -> None:
    page = run("benchmarks.context_speed", "--quick")
    assert page.count("at most 15 ") == 2
    assert re.search(r"^conditional IDS( +[\d.]+){3}$", page, re.MULTILINE)


def test_click_speed() -> None:
    page = run("benchmarks.click_speed", "--quick")
    assert page.count("at most 5 ") == 4
    assert re.search(r"^changing +default +clicks, 3%( +[\d.]+){5}$", page, re.MULTILINE)


def test_goals_on_the_speed_of_clicks_are_met_and_missed() -> None:
    """Ratios are taken within a seed, growth on changing actions from the middle of a run to its end."""

    def runs(factor: float, growth: float) -> list[Figures]:
        return [
            {
                "actions": actions,
                "draws": number,
                "family": family,
                "mean": [1.0, 3.0] if family == click_speed.GAUSSIAN else [factor, 3.0 * factor],
                "stretches": [[1.0, 1.0, 1.0, growth]] * 2,
            }
            for actions, number in click_speed.CASES
            for family in click_speed.FAMILIES
        ]

    assert all(goal["met"] for goal in click_speed.goals(runs(4.9, 1.05)))
    assert [goal["met"] for goal in click_speed.goals(runs(5.1, 1.5))] == [False] * 8 + [True] * 2
    assert not any(goal["met"] for goal in click_speed.goals(runs(5.1, 2.1)))


@pytest.mark.parametrize("player", [many_features.OURS, "VariationalTS", "SALasso"])
def test_games_of_many_features_are_deterministic_but_for_their_time(player: str) -> None:
    one, two = (many_features.play("chakraborty", player, 2, 8) for _ in range(2))
    assert one.pop("ms") > 0 < two.pop("ms")
    assert one == two
    assert 0.0 < one["regret"][-1] < 50.0


@pytest.mark.parametrize("setting", [*contexts.SETTINGS])
@pytest.mark.parametrize("player", [contexts.OURS, "SquareCB, ridge, scale 30", "DynamicBatch, 3 batches"])
def test_games_with_contexts_are_deterministic_but_for_their_time(setting: str, player: str) -> None:
    one, two = (contexts.play(setting, player, 3, 20) for _ in range(2))
    assert one.pop("ms") > 0 < two.pop("ms")
    assert one == two
    assert 0.0 < one["regret"][-1] < 200.0


@pytest.mark.parametrize(
    ("setting", "player"),
    [
        ("abrupt", drift.OURS),
        ("rotation", "LinTS, half-life 250"),
        ("none", "SparseIDS"),
        ("abrupt", [*drift.GRID[30]][5]),
    ],
)
def test_games_of_drift_are_deterministic_but_for_their_time(setting: str, player: str) -> None:
    one, two = (drift.play(setting, player, 3, 25) for _ in range(2))
    assert one.pop("ms") > 0 < two.pop("ms")
    assert one == two
    assert 0.0 < one["regret"][-1] < 100.0


@pytest.mark.parametrize("player", ["splines", "auto"])
def test_games_of_effects_are_deterministic_but_for_their_time(player: str) -> None:
    one, two = (effects.play("squares", player, 3, (8, 14), 100) for _ in range(2))
    assert min(one.pop("seconds")) > 0 < min(two.pop("seconds"))
    assert one == two
    assert min(one["regret"]) >= 0.0
    assert one["chosen"][0] == ("linear" if player == "auto" else player), "linear before the tenth reward"


def test_the_tables_of_effects_are_what_the_stored_games_say() -> None:
    """docs/decide.md; a changed game would show."""
    text, games = effects.PAGE.read_text(encoding="utf-8"), stored(effects.STORED)
    assert with_tables(text, effects.COMMAND, effects.page(games)) == text
    changed = [{**games[0], "regret": [99.0, 99.0, 99.0]}, *games[1:]]
    assert with_tables(text, effects.COMMAND, effects.page(changed)) != text


def test_truths_of_effects_differ_as_they_are_said_to() -> None:
    """A linear fit explains all of the linear truth, and less of the others; each has standard deviation one."""
    for truth in effects.TRUTHS:
        x, means = effects.table(truth, np.random.default_rng(7))
        assert (means.mean(), means.std()) == (pytest.approx(0.0, abs=1e-9), pytest.approx(1.0))
        columns = np.column_stack([np.ones(len(x)), x])
        left = means - columns @ np.linalg.lstsq(columns, means)[0]
        assert bool(left.std() < 1e-9) is (truth == "linear")
