"""Long lines, headers, names and streams: each is read once, in about linear time, or refused."""

import asyncio
import gzip
import threading
import time
from time import process_time
from types import SimpleNamespace

import pytest

from triplewire.deliver.inboxes import INBOX, linked
from triplewire.deliver.lanes import Lanes
from triplewire.hub.bodies import OpenBodies, lines_of
from triplewire.outbound import lookups
from triplewire.pipeline.compression import decompressed
from triplewire.polling import fetching


@pytest.mark.parametrize("header", ["<" * 40_000, "<a>" + ";a=" * 20_000, '<a>;rel="' * 10_000, "<a>; " + " " * 40_000])
def test_link_header_is_read_in_linear_time(header):
    began = process_time()
    assert linked(header, "https://a.example/") is None
    assert process_time() - began < 0.2


def test_inbox_among_broken_links_is_found():
    assert linked(f'<<<x>, <in>; rel="{INBOX}"', "https://a.example/") == "https://a.example/in"


class _Request:
    def __init__(self, parts):
        self._parts, self.headers = parts, {}
        self.app = SimpleNamespace(state=SimpleNamespace(service=SimpleNamespace(arrivals=OpenBodies())))

    async def stream(self):
        for part in self._parts:
            yield part


def lines(parts, longest=1 << 30):
    async def read():
        return [each async for each in lines_of(_Request(parts), most=1 << 30, longest=longest, seconds=60)]

    return asyncio.run(read())


def test_long_line_in_many_parts_takes_linear_time():
    began = process_time()
    ((number, line),) = lines([b"x" * 400] * 50_000)
    assert (number, len(line)) == (1, 20_000_000)
    assert process_time() - began < 4


def test_lines_are_the_same_however_they_are_cut():
    text = b"one\n\ntwo\r\nthree"
    whole = [(1, b"one"), (2, b""), (3, b"two\r"), (4, b"three")]
    assert lines([text]) == lines([text[n : n + 1] for n in range(len(text))]) == whole


def test_what_follows_the_end_of_a_packed_answer_is_not_kept():
    read = []

    async def raw():
        yield gzip.compress(b"<rss/>")
        for _ in range(1_000):
            read.append(1)
            yield b"x" * 65_536

    response = SimpleNamespace(headers={"content-encoding": "gzip"}, aiter_raw=raw)
    assert asyncio.run(fetching._body(response, 16 << 20)) == b"<rss/>"
    assert read == []


def test_packed_answer_that_never_says_anything_is_refused():
    async def raw():
        yield gzip.compress(b"")[:10]
        while True:
            yield b"\x00\x00\x00\xff\xff" * 10_000  # empty blocks

    response = SimpleNamespace(headers={"content-encoding": "gzip"}, aiter_raw=raw)
    with pytest.raises(fetching._Unusable, match="longer"):
        asyncio.run(fetching._body(response, 1 << 20))


def test_file_of_many_empty_packed_parts_is_refused_soon():
    packed = gzip.compress(b"") * 200_000
    began = process_time()
    assert "parts" in (decompressed(packed, "urn:a.nt.gz", 16 << 20).problem or "")
    assert process_time() - began < 5


def test_slow_names_leave_the_threads_of_the_loop_alone(monkeypatch):
    """Many lookups that hang, and what needs a thread is done at once."""
    done = threading.Event()
    monkeypatch.setattr(lookups.socket, "getaddrinfo", lambda *_, **__: done.wait(30))

    async def test():
        hanging = [asyncio.create_task(lookups.looked_up(f"{n}.slow.example", 80)) for n in range(100)]
        await asyncio.sleep(0.1)
        began = time.monotonic()
        await asyncio.to_thread(int)
        took = time.monotonic() - began
        done.set()
        await asyncio.gather(*hanging)
        return took

    assert asyncio.run(test()) < 5


def test_deliveries_of_one_account_leave_places_for_others():
    async def test():
        lanes, stuck = Lanes(overall=8, per_host=4), asyncio.Event()

        async def hang(host):
            async with lanes.turn(host, account="slow", is_suspect=False):
                await stuck.wait()

        hanging = [asyncio.create_task(hang(f"{n}.example")) for n in range(50)]
        await asyncio.sleep(0.05)
        async with asyncio.timeout(5), lanes.turn("good.example", account="other", is_suspect=False):
            pass
        stuck.set()
        await asyncio.gather(*hanging)

    asyncio.run(test())
