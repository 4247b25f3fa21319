"""Terms as Python's own values (M9)."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.model import XSD, Row, Text, native


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("12", "integer", 12),
        (" +7 ", "byte", 7),
        ("1.50", "decimal", Decimal("1.50")),
        ("1e3", "double", 1000.0),
        ("-INF", "float", float("-inf")),
        ("1", "boolean", True),
        ("false", "boolean", False),
        ("2024-02-29", "date", date(2024, 2, 29)),
        ("2024-02-29T10:00:00.5", "dateTime", datetime(2024, 2, 29, 10, 0, 0, 500000)),
        ("2024-02-29T10:00:00Z", "dateTime", datetime(2024, 2, 29, 10, tzinfo=UTC)),
        ("2024-02-29T10:00:00-05:00", "dateTimeStamp", datetime(2024, 2, 29, 10, tzinfo=timezone(-timedelta(hours=5)))),
    ],
)
def test_literal_is_the_value_that_its_datatype_says(text, name, value):
    found = native(Literal(text, datatype=NamedNode(XSD + name)))
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("twelve", "integer"),
        ("300", "byte"),
        ("9" * 5_000, "integer"),
        ("yes", "boolean"),
        ("2023-02-29", "date"),
        ("2024-02-29+02:00", "date"),
        ("-0044-03-15", "date"),
        ("2024-02-29T24:00:00", "dateTime"),
        ("2024-02-29T10:00:00.1234567", "dateTime"),
        ("P1D", "duration"),
    ],
)
def test_what_python_cannot_hold_stays_text(text, name):
    assert native(Literal(text, datatype=NamedNode(XSD + name))) == text


def test_text_knows_its_language():
    found = native(Literal("chat", language="fr"))
    assert found == "chat"
    assert isinstance(found, Text)
    assert found.language == "fr"
    assert native(Literal("cat")).language is None
    assert pickle.loads(pickle.dumps(found)).language == "fr"


def test_row_gives_native_values():
    row = Row({"iri": NamedNode("urn:a"), "blank": BlankNode("b"), "n": Literal("3", datatype=NamedNode(XSD + "int"))})
    assert row.python() == {"iri": "urn:a", "blank": "_:b", "n": 3}
