"""Constraints on the rows to recommend."""

import re

import numpy as np
import pandas as pd
import pytest

from sparsebandits.advice.sheet import Sheet, sheet_of
from sparsebandits.advice.where import rows_where


def sheet() -> Sheet:
    frame = pd.DataFrame(
        {
            "price": [1.0, 2.0, np.nan, 4.0],
            "colour": ["red", "Blue", "red", "black and white"],
            "price < EUR": [1.0, 2.0, 3.0, 4.0],
            "salt and pepper": [1.0, 0.0, 1.0, 0.0],
            "a=b": [0.1, 0.2, 0.3, 0.4],
            'width "inner"': [5.0, 6.0, 7.0, 8.0],
            "baker's dozen": [1.0, 2.0, 3.0, 4.0],
            "this or that": [1.0, 2.0, 3.0, 4.0],
        }
    )
    return sheet_of("actions", frame)


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("price < 3", [0, 1]),
        ("price<=2 and colour = red", [0]),
        ("price >= 1 AND colour != red", [1, 3]),
        ("colour = BLUE", [1]),
        ("'price' ≥ 2", [1, 3]),
        ('"price < EUR" < 3', [0, 1]),
        ("`price < EUR` >= 2 and price < 3", [1]),
        ("price < 3 and 'price < EUR' > 1", [1]),
        ('"salt and pepper" = 1 and price = 1', [0]),
        ("salt and pepper = 1", [0, 2]),
        ("price < 9 and salt and pepper = 0", [1, 3]),
        ("'a=b' > 0.25", [2, 3]),
        ('`width "inner"` > 6', [2, 3]),
        ('width "inner" > 6', [2, 3]),
        ("baker's dozen < 2", [0]),
        ('"baker\'s dozen" < 2', [0]),
        ("'this or that' > 3", [3]),
        ('colour = "black and white"', [3]),
        ("colour = 'black and white' and price > 1", [3]),
        (["price > 1", "price < 3"], [1]),
        ((), [0, 1, 2, 3]),
    ],
)
def test_rows(condition: str, rows: list[int]) -> None:
    assert np.flatnonzero(rows_where(sheet(), condition)).tolist() == rows


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("price", "where: expected comparisons such as 'price < 5'"),
        ("", "where: expected comparisons"),
        ("price < 5 and cheap", "got 'cheap'"),
        ("price << 5", "where: expected comparisons"),
        ("prize < 5", "did you mean 'price'?"),
        ("price < red", "a number to compare column 'price' with"),
        ("colour < red", "= or != for the texts of column 'colour'"),
        ("price < 5 or price > 7", "'or' is not supported"),
        ("colour = black and white", "got 'white'"),
        ("price < EUR < 5", 'put the name in quotation marks: "price < EUR"'),
        ("a=b > 0.2", 'put the name in quotation marks: "a=b"'),
        ("this or that > 2", 'put the name in quotation marks: "this or that"'),
        ("price < 5 and a=b > 0.2", 'put the name in quotation marks: "a=b"'),
        ('"price < euro" < 5', "did you mean 'price < EUR'?"),
    ],
)
def test_what_is_refused(condition: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        rows_where(sheet(), condition)


def test_conditions_are_texts() -> None:
    with pytest.raises(TypeError, match="where: expected comparisons"):
        rows_where(sheet(), ["price < 5", 3])  # type: ignore[list-item]
