"""Parts of tables: written by many, joined to one, each row once."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplewire.matching.incremental.flat import Numbering
from triplewire.pipeline.graph.image import (
    BY_PREDICATE,
    BY_SUBJECT,
    TERMS,
    ImagePart,
    TermPartWriter,
    TriplePartWriter,
    has_collision,
    join,
    open_image,
)

small = st.integers(1, 3)
statements = st.lists(st.tuples(small, small, small, st.integers(1, 5)), unique=True, max_size=30)


def chunks(rows, size):
    return [rows[i : i + size] for i in range(0, len(rows), size)]


def cut(rows, key, parts):
    """Sorted rows in parts that do not tear apart what has one key, as ranges of keys do."""
    keys = sorted({key(row) for row in rows})
    bounds = [keys[i * len(keys) // parts] for i in range(parts)] if keys else []
    return [
        [row for row in sorted(rows) if (key(row) >= low) and (i + 1 == len(bounds) or key(row) < bounds[i + 1])]
        for i, low in enumerate(bounds)
    ]


@settings(deadline=None)
@given(rows=statements, parts=st.integers(1, 3), size=st.integers(1, 7))
def test_image_has_every_triple_once_with_its_documents(tmp_path_factory, rows, parts, size):
    folder, texts = tmp_path_factory.mktemp("image"), {number: f"text {number}" for number in range(1, 6)}
    for table, order in ((BY_SUBJECT, (0, 1, 2, 3)), (BY_PREDICATE, (1, 2, 0))):
        ordered = [tuple(row[place] for place in order) for row in rows]
        pieces = cut(ordered, lambda row: row[:3], parts)
        for number, piece in enumerate(pieces):
            with ImagePart(folder, table, number) as part:
                writer = TriplePartWriter(part, states=table == BY_SUBJECT)
                for chunk in chunks(piece, size):
                    writer.add(list(np.array(chunk, dtype=np.int64).T))
                writer.end()
        join(folder, table, range(len(pieces)))
    pairs = sorted([*texts.items(), *texts.items()])
    with ImagePart(folder, TERMS, 0) as part:
        terms = TermPartWriter(part)
        for chunk in chunks(pairs, size):
            numbers = np.array([number for number, _ in chunk], dtype=np.int64)
            terms.add(numbers, pyarrow.array([text.encode() for _, text in chunk]))
    join(folder, TERMS, [0])
    image = open_image(folder, Numbering())
    assert sorted(image.scan([0])[0]) == sorted({row[:3] for row in rows})
    for triple in {row[:3] for row in rows}:
        assert image.documents([triple], 99) == [sorted(row[3] for row in rows if row[:3] == triple)]
    assert image.texts.of(list(texts)) == list(texts.values())
    assert not has_collision(folder)


def test_two_texts_with_one_number_are_noticed(tmp_path):
    with ImagePart(tmp_path, TERMS, 0) as part:
        TermPartWriter(part).add(np.array([3, 3], dtype=np.int64), pyarrow.array([b"a", b"b"]))
    join(tmp_path, TERMS, [0])
    assert has_collision(tmp_path)


def test_part_that_was_not_finished_leaves_nothing(tmp_path):
    def fail():
        with ImagePart(tmp_path, TERMS, 0) as part:
            part.write("text", b"a")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_part_that_is_written_again_replaces_itself(tmp_path):
    for text in (b"first", b"again"):
        with ImagePart(tmp_path, TERMS, 0) as part:
            TermPartWriter(part).add(np.array([3], dtype=np.int64), pyarrow.array([text]))
    assert (tmp_path / f"{TERMS}.text.0").read_bytes() == b"again"
