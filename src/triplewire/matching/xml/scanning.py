"""One pass over the tags of a document: which entries its places and values meet.

The XML is canonical (`documents.xml`): every element has its end tag, attributes are in double quotes, and < stands for
nothing but the start of a tag. The pass is compiled (`machine`); the same in Python is for what that does not serve.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Sequence

from triplewire.algebra.xpath.conditions import EXISTS, Condition
from triplewire.algebra.xpath.numbers import number_of
from triplewire.matching.xml.automaton import XML, Automaton, ElementState, TrieNode, TrieTable
from triplewire.matching.xml.grams import Grams
from triplewire.matching.xml.machine import Machine, Marks, PassFindings, Shape
from triplewire.matching.xml.watches import Entries, EntryPart

MOST_TEXT = 64 * 1024 * 1024
"""So many characters of values are put together for one document; watches that come later are told without looking."""

_ASIDE = re.compile(r"<!--.*?-->|<\?.*?\?>", re.DOTALL)
_TAG = re.compile(r'([^">]*(?:"[^"]*"[^">]*)*)>(.*)\Z', re.DOTALL)
_ATTRIBUTE = re.compile(r'([^= ]+)="([^"]*)"')
_REFERRED = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x9;": "\t", "&#xA;": "\n", "&#xD;": "\r", "&amp;": "&"}
"""All that canonical XML refers to; & comes last, because what it stands before is no reference."""
_NO_NAMESPACES: dict[str, str] = {"": ""}


class Scan:
    """What one document meets: `sure` entries are matched, `maybe` entries must be verified.

    Both are lists of the index itself, or parts of them, and good until it changes.
    """

    def __init__(self, automaton: Automaton, grams: Grams, raw: bytes, machine: Machine, marks: Marks) -> None:
        self._automaton, self._machine = automaton, machine
        self._compiled: PassFindings | None = None
        self.sure: list[Entries | EntryPart] = []
        self.maybe: list[Entries | EntryPart] = []
        self._states: dict[ElementState, None] = {}
        self._looks: dict[TrieTable, None] = {}
        self._extremes: dict[TrieTable, list[float]] = {}
        self._raw, self._waiting = raw, grams
        self._met: list[TrieTable] | None = None
        self._kept: dict[int, list[tuple[int, int]]] | None = None
        self._room = MOST_TEXT
        if not self._run_compiled(raw, machine, marks):
            xml = raw.decode()
            if "<!" in xml or "<?" in xml:
                xml = _ASIDE.sub("<!>", xml)
            self._run(xml, _Scopes() if "xmlns" in xml else None)
        self._settle()

    def may_meet(self, node: TrieNode, condition: Condition) -> bool:
        """False if nothing in the document is at a node of the automaton and passes the condition's test."""
        if self._compiled is not None and condition.kind != EXISTS:
            return self._may_pass(node, condition, self._compiled)
        if self._met is None:
            numbers = [] if self._compiled is None else self._compiled.met.tolist()
            looks = self._machine.looks
            self._met = [*self._looks, *(state.look for state in self._states), *(looks[number] for number in numbers)]
        return any(node in look.nodes for look in self._met)

    def _may_pass(self, node: TrieNode, condition: Condition, found: PassFindings) -> bool:
        if self._kept is None:
            self._kept = {}
            for number, start, end in found.kept.tolist():
                self._kept.setdefault(number, []).append((start, end))
        looks, plain = self._machine.looks, found.plain
        for number, spans in self._kept.items():
            if node in looks[number].nodes:
                for start, end in spans:
                    self._room -= end - start
                    if self._room < 0 or condition.may_pass(plain[start:end].decode()):
                        return True
        return False

    @property
    def shape(self) -> Shape:
        """How large the document is."""
        return shape_of(self._raw) if self._compiled is None else self._compiled.shape

    def _run_compiled(self, raw: bytes, machine: Machine, marks: Marks) -> bool:
        """See what the compiled pass finds; False if it does not serve this document."""
        found = self._compiled = machine.run(raw, marks, self._waiting)
        if found is None:
            return False
        looks, plain, grams = machine.looks, found.plain, found.grams
        for number, start, end in found.values:
            look = looks[number]
            if self._has_room(look, end - start):
                self._see(look, plain[start:end].decode(), grams.between(start, end) if grams else ())
        for number in found.told:
            look = looks[number]
            least, greatest = machine.extremes(number)
            if least <= greatest:
                self._note(look, least)
                self._note(look, greatest)
            self._tell(look)
        return True

    def _run(self, xml: str, scopes: _Scopes | None) -> None:
        state, step, states = self._automaton.start, self._automaton.step, self._states
        stack: list[ElementState] = []
        starts: list[int] = []
        texts: list[str] = []
        pieces = iter(xml.split("<"))
        next(pieces)
        for piece in pieces:
            head, _, text = piece.partition(">")
            if head[0] == "/":
                if state.look.has_values:
                    start = starts.pop()
                    self._read(state.look, texts[start:])
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
                    self._meet(state.text, text)

    def _attributes(self, state: ElementState, attributes: str, scopes: _Scopes | None) -> None:
        for name, value in _ATTRIBUTE.findall(attributes):
            if scopes is not None and _declares(name):
                continue
            label = name
            if ":" in name:
                label = XML + name[4:] if scopes is None else scopes.attribute(name)
            look = state.attributes.get(label) or self._automaton.look_at(state, label)
            if look.nodes:
                self._meet(look, unescaped(value) if "&" in value else value)

    def _meet(self, look: TrieTable, value: str) -> None:
        self._looks[look] = None
        if look.has_values:
            self._read(look, [value])

    def _read(self, look: TrieTable, texts: Sequence[str]) -> None:
        if self._has_room(look, sum(map(len, texts))):
            value = "".join(texts)
            has_pieces = look.sure.pieces or look.maybe.pieces
            self._see(look, value, self._waiting.found_in(value.encode()).everywhere if has_pieces else ())

    def _has_room(self, look: TrieTable, size: int) -> bool:
        """True if a value of such a size is to be looked at; else all entries that wait there are told."""
        self._room -= size
        if self._room < 0:
            self.maybe.append(array("q", [*look.sure.everything(), *look.maybe.everything()]))
        return self._room >= 0

    def _see(self, look: TrieTable, value: str, grams: Collection[int]) -> None:
        """Tell the entries that wait at a look of a value, with the grams in it that some wait under."""
        sure, maybe = look.sure, look.maybe
        if (entries := sure.equal.get(value)) is not None:
            self.sure.append(entries)
        if (entries := maybe.equal.get(value)) is not None:
            self.maybe.append(entries)
        if sure.pieces and (grams or sure.short) and (contained := sure.contained_in(value, grams)):
            self.sure.append(contained)
        if maybe.pieces and (grams or maybe.short) and (contained := maybe.contained_in(value, grams)):
            self.maybe.append(contained)
        if (sure.has_numbers or maybe.has_numbers) and (found := number_of(value)) is not None:
            self._number(look, *found)

    def _number(self, look: TrieTable, number: float, is_exact: bool) -> None:
        if not is_exact:
            self.maybe += (*look.sure.near(number), *look.maybe.near(number))
            return
        for watch, told in ((look.sure, self.sure), (look.maybe, self.maybe)):
            if number in watch.same:
                told.append(watch.same[number])
        self._note(look, number)

    def _note(self, look: TrieTable, number: float) -> None:
        known = self._extremes.get(look)
        if known is None:
            self._extremes[look] = [number, number]
        elif number < known[0]:
            known[0] = number
        elif number > known[1]:
            known[1] = number

    def _settle(self) -> None:
        """Thresholds are asked once, with the least and the greatest of all numbers; places alone are told, too."""
        for look, (least, greatest) in self._extremes.items():
            for watch, told in ((look.sure, self.sure), (look.maybe, self.maybe)):
                for thresholds, number in ((watch.above, greatest), (watch.below, -least)):
                    if len(thresholds) and (passed := thresholds.passed(number)):
                        told.append(passed)
        for state in self._states:
            self._tell(state.look)
        for look in self._looks:
            self._tell(look)

    def _tell(self, look: TrieTable) -> None:
        if look.sure.exists:
            self.sure.append(look.sure.exists)
        if look.maybe.exists:
            self.maybe.append(look.maybe.exists)


def _whole(piece: str) -> tuple[str, str]:
    found = _TAG.match(piece)
    assert found is not None, "the XML of a document is canonical"
    return found[1], found[2]


def _declares(name: str) -> bool:
    return name == "xmlns" or name.startswith("xmlns:")


def unescaped(text: str) -> str:
    """A text of canonical XML as it is meant.

    >>> unescaped("a &lt; b &amp;lt; c&#xD;")
    'a < b &lt; c\\r'
    """
    for reference, referred in _REFERRED.items():
        text = text.replace(reference, referred)
    return text


def shape_of(xml: bytes) -> Shape:
    """How many nodes a document may have, how many bytes it has, and how deep it goes."""
    depth = deepest = 0
    for tag in xml.split(b"<")[1:]:
        if tag.startswith(b"/"):
            depth -= 1
        elif not tag.startswith((b"!", b"?")):
            depth += 1
            deepest = max(deepest, depth)
    tags = xml.count(b"<")
    return 2 * tags + xml.count(b'="') + 1, len(xml), deepest


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
            declared = {key[6:]: unescaped(uri) for key, uri in _ATTRIBUTE.findall(attributes) if _declares(key)}
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
