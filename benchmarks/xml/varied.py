"""Varied expressions over auction-like and news-like documents: child, descendant, wildcard, attribute, nested.

An expression follows a path of the vocabulary. A step may be left out (then `//` stands for it) or be a wildcard; the
last step has one to three predicates, on attributes, children and what is below them. Values come from the same pools
as those of documents, most of them large, so that a document matches a few of thousands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from xml.sax.saxutils import escape

from benchmarks.xml.workload import Workload
from triplewire import parse
from triplewire.model import Document

DOCUMENTS = 100
_SYLLABLES = ("har", "mol", "ker", "tan", "vis", "lun", "pod", "ger", "bour", "ten", "ix", "ade", "os", "el", "ru")
_WORDS = [a + b + c for a in _SYLLABLES for b in _SYLLABLES for c in ("", "a", "en", "is")]


@dataclass(frozen=True, slots=True)
class Value:
    """How a value is made: a number up to `top`, one of so many names, or so many words."""

    kind: str
    size: int

    def made(self, rng: Random, strange: str = "") -> str:
        if self.kind == "number":
            return f"{rng.uniform(0, self.size):.2f}"
        if self.kind == "name":
            return f"{rng.choice(_WORDS)} {rng.randrange(self.size)}{strange}"
        return " ".join(rng.choice(_WORDS) for _ in range(self.size))


@dataclass(frozen=True, slots=True)
class Kind:
    """An element: attributes, children (how many of each), a value."""

    name: str
    attributes: Mapping[str, Value] = field(default_factory=dict)
    children: tuple[tuple[Kind, int, int], ...] = ()
    value: Value | None = None


def _leaf(name: str, kind: str, size: int) -> tuple[Kind, int, int]:
    return Kind(name, value=Value(kind, size)), 1, 1


_PERSON = Kind("person", {"id": Value("name", 50_000)}, (_leaf("name", "name", 20_000), _leaf("city", "name", 2_000)))
_BID = Kind("bid", {"at": Value("number", 1_000_000)}, ((_PERSON, 1, 1), _leaf("amount", "number", 1_000)))
_ITEM = Kind(
    "item",
    {"id": Value("name", 100_000), "featured": Value("name", 50)},
    (
        _leaf("name", "name", 20_000),
        _leaf("category", "name", 500),
        _leaf("location", "name", 2_000),
        _leaf("quantity", "number", 100),
        (Kind("description", {}, ((Kind("text", value=Value("words", 25)), 1, 2),)), 1, 1),
    ),
)
AUCTION = Kind(
    "site",
    {},
    (
        (
            Kind(
                "auction",
                {"id": Value("name", 100_000)},
                (
                    (_ITEM, 1, 1),
                    _leaf("initial", "number", 500),
                    _leaf("current", "number", 1_000),
                    (Kind("bids", {}, ((_BID, 1, 4),)), 1, 1),
                    (Kind("seller", {"rating": Value("number", 10)}, ((_PERSON, 1, 1),)), 1, 1),
                ),
            ),
            1,
            2,
        ),
    ),
)
NEWS = Kind(
    "news",
    {"version": Value("name", 5)},
    (
        (
            Kind(
                "head",
                {},
                (
                    _leaf("title", "words", 6),
                    (Kind("subject", {"code": Value("name", 5_000)}, value=Value("name", 5_000)), 1, 4),
                    _leaf("agency", "name", 200),
                    _leaf("urgency", "number", 8),
                ),
            ),
            1,
            1,
        ),
        (
            Kind(
                "body",
                {},
                (
                    _leaf("dateline", "name", 2_000),
                    (
                        Kind("section", {"id": Value("name", 1_000)}, ((Kind("p", value=Value("words", 30)), 1, 4),)),
                        1,
                        3,
                    ),
                    (Kind("media", {"type": Value("name", 10)}, (_leaf("caption", "words", 8),)), 0, 2),
                ),
            ),
            1,
            1,
        ),
    ),
)


def workload(count: int, seed: int, *, matching: bool = True) -> Workload:
    """Expressions over both vocabularies; without `matching`, their values occur in no document."""
    rng = Random(seed)
    documents = [_document(rng, number) for number in range(DOCUMENTS)]
    strange = "" if matching else " nowhere"
    expressions = [_expression(rng, rng.choice((AUCTION, NEWS)), strange) for _ in range(count)]
    return Workload("VARIED" if matching else "VARIED-NONE", expressions, documents)


def _document(rng: Random, number: int) -> Document:
    text = _xml(rng, AUCTION if number % 2 else NEWS)
    return parse(text, uri=f"https://varied.example/{number}.xml")


def _xml(rng: Random, kind: Kind) -> str:
    attributes = "".join(f' {name}="{value.made(rng)}"' for name, value in kind.attributes.items())
    body = escape(kind.value.made(rng)) if kind.value else ""
    body += "".join(_xml(rng, child) for child, least, most in kind.children for _ in range(rng.randint(least, most)))
    return f"<{kind.name}{attributes}>{body}</{kind.name}>"


def _expression(rng: Random, root: Kind, strange: str) -> str:
    text, kind, is_free = f"/{root.name}", root, False
    goes_on = bool(kind.children)
    while goes_on:
        kind = rng.choice(kind.children)[0]
        goes_on = bool(kind.children) and rng.random() < 0.85
        if goes_on and rng.random() < 0.2:
            is_free = True  # the step is left out
            continue
        name = "*" if goes_on and rng.random() < 0.1 else kind.name
        text += f"//{name}" if is_free else f"/{name}"
        is_free = False
    predicates = {
        p.partition(" ")[0]: p for p in (_predicate(rng, kind, strange) for _ in range(rng.choice((1, 1, 2, 3))))
    }
    return text + "".join(f"[{predicate}]" for predicate in predicates.values())


def _predicate(rng: Random, kind: Kind, strange: str) -> str:
    """A condition on an attribute, on the value, or on something below, which may have a predicate itself."""
    choices = [(f"@{name}", value) for name, value in kind.attributes.items()]
    if kind.value:
        choices.append((".", kind.value))
    children = [child for child, _, _ in kind.children]
    if children and (not choices or rng.random() < 0.7):
        child = rng.choice(children)
        inner = _predicate(rng, child, strange)
        if inner.startswith(". "):
            return f"{child.name}{inner[1:]}"
        return f"{child.name}[{inner}]"
    path, value = rng.choice(choices)
    if value.kind == "number":
        edge = value.size * (2.0 if strange else 1 - rng.random() ** 3 * 0.01)
        return f"{path} > {edge:.2f}"
    if value.kind == "words":
        pair = f"{rng.choice(_WORDS)} {rng.choice(_WORDS)} {rng.choice(_WORDS)}{strange}"
        return f"contains({path}, '{pair}')" if path != "." else f"text()[contains(., '{pair}')]"
    return f"{path} = '{value.made(rng, strange)}'"
