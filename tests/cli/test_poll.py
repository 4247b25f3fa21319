"""`triplewire poll`: feeds followed from the command line, over real HTTP."""

import json
import signal

import pytest
from lxml import etree

from hub.processes import command
from polling.server import serving

QUERY = "SELECT ?i { ?i a <http://purl.org/rss/1.0/item> }"


def rss(*guids):
    inside = "".join(f"<item><guid>urn:{guid}</guid><title>{guid}</title></item>" for guid in guids)
    return f'<rss version="2.0"><channel><title>News</title>{inside}</channel></rss>'


@pytest.fixture
def site():
    with serving() as found:
        found.put("/feed", rss(1), ETag='"1"')
        yield found


@pytest.fixture
def folder(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    call("subscribe", "hub.db", "-l", "sparql", QUERY, "--id", "items")
    return tmp_path


def test_a_feed_is_asked_once_and_its_events_are_printed(folder, site, call):
    result = call("poll", "hub.db", site.url("/feed"), "--once", "--allow-private")
    assert result.exit_code == 0, result.stderr
    assert [json.loads(line)["row"]["i"] for line in result.stdout.splitlines()] == ["<urn:1>"]
    assert "1 question: 1 event" in result.stderr
    again = call("poll", "hub.db", "--once", "--allow-private")
    assert "0 questions" in again.stderr, "it is not due yet"
    assert len(site.requests) == 1


def test_feed_that_is_not_due_says_until_when_and_is_asked_at_once_with_now(folder, site, call):
    site.put("/feed", "this is no feed")
    failed = call("poll", "hub.db", site.url("/feed"), "--once", "--allow-private")
    assert failed.exit_code == 1
    site.put("/feed", rss(1))
    waiting = call("poll", "hub.db", "--once", "--allow-private")
    assert "not due until 2" in waiting.stderr
    assert f"UTC: {site.url('/feed')}, because of what was wrong 1 time" in waiting.stderr
    assert "--now asks at once" in waiting.stderr
    assert len(site.requests) == 1
    at_once = call("poll", "hub.db", "--once", "--now", "--allow-private")
    assert "1 question: 1 event" in at_once.stderr
    assert "not due" not in at_once.stderr


def test_feed_that_was_gone_is_asked_again_with_now(folder, site, call):
    site.put("/feed", "", status=410)
    call("poll", "hub.db", site.url("/feed"), "--once", "--allow-private")
    assert "gone for good; --now asks again" in call("poll", "hub.db", "--once").stderr
    site.put("/feed", rss(1))
    assert "1 event" in call("poll", "hub.db", "--once", "--now", "--allow-private").stderr


def test_a_private_machine_is_asked_only_if_it_is_allowed(folder, site, call):
    result = call("poll", "hub.db", site.url("/feed"), "--once")
    assert result.exit_code == 1
    assert "--allow-private" in result.stderr
    assert site.requests == []


def test_lists_go_in_and_out_as_opml(folder, site, call):
    (folder / "feeds.opml").write_text(
        f'<opml version="2.0"><body><outline text="A" xmlUrl="{site.url("/feed")}"/>'
        '<outline text="B" xmlUrl="file:///etc/passwd"/></body></opml>'
    )
    result = call("poll", "hub.db", "--opml", "feeds.opml", "--export-opml")
    assert result.exit_code == 1, "one of them is not of the web"
    assert "file:///etc/passwd" in result.stderr
    outlines = etree.fromstring(result.stdout.encode()).findall("body/outline")
    assert [(outline.get("text"), outline.get("xmlUrl")) for outline in outlines] == [("A", site.url("/feed"))]
    assert site.requests == [], "to print the list asks nobody"
    call("poll", "hub.db", "--remove", site.url("/feed"), "--export-opml")
    assert call("poll", "hub.db", "--once").exit_code == 2, "no feeds are followed any more"


@pytest.mark.parametrize(
    "arguments", [["--every", "often"], ["--every", "0s"], ["--every", "30d"], ["--opml", "none.opml"], []]
)
def test_what_makes_no_sense_is_a_usage_error(folder, call, arguments):
    assert call("poll", "hub.db", "--once", *arguments).exit_code == 2


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_it_goes_on_until_it_is_interrupted(folder, site, sent):
    often = ("--every", "0.2s", "--pause", "0", "--json")
    with command("poll", "hub.db", site.url("/feed"), "--allow-private", *often) as process:
        try:
            assert json.loads(process.stdout.readline())["row"]["i"] == "<urn:1>"
            site.put("/feed", rss(2, 1), ETag='"2"')
            assert json.loads(process.stdout.readline())["row"]["i"] == "<urn:2>"
            process.send_signal(sent)
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
