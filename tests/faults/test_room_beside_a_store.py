"""The write-ahead log of a store that is a file does not outgrow the store."""

from __future__ import annotations

from pathlib import Path

from triplewire import Hub, Publish, parse


def test_write_ahead_log_stays_in_proportion_while_documents_are_published_again_and_again(tmp_path):
    path, most = Path(f"{tmp_path}/hub.db"), 0
    with Hub(f"sqlite:///{path}", durable=True) as hub:
        for version in range(120):
            texts = (f'<urn:s{n}> <urn:p> "{version}" , "{"x" * 100}{version}" .' for n in range(200))
            hub.apply(
                [
                    Publish(parse(text.encode(), uri=f"urn:doc:{n}", media_type="text/turtle"))
                    for n, text in enumerate(texts)
                ]
            )
            most = max(most, Path(f"{path}-wal").stat().st_size)
        size = path.stat().st_size
    assert most < max(16e6, size), (most, size)
    assert not Path(f"{path}-wal").exists(), "and it is gone when the last one has closed the store"
