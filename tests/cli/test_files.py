"""Rows and events that are written into files by the command (M9, X5), from a store and from an address."""

from __future__ import annotations

import csv
import io
import json

import openpyxl
import pyarrow.parquet as pq
import pytest

from hub.serving import serving

FORMATS = ("csv", "xlsx", "parquet", "jsonl")
TITLES = "SELECT ?d ?t { ?d <http://purl.org/dc/terms/title> ?t }"


@pytest.fixture(params=["store", "address"])
def place(request, tmp_path, play, call):
    """A hub with some answers."""
    with serving(f"sqlite:///{tmp_path}/served.db") as served:
        found = "hub.db" if request.param == "store" else served.url
        assert call("subscribe", found, "-l", "sparql", TITLES, "--id", "titles").exit_code == 0
        assert call("publish", found, "catalogue").exit_code == 0
        yield found


def lines_in(path) -> int:
    if path.suffix == ".csv":
        return len(list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline=""))))
    if path.suffix == ".jsonl":
        return len([json.loads(line) for line in path.read_text().splitlines()])
    if path.suffix == ".parquet":
        return pq.read_table(path).num_rows
    return openpyxl.load_workbook(path).active.max_row - 1


@pytest.mark.parametrize("command", ["rows", "events"])
def test_suffix_says_what_is_written(place, call, play, command):
    expected = len(call(command, place, "titles", "--json").stdout.splitlines())
    assert expected > 3
    for suffix in FORMATS:
        path = play / f"out.{suffix}"
        done = call(command, place, "titles", "--out", path)
        assert done.exit_code == 0, done.stderr
        assert done.stdout == ""
        assert f"{expected} {command}" in done.stderr
        assert lines_in(path) == expected


def test_csv_goes_to_standard_output_without_a_file(place, call):
    done = call("rows", place, "titles", "--format", "csv")
    found = list(csv.DictReader(io.StringIO(done.stdout)))
    assert found
    assert all(record["d"].startswith("https://") for record in found)


def test_file_that_cannot_be_written_whole_leaves_what_was_there(play, call):
    call("subscribe", "hub.db", "subscriptions/maja.rq")
    old = play / "out.csv"
    old.write_text("old")
    assert call("rows", "hub.db", "nobody", "--out", old).exit_code == 1
    assert old.read_text() == "old"
    assert [path.name for path in play.iterdir() if path.name.endswith(".part")] == []
    missing = call("rows", "hub.db", "maja", "--out", "no/such/folder/out.csv")
    assert missing.exit_code == 2
    assert "cannot be written" in missing.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--out", "rows.txt"], "say the format with --format"),
        (["--out", "rows.csv", "--format", "table"], "a table is for the terminal"),
    ],
)
def test_format_that_is_not_clear_is_asked_for(play, call, options, said):
    call("subscribe", "hub.db", "subscriptions/maja.rq")
    done = call("rows", "hub.db", "maja", *options)
    assert done.exit_code == 2
    assert said in done.stderr


def test_feed_is_written_into_a_file_too(play, call):
    call("subscribe", "hub.db", "subscriptions/maja.rq")
    assert call("events", "hub.db", "maja", "--format", "atom", "--out", "maja.atom").exit_code == 0
    assert "<feed" in (play / "maja.atom").read_text()


def test_what_has_no_end_goes_into_no_file(play, call):
    call("subscribe", "hub.db", "subscriptions/maja.rq")
    done = call("events", "hub.db", "maja", "--follow", "--out", "maja.csv")
    assert done.exit_code == 2
    assert "--follow" in done.stderr
