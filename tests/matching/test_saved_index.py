"""A saved index: opened in place, safe against damage, never changed by its readers."""

from __future__ import annotations

import json
import mmap
import zlib

import numpy as np
import pytest
from pyoxigraph import Literal, Triple

from strategies import iri
from triplewire import Index, IndexFileError, Taxonomy, compile
from triplewire.model import Document

DOCUMENT = Document.from_triples("urn:d", [Triple(iri("a"), iri("size"), Literal(12))])


@pytest.fixture
def saved(tmp_path):
    index = Index(Taxonomy([(iri("A"), iri("B"))], [(iri("a"), iri("A"))]))
    for number in range(100):
        index.add(
            f"s{number}",
            compile(f"SELECT ?x {{ ?x <http://example.org/size> ?n FILTER(?n > {number}) }}", language="sparql"),
        )
    path = tmp_path / "saved.index"
    index.save(path)
    return path


def test_a_saved_index_matches_as_before(saved):
    index = Index.load(saved)
    assert index.match(DOCUMENT).subscriptions == [f"s{n}" for n in range(12)]
    assert index.taxonomy == Taxonomy([(iri("A"), iri("B"))], [(iri("a"), iri("A"))])
    assert len(index) == 100


def test_a_saved_index_is_mapped_and_not_copied(saved):
    array = Index.load(saved)._image.terms.text
    while isinstance(array, np.ndarray):
        array = array.base
    assert isinstance(array.obj if isinstance(array, memoryview) else array, mmap.mmap)


def test_changes_stay_in_the_process_that_makes_them(saved):
    before = saved.read_bytes()
    index = Index.load(saved)
    for number in range(60):
        index.remove(f"s{number}")
    index.add("new", compile("ASK { ?x <http://example.org/size> 12 }", language="sparql"))
    assert index.match(DOCUMENT).subscriptions == ["new"]
    assert saved.read_bytes() == before
    assert len(Index.load(saved)) == 100


def test_an_index_can_be_saved_over_the_file_that_it_was_loaded_from(saved):
    index = Index.load(saved)
    index.remove("s0")
    index.save(saved)
    assert index.match(DOCUMENT).subscriptions == Index.load(saved, verify=True).match(DOCUMENT).subscriptions
    assert [path.name for path in saved.parent.iterdir()] == ["saved.index"]


def test_a_file_that_is_not_an_index_is_refused(tmp_path):
    for name, content in {"empty": b"", "other": b"hello" * 100, "old": b"triplewire index 0\n" + b" " * 100}.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(IndexFileError, match=name):
            Index.load(path)
    with pytest.raises(IndexFileError, match="no such file"):
        Index.load(tmp_path / "absent")


def test_damage_is_found(saved):
    content = saved.read_bytes()
    saved.write_bytes(content[: len(content) // 2])
    with pytest.raises(IndexFileError, match="cut short"):
        Index.load(saved)
    saved.write_bytes(content[:100] + b"X" + content[101:])
    with pytest.raises(IndexFileError, match="damaged"):
        Index.load(saved)
    saved.write_bytes(content[:-3000] + b"XXXXX" + content[-2995:])
    with pytest.raises(IndexFileError, match="damaged"):
        Index.load(saved, verify=True)


def _forged(saved, change) -> bytes:
    """The file with another header, its checksum made right."""
    content = saved.read_bytes()
    line = content.index(b"\n") + 1
    size = int(content[line + 9 : line + 21])
    header = json.loads(content[line + 22 : line + 22 + size])
    text = json.dumps(change(header)).encode()
    return content[:line] + b"%08x %012d\n" % (zlib.crc32(text), len(text)) + text + content[line + 22 + size :]


@pytest.mark.parametrize(
    "change",
    [
        lambda header: [],
        lambda header: {},
        lambda header: header | {"bytes": "x"},
        lambda header: header | {"used": {}},
        lambda header: header | {"arrays": header["arrays"] | {"records": ["|O", [1, 12], 0]}},
        lambda header: header | {"arrays": header["arrays"] | {"keys": ["<i8", [10**9], 0]}},
        lambda header: header | {"used": header["used"] | {"records": 10**6}},
    ],
)
def test_a_header_that_makes_no_sense_is_an_index_file_error(saved, change):
    saved.write_bytes(_forged(saved, change))
    with pytest.raises(IndexFileError):
        Index.load(saved)
