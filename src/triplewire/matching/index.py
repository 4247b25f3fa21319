"""The index: many standing queries, one document at a time, at the cost of what matches."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from triplewire.algebra.canonical import canonical
from triplewire.algebra.encoding import slot_name
from triplewire.algebra.expressions import holds
from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import Expression, Pattern
from triplewire.algebra.taxonomy import EMPTY, Taxonomy
from triplewire.algebra.xpath.query import PathQuery
from triplewire.errors import (
    DocumentError,
    DuplicateSubscription,
    MatchLimitExceeded,
    SubscriptionError,
    UnknownSubscription,
)
from triplewire.matching import layout
from triplewire.matching.image import Image, install_taxonomy
from triplewire.matching.kernel import match as run_kernel
from triplewire.matching.kernel.compiled import Array
from triplewire.matching.matches import Matches, Setting
from triplewire.matching.registry import Registry, check
from triplewire.matching.tables import Room
from triplewire.matching.xml.registered import RegisteredPaths
from triplewire.model import Document, parse_term

if TYPE_CHECKING:  # explaining is loaded when it is asked for: matching must be ready at once
    from triplewire.algebra.explain import PatternWhyNot, Reason
    from triplewire.matching.explanation import Explanation
    from triplewire.matching.findings import DocumentAnswers, DocumentFindings, Spelled
    from triplewire.matching.pages import Numbered, NumberedPage, Numbers
    from triplewire.matching.xml.paths import PathMatches

_NO_ERRORS: Mapping[str, SubscriptionError] = MappingProxyType({})
MAX_ROWS, MAX_STEPS = 1_000_000, 10_000_000
_NO_MATCHES = np.zeros((0, 5), dtype=np.int32), np.zeros(0, dtype=np.int32)


class Index:
    """Standing queries that documents are matched against, each document by itself.

    >>> from triplewire import Index, compile, parse
    >>> index = Index()
    >>> index.add("big", compile("SELECT ?s { ?s <urn:size> ?n FILTER(?n > 9) }", language="sparql"))
    >>> [match.subscription for match in index.match(parse("<urn:a> <urn:size> 12 .", uri="urn:doc"))]
    ['big']

    `max_rows` and `max_steps` bound what one subscription may find (before duplicates are dropped and residual
    conditions checked) and do in one document; one that goes over them is reported in `Matches.errors`, and the others
    are served. Subscriptions whose conjunctions are equal are evaluated together, and share one budget.
    """

    def __init__(
        self, taxonomy: Taxonomy | None = None, *, max_rows: int = MAX_ROWS, max_steps: int = MAX_STEPS
    ) -> None:
        for name, limit in (("max_rows", max_rows), ("max_steps", max_steps)):
            if not isinstance(limit, int) or not 0 < limit < 1 << 31:
                raise ValueError(f"{name} must be a number from 1 to {(1 << 31) - 1:,}, not {limit!r}")
        self._limits = (max_rows, max_steps)
        self._setting = Setting(max_rows, EMPTY)
        self._lock = threading.RLock()
        self._use(Image())
        if taxonomy is not None:
            self.set_taxonomy(taxonomy)

    def _use(self, image: Image) -> None:
        self._image = image
        self._paths = RegisteredPaths(image, self._limits[1])
        self._room = Room()
        self._registry = Registry(image, self._room)
        self._conditions: dict[int, tuple[Expression, ...]] = {}
        """Decoded conditions of the entries that Python had to check; forgotten at the next change."""
        self._room.table[layout.A_LIMITS] = self._limits
        self._make_classes()

    def _make_classes(self) -> None:
        room, classes = self._room, self._image["parent_starts"].size
        room.put(layout.A_QUEUE, np.zeros(classes + 1, dtype=np.int32))
        room.put(layout.A_MARKS, np.zeros(classes + 2, dtype=np.int32))  # a counter before, a place to write to behind

    # -- subscriptions

    def add(self, id: str, pattern: Pattern) -> None:
        """Add a subscription; its id must not be in use."""
        name = _spelled(id)
        if not isinstance(pattern, Pattern):
            raise TypeError(f"a subscription is a Pattern; compile the {type(pattern).__name__} first")
        branches = canonical(pattern)
        check(branches)
        with self._lock:
            if not self._registry.add(name, branches):
                raise DuplicateSubscription(id)
            if isinstance(pattern, PathQuery):
                self._paths.add(self._registry.number_of(name), pattern)
            self._conditions.clear()

    def remove(self, id: str) -> None:
        """Remove a subscription."""
        with self._lock:
            if self._paths.count and (number := self.number(id)) in self._paths:
                self._paths.remove(number)
            if not self._registry.remove(_asked(id)):
                raise UnknownSubscription(id)
            self._conditions.clear()

    def pattern(self, id: str) -> Pattern:
        """The pattern of a subscription, in normal form."""
        with self._lock:
            number = self.number(id)
            if number in self._paths:
                return self._paths.query(number)
            return normalize(self._registry.pattern(number))

    def path_query(self, id: str) -> PathQuery | None:
        """The XPath query of a subscription; None if it is another kind of query, or not there."""
        with self._lock:
            number = self._registry.number_of(_asked(id))
            return self._paths.query(number) if number >= 0 and number in self._paths else None

    def number(self, id: str) -> int:
        """The number of a subscription, by which `Matches.reached` knows it."""
        number = self._registry.number_of(_asked(id))
        if number < 0:
            raise UnknownSubscription(id)
        return number

    def __len__(self) -> int:
        return self._image.used["live"]

    def __contains__(self, id: object) -> bool:
        with self._lock:
            return isinstance(id, str) and self._registry.number_of(_asked(id)) >= 0

    def __iter__(self) -> Iterator[str]:
        """The ids of the subscriptions there are now, in the order in which they were first added."""
        with self._lock:
            used = self._image.used["subscriptions"]
            numbers = np.flatnonzero(self._image["subscriptions"][:used]).tolist()
            return iter([self._image.ids.get(number).decode() for number in numbers])

    @property
    def taxonomy(self) -> Taxonomy:
        """What is-a conditions are tested against."""
        return self._setting.taxonomy

    def set_taxonomy(self, taxonomy: Taxonomy) -> None:
        """Test is-a conditions against another taxonomy from now on."""
        with self._lock:
            install_taxonomy(self._image, taxonomy)
            self._setting = Setting(self._limits[0], taxonomy)
            self._registry.line_up()
            self._make_classes()

    @property
    def limits(self) -> tuple[int, int]:
        """`max_rows` and `max_steps`; they are not saved with the index."""
        return self._limits

    @property
    def nbytes(self) -> int:
        """How many bytes the index takes, without the room that its arrays have to grow."""
        return self._image.size

    def compact(self) -> None:
        """Give back what removed subscriptions have left behind: builds the index anew, which takes as long as that."""
        with self._lock:
            fresh = Index(self.taxonomy)
            for id in self:
                fresh.add(id, self.pattern(id))
            self._use(fresh._image)

    # -- matching

    def match(self, document: Document) -> Matches:
        """The subscriptions that the document matches, with their rows."""
        with self._lock:
            found = self._match_path(document)
            errors = self._path_errors(found)
            if found is not None and self._paths.count == len(self):
                return Matches(document, *_NO_MATCHES, 0, self._registry.spelled, self._setting, errors, found)
            room, size = self._room, len(document.ntriples)
            if 2 * size > room.capacity:
                room.make_text(size)
            room.buffer[:size] = document.ntriples
            room.one[1] = size
            room.expect(document.ntriples.count(b"\n"))
            used, count, flags = self._find((document,))
            out, told = room.out[:used].copy(), room.told[:count].copy()
            if flags:
                told, failed = self._checked((document,), room.one, out, told)
                errors = {**errors, **failed[0]}
            return Matches(document, told, out, 0, self._registry.spelled, self._setting, errors, found)

    def match_many(self, documents: Iterable[Document]) -> list[Matches]:
        """`match` for each of several documents, cheaper than one by one."""
        batch = documents if isinstance(documents, Sequence) else list(documents)
        if not batch:
            return []
        with self._lock:
            room, data = self._room, b"".join([document.ntriples for document in batch])
            bounds = np.zeros(len(batch) + 1, dtype=np.int64)
            np.cumsum([len(document.ntriples) for document in batch], out=bounds[1:])
            room.make_text(len(data))
            room.buffer[: len(data)] = data
            ends = room.for_many(bounds)
            room.expect(max(document.ntriples.count(b"\n") for document in batch))
            try:
                used, count, flags = self._find(batch)
            finally:
                room.for_one()
            out, told = room.out[:used].copy(), room.told[:count].copy()
            errors: Sequence[Mapping[str, SubscriptionError]] = [_NO_ERRORS] * len(batch)
            if flags:
                told, errors = self._checked(batch, bounds, out, told)
                ends = np.searchsorted(out[told[:, 1] + layout.M_DOCUMENT], np.arange(len(batch) + 1))
            first, end, base = ends[:-1].tolist(), ends[1:].tolist(), bounds.tolist()
            found = [self._match_path(document) for document in batch]
            if any(paths is not None and paths.failed for paths in found):
                errors = [{**failed, **self._path_errors(paths)} for failed, paths in zip(errors, found, strict=True)]
            tables, setting = self._registry.spelled, self._setting
            return [
                Matches(document, told[first[i] : end[i]], out, base[i], tables, setting, errors[i], found[i])
                for i, document in enumerate(batch)
            ]

    def _match_path(self, document: Document) -> PathMatches | None:
        """What XPath subscriptions find; None if there are none, or no XML."""
        return self._paths.index.match(document.xml) if document.xml and self._paths.count else None

    def _path_errors(self, found: PathMatches | None) -> Mapping[str, SubscriptionError]:
        if found is None or not found.failed:
            return _NO_ERRORS
        ids = {number: self._image.ids.get(number).decode() for number in found.failed}
        return {ids[n]: MatchLimitExceeded(reason, subscription=ids[n]) for n, reason in found.failed.items()}

    def find(self, documents: Iterable[Document]) -> list[DocumentFindings]:
        """`match_many` for a caller that keeps the answers: rows and derivations as spellings, at once."""
        with self._lock:
            from triplewire.matching.findings import spell

            return spell(self.match_many(documents), self._registry)

    def answer(self, documents: Iterable[Document]) -> list[DocumentAnswers]:
        """`match_many` for a caller that hands the rows on: each distinct row as spellings, without derivations."""
        with self._lock:
            from triplewire.matching.findings import answer

            return answer(self.match_many(documents), self._registry)

    def find_in(self, page: NumberedPage) -> tuple[list[Numbered], Mapping[str, SubscriptionError]]:
        """The findings in a document whose terms have numbers, by these; and the subscriptions that failed."""
        with self._lock:
            from triplewire.matching.pages import number

            matches = self.match(page.document)
            return number(matches, self._registry, page), matches.errors

    def fitting(self, page: NumberedPage) -> list[tuple[str, Numbers]]:
        """Where every subscription is of one triple: each triple that fits one, with the subscription."""
        with self._lock:
            from triplewire.matching.pages import number_triples

            return number_triples(self.match(page.document), self._registry, page)

    def fitting_in(self, documents: Iterable[Document]) -> list[list[tuple[str, Spelled]]]:
        """`fitting` for documents, whose triples are spelled out; nothing is told of one that went over a limit."""
        with self._lock:
            from triplewire.matching.findings import spell_triples

            return spell_triples(self.match_many(documents), self._registry)

    def _find(self, batch: Sequence[Document]) -> tuple[int, int, int]:
        """Run the kernel until it has all the room that it needs; gives how much it wrote, and the matches' flags."""
        room = self._room
        while True:
            status, used, count, flags = run_kernel(room.table)
            if status == layout.DONE:
                return used, count, flags
            if status == layout.MALFORMED:
                reason = "its bytes are not canonical N-Triples; make documents with triplewire.parse"
                raise DocumentError(reason, uri=batch[used].uri)
            room.make(status)

    # -- what the kernel leaves to Python

    def _checked(
        self, batch: Sequence[Document], bounds: Array, out: Array, told: Array
    ) -> tuple[Array, list[dict[str, SubscriptionError]]]:
        """What is left without what exact arithmetic or a residual condition refutes; and what went over a limit."""
        errors: list[dict[str, SubscriptionError]] = [{} for _ in batch]
        flags = out[told[:, 1] + layout.M_FLAGS]
        keep = flags == 0
        failed: set[tuple[int, int]] = set()
        for i in np.flatnonzero(flags).tolist():
            number, at, _, _, entry = told[i].tolist()
            document = int(out[at + layout.M_DOCUMENT])
            if flags[i] & ~layout.UNCERTAIN:
                id = self._image.ids.get(number).decode()
                errors[document][id] = _limit_error(id, int(flags[i]), self._limits)
                failed.add((document, number))
            else:
                keep[i] = self._holds(entry, out, at, batch[document], int(bounds[document]))
        if failed:
            pairs = zip(out[told[:, 1] + layout.M_DOCUMENT].tolist(), told[:, 0].tolist(), strict=True)
            keep &= [pair not in failed for pair in pairs]
        return told[keep], errors

    def _holds(self, entry: int, out: Array, at: int, document: Document, base: int) -> bool:
        row = {}
        for slot in range(int(out[at + layout.M_VARIABLES])):
            place = at + layout.EMISSION + 2 * slot
            start = int(out[place]) - base
            row[slot_name(slot)] = parse_term(document.ntriples[start : start + out[place + 1]].decode())
        conditions = self._conditions.get(entry)
        if conditions is None:
            conditions = self._conditions[entry] = self._registry.conjunction(entry).conditions
        return all(holds(condition, row, self.taxonomy) for condition in conditions)

    # -- explaining

    def explain(self, id: str) -> Explanation:
        """How a subscription is evaluated: its atoms, how many others share each, and which one it waits under."""
        with self._lock:
            number = self.number(id)
            if number in self._paths:
                from triplewire.matching.xml.explanation import explain_path

                return explain_path(self._paths.index, number, id)
            from triplewire.matching.explanation import explain

            return explain(self._registry, number, id)

    def why(self, id: str, document: Document) -> list[Reason]:
        """For each row that the document gives a subscription, the triples and conditions that made it."""
        return self.pattern(id).why(document, self.taxonomy)

    def why_not(self, id: str, document: Document) -> PatternWhyNot:
        """What keeps the document from matching a subscription: the first atom or condition that fails."""
        return self.pattern(id).why_not(document, self.taxonomy)

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a file that `load` opens in milliseconds."""
        with self._lock:
            self._image.save(Path(path))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        verify: bool = False,
        max_rows: int = MAX_ROWS,
        max_steps: int = MAX_STEPS,
    ) -> Index:
        """Open a saved index: mapped into memory, nothing unpickled. It can be changed; the file stays as it is.

        `verify` reads the whole file once to see that it is undamaged.
        """
        index = cls(max_rows=max_rows, max_steps=max_steps)
        index._use(Image.load(Path(path), verify))
        index._setting = Setting(max_rows, index._image)
        return index


def _spelled(id: object) -> bytes:
    """A new id, which is any text that can be written."""
    if not isinstance(id, str):
        raise TypeError(f"an id is text, not {type(id).__name__}")
    try:
        return id.encode()
    except UnicodeEncodeError:
        raise SubscriptionError("its id is not valid text (it has half a surrogate pair)", subscription=id) from None


def _asked(id: str) -> bytes:
    """An id that may be there; one that cannot be written never is."""
    return id.encode("utf-8", "surrogatepass")


def _limit_error(id: str, flags: int, limits: tuple[int, int]) -> MatchLimitExceeded:
    if flags & layout.TOO_MANY_ROWS:
        reason = f"it has more than {limits[0]:,} matches in this document; make it more selective, or raise max_rows"
    else:
        reason = f"it took more than {limits[1]:,} steps on this document; make it more selective, or raise max_steps"
    return MatchLimitExceeded(reason, subscription=id)
