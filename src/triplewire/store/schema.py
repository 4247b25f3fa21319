"""The tables: one schema for SQLite and PostgreSQL.

Numbers are 64-bit, truth values are 0 and 1, and lists of numbers are packed (see packing), so that a row of one
database can be written to the other as it is. There are no foreign keys: they would be checked for each of the
thousands of rows of a batch, and `Store.problems` checks them all when it is asked to.

Numbers are given by counters, never by the database: writers are one at a time anyway, a batch knows its numbers
before it writes, and a number that was used once is never used again.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import Any

from sqlalchemy import URL, BigInteger, Column, Index, Integer, LargeBinary, MetaData, Table, Text
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement

tables = MetaData()


def _table(name: str, *columns: list[Column[Any]], rowid: bool = True) -> Table:
    """A table of columns that come in groups of one kind; without a `rowid`, SQLite keeps it in its key alone."""
    return Table(name, tables, *chain.from_iterable(columns), sqlite_with_rowid=rowid)


def _numbers(*names: str, key: bool = False) -> list[Column[Any]]:
    of_the_row = BigInteger().with_variant(Integer, "sqlite")  # as a key, SQLite then has no second index for it
    return [Column(name, of_the_row, primary_key=key, autoincrement=False, nullable=False) for name in names]


def _texts(*names: str, key: bool = False, nullable: bool = False) -> list[Column[Any]]:
    by_bytes = Text().with_variant(Text(collation="C"), "postgresql")  # the order that SQLite has, whatever the locale
    return [Column(name, by_bytes, primary_key=key, nullable=nullable) for name in names]


def _bytes(*names: str, nullable: bool = False) -> list[Column[Any]]:
    return [Column(name, LargeBinary, nullable=nullable) for name in names]


settings = _table("settings", _texts("key", key=True), _texts("value"), rowid=False)

counters = _table("counters", _texts("name", key=True), _numbers("value"), rowid=False)

# Why the key is no plain digest: new terms of a batch would touch a page of the index each, wherever it lies.
terms = _table("terms", _numbers("id", key=True), _bytes("key"), _texts("text"))
Index("terms_by_key", terms.c.key)

# The digest is of the current content; empty when there is none.
documents = _table(
    "documents", _numbers("id", key=True), _texts("uri"), _numbers("version", "published"), _bytes("digest")
)
Index("documents_by_uri", documents.c.uri, unique=True)

# The XML is what XPath sees; nothing for a document that is RDF alone.
versions = _table(
    "versions", _numbers("document", "version", key=True), _numbers("batch"), _bytes("content", "xml", nullable=True)
)
Index("versions_by_batch", versions.c.batch)

# Why no index by document: what a document states is written in its current version, so nothing asks for it.
statements = _table("statements", _numbers("s", "p", "o", "document", key=True), rowid=False)
Index("statements_backward", statements.c.p, statements.c.o, statements.c.s, statements.c.document)

# A document without a list is for everybody; one whose list names nobody is for the operator of the hub.
access_lists = _table("access_lists", _numbers("document", key=True))

access_entries = _table(
    "access_entries", _numbers("document", key=True), _texts("account", key=True), _numbers("writes"), rowid=False
)

# The first publisher of a document, as far as that is known: only it and admins give the document its first list.
publishers = _table("publishers", _numbers("document", key=True), _texts("account"))

predicates = _table("predicates", _numbers("p", key=True), _numbers("statements"))

queries = _table(
    "queries",
    _numbers("id", key=True),
    _bytes("digest"),
    _texts("scope"),
    _numbers("start"),
    _texts("pattern"),
    _bytes("terms"),
    _texts("viewer", nullable=True),  # nothing: it sees every document
)
Index("queries_by_digest", queries.c.digest, unique=True)

subscriptions = _table(
    "subscriptions",
    _texts("id", key=True),
    _numbers("query"),
    _texts("text", "language"),
    _texts("owner", nullable=True),
    _texts("columns"),
    _numbers("first_cursor", "created", "number"),
    _texts("start"),
    _texts("title", "description", nullable=True),
    _numbers("last_cursor"),
    _texts("paused_since", nullable=True),
    _numbers("revision"),
)
Index("subscriptions_by_query", subscriptions.c.query)
Index("subscriptions_by_number", subscriptions.c.number, unique=True)
Index("subscriptions_by_owner", subscriptions.c.owner, subscriptions.c.id)

backfills = _table(
    "backfills",
    _numbers("number", key=True),
    _texts("subscription"),
    _numbers("query"),
    _texts("state"),
    _texts("reason", nullable=True),
    _numbers("rows"),
    _texts("asked"),
    _texts("ended", nullable=True),
)
Index("backfills_by_query", backfills.c.query)
Index("backfills_by_state", backfills.c.state, backfills.c.number)

# What a subscription asked before it was edited: its log is the union of these, and of what it asks now. The number is
# the subscription's.
spans = _table(
    "spans",
    _numbers("number", "last_cursor", key=True),
    _numbers("first_cursor", "query"),
    _texts("columns"),
    rowid=False,
)
Index("spans_by_query", spans.c.query)

# Beside arrivals and removals: a query that some subscription began or ceased to ask, to hear or to keep to itself.
alterations = _table("alterations", _numbers("number", key=True), _texts("subscription"), _numbers("query"))

removals = _table("removals", _numbers("number", key=True), _texts("subscription"), _numbers("query"))

shapes = _table("shapes", _numbers("id", key=True), _bytes("digest"), _texts("definition"))
Index("shapes_by_digest", shapes.c.digest, unique=True)

atoms = _table(
    "atoms",
    _numbers("id", key=True),
    _bytes("digest"),
    _numbers("shape", "position"),
    _texts("definition"),
    _numbers("users"),
)
Index("atoms_by_digest", atoms.c.digest, unique=True)
Index("atoms_by_shape", atoms.c.shape)

query_atoms = _table("query_atoms", _numbers("atom", "query", "branch", key=True), rowid=False)
Index("query_atoms_by_query", query_atoms.c.query)

crowds = _table("crowds", _numbers("id", key=True), _bytes("digest"), _numbers("members"), _bytes("queries"))
Index("crowds_by_digest", crowds.c.digest, unique=True)

crowd_members = _table("crowd_members", _numbers("query", "crowd", key=True), _numbers("place"), rowid=False)

# Where queries that are no more had their places, as far as a span refers to them: their events are read by it.
past_members = _table("past_members", _numbers("query", "crowd", key=True), _numbers("place"), rowid=False)
Index("past_members_by_crowd", past_members.c.crowd)

# A row, or an event, is of a query or of a crowd; the other one is 0.
rows = _table(
    "rows", _numbers("id", key=True), _numbers("query", "document"), _bytes("key", "terms"), _numbers("crowd")
)
Index("rows_by_key", rows.c.query, rows.c.key, rows.c.document, rows.c.crowd, unique=True)
_of_a_document = rows.c.document != 0
Index("rows_by_document", rows.c.document, sqlite_where=_of_a_document, postgresql_where=_of_a_document)
_of_a_crowd = rows.c.crowd != 0
Index("rows_by_crowd", rows.c.crowd, sqlite_where=_of_a_crowd, postgresql_where=_of_a_crowd)

bindings = _table("bindings", _numbers("term", "row", key=True), rowid=False)

events = _table(
    "events",
    _numbers("cursor", key=True),
    _numbers("batch", "query", "kind"),
    _bytes("terms", "triples", "documents"),
    _numbers("crowd"),
)
Index("events_by_query", events.c.query, events.c.cursor)
_to_a_crowd = events.c.crowd != 0
Index("events_by_crowd", events.c.crowd, events.c.cursor, sqlite_where=_to_a_crowd, postgresql_where=_to_a_crowd)
Index("events_by_batch", events.c.batch)

batches = _table("batches", _numbers("number", key=True), _texts("id", "committed"), _numbers("documents", "events"))
Index("batches_by_id", batches.c.id, unique=True)
Index("batches_by_time", batches.c.committed, batches.c.number)

# Up to where an account has looked at the events of its subscriptions.
marks = _table("marks", _texts("account", key=True), _numbers("cursor"), rowid=False)

repeats = _table(
    "repeats",
    _texts("account", "key", key=True),
    _bytes("digest"),
    _texts("batch"),
    _numbers("kept"),
    _bytes("answer"),
)
Index("repeats_by_age", repeats.c.kept)
Index("repeats_by_account", repeats.c.account, repeats.c.kept)

intake = _table(
    "intake",
    _numbers("position", "item", key=True),
    _numbers("kind"),
    _texts("uri"),
    _texts("media_type", nullable=True),
    _bytes("content", nullable=True),
    _texts("received"),
)

landed = _table("landed", _texts("path", key=True), _texts("version"), rowid=False)

rejected = _table(
    "rejected",
    _numbers("number", key=True),
    _texts("uri"),
    _numbers("kind"),
    _texts("media_type", nullable=True),
    _bytes("content", nullable=True),
    _texts("reason", "rejected"),
)

images = _table("images", _texts("name", key=True), _numbers("part", key=True), _numbers("number"), _bytes("content"))

# At an edge: the resources that each of its rules registers at the hub, as this store spells them.
registrations = _table("registrations", _texts("rule", "resource", key=True), rowid=False)
Index("registrations_by_resource", registrations.c.resource)

# In a backbone: the homes of documents that are not this hub, or were not always; generations tell a later home from an
# earlier one. What each batch of a home did, so that any hub can pass it on. What waits for a home that is away.
homes = _table("homes", _numbers("document", key=True), _texts("home"), _numbers("generation"))

replications = _table(
    "replications",
    _texts("home", key=True),
    _numbers("number", "document", key=True),
    _numbers("version", "generation"),
    rowid=False,
)

passed_on = _table(
    "passed_on",
    _numbers("number", key=True),
    _texts("home"),
    _numbers("kind"),
    _texts("uri"),
    _texts("media_type", nullable=True),
    _bytes("content", nullable=True),
)

# In a network: what was published here and other hubs must hear of; since when each subscription that reaches beyond
# this hub counts, in microseconds; and what the node of this hub must not lose, part by part, as `network` spells it.
outgoing = _table("outgoing", _numbers("number", key=True), _numbers("document", "version", "time", "reach"))

# How far a document goes in the network, as a height; one that is not here goes through all of it.
document_reaches = _table("document_reaches", _numbers("document", key=True), _numbers("reach"))

reaches = _table("reaches", _texts("subscription", key=True), _numbers("since"), rowid=False)

node_state = _table("node_state", _texts("part", "name", key=True), _texts("value"), rowid=False)

# What became of a delivery is written far more often than what it is: the two never change in one statement.
deliveries = _table(
    "deliveries",
    _texts("id", key=True),
    _texts("subscription", "kind", "settings", "secrets", "created"),
    _numbers("revision"),
    _texts("holder", nullable=True),
    _numbers("cursor", "until", "delivered", "failed", "succeeded"),
    _texts("state", "reason"),
    _numbers("due", "failures", "failing_since"),
    _texts("error"),
)
Index("deliveries_by_subscription", deliveries.c.subscription)
Index("deliveries_by_holder", deliveries.c.holder)

deliverers = _table("deliverers", _texts("name", key=True), _numbers("until"), rowid=False)

dead_letters = _table(
    "dead_letters",
    _numbers("number", key=True),
    _texts("delivery", "message"),
    _numbers("cursor"),
    _texts("media_type"),
    _bytes("content"),
    _texts("reason"),
    _numbers("attempts"),
    _texts("died"),
    _numbers("replay"),
)
Index("dead_letters_by_delivery", dead_letters.c.delivery, dead_letters.c.number)


@cache
def creation(driver: str) -> tuple[str, ...]:
    """What makes the tables and their indexes where there are none; spelled once for each kind of database.

    Why not `MetaData.create_all`: it spells them for each store anew, and asks for each table whether it is there.
    """
    dialect = URL.create(driver).get_dialect()()
    made: list[ExecutableDDLElement] = [CreateTable(table) for table in tables.sorted_tables]
    indexes = [
        index for table in tables.sorted_tables for index in sorted(table.indexes, key=lambda one: str(one.name))
    ]
    return tuple(str(each.compile(dialect=dialect)) for each in (*made, *map(CreateIndex, indexes)))
