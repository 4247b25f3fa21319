"""What an XPath query means: its hits in one XML document, found from scratch by lxml.

An expression matches if XPath's `boolean()` of its value is true: a node-set with a node in it, true, a number that is
neither 0 nor NaN, a text that is not empty. A node-set gives a row for each of its nodes, in the order of the document,
the first `MOST_HITS` of them; any other value gives one row. Everything that is fast is tested against this.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from lxml import etree
from pyoxigraph import Literal, NamedNode

from triplewire.algebra.xpath.query import DOCUMENT, NODE, TEXT, PathQuery
from triplewire.algebra.xpath.syntax import (
    BOOLEAN,
    HERE,
    NODES,
    NUMBER,
    Binary,
    Call,
    Expression,
    Number,
    Path,
    Several,
    render,
)
from triplewire.algebra.xpath.syntax import DOCUMENT as ROOT
from triplewire.model import Document, Term

MOST_HITS = 1_000
"""So many nodes of a node-set become rows; the expression matches whatever their number."""
MOST_TEXT = 1_000
"""So many characters of a node's text are in its row, white space in it made single spaces; … stands for the rest."""

Tree = Any
"""lxml's element tree; its type says nothing to a checker."""

_SPACE = re.compile(r"[ \t\r\n]+")
_XML = "http://www.w3.org/XML/1998/namespace"


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
    return Call("boolean", (expression,))


def hits(query: PathQuery, tree: Tree) -> list[Hit]:
    """What the query's expression selects in a document, or the value that it gives; none if it does not match."""
    if query.type != NODES:
        return _value(query, tree)
    if not matches(query, tree):
        return []
    nodes = compiled(query.expression)(tree)
    found = {hit.path: hit for hit in map(_Nodes(tree).hit, nodes[:MOST_HITS])}
    if len(found) < MOST_HITS and compiled(_selects_document(query.expression))(tree):
        found = {"/": _document_hit(tree), **found}
    return list(found.values())


def _selects_document(expression: Expression) -> Expression:
    """lxml leaves the document itself out of its lists: whether it is selected must be asked."""
    is_document = Binary("=", Call("count", (Several("|", (HERE, ROOT)),)), Number("1"))
    return _truth(Path(is_absolute=False, steps=(), start=expression, filters=(is_document,)))


def _value(query: PathQuery, tree: Tree) -> list[Hit]:
    value = compiled(query.expression)(tree)
    is_true = bool(value) and not (query.type == NUMBER and math.isnan(value))
    if not is_true:
        return []
    if query.type == BOOLEAN:
        return [Hit(None, "", _fingerprint(etree.tostring(tree)))]
    text = compiled(Call("string", (query.expression,)))(tree) if query.type == NUMBER else str(value)
    return [Hit(None, _shortened(text), _fingerprint(text.encode()))]


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


# -- nodes


class _Nodes:
    """The paths and texts of nodes of one tree; positions among siblings are counted once for each parent."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._paths: dict[Any, str] = {}

    def hit(self, node: Any) -> Hit:
        """A node of lxml's as a hit."""
        if isinstance(node, tuple):  # of the namespace axis
            prefix, namespace = node
            return Hit(f"namespace::{prefix or '*'}", _shortened(namespace), _fingerprint(namespace.encode()))
        if isinstance(node, str):
            return Hit(self._path_of_text(node), _shortened(node), _fingerprint(node.encode()))
        content = etree.tostring(node, with_tail=False)
        text = "".join(_text_of(node)) if isinstance(node.tag, str) else node.text or ""
        return Hit(self.path(node), _shortened(text), _fingerprint(content))

    def path(self, node: Any) -> str:
        """Where an element, a comment or a processing instruction is."""
        known = self._paths.get(node)
        if known is None:
            parent = node.getparent()
            if parent is None:
                self._place("", [*_around(node)])
            else:
                self._place(self.path(parent), parent)
            known = self._paths[node]
        return known

    def _place(self, parent: str, children: Any) -> None:
        """The paths of all children: a name alone where there is one of the name, else with its number."""
        named: dict[str, list[Any]] = {}
        for child in children:
            named.setdefault(_step(child), []).append(child)
        for name, alike in named.items():
            for number, child in enumerate(alike, 1):
                self._paths[child] = f"{parent}/{name}" if len(alike) == 1 else f"{parent}/{name}[{number}]"

    def _path_of_text(self, node: Any) -> str:
        parent = node.getparent()
        if node.is_attribute:
            return f"{self.path(parent)}/@{_written(node.attrname, parent, is_attribute=True)}"
        if node.is_tail:
            around = parent.getparent()
            own = [bool(around.text), *(bool(child.tail) for child in around)]
            number = sum(own[: 2 + around.index(parent)])
        else:
            around, own, number = parent, [True, *(bool(child.tail) for child in parent)], 1
        return f"{self.path(around)}/text()" + (f"[{number}]" if sum(own) > 1 else "")


def _around(root: Any) -> Iterator[Any]:
    """The root element and what stands before and after it."""
    yield from reversed([*root.itersiblings(preceding=True)])
    yield root
    yield from root.itersiblings()


def _step(node: Any) -> str:
    if isinstance(node, etree._Comment):
        return "comment()"
    if isinstance(node, etree._ProcessingInstruction):
        return f"processing-instruction('{node.target}')"
    return _written(node.tag, node)


def _written(name: str, element: Any, *, is_attribute: bool = False) -> str:
    """A name with the prefix that the document gives its namespace there."""
    if not name.startswith("{"):
        return name
    namespace, _, local = name[1:].partition("}")
    if namespace == _XML:
        return f"xml:{local}"
    if not is_attribute:
        return f"{element.prefix}:{local}" if element.prefix else local
    prefix = next((p for p, uri in sorted(element.nsmap.items(), key=str) if uri == namespace and p), "")
    return f"{prefix}:{local}"


def _text_of(element: Any) -> Iterator[str]:
    """The pieces of an element's string-value: text, not that of comments and processing instructions."""
    for node in element.iter():
        if isinstance(node.tag, str) and node.text:
            yield node.text
        if node is not element and node.tail:
            yield node.tail


def _document_hit(tree: Tree) -> Hit:
    text = "".join(_text_of(tree.getroot()))
    return Hit("/", _shortened(text), _fingerprint(etree.tostring(tree)))


def _shortened(text: str) -> str:
    text = _SPACE.sub(" ", text).strip(" ")
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}…"


def _fingerprint(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()
