"""Errors to Sentry and traces to OpenTelemetry, if the environment names where to; neither gets answers or tokens.

Both are extras (`requirements-telemetry.txt`), so they are imported only here, when a service starts.
"""

import os
from importlib import import_module
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest

from web.logs import redacted
from web.request_log import current_request_id

SENTRY = "SENTRY_DSN"
OPENTELEMETRY = "OTEL_EXPORTER_OTLP_ENDPOINT"


def telemetry_start() -> None:
    """Start what the environment asks for. Call it once in each process that serves requests or runs jobs.

    Raises
    ------
    ImproperlyConfigured
        A variable is set, and its packages aren't installed.
    """
    for variable, start in ((SENTRY, _sentry), (OPENTELEMETRY, _opentelemetry)):
        if os.environ.get(variable):
            try:
                start()
            except ModuleNotFoundError as error:
                raise ImproperlyConfigured(
                    f"{variable} is set, but {error.name} isn't installed: pip install -r requirements-telemetry.txt"
                ) from error


def _sentry() -> None:
    sdk = import_module("sentry_sdk")
    sdk.init(
        dsn=os.environ[SENTRY],
        send_default_pii=False,
        include_local_variables=False,  # they hold people's answers
        max_request_body_size="never",
        max_breadcrumbs=0,
        before_send=lambda event, _hint: _without_tokens(event) | {"tags": {"request_id": current_request_id()}},
        before_send_transaction=lambda event, _hint: _without_tokens(event),
    )


def _without_tokens(value: Any) -> Any:
    """Return data without the tokens in its URLs, and without query strings."""
    if isinstance(value, dict):
        return {key: _without_tokens(part) for key, part in value.items() if key != "query_string"}
    if isinstance(value, list):
        return [_without_tokens(part) for part in value]
    return redacted(value) if isinstance(value, str) else value


def _opentelemetry() -> None:
    trace = import_module("opentelemetry.trace")
    sdk = import_module("opentelemetry.sdk.trace")
    batch = import_module("opentelemetry.sdk.trace.export").BatchSpanProcessor
    exporter = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter").OTLPSpanExporter
    provider = sdk.TracerProvider()  # the service's name and resource come from OTEL_… variables
    provider.add_span_processor(batch(exporter()))
    trace.set_tracer_provider(provider)
    import_module("opentelemetry.instrumentation.django").DjangoInstrumentor().instrument(request_hook=_clean_span)
    import_module("opentelemetry.instrumentation.celery").CeleryInstrumentor().instrument()
    import_module("opentelemetry.instrumentation.psycopg").PsycopgInstrumentor().instrument()


def _clean_span(span: Any, _request: HttpRequest) -> None:
    """Redact the URLs that the library has just put into a span."""
    for name, value in dict(span.attributes or {}).items():
        if isinstance(value, str):
            span.set_attribute(name, redacted(value).partition("?")[0])
