"""The worlds that the hub's contract is told in: what holds for triples holds for XML, in other words.

A thing has a name, a kind and properties. Among triples it is a resource, asked for by the rules of MDV; in XML it is
an element, asked for by XPath. What is told of it is spelled the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.contracts.listening import HOSTS, NS, PREFIXES

from triplewire import Document, parse


@dataclass(frozen=True)
class Thing:
    """A provider, or something else."""

    name: str
    kind: str = "CycleProvider"
    properties: tuple[tuple[str, str], ...] = ()

    def having(self, **properties: str) -> Thing:
        """The same thing with properties."""
        return Thing(self.name, self.kind, tuple(properties.items()))


class Triples:
    """Turtle, and the language of rules."""

    language, scope = "rules", "graph"
    providers = "search CycleProvider c register c"
    at = "search CycleProvider c register c where c.serverHost contains '{}'"

    def document(self, *things: Thing, uri: str = HOSTS) -> Document:
        lines = [
            f":{one.name} a :{one.kind} " + "".join(f"; :{name} '{value}' " for name, value in one.properties) + "."
            for one in things
        ]
        return parse(PREFIXES + "\n".join(lines), uri=uri, media_type="text/turtle")

    def said_of(self, name: str, content: object) -> set[str]:
        """The values that a thing has in the content of an event."""
        return {triple.object.value for triple in content or () if triple.subject.value == NS + name} - {
            NS + "CycleProvider"
        }


class Xml:
    """XML, and XPath."""

    language, scope = "xpath", "document"
    providers = "/hosts/*[@kind = 'CycleProvider']"
    at = "/hosts/*[@kind = 'CycleProvider'][serverHost[contains(., '{}')]]"

    def document(self, *things: Thing, uri: str = HOSTS) -> Document:
        elements = "".join(
            f"<{one.name} kind='{one.kind}'>"
            + "".join(f"<{name}>{value}</{name}>" for name, value in one.properties)
            + f"</{one.name}>"
            for one in things
        )
        return parse(f"<hosts>{elements}</hosts>", uri=uri, media_type="application/xml")

    def said_of(self, name: str, content: object) -> set[str]:
        """The values that a thing has in the content of an event."""
        if content is None:
            return set()
        assert content.node == f"/hosts/{name}"
        element = parse(content.content, uri="urn:x:excerpt", media_type="application/xml").xml.decode()
        assert 'kind="CycleProvider"' in element
        return {part.partition("<")[0] for part in element.split(">") if part.partition("<")[0]}


WORLDS = {"triples": Triples(), "xml": Xml()}
