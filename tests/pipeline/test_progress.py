"""The numbers of a stream: added up over batches, kept in the store, shown to people."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from rich.console import Console

from triplewire.cli.streams import lines_of, shown
from triplewire.engine.workers import Spent
from triplewire.pipeline.streaming.batches import Done
from triplewire.pipeline.streaming.progress import Meter, status
from triplewire.store import RETRACT, NewEntry, Store


@pytest.fixture
def store(new_url):
    with Store.open(new_url("sqlite")) as opened:
        yield opened


def done(**about) -> Done:
    received = (datetime.now(UTC) - timedelta(seconds=5)).isoformat()
    return Done("batch", entries=10, events=3, rejected=["no"], oldest=received, parse=0.5, apply=1.0, **about)


def test_batches_are_added_up_and_the_time_of_the_last_is_split(store):
    meter = Meter(store, "intake")
    meter.add(done())
    meter.add(done(spent=Spent(lookup=0.2, match=0.1, waited=0.3, seeds=7)))
    progress = meter.progress
    assert (progress.batches, progress.entries, progress.events, progress.rejected) == (2, 20, 6, 2)
    split = progress.split
    assert (split.parse, split.lookup, split.match, round(split.write, 6)) == (0.5, 0.2, 0.1, 0.7)
    assert (progress.seeds, progress.shares, progress.skew) == (7, 0, 0.0)
    assert 5 <= progress.lag < 60
    assert progress.rate > 1


def test_skew_is_how_much_longer_the_longest_share_took(store):
    meter = Meter(store, "intake")
    meter.add(done(spent=Spent(waited=0.6, seeds=7, shares=[0.1, 0.1, 0.4])))
    assert (meter.progress.shares, round(meter.progress.skew, 6)) == (3, 2.0)


def test_the_numbers_are_in_the_store_for_others(store):
    meter = Meter(store, "intake")
    with store.writing() as writer:
        writer.intake.append([NewEntry(RETRACT, "urn:a"), NewEntry(RETRACT, "urn:b")], "")
    meter.add(done())
    meter.hear({"triggerExecution": 250})
    meter.save("running")
    meter.add(done())
    meter.save()
    with store.reading() as reader:
        told = status(reader)
    assert told["waiting"] == 2
    assert told["stream"]["waiting"] == 2
    assert told["stream"]["spark"] == {"triggerExecution": 0.25}
    assert told["stream"]["batches"] == 1, "they are written once a second, not with every batch"
    text = "\n".join(f"{name} {value}" for name, value in lines_of(told))
    assert "0 partial matches begun, by the driver" in text
    assert "250 ms in all" in text


def test_a_terminal_shows_a_table_and_sentences_above_it(store):
    meter = Meter(store, "landing/")
    meter.add(done(spent=Spent(seeds=1234, shares=[0.1, 0.3])))
    console = Console(file=StringIO(), force_terminal=True, width=100, color_system=None)
    with shown(console, None) as view:
        view.say("set aside: urn:d")
        view.show(meter.progress)
    text = console.file.getvalue()
    assert "set aside: urn:d" in text
    assert "landing/" in text
    assert "1,234 partial matches begun, in 2 shares, skew 1.5" in text


def test_elsewhere_only_sentences_are_shown_and_numbers_are_handed_over(store):
    meter = Meter(store, "intake")
    console, written = Console(file=StringIO(), width=100), []
    with shown(console, written.append) as view:
        view.show(meter.progress)
        view.say("waiting")
    assert console.file.getvalue() == "waiting\n"
    assert written[0]["source"] == "intake"
