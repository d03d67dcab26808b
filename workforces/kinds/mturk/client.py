"""A client for the MTurk Requester protocol (2017-01-17), through boto3, at the configured endpoint.

Only this module imports boto3. Every call is one request; calls that must take effect only once carry a
token, which stays the same over attempts and can be read back.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any
from xml.sax.saxutils import escape

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from defusedxml import ElementTree

from workforces.kinds.base import Refused, Unreachable
from workforces.kinds.mturk.terms import PRESETS, MTurkTerms

EXTERNAL = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
_PASSING = {"ThrottlingException", "ServiceFault", "InternalFailure", "ServiceUnavailable", "RequestTimeout"}
_HIT_ID = re.compile(r"\b[A-Z0-9]{20,64}\b")


Requirement = dict[str, object]


def everybody(terms: MTurkTerms, exclusion_id: str) -> list[Requirement]:
    """Return the requirements of an ordinary posting: the preset, and no exclusion of the worker."""
    requirements: list[Requirement] = [
        {**one, "ActionsGuarded": "PreviewAndAccept"} for one in PRESETS[terms.qualification]
    ]
    kept_out: Requirement = {
        "QualificationTypeId": exclusion_id,
        "Comparator": "DoesNotExist",
        "ActionsGuarded": "PreviewAndAccept",
    }
    return [*requirements, kept_out]


def only_holders(qualification_id: str) -> list[Requirement]:
    """Return the requirement that shows a posting only to people with a qualification."""
    return [
        {
            "QualificationTypeId": qualification_id,
            "Comparator": "Exists",
            "ActionsGuarded": "DiscoverPreviewAndAccept",
        }
    ]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a marketplace and the credentials for it."""

    url: str
    access_key_id: str
    secret_access_key: str
    requests_per_second: float = 3.0
    region: str = "us-east-1"


@dataclass(frozen=True, slots=True)
class RemoteAssignment:
    """An assignment in the marketplace's list; ``answers`` are the submitted fields."""

    remote_id: str
    worker: str
    hit_id: str
    status: str
    accepted_at: datetime
    submitted_at: datetime
    auto_approval_at: datetime | None
    answers: dict[str, str]


@dataclass(frozen=True, slots=True)
class RemoteHit:
    """A HIT in the marketplace's list; ``note`` is our annotation of it, and an assignment pays ``reward_cents``."""

    hit_id: str
    note: str
    reward_cents: int


@lru_cache(maxsize=1)
def _client(endpoint: Endpoint) -> Any:
    """Return boto3's client for an endpoint, created once: that takes 30 ms, and threads can share it."""
    return boto3.client(
        "mturk",
        endpoint_url=endpoint.url,
        region_name=endpoint.region,
        aws_access_key_id=endpoint.access_key_id,
        aws_secret_access_key=endpoint.secret_access_key,
        config=Config(retries={"mode": "standard", "total_max_attempts": 3}, connect_timeout=10, read_timeout=30),
    )


