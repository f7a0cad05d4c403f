"""What columns are called that name or number rows, or hold results, in English and German."""

import re

REWARD = re.compile(r"rewards?([ _.-]?\d+)?", re.IGNORECASE)
"""Columns that hold past rewards by default: reward, reward_1, Reward 2, ..."""

OUTCOMES = frozenset(
    (
        "accuracy",
        "erfolg",
        "bewertung",
        "punkte",
        "gewinn",
        "erlös",
        "ertrag",
        "umsatz",
        "auc",
        "ausbeute",
        "clicked",
        "clicks",
        "conversion",
        "conversions",
        "converted",
        "ergebnis",
        "fitness",
        "gain",
        "kpi",
        "measured",
        "measurement",
        "messwert",
        "objective",
        "outcome",
        "output",
        "outputs",
        "performance",
        "profit",
        "rating",
        "response",
        "result",
        "results",
        "revenue",
        "sales",
        "score",
        "sold",
        "success",
        "target",
        "utility",
        "y",
        "yield",
        "zielwert",
    )
)
"""Names of columns that are taken to hold past rewards if none is called reward, without units and numbers."""

IDENTIFIERS = frozenset(
    (
        "#",
        "action",
        "artikel",
        "gtin",
        "respondent",
        "versuch",
        "ticket",
        "artikelnummer",
        "barcode",
        "candidate",
        "code",
        "ean",
        "experiment",
        "id",
        "identifier",
        "index",
        "item",
        "key",
        "label",
        "lot",
        "name",
        "nr",
        "no",
        "number",
        "nummer",
        "offer",
        "probe",
        "product",
        "row",
        "run",
        "sample",
        "serial",
        "sku",
        "trial",
        "uuid",
        "zeile",
    )
)
"""Names of columns that number or name the rows."""

LAST_WORDS = frozenset(("id", "nr", "nummer", "code", "sku", "ean", "uuid"))
"""Last words of names of such columns."""

COUNTED = frozenset(("sample", "part", "article", "order", "batch", "serial", "item", "product", "lot", "run", "trial"))
"""First words before "number" or "no" in names of such columns; an octane number is a feature."""

REMARKS = frozenset(
    (
        *("anmerkung", "anmerkungen", "bemerkung", "bemerkungen", "comment", "comments", "kommentar", "kommentare"),
        *("note", "notes", "notiz", "notizen", "observation", "observations", "remark", "remarks"),
    )
)
"""Names of columns that say something about a row, and do not name it."""

CODES = frozenset(("zip", "zip code", "plz", "postcode", "postal code", "postleitzahl", "phone", "telefon", "tel"))
"""Names of columns whose numbers are codes: categories, not features."""


def plain_name(name: str) -> str:
    """Return the name of a column without units, numbers and punctuation, in lower case.

    Examples
    --------
    >>> plain_name("Yield (%)"), plain_name("Score_2"), plain_name("Sample ID")
    ('yield', 'score', 'sample id')
    """
    bare = re.sub(r"[(\[{].*?[)\]}]", " ", name)
    bare = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", bare)
    bare = re.sub(r"[_.\-/%]+", " ", bare.lower())
    return re.sub(r"\s*\d+$", "", bare.strip()).strip()


def is_identifier(name: str) -> bool:
    """Return whether a column is called as those that number or name rows are."""
    plain = plain_name(name) or name.strip()
    first, *_, final = [*plain.split(" "), plain.split(" ")[-1]]
    return (
        plain in IDENTIFIERS
        or final in LAST_WORDS
        or (first in COUNTED and final in ("number", "no"))
        or plain.startswith("unnamed:")
    )


def is_id(name: str) -> bool:
    """Return whether a column is certainly called as identifiers are, so that its numbers are none to compute with."""
    return (plain_name(name) or name.strip()).split(" ")[-1] in ("id", "ean", "gtin", "sku", "uuid", "barcode")


def is_code_name(name: str) -> bool:
    """Return whether a column is called as those whose numbers are codes."""
    return plain_name(name) in CODES
