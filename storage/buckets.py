"""Files in a bucket of an S3-compatible object store.

boto3 finds the credentials, region and endpoint (``AWS_ACCESS_KEY_ID``, ``AWS_ENDPOINT_URL_S3``, …).
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError  # noqa: A004  botocore's name
from django.core.exceptions import ImproperlyConfigured
from django.core.files import File
from django.core.files.storage import Storage
from django.utils.deconstruct import deconstructible

from storage.files import StoreAway, StoreRefuses

logger = logging.getLogger(__name__)
SCHEME = "s3://"
MISSING = ("404", "NoSuchKey")
LOADED = ("429", "SlowDown", "RequestTimeout", "ThrottlingException")


@deconstructible
class BucketStorage(Storage):
    """A folder in a bucket. An object is either complete or absent; a new one replaces one with the same name.

    Parameters
    ----------
    place: ``s3://bucket`` or ``s3://bucket/prefix``.
    attempts: the number of attempts for a request before the store is considered unavailable.
    seconds: how long an attempt waits for an answer.
    """

    def __init__(self, place: str, attempts: int = 5, seconds: int = 60) -> None:
        if not place.startswith(SCHEME) or not place.removeprefix(SCHEME).split("/")[0]:
            raise ImproperlyConfigured(f"QUORATE_RELEASES: expected s3://bucket or s3://bucket/prefix, got {place!r}")
        self._bucket, _, prefix = place.removeprefix(SCHEME).partition("/")
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._attempts, self._seconds = attempts, seconds

    @cached_property
    def _client(self) -> Any:
        retries = {"mode": "standard", "total_max_attempts": self._attempts}
        limits = {"connect_timeout": min(10, self._seconds), "read_timeout": self._seconds}
        return boto3.Session().client("s3", config=Config(retries=retries, **limits))

    def _key(self, name: str) -> str:
        return self._prefix + name

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Convert boto3's exceptions to those of a file."""
        place = f"{SCHEME}{self._bucket}/{self._key(name)}"
        try:
            yield
        except ClientError as error:
            said = error.response.get("Error", {})
            code, status = said.get("Code", ""), error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            if code in MISSING:
                raise FileNotFoundError(f"{place} is not there") from error
            kind = StoreAway if status >= 500 or code in LOADED else StoreRefuses
            raise kind(f"{place}: {code}: {said.get('Message', 'no reason given')}") from error
        except (ConnectionError, HTTPClientError) as error:
            logger.warning("%s: %s", place, error)  # it holds the address of the store, which is nobody's business
            raise StoreAway(f"{place}: the store doesn't respond ({type(error).__name__})") from error
        except BotoCoreError as error:  # no credentials, no region: nothing that waiting would change
            raise StoreRefuses(f"{place}: {error}") from error

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Return the name: a new object replaces an old one."""
        return name

    def _save(self, name: str, content: "File[bytes]") -> str:
        content.seek(0)
        with self._told(name):
            # In parts beyond 8 MB, several at a time; parts of an upload that fails are taken back.
            self._client.upload_fileobj(content, self._bucket, self._key(name))
        return name

    def _open(self, name: str, mode: str = "rb") -> "File[bytes]":
        if mode != "rb":
            raise ValueError("an object is written whole, by save")
        with self._told(name):
            body = self._client.get_object(Bucket=self._bucket, Key=self._key(name))["Body"]
        return File(body, name)

    def exists(self, name: str) -> bool:
        """Return whether an object with this name exists."""
        try:
            self.size(name)
        except FileNotFoundError:
            return False
        return True

    def size(self, name: str) -> int:
        """Return the size of an object in bytes."""
        with self._told(name):
            return int(self._client.head_object(Bucket=self._bucket, Key=self._key(name))["ContentLength"])

    def delete(self, name: str) -> None:
        """Delete an object; a missing object isn't an error."""
        with self._told(name):
            self._client.delete_object(Bucket=self._bucket, Key=self._key(name))
