"""Documents and their versions."""

from store.filling import lines, publish
from triplewire.store import digest

FIRST = lines("<urn:a> <urn:b> <urn:c>")
SECOND = lines("<urn:a> <urn:b> <urn:d>", "<urn:a> <urn:b> <urn:e>")


def test_document_that_nobody_published_is_unknown(store):
    with store.reading() as reader:
        assert reader.documents.current(["urn:d"]) == [None]
        assert reader.documents.contents([(1, 1)]) == [None]


def test_publishing_updating_and_retracting_count_versions(store):
    for content in (FIRST, SECOND, None, FIRST):
        with store.writing() as writer:
            number = publish(writer, {"urn:d": content})[0]
    with store.reading() as reader:
        record = reader.documents.current(["urn:d"])[0]
        assert (record.id, record.version, record.published, record.digest) == (number, 4, 4, digest(FIRST))
        history = reader.documents.history(number)
        assert [(v.version, v.batch, v.present) for v in history] == [
            (1, 1, True),
            (2, 2, True),
            (3, 3, False),
            (4, 4, True),
        ]
        assert reader.documents.contents([(number, v) for v in (3, 1, 2, 5)]) == [None, FIRST, SECOND, None]


def test_retracted_document_is_on_record_but_not_present(store):
    for content in (FIRST, None):
        with store.writing() as writer:
            publish(writer, {"urn:d": content, "urn:e": FIRST})
    with store.reading() as reader:
        assert [record.present for record in reader.documents.current(["urn:d", "urn:e"])] == [False, True]
        assert [record.uri for record in reader.documents.listing()] == ["urn:e"]
        assert [record.uri for record in reader.documents.listing(present=False)] == ["urn:d", "urn:e"]
        assert [(record.uri, content) for record, content in reader.documents.everything()] == [("urn:e", FIRST)]
        assert reader.documents.count() == 1


def test_document_can_be_numbered_before_it_has_a_version(store):
    with store.writing() as writer:
        number = writer.documents.ids(["urn:d"])[0]
        record = writer.documents.by_ids([number])[0]
        assert (record.version, record.present) == (0, False)
        assert publish(writer, {"urn:d": FIRST}) == [number]


def test_listing_goes_page_by_page_in_order_of_bytes(store):
    uris = ["urn:Z", "urn:a", "urn:b", "urn:é"]
    with store.writing() as writer:
        publish(writer, dict.fromkeys(reversed(uris), FIRST))
    with store.reading() as reader:
        pages, after = [], ""
        while page := reader.documents.listing(after, 3):
            pages.append([record.uri for record in page])
            after = pages[-1][-1]
    assert pages == [uris[:3], uris[3:]]


def test_versions_of_batches_are_found(store):
    for contents in ({"urn:d": FIRST}, {"urn:d": SECOND, "urn:e": FIRST}, {"urn:e": None}):
        with store.writing() as writer:
            publish(writer, contents)
    with store.reading() as reader:
        found = reader.documents.of_batches(1, 3)
        assert [(v.document, v.version, v.batch, v.present) for v in found] == [
            (1, 2, 2, True),
            (2, 1, 2, True),
            (2, 2, 3, False),
        ]
        assert reader.documents.first_of_batches(1, 3) == {1: 2, 2: 1}
        assert [record.uri for record, _ in reader.documents.everything(after=1)] == ["urn:d"]


def test_contents_of_every_size_come_back(store):
    contents = {f"urn:{size}": b"<urn:a> <urn:b> <urn:c> .\n" * size for size in (0, 1, 300, 400, 50_000)}
    with store.writing() as writer:
        writer.documents.save(list(contents.items()), 1)
    with store.reading() as reader:
        records = reader.documents.current(list(contents))
        assert reader.documents.contents([(r.id, 1) for r in records]) == list(contents.values())
        assert all(record.present for record in records)
