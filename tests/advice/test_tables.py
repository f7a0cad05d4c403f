"""Tables as people have them: what a person would expect of each, what is said about it, and what is asked.

The files are in ``tables/``, as UTF-8 text that can be read; the test writes them in the encoding of the case.
Workbooks are made from the rows below.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsebandits.advice.read import History, read_history
from sparsebandits.arguments import ArgumentValueError

TABLES = Path(__file__).parent / "tables"
SEMICOLONS, TABS, COMMAS = (
    "cells are separated by semicolons",
    "cells are separated by tabs",
    "numbers have decimal commas",
)
WINDOWS = "the file is read as Windows-1252 text, since it is not UTF-8"


@dataclass(frozen=True)
class Case:
    """A table and what a person expects of it.

    Attributes
    ----------
    names : str
        The actions, separated by bars.
    features : dict of str to list of float or None
        All features, and the values of some.
    rewards : dict of str to list of float
        Past rewards by action.
    assumed : dict of str to str
        What is assumed, and the option that states it.
    notes : tuple of str
        Everything else that is said.
    encoding : str
        Encoding of the file.
    stated : dict of str to str
        What has to be stated.
    sheets : dict of str to rows
        Content of a workbook.
    """

    names: str
    features: dict[str, list[float] | None]
    rewards: dict[str, list[float]]
    assumed: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    encoding: str = "utf-8"
    stated: dict[str, str] = field(default_factory=dict)
    sheets: dict[str, Sequence[Sequence[Any]]] = field(default_factory=dict)


def reward(column: str, more: str = "") -> dict[str, str]:
    said = f"{column}=reward"
    option = f"--as {said}" if " " not in said and "(" not in said else f'--as "{said}"'
    return {f"{column} holds the past rewards, larger is better{more}": option}


def last(column: str, more: str = "") -> dict[str, str]:
    text = f"{column} is the last column, has empty cells and holds the past rewards, larger is better{more}"
    return {text: f"--as {column}=reward"}


CASES = {
    "spectrometer.csv": Case(
        "P1|P2|P3|P4|P5",
        {"400": [0.112, 0.210, 0.305, 0.150, 0.099], "410": None, "420": None, "430": None},
        {"P2": [61.5], "P3": [58.0]},
        reward("Yield (%)"),
    ),
    "ab_test.csv": Case(
        "A|B|C|D|E|F",
        {
            "headline=long": [0, 0, 1, 1, 0, 0],
            "headline=question": None,
            "headline=short": None,
            "button=blue": None,
            "button=green": [0, 0, 0, 0, 1, 0],
            "button=red": None,
            "video": [1, 0, 0, 1, 1, 0],
        },
        {"A": [2.31], "B": [2.05], "D": [2.8]},
        {
            "headline is a category: long, question, short": "--as headline=category",
            "button is a category: blue, green, red": "--as button=category",
            "video is yes or no: yes is 1, no is 0": "--as video=yes-no",
            **reward("conversion", "; in %"),
        },
    ),
    "wine_tasting.csv": Case(
        "Riesling Alte Reben|Chablis|Rioja|Barolo|Chianti",
        {
            "country=Germany": [1, 0, 0, 0, 0],
            "country=Italy": [0, 0, 0, 1, 1],
            "country=other": [0, 1, 1, 0, 0],
            "vintage": None,
            "alcohol": [11.5, 12.5, 14, 14.5, 13.5],
            "sugar": [7.2, 1.9, 2.1, 2.4, 2.2],
        },
        {"Riesling Alte Reben": [91, 89], "Chablis": [88], "Barolo": [93]},
        {
            "wine names the actions": "--as wine=name",
            "1 row repeats an action and counts as a trial of it": "",
            "country is a category: Germany, Italy, other; 2 rare levels (France, Spain) are pooled as other": (
                "--as country=category"
            ),
            "alcohol is a number: in %": "--as alcohol=number",
            "sugar is a number: in g/l": "--as sugar=number",
            **reward("score"),
        },
    ),
    "marketing_german.csv": Case(
        "Newsletter|Plakate|Suchanzeigen|Radio|Messe",
        {
            "Budget (€)": [1500, 12000, 3250.5, 8000, 6400],
            "Zielgruppe=Bestandskunden": None,
            "Zielgruppe=Neukunden": None,
            "Zielgruppe=Öffentlichkeit": [0, 1, 0, 1, 0],
            "Laufzeit (Tage)": None,
            "Rabatt": [10, 0, 5, 0, 15],
        },
        {"Newsletter": [4210.5], "Suchanzeigen": [7900]},
        {
            SEMICOLONS: "",
            COMMAS: "",
            WINDOWS: "",
            "Budget (€) is a number: points separate thousands": '--as "Budget (€)=number"',
            "Zielgruppe is a category: Bestandskunden, Neukunden, Öffentlichkeit": "--as Zielgruppe=category",
            "Rabatt is a number: in %": "--as Rabatt=number",
            **reward("Umsatz", "; points separate thousands"),
        },
        encoding="cp1252",
    ),
    "plate_reader.csv": Case(
        "A1|A2|A3|A4|B1",
        {"Dye (µM)": None, "Buffer=Tris": [0, 0, 1, 1, 0], "Temp": [25, 25, 37, 37, 37]},
        {"A1": [0.41], "A3": [0.52]},
        {
            "2 lines above the column names are left out": "",
            "Buffer is a category: PBS, Tris": "--as Buffer=category",
            "Temp is a number: in °C": "--as Temp=number",
            **last("OD600"),
        },
    ),
    "shop_products.csv": Case(
        "Oat bar|Nut mix|Cheese bites|Muesli|Jerky",
        {"price": [1.99, 4.49, 3.29, 5.99, 6.49], "weight": [45, 200, 150, 1000, 80], "vegan": [1, 1, 0, 1, 0]},
        {"Oat bar": [120], "Cheese bites": [75]},
        {
            "EAN tells the rows apart and is not a feature": "--as EAN=ignore",
            "product names the actions": "--as product=name",
            "price is a number: in €": "--as price=number",
            "weight is a number: in g, converted from kg": "--as weight=number",
            "vegan is yes or no: true is 1, false is 0": "--as vegan=yes-no",
            **reward("sold"),
        },
    ),
    "prices_german.csv": Case(
        "Herd|Ofen|Kühlschrank|Spüle",
        {"Preis": [1299, 899, 2149.9, 249], "Gewicht": [62.5, 41, 80, 12.4]},
        {"Herd": [4.2], "Kühlschrank": [4.7]},
        {
            SEMICOLONS: "",
            COMMAS: "",
            "Preis is a number: in €; points separate thousands": "--as Preis=number",
            "Gewicht is a number: in kg": "--as Gewicht=number",
            **reward("Bewertung"),
        },
    ),
    "survey.csv": Case(
        "1041|1057|1063|1088|1102",
        {
            "age": [34, 51, 28, 45, 39],
            "gender=m": [0, 1, 0, 1, 0],
            "satisfied=agree": None,
            "satisfied=disagree": None,
            "satisfied=neutral": None,
        },
        {"1041": [7], "1057": [3]},
        {
            "respondent_id names the actions": "--as respondent_id=name",
            "gender is a category: f, m": "--as gender=category",
            "satisfied is a category: agree, disagree, neutral": "--as satisfied=category",
            "comment has 4 different texts in 4 rows and is not used": "--as comment=ignore",
            **reward("rating"),
        },
    ),
    "pandas_index.csv": Case(
        "small|medium|large|family",
        {"price": [2, 3, 5, 8], "size": None},
        {"small": [3.1], "large": [4]},
        {"offer names the actions": "--as offer=name"},
        ("past rewards are read from reward",),
    ),
    "r_table.txt": Case(
        "run1|run2|run3|run4",
        {"dose": [1.5, 2, 1.5, 2], "temp": [80, 80, 100, 100], "catalyst=Pd": [1, 0, 1, 0]},
        {"run1": [62.1], "run3": [70.4]},
        {
            "cells are separated by spaces": "",
            "the first cell of each line has no column name and names the row": "",
            "catalyst is a category: Ni, Pd": "--as catalyst=category",
            **reward("yield"),
        },
    ),
    "umlauts.csv": Case(
        "Brie|Gruyère|Münster|Tête de Moine",
        {"Säure": [4.9, 5.4, 5.1, 5.3], "Würzung=mild": [1, 0, 0, 1]},
        {"Brie": [8], "Münster": [6]},
        {WINDOWS: "", "Würzung is a category: kräftig, mild": "--as Würzung=category", **reward("Punkte")},
        encoding="latin-1",
    ),
    "unicode_text.txt": Case(
        "Käsekuchen|Nusskuchen|Möhrenkuchen|Streusel",
        {"Zucker": [0.25, 0.2, 0.18, 0.3], "Backzeit": [60, 60, 45, 35]},
        {"Käsekuchen": [8.5], "Möhrenkuchen": [7]},
        {
            TABS: "",
            COMMAS: "",
            "Backzeit is a number: in min, converted from h": "--as Backzeit=number",
            **reward("Bewertung"),
        },
        encoding="utf-16",
    ),
    "sep_line.csv": Case(
        "one|two|three",
        {"share": [0.25, 0.5, 0.75], "days": [3, 7, 14]},
        {"one": [5.5], "three": [6.1]},
        {SEMICOLONS: "", **reward("score")},
    ),
    "trailing.csv": Case(
        "M1|M2|M3|M4",
        {"cement": [300, 320, 340, 360], "water": [150.5, 150.5, 160, 155]},
        {"M1": [41.5], "M3": [44]},
        {SEMICOLONS: "", COMMAS: "", **last("strength")},
    ),
    "not_determined.csv": Case(
        "K1|K2|K3|K4|K5",
        {"chromium": None, "nickel": [8.1, 9.3, 9.4, 9.3, 10.4], "nickel missing": [0, 1, 0, 1, 0]},
        {"K1": [210], "K3": [198]},
        {
            "nickel is a number: 2 missing cells (n.d.) are taken as the mean and marked by “nickel missing”": (
                "--as nickel=number"
            ),
            **last("hardness"),
        },
    ),
    "dates_iso.csv": Case(
        "b1|b2|b3|b4",
        {"started": [0, 2, 31, 57], "finished": [0.5, 2.75, 32, 58.25], "temp": None},
        {"b1": [3], "b3": [5]},
        {
            "started is a date: days since 2025-01-03": "--as started=date",
            "finished is a date: days since 2025-01-03": "--as finished=date",
            **reward("score"),
        },
    ),
    "dates_german.csv": Case(
        "C1|C2|C3|C4",
        {"Beginn": [0, 12, 30, 31], "Dauer": [1.5, 2, 2.5, 1]},
        {"C1": [81], "C3": [84]},
        {
            SEMICOLONS: "",
            COMMAS: "",
            "Beginn is a date: days since 2025-01-03": "--as Beginn=date",
            **reward("Ausbeute"),
        },
    ),
    "dates_us.csv": Case(
        "b1|b2|b3",
        {"shipped": [0, 22, 31], "opened": [0, 29, 31], "temp": None},
        {"b1": [3], "b3": [5]},
        {
            "shipped is a date: days since 2025-01-03": "--as shipped=date",
            "opened is a date: days since 2025-01-03": "--as opened=date",
            **reward("score"),
        },
    ),
    "dates_unclear.csv": Case(
        "b1|b2|b3",
        {"shipped": [0, 61, 92], "temp": None},
        {"b1": [3], "b3": [5]},
        {
            "shipped is a date: days since 2025-03-04, taking 3/4/25 as month, day, year": "--as shipped=date",
            **reward("score"),
        },
    ),
    "repeats.csv": Case(
        "1|2|4",
        {"flour": [500, 500, 600], "water": [300, 350, 300]},
        {"1": [7, 8]},
        {"1 row repeats the features of another and counts as a trial of the same action": ""},
        ("past rewards are read from reward",),
    ),
    "percent.csv": Case(
        "spring|summer|autumn|winter|sale",
        {"open rate": [21.5, 18, 23.75, 25, 30.5], "discount": [10, 0, 5, 15, 20]},
        {"spring": [1200], "autumn": [900]},
        {
            "open rate is a number: in %; 1 empty cell is taken as the mean": '--as "open rate=number"',
            "discount is a number: in %": "--as discount=number",
            **reward("revenue"),
        },
    ),
    "booleans.csv": Case(
        "r1|r2|r3|r4|r5",
        {"butter": [1, 0, 1, 0, 0], "nuts": [1, 0, 0, 1, 1], "vegan": [1, 0, 0, 1, 1], "spicy": [1, 0, 0, 1, 0]},
        {"r1": [3], "r2": [4]},
        {
            "butter is yes or no: true is 1, false is 0": "--as butter=yes-no",
            "nuts is yes or no: t is 1, f is 0": "--as nuts=yes-no",
            "vegan is yes or no: x is 1, an empty cell is 0": "--as vegan=yes-no",
            "spicy is yes or no: ja is 1, nein is 0": "--as spicy=yes-no",
            **reward("score"),
        },
    ),
    "gaps.csv": Case(
        "c1|c2|c3|c4|c5",
        {
            "logP": [1.5, 2.5, 2.5, 2.5, 3.5],
            "logP missing": [0, 1, 0, 1, 0],
            "weight": [310.2, 295.1, 324.0, 402.7, 288.0],
            "donors": [2, 2, 1, 3, 2],
            "solvent=DMSO": None,
            "solvent=missing": [0, 0, 0, 1, 0],
            "solvent=water": None,
        },
        {"c1": [7.1], "c3": [6.4]},
        {
            "logP is a number: 2 missing cells (NA) are taken as the mean and marked by “logP missing”": (
                "--as logP=number"
            ),
            "weight is a number: 1 empty cell is taken as the mean": "--as weight=number",
            "donors is a number: 1 empty cell is taken as the mean": "--as donors=number",
            "solvent is a category: DMSO, missing, water": "--as solvent=category",
            **last("activity"),
        },
    ),
    "hardness.csv": Case(
        "S1|S2|S3|S4|S5",
        {"carbon": [0.4, 0.4, 0.6, 0.6, 0.8], "quench=air": None, "quench=oil": [1, 0, 1, 0, 0], "quench=water": None},
        {"S1": [52.5], "S3": [58]},
        {"quench is a category: air, oil, water": "--as quench=category", **last("hardness")},
    ),
    "ausbeute.tsv": Case(
        "1|2|3|4",
        {"Temperatur": [80.5, 90, 80.5, 90], "Druck": [1, 1, 2, 2]},
        {"1": [61.2], "3": [63.9]},
        {TABS: "", COMMAS: "", "Versuch names the actions": "--as Versuch=name", **reward("Ausbeute")},
    ),
    "two_results.csv": Case(
        "r1|r2|r3|r4",
        {"temp": [80, 90, 80, 90], "time": None},
        {"r1": [61.2], "r3": [70.1]},
        notes=("past rewards are read from yield",),
        stated={"yield": "reward", "score": "ignore"},
    ),
    "units.csv": Case(
        "k1|k2|k3|k4",
        {"active": [500, 1000, 250, 750], "filler": [0.2, 0.1, 0.3, 0.25], "lead": [0.5, 0.7, 0.5, 1.2]},
        {"k1": [81], "k3": [90]},
        {
            "active is a number: in mg, converted from g": "--as active=number",
            "filler is a number: in g": "--as filler=number",
            "lead is a number: 2 with a sign such as < are taken as plain numbers": "--as lead=number",
            **last("dissolution"),
        },
    ),
    "constant.csv": Case(
        "a|b|c|d",
        {"format=png": [0, 1, 0, 1]},
        {"a": [31], "c": [28]},
        {"format is a category: gif, png": "--as format=category", **reward("clicks")},
        (
            "width is the same for all actions and is left out",
            "lang is the same for all actions and is left out",
        ),
    ),
    "zip_codes.csv": Case(
        "Dresden|Erfurt|Leipzig|Jena",
        {"area": [120, 80, 200, 95], "staff": None},
        {"Dresden": [900], "Leipzig": [1450]},
        {
            "zip has 4 different texts in 4 rows and is not used": "--as zip=ignore",
            "phone has 4 different texts in 4 rows and is not used": "--as phone=ignore",
            **reward("sales"),
        },
    ),
    "thousands.csv": Case(
        "Springfield|Shelbyville|Ogdenville|North Haverbrook",
        {"population": [116250, 8400, 21900, 950], "area": None, "income": [1234.5, 980, 1050.25, 2100]},
        {"Springfield": [12], "Ogdenville": [9]},
        {
            "population is a number: commas separate thousands": "--as population=number",
            "income is a number: commas separate thousands": "--as income=number",
            **reward("profit"),
        },
    ),
    "rare.csv": Case(
        "|".join(f"i{k}" for k in range(10)),
        {
            "brand=Acme": [1, 1, 0, 0, 1, 1, 0, 0, 0, 0],
            "brand=Bolt": None,
            "brand=other": [0, 0, 0, 0, 0, 0, 1, 1, 0, 1],
            "weight": None,
        },
        {"i0": [5], "i2": [7], "i4": [9], "i6": [11], "i8": [13]},
        {
            "brand is a category: Acme, Bolt, other; acme counts as Acme; 3 rare levels (Corx, Dent, Edge) are pooled "
            "as other": "--as brand=category",
            **reward("score"),
        },
    ),
    "replicates.csv": Case(
        "p1|p2|p3|p4",
        {"pigment": [10, 12, 15, 8], "binder": None},
        {"p1": [3.5, 3.7], "p3": [4.1]},
        {"another column score is called score 2": "", **reward("score"), **reward("score 2")},
    ),
    "codes.csv": Case(
        "x1|x2|x3|x4",
        {
            "drawing=3-12": [1, 0, 1, 0],
            "drawing=3-14": None,
            "drawing=4-01": None,
            "length": [15, 25, 15, 40],
            "tolerance=2-4": [0, 1, 0, 1],
        },
        {"x1": [4], "x3": [6]},
        {
            "drawing is a category: 3-12, 3-14, 4-01": "--as drawing=category",
            "length is a number: in mm; 2 ranges are taken as their middle": "--as length=number",
            "tolerance is a category: 1-2, 2-4": "--as tolerance=category",
            **reward("score"),
        },
    ),
    "numeric_ids.csv": Case(
        "1734|1802|1955",
        {"price": [2.5, 3.5, 4.5], "size": [3, 4, 9]},
        {"1734": [4, 5], "1955": [6]},
        {
            "product id names the actions": '--as "product id=name"',
            "1 row repeats an action and counts as a trial of it": "",
            **reward("score"),
        },
    ),
    "customers.csv": Case(
        "A|B|C",
        {"price": [12, 18, 15], "courses": [2, 3, 3]},
        {"A": [4], "C": [5]},
        {"customer_id tells things apart and is not a feature": "--as customer_id=ignore", **reward("score")},
    ),
    "blank_lines.csv": Case(
        "slow|fast|medium",
        {"speed": [1, 9, 5], "load": [10, 12, 11]},
        {"slow": [4.5], "medium": [6]},
        reward("result"),
    ),
    "mixed_decimals.csv": Case(
        "green|black|white",
        {"grams": [2.5, 3.25, 2.75], "minutes": None, "price": [4.5, 3.8, 12.9]},
        {"green": [4], "white": [5]},
        {"price is a number: with decimal commas": "--as price=number", **reward("rating")},
    ),
    "long_numbers.csv": Case(
        "1001|1002|1003",
        {"batch": [0, 1, 15], "measured": None, "Preis": [1299, 899, 2450]},
        {"1001": [3], "1003": [4]},
        {
            SEMICOLONS: "",
            COMMAS: "",
            "ticket names the actions": "--as ticket=name",
            "batch is a date: days since 2025-01-31": "--as batch=date",
            "Preis is a number: points separate thousands": "--as Preis=number",
            **reward("Ertrag"),
        },
    ),
    "recipes.xlsx": Case(
        "light|medium|dark|city",
        {"when": [0, 2, 31, 57], "robusta": [0.45, 0.1, 0.2, 0], "filtered": [1, 0, 1, 0], "grind=fine": [1, 0, 1, 0]},
        {"light": [7.5], "dark": [6]},
        {
            "worksheet Trials is read, not Notes, Old": "",
            "2 lines above the column names are left out": "",
            "when is a date: days since 2025-01-03": "--as when=date",
            "grind is a category: coarse, fine": "--as grind=category",
            **reward("score"),
        },
        sheets={
            "Notes": [["Please do not change"], ["Ask Kim"]],
            "Trials": [
                ["Coffee trials"],
                ["(as of March)"],
                ["roast", "when", "robusta", "filtered", "grind", "score"],
                ["light", date(2025, 1, 3), 0.45, True, "fine", 7.5],
                ["medium", date(2025, 1, 5), 0.1, False, "coarse", None],
                [None, None, None, None, None, None],
                ["dark", date(2025, 2, 3), 0.2, True, "fine", 6],
                ["city", date(2025, 3, 1), 0, False, "coarse", None],
            ],
            "Old": [["roast", "score"], ["burnt", 1]],
        },
    ),
    "german.xlsx": Case(
        "Teig|Guss|Kern",
        {"Menge": [1.5, 2, 2.5], "Anteil": [10, 12.5, 20]},
        {"Teig": [3], "Kern": [4.5]},
        {
            "Menge is a number: with decimal commas": "--as Menge=number",
            "Anteil is a number: in %; with decimal commas": "--as Anteil=number",
            **reward("Ergebnis", "; with decimal commas"),
        },
        sheets={
            "Tabelle1": [
                [None, "Teil", "Menge", "Anteil", "Ergebnis"],
                [None, "Teig", "1,5", "10 %", 3],
                [None, "Guss", 2, "12,5 %", None],
                [None, "Kern", "2,5", "20 %", "4,5"],
            ]
        },
    ),
}


def made(file: str, case: Case, folder: Path) -> Path:
    """Write the table as a person has it."""
    path = folder / file
    if not case.sheets:
        path.write_bytes((TABLES / file).read_bytes().decode("utf-8").encode(case.encoding))
        return path
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in case.sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    book.save(path)
    return path


def rewards_of(past: History) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for action, value in zip(past.tried.tolist(), past.rewards.tolist(), strict=True):
        found.setdefault(past.names[action], []).append(value)
    return found


def test_every_file_has_a_case() -> None:
    assert {path.name for path in TABLES.iterdir()} == {name for name, case in CASES.items() if not case.sheets}
    assert len(CASES) >= 30


@pytest.mark.parametrize("file", CASES)
def test_a_table_is_read_as_a_person_would(file: str, tmp_path: Path) -> None:
    case = CASES[file]
    past = read_history(made(file, case, tmp_path), columns=case.stated or None)
    assert "|".join(past.names) == case.names
    assert list(past.feature_names) == list(case.features)
    for name, values in case.features.items():
        if values is not None:
            np.testing.assert_allclose(past.features[:, past.feature_names.index(name)], values, rtol=1e-12)
    assert rewards_of(past) == case.rewards
    assert {one.text: one.option for one in past.assumed} == case.assumed
    assert sorted(past.notes) == sorted(case.notes)
    assert len(past.sources) == len(past.continuous) == len(past.feature_names)


@pytest.mark.parametrize("file", CASES)
def test_stating_what_was_assumed_changes_nothing(file: str, tmp_path: Path) -> None:
    case = CASES[file]
    path = made(file, case, tmp_path)
    past = read_history(path, columns=case.stated or None)
    stated = {one.column: one.role for one in past.assumed if one.role}
    again = read_history(path, columns={**case.stated, **stated})
    assert again.names == past.names
    assert again.feature_names == past.feature_names
    np.testing.assert_array_equal(again.features, past.features)
    assert rewards_of(again) == rewards_of(past)
    assert again.continuous == past.continuous
    assert not [one for one in again.assumed if one.role], "what has an option is not assumed again"


def test_two_results_are_asked_about() -> None:
    with pytest.raises(ArgumentValueError, match=r"got 'yield' and 'score'.*; say which one with --as yield=reward$"):
        read_history(TABLES / "two_results.csv")


def test_formulas_without_stored_values_are_refused(tmp_path: Path) -> None:
    """They were read as empty cells: rewards vanished."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["name", "price", "reward"], ["a", 1.0, "=B2*2"], ["b", 2.0, None], ["c", 3.0, "=B4*2"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(
        ArgumentValueError, match=r"formulas with stored values .* got none in C2 of worksheet Sheet in"
    ):
        read_history(tmp_path / "t.xlsx")
