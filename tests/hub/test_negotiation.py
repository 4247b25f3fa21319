"""Content negotiation by RFC 9110: the most exact range counts, then the quality, then the order of the offer."""

import pytest

from triplewire.errors import NotAcceptable
from triplewire.hub.negotiation import best

OFFERED = ("text/turtle", "application/n-triples", "application/ld+json")


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, "text/turtle"),
        ("", "text/turtle"),
        ("*/*", "text/turtle"),
        ("application/*", "application/n-triples"),
        ("application/ld+json", "application/ld+json"),
        ("Application/LD+JSON; profile=x", "application/ld+json"),
        ("text/turtle;q=0.2, application/ld+json;q=0.3", "application/ld+json"),
        ("*/*, text/turtle;q=0", "application/n-triples"),
        ("*/*;q=0.9, application/ld+json;q=0.1, text/turtle;q=0.1", "application/n-triples"),
        ("nonsense, application/ld+json", "application/ld+json"),
        ("text/turtle;q=x, */*;q=0.1", "application/n-triples"),
    ],
)
def test_the_client_gets_what_it_likes_best(accept, chosen):
    assert best(accept, OFFERED) == chosen


@pytest.mark.parametrize("accept", ["image/png", "*/*;q=0", "nonsense", "text/turtle;q=0"])
def test_the_client_that_likes_nothing_is_told_what_there_is(accept):
    with pytest.raises(NotAcceptable, match=r"text/turtle, application/n-triples, application/ld\+json"):
        best(accept, OFFERED)
