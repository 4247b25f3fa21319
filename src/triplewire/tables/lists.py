"""Lists: the rows, the events and the outcomes that a hub gives, and the ways out: pandas, Arrow, files, a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

from triplewire.errors import DocumentError, SubscriptionError
from triplewire.model import Document, Event, Row
from triplewire.tables.layouts import EventLayout, Layout, RowLayout, plain
from triplewire.tables.writers import write

if TYPE_CHECKING:
    import pandas
    import pyarrow

Item = TypeVar("Item")

_SHOWN = 100
"""So many lines are shown in a notebook."""


class SearchResult(list[Document]):
    """Documents that match a query, those of the hub that was asked first, the newest first.

    `hubs` names for each the hub of the network that it is at, "" for the one that was asked; `silent` are the places
    of the network that have not answered, so that what they have may be missing.
    """

    def __init__(
        self, documents: Iterable[Document] = (), hubs: Iterable[str] = (), silent: Iterable[str] = ()
    ) -> None:
        super().__init__(documents)
        self.hubs = [*hubs] or [""] * len(self)
        self.silent = [*silent]


class _Tabular(list[Item], Generic[Item]):
    """A list that is also a table."""

    @property
    def _layout(self) -> Layout[Any]:
        raise NotImplementedError

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table; a column is typed where all its values are of one kind, and text otherwise."""
        try:
            from triplewire.tables.arrow import table_of
        except ImportError as error:
            raise ImportError(f"Arrow needs the package pyarrow: pip install 'triplewire[files]' ({error})") from None
        return table_of(self._layout, self)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas data frame, with the types of `to_arrow`."""
        found: pandas.DataFrame = self.to_arrow().to_pandas(integer_object_nulls=True)
        return found

    def to_csv(self, path: str | Path) -> None:
        """Write a CSV file: plain values, with a header; no cell is a formula."""
        self._write(path, "csv")

    def to_excel(self, path: str | Path) -> None:
        """Write an Excel workbook."""
        self._write(path, "xlsx")

    def to_parquet(self, path: str | Path) -> None:
        """Write a Parquet file, with the types of `to_arrow`."""
        self._write(path, "parquet")

    def to_jsonl(self, path: str | Path) -> None:
        """Write JSON lines, with nothing left out: terms are in their N-Triples spelling."""
        self._write(path, "jsonl")

    def _write(self, path: str | Path, format: str) -> None:
        with Path(path).open("wb") as file:
            write(file, format, self._layout, self)

    def _repr_html_(self) -> str:
        """The first lines as a table. Whatever publishers wrote is text in it, never markup."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self._layout.columns)
        lines = [
            "<tr>" + "".join(f"<td>{escape(plain(cell))}</td>" for cell in self._layout.cells(item)) + "</tr>"
            for item in self[:_SHOWN]
        ]
        shown = f"{len(self):,}" if len(self) <= _SHOWN else f"{_SHOWN:,} of {len(self):,}"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table><p>{shown}</p>"


class Rows(_Tabular[Row]):
    """Rows of one subscription, as a list; `columns` are the variables that it asks for, in order.

    >>> Rows(["a"], []).columns
    ('a',)
    """

    def __init__(self, columns: Iterable[str] = (), rows: Iterable[Row] = ()) -> None:
        super().__init__(rows)
        self.columns = tuple(columns)

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows, (self.columns, list(self))

    @property
    def _layout(self) -> Layout[Any]:
        return RowLayout(self.columns)


class RowPage(NamedTuple):
    """Some rows, and the cursor that the next page follows; None where there are no more."""

    rows: list[Row]
    next: str | None


class Events(_Tabular[Event]):
    """Events in their order, as a list."""

    @property
    def _layout(self) -> Layout[Any]:
        return EventLayout.of(self)


class Outcome(Sequence[Event]):
    """The events of a batch, like a list, and what else is to be said of it.

    `batch` is its id. `warnings` are documents that break the schema of a hub that lets them in, and items of a feed
    that were refused alone, because of their own access lists. `errors` are subscriptions that failed in it, with the
    reason: their rows are as before.
    Events are made when one of them is first asked for, which costs more than finding them: ask before the hub is
    closed.
    """

    __slots__ = ("_count", "_events", "_tell", "batch", "errors", "warnings")

    def __init__(
        self,
        batch: str,
        count: int,
        tell: Callable[[], list[Event]],
        warnings: Sequence[DocumentError] = (),
        errors: Sequence[SubscriptionError] = (),
    ) -> None:
        self.batch, self.warnings, self.errors = batch, tuple(warnings), tuple(errors)
        self._count, self._tell = count, tell
        self._events: list[Event] | None = None

    def _told(self) -> list[Event]:
        if self._events is None:
            self._events = self._tell() if self._count else []
            self._count = len(self._events)  # fewer, if a subscription has gone since
        return self._events

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        return self._told()[index]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Event]:
        return iter(self._told())

    def __eq__(self, other: object) -> bool:
        return self._told() == list(other) if isinstance(other, Outcome | list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # a sequence that compares by content, as a list

    def _repr_html_(self) -> str:
        return Events(self)._repr_html_()

    def __repr__(self) -> str:
        return f"<Outcome of {self.batch}: {', '.join(map(str, self)) or 'no events'}>"
