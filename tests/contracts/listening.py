"""What the hub's contract is told with: the documents and rules of MDV's examples, and an ear for events."""

from __future__ import annotations

from triplewire import parse
from triplewire.languages.context import DEFAULT_NAMESPACE
from triplewire.model import Row
from triplewire.schema import SCHEMA

NS = DEFAULT_NAMESPACE
"""Where the bare names of rules live."""

HOSTS, INFOS = "http://example.org/hosts", "http://example.org/infos"
PREFIXES = f"@prefix : <{NS}> . @prefix tw: <{SCHEMA}> .\n"
PROVIDERS = "search CycleProvider c register c"
MEMORY = "search CycleProvider c register c where c.serverInformation.memory > 64"
PASSAU = "search CycleProvider c register c where c.serverHost contains 'uni-passau.de'"
STRONG = ":serverInformation tw:strongReference true . :part tw:strongReference true ."

HOST = ":host a :CycleProvider ; :serverHost 'pirates.uni-passau.de' ; :serverInformation :info ."
INFO = ":info a :ServerInformation ; :memory 92 ; :cpu 600 ."


def document(text, uri=HOSTS):
    return parse(PREFIXES + text, uri=uri, media_type="text/turtle")


def publish(hub, text, uri=HOSTS, **how):
    return hub.publish(document(text, uri), **how)


def short(term):
    return term.value.removeprefix(NS).rpartition("#")[2]


def spelled(row):
    if "node" in row:
        return row["node"].value.rpartition("/")[2]
    return " ".join(short(row[name]) for name in sorted(row))


class Ear:
    """Listens to subscriptions: what each was told since the last time, as sorted phrases; who heard nothing is left
    out. On the way it checks what holds for every log."""

    def __init__(self, hub):
        self.hub, self.cursors = hub, {}

    def add(self, id, text, *, language="rules", scope="graph", start="ever", viewer=None):
        self.hub.subscribe(text, language=language, id=id, scope=scope, start=start, viewer=viewer)
        self.cursors[id] = 0
        return self

    def heard(self):
        news = {id: self._news(id) for id in self.cursors}
        return {id: found for id, found in news.items() if found}

    def _news(self, id):
        fresh = list(self.hub.events(id, after=self.cursors[id]))
        cursors = [self.cursors[id], *(event.cursor for event in fresh)]
        assert cursors == sorted(set(cursors)), "cursors increase"
        assert {event.subscription for event in fresh} <= {id}
        self.cursors[id] = cursors[-1]
        assert replayed(self.hub.events(id)) == set(self.hub.rows(id)), "the log replayed from zero gives the rows"
        return sorted(f"{event.kind} {spelled(event.row)}".strip() for event in fresh)


def replayed(log):
    """The rows that are there after all that a log tells."""
    rows, cursor = {}, 0
    for event in log:
        assert event.cursor > cursor, "cursors increase"
        cursor, place = event.cursor, placed(event.row)
        assert (place in rows) == (event.kind != "matched"), f"{event} does not fit what was told before"
        rows[place] = event.row
        if event.kind == "unmatched":
            del rows[place]
    return set(rows.values())


def placed(row):
    """What stays of a row while it is the same: a node of XML, or a value that it gives, may have another text."""
    return Row({name: term for name, term in row.items() if name != "text"}) if "document" in row else Row(row)
