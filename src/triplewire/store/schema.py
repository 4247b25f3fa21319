"""The tables: one schema for SQLite and PostgreSQL.

Numbers are 64-bit, truth values are 0 and 1, and lists of numbers are packed (see packing), so that a row of one
database can be written to the other as it is. There are no foreign keys: they would be checked for each of the
thousands of rows of a batch, and `Store.problems` checks them all when it is asked to.

Numbers are given by counters, never by the database: writers are one at a time anyway, a batch knows its numbers
before it writes, and a number that was used once is never used again.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, Table, Text

tables = MetaData()


def _number(name: str, *, key: bool = False) -> Column[int]:
    of_the_row = BigInteger().with_variant(Integer, "sqlite")  # as a key, SQLite then has no second index for it
    return Column(name, of_the_row, primary_key=key, autoincrement=False, nullable=False)


def _text(name: str, *, key: bool = False, nullable: bool = False) -> Column[str]:
    by_bytes = Text().with_variant(Text(collation="C"), "postgresql")  # the order that SQLite has, whatever the locale
    return Column(name, by_bytes, primary_key=key, nullable=nullable)


def _bytes(name: str, *, nullable: bool = False) -> Column[bytes]:
    return Column(name, LargeBinary, nullable=nullable)


settings = Table("settings", tables, _text("key", key=True), _text("value"), sqlite_with_rowid=False)

counters = Table("counters", tables, _text("name", key=True), _number("value"), sqlite_with_rowid=False)

# Why the key is no plain digest: new terms of a batch would touch a page of the index each, wherever it lies.
terms = Table("terms", tables, _number("id", key=True), _bytes("key"), _text("text"))
Index("terms_by_key", terms.c.key)

documents = Table(
    "documents",
    tables,
    _number("id", key=True),
    _text("uri"),
    _number("version"),
    _number("published"),
    _bytes("digest"),  # of the current content; empty when there is none
)
Index("documents_by_uri", documents.c.uri, unique=True)

versions = Table(
    "versions",
    tables,
    _number("document", key=True),
    _number("version", key=True),
    _number("batch"),
    _bytes("content", nullable=True),
    _bytes("xml", nullable=True),  # what XPath sees; nothing for a document that is RDF alone
)
Index("versions_by_batch", versions.c.batch)

# Why no index by document: what a document states is written in its current version, so nothing asks for it.
statements = Table(
    "statements",
    tables,
    _number("s", key=True),
    _number("p", key=True),
    _number("o", key=True),
    _number("document", key=True),
    sqlite_with_rowid=False,
)
Index("statements_backward", statements.c.p, statements.c.o, statements.c.s, statements.c.document)

# A document without a list is for everybody; one whose list names nobody is for the operator of the hub.
access_lists = Table("access_lists", tables, _number("document", key=True))

access_entries = Table(
    "access_entries",
    tables,
    _number("document", key=True),
    _text("account", key=True),
    _number("writes"),
    sqlite_with_rowid=False,
)

# The first publisher of a document, as far as that is known: only it and admins give the document its first list.
publishers = Table("publishers", tables, _number("document", key=True), _text("account"))

predicates = Table("predicates", tables, _number("p", key=True), _number("statements"))

queries = Table(
    "queries",
    tables,
    _number("id", key=True),
    _bytes("digest"),
    _text("scope"),
    _number("start"),
    _text("pattern"),
    _bytes("terms"),
    _text("viewer", nullable=True),  # nothing: it sees every document
)
Index("queries_by_digest", queries.c.digest, unique=True)

subscriptions = Table(
    "subscriptions",
    tables,
    _text("id", key=True),
    _number("query"),
    _text("text"),
    _text("language"),
    _text("owner", nullable=True),
    _text("columns"),
    _number("first_cursor"),
    _number("created"),
    _number("number"),
    _text("start"),
    _text("title", nullable=True),
    _text("description", nullable=True),
    _number("last_cursor"),
    _text("paused_since", nullable=True),
    _number("revision"),
)
Index("subscriptions_by_query", subscriptions.c.query)
Index("subscriptions_by_number", subscriptions.c.number, unique=True)
Index("subscriptions_by_owner", subscriptions.c.owner, subscriptions.c.id)

backfills = Table(
    "backfills",
    tables,
    _number("number", key=True),
    _text("subscription"),
    _number("query"),
    _text("state"),
    _text("reason", nullable=True),
    _number("rows"),
    _text("asked"),
    _text("ended", nullable=True),
)
Index("backfills_by_query", backfills.c.query)
Index("backfills_by_state", backfills.c.state, backfills.c.number)

# What a subscription asked before it was edited: its log is the union of these, and of what it asks now.
spans = Table(
    "spans",
    tables,
    _number("number", key=True),  # the subscription's
    _number("last_cursor", key=True),
    _number("first_cursor"),
    _number("query"),
    _text("columns"),
    sqlite_with_rowid=False,
)
Index("spans_by_query", spans.c.query)

# Beside arrivals and removals: a query that some subscription began or ceased to ask, to hear or to keep to itself.
alterations = Table("alterations", tables, _number("number", key=True), _text("subscription"), _number("query"))

removals = Table("removals", tables, _number("number", key=True), _text("subscription"), _number("query"))

shapes = Table("shapes", tables, _number("id", key=True), _bytes("digest"), _text("definition"))
Index("shapes_by_digest", shapes.c.digest, unique=True)

atoms = Table(
    "atoms",
    tables,
    _number("id", key=True),
    _bytes("digest"),
    _number("shape"),
    _number("position"),
    _text("definition"),
    _number("users"),
)
Index("atoms_by_digest", atoms.c.digest, unique=True)
Index("atoms_by_shape", atoms.c.shape)

query_atoms = Table(
    "query_atoms",
    tables,
    _number("atom", key=True),
    _number("query", key=True),
    _number("branch", key=True),
    sqlite_with_rowid=False,
)
Index("query_atoms_by_query", query_atoms.c.query)

crowds = Table("crowds", tables, _number("id", key=True), _bytes("digest"), _number("members"), _bytes("queries"))
Index("crowds_by_digest", crowds.c.digest, unique=True)

crowd_members = Table(
    "crowd_members",
    tables,
    _number("query", key=True),
    _number("crowd", key=True),
    _number("place"),
    sqlite_with_rowid=False,
)

# Where queries that are no more had their places, as far as a span refers to them: their events are read by it.
past_members = Table(
    "past_members",
    tables,
    _number("query", key=True),
    _number("crowd", key=True),
    _number("place"),
    sqlite_with_rowid=False,
)
Index("past_members_by_crowd", past_members.c.crowd)

# A row, or an event, is of a query or of a crowd; the other one is 0.
rows = Table(
    "rows",
    tables,
    _number("id", key=True),
    _number("query"),
    _number("document"),
    _bytes("key"),
    _bytes("terms"),
    _number("crowd"),
)
Index("rows_by_key", rows.c.query, rows.c.key, rows.c.document, rows.c.crowd, unique=True)
_of_a_document = rows.c.document != 0
Index("rows_by_document", rows.c.document, sqlite_where=_of_a_document, postgresql_where=_of_a_document)
_of_a_crowd = rows.c.crowd != 0
Index("rows_by_crowd", rows.c.crowd, sqlite_where=_of_a_crowd, postgresql_where=_of_a_crowd)

bindings = Table("bindings", tables, _number("term", key=True), _number("row", key=True), sqlite_with_rowid=False)

events = Table(
    "events",
    tables,
    _number("cursor", key=True),
    _number("batch"),
    _number("query"),
    _number("kind"),
    _bytes("terms"),
    _bytes("triples"),
    _bytes("documents"),
    _number("crowd"),
)
Index("events_by_query", events.c.query, events.c.cursor)
_to_a_crowd = events.c.crowd != 0
Index("events_by_crowd", events.c.crowd, events.c.cursor, sqlite_where=_to_a_crowd, postgresql_where=_to_a_crowd)
Index("events_by_batch", events.c.batch)

batches = Table(
    "batches",
    tables,
    _number("number", key=True),
    _text("id"),
    _text("committed"),
    _number("documents"),
    _number("events"),
)
Index("batches_by_id", batches.c.id, unique=True)
Index("batches_by_time", batches.c.committed, batches.c.number)

# Up to where an account has looked at the events of its subscriptions.
marks = Table("marks", tables, _text("account", key=True), _number("cursor"), sqlite_with_rowid=False)

repeats = Table(
    "repeats",
    tables,
    _text("account", key=True),
    _text("key", key=True),
    _bytes("digest"),
    _text("batch"),
    _number("kept"),
    _bytes("answer"),
)
Index("repeats_by_age", repeats.c.kept)
Index("repeats_by_account", repeats.c.account, repeats.c.kept)

intake = Table(
    "intake",
    tables,
    _number("position", key=True),
    _number("item", key=True),
    _number("kind"),
    _text("uri"),
    _text("media_type", nullable=True),
    _bytes("content", nullable=True),
    _text("received"),
)

landed = Table("landed", tables, _text("path", key=True), _text("version"), sqlite_with_rowid=False)

rejected = Table(
    "rejected",
    tables,
    _number("number", key=True),
    _text("uri"),
    _number("kind"),
    _text("media_type", nullable=True),
    _bytes("content", nullable=True),
    _text("reason"),
    _text("rejected"),
)

images = Table(
    "images", tables, _text("name", key=True), _number("part", key=True), _number("number"), _bytes("content")
)

# What became of a delivery is written far more often than what it is: the two never change in one statement.
deliveries = Table(
    "deliveries",
    tables,
    _text("id", key=True),
    _text("subscription"),
    _text("kind"),
    _text("settings"),
    _text("secrets"),
    _text("created"),
    _number("revision"),
    _text("holder", nullable=True),
    _number("cursor"),
    _number("until"),
    _number("delivered"),
    _number("failed"),
    _number("succeeded"),
    _text("state"),
    _text("reason"),
    _number("due"),
    _number("failures"),
    _number("failing_since"),
    _text("error"),
)
Index("deliveries_by_subscription", deliveries.c.subscription)
Index("deliveries_by_holder", deliveries.c.holder)

deliverers = Table("deliverers", tables, _text("name", key=True), _number("until"), sqlite_with_rowid=False)

dead_letters = Table(
    "dead_letters",
    tables,
    _number("number", key=True),
    _text("delivery"),
    _text("message"),
    _number("cursor"),
    _text("media_type"),
    _bytes("content"),
    _text("reason"),
    _number("attempts"),
    _text("died"),
    _number("replay"),
)
Index("dead_letters_by_delivery", dead_letters.c.delivery, dead_letters.c.number)
