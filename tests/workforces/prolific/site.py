"""A stand-in for Prolific, written from the public description of its API; it checks every request."""

import base64
import hashlib
import hmac
import json
import math
import re
import time
from datetime import UTC, datetime
from urllib.parse import urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.standin import Answer, Request, StandIn, route

API = "/api/v1"
REQUIRED = {
    "name", "description", "external_study_url", "prolific_id_option", "total_available_places",
    "estimated_completion_time", "reward", "completion_codes", "project",
}  # fmt: skip
KNOWN = REQUIRED | {
    "internal_name", "maximum_allowed_time", "device_compatibility", "filters", "submissions_config",
    "is_external_study_url_secure", "metadata",
}  # fmt: skip
LATER = {"internal_name", "total_available_places", "submissions_config"}  # what may change once it is published
CATEGORIES = {
    "TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK", "LOW_EFFORT",
    "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER",
}  # fmt: skip
OCCUPY = {"RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED"}
MOVES = {"PUBLISH": {"UNPUBLISHED"}, "PAUSE": {"ACTIVE"}, "START": {"PAUSED", "AWAITING REVIEW", "COMPLETED"}}


def refuse(status: int, detail: object, title: str = "Error") -> Answer:
    return Answer(status, {"error": {"status": status, "error_code": 140000, "title": title, "detail": detail}})


