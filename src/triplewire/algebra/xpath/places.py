"""Places: where a node is in its document, in words that stay the same while the node does.

A place is a path such as `/menu/softdrinks[2]/@sort`, with names as the document writes them and a number where several
have the name. It is an XPath for people; `Places.find` is the way back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from lxml import etree

from triplewire.model import Excerpt

MOST_TEXT = 1_000
"""So many characters of a node's text are told, white space in it made single spaces; … stands for the rest."""
MOST_CONTENT = 10_000
"""So many characters of a node's content are told."""
ROOT_PLACE = "/"
"""Where the document itself is."""

Tree = Any
"""lxml's element tree; its type says nothing to a checker."""

_STRING_VALUE = etree.XPath("string()")
_SPACE = re.compile(r"[ \t\r\n]+")
_XML = "http://www.w3.org/XML/1998/namespace"


class NamespaceNode(NamedTuple):
    """A node of the namespace axis: lxml tells its prefix and uri, and not the element that has it."""

    element: Any
    prefix: str
    uri: str


class Places:
    """The places and contents of nodes of one tree; positions among siblings are counted once for each parent."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._paths: dict[Any, str] = {}

    def of(self, node: Any) -> str:
        """Where a node is."""
        if isinstance(node, NamespaceNode):
            return f"{self._path(node.element)}/namespace::{node.prefix}"
        if isinstance(node, str):
            return self._path_of_text(node)
        return ROOT_PLACE if node is self._tree else self._path(node)

    def text(self, node: Any) -> str:
        """The string-value of a node."""
        if isinstance(node, NamespaceNode):
            return node.uri
        if isinstance(node, str):
            return node
        is_document_or_element = node is self._tree or isinstance(node.tag, str)
        return str(_STRING_VALUE(node)) if is_document_or_element else node.text or ""

    def content(self, node: Any) -> str:
        """All that is in a node, markup and attributes too."""
        if isinstance(node, NamespaceNode | str):
            return self.text(node)
        return str(etree.tostring(node, with_tail=False, encoding="unicode"))

    def find(self, place: str) -> Any:
        """The node at a place; None if there is none."""
        if place == ROOT_PLACE:
            return self._tree
        children = [*_around(self._tree.getroot())]
        while children:
            at = next((child for child in children if f"{place}/".startswith(f"{self._path(child)}/")), None)
            if at is None or self._path(at) == place:
                return at
            if "/" not in place[len(self._path(at)) + 1 :] and isinstance(at.tag, str):
                leaves = (leaf for leaf in _leaves_of(at) if self.of(leaf) == place)
                if (leaf := next(leaves, None)) is not None:
                    return leaf
            children = [*at]
        return None

    def excerpt(self, place: str) -> Excerpt | None:
        """What is at a place; None if there is nothing."""
        node = self.find(place)
        if node is None:
            return None
        content = self.content(node)
        content = content if len(content) <= MOST_CONTENT else f"{content[:MOST_CONTENT]}…"
        return Excerpt(place, shortened(self.text(node)), content)

    def _path(self, node: Any) -> str:
        """Where an element, a comment or a processing instruction is."""
        known = self._paths.get(node)
        if known is None:
            parent = node.getparent()
            if parent is None:
                self._place("", [*_around(node)])
            else:
                self._place(self._path(parent), parent)
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
            return f"{self._path(parent)}/@{_written(node.attrname, parent, is_attribute=True)}"
        if node.is_tail:
            around = parent.getparent()
            own = [bool(around.text), *(bool(child.tail) for child in around)]
            number = sum(own[: 2 + around.index(parent)])
        else:
            around, own, number = parent, [True, *(bool(child.tail) for child in parent)], 1
        return f"{self._path(around)}/text()" + (f"[{number}]" if sum(own) > 1 else "")


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


def _leaves_of(element: Any) -> Iterator[Any]:
    """The nodes of an element that have no elements in them."""
    yield from element.xpath("@* | text()")
    yield from (NamespaceNode(element, prefix or "", uri or "") for prefix, uri in element.xpath("namespace::*"))


def shortened(text: str) -> str:
    """A text as it is told."""
    text = _SPACE.sub(" ", text).strip(" ")
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}…"
