"""Access lists in a store: what viewers see of documents, triples and surveys; older stores; upkeep."""

from __future__ import annotations

import pytest

from store.filling import lines, publish
from triplewire import Access, Hub
from triplewire.model.access import OWN, beyond, foreign_list, reach_of
from triplewire.model.reach import HEIGHTS, NETWORK
from triplewire.store import EVERYBODY, Store

OPEN, HIDDEN = "urn:open", "urn:hidden"


@pytest.fixture
def listed(store):
    """Two documents with a triple in common; one of them has a list."""
    with store.writing() as writer:
        shared = "<urn:a> <urn:p> <urn:b>"
        numbers = publish(
            writer, {OPEN: lines(shared), HIDDEN: lines(shared, "<urn:a> <urn:p> <urn:c>", '<urn:x> <urn:q> "secret"')}
        )
        writer.access.set([(numbers[1], Access(["ada"], ["eve"]))])
    return store


def test_a_list_is_kept_replaced_and_taken_away(store):
    with store.writing() as writer:
        one, two = publish(writer, {OPEN: lines("<urn:a> <urn:p> <urn:b>"), HIDDEN: lines("<urn:a> <urn:p> <urn:c>")})
        assert (writer.access.number(), writer.access.has_lists, writer.access.of([one, two])) == (0, False, {})
        writer.access.set([(one, Access(["ada", "eve"], ["eve"])), (two, Access())])
        assert writer.access.of([one, two]) == {one: Access(["ada"], ["eve"]), two: Access()}
        assert writer.access.named() == {"ada", "eve"}
        writer.access.set([(one, None)])
    with store.reading() as reader:
        assert (reader.access.of([one, two]), reader.access.listed()) == ({two: Access()}, [two])
        assert (reader.access.number(), reader.access.named()) == (2, frozenset())
    assert list(store.problems()) == []


def test_viewers_who_see_the_same_are_one(listed):
    with listed.reading() as reader:
        found = {viewer: reader.access.sight_of(viewer) for viewer in (None, "ada", "eve", "bob", "zoe", "")}
    assert found == {None: None, "ada": "ada", "eve": "eve", "bob": EVERYBODY, "zoe": EVERYBODY, "": EVERYBODY}


def test_where_there_is_no_list_all_see_everything(store):
    with store.reading() as reader:
        assert reader.seen_by("bob") is reader


@pytest.mark.parametrize(("viewer", "sees"), [(None, True), ("ada", True), ("eve", True), ("bob", False), ("", False)])
def test_a_viewer_sees_documents_and_triples_that_it_may_read(listed, viewer, sees):
    with listed.reading() as everything:
        reader = everything.seen_by(viewer)
        a, p, b, c, x, q, secret = everything.terms.find(
            ["<urn:a>", "<urn:p>", "<urn:b>", "<urn:c>", "<urn:x>", "<urn:q>", '"secret"']
        )
        (hidden,) = everything.documents.current([HIDDEN])
        documents = [OPEN, HIDDEN] if sees else [OPEN]
        assert [r.uri if r else None for r in reader.documents.current([OPEN, HIDDEN])] == [
            OPEN,
            HIDDEN if sees else None,
        ]
        assert sorted(record.uri for record in reader.documents.listing()) == sorted(documents)
        assert sorted(record.uri for record in reader.documents.newest(9)) == sorted(documents)
        assert sorted(record.uri for record, _ in reader.documents.everything()) == sorted(documents)
        assert reader.documents.beginning_with("urn:hid") == ([HIDDEN] if sees else [])
        assert reader.documents.count() == len(documents)
        assert [record is not None for record in reader.documents.current_of([hidden.id])] == [sees]
        more = [(a, p, c)] if sees else []
        assert set(reader.triples.forward([(a, p)])[0]) == {(a, p, b), *more}
        assert set(reader.triples.forward([(a, 0)])[0]) == {(a, p, b), *more}
        assert reader.triples.backward([(p, c)])[0] == more
        assert set(reader.triples.scan([p])[0]) == {(a, p, b), *more}
        assert len(reader.triples.scan([0])[0]) == (3 if sees else 1)
        assert reader.triples.visible([(a, p, b), (a, p, c), (x, q, secret)], 0) == [True, sees, sees]
        assert [len(stating) for stating in reader.triples.stated_by([(a, p, b), (a, p, c)])] == (
            [2, 1] if sees else [1, 0]
        )
        assert reader.triples.degrees([(p, b), (p, c)], 9) == ([2, 1] if sees else [1, 0])
        assert (reader.triples.amount(p, 9), reader.triples.amount(0, 9)) == ((3, 4) if sees else (1, 1))
        assert reader.triples.listed([(a, p, b), (a, p, c)]) == {(a, p, b), (a, p, c)}
        assert set(reader.surveys.values(p, 9)) == {b, *([c] if sees else [])}
        assert reader.surveys.subjects([(p, [c]), (p, [b])], looked_at=9, most=9) == ([a] if sees else [])
        assert set(reader.surveys.about([a, x], 9)) == {(a, p, b), *more, *([(x, q, secret)] if sees else [])}
        assert reader.surveys.present([a, x]) == ({a, x} if sees else {a})
        assert reader.surveys.used([p, q]) == ({p, q} if sees else {p})
        assert reader.surveys.extents([(p, [b, c]), (q, [secret])], 9) == [1, 1 if sees else 0]
        assert reader.surveys.uses([(q, secret)], 9) == ([(x, q, secret)] if sees else [])


