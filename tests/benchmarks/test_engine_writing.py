"""bare-write is a floor only if it writes what the hub writes: documents, versions, terms and statements."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.engine.contenders.bare import BareWrite
from benchmarks.engine.workload import Change
from benchmarks.engine.workloads import generate

from triplewire.model import Document
from triplewire.store import Store


def held(path: Path) -> tuple[int, set[tuple[str, ...]], dict[str, tuple[int, bytes]]]:
    """How many batches, the statements as texts, and the documents with their versions and contents."""
    with Store.open(f"sqlite:///{path}") as store, store.reading() as reader:
        assert list(store.problems()) == []
        (triples,) = reader.triples.scan([0])
        statements = {tuple(reader.terms.texts(triple)) for triple in triples}
        documents = {record.uri: (record.version, content) for record, content in reader.documents.everything()}
        return reader.batches.last(), statements, documents


@pytest.mark.parametrize("name", ["MDV-JOIN", "CATALOGUE"])
def test_bare_write_leaves_the_current_documents_and_nothing_else(name: str, tmp_path: Path) -> None:
    history = generate(name, 300).history()
    writer = BareWrite(generate(name, 300), tmp_path)
    current: dict[str, tuple[int, Document]] = {}
    batches = [[Change(document.uri, document) for document in history.background(800)]]
    batches += [history.batch(size) for size in (1, 40, 20, 60)]
    versions: dict[str, int] = {}
    for changes in batches:
        writer.follow(changes)
        for uri, document in changes:
            versions[uri] = versions.get(uri, 0) + 1
            current.pop(uri, None)
            if document is not None:
                current[uri] = (versions[uri], document)
    writer.close()
    last, statements, documents = held(tmp_path / "bare.db")
    assert last == 5
    assert documents == {uri: (version, document.ntriples) for uri, (version, document) in current.items()}
    assert statements == {tuple(map(str, t)) for _, document in current.values() for t in document.triples}


def test_bare_write_of_the_same_content_again_writes_no_version(tmp_path: Path) -> None:
    (change,) = generate("MDV-OID", 10).history().batch(1)
    writer = BareWrite(generate("MDV-OID", 10), tmp_path)
    writer.follow([change])
    writer.follow([change])
    writer.close()
    assert held(tmp_path / "bare.db")[2][change.uri][0] == 1
