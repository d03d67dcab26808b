"""Errors and traces leave with no token, query or answer in them; the real libraries send them to a listener."""

import gzip
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import brotli
import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.on_sqlite

SERVE = """
import os
from config.wsgi import application
from django.test import Client
from django.urls import path
import config.urls

def broken(request):
    answer = request.POST.get("answer")
    raise RuntimeError("broken")

config.urls.urlpatterns.insert(0, path("visit/<str:token>/", broken))
client = Client(raise_request_exception=False)
assert client.post("/visit/token-of-a-visit/?q=a-search", {"answer": "an-answer"}).status_code == 500
if os.environ.get("SENTRY_DSN"):
    import sentry_sdk
    sentry_sdk.flush()
else:
    from opentelemetry import trace
    trace.get_tracer_provider().force_flush()
"""


@pytest.fixture
def listener():
    received = []

    class Taker(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            unpack = {"gzip": gzip.decompress, "br": brotli.decompress}.get(self.headers.get("Content-Encoding"), bytes)
            received.append((self.path, unpack(body)))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Taker)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}", received
    server.shutdown()
    thread.join()
    server.server_close()


def serve(folder, **environment):
    base = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "QUORATE_DATA": str(folder),
        "QUORATE_DEBUG": "0",
        "ALLOWED_HOSTS": "testserver",
        "DATABASE_URL": f"sqlite:///{folder}/app.sqlite3",
    }
    command = [sys.executable, "-c", SERVE]
    return subprocess.run(
        command, env=base | environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(("variable", "scheme"), [("SENTRY_DSN", "http://key@{}/1"), ("OTEL", "http://{}")])
def test_what_leaves_has_no_token_query_or_answer(tmp_path, listener, variable, scheme):
    address, received = listener
    name = "OTEL_EXPORTER_OTLP_ENDPOINT" if variable == "OTEL" else variable
    done = serve(tmp_path, **{name: scheme.format(address)})
    assert done.returncode == 0, done.stderr
    sent = b"".join(body for _, body in received)
    assert b"visit/" in sent
    if variable == "SENTRY_DSN":
        assert b"broken" in sent
        assert b"request_id" in sent
    for secret in (b"token-of-a-visit", b"a-search", b"an-answer"):
        assert secret not in sent


def test_what_is_asked_for_and_not_installed_is_named(tmp_path):
    hidden = tmp_path / "sentry_sdk.py"
    hidden.write_text("raise ModuleNotFoundError('no', name='sentry_sdk')")
    done = serve(tmp_path, SENTRY_DSN="http://key@127.0.0.1:1/1", PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert done.returncode
    assert "SENTRY_DSN is set, but sentry_sdk isn't installed: pip install -r requirements-telemetry.txt" in done.stderr


def test_without_the_variables_nothing_is_imported(tmp_path):
    code = "import sys, config.wsgi; sys.exit(bool({'sentry_sdk', 'opentelemetry', 'prometheus_client'} & set(sys.modules)))"
    base = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "config.settings.dev", "QUORATE_DATA": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", code], env=base, cwd=ROOT, check=False, timeout=120).returncode == 0
