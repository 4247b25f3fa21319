"""Surveys: against plain Python over random documents, and with bounds that bind."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from effort import examples
from store.filling import lines, publish
from store.test_triples import NAMES, TRIPLES, empty
from triplewire.store import MATCHED, UNREAD, NewEntry, NewEvent, NewRow, Store

CONTENTS = st.dictionaries(
    st.sampled_from(["urn:d1", "urn:d2"]),
    st.frozensets(TRIPLES, min_size=1, max_size=12).map(lambda triples: lines(*triples)),
    min_size=1,
)


@pytest.fixture(params=["memory", "postgresql"])
def many_stores(request, new_url):
    """A store that examples empty and fill again."""
    with Store.open(new_url(request.param)) as store:
        yield store


@given(contents=CONTENTS)
@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_surveys_say_what_the_documents_say(many_stores, contents):
    empty(many_stores)
    with many_stores.writing() as writer:
        publish(writer, contents)
        terms = writer.terms.ids(NAMES)
    with many_stores.reading() as reader:
        stated = set(reader.triples.scan([0])[0])
        surveys = reader.surveys
        for predicate in terms:
            values = sorted({o for _, p, o in stated if p == predicate})
            assert surveys.values(predicate, 100) == values
            assert surveys.values(predicate, 2) == values[:2]
        one, two, three, *_ = terms
        narrowed = sorted({s for s, p, o in stated if p == one and o in (two, three) and (s, two, one) in stated})
        wanted = [(one, [two, three]), (two, [one])]
        assert surveys.subjects(wanted, looked_at=100, most=100) == narrowed
        assert surveys.subjects(wanted, looked_at=100, most=1) == narrowed[:1]
        assert set(surveys.about([one, two], 100)) == {t for t in stated if t[0] in (one, two)}
        assert surveys.present(terms) == {s for s, _, _ in stated}
        assert surveys.used(terms) == {p for _, p, _ in stated}
        assert surveys.predicates(100) == sorted({p for _, p, _ in stated})
        assert surveys.predicates(1) == sorted({p for _, p, _ in stated})[:1]
        having = [len({s for s, p, o in stated if p == predicate and o in (two, three)}) for predicate in terms]
        assert surveys.extents([(predicate, [two, three]) for predicate in terms], 100) == having
        assert surveys.extents([(one, [two, three]), (one, [])], 1) == [min(1, having[0]), 0]
        keys = [(p, o) for p in terms for o in (one, two)]
        assert set(surveys.uses(keys, 100)) == {t for t in stated if t[2] in (one, two)}


def test_only_so_many_candidates_are_looked_at(store):
    with store.writing() as writer:
        publish(writer, {"urn:d": lines(*(f"<urn:{n}> <urn:p> <urn:o>" for n in range(9)), "<urn:8> <urn:q> <urn:o>")})
    with store.reading() as reader:
        p, q, o, last = reader.terms.find(["<urn:p>", "<urn:q>", "<urn:o>", "<urn:8>"])
        wanted = [(p, [o]), (q, [o])]
        assert reader.surveys.subjects(wanted, looked_at=9, most=9) == [last]
        assert reader.surveys.subjects(wanted, looked_at=8, most=9) == []


def test_words_are_found_in_terms_whatever_their_case_and_however_they_look_to_a_database(store):
    texts = ['"Harbour bath"', '"HARBOUR 100%"', "<urn:harbour>", '"Ärger"', '"a_b"', '"axb"']
    with store.writing() as writer:
        publish(writer, {"urn:d": lines(*(f"<urn:s> <urn:p> {text}" for text in texts))})

    def found(*words, **bounds):
        with store.reading() as reader:
            wanted = {"before": 1 << 60, "looked_at": 1_000, "most": 10} | bounds
            return reader.surveys.terms_with([[word] for word in words], **wanted)

    assert {text for _, text in found("harbour").terms} == set(texts[:3])
    assert [text for _, text in found("harbour", "bath").terms] == ['"Harbour bath"']
    assert [text for _, text in found("100%").terms] == ['"HARBOUR 100%"']
    assert [text for _, text in found("a_b").terms] == ['"a_b"']
    assert found("nothing") == ([], 1)
    first = found("harbour", most=2)
    assert len(first.terms) == 2
    assert len(found("harbour", before=first.until).terms) == 1
    looked = found("nothing", looked_at=3)
    assert looked.until > 1


def test_the_log_is_surveyed_from_its_end(store):
    with store.writing() as writer:
        publish(writer, {"urn:d": lines("<urn:a> <urn:b> <urn:c>")})
        writer.log.append(1, [NewEvent((query,), MATCHED, ()) for query in (1, 2, 1, 1, 2, 3)])
        writer.rows.insert([NewRow((1,), 0, (number,), (number,)) for number in range(1, 4)])
    with store.reading() as reader:
        surveys = reader.surveys
        assert surveys.busiest(0, 2) == [(1, 3), (2, 2)]
        assert surveys.busiest(4, 9) == [(2, 1), (3, 1)]
        assert surveys.row_counts([1, 2], 2) == {1: 2, 2: 0}
        assert (surveys.documents(9), surveys.documents(0), surveys.subscriptions(9)) == (1, 0, 0)
        assert surveys.oldest_waiting() is None
    with store.writing() as writer:
        writer.intake.append([NewEntry(UNREAD, "urn:d")], "2026-01-01T00:00:00Z")
        assert writer.surveys.oldest_waiting() == "2026-01-01T00:00:00Z"