class Market:
    """A rate-limited client of a marketplace; ``guard`` is called before each request and may refuse it."""

    def __init__(self, endpoint: Endpoint, guard: Callable[[], None]) -> None:
        self._guard = guard
        self._pause = 1 / endpoint.requests_per_second if endpoint.requests_per_second else 0.0
        self._next, self._lock = 0.0, threading.Lock()
        self._client = _client(endpoint)

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        self._guard()
        self._wait()
        try:
            answer: dict[str, Any] = getattr(self._client, operation)(**arguments)
        except ClientError as error:
            code = error.response["Error"].get("Code", "")
            if code in _PASSING or error.response["ResponseMetadata"].get("HTTPStatusCode", 0) >= 500:
                raise Unreachable(str(error)) from error
            message = error.response["Error"].get("Message", "")
            if "status of: null" in message:  # submitted a moment ago: it passes
                raise Unreachable(message) from error
            raise Refused(str(error.response.get("TurkErrorCode") or code), message) from error
        except (HTTPClientError, BotoCoreError) as error:
            raise Unreachable(str(error)) from error
        return answer

    def _wait(self) -> None:
        """Wait until this call is allowed: the calls of several threads share one rate limit."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._pause
        time.sleep(turn - now)

    def _pages(self, operation: str, name: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Yield the entries of all pages; every page that isn't empty has a token for the next one."""
        token: str | None = None
        while True:
            more = {"NextToken": token} if token else {}
            page = self._call(operation, MaxResults=100, **arguments, **more)
            rows = page.get(name, [])
            yield from rows
            token = page.get("NextToken")
            if not rows or not token:
                return

    def publish(self, terms: MTurkTerms, *, url: str, token: str, places: int, requirements: list[Requirement]) -> str:
        """Post a HIT and return its id; for a token used before, return the id of the HIT it created."""
        question = (
            f'<ExternalQuestion xmlns="{EXTERNAL}"><ExternalURL>{escape(url)}</ExternalURL>'
            f"<FrameHeight>{terms.frame_height}</FrameHeight></ExternalQuestion>"
        )
        try:
            answer = self._call(
                "create_hit",
                Title=terms.title,
                Description=terms.description,
                Keywords=terms.keywords,
                Reward=dollars(terms.reward_cents),
                MaxAssignments=places,
                Question=question,
                AssignmentDurationInSeconds=terms.assignment_seconds,
                LifetimeInSeconds=terms.lifetime_seconds,
                AutoApprovalDelayInSeconds=terms.auto_approval_seconds,
                RequesterAnnotation=token,
                UniqueRequestToken=token,
                QualificationRequirements=requirements,
            )
        except Refused as error:
            if "AlreadyExists" not in error.code:
                raise
            found = _HIT_ID.search(error.message)
            hit_id = found.group() if found else self.find(token)
            if hit_id is None:
                raise
            return hit_id
        return str(answer["HIT"]["HITId"])

    def balance(self) -> str:
        """Return the money that is left, in dollars."""
        return str(self._call("get_account_balance")["AvailableBalance"])

    def find(self, token: str) -> str | None:
        """Return the HIT with a token, after reading all of our HITs."""
        return next((hit.hit_id for hit in self.hits() if hit.note == token), None)

    def hits(self) -> Iterator[RemoteHit]:
        """Yield all HITs of this requester."""
        for hit in self._pages("list_hits", "HITs"):
            yield RemoteHit(str(hit["HITId"]), str(hit.get("RequesterAnnotation", "")), _cents(hit["Reward"]))

    def pending(self, hit_id: str) -> int | None:
        """Return the number of accepted assignments of a HIT that aren't submitted; None if the HIT is gone."""
        try:
            return int(self._call("get_hit", HITId=hit_id)["HIT"]["NumberOfAssignmentsPending"])
        except Refused as error:
            if "DoesNotExist" in error.code:
                return None
            raise

    def expire(self, hit_id: str) -> None:
        """Stop new workers from accepting a HIT."""
        self._call("update_expiration_for_hit", HITId=hit_id, ExpireAt=0)

    def assignments(self, hit_id: str) -> Iterator[RemoteAssignment]:
        """Yield the submitted assignments of a HIT."""
        for row in self._pages("list_assignments_for_hit", "Assignments", HITId=hit_id):
            yield _assignment(row)

    def assignment(self, remote_id: str) -> RemoteAssignment | None:
        """Return one submitted assignment, or None if it doesn't exist."""
        try:
            return _assignment(self._call("get_assignment", AssignmentId=remote_id)["Assignment"])
        except Refused as error:
            if "DoesNotExist" in error.code:
                return None
            raise

    def approve(self, remote_id: str, *, override: bool = False) -> None:
        """Approve an assignment; with ``override``, also after a refusal."""
        self._call("approve_assignment", AssignmentId=remote_id, OverrideRejection=override)

    def reject(self, remote_id: str, reason: str) -> None:
        """Refuse an assignment."""
        self._call("reject_assignment", AssignmentId=remote_id, RequesterFeedback=reason[:1024])

    def bonus(self, remote_id: str, worker: str, cents: int, *, reason: str, token: str) -> None:
        """Pay a bonus; a token used before means that it is already paid."""
        try:
            self._call(
                "send_bonus",
                AssignmentId=remote_id,
                WorkerId=worker,
                BonusAmount=dollars(cents),
                Reason=reason,
                UniqueRequestToken=token,
            )
        except Refused as error:
            if "AlreadyExists" not in error.code:
                raise

    def bonuses(self, *, hit_id: str = "", remote_id: str = "") -> Iterator[tuple[str, int, str]]:
        """Yield (assignment, cents, reason) of the bonuses paid for a HIT or an assignment."""
        of = {"AssignmentId": remote_id} if remote_id else {"HITId": hit_id}
        for row in self._pages("list_bonus_payments", "BonusPayments", **of):
            yield str(row["AssignmentId"]), _cents(row["BonusAmount"]), str(row.get("Reason", ""))

    def qualification(self, name: str, description: str) -> str:
        """Return the id of one of our qualifications; create it if it is missing."""
        try:
            answer = self._call(
                "create_qualification_type",
                Name=name,
                QualificationTypeStatus="Active",
                Description=description,
            )
            return str(answer["QualificationType"]["QualificationTypeId"])
        except Refused as error:
            if "AlreadyExists" not in error.code and "already created" not in error.message:
                raise
        query = {"Query": name, "MustBeRequestable": False, "MustBeOwnedByCaller": True}
        for row in self._pages("list_qualification_types", "QualificationTypes", **query):
            if row["Name"] == name:
                return str(row["QualificationTypeId"])
        raise Unreachable(f"the qualification {name!r} exists and is not listed yet")

    def grant(self, qualification_id: str, worker: str) -> None:
        """Give a person a qualification, without a message."""
        self._call(
            "associate_qualification_with_worker",
            QualificationTypeId=qualification_id,
            WorkerId=worker,
            IntegerValue=1,
            SendNotification=False,
        )

    def revoke(self, qualification_id: str, worker: str, reason: str) -> None:
        """Take a qualification away; it isn't an error if the person lacks it."""
        try:
            self._call(
                "disassociate_qualification_from_worker",
                QualificationTypeId=qualification_id,
                WorkerId=worker,
                Reason=reason,
            )
        except Refused as error:
            if "QualificationDoesNotExist" not in error.code and "InvalidQualificationState" not in error.code:
                raise

    def block(self, worker: str, reason: str) -> None:
        """Block a person from all postings of this requester."""
        self._call("create_worker_block", WorkerId=worker, Reason=reason)

    def notify(self, worker: str, subject: str, text: str) -> str:
        """Send a message to a person; return the error, or an empty text."""
        answer = self._call("notify_workers", Subject=subject[:200], MessageText=text[:4096], WorkerIds=[worker])
        failures = answer.get("NotifyWorkersFailureStatuses", [])
        return str(failures[0].get("NotifyWorkersFailureMessage", "not delivered")) if failures else ""


