"""Ways to fill a store as an engine does, without matching."""

from __future__ import annotations

from triplewire.store import MATCHED, AtomUse, NewEvent, NewRow, Store, Writer, triples_of


def lines(*triples: str) -> bytes:
    """Canonical content: each triple as three terms in a text."""
    return b"".join(sorted(f"{triple} .\n".encode() for triple in triples))


def publish(writer: Writer, contents: dict[str, bytes | None], batch: str = "") -> list[int]:
    """What an engine does for a batch, without matching: the numbers of the documents."""
    number = writer.batches.next()
    uris = list(contents)
    ids = writer.documents.ids(uris)
    records = writer.documents.by_ids(ids)
    old = writer.documents.contents([(record.id, record.version) for record in records])
    changes = []
    for document, before, after in zip(ids, old, contents.values(), strict=True):
        said, says = (_numbered(writer, document, content) for content in (before, after))
        changes.append((document, sorted(said - says), sorted(says - said)))
    writer.documents.save(list(contents.items()), number)
    writer.triples.replace(changes)
    writer.batches.add(batch or f"batch {number}", committed="2026-01-01T00:00:00Z", documents=len(uris), events=0)
    return ids


def _numbered(writer: Writer, document: int, content: bytes | None) -> set[tuple[int, int, int]]:
    triples = list(triples_of(document, content or b""))
    numbers = iter(writer.terms.ids([text for triple in triples for text in triple]))
    return set(zip(numbers, numbers, numbers, strict=True))


def fill(store: Store) -> None:
    """A little of everything: two documents with history, a query with its atom and row, events, an image."""
    with store.writing() as writer:
        ids = publish(writer, {"urn:d": lines("<urn:a> <urn:b> <urn:c>"), "urn:e": lines("_:x <urn:b> <urn:c>")})
    with store.writing() as writer:
        a, b, c = writer.terms.find(["<urn:a>", "<urn:b>", "<urn:c>"])
        query = writer.queries.add("graph", 0, "{}", [b]).id
        shape = writer.atoms.shape_ids(["shape"])[0]
        writer.atoms.attach(query, [AtomUse(0, shape, 0, "atom")])
        writer.subscriptions.add(
            "s", query=query, text="", language="rules", owner="ada", columns=["x"], first_cursor=0, created=1
        )
        writer.rows.insert([NewRow((query,), 0, (a,), (a,))])
        writer.log.append(1, [NewEvent((query,), MATCHED, (a,), ((a, b, c),), ((ids[0], 0, 1),))])
        writer.images.save("graph", 1, b"image")
        writer.settings.set("strict", True)
    with store.writing() as writer:
        publish(writer, {"urn:d": lines("<urn:a> <urn:b> <urn:c>", '<urn:a> <urn:b> "é"'), "urn:e": None})
