"""How hard tests look for an example that goes wrong: quick ones a little, slow ones (`./run test --slow`) much more.

`HISTORIES=10000 ./run test --slow` takes many hours.
"""

import os

from hypothesis import settings

MANY = int(os.environ.get("HISTORIES", "500"))
"""Random histories of each slow test of a network."""
EXPLORING = "exploring"
"""The profile of Hypothesis that `./run test --slow` asks for."""
_SHARE, _LEAST = 4, 10


def examples(thorough: int) -> int:
    """How many random examples a test tries, which tries this many when it explores: else a quarter of them."""
    if settings.get_current_profile_name() == EXPLORING:
        return thorough
    return min(thorough, max(_LEAST, thorough // _SHARE))
