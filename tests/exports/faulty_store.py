"""A real S3 server behind a proxy that drops connections and answers 500 as a test wants it."""

import http.client
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

import boto3
from moto.server import ThreadedMotoServer

PASS, BREAK, DROP = "pass", "answer 500", "drop the connection in the middle of the body"
BUCKET = "datasets"


class FaultyStore:
    """A store with one bucket. ``plan`` says for each request (method, path) what becomes of it; by default it passes."""

    def __init__(self) -> None:
        self.plan: Callable[[str, str], str] = lambda method, path: PASS
        self.passed: list[tuple[str, str]] = []  # method and path of what reached the store
        self.faults = 0
        self._moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._proxy = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._proxy.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._moto.start()
        self._thread.start()
        host, port = self._moto.get_host_and_port()
        self._origin = (host, port)
        self.client = boto3.client(
            "s3",
            endpoint_url=f"http://{host}:{port}",
            region_name="us-east-1",
            aws_access_key_id="k",
            aws_secret_access_key="s",
        )
        control = http.client.HTTPConnection(host, port)  # its buckets outlive it otherwise: they are the process's
        control.request("POST", "/moto-api/reset")
        control.getresponse().read()
        control.close()
        self.client.create_bucket(Bucket=BUCKET)
        return self

    def __exit__(self, *_error: object) -> None:
        self._proxy.shutdown()
        self._proxy.server_close()
        self._thread.join()
        self._moto.stop()

    @property
    def url(self) -> str:
        """Where the proxy listens."""
        return f"http://127.0.0.1:{self._proxy.server_port}"

    def objects(self) -> dict[str, bytes]:
        """Return what is in the bucket, asked past the proxy."""
        listed = self.client.list_objects_v2(Bucket=BUCKET).get("Contents", [])
        return {one["Key"]: self.client.get_object(Bucket=BUCKET, Key=one["Key"])["Body"].read() for one in listed}

    def unfinished(self) -> list[str]:
        """Return the uploads in parts that were neither finished nor taken back."""
        return [one["Key"] for one in self.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        store = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                fate = store.plan(self.command, self.path)
                size = int(self.headers.get("Content-Length", 0))
                if fate == DROP:
                    store.faults += 1
                    self.rfile.read(size // 2)
                    self.close_connection = True
                    self.connection.close()
                    return
                body = self.rfile.read(size)
                if fate == BREAK:
                    store.faults += 1
                    self._answer(500, {}, b"<Error><Code>InternalError</Code><Message>Try again.</Message></Error>")
                    return
                store.passed.append((self.command, self.path))
                origin = http.client.HTTPConnection(*store._origin)
                origin.request(self.command, self.path, body, dict(self.headers))
                answer = origin.getresponse()
                self._answer(answer.status, dict(answer.getheaders()), answer.read())
                origin.close()

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_any  # noqa: N815  as http.server calls them

            def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
                self.send_response(status)
                kept = {
                    name: value
                    for name, value in headers.items()
                    if name.lower() not in ("connection", "transfer-encoding", "date", "server")
                }
                if self.command != "HEAD":
                    kept["Content-Length"] = str(len(body))
                for name, value in kept.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def log_message(self, *_said: object) -> None:
                pass

        return Handler
