"""The wire format of channels: the frame that is spelled is read back, and garbage is refused in words (P7)."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.network.channels.garbage import garbage

from triplewire.errors import ChannelRefused
from triplewire.network.channels.spelling import BodySpelling, read_frame, spelled_frame, text_of
from triplewire.network.link import Arrivals, Heartbeat, Hello, LogEntry, Position

TEXTS = BodySpelling(lambda body: body, text_of, lambda body: body == "everything")
FRAMES = [
    Hello("corner-1", "e-1", None, "s", None),
    Hello("corner-1", "e-1", Position("e-2", 7), "s", "t"),
    Arrivals("e-1", Position("e-2", 3), (5, 6)),
    Heartbeat(Position("e-1", 9)),
    LogEntry("e-1", 1, "something"),
    LogEntry("e-1", 2, "everything", True),
]


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: type(frame).__name__)
def test_frame_is_read_as_it_was_spelled(frame):
    """Invariant of `network.channels.spelling`: the frame that is read is the one that was spelled."""
    assert read_frame(json.loads(json.dumps(spelled_frame(frame, TEXTS))), TEXTS) == frame


@given(garbage())
def test_garbage_is_refused(told):
    with pytest.raises(ChannelRefused, match="no frame of a link"):
        read_frame(told, TEXTS)


@given(st.sampled_from(FRAMES), st.data())
def test_frame_with_a_part_that_is_something_else_is_refused_or_read(frame, data):
    """Whatever comes, the answer is a frame or a refusal, and never another error."""
    told = json.loads(json.dumps(spelled_frame(frame, TEXTS)))
    (kind,) = told
    told[kind][data.draw(st.integers(0, len(told[kind]) - 1))] = data.draw(garbage())
    with suppress(ChannelRefused):
        read_frame(told, TEXTS)


def test_body_that_is_a_part_of_what_is_told_replaces_nothing():
    with pytest.raises(ChannelRefused, match="does not replace what was told before"):
        read_frame({"entry": ["e-1", 1, "something", True]}, TEXTS)
