"""The benchmarks are beside the tests, not in the installed package."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
