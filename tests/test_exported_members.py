"""The public names: what is promised, and nothing by accident."""

import inspect

import triplewire
from triplewire import errors

PROMISED = {
    "Access",
    "BackboneHub",
    "Changed",
    "Document",
    "Edge",
    "Event",
    "Explanation",
    "Feed",
    "Finding",
    "Hub",
    "Index",
    "LANGUAGES",
    "Limits",
    "Match",
    "Matched",
    "Matches",
    "Outcome",
    "Pattern",
    "Publish",
    "Restrict",
    "Retract",
    "Schema",
    "Subscription",
    "Taxonomy",
    "Unmatched",
    "Unread",
    "Violation",
    "compile",
    "covers",
    "evaluate",
    "lint",
    "normalize",
    "parse",
    "render",
}
ERRORS = {
    name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, errors.TriplewireError)
}


def test_public_names_are_the_promised_ones():
    assert set(triplewire.__all__) == PROMISED | ERRORS


def test_every_public_name_exists_and_dir_lists_it():
    for name in triplewire.__all__:
        assert hasattr(triplewire, name), name
        assert name in dir(triplewire), name


def test_every_public_name_says_what_it_is():
    for name in triplewire.__all__:
        value = getattr(triplewire, name)
        if callable(value):
            assert inspect.getdoc(value), f"{name} has no docstring"


def test_every_public_method_says_what_it_does():
    for name in triplewire.__all__:
        value = getattr(triplewire, name)
        if inspect.isclass(value):
            for member, function in vars(value).items():
                if not member.startswith("_") and (callable(function) or isinstance(function, property)):
                    assert inspect.getdoc(function), f"{name}.{member} has no docstring"


def test_every_error_is_drawn_in_the_tree():
    """STYLE: one tree of errors, drawn at the top of its module."""
    for name in ERRORS:
        assert name in (errors.__doc__ or ""), name
