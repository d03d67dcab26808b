"""How schemathesis writes the bodies that are files: as bytes of any kind."""

import schemathesis

FILES = (
    "application/x-ndjson",
    "application/jsonl",
    "application/gzip",
    "application/zip",
    "application/vnd.apache.parquet",
    "text/tab-separated-values",
    "text/html",
    "text/csv",
)


@schemathesis.serializer(*FILES)
def as_bytes(_context, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")
