"""The chapter of the demo that runs on Spark: published, changed and withdrawn documents, live."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from triplewire.demo import files, stream
from triplewire.demo.stage import Stage


@pytest.mark.slow
def test_the_story_shows_a_stream_that_picks_files_up(spark):
    console = Console(file=StringIO(), width=100)
    stream.tell(Stage(console, files.prefixes()))
    told = " ".join(console.file.getvalue().split())
    assert "maja matched dataset:bathing-water" in told
    assert "ines changed dataset:parking" in told
    assert "nora changed dataset:parking" in told
    assert "lost-and-found.ttl at line 12" in told
    assert "maja unmatched dataset:bathing-water" in told
    assert "another day" not in told
