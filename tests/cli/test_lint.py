"""`triplewire lint`."""

import json


def test_sound_subscriptions_give_no_error(play, call):
    assert call("lint", "subscriptions/jonas.rules", "subscriptions/ines.gql", "-t", "themes.ttl").exit_code == 0


def test_subscription_that_can_never_match_is_an_error(play, call):
    """X6"""
    result = call("lint", "broken/viktor.rq")
    assert result.exit_code == 1
    assert "viktor" in result.stdout
    assert "never" in result.stdout
    assert "?byteSize < 3000000" in result.stdout


def test_subscription_that_another_covers_is_named_with_it(play, call):
    """X6, P5"""
    (play / "wide.cq").write_text("?d : (?d, dcat:keyword, ?k)")
    (play / "narrow.cq").write_text('?d : (?d, dcat:keyword, ?k) ^ (?d, dcat:keyword, "bus")')
    result = call("lint", "wide.cq", "narrow.cq")
    assert result.exit_code == 0
    assert "narrow" in result.stdout
    assert "wide" in result.stdout


def test_findings_as_json_lines(play, call):
    result = call("lint", "broken/viktor.rq", "--format", "jsonl")
    findings = [json.loads(line) for line in result.stdout.splitlines()]
    assert findings[0]["subscription"] == "viktor"
    assert findings[0]["severity"] == "error"


def test_subscription_that_does_not_compile_is_a_problem(play, call):
    (play / "zoe.rq").write_text("SELECT")
    result = call("lint", "zoe.rq")
    assert result.exit_code == 1
    assert "zoe.rq" in result.stderr
