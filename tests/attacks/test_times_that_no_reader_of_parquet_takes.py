"""A time that is outside the years of UTC does not spoil the file for who reads it (M9)."""

from __future__ import annotations

import io

import pyarrow.parquet as pq
import pytest
from pyoxigraph import Literal, NamedNode

from triplewire.model import XSD, Row
from triplewire.tables import RowLayout
from triplewire.tables.writers import write


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
@pytest.mark.parametrize("others", [[], ["2026-03-02T09:00:00Z"]], ids=["alone", "beside-another"])
def test_time_outside_the_years_of_utc_stays_text(text, others):
    file = io.BytesIO()
    terms = [Literal(each, datatype=NamedNode(XSD + "dateTime")) for each in [text, *others]]
    write(file, "parquet", RowLayout(["x"]), [Row({"x": term}) for term in terms])
    assert pq.read_table(file).to_pylist() == [{"x": each} for each in [text, *others]]
