"""The rules that an edge follows, and where it is: a few values in its store, written with what they lead to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any
from uuid import uuid4

from triplewire.edge.status import AsOf, FollowedRule
from triplewire.engine.edges.holdings import EDGE
from triplewire.model import moment
from triplewire.store import Reader, Writer
from triplewire.wire.edges import EdgeQuestion, EdgeRule, digest_of_rules, is_tag_of

_RULES = "edge.rules"
_AT_ONCE = 500
"""So many rules are told to the hub at a time."""


class FollowedRules(dict[str, FollowedRule]):
    """Rules by id, and what is asked of all of them again and again: they are replaced, and never changed."""

    @cached_property
    def kept(self) -> dict[str, str]:
        """Those of which all that they register is here, with their tags."""
        return {id: rule.tag for id, rule in self.items() if rule.state == "kept"}

    @cached_property
    def digest(self) -> str:
        """The digest of those that are kept."""
        return digest_of_rules(self.kept)

    @cached_property
    def told(self) -> list[EdgeRule]:
        """Those that the hub is to be told of now: new ones before those that it refused."""
        rules = [rule for state in ("new", "refused") for rule in self.values() if rule.state == state]
        return [EdgeRule(rule.id, rule.text, rule.language) for rule in rules[:_AT_ONCE]]


@dataclass(frozen=True)
class EdgeState:
    """What an edge remembers besides its documents and registrations. Invariant: written with what it says is there."""

    name: str
    position: str = ""
    number: int = 0
    time: str = ""
    heard: str = ""
    schema: str = ""
    taxonomy: str = ""
    rules: FollowedRules = field(default_factory=FollowedRules)
    hub: str = ""
    """The address of the hub, if it was told by that."""
    dropped: tuple[str, ...] = ()
    """Rules that the hub has still to let go of."""

    edition: int = 0
    """Grows with every change of the rules, which are many and seldom change."""

    @classmethod
    def read(cls, reader: Reader, known: EdgeState | None = None) -> EdgeState | None:
        """What the store has; None if it was never an edge's. Rules that are `known` are not read again."""
        kept: dict[str, Any] | None = reader.settings.get(EDGE)
        if kept is None:
            return None
        if known is not None and known.edition == kept["edition"]:
            rules = known.rules
        else:
            rules = FollowedRules({each["id"]: FollowedRule(**each) for each in reader.settings.get(_RULES, [])})
        return cls(**kept | {"rules": rules, "dropped": tuple(kept["dropped"])})

    def write(self, writer: Writer) -> None:
        """Keep it; the rules only if they are others than the store has."""
        there = writer.settings.get(EDGE)
        if there is not None and there["edition"] != self.edition:
            writer.settings.set(_RULES, [asdict(rule) for rule in self.rules.values()])
        writer.settings.set(EDGE, {name: value for name, value in vars(self).items() if name != "rules"})

    def with_rules(self, rules: dict[str, FollowedRule]) -> EdgeState:
        """With these rules instead."""
        return self if rules == self.rules else replace(self, rules=FollowedRules(rules), edition=self.edition + 1)

    def as_of(self, at_least: timedelta = timedelta()) -> AsOf:
        """How old what is here is; `at_least` is known by other means than the clock, which may have been set back."""
        confirmed = moment(self.heard) if self.heard else None
        age = None if confirmed is None else max(datetime.now(UTC) - confirmed, at_least)
        return AsOf(self.number, moment(self.time) if self.time else None, confirmed, age)

    # -- changes

    def without(self, id: str) -> EdgeState:
        """Without a rule, which the hub is to let go of."""
        left = {each: rule for each, rule in self.rules.items() if each != id}
        return replace(self.with_rules(left), dropped=(*self.dropped, id))

    def compared(self, tags: dict[str, str], refused: dict[str, str]) -> EdgeState:
        """After the hub said which rules it knows: those that it does not are new to it, others are told again."""
        rules = {}
        for id, rule in self.rules.items():
            if id in refused:
                rules[id] = replace(rule, state="refused", reason=refused[id])
            elif id not in tags or not is_tag_of(tags[id], rule.text, rule.language):
                rules[id] = replace(rule, state="new", tag="")
            else:
                rules[id] = rule if rule.tag == tags[id] else replace(rule, state="loading", tag="", reason="")
        return replace(self.with_rules(rules), dropped=tuple(sorted(tags.keys() - rules.keys())))

    def loaded(self, tags: dict[str, str], waiting: Iterable[str], refused: dict[str, str]) -> EdgeState:
        """After rules were told whole; one that the hub has in other words is new to it."""
        rules = dict[str, FollowedRule](self.rules)
        for id in rules.keys() & tags.keys():
            is_own = is_tag_of(tags[id], rules[id].text, rules[id].language)
            rules[id] = replace(rules[id], state="kept" if is_own else "new", tag=tags[id] if is_own else "", reason="")
        for id in rules.keys() & set(waiting):
            rules[id] = replace(rules[id], state="loading", reason="")
        for id in rules.keys() & refused.keys():
            rules[id] = replace(rules[id], state="refused", reason=refused[id])
        return replace(self.with_rules(rules), dropped=())

    def has_let_go_since(self, asked: EdgeState) -> bool:
        """Whether a rule of a state by which a question was asked is gone, or another: the answer may tell of it."""
        return self.edition != asked.edition and any(self._is_other(rule) for rule in asked.rules.values())

    def _is_other(self, rule: FollowedRule) -> bool:
        found = self.rules.get(rule.id)
        return found is None or (found.text, found.language, found.tag) != (rule.text, rule.language, rule.tag)

    # -- asking

    def question(self, *, wait: float = 0.0) -> EdgeQuestion:
        """What is to be asked now."""
        return EdgeQuestion(
            self.name,
            self.position,
            self.rules.digest,
            follow=self.rules.told,
            unfollow=list(self.dropped),
            load=[id for id in self.rules if id not in self.rules.kept],
            schema=self.schema,
            taxonomy=self.taxonomy,
            wait=wait,
        )


def new_state() -> EdgeState:
    """That of an edge which follows nothing yet, under a name that no other has."""
    return EdgeState(f"edge-{uuid4().hex[:12]}")
