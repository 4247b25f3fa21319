"""An item of a restricted feed must not become public by going and coming back, in whichever order that happens."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from triplewire import Access, Hub, Publish, Restrict, Retract, parse
from triplewire.errors import AccessDenied

FEED = "https://news.example/feed.rss"
STRANGER = "eve"
LISTS = (Access(["ada"], ["bob"]), Access(["ada", "eve"]))
NUMBERS = (1, 2, 3)


def item(number: int) -> str:
    return f"{FEED}#item=urn:item:{number}"


def rss(numbers) -> str:
    """Each item says of itself that it is a class below another one, too."""
    items = "".join(
        f'<item rdf:about="urn:item:{n}"><title>{n}</title><rdfs:subClassOf rdf:resource="urn:all"/></item>'
        for n in sorted(numbers)
    )
    seq = "".join(f'<rdf:li rdf:resource="urn:item:{n}"/>' for n in sorted(numbers))
    return (
        '<rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
        ' xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"><channel rdf:about="urn:channel"><title>News</title>'
        f"<items><rdf:Seq>{seq}</rdf:Seq></items></channel>{items}</rdf:RDF>"
    )


def published(numbers, access=None, *, drop_missing=False, by=None) -> Publish:
    return Publish(parse(rss(numbers), uri=FEED), drop_missing, access, by)


@dataclass
class Model:
    """Who may read what, as the docs say it: the last list counts, and what comes without one has its feed's."""

    feed: Access | None = None
    known: bool = False
    lists: dict[int, Access | None] = field(default_factory=dict)
    there: set[int] = field(default_factory=set)

    def apply(self, change) -> None:
        if isinstance(change, Publish):
            numbers = {int(part.uri.rpartition(":")[2]) for part in change.document.items}
            self.known = True
            if change.drop_missing:
                self.there.clear()
            if change.access is not None:
                self.feed = change.access
                self.lists = dict.fromkeys(self.lists, change.access)
            for number in numbers:
                if number not in self.there:
                    self.lists[number] = self.lists.get(number) or self.feed
            self.there |= numbers
        elif change.uri == FEED and isinstance(change, Retract):
            self.there.clear()
        elif change.uri == FEED:
            self.feed = change.access
            self.lists = dict.fromkeys(self.lists, change.access)
        elif isinstance(change, Retract):
            self.there.discard(int(change.uri.rpartition(":")[2]))
        else:
            self.lists[int(change.uri.rpartition(":")[2])] = change.access

    def seen(self) -> set[int]:
        return {number for number in self.there if (self.lists[number] or Access([STRANGER])).may_read(STRANGER)}


numbers = st.sets(st.sampled_from(NUMBERS))
lists = st.none() | st.sampled_from(LISTS)
steps = st.one_of(
    st.tuples(st.just("publish"), numbers, lists, st.booleans()),
    st.tuples(st.just("retract"), st.sampled_from((None, *NUMBERS))),
    st.tuples(st.just("restrict"), st.sampled_from((None, *NUMBERS)), lists),
)


def change_of(step, model: Model):
    """The change that a step means; None for a list of what never was."""
    if step[0] == "publish":
        return published(step[1], step[2], drop_missing=step[3])
    if step[0] == "retract":
        return Retract(FEED if step[1] is None else item(step[1]))
    if not (model.known if step[1] is None else step[1] in model.lists):
        return None
    return Restrict(FEED if step[1] is None else item(step[1]), step[2])


SEEN_BEFORE = [
    ("publish", {1}, None, False),
    ("retract", 1),
    ("restrict", None, LISTS[0]),
    ("publish", {1}, None, False),
]
LEFT_THE_WINDOW = [("publish", {1}, None, False), ("publish", {2}, LISTS[0], False)]


def check(history, *, in_one_batch: bool) -> None:
    model, changes = Model(), []
    with Hub() as hub:
        hub.subscribe("SELECT ?s { ?s <http://purl.org/rss/1.0/title> ?t }", id="eve", viewer=STRANGER)
        for step in history:
            change = change_of(step, model)
            if change is None:
                continue
            model.apply(change)
            changes.append(change)
            if not in_one_batch:
                hub.apply([change])
        if in_one_batch:
            hub.apply(changes)
        seen = {each.uri for each in hub.documents(viewer=STRANGER)} - {FEED}
        assert seen == {item(number) for number in model.seen()}
        rows = {str(row["s"]) for row in hub.rows("eve")} - {"<urn:channel>"}
        assert rows == {f"<urn:item:{number}>" for number in model.seen()}
        open_items = {n for n in model.there if model.lists[n] is None}
        classes = {n for n in NUMBERS if hub.taxonomy.parents(NamedNode(f"urn:item:{n}"))}
        assert classes == open_items, "the taxonomy is everybody's"
        assert list(hub.check()) == []


@example(SEEN_BEFORE)
@example(LEFT_THE_WINDOW)
@given(st.lists(steps, max_size=8))
@settings(max_examples=40, deadline=None)
def test_an_item_has_the_list_that_was_given_last(history):
    check(history, in_one_batch=False)


@example(SEEN_BEFORE)
@given(st.lists(steps, max_size=8))
@settings(max_examples=40, deadline=None)
def test_so_it_is_in_one_batch(history):
    check(history, in_one_batch=True)


def test_a_store_in_which_it_went_before_the_feed_had_a_list_is_served_right():
    """As one from an older version is: the list is on the feed, and not on the item that was retracted."""
    with Hub() as hub:
        hub.apply([published({1})])
        hub.apply([Retract(item(1))])
        with hub.store.writing() as writer:
            (record,) = writer.documents.current([FEED])
            writer.access.set([(record.id, LISTS[0])])
        hub.apply([published({1})])
        assert hub.document(item(1), viewer=STRANGER) is None


def test_an_item_of_others_is_restricted_with_the_feed_and_a_list_of_its_own_is_not_overruled():
    with Hub() as hub:
        hub.apply([published({1}, by="ada")])
        hub.apply([published({2}, by="pia")])
        with pytest.raises(AccessDenied):
            hub.apply([Restrict(FEED, Access([], ["pia"]), "pia")])
        hub.apply([Restrict(item(2), Access([], ["pia"]), "pia")])
        with pytest.raises(AccessDenied):
            hub.apply([Restrict(FEED, Access([], ["ada"]), "ada")])
        hub.apply([Restrict(item(2), None, "pia")])
        hub.apply([Restrict(FEED, Access([], ["ada"]), "ada")])
        assert hub.documents(viewer="pia") == []
