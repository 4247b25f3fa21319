"""A hub that is asked over loopback, behind a relay that holds back every byte for half of a way there and back."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue

from triplewire import Hub

_AT_ONCE = 65_536


@contextmanager
def far_away(hub: Hub, delay: float) -> Iterator[FarHub]:
    """A hub that answers queries over HTTP, `delay` seconds there and back, on one connection that stays open."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _answering(hub))
    relay = _Relay(server.server_address[1], delay / 2)
    threads = [threading.Thread(target=each, daemon=True) for each in (server.serve_forever, relay.serve)]
    for thread in threads:
        thread.start()
    connection = socket.create_connection(("127.0.0.1", relay.port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        yield FarHub(connection)
    finally:
        connection.close()
        relay.close()
        server.shutdown()
        server.server_close()


class FarHub:
    """The client of such a hub."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._answers = connection, connection.makefile("rb")

    def query(self, text: str) -> list[object]:
        """The rows of an answer."""
        body = text.encode()
        head = f"POST / HTTP/1.1\r\nHost: far\r\nContent-Length: {len(body)}\r\n\r\n"
        self._connection.sendall(head.encode() + body)
        length = 0
        while (line := self._answers.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        found: list[object] = json.loads(self._answers.read(length))
        return found


def _answering(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            rows = [[str(value) for value in row] for row in hub.query(text)]
            body = json.dumps(rows).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
            self.wfile.write(head.encode() + body)

        def log_message(self, *_: object) -> None:
            pass

    return Answering


class _Relay:
    """Carries bytes of one connection both ways, each so many seconds later than they came."""

    def __init__(self, target: int, delay: float) -> None:
        self._target, self._delay = target, delay
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        self._ends: list[socket.socket] = []

    def serve(self) -> None:
        with suppress(OSError):
            near, _ = self._door.accept()
            far = socket.create_connection(("127.0.0.1", self._target))
            self._ends = [near, far]
            for end in self._ends:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for one, other in ((near, far), (far, near)):
                waiting: SimpleQueue[tuple[float, bytes]] = SimpleQueue()
                threading.Thread(target=self._take, args=(one, waiting), daemon=True).start()
                threading.Thread(target=self._give, args=(other, waiting), daemon=True).start()

    def _take(self, end: socket.socket, waiting: SimpleQueue[tuple[float, bytes]]) -> None:
        content = b"-"
        while content:
            content = b""
            with suppress(OSError):
                content = end.recv(_AT_ONCE)
            waiting.put((time.perf_counter() + self._delay, content))

    def _give(self, end: socket.socket, waiting: SimpleQueue[tuple[float, bytes]]) -> None:
        while True:
            due, content = waiting.get()
            time.sleep(max(0.0, due - time.perf_counter()))
            if not content:
                return
            with suppress(OSError):
                end.sendall(content)

    def close(self) -> None:
        for each in (self._door, *self._ends):
            each.close()