def dollars(cents: int) -> str:
    """Return an amount in the format of the protocol."""
    return f"{cents // 100}.{cents % 100:02d}"


def _cents(amount: str) -> int:
    whole, _, part = str(amount).partition(".")
    return int(whole or 0) * 100 + int((part + "00")[:2])


def _assignment(row: dict[str, Any]) -> RemoteAssignment:
    return RemoteAssignment(
        remote_id=row["AssignmentId"],
        worker=row["WorkerId"],
        hit_id=row["HITId"],
        status=row["AssignmentStatus"],
        accepted_at=row["AcceptTime"],
        submitted_at=row["SubmitTime"],
        auto_approval_at=row.get("AutoApprovalTime"),
        answers=answers_of(row.get("Answer", "")),
    )


def answers_of(xml: str) -> dict[str, str]:
    """Return the free-text fields of QuestionFormAnswers; empty for any other document."""
    try:
        root = ElementTree.fromstring(xml)
    except (ElementTree.ParseError, ValueError):
        return {}
    found: dict[str, str] = {}
    for answer in root.iter():
        if answer.tag.endswith("}Answer") or answer.tag == "Answer":
            parts = {child.tag.rpartition("}")[2]: (child.text or "").strip() for child in answer}
            found[parts.get("QuestionIdentifier", "")] = parts.get("FreeText", "")
    return found
