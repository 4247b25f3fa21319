"""Channels over TLS: the certificate is checked, and bound into the handshake (P8)."""

from __future__ import annotations

from contextlib import ExitStack

from tests.network.live.federations import WATER, about, wait_for

from backbone.served import free_ports
from certificates import make_certificate, needs_openssl
from triplewire.hub import Settings, start
from triplewire.network.channels.handshake import fingerprint_of


def served(stack: ExitStack, folder, name: str, port: int, files: dict, **more):
    address = f"https://localhost:{port}"
    settings = {"store": f"sqlite:///{folder}/{name}.db", "port": port, "address": address, "network": "hypercube"}
    started = stack.enter_context(start(Settings.of(settings | files | more)))
    return started.server.config.app.state.service


@needs_openssl
def test_hubs_with_certificates_form_a_network_over_https(tmp_path, monkeypatch, caplog):
    certificate, key = make_certificate(tmp_path)
    files = {"certificate": str(certificate), "certificate_key": str(key)}
    ports = free_ports(3)
    with ExitStack() as stack:
        first = served(stack, tmp_path, "first", ports[0], files)
        served(stack, tmp_path, "doubting", ports[1], files, join=f"https://localhost:{ports[0]}")
        wait_for(lambda: "cannot be reached" in caplog.text)  # it does not trust the certificate
        assert "certificate verify failed" in caplog.text
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        second = served(stack, tmp_path, "second", ports[2], files, join=f"https://localhost:{ports[0]}")
        wait_for(lambda: second.federation.node.council.is_member)
        reader, writer = (each.tenants._open["main"].hub for each in (first, second))
        reader.subscribe(WATER, id="water", reach="network")
        writer.publish(about(1), uri="urn:doc")
        wait_for(lambda: [event.kind for event in reader.events("water")] == ["matched"])
    assert len(fingerprint_of(str(certificate))) == 64
