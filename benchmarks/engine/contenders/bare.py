"""bare-write: the store without a hub. The only module of this benchmark that knows the store's names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

from benchmarks.engine.contenders.contender import Contender, Step
from benchmarks.engine.workload import Change, Workload
from triplewire.store import Store, Writer, digest, triples_of


class BareWrite(Contender):
    """The floor: the same documents, versions, terms and statements through the same store, and nothing is matched.

    A document that changes loses the statements that it no longer makes, and gains the new ones, as in the hub.
    """

    name = "bare-write"

    def __init__(self, workload: Workload, folder: Path) -> None:
        self._store = Store.open(f"sqlite:///{folder / 'bare.db'}")
        self._numbers = count(1)

    def ready(self, changes: Sequence[Change]) -> list[Step]:
        return [Step(lambda: self._apply(changes))]

    def close(self) -> None:
        self._store.close()

    def _apply(self, changes: Sequence[Change]) -> None:
        with self._store.writing() as writer:
            real = _real(writer, changes)
            _replace(writer, real)
            writer.documents.save([(uri, new) for uri, _, new in real], writer.batches.next())
            id = f"batch {next(self._numbers)}"
            writer.batches.add(id, committed="2000-01-01T00:00:00Z", documents=len(real), events=0)


def _real(writer: Writer, changes: Sequence[Change]) -> list[tuple[str, bytes | None, bytes | None]]:
    """The changes that change something: uri, content before, content after."""
    current = writer.documents.current([change.uri for change in changes])
    found = []
    for (uri, document), record in zip(changes, current, strict=True):
        new = None if document is None else document.ntriples
        held, fingerprint = None, b""
        if record is not None and record.present:
            held, fingerprint = (record.id, record.version), record.digest
        if fingerprint != (b"" if new is None else digest(new)):
            found.append((uri, held, new))
    kept = [held for _, held, _ in found if held]
    contents = dict(zip(kept, writer.documents.contents(kept), strict=True))
    return [(uri, contents[held] if held else None, new) for uri, held, new in found]


def _replace(writer: Writer, changes: Sequence[tuple[str, bytes | None, bytes | None]]) -> None:
    """Write the difference of the lines, all terms of the batch looked up at once."""
    documents = writer.documents.ids([uri for uri, _, _ in changes])
    spelled = []
    for document, (_, old, new) in zip(documents, changes, strict=True):
        before, after = (set((content or b"").splitlines(keepends=True)) for content in (old, new))
        removed, added = b"".join(before - after), b"".join(after - before)
        spelled.append((document, list(triples_of(document, removed)), list(triples_of(document, added))))
    texts = {text for _, *both in spelled for triples in both for triple in triples for text in triple}
    ordered = sorted(texts)
    ids = dict(zip(ordered, writer.terms.ids(ordered), strict=True))
    writer.triples.replace([(document, _encoded(gone, ids), _encoded(come, ids)) for document, gone, come in spelled])


def _encoded(triples: Iterable[tuple[str, str, str]], ids: dict[str, int]) -> list[tuple[int, int, int]]:
    return [(ids[s], ids[p], ids[o]) for s, p, o in triples]
