"""The W3C's SPARQL 1.0 and 1.1 tests: every query-evaluation test is answered right, or refused by name.

The files are the W3C's and not part of this project. They are read from the folder that TRIPLEWIRE_W3C_SPARQL names,
or from `shared/w3c-sparql` beside the project's folder.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyoxigraph import (
    BlankNode,
    CanonicalizationAlgorithm,
    Dataset,
    NamedNode,
    Quad,
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    Store,
    Triple,
    parse,
    parse_query_results,
)

from triplewire.algebra.evaluate import evaluate
from triplewire.errors import QuerySyntaxError, UnsupportedQuery
from triplewire.languages import compile

_BESIDE = Path(__file__).parents[3] / "shared" / "w3c-sparql"
FOLDER = Path(os.environ.get("TRIPLEWIRE_W3C_SPARQL", _BESIDE))
BASE = "http://w3c.example/"
ABSENT = "the W3C's SPARQL tests are not here; name their folder in TRIPLEWIRE_W3C_SPARQL"

REFUSED = {
    "sparql10/bound/bound1": "a FILTER on what only an OPTIONAL binds",
    "sparql10/expr-ops/query-add-literals": "no triple pattern, so every document would match",
    "sparql10/expr-ops/query-add-numbers-cast": "a computed column",
    "sparql10/expr-ops/query-subtract-numbers-cast": "a computed column",
    "sparql10/expr-ops/query-multiply-numbers-cast": "a computed column",
    "sparql10/expr-ops/query-divide-numbers-cast": "a computed column",
    "sparql10/expr-ops/query-unplus-2": "a computed column",
    "sparql10/expr-ops/query-unminus-2": "a computed column",
    "sparql11/bindings/graph": "GRAPH",
    "sparql11/bindings/inline02": "a nested SELECT",
    "sparql11/bindings/values07": "VALUES for what only an OPTIONAL binds",
}
"""The queries that are refused: one more or one less is noticed here."""

MERGED = {"sparql10/expr-equals/query-eq-graph-1", "sparql10/expr-equals/query-eq-graph-2"}
"""Where pyoxigraph's store differs from the W3C: it keeps 01 and 1 as one term, and so finds one for the other."""

_RESULT_SET = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
_PREFIXES = """
PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
PREFIX qt: <http://www.w3.org/2001/sw/DataAccess/tests/test-query#>
"""
_EVALUATION = """SELECT ?test ?query ?data ?result {
    ?test a mf:QueryEvaluationTest ; mf:action ?action ; mf:result ?result .
    ?action qt:query ?query . OPTIONAL { ?action qt:data ?data } }"""
_SYNTAX = """SELECT ?test ?kind ?query { ?test a ?kind ; mf:action ?query .
    VALUES ?kind { mf:PositiveSyntaxTest mf:PositiveSyntaxTest11 mf:NegativeSyntaxTest mf:NegativeSyntaxTest11 } }"""


@dataclass(frozen=True)
class Evaluation:
    """One query-evaluation test of a manifest; the files are under FOLDER."""

    name: str
    query: Path
    data: Path | None
    result: Path

    @property
    def key(self) -> str:
        return str(self.query.relative_to(FOLDER).with_suffix(""))

    @property
    def text(self) -> str:
        """The query, with its own address as its base, as the W3C's tests are meant to be read."""
        return f"BASE <{_address(self.query)}>\n" + self.query.read_text(encoding="utf-8")


def _address(path: Path) -> str:
    return BASE + path.relative_to(FOLDER).as_posix()


def _path(node: NamedNode | None) -> Path | None:
    return None if node is None else FOLDER / node.value.removeprefix(BASE)


def _load(path: Path) -> Store:
    store = Store()
    store.extend(Quad(*triple) for triple in _triples(path))
    return store


def _triples(path: Path) -> list[Triple]:
    return [quad.triple for quad in parse(path.read_bytes(), format=RdfFormat.TURTLE, base_iri=_address(path))]


def _evaluations() -> list[Evaluation]:
    found = []
    for manifest in sorted(FOLDER.rglob("manifest.ttl")):
        for row in _load(manifest).query(_PREFIXES + _EVALUATION):
            files = [_path(row[name]) for name in ("query", "data", "result")]
            found.append(Evaluation(row["test"].value.rpartition("#")[2], *files))
    return sorted(found, key=lambda test: (test.key, test.name))


def _syntaxes() -> list[tuple[str, Path]]:
    rows = [row for m in sorted(FOLDER.rglob("manifest.ttl")) for row in _load(m).query(_PREFIXES + _SYNTAX)]
    return [(row["kind"].value.rpartition("#")[2], _path(row["query"])) for row in rows]


