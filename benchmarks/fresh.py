"""What a new process pays for its first match: `python -m benchmarks.fresh INDEX DOCUMENT` prints it as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time_ns


def main(index_path: str, document_path: str) -> None:
    """Import, load, match twice; the microseconds of processor time that each takes."""
    times = [process_time_ns()]
    from triplewire import Index
    from triplewire.model import Document

    document = Document("urn:first", Path(document_path).read_bytes())
    times.append(process_time_ns())
    index = Index.load(index_path)
    times.append(process_time_ns())
    index.match(document)
    times.append(process_time_ns())
    index.match(document)
    times.append(process_time_ns())
    names = ("import", "load", "first-match", "second-match")
    print(json.dumps({name: (times[i + 1] - times[i]) / 1e3 for i, name in enumerate(names)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
