"""Settings: a few named values, as JSON. Names that begin with "store." are the store's own."""

from __future__ import annotations

import json
from typing import Any

from triplewire.errors import StoreError
from triplewire.store import schema
from triplewire.store.sql import StorePart

_OWN = "store."


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
