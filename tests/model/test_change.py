"""Changes: publish and retract (M4)."""

from __future__ import annotations

import pickle

import pytest

from triplewire.model import Document, Publish, Retract

DOCUMENT = Document.from_lines("urn:d", b"<urn:a> <urn:b> <urn:c> .\n")


def test_both_changes_name_the_document_that_they_change():
    assert Publish(DOCUMENT).uri == Retract("urn:d").uri == "urn:d"


def test_changes_are_values():
    assert Publish(DOCUMENT) == Publish(Document("urn:d", DOCUMENT.ntriples))
    assert len({Publish(DOCUMENT), Publish(DOCUMENT), Retract("urn:d"), Retract("urn:e")}) == 3
    assert pickle.loads(pickle.dumps([Publish(DOCUMENT), Retract("urn:d")])) == [Publish(DOCUMENT), Retract("urn:d")]


def test_text_in_place_of_a_document_is_refused_with_what_to_do():
    with pytest.raises(TypeError, match=r"parse\(\)"):
        Publish("<urn:a> <urn:b> <urn:c> .")
    with pytest.raises(TypeError, match="uri"):
        Retract(DOCUMENT)


def test_changes_read_as_what_they_do():
    assert str(Publish(DOCUMENT)) == "publish urn:d (1 triples)"
    assert str(Retract("urn:d")) == "retract urn:d"
