"""One pass over the tags of a document: which entries its places and values meet.

The XML is canonical (`documents.xml`): every element has its end tag, attributes are in double quotes, and < stands for
nothing but the start of a tag. So tags are found by splitting, which is several times faster than building a tree.
"""

from __future__ import annotations

import re
from array import array

from triplewire.matching.kernel.compiled import Array
from triplewire.matching.xml.automaton import XML, Automaton, Look, Node, State
from triplewire.matching.xml.grams import NO_GRAMS, Grams
from triplewire.matching.xml.machine import Found, Machine, Marks
from triplewire.matching.xml.watches import Entries, Part, number_of

MOST_TEXT = 64 * 1024 * 1024
"""So many characters of values are put together for one document; watches that come later are told without looking."""

_ASIDE = re.compile(r"<!--.*?-->|<\?.*?\?>", re.DOTALL)
_TAG = re.compile(r'([^">]*(?:"[^"]*"[^">]*)*)>(.*)\Z', re.DOTALL)
_TAGS = re.compile(r'<[^">]*(?:"[^"]*"[^">]*)*>')
_ATTRIBUTE = re.compile(r'([^= ]+)="([^"]*)"')
_REFERENCE = re.compile(r"&(?:#x([0-9A-F]+)|(amp|lt|gt|quot));")
_REFERRED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"'}
_NO_NAMESPACES: dict[str, str] = {"": ""}


Span = tuple[int, int]
"""Where a value stands in a document: its first byte, and the one after its last."""

_ANYWHERE: Span = (0, 1 << 62)


class Scan:
    """What one document meets: `sure` entries are matched, `maybe` entries must be verified.

    Both are lists of the index itself, or parts of them, and good until it changes.
    """

    __slots__ = (
        "_automaton",
        "_compiled",
        "_extremes",
        "_grams",
        "_looks",
        "_machine",
        "_room",
        "_somewhere",
        "_states",
        "_waiting",
        "maybe",
        "sure",
    )

    def __init__(self, automaton: Automaton, grams: Grams, raw: bytes, machine: Machine, marks: Marks) -> None:
        self._automaton, self._machine = automaton, machine
        self._compiled: Found | None = None
        self.sure: list[Entries | Part] = []
        self.maybe: list[Entries | Part] = []
        self._states: dict[State, None] = {}
        self._looks: dict[Look, None] = {}
        self._extremes: dict[Look, list[float]] = {}
        self._waiting = grams
        self._grams = grams.found_in(raw) if grams else NO_GRAMS
        self._room = MOST_TEXT
        has_references = b"&" in raw
        self._somewhere = None if has_references else _ANYWHERE
        if has_references or not self._run_compiled(raw, machine, marks, grams.ends):
            xml = raw.decode()
            if "<!" in xml or "<?" in xml:
                xml = _ASIDE.sub("<!>", xml)
            self._run(xml, _Scopes() if "xmlns" in xml else None)
        self._settle()

    @property
    def nodes(self) -> set[Node]:
        """The nodes of the automaton that the document met."""
        met: set[Node] = set()
        for state in self._states:
            met |= state.look.nodes
        for look in self._looks:
            met |= look.nodes
        if self._compiled is not None:
            for number in self._compiled.met.tolist():
                met |= self._machine.looks[number].nodes
        return met

    def _run_compiled(self, raw: bytes, machine: Machine, marks: Marks, ends: Array) -> bool:
        """See what the compiled pass finds; False if it does not serve this document."""
        found = self._compiled = machine.run(raw, marks, ends, len(self._grams))
        if found is None:
            return False
        looks = machine.looks
        for number, start, end, has_elements in found.values:
            value = raw[start:end].decode()
            if has_elements:
                self._see(looks[number], _TAGS.sub("", value), None)
            else:
                self._see(looks[number], value, (start, end))
        for number in found.told:
            look = looks[number]
            least, greatest = machine.extremes[number].tolist()
            if least <= greatest:
                self._note(look, least)
                self._note(look, greatest)
            self._tell(look)
        return True

    def _run(self, xml: str, scopes: _Scopes | None) -> None:
        state, step, states = self._automaton.start, self._automaton.step, self._states
        stack: list[State] = []
        starts: list[int] = []
        texts: list[str] = []
        pieces = iter(xml.split("<"))
        next(pieces)
        for piece in pieces:
            head, _, text = piece.partition(">")
            if head[0] == "/":
                if state.look.has_values:
                    start = starts.pop()
                    value = texts[start] if len(texts) == start + 1 else "".join(texts[start:])
                    self._see(state.look, value, self._somewhere if len(texts) == start + 1 else None)
                    if not starts:
                        texts.clear()
                state = stack.pop()
                if scopes is not None:
                    scopes.leave()
            elif head != "!":
                stack.append(state)
                attributes = ""
                if " " in head:
                    if head.count('"') & 1:  # a > in an attribute is written as it is
                        head, text = _whole(piece)
                    head, _, attributes = head.partition(" ")
                if scopes is not None:
                    head = scopes.enter(head, attributes)
                state = state.next.get(head) or step(state, head)
                if state.is_watched:
                    states[state] = None
                    if state.look.has_values:
                        starts.append(len(texts))
                    if attributes and state.has_attributes:
                        self._attributes(state, attributes, scopes)
            if text and (starts or state.text):
                if "&" in text:
                    text = unescaped(text)
                if starts:
                    texts.append(text)
                if state.text is not None:
                    self._meet(state.text, text, self._somewhere)

    def _attributes(self, state: State, attributes: str, scopes: _Scopes | None) -> None:
        for name, value in _ATTRIBUTE.findall(attributes):
            if scopes is not None and (name == "xmlns" or name.startswith("xmlns:")):
                continue
            label = name
            if ":" in name:
                label = XML + name[4:] if scopes is None else scopes.attribute(name)
            look = state.attributes.get(label) or self._automaton.look_at(state, label)
            if look.nodes:
                self._meet(look, unescaped(value) if "&" in value else value, self._somewhere)

    def _meet(self, look: Look, value: str, where: Span | None) -> None:
        """An attribute, or a text."""
        self._looks[look] = None
        if look.has_values:
            self._see(look, value, where)

    def _see(self, look: Look, value: str, where: Span | None) -> None:
        """Tell those who wait a value; None: it does not stand so in the document, but in pieces or with references."""
        self._room -= len(value)
        if self._room < 0:
            self.maybe.append(array("q", [*look.sure.everything(), *look.maybe.everything()]))
            return
        sure, maybe = look.sure, look.maybe
        if value in sure.equal:
            self.sure.append(sure.equal[value])
        if value in maybe.equal:
            self.maybe.append(maybe.equal[value])
        if sure.pieces or maybe.pieces:
            grams = (
                self._grams.between(*where) if where is not None else self._waiting.found_in(value.encode()).everywhere
            )
            for watch, told in ((sure, self.sure), (maybe, self.maybe)):
                if watch.pieces and (grams or watch.short) and (entries := watch.contained_in(value, grams)):
                    told.append(array("q", entries))
        if (sure.has_numbers or maybe.has_numbers) and (number := number_of(value)) is not None:
            self._number(look, number)

    def _number(self, look: Look, number: float) -> None:
        if look.maybe.same:
            self.maybe.append(look.maybe.near(number))
        self._note(look, number)

    def _note(self, look: Look, number: float) -> None:
        known = self._extremes.get(look)
        if known is None:
            self._extremes[look] = [number, number]
        elif number < known[0]:
            known[0] = number
        elif number > known[1]:
            known[1] = number

    def _settle(self) -> None:
        """Thresholds are asked once, with the least and the greatest of all numbers; and who only wants a place."""
        for look, (least, greatest) in self._extremes.items():
            for watch, told in ((look.sure, self.sure), (look.maybe, self.maybe)):
                for thresholds, number in ((watch.above, greatest), (watch.below, -least)):
                    if len(thresholds):
                        passed, near = thresholds.passed(number)
                        if passed:
                            told.append(passed)
                        if near:
                            self.maybe.append(near)
        for state in self._states:
            self._tell(state.look)
        for look in self._looks:
            self._tell(look)

    def _tell(self, look: Look) -> None:
        if look.sure.exists:
            self.sure.append(look.sure.exists)
        if look.maybe.exists:
            self.maybe.append(look.maybe.exists)


