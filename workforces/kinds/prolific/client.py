"""A client for Prolific's API (v1). Every call is one request.

Written from the public description of the API; it was not tried against the live service.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import requests
from django.utils import timezone

from workforces.kinds.base import PutOff, Refused, Unreachable

SECONDS = 30
PAGE = 100
FINISHED, PAID, REJECTED = "AWAITING REVIEW", ("APPROVED", "PARTIALLY APPROVED"), "REJECTED"
RETURNED, TIMED_OUT = "RETURNED", "TIMED-OUT"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of the API, the token of an account, and the project and workspace that studies belong to."""

    url: str
    token: str
    project: str
    workspace: str


@dataclass(frozen=True, slots=True)
class RemoteSubmission:
    """A submission in Prolific's list; ``code`` is the completion code that came with it."""

    remote_id: str
    worker: str
    status: str
    accepted_at: datetime
    submitted_at: datetime
    auto_approval_at: datetime | None
    code: str = ""


class Prolific:
    """A client of Prolific; ``guard`` is called before each request and may refuse it."""

    def __init__(self, endpoint: Endpoint, guard: Callable[[], None]) -> None:
        self.endpoint = endpoint
        self._guard = guard
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Token {endpoint.token}"

    def asked(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Send a request and return the answer's JSON, or None if it has none.

        Raises
        ------
        Refused, Unreachable
        """
        return self._answered(method, path, body, **query)[0]

    def _answered(self, method: str, path: str, body: Any = None, **query: Any) -> tuple[Any, Mapping[str, str]]:
        """Return the answer's JSON and its headers."""
        self._guard()
        url = f"{self.endpoint.url}/api/v1/{path}"
        try:
            answer = self._session.request(method, url, json=body, params=query, timeout=SECONDS, allow_redirects=False)
        except requests.RequestException as error:
            raise Unreachable(
                f"Prolific doesn't respond ({type(error).__name__})"
            ) from error  # its text may hold the token
        if answer.status_code == 429:
            raise PutOff("Prolific asks to try again later (429)")
        if answer.status_code >= 500:
            raise Unreachable(f"{method} {path}: {answer.status_code}")
        if not answer.ok or answer.is_redirect:
            raise Refused(str(answer.status_code), _said(answer))
        try:
            return (answer.json() if answer.content else None), answer.headers
        except ValueError as error:
            raise Unreachable(f"{method} {path}: not JSON") from error

    def _listed(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield the entries of a list, page by page."""
        offset = 0
        while True:
            found = self.asked("GET", path, limit=PAGE, offset=offset, **query)
            rows = found["results"]
            yield from rows
            offset += len(rows)
            if not rows or offset >= _count(found, offset):
                return

    # Studies

    def study(self, study_id: str) -> dict[str, Any]:
        """Return a study."""
        found: dict[str, Any] = self.asked("GET", f"studies/{study_id}/")
        return found

    def study_marked(self, mark: str) -> str | None:
        """Return the id of the project's study with an internal name."""
        rows = self._listed(f"projects/{self.endpoint.project}/studies/")
        return next((str(row["id"]) for row in rows if row.get("internal_name") == mark), None)

    def study_create(self, study: dict[str, Any]) -> str:
        """Create a draft and return its id."""
        return str(self.asked("POST", "studies/", {**study, "project": self.endpoint.project})["id"])

    def study_change(self, study_id: str, **values: Any) -> None:
        """Change fields of a study; places are the new total."""
        self.asked("PATCH", f"studies/{study_id}/", values)

    def study_move(self, study_id: str, action: str) -> None:
        """Publish, pause or start a study."""
        self.asked("POST", f"studies/{study_id}/transition/", {"action": action})

    def cost(self, study_id: str) -> int:
        """Return what a study costs in all, with fees and tax, in cents."""
        found = self.asked("GET", f"studies/{study_id}/cost/")
        parts = (found.get(name) or {} for name in ("rewards", "bonuses"))
        return sum(int(part.get(name) or 0) for part in parts for name in ("rewards", "fees", "tax"))

    def balance(self) -> tuple[str, int]:
        """Return the currency of the account, and what it may still spend in its cents."""
        found = self.asked("GET", f"workspaces/{self.endpoint.workspace}/balance/")
        return str(found["currency_code"]), int(found["available_balance"])

    # Submissions

    def submissions(self, study_id: str, status: str = "") -> Iterator[list[RemoteSubmission]]:
        """Yield the submissions of a study, of one status if given, page by page."""
        page, seen = 1, 0
        query = {"status": status.replace(" ", "_")} if status else {}
        while True:
            found = self.asked("GET", "submissions/", study=study_id, page=page, page_size=PAGE, **query)
            rows = found["results"]
            yield [_submission(row) for row in rows]
            page, seen = page + 1, seen + len(rows)
            if not rows or seen >= _count(found, seen):
                return

    def submission(self, remote_id: str) -> dict[str, Any] | None:
        """Return a submission in detail, or None if it doesn't exist."""
        try:
            found: dict[str, Any] = self.asked("GET", f"submissions/{remote_id}/")
        except Refused as error:
            if error.code == "404":
                return None
            raise
        return found

    def approve(self, remote_id: str) -> None:
        """Approve a submission; that can't be taken back."""
        self.asked("POST", f"submissions/{remote_id}/transition/", {"action": "APPROVE"})

    def reject(self, remote_id: str, message: str, category: str) -> None:
        """Reject a submission; that can't be taken back."""
        sent = {"action": "REJECT", "message": message, "rejection_category": category}
        self.asked("POST", f"submissions/{remote_id}/transition/", sent)

    def bonus_set_up(self, study_id: str, remote_id: str, cents: int) -> str:
        """Set up a bonus, which pays nothing yet, and return its id."""
        sent = {"study_id": study_id, "csv_bonuses": f"{remote_id},{cents // 100}.{cents % 100:02d}"}
        return str(self.asked("POST", "submissions/bonus-payments/", sent)["id"])

    def bonus_pay(self, bonus_id: str) -> None:
        """Pay a bonus that was set up. Calling it twice pays twice."""
        self.asked("POST", f"bulk-bonus-payments/{bonus_id}/pay/")

    # People

    def group(self, name: str) -> str:
        """Return the id of one of our participant groups; create it if it is missing."""
        rows = self._listed("participant-groups/", workspace_id=self.endpoint.workspace)
        for row in rows:
            if row["name"] == name:
                return str(row["id"])
        sent = {"name": name, "workspace_id": self.endpoint.workspace, "participant_ids": []}
        return str(self.asked("POST", "participant-groups/", sent)["id"])

    def group_add(self, group_id: str, worker: str) -> None:
        """Add a person to a group; it isn't an error if they are in it."""
        self.asked("POST", f"participant-groups/{group_id}/participants/", {"participant_ids": [worker]})

    def group_remove(self, group_id: str, worker: str) -> None:
        """Remove a person from a group."""
        self.asked("DELETE", f"participant-groups/{group_id}/participants/", {"participant_ids": [worker]})

    def message(self, study_id: str, worker: str, text: str) -> None:
        """Send a message to a participant of a study."""
        self.asked("POST", "messages/", {"recipient_id": worker, "body": text, "study_id": study_id})

    # Hooks

    def hook_secret(self) -> str:
        """Create the workspace's secret for hooks, which replaces the one before."""
        return str(self.asked("POST", "hooks/secrets/", {"workspace_id": self.endpoint.workspace})["value"])

    def hook_subscribe(self, event: str, url: str) -> None:
        """Have an event sent to a public https address, and confirm that we asked for it."""
        sent = {"workspace_id": self.endpoint.workspace, "event_type": event, "target_url": url}
        made, headers = self._answered("POST", "hooks/subscriptions/", sent)
        row = made[0] if isinstance(made, list) else made  # described as a list, seen as an object
        self.asked("POST", f"hooks/subscriptions/{row['id']}/", {"secret": headers.get("X-Hook-Secret", "")})


def _count(found: dict[str, Any], seen: int) -> int:
    """Return how long a list is; as long as it was seen to be if it doesn't say and its page isn't full."""
    count = (found.get("meta") or {}).get("count")
    if count is None:
        return seen if len(found["results"]) < PAGE else seen + 1
    return int(count)


def _said(answer: requests.Response) -> str:
    """Return the reason of a refusal, which has three forms."""
    try:
        found = answer.json()
    except ValueError:
        return str(answer.reason)
    found = found.get("error", found) if isinstance(found, dict) else {"detail": found}
    if not isinstance(found, dict):
        return str(found)[:300]
    return f"{found.get('title') or found.get('message') or ''} {found.get('detail') or ''}".strip()[:300]


def _submission(row: dict[str, Any]) -> RemoteSubmission:
    # A place that was only reserved has no beginning yet.
    began = datetime.fromisoformat(row["started_at"]) if row.get("started_at") else timezone.now()
    done = datetime.fromisoformat(row["completed_at"]) if row.get("completed_at") else began
    return RemoteSubmission(
        remote_id=str(row["id"]),
        worker=str(row["participant_id"]),
        status=str(row["status"]),
        accepted_at=began,
        submitted_at=done,
        auto_approval_at=None,
        code=str(row.get("study_code") or ""),
    )
