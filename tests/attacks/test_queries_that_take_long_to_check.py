"""Short queries that mean a great deal to compare: lint, check and preview end soon, and say what was not decided."""

from time import process_time

import pytest

import triplewire
from triplewire.algebra.wording import readable

UNIONS = "SELECT ?s { " + "".join(f"{{ ?s <a:{n}> ?a }} UNION {{ ?s <b:{n}> ?a }} " for n in range(8)) + "}"
WINDOWS = (
    "SELECT ?a { "
    + "".join(f"?a <p:p> ?x{n} . " for n in range(8))
    + "FILTER(" + " && ".join(f"(?x{n} < {n} || ?x{n} > {n + 5})" for n in range(8)) + ") }"
)  # fmt: skip
CASES = (
    "SELECT ?s { ?s <p:p> ?x ; <p:q> ?y ; <p:r> ?z FILTER(?x != ?y && "
    + " && ".join(f"(?x != {n} || ?y < {n} || ?z > ?x)" for n in range(60)) + ") }"
)  # fmt: skip
NEITHER = "SELECT ?s { ?s <p:p> ?x FILTER(!(" + " || ".join(f"(?x = {n} && ?x > {n})" for n in range(150)) + ")) }"
TEXTS = {"unions": UNIONS, "windows": WINDOWS, "cases": CASES, "neither": NEITHER}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_lint_ends_soon(text):
    pattern = readable(triplewire.compile(text, language="sparql"))
    began = process_time()
    triplewire.lint(pattern)
    assert process_time() - began < 4


@pytest.mark.parametrize("text", [UNIONS, WINDOWS])
def test_what_was_not_compared_is_told(text):
    found = triplewire.lint(readable(triplewire.compile(text, language="sparql")))
    assert [(each.kind, each.severity) for each in found] == [("not-decided", "note")]


def test_covering_of_many_alternatives_ends_soon():
    pattern = triplewire.compile(WINDOWS, language="sparql")
    began = process_time()
    triplewire.covers(pattern, triplewire.compile(WINDOWS.replace("?x0 < 0", "?x0 < 1"), language="sparql"))
    assert process_time() - began < 4


@pytest.mark.slow
@pytest.mark.parametrize("route", ["lint", "check", "preview"])
def test_service_answers_soon(served, route):
    served.subscribe("other", WINDOWS)
    for text in TEXTS.values():
        assert served.post(f"/v1/{route}", json={"text": text, "language": "sparql"}).status_code == 200
