"""A stand-in for Zenodo's deposit API, written from its public description."""

import copy
import hashlib

from tests.standin import Answer, Request, StandIn, route

API = "/api/deposit/depositions"
KNOWN = {
    "upload_type", "title", "creators", "description", "access_right", "license", "version", "keywords", "notes",
    "related_identifiers", "language", "publication_date",
}  # fmt: skip


class ZenodoStandIn(StandIn):
    TOKEN = "zenodo_token"

    def __init__(self) -> None:
        super().__init__()
        self.deposits: dict[int, dict] = {}
        self._next = 100

    def guard(self, request: Request) -> None:
        if request.headers.get("Authorization") != f"Bearer {self.TOKEN}":
            raise Answer(401, {"message": "The server could not verify that you are authorized"})

    def shown(self, row: dict) -> dict:
        links = {
            "self": f"{self.url}{API}/{row['id']}",
            "html": f"{self.url}/deposit/{row['id']}",
            "bucket": f"{self.url}/api/files/bucket-{row['id']}",
        }
        if row["latest_draft"]:
            links["latest_draft"] = f"{self.url}{API}/{row['latest_draft']}"
        doi = f"10.5072/zenodo.{row['id']}"
        metadata = {**copy.deepcopy(row["metadata"]), "prereserve_doi": {"doi": doi}}
        more = {"doi": doi, "conceptrecid": row["concept"]} if row["submitted"] else {}
        if row["submitted"]:
            links["record_html"] = f"{self.url}/records/{row['id']}"
        return {"id": row["id"], "submitted": row["submitted"], "metadata": metadata, "links": links, **more}

    def draft(self, concept: int = 0, **values) -> dict:
        self._next += 1
        row = {
            "id": self._next,
            "concept": concept or self._next,
            "metadata": {},
            "files": {},
            "submitted": False,
            "latest_draft": None,
            **values,
        }
        row["latest_draft"] = row["id"]
        self.deposits[row["id"]] = row
        return row

    def row(self, request: Request) -> dict:
        row = self.deposits.get(int(request.found[0]))
        if row is None:
            raise Answer(404, {"message": "PID does not exist."})
        return row

    @route("GET", API)
    def list(self, request: Request):
        rows = [
            row for row in self.deposits.values() if not (request.query.get("status") == "draft" and row["submitted"])
        ]
        return [self.shown(row) for row in sorted(rows, key=lambda row: -row["id"])][
            : int(request.query.get("size", 10))
        ]

    @route("POST", API)
    def create(self, request: Request):
        sent = request.json() or {}
        return Answer(201, self.shown(self.draft(metadata=self._checked(sent.get("metadata", {})))))

    @route("GET", API + r"/(\d+)")
    def get(self, request: Request):
        return self.shown(self.row(request))

    @route("PUT", API + r"/(\d+)")
    def put(self, request: Request):
        row, sent = self.row(request), request.json()["metadata"]
        if row["submitted"]:
            raise Answer(403, {"message": "Published"})
        row["metadata"] = self._checked(sent)
        missing = [name for name in ("upload_type", "title", "creators", "description") if not sent.get(name)]
        if sent.get("access_right") == "open" and not sent.get("license"):
            missing.append("license")
        if missing:
            raise Answer(
                400, {"message": "Validation error.", "errors": [{"field": n, "message": "required"} for n in missing]}
            )
        return self.shown(row)

    def _checked(self, metadata: dict) -> dict:
        if unknown := set(metadata) - KNOWN:
            raise Answer(400, {"message": "Unknown fields", "errors": [{"field": str(unknown), "message": "unknown"}]})
        if metadata.get("license", "").lower() != metadata.get("license", ""):
            raise Answer(
                400, {"message": "Validation error.", "errors": [{"field": "license", "message": "unknown id"}]}
            )
        return metadata

    @route("GET", API + r"/(\d+)/files")
    def files(self, request: Request):
        files = self.row(request)["files"]
        return [
            {
                "id": f"file-{name}",
                "filename": name,
                "filesize": len(content),
                "checksum": hashlib.md5(content).hexdigest(),
            }
            for name, content in files.items()
        ]

    @route("DELETE", API + r"/(\d+)/files/file-(.+)")
    def remove(self, request: Request):
        row = self.row(request)
        if row["submitted"]:
            raise Answer(403, {"message": "Published"})
        del row["files"][request.found[1]]
        return Answer(204)

    @route("PUT", r"/api/files/bucket-(\d+)/([^/]+)")
    def upload(self, request: Request):
        row = self.row(request)
        if row["submitted"]:
            raise Answer(403, {"message": "Bucket is locked"})
        row["files"][request.found[1]] = request.body
        return Answer(201, {"key": request.found[1], "checksum": f"md5:{hashlib.md5(request.body).hexdigest()}"})

    @route("POST", API + r"/(\d+)/actions/publish")
    def publish(self, request: Request):
        row = self.row(request)
        if row["submitted"]:
            raise Answer(403, {"message": "Published already"})
        if not row["files"] or not row["metadata"].get("title"):
            raise Answer(400, {"message": "Validation error.", "errors": [{"field": "files", "message": "no files"}]})
        row["submitted"] = True
        for one in self.deposits.values():
            if one["concept"] == row["concept"]:
                one["latest_draft"] = None
        return Answer(202, self.shown(row))

    @route("POST", API + r"/(\d+)/actions/newversion")
    def newversion(self, request: Request):
        row = self.row(request)
        latest = max(
            one["id"] for one in self.deposits.values() if one["concept"] == row["concept"] and one["submitted"]
        )
        if not row["submitted"] or row["id"] != latest:
            raise Answer(400, {"message": "Only the latest published version"})
        if row["latest_draft"]:
            raise Answer(
                400, {"message": "Validation error.", "errors": [{"field": "files.enabled", "message": "files"}]}
            )
        draft = self.draft(row["concept"], metadata=copy.deepcopy(row["metadata"]), files=dict(row["files"]))
        row["latest_draft"] = draft["id"]
        return Answer(201, self.shown(row))
