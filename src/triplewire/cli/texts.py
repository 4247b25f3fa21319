"""Texts and JSON from files, with errors that say what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_text(path: Path) -> str:
    """The text of a file; raises OSError, or ValueError if it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8; save the file as UTF-8 and try again") from None


def parse_json(text: str) -> Any:
    """What a JSON text says; raises ValueError, also for what is nested too deeply or could not be printed again."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("an escape such as \\ud800 is half of a surrogate pair, not text; write both halves") from None
    except RecursionError:
        raise ValueError("not JSON that can be read: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    return value
