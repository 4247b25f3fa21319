"""The story that `./run demo` tells."""

from io import StringIO

import pytest
from rich.console import Console

from triplewire import Pattern, normalize
from triplewire.demo.crowd import crowd
from triplewire.demo.story import tell


@pytest.fixture(scope="module")
def told():
    """The story as it reads without a terminal, with a smaller crowd so that the test is quick."""
    console = Console(file=StringIO(), width=100)
    tell(console, size_of_crowd=3000)
    return console.file.getvalue()


def test_story_has_every_scene_in_order(told):
    headings = [line for line in told.splitlines() if line[:1].isdigit() and "---" in line]
    assert [heading.split(".")[0] for heading in headings] == [str(n) for n in range(1, 12)]


def test_story_is_readable_without_a_terminal(told):
    assert "\x1b" not in told
    assert max(map(len, told.splitlines())) <= 100


def test_subscribers_hear_of_what_they_asked_for(told):
    lines = {line.split()[0]: line for line in told.splitlines() if line.split()}
    assert "maja" in lines["bathing-water"]
    assert "jonas" in lines["budget-2025"]
    assert "ines, lene, tomas" in lines["cycle-counts"]
    assert "(nobody)" in lines["school-places"]


def test_two_languages_are_one_pattern(told):
    """N6"""
    assert "the same pattern" in told


def test_lint_catches_the_mistake(told):
    """X6"""
    assert "never" in told.partition("wait for ever")[2].partition("nobody can read")[0]


def test_variables_are_told_by_readable_names(told):
    """X4, X6"""
    assert "?theme is theme:Floods" in told
    assert "?byteSize < 3000000" in told
    assert "?_" not in told


def test_bad_document_is_told_where(told):
    assert "lost-and-found.ttl at line 12" in " ".join(told.split())


def test_crowd_is_counted_and_timed(told):
    assert "3,006" in told
    assert "µs" in told


def test_files_are_copied_without_code(play):
    assert (play / "themes.ttl").exists()
    assert not list(play.rglob("*.py"))


def test_existing_folder_is_not_overwritten(play, call):
    result = call("demo", "--files", play)
    assert result.exit_code == 2
    assert "exists already" in result.stderr


@pytest.mark.slow
def test_whole_story_with_a_hundred_thousand_is_over_in_forty_seconds():
    from time import perf_counter

    started = perf_counter()
    tell(Console(file=StringIO(), width=100))
    assert perf_counter() - started < 40


def test_crowd_is_in_the_normal_form_that_it_says_it_is_in():
    for _, pattern in crowd(300):
        assert normalize(Pattern(pattern.answer, pattern.branches)) == pattern
