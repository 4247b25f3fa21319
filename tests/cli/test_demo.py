"""The story that `./run demo` tells."""

from functools import partial
from io import StringIO
from itertools import pairwise

import pytest
from rich.console import Console

from triplewire import Pattern, PipelineError, normalize
from triplewire.demo import story, stream
from triplewire.demo.chapters import CHAPTERS, STORY, Chapter, tell
from triplewire.demo.crowd import crowd
from triplewire.pipeline.java import HOW_TO_GET_IT


@pytest.fixture(scope="module")
def told():
    """All chapters as they read without a terminal and without a Java, with a smaller crowd so that it is quick."""
    console = Console(file=StringIO(), width=100)
    small = Chapter(STORY.name, STORY.about, partial(story.tell, size_of_crowd=3000))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "_begin", _no_java)
        tell([small, *CHAPTERS[1:]], console)
    return console.file.getvalue()


def _no_java(*_, **__):
    raise PipelineError(HOW_TO_GET_IT)


def test_story_has_every_scene_in_order(told):
    headings = [line for line in told.splitlines() if line[:1].isdigit() and "---" in line]
    assert [heading.split(".")[0] for heading in headings] == [str(n) for n in range(1, 27)]


def test_story_ends_well_without_a_java(told):
    chapter = " ".join(told.partition("Documents arrive as files")[2].split())
    assert "Spark needs Java 17 or newer" in chapter
    assert "this chapter is for another day" in chapter
    assert "Your turn" in chapter


def test_story_is_readable_without_a_terminal(told):
    assert "\x1b" not in told
    assert max(map(len, told.splitlines())) <= 100


def test_subscribers_hear_of_what_they_asked_for(told):
    lines = {line.split()[0]: line for line in told.splitlines() if line.split()}
    assert "maja" in lines["bathing-water"]
    assert "jonas" in lines["budget-2025"]
    assert "ines, lene, tomas" in lines["cycle-counts"]
    assert "(nobody)" in lines["school-places"]


def test_harbour_answers_while_the_cable_is_cut(told):
    """M8"""
    chapter = " ".join(told.partition("A storm cuts the cable")[2].split())
    assert "Piet has the night shift" in chapter
    assert "the link: the cable to the town is cut" in chapter
    assert "What is left at the harbour is its own: urn:harbour:notes" in chapter


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


def scene(told, title):
    """What is told under a heading."""
    return told.partition(f". {title} ")[2].partition(" ---")[0]


def test_hub_tells_the_three_kinds_of_events(told):
    """M4, M6: publishing, updating and withdrawing documents of the catalogue."""
    assert "matched   dataset:parking" in scene(told, "The town keeps a hub")
    assert "changed   dataset:parking" in scene(told, "The row stays, and what it is about has changed")
    withdrawal = scene(told, "What matched does not match any more")
    assert "unmatched   dataset:bathing-water" in withdrawal
    assert "unmatched   dataset:flood-warnings" in withdrawal


def test_answer_across_documents_says_which_document_states_what(told):
    """X2, X4"""
    answer = scene(told, "Two documents, one answer")
    assert "in bathing-water.ttl (version 1)" in answer
    assert "in offices.ttl (version 1)" in answer


def test_change_is_told_with_before_and_after(told):
    """X4"""
    change = scene(told, "The row stays, and what it is about has changed")
    assert '- file:parking.csv dcat:byteSize "3120"^^xsd:integer' in change
    assert '+ file:parking.csv dcat:byteSize "4480"^^xsd:integer' in change
    assert "causes no events" in " ".join(change.split())


def test_silence_is_explained_across_documents(told):
    """X4"""
    silence = scene(told, "Why does Nora not hear of the floods any more?")
    assert "no triple matches `?office foaf:mbox ?mailbox`" in silence


def test_preview_promises_what_the_subscription_then_gets(told):
    """X5"""
    latecomer = scene(told, "Look before you subscribe")
    assert "answers now: 3" in latecomer
    assert latecomer.count("ida   matched") == 3


def test_change_of_the_taxonomy_makes_rows_appear_and_disappear(told):
    """X3"""
    themes = scene(told, "The council moves two themes")
    assert "maja   unmatched   dataset:flood-warnings" in themes
    assert "ida    matched     dataset:tree-register" in themes


def test_restarted_hub_goes_on_where_it_was(told):
    restart = scene(told, "Closed for the night, and opened again")
    assert "ines   changed" in restart
    assert "rows before and after it: the same" in restart
    assert "every row on record is what its query means" in restart


def test_no_scene_of_the_hub_is_longer_than_a_screen(told):
    lines = told.splitlines()
    starts = [place for place, line in enumerate(lines) if line[:1].isdigit() and "---" in line]
    lengths = [after - before for before, after in pairwise(starts)]
    assert max(lengths[10:]) <= 32


def test_every_chapter_can_be_told_alone(call, monkeypatch):
    monkeypatch.setattr(stream, "_begin", _no_java)
    for chapter in CHAPTERS[1:]:
        told = call("demo", "--chapter", chapter.name)
        assert told.exit_code == 0
        assert "1. " in told.stdout
        others = told.stdout.partition("There is more to tell")[2]
        assert [f"{one.name} " in others for one in CHAPTERS] == [one is not chapter for one in CHAPTERS]


def test_unknown_chapter_is_a_usage_error_that_names_those_there_are(call):
    told = call("demo", "--chapter", "kafka")
    assert told.exit_code == 2
    assert all(chapter.name in told.stderr for chapter in CHAPTERS)


def test_help_names_every_chapter(call):
    told = call("demo", "--help").stdout
    assert all(chapter.name in told for chapter in CHAPTERS)


def test_files_are_copied_without_code(play):
    assert (play / "themes.ttl").exists()
    assert not list(play.rglob("*.py"))


def test_existing_folder_is_not_overwritten(play, call):
    result = call("demo", "--files", play)
    assert result.exit_code == 2
    assert "exists already" in result.stderr


@pytest.mark.slow
def test_story_is_the_same_among_a_hundred_thousand(told, monkeypatch):
    """With the crowd that `./run demo` has, those whom the story is about hear the same."""
    monkeypatch.setattr(story, "PATIENCE", 600.0)  # on a busy machine, all of them are waited for
    console = Console(file=StringIO(), width=100)
    tell(console=console)
    whole = console.file.getvalue()
    assert "100,000" in whole
    assert _heard(whole) == _heard(told)


def _heard(story: str) -> list[str]:
    """The lines that say who hears of a document."""
    names = ("bathing-water", "budget-2025", "cycle-counts", "school-places")
    return [line for line in story.splitlines() if line.split()[:1] and line.split()[0] in names]


def test_crowd_is_in_the_normal_form_that_it_says_it_is_in():
    for _, pattern in crowd(300):
        assert normalize(Pattern(pattern.answer, pattern.branches)) == pattern


def test_a_feed_is_a_document_and_what_leaves_its_window_stays(told):
    """G4"""
    later = scene(told, "A week later")
    assert 'sofie   changed   "Ferry late again"' in later
    assert "unmatched" not in later
    assert "Sofie still has 3 rows" in later
    assert "<title>New crane for the east quay</title>" in later


def test_story_asks_a_menu_in_xpath(told):
    menu = told.partition("The café writes XML")[2].partition("Closed for the night")[0]
    assert "/menu/softdrinks[price > 1.80]/name" in menu
    assert [line.split()[1] for line in menu.splitlines() if line.split()[:1] == ["emil"]] == [
        "matched",
        "unmatched",
        "matched",
    ]