EVALUATIONS = _evaluations()
SYNTAXES = _syntaxes()
needs_files = pytest.mark.skipif(not FOLDER.is_dir(), reason=ABSENT)


def _canonical(rows: list[dict[str, object]]) -> frozenset[str]:
    """The distinct rows as canonical statements, so that blank nodes may have any name."""
    dataset = Dataset()
    for row in {frozenset(row.items()) for row in rows}:
        node = BlankNode()
        dataset.add(Quad(node, NamedNode("urn:row"), NamedNode("urn:row")))
        for name, term in row:
            dataset.add(Quad(node, NamedNode(f"urn:column:{name}"), term))
    dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return frozenset(str(quad) for quad in dataset)


def _rows(solutions: QuerySolutions | QueryBoolean) -> list[dict[str, object]]:
    if isinstance(solutions, QueryBoolean):
        return [{}] if solutions else []
    names = [variable.value for variable in solutions.variables]
    return [{name: row[name] for name in names if row[name] is not None} for row in solutions]


def _expected(path: Path) -> list[dict[str, object]]:
    if path.suffix == ".srx":
        return _rows(parse_query_results(path.read_bytes(), format=QueryResultsFormat.XML))
    triples = _triples(path)
    said = {(triple.subject, triple.predicate.value.removeprefix(_RESULT_SET)): triple.object for triple in triples}
    if answer := next((value for (_, name), value in said.items() if name == "boolean"), None):
        return [{}] if answer.value == "true" else []
    pairs = [(triple.predicate.value.removeprefix(_RESULT_SET), triple) for triple in triples]
    rows: dict[object, dict[str, object]] = {triple.object: {} for name, triple in pairs if name == "solution"}
    for cell in (triple for name, triple in pairs if name == "binding"):
        rows[cell.subject][said[cell.object, "variable"].value] = said[cell.object, "value"]
    return list(rows.values())


def _as_stored(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """The rows with their terms as pyoxigraph's store gives them back: numbers in their canonical form."""
    return [{name: _stored(term) for name, term in row.items()} for row in rows]


def _stored(term: object) -> object:
    store = Store()
    store.add(Quad(NamedNode("urn:s"), NamedNode("urn:p"), term))
    return next(iter(store)).object


@needs_files
def test_the_manifests_have_tests() -> None:
    """An empty folder would pass every other test here."""
    assert len(EVALUATIONS) >= 80


@needs_files
@pytest.mark.parametrize("test", EVALUATIONS, ids=lambda test: f"{test.key}-{test.name}")
def test_each_query_is_answered_as_the_w3c_says_or_is_refused_by_name(test: Evaluation) -> None:
    """X1: a wrong answer is a failure, and so is a refusal that REFUSED does not name."""
    if test.key in REFUSED:
        with pytest.raises(UnsupportedQuery) as caught:
            compile(test.text, language="sparql")
        assert caught.value.line is not None
        return
    triples = _triples(test.data) if test.data else []
    rows = evaluate(compile(test.text, language="sparql"), triples)
    assert _canonical(rows) == _canonical(_expected(test.result))


@needs_files
@pytest.mark.parametrize("test", [t for t in EVALUATIONS if t.key not in REFUSED], ids=lambda t: f"{t.key}-{t.name}")
def test_another_implementation_reads_the_manifests_the_same(test: Evaluation) -> None:
    """The oracle of the other tests agrees with the W3C, so a difference from it is a difference from the W3C."""
    store = _load(test.data) if test.data else Store()
    rows = evaluate(compile(test.text, language="sparql"), _triples(test.data) if test.data else [])
    agree = _canonical(_rows(store.query(test.text))) == _canonical(_as_stored(rows))
    assert agree is (test.key not in MERGED)


@needs_files
def test_what_is_refused_is_in_the_manifests() -> None:
    assert REFUSED.keys() <= {test.key for test in EVALUATIONS}


@needs_files
@pytest.mark.skipif(not SYNTAXES, reason="the manifests that are here have no syntax tests")
@pytest.mark.parametrize(("kind", "path"), SYNTAXES or [("", FOLDER)])
def test_syntax_is_accepted_or_rejected_as_the_w3c_says(kind: str, path: Path) -> None:
    text = f"BASE <{_address(path)}>\n" + path.read_text(encoding="utf-8")
    if kind.startswith("Negative"):
        with pytest.raises(QuerySyntaxError):
            compile(text, language="sparql")
        return
    with contextlib.suppress(UnsupportedQuery):
        compile(text, language="sparql")