def _whole(piece: str) -> tuple[str, str]:
    """A tag with > in its attributes, and the text behind it."""
    found = _TAG.match(piece)
    assert found is not None, "the XML of a document is canonical"
    return found[1], found[2]


def unescaped(text: str) -> str:
    """A text of canonical XML as it is meant.

    >>> unescaped("a &lt; b &amp;lt; c&#xD;")
    'a < b &lt; c\\r'
    """
    return _REFERENCE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _REFERRED[found[2]], text)


class _Scopes:
    """The namespaces that count at a tag, and names expanded by them."""

    __slots__ = ("_known", "_now", "_stack")

    def __init__(self) -> None:
        self._now = _NO_NAMESPACES
        self._stack: list[dict[str, str]] = []
        self._known: dict[tuple[int, str], str] = {}

    def enter(self, name: str, attributes: str) -> str:
        """The expanded name of a tag that opens."""
        self._stack.append(self._now)
        if "xmlns" in attributes:
            declared = {key[6:]: unescaped(uri) for key, uri in _ATTRIBUTE.findall(attributes) if key[:5] == "xmlns"}
            self._now = {**self._now, **declared}
        prefix, colon, local = name.partition(":")
        namespace = self._now[prefix] if colon else self._now[""]
        return f"{{{namespace}}}{local or prefix}" if namespace else local or prefix

    def attribute(self, name: str) -> str:
        """The expanded name of an attribute that has a prefix."""
        prefix, _, local = name.partition(":")
        return XML + local if prefix == "xml" else f"{{{self._now[prefix]}}}{local}"

    def leave(self) -> None:
        self._now = self._stack.pop()
