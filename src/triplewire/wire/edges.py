"""What an edge asks its hub, and what it is told: one question and one answer, whatever has to be brought up to date.

A *node* is a resource as both sides spell it: `<iri>`, or for a blank node its name in its document and the document's
uri (`_:c14n0 urn:doc`). A *description* is all that is stated of a node, document by document.

    question   where the edge is (`position`), which rules come, go, or are to be told whole, which nodes to describe
    answer     where it is now; for each rule the nodes that come and go; the descriptions that differ; or, if the hub
               cannot tell the difference, why (`resync`), and then the digests of everything (`manifest`)

Invariant: an answer depends on the question and on the hub's state alone, so a question may be asked again at any time.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from datetime import datetime
from hashlib import blake2b
from typing import Any

_BLANK = re.compile(r"_:d(\d+)x(.*)", re.DOTALL)
_DIGEST = 8
_WORTH_PACKING = 200
_WELL, _GZIP = 6, 31
"""How well an answer is compressed, and zlib's number for the form of gzip."""
_spelled = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


AS_OF = "Triplewire-As-Of"
"""The header of an edge's answers that names the batch of its hub; `Age` says how old that may be."""


@dataclass(frozen=True)
class AnswerAge:
    """How old an answer of an edge may be: the batch of its hub that it is of, and for how many seconds it may not be.

    Without seconds, the hub has never told anything.
    """

    position: int
    seconds: int | None


def age_in(headers: Mapping[str, str]) -> AnswerAge | None:
    """What the headers of an answer say of its age; None: it is not of an edge.

    >>> age_in({"Triplewire-As-Of": "42", "Age": "7"})
    AnswerAge(position=42, seconds=7)
    """
    position, seconds = headers.get(AS_OF, ""), headers.get("Age", "")
    if not position.isdecimal():
        return None
    return AnswerAge(int(position), int(seconds) if seconds.isdecimal() else None)


@dataclass(frozen=True)
class EdgeRule:
    """A rule that an edge follows, as it was written."""

    id: str
    text: str
    language: str


@dataclass(frozen=True)
class Part:
    """What one document states of a node: lines of N-Triples, with the document's own names for blank nodes."""

    document: str
    lines: str


@dataclass(frozen=True)
class Description:
    """What is stated of a node; nothing, if nobody states anything of it any more. `xml` if it is an XML document."""

    node: str
    parts: list[Part] = field(default_factory=list)
    xml: str = ""

    def digest(self) -> str:
        """A fingerprint: equal for equal triples, whichever documents state those that have no blank node."""
        lines = {_own_line(part, line) for part in self.parts for line in part.lines.split("\n") if line}
        return digest_of([*sorted(lines), self.xml])


@dataclass(frozen=True)
class EdgeQuestion:
    """What an edge asks: everything that it lacks, in one go."""

    edge: str
    position: str = ""
    """Where it is; empty before the first answer."""
    rules: str = ""
    """The digest of the rules that it has been told whole (`digest_of_rules`)."""
    follow: list[EdgeRule] = field(default_factory=list)
    unfollow: list[str] = field(default_factory=list)
    load: list[str] = field(default_factory=list)
    """Rules to be told whole."""
    nodes: list[str] = field(default_factory=list)
    """Nodes to be described, whether they differ or not."""
    schema: str = ""
    taxonomy: str = ""
    """The digests of what it has of these."""
    digests: dict[str, str] = field(default_factory=dict)
    """For each rule the digest of what the edge holds because of it, to be compared."""
    resync: bool = False
    """Everything is to be told: the nodes of all rules, and the manifest."""
    wait: float = 0.0
    """So many seconds may pass before an answer that tells nothing new."""


@dataclass(frozen=True)
class EdgeAnswer:
    """What an edge is told: as of one batch of the hub."""

    position: str
    number: int
    """The number of the hub's last batch, and when it was committed; empty if there was none."""
    time: str
    rules: dict[str, str] | None = None
    """The tags of the rules that the hub knows of this edge, if they are others than the edge thinks."""
    refused: dict[str, str] = field(default_factory=dict)
    """Rules that the hub does not serve, and why."""
    waiting: list[str] = field(default_factory=list)
    """Rules whose first answers are still being looked for."""
    whole: dict[str, str] = field(default_factory=dict)
    """Rules whose `registered` are all that they register, with their tags."""
    registered: dict[str, list[str]] = field(default_factory=dict)
    released: dict[str, list[str]] = field(default_factory=dict)
    descriptions: list[Description] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    """Of the nodes that go, those of which the hub knows nothing any more; the others have moved out."""
    resync: str = ""
    """Why the difference cannot be told; the edge then asks for everything."""
    manifest: dict[str, str] | None = None
    """With a resync: the digest of each node that the edge is to hold."""
    drifted: list[str] = field(default_factory=list)
    """Rules of which the edge holds something else than it should."""
    schema: list[list[str]] | None = None
    """The triples of the hub's schema, and of its taxonomy, if they are others than the edge has."""
    policy: str = "refuse"
    taxonomy: list[list[str]] | None = None
    offered: list[EdgeRule] = field(default_factory=list)
    """Rules that a person made for the edge at the hub: it follows them."""

    @property
    def is_news(self) -> bool:
        """Whether it tells anything besides the position, and what the hub refuses."""
        told = self.whole, self.registered, self.released, self.descriptions, self.resync, self.offered
        return any(told) or any(each is not None for each in (self.rules, self.manifest, self.schema, self.taxonomy))


