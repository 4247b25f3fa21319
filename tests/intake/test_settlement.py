"""Many changes are applied, and what is bad among them is refused alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from effort import examples
from triplewire import Hub, Schema, parse
from triplewire.errors import StoreUnavailable
from triplewire.intake.settlement import settle_changes
from triplewire.model import Publish
from triplewire.schema.vocabulary import SCHEMA

ONCE = Schema.from_triples(
    Triple(NamedNode(name), NamedNode(f"{SCHEMA}maximum"), Literal(1))
    for name in ("urn:p", "http://purl.org/dc/elements/1.1/subject")
)
BELOW = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"


def change(number: int, child: int, parent: int) -> Publish:
    return Publish(parse(f"<urn:c{child}> {BELOW} <urn:c{parent}> .", uri=f"urn:doc:{number}"))


def refused_of(changes, hub) -> list[str]:
    return [refused.change.uri for settled in settle_changes(changes, hub.apply) for refused in settled.refused]


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8))
def test_what_is_refused_is_what_would_be_refused_if_each_came_alone(edges) -> None:
    changes = [change(number, *edge) for number, edge in enumerate(edges)]
    with Hub(":memory:") as one, Hub(":memory:") as other:
        refused = refused_of(changes, one)
        alone = [uri for each in changes for uri in refused_of([each], other)]
        assert refused == alone
        assert [each.uri for each in one.documents()] == [each.uri for each in other.documents()]


def test_a_store_that_is_away_is_no_documents_fault() -> None:
    def away(changes):
        raise StoreUnavailable("away")

    with pytest.raises(StoreUnavailable):
        list(settle_changes([change(1, 1, 2)], away))


def test_of_changes_of_one_document_only_the_bad_one_is_refused() -> None:
    with Hub(":memory:") as hub:
        hub.set_schema(ONCE)
        good, bad = (Publish(parse(f"<urn:a> <urn:p> {values} .", uri="urn:doc")) for values in ("1", "1, 2"))
        assert refused_of([good, bad], hub) == ["urn:doc"]
        assert hub.document("urn:doc") == good.document


def test_item_that_is_refused_does_not_count_as_missing() -> None:
    def feed(**categories: int) -> Publish:
        named = {guid: "".join(f"<category>{n}</category>" for n in range(count)) for guid, count in categories.items()}
        items = "".join(f"<item><guid>urn:{guid}</guid><title>a</title>{own}</item>" for guid, own in named.items())
        text = f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'
        return Publish(parse(text, uri="urn:feed"), drop_missing=True)

    with Hub(":memory:") as hub:
        hub.set_schema(ONCE)
        hub.apply([feed(a=1, b=1, c=1)])
        assert refused_of([feed(a=1, b=2)], hub) == ["urn:feed#item=urn:b"]
        assert hub.document("urn:feed#item=urn:b") is not None
        assert refused_of([feed(a=1, b=1)], hub) == []
        assert hub.document("urn:feed#item=urn:c") is None


def test_what_nobody_foresaw_is_refused_alone() -> None:
    def faulty(changes):
        if any(each.uri == "urn:doc:3" for each in changes):
            raise RuntimeError("a fault")
        return hub.apply(changes)

    with Hub(":memory:") as hub:
        changes = [change(number, number, number + 1) for number in range(6)]
        refused = [one for settled in settle_changes(changes, faulty) for one in settled.refused]
        assert [(one.change, str(one.error)) for one in refused] == [(changes[3], "a fault")]
        assert len(hub.documents()) == 5
