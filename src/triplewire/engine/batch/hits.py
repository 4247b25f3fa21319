"""Hits: what XPath subscriptions select, from one version of a document to the next.

A node is the same node as long as it is in the same place of the same document. So where the text at a place changes,
that is no end and no beginning, but a change: `changed` is told with the new row. Where the row stays as it is, the
node may still have changed in what the row does not show, an attribute or a part of a long text: that is told as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triplewire.algebra.xpath.evaluate import hits, tree_of
from triplewire.algebra.xpath.query import PathQuery
from triplewire.engine.batch.differences import Difference
from triplewire.engine.batch.revisions import Revision
from triplewire.engine.standing import Standing
from triplewire.matching.finder.finder import Key, Rows
from triplewire.model import parse_term
from triplewire.model.event import NODE
from triplewire.store import Reader


def take_changed_hits(
    reader: Reader,
    standing: Standing,
    revisions: Sequence[Revision],
    before: Mapping[int, Rows],
    after: Mapping[int, Rows],
    difference: Difference,
) -> Rows:
    """The rows of nodes that stay and have changed; what the difference says of them is taken out of it."""
    changed: Rows = {}
    path_query = standing.documents.path_query
    for revision in revisions:
        if not revision.old_xml or not revision.new_xml or revision.old_xml == revision.new_xml:
            continue
        old, new = before.get(revision.id, {}), after.get(revision.id, {})
        queries = {id: query for id in {key[0] for key in new} if (query := path_query(str(id))) is not None}
        changed |= _renewed(queries, old, new, difference)
        staying = [key for key in new if key in old and key[0] in queries and key not in difference.begun]
        changed |= _altered(reader, queries, revision, staying)
    return changed


def _renewed(queries: Mapping[int, PathQuery], old: Rows, new: Rows, difference: Difference) -> Rows:
    """Nodes whose text has changed: their old row ends, and their new row begins."""
    ended = {_place(queries[key[0]], key): key for key in old if key in difference.ended and key[0] in queries}
    changed: Rows = {}
    for key in new:
        if key in difference.begun and key[0] in queries and (was := ended.get(_place(queries[key[0]], key))):
            changed[key] = difference.begun.pop(key)
            del difference.ended[was]
    return changed


def _place(query: PathQuery, key: Key) -> Key:
    """A row without its text, which is its last column."""
    return key[0], key[1][:2] if NODE in query.answer else key[1][:1]


def _altered(reader: Reader, queries: Mapping[int, PathQuery], revision: Revision, staying: Sequence[Key]) -> Rows:
    """Nodes whose row is as before, but not their content."""
    if not staying:
        return {}
    old, new = tree_of(revision.old_xml), tree_of(revision.new_xml)
    differing: dict[int, set[str | None]] = {}
    for id in {key[0] for key in staying}:
        were = {hit.path: hit.content for hit in hits(queries[id], old)}
        differing[id] = {hit.path for hit in hits(queries[id], new) if hit.content != were.get(hit.path)}
    paths = _paths(reader, queries, staying)
    return {key: () for key in staying if paths[key] in differing[key[0]]}


def _paths(reader: Reader, queries: Mapping[int, PathQuery], keys: Sequence[Key]) -> dict[Key, str | None]:
    """Where the node of each row is; None for a value."""
    placed = [key for key in keys if NODE in queries[key[0]].answer]
    texts = reader.terms.texts([key[1][1] for key in placed])
    found: dict[Key, str | None] = dict.fromkeys(keys)
    found.update((key, parse_term(text).value) for key, text in zip(placed, texts, strict=True))
    return found
