"""What an edge looks at before it keeps what it is told: a hub may be another one than it seems, or lie.

Only the form is looked at, because what is true only the hub can know. What passes can be written and read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyoxigraph import NamedNode

from triplewire.documents import parse
from triplewire.errors import NetworkError, TriplewireError
from triplewire.model import moment
from triplewire.wire.edges import Description, EdgeAnswer, local_name

_NODE = re.compile(r"<[^<>\"{}|^`\\\x00-\x20]+>|_:[A-Za-z0-9][\w.-]* [^\x00-\x20]+")
_URI = re.compile(r"[^\x00-\x20<>]+")
_MOST = 1 << 53
_AT_ONCE = 1_000


def refuse_nonsense(answer: EdgeAnswer) -> None:
    """NetworkError for what cannot be the answer of a hub."""
    try:
        _check(answer)
    except (ValueError, TypeError, AttributeError, TriplewireError) as error:
        raise NetworkError(f"the hub's answer is none that an edge can use: {error}") from error


def _check(answer: EdgeAnswer) -> None:
    _require(isinstance(answer, EdgeAnswer), "it is no answer")
    _require(type(answer.number) is int and 0 <= answer.number < _MOST, "its batch has no number")
    _require(all(isinstance(each, str) for each in (answer.position, answer.time, answer.resync)), "it has no position")
    if answer.time:
        moment(answer.time)
    for tags in (answer.rules or {}, answer.whole, answer.refused, answer.manifest or {}):
        _check_texts([*tags.keys(), *tags.values()])
    _check_texts([*answer.waiting, *answer.drifted])
    for nodes in (*answer.registered.values(), *answer.released.values(), answer.deleted, answer.manifest or {}):
        _check_nodes(nodes)
    for triples in (answer.schema or (), answer.taxonomy or ()):
        _check_texts(text for triple in triples for text in triple)
        _require(all(len(triple) == 3 for triple in triples), "what should be triples has other parts")
    _check_descriptions(answer.descriptions)


def _check_texts(texts: Iterable[Any]) -> None:
    for text in texts:
        _require(isinstance(text, str), f"{text!r} is no text")
        _require("\0" not in text, "no store can hold a NUL")
        text.encode()


def _check_nodes(nodes: Iterable[Any]) -> None:
    for node in nodes:
        _require(isinstance(node, str) and _NODE.fullmatch(node) is not None, f"{node!r} is no resource")
        node.encode()


def _check_descriptions(descriptions: list[Description]) -> None:
    _check_nodes(each.node for each in descriptions)
    lines: dict[str, list[str]] = {}
    for told in descriptions:
        subject = f"{local_name(told.node.split(' ', 1)[0])} "
        for part in told.parts:
            _require(_URI.fullmatch(part.document) is not None, f"{part.document!r} is no uri of a document")
            own = part.lines.split("\n")
            _require(all(line.startswith(subject) for line in own), f"it says of {told.node} what is of another")
            lines.setdefault(part.document, []).extend(own)
        if told.xml:
            _require(bool(parse(told.xml, uri=told.node[1:-1], media_type="application/xml").xml), "it is no XML")
    _check_lines(lines)


def _check_lines(lines: Mapping[str, Sequence[str]]) -> None:
    """Whether lines by document can be read; those without blank nodes many at a time, whosever they are."""
    shared: list[str] = []
    for uri, every in lines.items():
        NamedNode(uri)
        own = [line for line in every if "_:" in line]
        if own:
            _read(own, uri)
        shared += [line for line in every if "_:" not in line]
    for first in range(0, len(shared), _AT_ONCE):
        _read(shared[first : first + _AT_ONCE], "urn:triplewire:answer")


def _read(lines: Sequence[str], uri: str) -> None:
    text = "\n".join(lines)
    _check_texts([text])
    parse(text, uri=uri, media_type="application/n-triples")


def _require(is_so: bool, otherwise: str) -> None:
    if not is_so:
        raise ValueError(otherwise)
