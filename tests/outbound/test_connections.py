"""Connections: to the address that was checked, kept for the next request, bounded in time and size."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import asynccontextmanager

import pytest

from certificates import make_certificate, needs_openssl
from triplewire.outbound import PUBLIC, AddressRefused, Connections, Reach, Unreachable, addresses, connections

LOOPBACK = Reach.of("127.0.0.0/8")
FINE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@asynccontextmanager
async def server(*answers: bytes, ends: bool = False, context: ssl.SSLContext | None = None):
    """A server that says these one after the other, and closes the connection after each if it `ends`."""
    left, asked = list(answers), []

    async def serve(reader, writer):
        try:
            while left:
                asked.append((await reader.readuntil(b"\r\n\r\n"), writer.get_extra_info("peername")))
                writer.write(left.pop(0))
                await writer.drain()
                if ends:
                    break
            if not ends:
                await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    running = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        yield running.sockets[0].getsockname()[1], asked
    finally:
        running.close()


def run(coroutine):
    return asyncio.run(coroutine)


async def asking(port, times=1, *, scheme="http", host="127.0.0.1", **options):
    found = Connections(options.pop("reach", LOOPBACK), **({"seconds": 5.0} | options))
    try:
        return [await found.ask("GET", f"{scheme}://{host}:{port}/a?b=1", {}) for _ in range(times)]
    finally:
        await found.close()


def test_a_connection_is_used_again_and_says_whom_it_wants():
    async def test():
        async with server(FINE, FINE) as (port, asked):
            replies = await asking(port, 2, host="localhost")
            return port, asked, replies

    port, asked, replies = run(test())
    assert [reply.body for reply in replies] == [b"ok", b"ok"]
    assert asked[0][1] == asked[1][1]  # one connection
    assert asked[0][0].startswith(b"GET /a?b=1 HTTP/1.1\r\nHost: localhost:%d\r\n" % port)


def test_a_connection_that_the_server_closed_is_made_again():
    async def test():
        async with server(FINE, FINE, ends=True) as (port, asked):
            return await asking(port, 2), asked

    replies, asked = run(test())
    assert len(replies) == 2
    assert asked[0][1] != asked[1][1]


def test_of_a_long_answer_only_the_beginning_is_read():
    async def test():
        chunk = b"2000\r\n" + b"x" * 0x2000 + b"\r\n"
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        async with server(head + 100 * chunk) as (port, _):
            return await asking(port, most_bytes=10_000)

    (reply,) = run(test())
    assert reply.body == b"x" * 10_000


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"])
def test_an_answer_that_does_not_come_in_time_is_none(said):
    async def test():
        async with server(said) as (port, _):
            await asking(port, seconds=0.2)

    with pytest.raises(Unreachable, match="no answer within"):
        run(test())


@pytest.mark.parametrize("said", [b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000])
def test_what_is_no_answer_is_none(said):
    async def test():
        async with server(said, ends=True) as (port, _):
            await asking(port)

    with pytest.raises(Unreachable):
        run(test())


def test_nobody_is_connected_to_before_the_address_is_checked():
    async def test():
        async with server(FINE) as (port, asked):
            with pytest.raises(AddressRefused):
                await asking(port, reach=PUBLIC)
            return asked

    assert run(test()) == []


def test_a_name_that_means_another_address_later_is_checked_again(monkeypatch):
    """A kept connection is to the address that was checked; a new one is checked for itself."""
    places = iter(["127.0.0.1", "10.0.0.1"])

    async def test():
        async def lookup(host, port):
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(places), port))]

        async with server(FINE, FINE, ends=True) as (port, asked):
            monkeypatch.setattr(addresses, "looked_up", lookup)
            with pytest.raises(AddressRefused):
                await asking(port, 2, host="rebinding.example")
            return asked

    assert len(run(test())) == 1


@needs_openssl
def test_a_certificate_must_be_that_of_the_name(monkeypatch, tmp_path):
    file, key = make_certificate(tmp_path)
    own, trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cafile=str(file))
    own.load_cert_chain(file, key)
    monkeypatch.setattr(connections, "certificates", lambda: trusted)

    async def test(host):
        async with server(FINE, context=own) as (port, _):
            return await asking(port, scheme="https", host=host)

    assert run(test("localhost"))[0].status == 200
    with pytest.raises(Unreachable, match="certificate"):
        run(test("127.0.0.1"))
