"""A chapter: a stream. Files are dropped into a folder, changed and withdrawn; Spark picks them up, live."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import TYPE_CHECKING

from triplewire import Hub, model
from triplewire.demo import files
from triplewire.demo.stage import Stage
from triplewire.demo.town import LISTENERS, read, tell_events
from triplewire.errors import PipelineError

if TYPE_CHECKING:
    from triplewire.pipeline.streaming.running import Stream

PATIENCE = 120.0


@dataclass(slots=True)
class StreamSetting:
    """What the scenes share; `cursor` is the last event that was told."""

    stage: Stage
    hub: Hub
    landing: Path
    stream: Stream
    has_failed: Event
    cursor: int = 0


def tell(stage: Stage) -> None:
    """Tell it, if there is a Spark to tell it with."""
    stage.scene("Documents arrive as files")
    stage.talk(
        """A town hall does not call a library: its offices drop files into a folder. `triplewire run` looks into it,
        and Spark reads, parses and matches what comes, on all cores of this machine or of a cluster."""
    )
    try:
        _begin(stage)
    except PipelineError as error:
        stage.show(error, style="yellow")
        stage.talk("So this chapter is for another day; the others need neither Spark nor Java.")


def _begin(stage: Stage) -> None:
    from triplewire.pipeline.session import running
    from triplewire.pipeline.streaming import CONF

    def say(text: str) -> None:
        stage.show(text, style="dim")

    conf = {"spark.driver.memory": "1g"} | CONF
    with TemporaryDirectory() as folder, running("local[2]", conf=conf, tell=say) as spark:
        url, landing = f"sqlite:///{Path(folder) / 'town.db'}", Path(folder) / "landing"
        landing.mkdir()
        with Hub(url) as hub:
            hub.set_taxonomy(read("themes.ttl"))
            for subscriber in LISTENERS:
                subscriber.subscribe(hub)
            from triplewire.pipeline.streaming.running import Plan, Stream

            stream = Stream(spark, Plan(url, str(landing), Path(folder) / "checkpoint"))
            with _running(stream) as has_failed:
                setting = StreamSetting(stage, hub, landing, stream, has_failed)
                for scene in (dropped, changed, broken, withdrawn):
                    scene(setting)


@contextmanager
def _running(stream: Stream) -> Iterator[Event]:
    """The stream in the background, stopped at the end between two batches; tells if it ended before that."""
    has_failed, errors = Event(), list[PipelineError]()

    def run() -> None:
        try:
            stream.run()
        except PipelineError as error:
            errors.append(error)
            has_failed.set()

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield has_failed
    finally:
        stream.stop()
        thread.join(PATIENCE)
        stream.close()
        if errors:
            raise errors[0]


def dropped(setting: StreamSetting) -> None:
    """The catalogue, and the offices that publish it."""
    stage = setting.stage
    stage.show("triplewire run --store town.db --source landing/", style="green")
    stage.talk("It runs. Three people listen, and the catalogue is dropped into the folder, file by file:")
    for path in files.catalogue():
        _drop(setting, path)
    _drop(setting, files.HERE / "later" / "offices.ttl")
    expected = len(files.catalogue()) + 1
    _heard(setting, lambda: setting.stream.meter.progress.entries >= expected)


def changed(setting: StreamSetting) -> None:
    """A new version."""
    setting.stage.talk("A file is written again: the car parks are counted by the minute now.")
    _drop(setting, files.HERE / "later" / "parking.ttl")
    _heard(setting, lambda: _has_news(setting))


def broken(setting: StreamSetting) -> None:
    """A document that nobody can read, in the stream."""
    setting.stage.talk("One file is broken. It is set aside with the reason, and nobody else has to wait for it:")
    _drop(setting, files.broken())
    _wait(setting, lambda: setting.hub.rejected())
    setting.stage.show("triplewire rejected --store town.db", style="green")
    setting.stage.show(*(rejection.reason.rpartition("/")[2] for rejection in setting.hub.rejected()), style="yellow")


def withdrawn(setting: StreamSetting) -> None:
    """A marker takes a document back."""
    stage = setting.stage
    stage.talk("A marker beside a file takes its document back. The bathing water is withdrawn:")
    stage.show("touch landing/bathing-water.ttl.retract", style="green")
    (setting.landing / "bathing-water.ttl.retract").touch()
    _heard(setting, lambda: _has_news(setting))
    progress, split = setting.stream.meter.progress, setting.stream.meter.progress.split
    stage.talk("What the stream says of itself (`triplewire status` asks it from another terminal):")
    stage.table(
        ("changes", "batches", "events", "set aside", "last batch: parse", "match", "write"),
        [
            (
                *(progress.entries, progress.batches, progress.events, progress.rejected),
                *(f"{seconds * 1000:.0f} ms" for seconds in (split.parse, split.lookup + split.match, split.write)),
            )
        ],
    )


def _drop(setting: StreamSetting, path: Path) -> None:
    """Copy a file into the folder as one should: under another name first, so that nobody sees half of it."""
    half = setting.landing / f"_{path.name}"
    shutil.copyfile(path, half)
    os.utime(half)
    half.rename(setting.landing / path.name)


def _has_news(setting: StreamSetting) -> bool:
    return any(setting.hub.events(s.name, after=setting.cursor, limit=1) for s in LISTENERS)


def _heard(setting: StreamSetting, is_over: Callable[[], object]) -> None:
    """What everybody hears, in the order of the log, when it is over."""
    _wait(setting, is_over)
    events: list[model.Event] = []
    for subscriber in LISTENERS:
        events += setting.hub.events(subscriber.name, after=setting.cursor)
    events.sort(key=lambda event: event.cursor)
    setting.cursor = events[-1].cursor if events else setting.cursor
    tell_events(setting.stage, events)


def _wait(setting: StreamSetting, is_over: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    with setting.stage.console.status("Spark is at work; its workers come up with the first batch"):
        while not is_over():
            if setting.has_failed.is_set() or time.monotonic() > until:
                raise PipelineError("the stream did not go on; `triplewire run --verbose` shows what Spark says")
            time.sleep(0.02)
