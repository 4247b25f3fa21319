"""A receiver of web hooks that goes away and comes back, and remembers what it got."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """Counts each event by the id of its message; `lags` are the seconds from its commit to its first arrival."""

    def __init__(self) -> None:
        self.got: Counter[str] = Counter()
        self.order: dict[str, list[int]] = {}
        self.lags: dict[str, float] = {}
        self._turn = threading.Lock()
        self._server = self._new(0)
        self.port: int = self._server.server_port
        self._start()

    def _new(self, port: int) -> ThreadingHTTPServer:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 30

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                body = self.rfile.read(length)
                if len(body) == length:
                    receiver._take(self.headers["webhook-id"], json.loads(body))
                    self.send_response(204)
                    self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, *_: object) -> None:
                pass  # a sender that was killed meanwhile

        return Server(("127.0.0.1", port), Handler)

    def _start(self) -> None:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def _take(self, id: str, told: dict[str, str]) -> None:
        with self._turn:
            self.got[id] += 1
            if self.got[id] == 1:
                subscription, _, cursor = id.rpartition(":")
                self.order.setdefault(subscription, []).append(int(cursor))
                self.lags[id] = time.time() - datetime.fromisoformat(told["time"]).timestamp()

    def go_away(self) -> None:
        """Answer nobody from now on."""
        self._server.shutdown()
        self._server.server_close()

    def come_back(self) -> None:
        """Answer again, at the same address."""
        self._server = self._new(self.port)
        self._start()

    def close(self) -> None:
        """Stop."""
        self.go_away()
