"""Varied expressions over auctions, news and Atom feeds: child, descendant, wildcard, attribute, nested.

An expression follows a path of the vocabulary. A step may be left out (then `//` stands for it) or be a wildcard; the
last step has one to three predicates, on attributes, children and what is below them. Values come from the same pools
as those of documents: from large ones, so that a document matches a few of ten thousands (RARE), or from small ones, so
that it matches tens of them (OFTEN).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from xml.sax.saxutils import escape

from lxml import etree

from benchmarks.xml.workload import Workload
from triplewire.documents.xml import written
from triplewire.model import Document

DOCUMENTS = 100
_SYLLABLES = ("har", "mol", "ker", "tan", "vis", "lun", "pod", "ger", "bour", "ten", "ix", "ade", "os", "el", "ru")
_WORDS = [a + b + c for a in _SYLLABLES for b in _SYLLABLES for c in ("", "a", "en", "is")]


@dataclass(frozen=True, slots=True)
class Pools:
    """How often values meet: how many words there are, how many fewer names, how far down thresholds go, which phrases.

    `top` is the part of a number's range that thresholds are in; an expression asks for a phrase of so many words.
    """

    words: int
    fewer_names: int
    top: float
    phrase: int

    def word(self, rng: Random) -> str:
        return _WORDS[rng.randrange(self.words)]


RARE = Pools(words=len(_WORDS), fewer_names=1, top=0.01, phrase=3)
OFTEN = Pools(words=200, fewer_names=1_000, top=0.1, phrase=2)


@dataclass(frozen=True, slots=True)
class Value:
    """How a value is made: a number up to `top`, one of so many names, or so many words."""

    kind: str
    size: int

    def made(self, rng: Random, pools: Pools) -> str:
        if self.kind == "number":
            return f"{rng.uniform(0, self.size):.2f}"
        if self.kind == "name":
            return f"{pools.word(rng)} {rng.randrange(max(1, self.size // pools.fewer_names))}"
        text = " ".join(pools.word(rng) for _ in range(self.size))
        return f"<p>{text} &amp; <b>{pools.word(rng)}</b></p>" if self.kind == "html" else text


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


_RATING = Kind("m:rating", {"stars": Value("number", 10)}), 1, 1
_ENTRY = Kind(
    "a:entry",
    {"xml:lang": Value("name", 20)},
    (
        _leaf("a:id", "name", 100_000),
        _leaf("a:title", "words", 8),
        _leaf("a:published", "number", 1_000_000),
        (Kind("a:author", {}, (_leaf("a:name", "name", 20_000), _leaf("a:uri", "name", 20_000))), 1, 2),
        (Kind("a:category", {"term": Value("name", 5_000), "scheme": Value("name", 50)}), 1, 3),
        (Kind("a:link", {"href": Value("name", 100_000), "rel": Value("name", 10)}), 1, 2),
        (Kind("a:content", {"type": Value("name", 3)}, value=Value("html", 30)), 1, 1),
        _leaf("dc:subject", "name", 5_000),
        (
            Kind(
                "m:group", {}, ((Kind("m:rating", {"stars": Value("number", 10)}), 1, 1), _leaf("m:text", "words", 8))
            ),
            0,
            1,
        ),
    ),
)
FEED = Kind(
    "a:feed",
    {},
    (
        _leaf("a:title", "words", 4),
        _leaf("a:updated", "number", 1_000_000),
        (Kind("a:generator", {"version": Value("name", 10)}, value=Value("name", 20)), 1, 1),
        (_ENTRY, 2, 3),
    ),
)
PREFIXES = {
    "a": "http://www.w3.org/2005/Atom",
    "dc": "http://purl.org/dc/elements/1.1/",
    "m": "http://search.yahoo.com/mrss/",
}


def workload(count: int, seed: int, *, matching: bool = True) -> Workload:
    """Expressions over both vocabularies; without `matching`, their values occur in no document."""
    return _made("VARIED" if matching else "VARIED-NONE", (NEWS, AUCTION), RARE, count, seed, matching=matching)


def often(count: int, seed: int) -> Workload:
    """The same, from small pools: tens of ten thousand expressions match a document."""
    return _made("VARIED-OFTEN", (NEWS, AUCTION), OFTEN, count, seed)


def atom(count: int, seed: int) -> Workload:
    """Atom feeds with the namespaces, the escaped markup and the comments that they have; tens match as well."""
    return _made("ATOM", (FEED,), OFTEN, count, seed)


def _made(name: str, kinds: Sequence[Kind], pools: Pools, count: int, seed: int, *, matching: bool = True) -> Workload:
    rng = Random(seed)
    documents = [_document(rng, kinds[number % len(kinds)], pools, number) for number in range(DOCUMENTS)]
    strange = "" if matching else " nowhere"
    expressions = [_expression(rng, rng.choice(kinds), pools, strange) for _ in range(count)]
    return Workload(name, expressions, documents, PREFIXES if FEED in kinds else {})


def _document(rng: Random, kind: Kind, pools: Pools, number: int) -> Document:
    text = _xml(rng, kind, pools)
    if kind is FEED:
        # as feeds write it: the names of Atom without a prefix
        text = text.replace("<a:", "<").replace("</a:", "</")
        declared = f'xmlns="{PREFIXES["a"]}" xmlns:dc="{PREFIXES["dc"]}" xmlns:m="{PREFIXES["m"]}"'
        text = text.replace("<feed>", f"<feed {declared}><!-- made by a generator -->", 1)
    uri = f"https://varied.example/{number}.xml"
    return Document(uri, b"", written(etree.fromstring(text)))


def _xml(rng: Random, kind: Kind, pools: Pools) -> str:
    attributes = "".join(f' {name}="{value.made(rng, pools)}"' for name, value in kind.attributes.items())
    body = escape(kind.value.made(rng, pools)) if kind.value else ""
    body += "".join(
        _xml(rng, child, pools) for child, least, most in kind.children for _ in range(rng.randint(least, most))
    )
    return f"<{kind.name}{attributes}>{body}</{kind.name}>"


def _expression(rng: Random, root: Kind, pools: Pools, strange: str) -> str:
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
    asked = (_predicate(rng, kind, pools, strange) for _ in range(rng.choice((1, 1, 2, 3))))
    predicates = {predicate.partition(" ")[0]: predicate for predicate in asked}
    return text + "".join(f"[{predicate}]" for predicate in predicates.values())


def _predicate(rng: Random, kind: Kind, pools: Pools, strange: str) -> str:
    """A condition on an attribute, on the value, or on something below, which may have a predicate itself."""
    choices = [(f"@{name}", value) for name, value in kind.attributes.items()]
    if kind.value:
        choices.append((".", kind.value))
    children = [child for child, _, _ in kind.children]
    if children and (not choices or rng.random() < 0.7):
        child = rng.choice(children)
        inner = _predicate(rng, child, pools, strange)
        if inner.startswith(". "):
            return f"{child.name}{inner[1:]}"
        return f"{child.name}[{inner}]"
    path, value = rng.choice(choices)
    if value.kind == "number":
        edge = value.size * (2.0 if strange else 1 - rng.random() ** 3 * pools.top)
        return f"{path} > {edge:.2f}"
    if value.kind in ("words", "html"):
        phrase = " ".join(pools.word(rng) for _ in range(pools.phrase)) + strange
        return f"contains({path}, '{phrase}')" if path != "." else f"text()[contains(., '{phrase}')]"
    return f"{path} = '{value.made(rng, pools)}{strange}'"
