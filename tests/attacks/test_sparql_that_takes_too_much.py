"""Queries that ask for more memory, time or depth than there is: they end, and the next one is answered."""

import pytest

from hub.serving import problem, serving

PRODUCT = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } ORDER BY ?l ?i"
DEEP = "SELECT * { FILTER(" + "!" * 200_000 + "true) }"


@pytest.fixture
def served(tmp_path):
    with serving(f"sqlite:///{tmp_path}/hub.db", query_seconds=15.0, query_memory=200 << 20) as client:
        client.publish("urn:d", "".join(f"<urn:s{n}> <urn:p> {n} .\n" for n in range(100)))
        yield client


@pytest.mark.parametrize("text", [PRODUCT, DEEP], ids=["memory", "depth"])
def test_query_that_kills_its_process_is_refused_and_the_next_is_answered(served, text):
    count = {"query": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"}
    served.post("/v1/sparql", data=count)
    told = problem(served.post("/v1/sparql", data={"query": text}), 422)
    assert "memory" in told["detail"]
    assert served.post("/v1/sparql", data=count).json()["results"]["bindings"][0]["n"]["value"] == "100"


def test_errors_of_syntax_are_told_with_their_place(served):
    told = problem(served.post("/v1/sparql", data={"query": "SELECT *\n{ ?s ?p }"}), 400)
    assert "line 2" in told["detail"]
