"""What is kept by name: settings and images.

Settings are a few values, as JSON; names that begin with "store." are the store's own. Images are saved indexes, each
with the number of the last registry change that is in it; they are cut into parts, because both databases refuse a
value of a gigabyte.
"""

from __future__ import annotations

import json
from typing import Any

from triplewire.errors import StoreError
from triplewire.store import schema
from triplewire.store.sql import StorePart

_OWN = "store."
PART = 16 << 20


class SettingReader(StorePart):
    """Values by name."""

    def get(self, key: str, default: Any = None) -> Any:
        """The value, or the default when it was never set."""
        found = self._sql.first("SELECT value FROM settings WHERE key = ?", key)
        return json.loads(found[0]) if found else default


class SettingWriter(SettingReader):
    """Values by name, and changes of them."""

    def set(self, key: str, value: Any) -> None:
        """Keep a value under this name."""
        self._sql.replace(schema.settings, [(_given(key), json.dumps(value))])

    def remove(self, key: str) -> None:
        """Forget a value."""
        self._sql.delete(schema.settings, ("key",), [(_given(key),)])


def _given(key: str) -> str:
    if key.startswith(_OWN):
        raise StoreError(f"the setting {key!r} belongs to the store; choose a name that does not begin with {_OWN!r}")
    return key


class ImageReader(StorePart):
    """Images by name."""

    def load(self, name: str) -> tuple[int, bytes] | None:
        """The change number and the content, or None."""
        parts = self._sql.rows("SELECT number, content FROM images WHERE name = ? ORDER BY part", name)
        return (parts[0][0], b"".join([content for _, content in parts])) if parts else None

    def names(self) -> dict[str, int]:
        """The images that there are, with their change numbers."""
        return dict(self._sql.rows("SELECT name, number FROM images WHERE part = 0 ORDER BY name"))


class ImageWriter(ImageReader):
    """Images by name, and new ones."""

    def save(self, name: str, number: int, content: bytes) -> None:
        """Keep an image in the place of the one that had this name."""
        self.remove(name)
        starts = range(0, max(len(content), 1), PART)
        self._sql.insert(
            schema.images, [(name, part, number, content[at : at + PART]) for part, at in enumerate(starts)]
        )

    def remove(self, name: str) -> None:
        """Away with an image, if there is one."""
        self._sql.delete(schema.images, ("name",), [(name,)])
