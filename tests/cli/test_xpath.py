"""XML documents and XPath subscriptions on the command line."""

import json

import pytest

MENU = "<menu><softdrinks><brand>Lemon</brand> <price>{}</price></softdrinks></menu>"


@pytest.fixture
def menus(tmp_path, monkeypatch):
    """A folder with a menu and two subscriptions, as the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "monday.xml").write_text(MENU.format("2.90"))
    (tmp_path / "maja.xpath").write_text("/menu/softdrinks[price > 1.80]\n")
    (tmp_path / "dear.xpath").write_text("//softdrinks[price > 5]\n")
    return tmp_path


def test_match_prints_the_place_and_the_text_of_each_hit(menus, call_for_rows):
    (row,) = call_for_rows("match", "monday.xml", "-s", ".", "--why")
    assert row["subscription"] == "maja"
    assert (row["row"]["node"], row["row"]["text"]) == ('"/menu/softdrinks"', '"Lemon 2.90"')
    assert row["why"] == ["/menu/softdrinks[price > 1.8]"]


def test_explain_names_the_step_that_fails(menus, call):
    text = call("explain", "-s", ".", "-d", "monday.xml").stdout
    assert "monday.xml matches maja" in text
    assert "monday.xml does not match dear" in text
    assert '/menu/softdrinks/price = "2.90"' in text


def test_compile_shows_the_normal_form(menus, call):
    assert "xpath     /menu/softdrinks[price > 1.8]" in call("compile", "maja.xpath").stdout
    told = json.loads(call("compile", "maja.xpath", "--format", "json").stdout)
    assert told == {"answer": ["document", "node", "text"], "xpath": "/menu/softdrinks[price > 1.8]", "namespaces": {}}
    assert call("compile", "maja.xpath", "--to", "gql").exit_code == 1


def test_lint_finds_nothing_wrong_with_them(menus, call):
    result = call("lint", ".")
    assert (result.exit_code, result.stdout) == (0, "")


def test_a_hub_takes_both(menus, call, call_for_rows):
    assert call("subscribe", "hub.db", "maja.xpath").stdout == "maja\n"
    assert [event["kind"] for event in call_for_rows("publish", "hub.db", "monday.xml")] == ["matched"]
    (menus / "monday.xml").write_text(MENU.format("1.10"))
    assert [event["kind"] for event in call_for_rows("publish", "hub.db", "monday.xml")] == ["unmatched"]
