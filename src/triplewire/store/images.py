"""Images: saved indexes, each with the number of the last registry change that is in it.

An image is cut into parts, because both databases refuse a value of a gigabyte.
"""

from __future__ import annotations

from triplewire.store import schema
from triplewire.store.sql import StorePart

PART = 16 << 20


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
