"""MDV's atomic rules (its section 3.3.1): what a subscription is decomposed into before it becomes rows of tables."""

from __future__ import annotations

from typing import NamedTuple


class Trigger(NamedTuple):
    """`search kind x register x where x.property operator value`: a triggering rule.

    Operators are `=`, `>`, `contains`, `is-a` (below a class, or that class itself), and `any` for a rule without a
    where part. The property `SUBJECT` means the resource itself.
    """

    kind: str
    property: str = ""
    operator: str = "any"
    value: str | int = ""


class Same(NamedTuple):
    """`search left a, right b register a where a = b`: a join rule."""

    left: Rule
    right: Rule


class Reference(NamedTuple):
    """`search left a, right b register a where a.property = b`: a join rule."""

    left: Rule
    property: str
    right: Rule


Rule = Trigger | Same | Reference

SUBJECT = "rdf#subject"
"""The property under which a resource itself is in the table of the documents' atoms (section 3.2)."""
