"""Files of rows and events (M9): what stands in them, and what does not."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from triplewire.model import XSD, Behind, Matched, Row
from triplewire.tables import FORMATS, EventLayout, RowLayout
from triplewire.tables.arrow import table_of
from triplewire.tables.workbooks import LONGEST, Workbook
from triplewire.tables.writers import write

TIME = datetime(2026, 3, 2, 9, tzinfo=UTC)


def typed(text: str, name: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + name))


def written(format: str, layout, items) -> bytes:
    file = io.BytesIO()
    write(file, format, layout, items)
    return file.getvalue()


def csv_lines(layout, items) -> list[list[str]]:
    return list(csv.reader(io.StringIO(written("csv", layout, items).decode(), newline="")))


def sheets(content: bytes) -> list[list[tuple]]:
    book = openpyxl.load_workbook(io.BytesIO(content))
    return [[tuple(cell.value for cell in line) for line in sheet.iter_rows()] for sheet in book.worksheets]


ROW = Row(
    {
        "iri": NamedNode("https://data.example/a"),
        "blank": BlankNode("b0"),
        "text": Literal('He said "a, b"\r\nand left', language="en"),
        "number": typed("-3", "integer"),
    }
)
LAYOUT = RowLayout(["iri", "blank", "text", "number", "nothing"])


def test_csv_has_a_header_and_plain_values_quoted_by_rfc_4180():
    content = written("csv", LAYOUT, [ROW])
    assert content == (
        b'iri,blank,text,number,nothing\r\nhttps://data.example/a,_:b0,"He said ""a, b""\r\nand left",-3,\r\n'
    )


@pytest.mark.parametrize("format", FORMATS)
def test_file_without_rows_has_its_columns(format):
    content = written(format, RowLayout(["a", "b"]), [])
    if format == "csv":
        assert content == b"a,b\r\n"
    elif format == "xlsx":
        assert sheets(content) == [[("a", "b")]]
    elif format == "parquet":
        assert pq.read_table(io.BytesIO(content)).column_names == ["a", "b"]
    else:
        assert content == b""


def test_json_lines_lose_nothing():
    (line,) = written("jsonl", LAYOUT, [ROW]).decode().splitlines()
    assert json.loads(line) == {name: str(term) for name, term in ROW.items()}


def test_query_that_asks_yes_or_no_has_one_column():
    assert csv_lines(RowLayout([]), [Row({})]) == [["answer"], ["True"]]


def test_numbers_days_and_truths_are_those_of_excel():
    cells = {
        "whole": typed("12", "integer"),
        "decimal": typed("1.50", "decimal"),
        "double": typed("1e3", "double"),
        "truth": typed("true", "boolean"),
        "day": typed("2024-02-29", "date"),
        "moment": typed("2024-02-29T10:00:00", "dateTime"),
    }
    ((_, line),) = sheets(written("xlsx", RowLayout(cells), [Row(cells)]))
    assert line == (12, 1.5, 1000, True, datetime(2024, 2, 29), datetime(2024, 2, 29, 10))


def test_what_excel_would_change_is_text_there():
    cells = {
        "long": typed("1234567890123456789", "integer"),
        "exact": typed("0.12345678901234567", "decimal"),
        "zoned": typed("2024-02-29T10:00:00+02:00", "dateTime"),
        "old": typed("1815-06-18", "date"),
        "infinite": typed("INF", "double"),
        "bad": typed("twelve", "integer"),
    }
    ((_, line),) = sheets(written("xlsx", RowLayout(cells), [Row(cells)]))
    assert line == (
        "1234567890123456789",
        "0.12345678901234567",
        "2024-02-29T10:00:00+02:00",
        "1815-06-18",
        "inf",
        "twelve",
    )


def test_text_that_no_cell_of_excel_holds_is_cut_and_says_so():
    ((_, line),) = sheets(written("xlsx", RowLayout(["t"]), [Row({"t": Literal("x" * 40_000)})]))
    assert len(line[0]) == LONGEST
    assert line[0].endswith("[cut: a cell of Excel ends here]")


def test_sheet_that_is_full_is_followed_by_another():
    layout = RowLayout(["n"])
    with Workbook(layout, lines=3) as book:
        book.add([Row({"n": typed(str(number), "integer")}) for number in range(5)])
        content = b"".join(book.end())
    assert sheets(content) == [[("n",), (0,), (1,)], [("n",), (2,), (3,)], [("n",), (4,)]]


def test_workbook_that_nobody_waits_for_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Workbook(LAYOUT) as book:
        book.add([ROW])
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("texts", "name", "type", "values"),
    [
        (["1", "-2"], "integer", pa.int64(), [1, -2]),
        (["1.5", "20.25"], "decimal", pa.decimal128(4, 2), [Decimal("1.50"), Decimal("20.25")]),
        (["1e2", "INF"], "double", pa.float64(), [100.0, float("inf")]),
        (["true", "0"], "boolean", pa.bool_(), [True, False]),
        (["2024-01-02"], "date", pa.date32(), [date(2024, 1, 2)]),
        (["2024-01-02T03:04:05"], "dateTime", pa.timestamp("us"), [datetime(2024, 1, 2, 3, 4, 5)]),
        (["99999999999999999999"], "integer", pa.string(), ["99999999999999999999"]),
        (["1", "one"], "integer", pa.string(), ["1", "one"]),
    ],
)
def test_column_of_one_kind_is_typed_in_parquet(texts, name, type, values):
    rows = [Row({"x": typed(text, name)}) for text in texts]
    found = pq.read_table(io.BytesIO(written("parquet", RowLayout(["x"]), rows)))
    assert found.schema.field("x").type == type
    assert found.column("x").to_pylist() == values


def test_column_of_several_kinds_is_text_and_nothing_is_null():
    rows = [Row({"x": typed("1", "integer")}), Row({"x": NamedNode("urn:a")}), Row({})]
    found = table_of(RowLayout(["x"]), rows)
    assert found.schema.field("x").type == pa.string()
    assert found.column("x").to_pylist() == ["1", "urn:a", None]


def test_times_with_a_zone_are_the_same_moment_in_arrow():
    found = table_of(RowLayout(["x"]), [Row({"x": typed("2024-01-02T03:04:05+01:00", "dateTime")})])
    assert found.schema.field("x").type == pa.timestamp("us", tz="UTC")
    assert found.column("x").to_pylist()[0].isoformat() == "2024-01-02T02:04:05+00:00"


def test_parquet_of_many_pages_is_one_table():
    rows = (Row({"n": typed(str(number), "integer")}) for number in range(2_500))
    found = pq.read_table(io.BytesIO(written("parquet", RowLayout(["n"]), rows)))
    assert found.column("n").to_pylist() == list(range(2_500))


def test_event_has_a_column_for_each_field_that_it_tells():
    event = Matched("maja", ROW, "b-1", 7, TIME, (), (Behind("urn:doc", None, 1),))
    head, line = csv_lines(EventLayout(["iri", "number"]), [event])
    told = dict(zip(head, line, strict=True))
    assert set(head) == {*event.as_dict(contents=False)} - {"row"} | {"row.iri", "row.number"}
    assert (told["cursor"], told["kind"], told["row.number"]) == ("7", "matched", "-3")
    assert json.loads(told["documents"]) == [{"uri": "urn:doc", "before": None, "after": 1}]


def test_time_of_an_event_is_a_time_in_a_table_and_iso_8601_in_text():
    event = Matched("maja", ROW, "b-1", 7, TIME)
    assert table_of(EventLayout([]), [event]).column("time").to_pylist() == [TIME]
    head, line = csv_lines(EventLayout([]), [event])
    assert line[head.index("time")] == "2026-03-02T09:00:00+00:00"


def test_event_with_contents_has_these_too():
    assert {"before", "after"} <= set(EventLayout([], contents=True).columns)
