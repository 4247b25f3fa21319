"""Every way to the RDF parser goes through a gate that refuses what the parser would die of."""

import ast
from pathlib import Path

import pytest

import triplewire
from triplewire.errors import QueryError
from triplewire.model.flat import MOST_NESTED, quad_in, resolved, triples_in

SOURCE = Path(triplewire.__file__).parent
GATES = {"model/flat.py", "documents/reader.py"}
PARSERS = {"parse", "load", "bulk_load", "update"}


def calls_of_the_parser(tree):
    """Names of pyoxigraph that read RDF, as a module imports them or reaches for them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "pyoxigraph":
            yield from (alias.name for alias in node.names if alias.name in PARSERS)
        elif isinstance(node, ast.Import) and any(alias.name == "pyoxigraph" for alias in node.names):
            yield "pyoxigraph"  # as a whole, with all that it has
        elif isinstance(node, ast.Attribute) and node.attr in ("bulk_load", "load_from_file"):
            yield node.attr


def test_nothing_but_the_gates_calls_the_parser():
    """Invariant of `documents.reader`: nothing else calls the parser."""
    found = {
        path.relative_to(SOURCE).as_posix(): names
        for path in SOURCE.rglob("*.py")
        if (names := set(calls_of_the_parser(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert found.keys() == GATES, found


def nested(depth, end=" .\n"):
    return ("<urn:a> <urn:b> " + "<<( <urn:a> <urn:b> " * depth + "<urn:c>" + " )>>" * depth + end).encode()


@pytest.mark.parametrize("depth", [MOST_NESTED + 1, 30_000])
def test_lines_that_nest_are_refused(depth):
    """Invariant of `model.flat`: the parser gets no text that nests too deeply."""
    for read in (lambda text: list(triples_in(text)), quad_in):
        with pytest.raises(ValueError, match="nested"):
            read(nested(depth))


def test_literals_that_look_nested_are_read():
    line = b'<urn:a> <urn:b> "' + b"<<( " * 1000 + b'" .\n'
    assert len(list(triples_in(line))) == 1


def test_reference_cannot_bring_a_document_along():
    with pytest.raises(ValueError, match="no place"):
        resolved("a> <b> <<( <c> <d> <e> )>> . #", "http://example.org/")
    hidden = r"a\u003E\u0020\u003Curn:other\u003E\u0020\u003Cc\u003E.#"
    with pytest.raises(QueryError):
        triplewire.compile(f"BASE <http://e/> SELECT ?s {{ ?s ?p <{hidden}> }}", language="sparql")
