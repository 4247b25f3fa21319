"""Characters that a text may have and XML has no way to write, not even as a reference."""

from __future__ import annotations

import re

NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What is outside of `Char` in XML 1.0 (2.2)."""
