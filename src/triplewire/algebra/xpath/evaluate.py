"""What an XPath query means: its hits in one XML document, found from scratch by lxml.

An expression matches if XPath's `boolean()` of its value is true: a node-set with a node in it, true, a number that is
neither 0 nor NaN, a text that is not empty. A node-set gives a row for each of its nodes, in the order of the document,
the first `MOST_HITS` of them; any other value gives one row. Everything that is fast is tested against this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import Any

from lxml import etree
from pyoxigraph import Literal, NamedNode

from triplewire.algebra.xpath.cost import MOST_PREFIXES
from triplewire.algebra.xpath.places import ROOT_PLACE, NamespaceNode, Places, Tree, shortened
from triplewire.algebra.xpath.query import PathQuery
from triplewire.algebra.xpath.syntax import (
    ANYTHING,
    BOOLEAN,
    HERE,
    NODES,
    NUMBER,
    Binary,
    CoreCall,
    Expression,
    Name,
    Number,
    Path,
    Several,
    Step,
    TextLiteral,
    render,
)
from triplewire.algebra.xpath.syntax import DOCUMENT as ROOT
from triplewire.model import Document, Term
from triplewire.model.event import DOCUMENT, NODE, TEXT

MOST_HITS = 1_000
"""So many nodes of a node-set become rows; the expression matches whatever their number."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A node that an expression selects (`path` says where it is), or a value that it gives (`path` is None).

    `content` is a fingerprint of all that is in the node, markup and attributes too.
    """

    path: str | None
    text: str
    content: bytes


def tree_of(xml: bytes) -> Tree:
    """The tree of a document's XML."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    return etree.fromstring(xml, parser).getroottree()


def matches(query: PathQuery, tree: Tree) -> bool:
    """True if the query's expression is true of a document."""
    return bool(compiled(_truth(query.expression))(tree))


def _truth(expression: Expression) -> Expression:
    return CoreCall("boolean", (expression,))


def hits(query: PathQuery, tree: Tree) -> list[Hit]:
    """What the query's expression selects in a document, or the value that it gives; none if it does not match."""
    if query.type != NODES:
        return _value(query, tree)
    if not matches(query, tree):
        return []
    nodes = islice(_nodes(query.expression, tree), MOST_HITS)
    places = Places(tree)
    found = {hit.path: hit for hit in (_hit(places, node) for node in nodes)}
    if len(found) < MOST_HITS and compiled(_selects_document(query.expression))(tree):
        found = {ROOT_PLACE: _hit(places, tree), **found}
    return list(found.values())


def _nodes(expression: Expression, tree: Tree) -> Iterator[Any]:
    """The nodes that an expression selects; those of the namespace axis after the others, by prefix.

    lxml tells a namespace node's prefix and uri alone, so for each of the first prefixes the elements are asked for.
    """
    selected = compiled(expression)(tree)
    yield from (node for node in selected if not isinstance(node, tuple))
    prefixes = sorted({node[0] or "" for node in selected if isinstance(node, tuple)})
    for prefix in prefixes[:MOST_PREFIXES]:
        for element in compiled(_elements_with(expression, prefix))(tree):
            yield NamespaceNode(element, prefix, dict(element.xpath("namespace::*"))[prefix or None] or "")


def _elements_with(expression: Expression, prefix: str) -> Expression:
    """The elements whose namespace node with this prefix is selected."""
    around = Path(is_absolute=False, steps=(Step("parent", ANYTHING), Step("namespace", Name(None, "*"))))
    is_namespace = Binary(
        "=", CoreCall("count", (Several("|", (HERE, around)),)), CoreCall("count", (around,))
    )  # the union with all of its element's has no node more
    has_prefix = Binary("=", CoreCall("local-name", ()), TextLiteral(prefix))
    parents = (Step("parent", ANYTHING),)
    return Path(is_absolute=False, steps=parents, start=expression, filters=(has_prefix, is_namespace))


def _hit(places: Places, node: Any) -> Hit:
    return Hit(places.of(node), shortened(places.text(node)), _fingerprint(places.content(node).encode()))


def _selects_document(expression: Expression) -> Expression:
    """lxml leaves the document itself out of its lists: whether it is selected must be asked."""
    is_document = Binary("=", CoreCall("count", (Several("|", (HERE, ROOT)),)), Number("1"))
    return _truth(Path(is_absolute=False, steps=(), start=expression, filters=(is_document,)))


def _value(query: PathQuery, tree: Tree) -> list[Hit]:
    value = compiled(query.expression)(tree)
    is_true = bool(value) and not (query.type == NUMBER and math.isnan(value))
    if not is_true:
        return []
    if query.type == BOOLEAN:
        return [Hit(None, "", _fingerprint(etree.tostring(tree)))]
    text = compiled(CoreCall("string", (query.expression,)))(tree) if query.type == NUMBER else str(value)
    return [Hit(None, shortened(text), _fingerprint(text.encode()))]


def rows(query: PathQuery, document: Document) -> list[dict[str, Term]]:
    """The rows that a document gives a query."""
    if not document.xml:
        return []
    return [row_of(query, document.uri, hit) for hit in hits(query, tree_of(document.xml))]


def row_of(query: PathQuery, uri: str, hit: Hit) -> dict[str, Term]:
    """A hit as a row of the query's columns."""
    row: dict[str, Term] = {DOCUMENT: NamedNode(uri)}
    if NODE in query.answer and hit.path is not None:
        row[NODE] = Literal(hit.path)
    if TEXT in query.answer:
        row[TEXT] = Literal(hit.text)
    return row


# -- lxml


@lru_cache(maxsize=50_000)
def compiled(expression: Expression) -> Callable[[Tree], Any]:
    """The expression as lxml's; one is made once, as long as it is used."""
    text, namespaces = _prefixed(expression)
    found: Callable[[Tree], Any] = etree.XPath(text, namespaces=namespaces, regexp=False, smart_strings=True)
    return found


def _prefixed(expression: Expression) -> tuple[str, Mapping[str, str]]:
    prefixes: dict[str, str] = {}
    text = render(expression, lambda namespace: prefixes.setdefault(namespace, f"n{len(prefixes)}"))
    return text, {prefix: namespace for namespace, prefix in prefixes.items()}


def _fingerprint(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()