class ProlificSite(StandIn):
    TOKEN, WORKSPACE, PROJECT = "prolific_token", "6" * 24, "7" * 24

    def __init__(self) -> None:
        super().__init__()
        self.balance, self.currency, self.fee = 100_000, "USD", 0.333
        self.studies: dict[str, dict] = {}
        self.subs: dict[str, dict] = {}
        self.bonuses: dict[str, dict] = {}
        self.groups: dict[str, dict] = {}
        self.messages: list[dict] = []
        self.subscriptions: list[dict] = []
        self.hook_secret = ""
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._serial = 0

    def new_id(self) -> str:
        self._serial += 1
        return f"{self._serial:024x}"

    def guard(self, request: Request) -> None:
        if request.path.startswith("/.well-known/"):
            return
        if request.headers.get("Authorization") != f"Token {self.TOKEN}":
            raise refuse(401, "Authentication credentials were not provided.")

    # Studies

    def study(self, request: Request) -> dict:
        row = self.studies.get(request.found[0])
        if row is None:
            raise refuse(404, "No Study matches the given query.")
        return row

    def places_taken(self, row: dict) -> int:
        return sum(one["study"] == row["id"] and one["status"] in OCCUPY for one in self.subs.values())

    def shown(self, row: dict) -> dict:
        return {**row, "places_taken": self.places_taken(row)}

    def check_study(self, sent: dict) -> None:
        if unknown := set(sent) - KNOWN:
            raise refuse(400, {name: ["Unknown field."] for name in unknown})
        if missing := [name for name in REQUIRED if sent.get(name) in (None, "", [])]:
            raise refuse(400, {name: ["This field is required."] for name in missing})
        minutes = sent["estimated_completion_time"]
        if sent["reward"] * 60 < 800 * minutes:
            raise refuse(400, {"reward": ["Below the minimum."]})
        if not 2 + 2 * minutes + 2 * math.sqrt(minutes) <= sent["maximum_allowed_time"] < 1440:
            raise refuse(400, {"maximum_allowed_time": ["Too short."]})
        codes = sent["completion_codes"]
        if len({one["code"] for one in codes}) < len(codes):
            raise refuse(400, {"completion_codes": ["Codes must be unique."]})
        for one in codes:
            actions = {action["action"] for action in one["actions"]}
            if (
                set(one) != {"code", "code_type", "actions", "actor"}
                or {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= actions
            ):
                raise refuse(400, {"completion_codes": ["Conflicting actions."]})
            if any("return_reason" not in action for action in one["actions"] if action["action"] == "REQUEST_RETURN"):
                raise refuse(400, {"completion_codes": ["return_reason is required."]})
        names = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
        if not all(f"{name}={{{{%{name}%}}}}" in sent["external_study_url"] for name in names):
            raise refuse(400, {"external_study_url": ["A parameter is missing."]})
        for one in sent.get("filters", []):
            if not set(one["selected_values"]) <= set(self.groups):
                raise refuse(400, {"filters": ["Unknown group."]})
        if sent["project"] != self.PROJECT:
            raise refuse(404, "No Project matches the given query.")

    @route("POST", f"{API}/studies/")
    def create(self, request: Request):
        sent = request.json()
        self.check_study(sent)
        row = {**sent, "id": self.new_id(), "status": "UNPUBLISHED"}
        self.studies[row["id"]] = row
        return Answer(201, self.shown(row))

    @route("GET", API + r"/projects/(\w+)/studies/")
    def listed(self, request: Request):
        rows = [self.shown(row) for row in self.studies.values() if row["project"] == request.found[0]]
        return self.paged(rows, request)

    def paged(self, rows: list, request: Request) -> dict:
        first = int(request.query.get("offset", 0))
        return {"results": rows[first : first + int(request.query.get("limit", 20))], "meta": {"count": len(rows)}}

    @route("GET", API + r"/studies/(\w+)/")
    def read(self, request: Request):
        return self.shown(self.study(request))

    @route("PATCH", API + r"/studies/(\w+)/")
    def change(self, request: Request):
        row, sent = self.study(request), request.json()
        if row["status"] != "UNPUBLISHED":
            if set(sent) - LATER:
                raise refuse(400, "This can't be changed after publishing.")
            more = sent.get("total_available_places", row["total_available_places"]) - row["total_available_places"]
            if more < 0:
                raise refuse(400, {"total_available_places": ["Places can't be lowered."]})
            self.lock(more * row["reward"])
            if more and row["status"] == "COMPLETED":
                row["status"] = "ACTIVE"
        row.update(sent)
        return self.shown(row)

    def lock(self, cents: int) -> None:
        cost = round(cents * (1 + self.fee))
        if cost > self.balance:
            raise refuse(400, "You do not have enough funds to publish this study.")
        self.balance -= cost

    @route("POST", API + r"/studies/(\w+)/transition/")
    def move(self, request: Request):
        row, action = self.study(request), request.json()["action"]
        if row["status"] not in MOVES.get(action, set()):
            raise refuse(400, f"{action} is not possible: the study is {row['status']}.")
        if action == "PUBLISH":
            self.lock(row["total_available_places"] * row["reward"])
        row["status"] = {"PUBLISH": "ACTIVE", "PAUSE": "PAUSED", "START": "ACTIVE"}[action]
        return self.shown(row)

    @route("GET", API + r"/studies/(\w+)/cost/")
    def cost(self, request: Request):
        row = self.study(request)
        rewards = row["total_available_places"] * row["reward"]
        bonuses = sum(sum(one["bonuses"]) for one in self.subs.values() if one["study"] == row["id"])
        return {
            name: {"rewards": cents, "fees": round(cents * self.fee), "tax": 0}
            for name, cents in (("rewards", rewards), ("bonuses", bonuses))
        }

    @route("GET", API + r"/workspaces/(\w+)/balance/")
    def funds(self, request: Request):
        if request.found[0] != self.WORKSPACE:
            raise refuse(404, "No Workspace matches the given query.")
        return {"currency_code": self.currency, "total_balance": self.balance, "available_balance": self.balance}

    # What participants do

    def reserve(self, study_id: str, pid: str) -> str:
        """Let a participant take a place and open the study; return the address that their browser goes to."""
        row = self.studies[study_id]
        assert row["status"] == "ACTIVE", row["status"]
        assert self.places_taken(row) < row["total_available_places"], "no place is left"
        assert not any(
            pid in self.groups[group]["participant_ids"] for one in row["filters"] for group in one["selected_values"]
        )
        most = row["submissions_config"]["max_submissions_per_participant"]
        own = [one for one in self.subs.values() if one["participant"] == pid and one["study"] == study_id]
        assert most == -1 or len(own) < most, "this person took part before"
        now = datetime.now(UTC).isoformat()
        sub = {"id": self.new_id(), "study": study_id, "participant": pid, "status": "ACTIVE", "started_at": now}
        self.subs[sub["id"]] = {**sub, "completed_at": None, "code": "", "bonuses": [], "returns": []}
        return self.address(sub["id"])

    def address(self, sub_id: str, **claims: object) -> str:
        """Return the address of a submission, signed where the study says so."""
        sub = self.subs[sub_id]
        row = self.studies[sub["study"]]
        query = {"PROLIFIC_PID": sub["participant"], "STUDY_ID": sub["study"], "SESSION_ID": sub_id}
        base = row["external_study_url"].partition("?")[0]
        if row["is_external_study_url_secure"]:
            now = int(time.time())
            said = {"iss": "https://www.prolific.com", "iat": now, "exp": now + 120, "aud": base, "sub": sub_id}
            said |= {"prolific": {**query, "workspace_id": self.WORKSPACE}} | claims
            token = jwt.encode(said, self.key, algorithm="RS256", headers={"kid": "key-1"})
            query["prolific_token"] = token
        return f"{base}?{urlencode(query)}"

    def complete(self, url: str, farewell: str) -> None:
        """Let a participant's browser arrive at Prolific's last page with a completion code."""
        sub = self.subs[re.search(r"SESSION_ID=(\w+)", url)[1]]
        assert urlsplit(farewell).path == "/submissions/complete"
        sub["code"] = re.search(r"cc=(\w+)", farewell)[1]
        [code] = [one for one in self.studies[sub["study"]]["completion_codes"] if one["code"] == sub["code"]]
        sub["status"], sub["completed_at"] = "AWAITING REVIEW", datetime.now(UTC).isoformat()
        sub["returns"] += [one["return_reason"] for one in code["actions"] if one["action"] == "REQUEST_RETURN"]
        row = self.studies[sub["study"]]
        if self.places_taken(row) >= row["total_available_places"] and not any(
            one["study"] == row["id"] and one["status"] == "ACTIVE" for one in self.subs.values()
        ):
            row["status"] = "AWAITING REVIEW"

    @route("GET", "/.well-known/study/jwks.json")
    def keys(self, _request: Request):
        made = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**made, "kid": "key-1", "use": "sig", "alg": "RS256"}]}

    # Submissions

    @route("GET", f"{API}/submissions/")
    def submissions(self, request: Request):
        wanted = request.query.get("status", "").replace("_", " ")
        if request.query.get("study") not in self.studies or (
            wanted and wanted not in {*OCCUPY, "RETURNED", "REJECTED"}
        ):
            raise refuse(400, "Unknown study or status.")
        rows = [
            {
                "id": one["id"],
                "participant_id": one["participant"],
                "status": one["status"],
                "started_at": one["started_at"],
                "completed_at": one["completed_at"],
                "study_code": one["code"],
                "ip": "192.0.2.1",
            }
            for one in self.subs.values()
            if one["study"] == request.query["study"] and wanted in ("", one["status"])
        ]
        size = int(request.query.get("page_size", 20))
        first = (int(request.query.get("page", 1)) - 1) * size
        return {"results": rows[first : first + size], "meta": {"count": len(rows)}}

    def sub(self, request: Request) -> dict:
        row = self.subs.get(request.found[0])
        if row is None:
            raise refuse(404, "No Submission matches the given query.")
        return row

    @route("GET", API + r"/submissions/(\w+)/")
    def detail(self, request: Request):
        row = self.sub(request)
        return {
            "id": row["id"],
            "participant": row["participant"],
            "status": row["status"],
            "entered_code": row["code"],
            "bonus_payments": row["bonuses"],
        }

    @route("POST", API + r"/submissions/(\w+)/transition/")
    def decide(self, request: Request):
        row, sent = self.sub(request), request.json()
        wanted = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}.get(sent["action"])
        if wanted is None:
            raise refuse(400, {"action": ["Unknown."]})
        is_short = len(sent.get("message", "")) < 100
        if wanted == "REJECTED" and (is_short or sent.get("rejection_category") not in CATEGORIES):
            raise refuse(400, {"message": ["At least 100 characters."]})
        if row["status"] == wanted:
            return self.detail(request)
        if row["status"] in ("APPROVED", "REJECTED", "RETURNED"):
            raise refuse(400, f"The submission is {row['status']}, which is final.")
        row["status"] = wanted
        return self.detail(request)

    @route("POST", f"{API}/submissions/bonus-payments/")
    def bonus(self, request: Request):
        sent = request.json()
        lines = [line.split(",") for line in sent["csv_bonuses"].splitlines()]
        for who, amount in lines:
            if who not in self.subs or self.subs[who]["study"] != sent["study_id"]:
                raise refuse(400, f"{who} has no submission in this study.")
            if not re.fullmatch(r"\d+\.\d\d", amount):
                raise refuse(400, "Amounts are decimal.")
        made = {"id": self.new_id(), "lines": [(who, round(float(amount) * 100)) for who, amount in lines]}
        self.bonuses[made["id"]] = made
        amount = sum(cents for _who, cents in made["lines"])
        return Answer(201, {"id": made["id"], "amount": amount, "fees": round(amount * self.fee), "vat": 0})

    @route("POST", API + r"/bulk-bonus-payments/(\w+)/pay/")
    def pay(self, request: Request):
        made = self.bonuses.get(request.found[0])
        if made is None:
            raise refuse(404, "No BulkBonusPayment matches the given query.")
        for who, cents in made["lines"]:  # twice pays twice
            self.lock(cents)
            self.subs[who]["bonuses"].append(cents)
        return Answer(202, None)

    # Groups, messages, hooks

    @route("GET", f"{API}/participant-groups/")
    def group_list(self, request: Request):
        return self.paged([{"id": row["id"], "name": row["name"]} for row in self.groups.values()], request)

    @route("POST", f"{API}/participant-groups/")
    def group_new(self, request: Request):
        sent = request.json()
        if sent["workspace_id"] != self.WORKSPACE:
            raise refuse(404, "No Workspace matches the given query.")
        row = {"id": self.new_id(), "name": sent["name"], "participant_ids": set(sent["participant_ids"])}
        self.groups[row["id"]] = row
        return Answer(201, {"id": row["id"], "name": row["name"]})

    @route("POST", API + r"/participant-groups/(\w+)/participants/")
    def group_add(self, request: Request):
        self.groups[request.found[0]]["participant_ids"] |= set(request.json()["participant_ids"])
        return {}

    @route("DELETE", API + r"/participant-groups/(\w+)/participants/")
    def group_drop(self, request: Request):
        self.groups[request.found[0]]["participant_ids"] -= set(request.json()["participant_ids"])
        return {}

    @route("POST", f"{API}/messages/")
    def message(self, request: Request):
        sent = request.json()
        if set(sent) != {"recipient_id", "body", "study_id"} or sent["study_id"] not in self.studies:
            raise refuse(400, "Fields are missing.")
        self.messages.append(sent)
        return Answer(204, None)

    @route("POST", f"{API}/hooks/secrets/")
    def secret(self, request: Request):
        assert request.json() == {"workspace_id": self.WORKSPACE}
        self.hook_secret = f"hook-{self.new_id()}"
        return Answer(201, {"id": self.new_id(), "value": self.hook_secret, "workspace_id": self.WORKSPACE})

    @route("POST", f"{API}/hooks/subscriptions/")
    def subscribe(self, request: Request):
        sent = request.json()
        if not sent["target_url"].startswith("https://"):
            raise refuse(400, {"target_url": ["https is required."]})
        row = {**sent, "id": self.new_id(), "is_enabled": False}
        self.subscriptions.append(row)
        return Answer(201, row, {"X-Hook-Secret": f"confirm-{row['id']}"})

    @route("POST", API + r"/hooks/subscriptions/(\w+)/")
    def subscription(self, request: Request):
        [row] = [one for one in self.subscriptions if one["id"] == request.found[0]]
        if request.json()["secret"] != f"confirm-{row['id']}":
            raise refuse(400, "Wrong secret.")
        row["is_enabled"] = True
        return row

    def event(self, post, body: dict, secret: str = "", stamp: str = "1760000000"):
        """Send an event as Prolific does; ``post`` takes the body and the headers."""
        raw = json.dumps(body).encode()
        mark = hmac.new((secret or self.hook_secret).encode(), stamp.encode() + raw, hashlib.sha256).digest()
        headers = {
            "X-Prolific-Request-Timestamp": stamp,
            "X-Prolific-Request-Signature": base64.b64encode(mark).decode(),
            "X-Event-ID": "1",
        }
        return post(raw, headers)
