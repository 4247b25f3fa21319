"""An item of a restricted feed must not become public by going and coming back, in whichever order that happens."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from effort import examples
from triplewire import Access, Hub, Publish, Restrict, Retract, parse
from triplewire.errors import AccessDenied
from triplewire.intake.entries import Handled

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
@settings(max_examples=examples(40), deadline=None)
def test_an_item_has_the_list_that_was_given_last(history):
    """Invariant of `engine.batch.feeds`: an item has the access list that was given last, or else its feed's."""
    check(history, in_one_batch=False)


@example(SEEN_BEFORE)
@given(st.lists(steps, max_size=8))
@settings(max_examples=examples(40), deadline=None)
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
        hub.apply([Restrict(FEED, Access([], ["ada"]), "ada")])
        assert {each.uri for each in hub.documents(viewer="pia")} == {item(2)}
        hub.apply([Restrict(item(2), None, "pia")])
        hub.apply([Restrict(FEED, Access([], ["ada"]), "ada")])
        assert hub.documents(viewer="pia") == []


# -- others publish under the uris of its items


SQUATTER, FRIEND = "pia", "fay"
SQUATTED = parse("<urn:pia> <urn:p> 'pia' .", uri=item(2), media_type="text/turtle")
SQUATTERS_LISTS = (None, Access([FRIEND], [SQUATTER]), Access([], [SQUATTER, "ada"]), Access([], [SQUATTER, FRIEND]))


def tried(hub: Hub, change) -> bool:
    try:
        hub.apply([change])
    except AccessDenied:
        return False
    return True


def squats(hub: Hub, listed: Access | None) -> bool:
    return tried(hub, Publish(SQUATTED, access=listed, by=SQUATTER))


def is_hidden(hub: Hub, uri: str = item(2)) -> bool:
    """Whether what the feed says in an item is read by nobody who is not on the feed's list."""
    answers = [hub.document(uri, viewer=who) for who in (SQUATTER, FRIEND, STRANGER)]
    return all(found is None or b"urn:item" not in found.ntriples for found in answers)


@pytest.mark.parametrize("listed", SQUATTERS_LISTS, ids=str)
@pytest.mark.parametrize("by", ["ada", None], ids=["its publisher", "an admin"])
def test_nobody_else_publishes_under_the_items_of_a_feed_with_a_list(by, listed):
    with Hub() as hub:
        hub.apply([published({1}, Access([], ["ada"]), by=by)])
        assert not squats(hub, listed)
        hub.apply([published({1, 2}, by=by)])
        assert hub.document(item(2), viewer="ada") is not None
        assert is_hidden(hub)
        assert not squats(hub, listed)


@pytest.mark.parametrize("listed", SQUATTERS_LISTS, ids=str)
@pytest.mark.parametrize("by", ["ada", None], ids=["its publisher", "an admin"])
@pytest.mark.parametrize("is_open_first", [True, False])
def test_what_others_published_before_blocks_no_feed_and_opens_no_item(by, listed, is_open_first):
    with Hub() as hub:
        if is_open_first:
            hub.apply([published({1}, by=by)])
        assert squats(hub, listed)
        told = hub.apply([published({1, 2}, Access([], ["ada"]), by=by)])
        is_refused = by is not None and listed is not None and not listed.may_write(by)
        assert [(warning.uri, warning.by) for warning in told.warnings] == ([(item(2), by)] if is_refused else [])
        assert hub.document(item(1), viewer="ada") is not None, "the rest is published"
        assert is_hidden(hub, item(1))
        assert (hub.document(item(2), viewer="ada") is None) == is_refused
        assert is_hidden(hub)
        hub.apply([published({1, 2})])
        assert is_hidden(hub), "nor when an admin publishes it"
        assert hub.document(item(2), viewer=SQUATTER) is None, "it is the feed's now"
        assert list(hub.check()) == []


@pytest.mark.parametrize("listed", SQUATTERS_LISTS[:2], ids=str)
def test_an_item_laid_out_in_a_store_of_an_older_version_is_taken_over(listed):
    with Hub() as hub:
        assert squats(hub, listed)
        hub.apply([published({1})])
        with hub.store.writing() as writer:
            (record,) = writer.documents.current([FEED])
            writer.access.set([(record.id, Access([], ["ada"]))])
        hub.apply([published({1, 2}, by="ada")])
        assert is_hidden(hub)
        hub.apply([published({1, 2})])
        assert is_hidden(hub)


def test_a_list_that_the_feeds_writer_gave_to_an_item_stays():
    with Hub() as hub:
        hub.apply([published({1, 2, 3}, Access([], ["ada"]), by="ada")])
        hub.apply([Restrict(item(1), Access(["eve"], ["ada"]), "ada")])
        hub.apply([Restrict(item(3), None, "ada")])
        hub.apply([published({1, 2, 3}, by="ada")])
        assert {each.uri for each in hub.documents(viewer=STRANGER)} == {item(1), item(3)}
        assert not tried(hub, Retract(item(3), SQUATTER)), "it is open to read, not to change"
        assert not tried(hub, Restrict(item(3), Access([], [SQUATTER]), SQUATTER))


def test_an_item_of_others_does_not_keep_the_feed_from_being_taken_back():
    with Hub() as hub:
        assert squats(hub, Access([], [SQUATTER]))
        hub.apply([published({1}, by="ada")])
        told = hub.apply([Retract(FEED, "ada")])
        assert told.warnings == (), "who may not read it is not told that it is there"
        assert [each.uri for each in hub.documents()] == [item(2)]


def test_an_item_that_is_refused_from_the_log_is_set_aside_with_the_reason():
    with Hub() as hub:
        assert squats(hub, Access([], [SQUATTER]))
        hub.apply([published({1, 2}, by="ada")], handled=Handled())
        (rejection,) = hub.rejected()
        assert rejection.uri == item(2)
        assert "access list" in rejection.reason


moves = st.one_of(
    st.tuples(st.just("squat"), st.sampled_from(NUMBERS), st.sampled_from(SQUATTERS_LISTS)),
    st.tuples(st.just("relist"), st.sampled_from(NUMBERS), st.sampled_from(SQUATTERS_LISTS)),
    st.tuples(st.just("retract"), st.sampled_from(NUMBERS)),
    st.tuples(
        st.just("publish"), numbers, st.sampled_from((None, Access([], ["ada"]))), st.sampled_from(("ada", None))
    ),
    st.tuples(st.just("retract feed"), st.sampled_from(("ada", None))),
)


@given(st.lists(moves, max_size=10))
@settings(max_examples=examples(60), deadline=None)
def test_whatever_others_do_they_read_no_item_of_a_feed_with_a_list_and_block_none(history):
    with Hub() as hub:
        hub.apply([published(set(), by="ada")])
        for kind, *rest in history:
            if kind == "squat":
                document = parse("<urn:pia> <urn:p> 'pia' .", uri=item(rest[0]), media_type="text/turtle")
                tried(hub, Publish(document, access=rest[1], by=SQUATTER))
            elif kind == "relist" and hub.document(item(rest[0])) is not None:
                tried(hub, Restrict(item(rest[0]), rest[1], SQUATTER))
            elif kind == "retract":
                tried(hub, Retract(item(rest[0]), SQUATTER))
            elif kind == "publish":
                hub.apply([published(rest[0], rest[1], by=rest[2])])
            elif kind == "retract feed":
                hub.apply([Retract(FEED, rest[0])])
            if hub.access(FEED) is not None:
                hub.apply([published(NUMBERS, by="ada")])
                assert all(is_hidden(hub, item(number)) for number in NUMBERS)
        assert list(hub.check()) == []
