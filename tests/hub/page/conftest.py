"""A browser and a town for the tests of the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from hub.page.browsers import HOW_TO_GET_IT, PATIENCE, SIZES, Visit, executable, launched, town


@pytest.fixture(scope="module")
def browser():
    """Of a module, because its event loop stands in the way of other tests."""
    if executable() is None:
        pytest.skip(HOW_TO_GET_IT)
    expect.set_options(timeout=PATIENCE)
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A service that the tests of a module share; what they change has names of its own."""
    with town(tmp_path_factory.mktemp("town")) as found:
        yield found


@pytest.fixture
def visit(browser, served):
    """A visitor of the page, to whom nothing strange must happen."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    found = Visit(context.new_page(), served.url)
    yield found
    assert found.complaints == []
    context.close()


@pytest.fixture(params=SIZES)
def person(browser, served, request):
    """A visitor at a dispatcher, and one with a phone in the hand, to whom nothing strange must happen."""
    width, height = SIZES[request.param]
    context = browser.new_context(viewport={"width": width, "height": height})
    found = Visit(context.new_page(), served.url, (width, height))
    yield found
    assert found.complaints == []
    context.close()
