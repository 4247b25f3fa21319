"""The url of a store, as people name one."""

from __future__ import annotations

from pathlib import Path

from triplewire.errors import StoreUnavailable

MEMORY = ":memory:"
_FILE = "sqlite:///"


def url_of(given: str | Path) -> str:
    """The url of a store; a path, or a text without a scheme, is a file's name.

    >>> url_of("hub.db"), url_of(Path("hub.db")), url_of("postgresql://me@host/hub")
    ('sqlite:///hub.db', 'sqlite:///hub.db', 'postgresql://me@host/hub')
    """
    text = str(given)
    if not text.strip():
        raise StoreUnavailable(
            "the name of the store is empty; name a file (hub.db) or a url (postgresql://user@host/name)"
        )
    if text.startswith(("http://", "https://")):
        raise StoreUnavailable(
            f"{text} is the address of a hub, and no store; over HTTP a hub is used with triplewire.client.Client"
        )
    return text if isinstance(given, str) and ("://" in text or text == MEMORY) else f"{_FILE}{text}"


def file_of(url: str) -> Path | None:
    """The file that a url names; None if it is none."""
    name = url.removeprefix(_FILE)
    return Path(name) if name != url and name else None
