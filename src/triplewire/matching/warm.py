"""Compile the kernel once, so that later processes load it: `python -m triplewire.matching.warm`."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from triplewire.algebra.pattern import Call, Conjunction, Pattern, TriplePattern, variable
from triplewire.algebra.xpath import syntax as xpath
from triplewire.algebra.xpath.query import PathQuery
from triplewire.matching.incremental.flat import Numbering, flat_triples
from triplewire.matching.index import Index
from triplewire.model import Document


@cache
def once() -> None:
    """Load all that is compiled, and compile what is not, before a batch waits for it.

    Every compiled function is used once, as a saved index and a new one do.
    """
    size, label = NamedNode("urn:size"), NamedNode("urn:label")
    conditions = (
        Call("~>", (variable("n"), Literal("1"))),
        Call("~<", (variable("n"), Literal("5"))),
        Call("contains", (variable("t"), Literal("warm"))),
    )
    triples = (
        TriplePattern(variable("x"), size, variable("n")),
        TriplePattern(variable("x"), label, variable("t")),
    )
    index = Index()
    for number in range(80):  # enough for every table to grow once
        index.add(str(number), Pattern(("x",), (Conjunction((triples[0], triples[1]), conditions),)))
        index.add(
            f"{number}!",
            Pattern(("n",), (Conjunction((TriplePattern(NamedNode(f"urn:{number}"), size, variable("n")),)),)),
        )
    index.remove("0!")
    index.explain("1")
    document = Document("urn:warm", b'<urn:1> <urn:label> "warm" .\n<urn:1> <urn:size> "3" .\n')
    with tempfile.TemporaryDirectory() as folder:
        index.save(Path(folder) / "warm.index")
        loaded = Index.load(Path(folder) / "warm.index")
        assert loaded.match(document) == index.match(document)
        loaded.remove("1")
    flat = flat_triples({("<urn:s>", "<urn:p>", "<urn:o>"): ["urn:warm"]}, Numbering())
    assert flat.present([(1, 1, 1)]) == [False]
    _use_xml()


def _use_xml() -> None:
    """The same for XPath, whose pass over the tags is compiled too."""
    place = xpath.Path(is_absolute=True, steps=(xpath.Step("child", xpath.Name("", "a")),))
    index = Index()
    index.add("number", PathQuery.of(xpath.Binary(">", place, xpath.Number("1"))))
    index.add("text", PathQuery.of(xpath.Binary("=", place, xpath.TextLiteral("warm"))))
    index.add("piece", PathQuery.of(xpath.CoreCall("contains", (place, xpath.TextLiteral("warm text")))))
    assert index.match(Document("urn:warm", b"", b"<a>2</a>")).subscriptions == ["number"]


if __name__ == "__main__":
    once()
