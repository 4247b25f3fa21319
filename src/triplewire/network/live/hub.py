"""A hub of a network: an ordinary hub, whose store also has what its node must not lose.

Why the hub itself tells its subscribers of what other hubs publish: then there is one log, one set of rows, one way to
deliver, to explain and to page, and a subscription that reaches into the network is one like all others. A document of
another hub is kept in the store under a name of its own, with a list that lets only such subscriptions see it. The
routing between hubs decides which documents those are, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import IS_A, Call, Conjunction, Expression, Pattern, variables_of
from triplewire.engine import Hub
from triplewire.engine.batch.application import apply
from triplewire.engine.batch.revisions import revise
from triplewire.engine.edges.holdings import EDGE
from triplewire.engine.names import BACKBONE, NETWORK, new_name
from triplewire.engine.standing import Standing
from triplewire.engine.subscriptions.reaches import set_kind, tell_documents
from triplewire.errors import NetworkError
from triplewire.matching.incremental import load_pattern
from triplewire.model import Document, Publish, Retract
from triplewire.model.access import foreign_list, reach_of
from triplewire.model.foreign import foreign_uri
from triplewire.model.reach import HEIGHTS
from triplewire.network.channels.identities import HubIdentity, read_identity
from triplewire.network.live.states import Place
from triplewire.network.routing import DocumentSent
from triplewire.store import Reader, Writer

Deed = Callable[[Writer, Standing], Any]
"""Something that is done in the transaction of a step, when all else of it is written."""

_PAGE = 1_000
_GRAPH = "graph"


class OutgoingDocument(NamedTuple):
    """A document of this hub that others must hear of: its number among these, when it changed, and how far it goes.

    The time is in seconds, the reach a height. `is_kept` is False for a version that was compacted away; a later one
    follows.
    """

    number: int
    uri: str
    document: Document | None
    time: float
    reach: int
    is_kept: bool = True


class Reaching(NamedTuple):
    """What a subscription asks of the network, since when, in seconds, and how far (`model.reach`)."""

    pattern: Pattern
    since: float
    reach: int


class NetworkHub(Hub):
    """A hub whose subscriptions may reach into a network of a kind.

    `label` is how its name there begins, the first time.
    """

    def __init__(
        self, url: str | Path = ":memory:", *, label: str = "hub", network: str = "hypercube", **options: Any
    ) -> None:
        super().__init__(url, **options)
        try:
            with self._writing() as writer:
                self.identity = _identity(writer) or self._begun(writer, label)
                set_kind(writer, network)
        except BaseException:
            super().close()
            raise

    def _begun(self, writer: Writer, label: str) -> HubIdentity:
        for setting, what in ((BACKBONE, "part of a backbone"), (EDGE, "an edge")):
            if writer.settings.get(setting) is not None:
                raise NetworkError(f"this store is {what}, and cannot be a hub of a network as well; begin a new one")
        known = read_identity(writer)  # its edges know its key
        identity = HubIdentity.new(label) if known is None else known.called(label)
        writer.settings.set(NETWORK, {"name": identity.name, "key": identity.pem})
        _tell_all(writer)
        return identity

    def tell_all(self) -> None:
        """Let other hubs hear of all documents again."""
        with self._writing() as writer:
            _tell_all(writer)

    # -- what the node reads

    def node_state(self) -> dict[Place, str]:
        """What the node must not lose."""
        with self.store.reading() as reader:
            return reader.network.state()

    def last_change(self) -> int:
        """Another number after every change of a subscription."""
        with self.store.reading() as reader:
            return reader.subscriptions.last_change()

    def reaching(self) -> dict[str, Reaching]:
        """What subscriptions ask of the network: by their ids, or a part of one."""
        with self.store.reading() as reader:
            reaches = reader.network.reaches()
            records = [record for record in reader.subscriptions.find(list(reaches)) if record is not None]
            queries = reader.queries.by_ids([record.query for record in records])
        found: dict[str, Reaching] = {}
        for record, query in zip(records, queries, strict=True):
            if query is not None:
                reach = HEIGHTS[reach_of(query.viewer)]
                for place, pattern in enumerate(interests_of(load_pattern(query.pattern), query.scope)):
                    found[f"{record.id} {place}"] = Reaching(pattern, reaches[record.id] / 1e6, reach)
        return found

    def outgoing(self, limit: int = _PAGE) -> list[OutgoingDocument]:
        """The first documents that others have not heard of."""
        with self.store.reading() as reader:
            return _outgoing(reader, limit)

    # -- what the node writes

    def take_step(
        self,
        arrivals: Sequence[tuple[DocumentSent, int]],
        changes: Mapping[Place, str | None],
        told: Sequence[int],
        deeds: Sequence[Deed] = (),
    ) -> list[Any]:
        """Make a step of the node durable, with what it brings: documents, each a batch of its own, and their distance.

        Invariant: the node's state, the documents that came with it, and what it has told of this hub's own, are
        written in one transaction; with it what is to be done in the same one, of which it gives the results.
        """
        with self._writing() as writer:
            for sent, distance in arrivals:
                self._take(writer, sent, distance)
            writer.network.set_state(changes)
            writer.network.told(told)
            return [do(writer, self._standing) for do in deeds]

    def _take(self, writer: Writer, sent: DocumentSent, distance: int) -> None:
        uri = foreign_uri(sent.origin, sent.uri)
        change: Publish | Retract = Retract(uri)
        if sent.document is not None:
            document = Document(uri, sent.document.ntriples, sent.document.xml)
            change = Publish(document, access=foreign_list(distance))
        revisions = revise(writer, [change])
        if revisions:
            strong = self._book.strong(writer)
            apply(writer, self._standing, revisions, new_name("network"), strong=strong, finder=self._finder)


def _identity(reader: Reader) -> HubIdentity | None:
    kept = reader.settings.get(NETWORK)
    return None if kept is None else HubIdentity(kept["name"], kept["key"])


def _tell_all(writer: Writer) -> None:
    after = ""
    while records := writer.documents.listing(after, _PAGE):
        tell_documents(writer, records)
        after = records[-1].uri


def _outgoing(reader: Reader, limit: int) -> list[OutgoingDocument]:
    records = reader.network.outgoing(limit)
    documents = {record.id: record for record in reader.documents.by_ids(list({each.document for each in records}))}
    versions = [(each.document, each.version) for each in records]
    contents, xml = reader.documents.contents(versions), reader.documents.xml(versions)
    found: list[OutgoingDocument] = []
    for each, content, own in zip(records, contents, xml, strict=True):
        uri = documents[each.document].uri
        is_kept = not each.version or content is not None
        document = None if content is None else Document(uri, content, own)
        found.append(OutgoingDocument(each.number, uri, document, each.time / 1e6, each.reach, is_kept))
    return found


# -- what is asked of other hubs


def interests_of(pattern: Pattern, scope: str) -> list[Pattern]:
    """Patterns that every document matches which could have a part in an answer.

    With scope document, that is the pattern itself. With scope graph an answer may join documents of several hubs: so
    other hubs are asked for what fits one of its triples, and the hub joins at home. What depends on a taxonomy is left
    out: other hubs have others, and what comes too much is no answer here.
    """
    if pattern.asks_xml:
        return [pattern]
    if scope != _GRAPH:
        branches = tuple(
            Conjunction(branch.triples, _plain(branch.conditions), branch.bindings) for branch in pattern.branches
        )
        return [normalize(Pattern((), branches))]
    found: dict[Pattern, None] = {}
    for branch in pattern.branches:
        inner = [(triple, part.conditions) for part in branch.optionals for triple in part.triples]
        for triple, conditions in [*((triple, branch.conditions) for triple in branch.triples), *inner]:
            own = tuple(each for each in _plain(conditions) if variables_of(each) <= {*triple.variables})
            found[normalize(Pattern((), (Conjunction((triple,), own),)))] = None
    return list(found)


def _plain(conditions: Sequence[Expression]) -> tuple[Expression, ...]:
    return tuple(condition for condition in conditions if not _asks_taxonomy(condition))


def _asks_taxonomy(condition: Expression) -> bool:
    if not isinstance(condition, Call):
        return False
    return condition.function in IS_A or any(map(_asks_taxonomy, condition.arguments))
