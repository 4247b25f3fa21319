"""Who is attacked, and who should hear nothing of it."""

import socket
import threading
from contextlib import contextmanager

import pytest

from hub.serving import serving


@pytest.fixture
def served(tmp_path):
    """A service on a store of its own."""
    with serving(f"sqlite:///{tmp_path}/hub.db") as client:
        yield client


@contextmanager
def _listening():
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    heard.append(connection.recv(4096))
                    body = b"SECRET of the inside"
                    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\n"
                    connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/internal", heard
        server.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def inside():
    """The address of a server that only this machine should reach, and what it has heard."""
    with _listening() as found:
        yield found
