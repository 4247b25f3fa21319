"""A running server for the tests of the service."""

import pytest

from hub.serving import serving


@pytest.fixture
def served(tmp_path):
    """A client of a server on a store of its own."""
    with serving(f"sqlite:///{tmp_path}/hub.db") as client:
        yield client
