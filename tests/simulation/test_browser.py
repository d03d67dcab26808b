"""The crowd's browser over TLS: it trusts whom the machine trusts, and nobody else."""

import ssl
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from simulation.browser import Browser


@pytest.fixture
def certificate(tmp_path):
    """Return a file with a certificate for localhost that signs itself, and its key."""
    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")]),
    )
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "localhost.pem"
    private = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(key.private_bytes(*private) + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def secure(certificate):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.headers["Host"].encode())

        def log_message(self, *_):
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"localhost:{server.server_port}"
        server.shutdown()


def test_pages_come_over_tls_from_whom_the_machine_trusts(secure, certificate, monkeypatch):
    with pytest.raises(ssl.SSLCertVerificationError):
        Browser().get(f"https://{secure}/")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert Browser().get(f"https://{secure}/").text == secure
