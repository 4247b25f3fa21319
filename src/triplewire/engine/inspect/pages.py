"""Pages: the rows of a subscription a page at a time, so that an answer of any size is read without being held whole.

Pages are in the order of what rows hold (of its digest), not of when they came: a row has the same place whatever else
comes and goes. Invariant: who follows `next` to the end gets every row that was an answer all the time, and no row
twice; of one that came or went meanwhile, nothing is promised.
"""

from __future__ import annotations

from triplewire.engine.telling import Teller
from triplewire.errors import BadRequest
from triplewire.store import Reader, SubscriptionRecord
from triplewire.tables import RowPage


def row_page(reader: Reader, teller: Teller, record: SubscriptionRecord, after: str, limit: int) -> RowPage:
    """The rows that follow a cursor; "" is the beginning."""
    try:
        key = bytes.fromhex(after)
    except ValueError:
        raise BadRequest(f"{after!r} is no cursor of rows; send the `next` of a page, or nothing") from None
    found = reader.rows.page(record.query, key, limit)
    rows = teller.rows(record.columns, [terms for _, terms in found])
    return RowPage(rows, found[-1][0].hex() if len(found) == limit else None)