def test_a_backup_keeps_the_lists(listed, tmp_path, new_url):
    listed.backup(tmp_path / "backup")
    for kind in ("sqlite", "postgresql"):
        with Store.restore(tmp_path / "backup", new_url(kind)) as restored, restored.reading() as reader:
            (record,) = reader.documents.current([HIDDEN])
            assert reader.access.of([record.id]) == {record.id: Access(["ada"], ["eve"])}
            assert reader.seen_by("bob").documents.current([HIDDEN]) == [None]


def test_compaction_keeps_the_list_of_a_retracted_document(new_url):
    with Hub(new_url("sqlite")) as hub:
        hub.publish("<urn:a> <urn:p> <urn:b> .", uri=HIDDEN, access=Access(["ada"]))
        hub.retract(HIDDEN)
        hub.store.compact(keep_versions=1, keep_events_after=0)
        hub.publish("<urn:a> <urn:p> <urn:b> .", uri=HIDDEN)
        assert hub.document(HIDDEN, viewer="bob") is None
        assert list(hub.check()) == []


def test_what_is_wrong_with_lists_is_told(listed):
    with listed._database.writing() as sql:
        sql.run("INSERT INTO access_lists (document) VALUES (99)")
        sql.run("INSERT INTO access_entries (document, account, writes) VALUES (1, 'ada', 0)")
    told = list(listed.problems())
    assert "1 of access_lists have a document that is not in documents" in told
    assert "1 of access_entries have a document that is not in access_lists" in told


def test_rows_that_a_subscriber_may_not_have_are_told(new_url):
    with Hub(new_url("sqlite")) as hub:
        hub.subscribe("SELECT ?x { ?x <urn:p> ?y }", id="bob", viewer="bob")
        hub.publish("<urn:a> <urn:p> <urn:b> .", uri=HIDDEN)
        with hub.store.writing() as writer:
            (record,) = writer.documents.current([HIDDEN])
            writer.access.set([(record.id, Access(["ada"]))])
        assert any("may not read" in problem for problem in hub.store.problems())
        assert any("recomputation does not give" in problem for problem in hub.check())


def test_a_store_from_before_lists_gets_them_and_its_owners_see_what_is_for_everybody(shared_kind, new_url):
    url = new_url(shared_kind)
    text = "SELECT ?x { ?x <urn:p> ?y }"
    with Hub(url) as hub:
        hub.subscribe(text, id="owned", owner="3f9a0c12ab34", scope="graph", start="ever")
        hub.subscribe(text, id="nobodys", scope="document", start="ever")
        hub.publish("<urn:a> <urn:p> <urn:b> .", uri=OPEN)
    with Store.open(url) as store, store._database.writing() as sql:
        sql.run("DROP TABLE access_lists")
        sql.run("DROP TABLE access_entries")
        sql.run("ALTER TABLE queries DROP COLUMN viewer")
        sql.run("UPDATE settings SET value = '7' WHERE key = 'store.version'")
    with Hub(url) as hub:
        assert list(hub.check()) == []
        assert [hub.subscription(id).viewer for id in ("owned", "nobodys")] == ["", None]
        assert [len(hub.rows(id)) for id in ("owned", "nobodys")] == [1, 1], "as it was"
        hub.publish("<urn:x> <urn:p> <urn:y> .", uri=HIDDEN, access=Access(["3f9a0c12ab34"]))
        hub.publish("<urn:z> <urn:p> <urn:y> .", uri="urn:another")
        assert [len(hub.rows(id)) for id in ("owned", "nobodys")] == [2, 3]
        hub.subscribe(text, id="new", owner="3f9a0c12ab34", viewer="3f9a0c12ab34", scope="graph", start="ever")
        assert len(hub.rows("new")) == 3
        assert list(hub.check()) == []


HOMES = (None, "", "ada", "bob")
LOOKERS = [*HOMES, OWN, *(beyond(home, reach) for home in HOMES for reach in list(HEIGHTS)[1:])]


@pytest.mark.parametrize("viewer", LOOKERS)
def test_a_viewer_who_looks_beyond_the_hub_sees_what_came_from_as_far_as_that(store, viewer):
    """The store, the lists themselves, and the viewer who stands for this one say the same (N4)."""
    lists = {
        "urn:open": None,
        "urn:ada": Access(["ada"]),
        "urn:near": foreign_list(1),
        "urn:town": foreign_list(2),
        "urn:far": foreign_list(NETWORK),
    }
    with store.writing() as writer:
        numbers = publish(writer, {uri: lines(f"<{uri}> <urn:p> <urn:b>") for uri in lists})
        writer.access.set([(number, each) for number, each in zip(numbers, lists.values(), strict=True) if each])
    expected = sorted(uri for uri, each in lists.items() if each is None or each.may_read(viewer))
    with store.reading() as reader:
        for one in (viewer, reader.access.sight_of(viewer)):
            assert sorted(record.uri for record in reader.seen_by(one).documents.listing()) == expected
    looked = HEIGHTS[reach_of(viewer)]
    distances = {"urn:near": 1, "urn:town": 2, "urn:far": NETWORK}
    assert [uri for uri in distances if uri in expected] == [uri for uri, d in distances.items() if d <= looked]
