"""SERVICE in a query of a stranger, in every disguise: nobody is asked, and no answer's body comes back."""

from contextlib import suppress

import pytest
from pyoxigraph import NamedNode, Quad, Store

import triplewire
from triplewire.engine.inspect.respelling import respelled
from triplewire.errors import QueryError
from triplewire.hub.sparql import process
from triplewire.hub.sparql.askers import Beginning, CatchUp, Question

DISGUISES = {
    "plain": "SELECT * { SERVICE <URL> { ?s ?p ?o } }",
    "small letters": "SELECT * { service silent <URL> { ?s ?p ?o } }",
    "an iri to us, a comparison to the engine": "SELECT * { FILTER(1<2)SERVICE#>\n<URL> {?s ?p ?o} FILTER(1<(2>1)) }",
    "after a number": "SELECT * { ?s ?p 1SERVICE <URL> { ?s ?p ?o } }",
    "after a variable and a full stop": "SELECT * { ?s ?p ?o.SERVICE <URL> { ?s ?p ?o } }",
    "spelled with an escape": "SELECT * { \\u0053ERVICE <URL> { ?s ?p ?o } }",
    "with a long s": "SELECT * { \u017fERVICE <URL> { ?s ?p ?o } }",
    "as the end of a name": "PREFIX x: <urn:x> SELECT * { ?s ?p x:SERVICE <URL> { ?s ?p ?o } }",
    "as the end of a name with an escape": "PREFIX x: <urn:x> SELECT * { ?s ?p x:\\)SERVICE <URL> { ?s ?p ?o } }",
    "as a variable after a path": "SELECT * { ?s <urn:p>?SERVICE <URL> { ?s ?p ?o } }",
    "in a subquery": "SELECT * { { SELECT * { SERVICE <URL> { ?s ?p ?o } } } }",
    "in exists": "SELECT * { ?s ?p ?o FILTER EXISTS { SERVICE <URL> { ?s ?p ?o } } }",
    "by a variable": "SELECT * { BIND(<URL> AS ?u) SERVICE ?u { ?s ?p ?o } }",
    "in quotes that are none": "SELECT * { FILTER('\\\\'!='x')SERVICE <URL> { ?s ?p ?o } FILTER('a'='a') }",
}


@pytest.fixture(params=DISGUISES.values(), ids=DISGUISES)
def disguised(request, inside):
    url, _ = inside
    return request.param.replace("URL", url)


def test_service_makes_no_request_for_a_stranger(served, inside):
    url, heard = inside
    served.publish("urn:d", "<urn:s> <urn:p> 1 .")
    for text in DISGUISES.values():
        answer = served.post("/v1/sparql", data={"query": text.replace("URL", url)})
        assert "SECRET" not in answer.text
        assert answer.status_code in (200, 400, 422), answer.text
    assert heard == []
    assert served.get("/v1/sparql", params={"query": "ASK {}"}).json()["boolean"] is True


def test_service_makes_no_request_for_the_owner(disguised, inside):
    """Invariant of `engine.inspect.respelling`: no keyword SERVICE reaches the engine."""
    with triplewire.Hub("sqlite://") as hub:
        hub.publish("<urn:s> <urn:p> 1 .", uri="urn:d")
        with suppress(QueryError):
            list(hub.query(disguised))
    assert inside[1] == []


def test_confinement_holds_where_the_guard_does_not(disguised, inside, monkeypatch, tmp_path):
    """The process has no network: what the text is made of does not matter.

    Invariant of `hub.sparql.process`: the engine reads a stranger's text in a confinement.
    """
    monkeypatch.setattr("triplewire.engine.inspect.replica._served", lambda text, tokens: text)
    url = f"sqlite:///{tmp_path}/hub.db"
    with triplewire.Hub(url) as hub:
        hub.publish("<urn:s> <urn:p> 1 .", uri="urn:d")
    answering = process.Answering()
    for message in (Beginning(url, 1 << 20, 10.0, 1 << 30), CatchUp(None)):
        assert answering.answered(message) is None
    assert not isinstance(answering.answered(Question("ASK {}")), Exception), "questions come through without the guard"
    told = answering.answered(Question(disguised))
    assert "SECRET" not in str(told)
    assert inside[1] == []


def test_the_engine_would_ask_without_either(inside):
    """What the tests above try is real: with neither guard the engine makes the request."""
    url, heard = inside
    store = Store()
    store.add(Quad(NamedNode("urn:s"), NamedNode("urn:p"), NamedNode("urn:o")))
    text = DISGUISES["an iri to us, a comparison to the engine"].replace("URL", url)
    with pytest.raises(RuntimeError):
        list(store.query(text))
    assert heard


@pytest.mark.parametrize(
    "text",
    [
        "PREFIX dcat: <http://www.w3.org/ns/dcat#> SELECT ?service { ?service a dcat:DataService ; dcat:service ?x }",
        "SELECT * { <urn:service(1)> ?p 'a Service', '''of SERVICE''' } # SERVICE",
    ],
)
def test_names_and_texts_with_the_letters_of_service_are_served(text):
    with triplewire.Hub("sqlite://") as hub:
        hub.publish("<urn:service(1)> <urn:p> 'a Service', 'of SERVICE' .", uri="urn:d")
        expected = 0 if "dcat" in text else 1
        assert len(list(hub.query(text))) == expected


def test_respelling_keeps_lines_and_columns_of_what_has_nothing_to_hide():
    text = 'SELECT ?a # what\r\n{ ?a <urn:p> "x" ,\n  1 }'
    assert respelled(text) == 'SELECT ?a       \r\n{ ?a <urn:p> "x" ,\n  1 }'
