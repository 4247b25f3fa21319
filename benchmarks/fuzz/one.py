"""`python -m benchmarks.fuzz.one TARGET FOLDER SECONDS`: one target, with atheris, until it fails or its time is over.

It ends in a failure at the first finding, which is then a file in the folder; `run` starts it again.
"""

from __future__ import annotations

import sys
from pathlib import Path

_INSTRUMENTED = ["triplewire.documents", "triplewire.languages", "triplewire.hub.calls", "triplewire.polling.opml"]
_LONGEST = 4096
_SLOWEST, _MEMORY = 10, 2048
"""Seconds for one input, and megabytes; what takes more is a finding."""


def main(name: str, folder: Path, seconds: int) -> None:
    """Fuzz; does not return."""
    import atheris

    with atheris.instrument_imports(include=_INSTRUMENTED):
        from benchmarks.fuzz.targets import TARGETS
    target = TARGETS[name]
    corpus, found = folder / "corpus" / name, folder / name
    for each in (corpus, found):
        each.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    limits = (f"-max_total_time={seconds}", f"-max_len={_LONGEST}", f"-timeout={_SLOWEST}", f"-rss_limit_mb={_MEMORY}")
    atheris.Setup([name, str(corpus), f"-artifact_prefix={found}/", "-verbosity=0", *limits], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
