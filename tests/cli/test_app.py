"""The command as a whole: help, version, and small parts that several commands use."""

from io import StringIO

import pytest
from rich.console import Console

from triplewire.cli.problems import Problems
from triplewire.cli.progress import tracked
from triplewire.cli.terms import short

COMMANDS = ["match", "compile", "explain", "lint", "languages", "demo"]


def test_version_is_that_of_the_package(call):
    from importlib.metadata import version

    assert call("--version").stdout.strip() == f"triplewire {version('triplewire')}"


def test_help_lists_every_command_and_where_to_start(call):
    text = call("--help").stdout
    assert all(name in text for name in COMMANDS)
    assert "triplewire demo --files play" in text


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "languages"])
def test_help_of_each_command_has_examples_on_lines_of_their_own(call, command):
    lines = [line.strip(" │") for line in call(command, "--help").stdout.splitlines()]
    assert any(line.startswith(f"triplewire {command}") for line in lines)


def test_unknown_command_is_a_usage_error(call):
    assert call("mach").exit_code == 2


def test_languages_lists_all_with_an_example_that_compiles(call):
    from triplewire.cli.commands.languages import EXAMPLES
    from triplewire.languages import LANGUAGES, compile

    text = call("languages").stdout
    assert [example.language for example in EXAMPLES] == list(LANGUAGES)
    for example in EXAMPLES:
        assert example.text in text
        compile(example.text, language=example.language, prefixes={"dcterms": "http://purl.org/dc/terms/"})


def test_narrower_namespace_wins_when_a_term_is_shortened():
    prefixes = {"a": "urn:x:", "b": "urn:x:y:"}
    assert short('<urn:x:y:z> <urn:x:w> "t"', prefixes) == 'b:z a:w "t"'


def test_name_that_would_not_be_readable_stays_an_iri():
    assert short("<urn:x:y/z#w>", {"a": "urn:x:"}) == "<urn:x:y/z#w>"


def shown(terminal, patience):
    console = Console(file=StringIO(), force_terminal=terminal, width=80)
    assert list(tracked(range(3), "matching", console, patience=patience)) == [0, 1, 2]
    return console.file.getvalue()


def test_progress_bar_appears_when_it_takes_long_on_a_terminal():
    assert "matching" in shown(terminal=True, patience=-1)


def test_no_progress_bar_when_it_is_quick_or_there_is_no_terminal():
    assert shown(terminal=True, patience=60) == ""
    assert shown(terminal=False, patience=-1) == ""


def test_problem_is_not_named_twice():
    console = Console(file=StringIO(), width=80)
    problems = Problems(console)
    problems.report("a.ttl", "file:///a.ttl at line 1: no")
    problems.report("b.ttl", "no")
    assert console.file.getvalue().splitlines() == ["problem: file:///a.ttl at line 1: no", "problem: b.ttl: no"]
    assert problems.exit_code == 1
