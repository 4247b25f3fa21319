"""Tables: rows and events as lists that people can look at, and as files that leave.

In come rows or events, a page at a time; out go the bytes of a file: CSV, Excel, Parquet or JSON lines. There is one
writer for each format (`writers`, `workbooks`, `arrow`), which a hub, its HTTP service and the command line
share. `lists` are what a hub gives; `layouts` say what stands where. A writer holds one page and never all of what it
writes. It never reads a store and knows nothing of queries. The packages behind Excel and Parquet are loaded when one
of these is asked for.
"""

from triplewire.tables.layouts import EventLayout, Layout, RowLayout
from triplewire.tables.lists import Events, Outcome, RowPage, Rows, SearchResult
from triplewire.tables.writers import FORMATS, FileFormat, FileWriter

__all__ = [
    "FORMATS",
    "EventLayout",
    "Events",
    "FileFormat",
    "FileWriter",
    "Layout",
    "Outcome",
    "RowLayout",
    "RowPage",
    "Rows",
    "SearchResult",
]
