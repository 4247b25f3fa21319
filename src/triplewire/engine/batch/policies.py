"""The hub's schema: which documents are let in, and what a resource's content includes (M2, M7)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from triplewire.engine.batch.revisions import Revision
from triplewire.errors import SchemaViolation
from triplewire.model import RDF, parse_triple
from triplewire.schema import Schema
from triplewire.store import EVERYBODY, Reader, Writer

Policy = Literal["refuse", "warn"]
_SCHEMA, _POLICY = "hub.schema", "hub.schema.policy"
NUMBERED = _POLICY
"""The setting that differs after every change."""


def save(writer: Writer, schema: Schema, policy: Policy) -> None:
    """Remember the schema, for this process and others."""
    spelled = [[str(triple.subject), str(triple.predicate), str(triple.object)] for triple in schema.triples]
    writer.settings.set(_SCHEMA, spelled)
    writer.settings.set(_POLICY, [policy, writer.settings.get(_POLICY, ["", 0])[1] + 1])


def stored(reader: Reader) -> tuple[Policy, list[list[str]]]:
    """The policy, and the schema's triples as they are stored."""
    policy: Policy = reader.settings.get(_POLICY, ["refuse", 0])[0]
    return policy, reader.settings.get(_SCHEMA, [])


def is_set(reader: Reader) -> bool:
    """Whether there is a schema."""
    return bool(reader.settings.get(_SCHEMA, []))


class Book:
    """The schema as it is in the store, read again when it has changed."""

    def __init__(self) -> None:
        self._number = 0
        self.schema = Schema()
        self.policy: Policy = "refuse"

    def catch_up(self, reader: Reader) -> None:
        """Know the schema that the store has now; its number tells whether it is another one."""
        policy, number = reader.settings.get(_POLICY, ["refuse", 0])
        if number != self._number:
            triples = reader.settings.get(_SCHEMA, [])
            self.schema = Schema.from_triples(parse_triple(*spelled) for spelled in triples)
            self.policy, self._number = policy, number

    def strong(self, reader: Reader) -> list[int]:
        """The numbers of the strong references' predicates."""
        return [number for number in reader.terms.find([f"<{iri}>" for iri in self.schema.strong]) if number]

    def check(self, reader: Reader, revisions: Sequence[Revision]) -> list[SchemaViolation]:
        """The documents that break the schema; raises the first one where the hub refuses them."""
        found = []
        for revision in revisions if self.schema.triples else ():
            if revision.content is None or not revision.is_published:
                continue
            triples = [parse_triple(*spelled) for spelled in revision.new]
            types = self._types(reader, self.schema.asks(triples))
            violations = self.schema.check(triples, types.get)
            if violations:
                found.append(SchemaViolation(violations, uri=revision.uri))
        if found and self.policy == "refuse":
            raise found[0]
        return found

    def _types(self, reader: Reader, resources: Collection[str]) -> dict[str, list[str]]:
        """The classes of resources that other documents describe: those for everybody, because violations tell them."""
        reader = reader.seen_by(EVERYBODY)
        asked = sorted(resources)
        (type_number,) = reader.terms.find([f"<{RDF}type>"])
        numbers = reader.terms.find([f"<{iri}>" for iri in asked])
        if not type_number or not any(numbers):
            return {}
        known = [(iri, number) for iri, number in zip(asked, numbers, strict=True) if number]
        answers = reader.triples.forward([(number, type_number) for _, number in known])
        texts = [reader.terms.texts([o for _, _, o in triples]) for triples in answers]
        return {iri: [text[1:-1] for text in own] for (iri, _), own in zip(known, texts, strict=True) if own}
