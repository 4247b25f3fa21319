"""The tree of errors: drawn as it is, and able to cross process borders."""

from __future__ import annotations

import pickle
import re

import pytest

from triplewire import errors

EXAMPLES = [
    errors.DocumentError("bad", uri="urn:d", line=3, column=4),
    errors.DocumentTooLarge("too large", uri="urn:d"),
    errors.QueryError("bad", language="gql"),
    errors.QuerySyntaxError("bad", language="gql", line=1, column=2, expected=("a name",), hint="Write one"),
    errors.UnsupportedQuery("not served", language="sparql", line=1, column=2),
    errors.PatternError("bad"),
    errors.TaxonomyError("a cycle", cycle=("a", "b", "a")),
    errors.SchemaError("strong and weak"),
    errors.SubscriptionError("failed", subscription="s"),
    errors.UnknownSubscription("s"),
    errors.DuplicateSubscription("s"),
    errors.SubscriptionChanged("s"),
    errors.UnknownRow("not an answer", subscription="s"),
    errors.MatchLimitExceeded("too many", subscription="s"),
    errors.AccessDenied("urn:d", by="bob"),
    errors.SchemaViolation(["no type", "no name"], uri="urn:d"),
    errors.IndexFileError("damaged"),
    errors.NetworkError("another version"),
    errors.ChannelRefused("it says that it is another hub"),
    errors.LinkFull("b", 100),
    errors.UnitFull("the network", 32),
    errors.HomeAway("town", "cut", uri="urn:d"),
    errors.SeveralHomes(["hill", "town"]),
    errors.PipelineError("no Java"),
    errors.StoreError("anything"),
    errors.StoreUnavailable("no server"),
    errors.NotAStore("a diary"),
    errors.NewerStore("hub.db", found=3, known=2),
    errors.DamagedStore("torn"),
    errors.DamagedJournal("hub.db.journal", ["position 7 (urn:a)"]),
    errors.StoreBusy("hub.db", 60.0),
    errors.ServiceError("anything"),
    errors.BadRequest("no uri"),
    errors.UnknownDocument("urn:d", version=3),
    errors.UnknownDelivery("d-1"),
    errors.UnknownFeed(),
    errors.TargetRefused("not there"),
    errors.SecretLocked("no key"),
    errors.NotAcceptable("image/png", ["text/turtle"]),
    errors.UnsupportedMediaType("image/png"),
    errors.VersionConflict("urn:d"),
    errors.KeyReused("monday"),
    errors.RequestTooLarge("too large"),
    errors.RequestTooSlow("too slow"),
    errors.QueryLimitExceeded("too long"),
    errors.NotAuthenticated("no token"),
    errors.NotAllowed("a reader"),
    errors.QuotaExceeded("documents", 10),
    errors.QueryTooCostly(20_000, 10_000, dearest="?d a ?c", triples=9_999),
    errors.QuotaSpent("events", 1_000, "a day", 90.0, meanwhile="reading goes on"),
    errors.TooManyRequests(100, 0.5),
    errors.ServiceUnavailable("stopping"),
    errors.TriplewireError("anything"),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_with_its_data(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_the_drawn_tree_is_the_tree():
    drawn, path = {}, []
    for line in errors.__doc__.splitlines():
        match = re.match(r"^    ([│├└─ ]*)(\w+)(?:  .*)?$", line)
        if match and hasattr(errors, match[2]):
            depth = len(match[1]) // 4
            path[depth:] = [match[2]]
            drawn[match[2]] = path[depth - 1] if depth else "Exception"
    classes = {c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.TriplewireError)}
    assert drawn == {c.__name__: c.__bases__[0].__name__ for c in classes}
    assert {type(error) for error in EXAMPLES} == classes


def test_a_query_error_says_where_what_was_expected_and_what_to_do():
    text = str(EXAMPLES[3])
    assert text == "gql at line 1, column 2: bad; expected a name. Write one"
