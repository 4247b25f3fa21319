"""Random histories of XML documents against recomputation: rows, and the events from one state to the next."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.xml_worlds import PREFIXES, random_expression, random_xml

from effort import examples
from triplewire import Hub, Publish, Retract, compile, parse
from triplewire.algebra.xpath.cost import safe_size
from triplewire.algebra.xpath.evaluate import hits, row_of, tree_of
from triplewire.matching.index import MAX_STEPS
from triplewire.model import Row

URIS = [f"https://x.example/{number}.xml" for number in range(3)]
Hits = dict[tuple[str, str | None], tuple[Row, bytes]]
"""By document and place: the row of a hit, and the fingerprint of its content."""


def hits_of(query, documents) -> Hits:
    return {
        (uri, hit.path): (Row(row_of(query, uri, hit)), hit.content)
        for uri, document in documents.items()
        for hit in hits(query, tree_of(document.xml))
    }


def expected(before: Hits, after: Hits) -> set[tuple[str, Row]]:
    """What must be told when one state follows another."""
    return (
        {("unmatched", row) for place, (row, _) in before.items() if place not in after}
        | {("matched", row) for place, (row, _) in after.items() if place not in before}
        | {
            ("changed", row)
            for place, (row, content) in after.items()
            if place in before and before[place][1] != content
        }
    )


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, 2**32))
def test_rows_and_events_are_those_of_recomputation(seed: int) -> None:
    rng = Random(seed)
    drawn = {str(number): random_expression(rng, 2) for number in range(15)}
    compiled = {id: compile(text, language="xpath", prefixes=PREFIXES) for id, text in drawn.items()}
    queries = {id: query for id, query in compiled.items() if safe_size(query.expression, MAX_STEPS) > 4_000}
    texts = {id: drawn[id] for id in queries}
    with Hub(":memory:") as hub:
        for id, text in texts.items():
            hub.subscribe(text, language="xpath", id=id, prefixes=PREFIXES)
        documents: dict[str, object] = {}
        before = {id: hits_of(query, documents) for id, query in queries.items()}
        for _ in range(6):
            changes = []
            for uri in rng.sample(URIS, rng.randint(1, 2)):
                if uri in documents and rng.random() < 0.25:
                    del documents[uri]
                    changes.append(Retract(uri))
                else:
                    documents[uri] = parse(random_xml(rng), uri=uri)
                    changes.append(Publish(documents[uri]))
            outcome = hub.apply(changes)
            assert not outcome.errors
            after = {id: hits_of(query, documents) for id, query in queries.items()}
            for id in queries:
                told = {(event.kind, event.row) for event in outcome if event.subscription == id}
                assert told == expected(before[id], after[id]), texts[id]
                assert set(hub.rows(id)) == {row for row, _ in after[id].values()}
            before = after
        assert list(hub.check()) == []
