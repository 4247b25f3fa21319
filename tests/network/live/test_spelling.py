"""What hubs of a network tell each other: what is spelled is read back, and garbage is refused in words."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.network.channels.garbage import garbage

from triplewire import compile, parse
from triplewire.errors import ChannelRefused
from triplewire.network.channels.spelling import read_frame, spelled_frame
from triplewire.network.link import LogEntry
from triplewire.network.live.spelling import ROUTED
from triplewire.network.routing import Advertise, Advertisement, DocumentSent, RoutesTold, Subscribe
from triplewire.network.routing.interests import interest_of
from triplewire.network.routing.messages import AnswerSent, Ask

DOCUMENT = parse('<urn:s> <urn:p> "naïve\\n"@fr ; <urn:q> [ <urn:r> 1 ] .', uri="urn:doc")
XML = parse(b"<a><b>1</b></a>", uri="urn:xml", media_type="application/xml")
ITEMS = Advertisement(schemas=["http://purl.org/dc/"], values={"urn:p": ["v", 3]}).items
INTERESTS = (
    (interest_of(compile("SELECT ?d { ?d <urn:p> ?x FILTER(?x > 3 && ?x != 7) }", language="sparql")), 12.5),
    (interest_of(compile("//title[. = 'Tides']", language="xpath")), 0.0),
)
SENT = DocumentSent("corner-1", "urn:doc", 4, 1_700_000_000.25, DOCUMENT, signature="ab")
BODIES = [
    Advertise(ITEMS, frozenset()),
    Subscribe(INTERESTS, (INTERESTS[0][0],)),
    SENT,
    DocumentSent("corner-1", "urn:xml", 1, 0.5, XML),
    DocumentSent("corner-1", "urn:doc", 4, 1.0, None),
    Ask("corner-1", "urn:doc", 4, ("corner-3", "corner-2")),
    AnswerSent(SENT, ("corner-3",)),
    RoutesTold(ITEMS, INTERESTS, (SENT,)),
]
FRAMES = [LogEntry("e-1", number, body, isinstance(body, RoutesTold)) for number, body in enumerate(BODIES)]


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame.body).__name__)
def test_frame_is_read_as_it_was_spelled(frame):
    """Invariant of `network.live.spelling`: what is read is what was spelled."""
    assert read_frame(json.loads(json.dumps(spelled_frame(frame, ROUTED))), ROUTED) == frame


@given(garbage())
def test_garbage_is_refused(told):
    with pytest.raises(ChannelRefused, match="no frame of a link"):
        read_frame({"entry": ["e-1", 1, told, False]}, ROUTED)


@given(st.sampled_from(FRAMES), st.data())
def test_frame_with_a_part_that_is_something_else_is_refused_or_read(frame, data):
    """Whatever comes, the answer is a frame or a refusal, and never another error."""
    told = json.loads(json.dumps(spelled_frame(frame, ROUTED)))
    ((kind, given),) = told["entry"][2].items()
    if isinstance(given, list):
        told["entry"][2][kind][data.draw(st.integers(0, len(given) - 1))] = data.draw(garbage())
    with suppress(ChannelRefused):
        read_frame(told, ROUTED)


@pytest.mark.parametrize(
    "content",
    [
        ["<urn:b> <urn:p> <urn:o> .\n<urn:a> <urn:p> <urn:o> .\n", ""],  # not in order
        ["<urn:a> <urn:p> <urn:o> .\n<urn:a> <urn:p> <urn:o> .\n", ""],  # twice
        ["no triples", ""],
        ["", "<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>"],
        ["", "<a>"],
    ],
)
def test_document_that_no_hub_would_have_read_is_refused(content):
    told = {"entry": ["e", 1, {"document": ["corner-1", "urn:d", 1, 0.5, content, 256, ""]}, False]}
    with pytest.raises(ChannelRefused):
        read_frame(told, ROUTED)


def test_pattern_that_pretends_to_be_in_normal_form_is_put_into_it():
    pattern = '[[],[[[["?zz","<urn:p>","?yy"],["?zz","<urn:p>","?ww"]],[],[],[]]],true]'
    frame = read_frame({"entry": ["e", 1, {"subscribe": [[[pattern, 256, 0.5]], []]}, False]}, ROUTED)
    ((interest, _),) = frame.body.added
    assert interest == interest_of(compile("ASK { ?x <urn:p> ?y }", language="sparql"))