@dataclass(frozen=True)
class RuleTold:
    """A rule that an edge follows: new, loading, kept, or refused for a reason."""

    id: str
    text: str
    language: str
    state: str
    reason: str
    resources: int


@dataclass(frozen=True)
class KnownEdge:
    """An edge of an account, by its name, and how many rules it follows here."""

    name: str
    rules: int


@dataclass(frozen=True)
class CauseTold:
    """Why something is said of a resource at an edge: rules, what holds it strongly, private documents."""

    resource: str
    rules: list[str]
    parents: list[str]
    private: list[str]
    is_cached: bool


@dataclass(frozen=True)
class UplinkTold:
    """What the channel of an edge to its hub does: idle, connected or away, and since when.

    `peer` is the name of the hub, `heard` when anything came from it, `lag` how many of its batches are missing; null:
    that is not known.
    """

    state: str
    since: datetime | None
    peer: str
    heard: datetime | None
    lag: int | None


@dataclass(frozen=True)
class EdgeTold:
    """An edge at a glance: the hub's batch that it is of, when that was confirmed, and how many seconds ago."""

    name: str
    hub: str
    position: int
    confirmed: datetime | None
    age: float | None
    rules: list[RuleTold]
    cached: int
    private: int
    problem: str
    link: UplinkTold | None = None
    """What the channel to the hub does; null where the hub is asked over HTTP alone."""


def as_json(message: EdgeQuestion | EdgeAnswer) -> dict[str, Any]:
    """A message as it is sent: what is as it usually is, is left out, because most answers tell little."""
    usual = _USUAL[type(message)]
    told = {name: value for name, value in vars(message).items() if value != usual[name]}
    return {name: _plain(value) for name, value in told.items()}


def packed_json(answer: EdgeAnswer) -> tuple[bytes, bool]:
    """An answer as bytes, and whether they are compressed: so are all but the shortest, as their lines are alike."""
    content = _spelled(as_json(answer)).encode()
    if len(content) < _WORTH_PACKING:
        return content, False
    press = zlib.compressobj(_WELL, zlib.DEFLATED, _GZIP)
    return press.compress(content) + press.flush(), True


def _usual(member: Field[Any]) -> object:
    """What a member is if nothing is said; MISSING if it must be."""
    return member.default if member.default_factory is MISSING else member.default_factory()


_USUAL = {kind: {each.name: _usual(each) for each in fields(kind)} for kind in (EdgeQuestion, EdgeAnswer)}
"""What the members of a message are if nothing is said; nobody changes them."""


def _plain(value: Any) -> Any:
    return [_plain_member(each) for each in value] if isinstance(value, list) else value


def _plain_member(each: Any) -> Any:
    if isinstance(each, Description):
        parts = [{"document": part.document, "lines": part.lines} for part in each.parts]
        return {"node": each.node, "parts": parts} | ({"xml": each.xml} if each.xml else {})
    return asdict(each) if isinstance(each, EdgeRule) else each


def node_of(text: str, uri_of: dict[int, str]) -> str:
    """A resource as both sides spell it, from the text that a store has for it and the uris of its documents.

    >>> node_of("_:d7xc14n0", {7: "urn:doc"}), node_of("<urn:a>", {})
    ('_:c14n0 urn:doc', '<urn:a>')
    """
    blank = _BLANK.fullmatch(text)
    return text if blank is None else f"_:{blank[2]} {uri_of[int(blank[1])]}"


def document_of(text: str) -> int:
    """The number of the document that a blank node belongs to, by the text that a store has for it; 0 for others."""
    blank = _BLANK.fullmatch(text) if text.startswith("_:") else None
    return 0 if blank is None else int(blank[1])


def local_name(text: str) -> str:
    """A term as its document spells it.

    >>> local_name("_:d7xc14n0"), local_name('"_:d7x"')
    ('_:c14n0', '"_:d7x"')
    """
    blank = _BLANK.fullmatch(text) if text.startswith("_:") else None
    return text if blank is None else f"_:{blank[2]}"


def tag_of_rule(registered: str, text: str, language: str) -> str:
    """The tag of a rule: what is another one each time that it is registered, and what tells in which words it was.

    So an edge that has meanwhile taken other words for the same rule knows that the hub speaks of the old ones.
    """
    return f"{registered}.{digest_of([language, text])}"


def is_tag_of(tag: str, text: str, language: str) -> bool:
    """Whether a tag is that of a rule in these words.

    >>> is_tag_of(tag_of_rule("7-1", "a", "sparql"), "a", "sparql")
    True
    """
    registered, _, _ = tag.rpartition(".")
    return tag == tag_of_rule(registered, text, language)


def digest_of_rules(tags: dict[str, str]) -> str:
    """The digest of rules by their tags."""
    return digest_of(f"{rule} {tag}" for rule, tag in sorted(tags.items()))


def digest_of(lines: Iterable[str]) -> str:
    """A fingerprint of some lines in their order."""
    found = blake2b(digest_size=_DIGEST)
    for line in lines:
        found.update(line.encode())
        found.update(b"\0")
    return found.hexdigest()


def _own_line(part: Part, line: str) -> str:
    """A line as it is told apart among many documents: blank nodes belong to theirs."""
    subject, _, value = line.split(" ", 2)
    return f"{line} {part.document}" if subject.startswith("_:") or value.startswith("_:") else line
