"""One pass over the tags of a document: which entries its places and values meet.

The XML is canonical (`documents.xml`): every element has its end tag, attributes are in double quotes, and < stands for
nothing but the start of a tag. So tags are found by splitting, which is several times faster than building a tree.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

from triplewire.matching.xml.automaton import Automaton, Look, Node, State, Values
from triplewire.matching.xml.watches import Entries, Watch, no_entries, number_of

MOST_TEXT = 64 * 1024 * 1024
"""So many characters of values are put together for one document; watches that come later are told without looking."""

_ASIDE = re.compile(r"<!--.*?-->|<\?.*?\?>", re.DOTALL)
_TAG = re.compile(r'([^ >]+)((?: [^=]+="[^"]*")*)>(.*)\Z', re.DOTALL)
_ATTRIBUTE = re.compile(r' ([^=]+)="([^"]*)"')
_REFERENCE = re.compile(r"&(?:#x([0-9A-F]+)|(amp|lt|gt|quot));")
_REFERRED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"'}
_XML = "{http://www.w3.org/XML/1998/namespace}"
_NO_NAMESPACES: dict[str, str] = {"": ""}


class Scan:
    """What one document meets: `sure` entries are matched, `maybe` entries must be verified."""

    __slots__ = ("_automaton", "_extremes", "_looks", "_room", "_states", "maybe", "sure")

    def __init__(self, automaton: Automaton, xml: str) -> None:
        self._automaton = automaton
        self.sure: list[Entries] = []
        self.maybe: list[Entries] = []
        self._states: dict[State, None] = {}
        self._looks: dict[Look, None] = {}
        self._extremes: dict[Watch, list[float | bool]] = {}
        self._room = MOST_TEXT
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
        return met

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
                if state.values:
                    start = starts.pop()
                    value = texts[start] if len(texts) == start + 1 else "".join(texts[start:])
                    self._see(state.values, value)
                    if not starts:
                        texts.clear()
                state = stack.pop()
                if scopes is not None:
                    scopes.leave()
            elif head != "!":
                stack.append(state)
                attributes = ""
                if " " in head:
                    found = _TAG.match(piece)
                    assert found is not None, "the XML of a document is canonical"
                    head, attributes, text = found.groups()
                if scopes is not None:
                    head = scopes.enter(head, attributes)
                state = state.next.get(head) or step(state, head)
                if state.is_watched:
                    states[state] = None
                    if state.values:
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

    def _attributes(self, state: State, attributes: str, scopes: _Scopes | None) -> None:
        for name, value in _ATTRIBUTE.findall(attributes):
            if scopes is not None and (name == "xmlns" or name.startswith("xmlns:")):
                continue
            label = name
            if ":" in name:
                label = _XML + name[4:] if scopes is None else scopes.attribute(name)
            look = state.attributes.get(label) or self._automaton.look_at(state, label)
            if look.nodes:
                self._meet(look, unescaped(value) if "&" in value else value)

    def _meet(self, look: Look, value: str) -> None:
        """An attribute, or a text."""
        self._looks[look] = None
        if look.values:
            self._see(look.values, value)

    def _see(self, watches: Values, value: str) -> None:
        """Tell the watches of a place a value."""
        self._room -= len(value)
        is_new, number = True, None
        for watch, is_sure in watches:
            if self._room < 0:
                self.maybe.append(array("q", _everything(watch)))
                continue
            told = self.sure if is_sure else self.maybe
            if watch.equal and (equal := watch.equal.get(value)):
                told.append(equal[:])
            if watch.pieces:
                told.append(array("q", watch.contained_in(value)))
            if watch.same or len(watch.above) or len(watch.below):
                if is_new:
                    is_new, number = False, number_of(value)
                if number is not None:
                    self._number(watch, number, is_sure)

    def _number(self, watch: Watch, number: float, is_sure: bool) -> None:
        if watch.same:
            self.maybe.append(watch.near(number))
        known = self._extremes.get(watch)
        if known is None:
            self._extremes[watch] = [number, number, is_sure]
        elif number < known[0]:
            known[0] = number
        elif number > known[1]:
            known[1] = number

    def _settle(self) -> None:
        """Thresholds are asked once, with the least and the greatest of all numbers; and who only wants a place."""
        for watch, (least, greatest, is_sure) in self._extremes.items():
            for thresholds, number in ((watch.above, greatest), (watch.below, -least)):
                if len(thresholds):
                    passed, near = thresholds.passed(number)
                    (self.sure if is_sure else self.maybe).append(passed)
                    if near:
                        self.maybe.append(near)
        for state in self._states:
            self._tell(state.look)
        for look in self._looks:
            self._tell(look)

    def _tell(self, look: Look) -> None:
        if look.sure:
            self.sure.append(look.sure)
        if look.maybe:
            self.maybe.append(look.maybe)


def _everything(watch: Watch) -> Iterator[int]:
    for entries in (*watch.equal.values(), *watch.same.values(), watch.pieces):
        yield from entries
    for thresholds in (watch.above, watch.below):
        passed, near = thresholds.passed(float("inf"))
        yield from passed
        yield from near


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
        if " xmlns" in attributes:
            declared = {
                key[6:]: unescaped(uri) for key, uri in _ATTRIBUTE.findall(attributes) if key[:5] == "xmlns"
            }
            self._now = {**self._now, **declared}
        prefix, colon, local = name.partition(":")
        namespace = self._now[prefix] if colon else self._now[""]
        return f"{{{namespace}}}{local or prefix}" if namespace else local or prefix

    def attribute(self, name: str) -> str:
        """The expanded name of an attribute that has a prefix."""
        prefix, _, local = name.partition(":")
        return _XML + local if prefix == "xml" else f"{{{self._now[prefix]}}}{local}"

    def leave(self) -> None:
        self._now = self._stack.pop()
