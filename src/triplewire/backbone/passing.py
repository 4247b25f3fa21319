"""Changes on their way to their home, and the hubs of a backbone that run elsewhere."""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from triplewire.errors import BadRequest, DocumentError
from triplewire.intake.entries import change_of, entry_of
from triplewire.model import Change, Publish
from triplewire.store import READ, RESTRICT, RETRACT, NewEntry
from triplewire.tables import Outcome
from triplewire.wire.backbones import MemberAnswer, MemberQuestion, PassedChange, PassedChanges, PassedTold

_KINDS = (READ, RETRACT, RESTRICT)


def passed(changes: Iterable[Change], batch: str | None) -> PassedChanges:
    """Changes as they are passed on."""
    entries = map(entry_of, changes)
    spelled = [
        PassedChange(entry.kind, entry.uri, None if entry.content is None else b64encode(entry.content).decode())
        for entry in entries
    ]
    return PassedChanges(spelled, batch)


def changes_in(told: PassedChanges) -> list[Change]:
    """The changes that were passed on; BadRequest if they are not ones that a hub passes on."""
    try:
        return [_change_in(each) for each in told.changes]
    except (ValueError, KeyError, TypeError, SyntaxError, struct.error, DocumentError) as error:
        raise BadRequest(f"these are no changes that a hub of a backbone passes on: {error}") from None


def _change_in(told: PassedChange) -> Change:
    if told.kind not in _KINDS:
        raise ValueError(f"{told.kind} is no kind of change")
    content = None if told.content is None else b64decode(told.content, validate=True)
    change = change_of(NewEntry(told.kind, told.uri, None, content))
    if isinstance(change, Publish):
        sum(1 for _ in change.document.triples)  # that they can be read
    return change


def outcome_of(told: PassedTold, changes: Sequence[Change]) -> Outcome:
    """What the home has done with changes."""
    return Outcome(told.batch, 0, list, [DocumentError(reason, uri=changes[0].uri) for reason in told.warnings])


@runtime_checkable
class ClientOfMember(Protocol):
    """A client of a hub of the backbone."""

    url: str

    def serve_member(self, question: MemberQuestion) -> MemberAnswer:
        """What this hub lacks."""

    def pass_on(self, changes: PassedChanges) -> PassedTold:
        """Have it apply changes of documents whose home it is."""


class RemoteMember:
    """A hub of the backbone that runs elsewhere, asked over HTTP; the client's account is an admin there."""

    def __init__(self, client: ClientOfMember) -> None:
        self.url, self._client = client.url, client

    def serve_member(self, question: MemberQuestion) -> MemberAnswer:
        """What this hub lacks."""
        return self._client.serve_member(question)

    def apply(self, changes: Iterable[Change], *, batch: str | None = None) -> Outcome:
        """Have it apply changes of documents whose home it is."""
        wanted = list(changes)
        return outcome_of(self._client.pass_on(passed(wanted, batch)), wanted)
