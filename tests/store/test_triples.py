"""Lookups of triples: against plain Python over random documents, and by the plans of the databases."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from effort import examples
from store.filling import lines, publish
from triplewire.store import Store, scoped, triples_of
from triplewire.store import triples as module
from triplewire.store.databases import connect

NAMES = [f"<urn:{letter}>" for letter in "abcde"]
TRIPLES = st.tuples(*[st.sampled_from(NAMES)] * 3).map(" ".join)
HISTORIES = st.lists(
    st.dictionaries(
        st.sampled_from(["urn:d1", "urn:d2", "urn:d3"]),
        st.none() | st.frozensets(TRIPLES, min_size=1, max_size=8).map(lambda triples: lines(*triples)),
        min_size=1,
    ),
    max_size=6,
)


class Model:
    """What the store should say: statements as (triple, document, batch of its current version)."""

    def __init__(self, history):
        self.statements = set()
        for batch, contents in enumerate(history, 1):
            for uri, content in contents.items():
                self.statements = {s for s in self.statements if s[1] != uri}
                self.statements |= {(t, uri, batch) for t in triples_of(0, content or b"")}

    def triples(self, after, s=None, p=None, o=None):
        return {
            t
            for t, _, batch in self.statements
            if batch > after and s in (None, t[0]) and p in (None, t[1]) and o in (None, t[2])
        }


@pytest.fixture(params=["memory", "postgresql"])
def many_stores(request, new_url):
    """A store that examples empty and fill again."""
    with Store.open(new_url(request.param)) as store:
        yield store


def empty(store):
    with store._database.writing() as sql:
        for table in ("documents", "versions", "statements", "predicates", "batches", "counters", "terms"):
            sql.run(f"DELETE FROM {table}")
        sql.run("INSERT INTO counters (name, value) VALUES ('generation', ?)", next(GENERATIONS))


GENERATIONS = iter(range(1, 1_000_000))


@given(history=HISTORIES, after=st.integers(0, 6))
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lookups_say_what_the_current_documents_say(many_stores, history, after):
    empty(many_stores)
    for contents in history:
        with many_stores.writing() as writer:
            publish(writer, contents)
    model = Model(history)
    with many_stores.writing() as writer:
        terms = writer.terms.ids(NAMES)
    assert list(many_stores.problems()) == []
    with many_stores.reading() as reader:
        text = {0: None} | dict(zip(terms, NAMES, strict=True))

        def spelled(groups):
            assert all(len(set(group)) == len(group) for group in groups)
            return [{tuple(reader.terms.texts(triple)) for triple in group} for group in groups]

        keys = [(a, b) for a in terms for b in [0, *terms]]
        lookups = reader.triples
        assert spelled(lookups.forward(keys, after)) == [model.triples(after, s=text[s], p=text[p]) for s, p in keys]
        turned = [(p, o) for o, p in keys]
        assert spelled(lookups.backward(turned, after)) == [
            model.triples(after, p=text[p], o=text[o]) for p, o in turned
        ]
        assert spelled(lookups.scan([0, *terms], after)) == [model.triples(after, p=text[p]) for p in [0, *terms]]
        every = sorted(lookups.scan([0])[0])
        uris = {
            record.id: record.uri for record in lookups.documents([d for ds in lookups.stated_by(every) for d in ds])
        }
        stated = [{uris[d] for d in ds} for ds in lookups.stated_by(every)]
        spelled_out = [tuple(reader.terms.texts(triple)) for triple in every]
        assert stated == [{uri for t, uri, _ in model.statements if t == triple} for triple in spelled_out]
        visible = model.triples(after)
        assert lookups.visible(every, after) == [triple in visible for triple in spelled_out]
        counts = [
            sum(1 for t, _, b in model.statements if b > after and text[p] in (None, t[1]) and t[2] == text[o])
            for p, o in turned
        ]
        assert lookups.degrees(turned, 3, after) == [min(3, count) for count in counts]
        assert lookups.count() == len(model.statements)


def test_blank_nodes_of_two_documents_are_two(store):
    content = lines("_:c14n0 <urn:b> _:c14n1")
    with store.writing() as writer:
        one, two = publish(writer, {"urn:d": content, "urn:e": content})
        names = [scoped(one, "_:c14n0"), scoped(two, "_:c14n0")]
        assert len(writer.triples.scan([0])[0]) == 2
        assert 0 not in writer.terms.find(names)
        assert list(triples_of(one, content)) == [(names[0], "<urn:b>", f"_:d{one}xc14n1")]
    assert list(store.problems()) == []


def test_literal_with_spaces_is_one_term():
    line = '<urn:a> <urn:b> "x . y _:z"@en'
    assert list(triples_of(1, lines(line))) == [("<urn:a>", "<urn:b>", '"x . y _:z"@en')]


def test_statistics_of_predicates_follow_the_documents(store):
    """Invariant of `store.triples`: `predicates` has the number of statements of each predicate that has some."""
    with store.writing() as writer:
        publish(
            writer, {"urn:d": lines("<urn:a> <urn:b> <urn:c>", "<urn:a> <urn:b> <urn:d>", "<urn:a> <urn:p> <urn:d>")}
        )
        b, p = writer.terms.ids(["<urn:b>", "<urn:p>"])
        assert writer.triples.predicates() == {b: 2, p: 1}
        publish(writer, {"urn:d": lines("<urn:a> <urn:b> <urn:c>")})
        assert writer.triples.predicates() == {b: 1}


QUESTIONS = {
    "forward": (module._SP, ((1, 2),), ()),
    "forward, any predicate": (module._S, ((1,),), ()),
    "forward, published": (module._SP + module._PUBLISHED, ((1, 2),), (5,)),
    "backward": (module._PO, ((1, 2),), ()),
    "scan": (module._P, ((1,),), ()),
    "degree": (module._DEGREE % "", ((1, 2),), (256,)),
    "degree, published": (module._DEGREE % module._PUBLISHED, ((1, 2),), (5, 256)),
    "stated by": (module._STATED, ((1, 2, 3),), ()),
}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def large(request, tmp_path_factory):
    """A database with enough in it that an index is worth while."""
    folder = tmp_path_factory.mktemp("plans")
    url = request.getfixturevalue("postgres").url() if request.param == "postgresql" else f"sqlite:///{folder}/s.db"
    with Store.open(url) as store, store.writing() as writer:
        writer.triples.replace([(n, (), [(n, p, n % 5_000 + 9) for p in range(1, 9)]) for n in range(1, 5_001)])
    database = connect(url, 60)
    database.tidy()
    yield database
    database.close()


@pytest.mark.parametrize("question", QUESTIONS)
def test_lookup_is_a_search_in_an_index(large, question):
    """Cost follows what is found: no plan walks through the statements."""
    text, keys, values = QUESTIONS[question]
    explain = "EXPLAIN " if large.engine.dialect.name == "postgresql" else "EXPLAIN QUERY PLAN "
    with large.reading() as sql:
        plan = "\n".join(str(row[-1]) for row in sql.keyed(explain + text, keys, *values))
    assert "SCAN st" not in plan
    assert "Seq Scan on statements" not in plan
    assert re.search(r"SEARCH st USING|Index (Only )?Scan (using|on) statements", plan)
