"""The values that everything else speaks of: terms, triples, documents and subscriptions; changes in, events out.

Terms and triples are pyoxigraph's own. All values are frozen; nothing here reads a clock, a file or a network.

There are `terms` (`natives`, `numbers`) and their spelling (`spelling`, `flat`, `characters`, `prefixes`); `document`,
`feed`, `access`, `foreign` and `change` for publishers; `subscription`, `row`, `event`, `inbox` and `missed` for
subscribers; and `times`.
"""

from triplewire.model.access import Access
from triplewire.model.change import Change, Publish, Restrict, Retract, Unread
from triplewire.model.document import Document
from triplewire.model.event import EVENTS, Behind, Changed, Content, Event, Excerpt, Matched, Unmatched
from triplewire.model.feed import Feed, feeds_of, item_prefix, item_uri
from triplewire.model.inbox import InboxItem, InboxNews, InboxPage
from triplewire.model.missed import MissedEvents
from triplewire.model.natives import Native, Text, native
from triplewire.model.reach import NetworkReach
from triplewire.model.row import Row
from triplewire.model.subscription import Scope, Sort, Start, Subscription, Summary, SummaryPage
from triplewire.model.terms import RDF, RDFS, XSD, Term, parse_term, parse_triple
from triplewire.model.times import Time, bound, moment, spelled

__all__ = [
    "EVENTS",
    "RDF",
    "RDFS",
    "XSD",
    "Access",
    "Behind",
    "Change",
    "Changed",
    "Content",
    "Document",
    "Event",
    "Excerpt",
    "Feed",
    "InboxItem",
    "InboxNews",
    "InboxPage",
    "Matched",
    "MissedEvents",
    "Native",
    "NetworkReach",
    "Publish",
    "Restrict",
    "Retract",
    "Row",
    "Scope",
    "Sort",
    "Start",
    "Subscription",
    "Summary",
    "SummaryPage",
    "Term",
    "Text",
    "Time",
    "Unmatched",
    "Unread",
    "bound",
    "feeds_of",
    "item_prefix",
    "item_uri",
    "moment",
    "native",
    "parse_term",
    "parse_triple",
    "spelled",
]
