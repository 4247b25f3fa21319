"""Registrations: the resources that each rule of an edge registers at its hub.

A rule is known by its id, a resource by the spelling that it has in this store.
"""

from __future__ import annotations

from collections.abc import Iterable

from triplewire.store import schema
from triplewire.store.sql import StorePart


class RegistrationReader(StorePart):
    """Registrations by rule and by resource."""

    def of_rule(self, rule: str) -> set[str]:
        """The resources that a rule registers."""
        return {resource for _, resource in self._sql.select(schema.registrations, "WHERE rule = ?", rule)}

    def rules_of(self, resources: Iterable[str]) -> dict[str, list[str]]:
        """The rules that register each of the resources, by id; one that no rule registers is left out."""
        found: dict[str, list[str]] = {}
        for rule, resource in sorted(self._sql.where(schema.registrations, "resource", resources)):
            found.setdefault(resource, []).append(rule)
        return found

    def resources(self) -> set[str]:
        """All resources that some rule registers."""
        return {resource for (resource,) in self._sql.rows("SELECT DISTINCT resource FROM registrations")}

    def counts(self) -> dict[str, int]:
        """How many resources each rule registers; one that registers none is left out."""
        return dict(self._sql.rows("SELECT rule, count(*) FROM registrations GROUP BY rule ORDER BY rule"))


class RegistrationWriter(RegistrationReader):
    """Registrations, and changes of them."""

    def add(self, rule: str, resources: Iterable[str]) -> None:
        """A rule registers these as well; it may have registered them before."""
        coming = set(resources)
        self.remove(rule, coming)
        self._sql.insert(schema.registrations, [(rule, resource) for resource in sorted(coming)])

    def remove(self, rule: str, resources: Iterable[str]) -> None:
        """A rule does not register these any more."""
        gone = [(rule, resource) for resource in sorted(set(resources))]
        self._sql.delete(schema.registrations, ("rule", "resource"), gone)
