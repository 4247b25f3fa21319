"""HTTPS: a service with a certificate, and clients who trust it or do not."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from triplewire.errors import ServiceError
from triplewire.hub import Settings, start


@pytest.fixture
def certified(tmp_path):
    """The files of a certificate for this machine, signed by itself, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (tmp_path / "hub.pem").write_bytes(made.public_bytes(Encoding.PEM))
    (tmp_path / "hub.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return {"certificate": str(tmp_path / "hub.pem"), "certificate_key": str(tmp_path / "hub.key")}


def test_service_with_a_certificate_speaks_https_to_those_who_trust_it(tmp_path, certified):
    settings = Settings.of({"store": f"sqlite:///{tmp_path}/hub.db", "port": 0, **certified})
    with start(settings) as started:
        assert started.url.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=certified["certificate"])
        with httpx.Client(verify=trusting, trust_env=False, timeout=60) as client:
            assert client.get(f"{started.url}/v1/health").json()["status"] == "ok"
        with (
            httpx.Client(trust_env=False, timeout=60) as client,
            pytest.raises(httpx.ConnectError, match="certificate"),
        ):
            client.get(f"{started.url}/v1/health")


def test_certificate_that_cannot_be_used_is_refused_before_it_starts(tmp_path, certified):
    store = {"store": f"sqlite:///{tmp_path}/hub.db", "port": 0}
    with pytest.raises(ServiceError, match="the certificate cannot be used"):
        start(Settings.of({**store, **certified, "certificate_key": str(tmp_path / "none.key")}))
    with pytest.raises(ServiceError, match="no certificate"):
        start(Settings.of({**store, "certificate_key": certified["certificate_key"]}))
