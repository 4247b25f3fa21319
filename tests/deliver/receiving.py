"""A receiver for tests: real HTTP on loopback, with answers that a test writes, and the requests that it got."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Got:
    """A request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Says:
    """An answer: after `wait` is set, if there is one."""

    status: int = 204
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    wait: threading.Event | None = None


@dataclass
class Receiver:
    """What a server got, and what it says: a function from a request to an answer, for each path; 204 without one."""

    port: int
    got: list[Got] = field(default_factory=list)
    says: dict[str, Callable[[Got], Says]] = field(default_factory=dict)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def url(self, path: str = "/hook", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def posts(self, path: str = "/hook") -> list[Got]:
        with self.changed:
            return [got for got in self.got if got.method == "POST" and got.path == path]

    def wait_for(self, is_enough: Callable[[], Any], seconds: float = 30.0) -> Any:
        """Wait until enough has come; fails if it never does."""
        with self.changed:
            assert self.changed.wait_for(is_enough, seconds), f"only these came: {[g.path for g in self.got]}"
        return is_enough()

    def wait_for_posts(self, count: int, path: str = "/hook") -> list[Got]:
        return self.wait_for(lambda: len(self.posts(path)) >= count) and self.posts(path)


@contextmanager
def receiving(host: str = "127.0.0.1") -> Iterator[Receiver]:
    """A receiver on a free port of all loopback addresses, stopped at the end."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(length)
            if len(body) < length:  # whoever sent this was killed meanwhile
                self.close_connection = True
                return
            got = Got(self.command, self.path, headers, body)
            say = receiver.says.get(self.path.partition("?")[0], lambda _: Says())
            says = say(got)
            with receiver.changed:
                receiver.got.append(got)
                receiver.changed.notify_all()
            if says.wait is not None:
                says.wait.wait(60)
            try:
                self.send_response(says.status)
                for name, value in says.headers.items():
                    self.send_header(name, value)
                if says.status != 204:
                    self.send_header("Content-Length", str(len(says.body)))
                self.end_headers()
                self.wfile.write(says.body)
            except OSError:
                self.close_connection = True

        do_GET = do_POST = do_HEAD = answer

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 128

        def handle_error(self, *_: object) -> None:
            pass

    server = Server((host, 0), Handler)
    receiver = Receiver(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def eventually(check: Callable[[], Any], seconds: float = 30.0) -> Any:
    """What a check gives once it gives something true; fails if it never does."""
    ends = time.monotonic() + seconds
    while True:
        found = check()
        if found:
            return found
        assert time.monotonic() < ends, "this did not happen in time"
        time.sleep(0.01)
