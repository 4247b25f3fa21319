"""A web server for tests: real HTTP on 127.0.0.1, with answers that a test writes, and the requests it got."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """What a server says: a function for each path, and the requests so far, as (path, headers)."""

    port: int
    pages: dict[str, Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    open_now: int = 0
    most_open: int = 0

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def put(self, path: str, body: str | bytes = b"", status: int = 200, **headers: str) -> None:
        """Answer a path with this; `_` in the name of a header is `-`. If-None-Match with the same ETag gives 304."""
        raw = body.encode() if isinstance(body, str) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}

        def answer(request: BaseHTTPRequestHandler) -> None:
            is_same = "ETag" in named and request.headers.get("If-None-Match") == named["ETag"]
            request.send_response(304 if is_same else status)
            for name, value in named.items():
                request.send_header(name, value)
            request.send_header("Content-Length", "0" if is_same else str(len(raw)))
            request.end_headers()
            if not is_same:
                request.wfile.write(raw)

        self.pages[path] = answer


@contextmanager
def serving(certificate: ssl.SSLContext | None = None) -> Iterator[Site]:
    """A server on a free port, stopped at the end; with a certificate, one for HTTPS."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append((self.path, dict(self.headers)))
            site.open_now += 1
            site.most_open = max(site.most_open, site.open_now)
            try:
                page = site.pages.get(self.path)
                self.send_error(404) if page is None else page(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                site.open_now -= 1

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: object) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    if certificate is not None:
        server.socket = certificate.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    site = Site(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
