"""`triplewire explain`."""

SUBSCRIPTIONS = ("-s", "subscriptions", "-t", "themes.ttl")


def test_explains_the_atoms_of_each_subscription(play, call):
    """X4, M5: what it is made of, and what is shared."""
    result = call("explain", "lene", *SUBSCRIPTIONS)
    assert result.exit_code == 0
    assert result.stdout.startswith("lene:")
    assert "theme Cycling  (shared with 1 others)  <- waits here" in result.stdout


def test_without_ids_all_are_explained(play, call):
    text = call("explain", *SUBSCRIPTIONS).stdout
    assert all(name in text for name in ("maja", "jonas", "ines", "omar", "lene", "tomas"))


def test_document_that_matches_is_explained_by_its_triples(play, call):
    """X4"""
    text = call("explain", "maja", *SUBSCRIPTIONS, "-d", "catalogue/bathing-water.ttl").stdout
    assert "catalogue/bathing-water.ttl matches maja" in text
    assert "?theme is theme:BathingWater" in text


def test_document_that_does_not_match_is_explained_by_what_fails(play, call):
    """X4"""
    text = call("explain", "ines", *SUBSCRIPTIONS, "-d", "catalogue/bus-timetables.ttl").stdout
    assert "catalogue/bus-timetables.ttl does not match ines" in text
    assert "mediaType" in text


def test_unknown_id_is_reported_with_those_that_there_are(play, call):
    result = call("explain", "nobody", *SUBSCRIPTIONS)
    assert result.exit_code == 1
    assert "maja" in result.stderr


def test_nothing_to_explain_is_a_usage_error(play, call):
    assert call("explain", "maja").exit_code == 2
