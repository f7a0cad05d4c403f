"""Maps from a user and items to features: against loops over pairs, and what they refuse."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sparsebandits import features as f
from sparsebandits.arguments import ArgumentError
from sparsebandits.features.encoding import Encoding
from sparsebandits.features.frame import Frame, row_of
from sparsebandits.features.maps import DEFAULT, Space, called
from sparsebandits.features.terms import Factors, Term

USERS = Frame.of(
    "users", [{"age": 30, "country": "DE"}, {"age": 50, "country": "FR"}, {"age": 40, "country": "DE"}], ""
)
ITEMS = Frame.of("items", {"price": [1.0, 2.0], "kind": ["book", "film"]}, "")
SPACE = Space(Encoding.of(USERS), Encoding.of(ITEMS), ("a", "b"))


def pairs(made: f.FeatureMap) -> np.ndarray:
    return made.values(SPACE, SPACE.users.encoded(USERS), SPACE.items.encoded(ITEMS))


def test_numbers_are_in_standard_units_and_categories_are_indicators() -> None:
    matrix = SPACE.users.encoded(USERS)
    np.testing.assert_allclose(matrix[:, 0], (np.array([30, 50, 40]) - 40) / np.std([30, 50, 40]))
    np.testing.assert_array_equal(matrix[:, 1:], [[1, 0], [0, 1], [1, 0]])
    for number in range(3):
        np.testing.assert_array_equal(SPACE.users.encoded_row(USERS.row(number)), matrix[number])
    assert SPACE.users.encoded_row({"age": 40, "country": "elsewhere"}).tolist() == [0, 0, 0]


def test_booleans_are_zero_and_one() -> None:
    """Planted: in standard units, premium × price would differ from zero for those who are not premium."""
    users = Frame.of("users", [{"premium": False}, {"premium": True}, {"premium": False}], "")
    space = Space(Encoding.of(users), Encoding.of(ITEMS), ("a", "b"))
    assert space.users.names == ("premium",)
    np.testing.assert_array_equal(space.users.encoded(users)[:, 0], [0.0, 1.0, 0.0])
    products = f.cross("premium", "price").values(space, space.users.encoded(users), space.items.encoded(ITEMS))
    np.testing.assert_array_equal(products[:, :, 0], [[0.0, 0.0], [-1.0, 1.0], [0.0, 0.0]])
    assert users.row(1) == {"premium": True}
    assert users.row(1)["premium"] is True
    for given in (True, np.True_, 1, 1.0):
        assert space.users.encoded_row(row_of("context", {"premium": given}, ["premium"])).tolist() == [1.0]
    assert Encoding.of(Frame.of("users", {"x": [True, 2, False]}, "")).columns[0].scale != 1.0, "these are numbers"
    values, _ = called(lambda user, item: {"both": user["premium"]}, users, ITEMS, None)
    assert values[:, 0, 0].tolist() == [0.0, 1.0, 0.0]


def test_a_constant_column_is_not_divided_by_its_rounding() -> None:
    table = Frame.of("users", {"x": [0.1] * 3}, "")
    assert Encoding.of(table).columns[0].scale == 1.0


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (f.user("age"), ["age"]),
        (f.item(), ["price", "kind=book", "kind=film"]),
        (f.cross("age", "price"), ["age × price"]),
        (f.cross(), [f"{u} × {v}" for u in SPACE.users.names for v in SPACE.items.names]),
        (f.concat("price", f.cross("country", "kind")), None),
        (f.per_item("age"), ["age for a", "level for a", "age for b", "level for b"]),
        (DEFAULT, None),
    ],
    ids=str,
)
def test_a_map_is_a_loop_over_pairs(made: f.FeatureMap, names: list[str] | None) -> None:
    found, labels = pairs(made), made.names(SPACE)
    assert names is None or list(labels) == names
    values = {**dict(zip(SPACE.users.names, SPACE.users.encoded(USERS).T, strict=True))}
    of_items = dict(zip(SPACE.items.names, SPACE.items.encoded(ITEMS).T, strict=True))
    for m in range(3):
        for k, label in enumerate(("a", "b")):
            for name, value in zip(labels, found[m, k], strict=True):
                if " for " in name:
                    name, owner = name.split(" for ")
                    expected = 0.0 if owner != label else 1.0 if name == "level" else values[name][m]
                else:
                    parts = [values[one][m] if one in values else of_items[one][k] for one in name.split(" × ")]
                    expected = np.prod(parts)
                assert value == expected


def test_columns_that_both_have_say_whose_they_are() -> None:
    space = Space(Encoding.plain(("age",)), Encoding.plain(("age",)), ("a",))
    assert f.concat(f.user(), f.item()).names(space) == ("user age", "item age")
    with pytest.raises(ArgumentError, match=r"which both have: say user\('age'\) or item\('age'\)"):
        f.concat("age").names(space)


@pytest.mark.parametrize("made", [f.user("size"), f.item("age"), f.cross("size", "price")], ids=str)
def test_a_column_that_is_not_there_is_refused(made: f.FeatureMap) -> None:
    with pytest.raises(ArgumentError, match=r"^features: expected columns of .*\(.*\), got '(size|age)'$"):
        made.names(SPACE)


@pytest.mark.parametrize("part", [3, [], [1], None, object()])
def test_what_is_no_map_is_refused(part: object) -> None:
    with pytest.raises(ArgumentError, match=r"^features: expected a map"):
        f.concat(part)  # type: ignore[arg-type]


def test_a_function_gets_columns_as_they_are() -> None:
    def both(user: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
        return {"fit": user["age"] * item["price"], "german book": user["country"] == "DE" and item["kind"] == "book"}

    found, names = called(both, USERS, ITEMS, None)  # booleans are numbers, as in tables
    assert names == ["fit", "german book"]
    assert found[0].tolist() == [[30.0, 1.0], [60.0, 0.0]]


@pytest.mark.parametrize("returned", [3.0, {}, {"a": "b"}, {"a": float("nan")}])
def test_a_function_that_returns_something_else_is_refused(returned: object) -> None:
    with pytest.raises(ArgumentError, match=r"^features"):
        called(lambda u, v: returned, USERS, ITEMS, None)  # type: ignore[arg-type, return-value]


def test_a_function_has_the_same_names_for_all_pairs() -> None:
    with pytest.raises(ArgumentError, match="a function that returns DE"):
        called(lambda u, v: {str(u["country"]): 1.0}, USERS, ITEMS, None)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("text", "a DataFrame"),
        (3, "a DataFrame"),
        ([], "2 dimensions"),
        ([{"a": 1}, {"b": 1}], "in row 1"),
        ({"a": [1, 2], "b": [1]}, "of one length"),
        ({"a": [1, "x"]}, "numbers only, or text only"),
        ({"a": [1, None]}, "no empty cells"),
        ({"a": ["x", None]}, "no empty cells"),
        ({"a": [1, float("nan")]}, "no empty cells"),
        ({"a": ["x", float("nan")]}, "no empty cells"),
        ({"a": [1, float("inf")]}, "larger ones"),
        ({"a": [object()]}, "numbers or text"),
        ({"a": [10**400]}, "column 'a': expected numbers up to 1e\\+50, got larger ones"),
        ([[10**400]], "larger ones"),
        ({"age": 30, "c": "DE"}, "column 'age': expected one value per row .a table of one row is a list of one"),
        ({"age": [30], "c": None}, "column 'c': expected one value per row"),
        ({"age": np.array(30.0)}, "column 'age': expected one value per row"),
        ({"age": [np.ones(2), np.ones(2)]}, "numbers or text"),
        ({"age": [np.complex128(1j)]}, "numbers or text"),
        ({"kind": "abc"}, "column 'kind': expected one value per row"),
        ({"kind": {"x": 1.0, "y": 2.0}}, "column 'kind': expected one value per row"),
        ({"kind": {1.0, 2.0}}, "column 'kind': expected one value per row"),
        ({1: [2.0, 1.0], "1": [3.0, 1.0]}, r"a different name for every column, got \['1'\] more than once"),
        ([{1: 2.0, "1": 3.0}], "a different name for every column"),
        ([{"a": 1.0}, {"a": 2.0, 1: 2.0, "1": 3.0}], "a different name for every column"),
        ([{"a": 1.0}, 3.0], "in row 1"),
    ],
)
def test_tables_that_are_none_are_refused(table: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Frame.of("users", table, "user")


def test_one_row_may_be_a_dictionary_a_series_a_frame_or_a_list() -> None:
    pandas = pytest.importorskip("pandas")
    expected = {"age": 31.0, "country": "DE"}
    rows = {"country": "DE", "age": 31, "id": 7}
    for one in (rows, pandas.Series(rows), pandas.DataFrame([rows]), [31, "DE"], (31.0, "DE")):
        assert row_of("context", one, ("age", "country")) == expected


def test_names_of_a_row_that_are_the_same_as_text_are_refused() -> None:
    for row in ({1: 2.0, "1": 3.0}, pd.Series([2.0, 3.0], index=["1", "1"])):
        with pytest.raises(ArgumentError, match="a different name for every column"):
            row_of("context", row, ("1",))


def test_rows_with_names_keep_them() -> None:
    """Names of Series in a list were lost."""
    rows = [{"age": 30.0, "size": 2.0}, {"size": 3.0, "age": 50.0}]
    expected = [{"age": 30.0, "size": 2.0}, {"age": 50.0, "size": 3.0}]
    for kind in (dict, pd.Series, lambda row: pd.DataFrame([row])):
        table = Frame.of("users", [kind(row) for row in rows], "user")
        assert [table.row(0), table.row(1)] == expected


@pytest.mark.parametrize("unit", [1e-290, 1e-200, 1e-160, 1e49])
def test_columns_of_any_magnitude_have_standard_units(unit: float) -> None:
    """Squares of 1e-200 are zero, so such columns counted as constant."""
    numbers = np.array([1.0, 2.0, 4.0, 9.0])
    encoding = Encoding.of(Frame.of("users", {"a": numbers * unit}, "user"))
    found = encoding.encoded(Frame.of("users", {"a": numbers * unit}, "user"))[:, 0]
    np.testing.assert_allclose(found, (numbers - numbers.mean()) / numbers.std(), rtol=1e-12)


@pytest.mark.parametrize("numbers", [[0.0, 5e-324], [0.0, 0.0], [1e-310, 2e-310]])
def test_columns_next_to_zero_are_constant(numbers: list[float]) -> None:
    found = Encoding.of(Frame.of("users", {"a": numbers}, "user")).columns[0]
    assert found.scale == 1.0
    assert found.centre == pytest.approx(0.0, abs=1e-300)


def test_a_number_beyond_all_floats_is_refused_in_a_row() -> None:
    with pytest.raises(ArgumentError, match="column 'age': expected numbers up to"):
        row_of("context", {"age": 10**400}, ("age",))


def test_all_missing_columns_are_named_at_once() -> None:
    with pytest.raises(ArgumentError, match="one without age, country; it has size"):
        row_of("context", {"size": 3}, ("age", "country"))


def test_a_function_is_no_part_of_a_map() -> None:
    with pytest.raises(
        ArgumentError, match=r'such as sb.features.cross\("age", "price"\).* a function makes all features'
    ):
        f.concat("price", lambda user, item: {"one": 1.0})  # type: ignore[arg-type]


def test_empty_cells_are_refused_whatever_they_are() -> None:
    for empty in (None, float("nan"), pd.NA):
        with pytest.raises(ArgumentError, match="users, column 'premium': expected no empty cells"):
            Frame.of("users", pd.DataFrame({"premium": pd.Series([True, empty], dtype=object)}), "")
    whole = Frame.of("users", pd.DataFrame({"premium": pd.Series([True, False], dtype="boolean")}), "")
    assert whole.row(0) == {"premium": True}


@pytest.mark.parametrize(
    "made",
    [
        DEFAULT,
        f.cross(),
        f.user("age"),
        f.item(),
        f.per_item(),
        f.per_item(f.cross("age", "price")),
        f.concat("price", ["age", "kind"], f.per_item("country"), f.cross("country", f.item("kind"))),
        f.cross(f.per_item("age"), "price"),
        f.cross("price", "age"),
    ],
)
def test_features_are_products_of_their_terms(made: f.FeatureMap) -> None:
    """Planted: the item that alone has a feature is left out."""
    terms = made.terms(SPACE)
    assert terms is not None
    found = Factors.of(terms)
    assert len(set(found.user_columns)) == len(found.user_columns)
    users, items = found.users(SPACE.users.encoded(USERS)), found.items(SPACE.items.encoded(ITEMS))
    np.testing.assert_array_equal(users[:, np.newaxis, found.of_user] * items[:, found.of_item], pairs(made))


@pytest.mark.parametrize(
    "made",
    [
        f.cross(f.user(), f.user()),
        f.cross("price", f.cross()),
        f.concat(f.item(), f.cross("price", "price")),
        f.per_item(f.per_item()),
        f.per_item(f.cross("age", "age")),
        f.cross(f.cross("age", "age"), "price"),
    ],
)
def test_features_with_several_columns_of_a_user_or_an_item_have_no_terms(made: f.FeatureMap) -> None:
    assert made.terms(SPACE) is None
    assert pairs(made).shape[2] == len(made.names(SPACE))


def test_a_product_of_terms_has_each_column_once() -> None:
    assert Term(user=1).times(Term(column=2, item=0)) == Term(1, 2, 0)
    assert Term(user=1).times(Term(user=1)) is None


def test_a_map_has_at_least_one_part() -> None:
    with pytest.raises(ValueError, match="parts: expected at least one map, got none"):
        f.concat()
