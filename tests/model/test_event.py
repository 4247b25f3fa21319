"""Events and rows: frozen, comparable without work, ready for JSON and for other processes (X4)."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from triplewire.model import EVENTS, Behind, Changed, Event, Matched, Row, Unmatched, bound, spelled

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOST, MEMORY = NamedNode("urn:host"), NamedNode("urn:memory")
OLD, NEW = Triple(HOST, MEMORY, Literal("64")), Triple(HOST, MEMORY, Literal("92"))
ROW = {"c": HOST, "m": Literal("92", language="en")}


def event(kind=Changed, **other):
    given = {"subscription": "s", "row": ROW, "batch": "b1", "cursor": 7, "time": NOON}
    return kind(**given | {"triples": (NEW,), "documents": (Behind("urn:d", 1, 2),)} | other)


class Counted:
    """A lookup that counts how often it was asked."""

    def __init__(self, triples):
        self.triples, self.calls = triples, 0

    def __call__(self):
        self.calls += 1
        return self.triples


def test_before_and_after_are_looked_up_when_asked_for_and_once():
    before, after = Counted((OLD,)), Counted(None)
    found = event(before=before, after=after)
    assert (before.calls, after.calls) == (0, 0)
    assert (found.before, found.before, found.after, found.after) == ((OLD,), (OLD,), None, None)
    assert (before.calls, after.calls) == (1, 1)


def test_equality_hash_and_text_ask_for_no_lookup():
    before = Counted((OLD,))
    found, same = event(before=before), event(after=before)
    assert found == same
    assert len({found, same}) == 1
    assert (str(found), repr(found)) == (str(same), repr(same))
    assert found.as_dict(contents=False) == same.as_dict(contents=False)
    assert before.calls == 0


@pytest.mark.parametrize(
    "other",
    [
        {"kind": Matched},
        {"subscription": "t"},
        {"row": {"c": HOST}},
        {"batch": "b2"},
        {"cursor": 8},
        {"time": NOON + timedelta(milliseconds=1)},
        {"triples": (OLD,)},
        {"documents": ()},
    ],
    ids=str,
)
def test_events_that_differ_in_anything_that_is_told_are_different(other):
    assert event(**other) != event()


def test_an_event_is_frozen():
    """Invariant of `model.event`: an event is frozen."""
    with pytest.raises(AttributeError, match="frozen"):
        event().row = {}
    with pytest.raises(AttributeError, match="frozen"):
        del event().cursor
    with pytest.raises(TypeError):
        event().row["c"] = MEMORY


def test_changing_the_mapping_that_a_row_was_made_of_does_not_change_the_row():
    given = dict(ROW)
    row = Row(given)
    given.clear()
    assert row == ROW


@pytest.mark.parametrize("kind", [Matched, Changed, Unmatched])
def test_an_event_crosses_processes_with_its_contents(kind):
    """Invariant of `model.event`: a pickled copy carries `before` and `after` themselves."""
    found = event(kind, before=lambda: (OLD,), after=lambda: (NEW,))
    copy = pickle.loads(pickle.dumps(found))
    assert type(copy) is kind
    assert copy == found
    assert (copy.before, copy.after) == ((OLD,), (NEW,))
    assert hash(copy) == hash(found)


def test_the_time_of_an_event_is_in_utc_whatever_zone_it_was_told_in():
    found = event(time=datetime(2026, 3, 2, 13, tzinfo=timezone(timedelta(hours=1))))
    assert found.time == NOON
    assert found.time.utcoffset() == timedelta(0)
    assert event(time=NOON.replace(tzinfo=None)) == found


@pytest.mark.parametrize("microseconds", [0, 1, 999, 1_000, 999_999])
def test_the_bound_of_a_time_divides_the_spellings_as_the_time_divides_the_times(microseconds):
    time = NOON + timedelta(microseconds=microseconds)
    for milliseconds in range(-2, 1_003):
        other = NOON + timedelta(milliseconds=milliseconds)
        assert (spelled(other) >= bound(time)) == (other >= time)


def test_times_at_the_ends_of_the_calendar_have_bounds():
    east, west = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))
    assert bound(datetime.min.replace(tzinfo=east)) < spelled(NOON) < bound(datetime.max.replace(tzinfo=west))


def test_the_form_for_json_spells_terms_as_n_triples():
    found = event(before=lambda: (OLD,))
    assert json.loads(json.dumps(found.as_dict())) == {
        "kind": "changed",
        "subscription": "s",
        "cursor": 7,
        "batch": "b1",
        "time": "2026-03-02T12:00:00.000+00:00",
        "row": {"c": "<urn:host>", "m": '"92"@en'},
        "triples": ['<urn:host> <urn:memory> "92"'],
        "documents": [{"uri": "urn:d", "before": 1, "after": 2}],
        "before": ['<urn:host> <urn:memory> "64"'],
        "after": None,
    }


def test_events_rows_and_documents_read_as_sentences():
    assert str(event()) == 'changed s: c = <urn:host>, m = "92"@en'
    assert repr(event(Matched, row={})) == "<Matched s [(no columns)] batch=b1 cursor=7>"
    assert str(Behind("urn:d", None, 1)) == "urn:d (version none -> 1)"
    assert str(Behind("urn:d", 3, 3)) == "urn:d (version 3)"


def test_kinds_are_found_by_name_and_no_event_is_without_a_kind():
    assert {name: kind.__name__ for name, kind in EVENTS.items()} == {
        "matched": "Matched",
        "changed": "Changed",
        "unmatched": "Unmatched",
    }
    with pytest.raises(TypeError, match="Matched"):
        event(Event)


def test_a_row_is_equal_to_a_mapping_with_its_terms_whatever_the_order():
    turned = Row(dict(reversed(ROW.items())))
    assert turned == Row(ROW) == ROW
    assert hash(turned) == hash(Row(ROW))
    assert Row(ROW) != {"c": HOST}
