"""HTTPS: the connection goes to the address that was checked, and the certificate must be the name's."""

from __future__ import annotations

import ssl

import pytest

from certificates import make_certificate, needs_openssl
from polling.server import serving
from triplewire import Hub
from triplewire.polling import Poller, PollingManners, fetching

pytestmark = needs_openssl


@pytest.fixture
def certificate(tmp_path):
    return make_certificate(tmp_path)


def ask(url):
    poller = Poller(Hub(":memory:"), manners=PollingManners(allow_private=True, pause=0.0, timeout=10.0))
    poller.follow([url])
    (asked,) = poller.round()
    return asked


def test_a_certificate_must_be_known_and_be_the_names(certificate, monkeypatch):
    file, key = certificate
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file, key)
    with serving(server) as site:
        site.put("/feed", '<rss version="2.0"><channel><title>Safe</title></channel></rss>')
        assert "cannot be asked" in ask(f"https://localhost:{site.port}/feed").problem, "nobody vouches for it"
        trusting = ssl.create_default_context(cafile=str(file))
        monkeypatch.setattr(fetching, "certificates", lambda: trusting)
        assert ask(f"https://localhost:{site.port}/feed").problem == ""
        assert "cannot be asked" in ask(f"https://127.0.0.1:{site.port}/feed").problem, "it is another name's"
    assert [path for path, _ in site.requests] == ["/feed"]
