"""A stand-in for the Hugging Face Hub: repositories of datasets with commits and tags, as its libraries use it."""

import base64
import hashlib
import json
import re
from urllib.parse import parse_qs

from tests.standin import Answer, Request, StandIn, route

REPO = r"/api/datasets/([\w.-]+/[\w.-]+)"


class HubStandIn(StandIn):
    TOKEN = "hf_token"

    def __init__(self) -> None:
        super().__init__()
        self.repos: dict[str, dict] = {}
        self.blobs: dict[str, bytes] = {}

    def guard(self, request: Request) -> None:
        is_upload = request.path.startswith("/blobs/")
        authorized = request.headers.get("Authorization")
        if is_upload and authorized:
            raise Answer(400, {"error": "a token doesn't belong in a request to the file store"})
        if not is_upload and request.method not in {"GET", "HEAD"} and authorized != f"Bearer {self.TOKEN}":
            raise Answer(401, {"error": "Invalid credentials"})

    def repo(self, request: Request) -> dict:
        name = request.found[0]
        row = self.repos.get(name)
        if row is None or (row["private"] and request.headers.get("Authorization") != f"Bearer {self.TOKEN}"):
            raise Answer(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
        return row

    def commit_of(self, row: dict, revision: str) -> dict:
        oid = row["tags"].get(revision, row["commits"][-1]["oid"] if revision == "main" else revision)
        found = next((one for one in row["commits"] if one["oid"] == oid), None)
        if found is None:
            raise Answer(404, {"error": "no such revision"}, {"X-Error-Code": "RevisionNotFound"})
        return found

    def add_commit(self, row: dict, files: dict[str, bytes], summary: str) -> str:
        oid = hashlib.sha1(repr((sorted(files), len(row["commits"]))).encode()).hexdigest()
        row["commits"].append({"oid": oid, "files": files, "summary": summary})
        return oid

    @route("POST", "/api/repos/create")
    def create(self, request: Request):
        sent = request.json()
        if sent.get("type") != "dataset":
            raise Answer(400, {"error": "type"})
        name = f"{sent.get('organization') or 'me'}/{sent['name']}"
        if name in self.repos:
            return Answer(409, {"error": "exists", "url": f"{self.url}/datasets/{name}"})
        private = sent.get("private", sent.get("visibility") == "private")
        self.repos[name] = {"private": private, "commits": [], "tags": {}}
        self.add_commit(self.repos[name], {".gitattributes": b"*.parquet filter=lfs\n"}, "initial commit")
        return {"url": f"{self.url}/datasets/{name}", "name": name, "id": name}

    @route("PUT", REPO + "/settings")
    def settings(self, request: Request):
        row, sent = self.repo(request), request.json()
        row["private"] = sent.get("private", sent.get("visibility", "private") == "private")
        return {}

    @route("POST", "/api/validate-yaml")
    def validate(self, request: Request):
        sent = request.json()
        if sent.get("repoType") != "dataset" or not sent["content"].startswith("---\n"):
            raise Answer(400, {"errors": [{"message": "no front matter"}]})
        return {"errors": [], "warnings": []}

    @route("GET", "/api/whoami-v2")
    def me(self, _request: Request):
        return {"name": "me", "type": "user"}

    @route("POST", REPO + "/preupload/([^/]+)")
    def preupload(self, request: Request):
        self.repo(request)
        files = request.json()["files"]
        if len(files) > 256 or any({"path", "size", "sample"} - set(one) for one in files):
            raise Answer(400, {"error": "files"})
        binary = (".parquet", ".gz")
        return {
            "files": [
                {
                    "path": one["path"],
                    "uploadMode": "lfs" if one["path"].endswith(binary) else "regular",
                    "shouldIgnore": False,
                }
                for one in files
            ]
        }

    @route("POST", r"/datasets/([\w.-]+/[\w.-]+)\.git/info/lfs/objects/batch")
    def batch(self, request: Request):
        self.repo(request)
        objects = []
        for one in request.json()["objects"]:
            if not re.fullmatch("[0-9a-f]{64}", one["oid"]):
                raise Answer(422, {"error": "oid"})
            action = (
                {} if one["oid"] in self.blobs else {"actions": {"upload": {"href": f"{self.url}/blobs/{one['oid']}"}}}
            )
            objects.append({"oid": one["oid"], "size": one["size"], **action})
        return {"transfer": "basic", "objects": objects}

    @route("PUT", "/blobs/([0-9a-f]{64})")
    def blob(self, request: Request):
        if hashlib.sha256(request.body).hexdigest() != request.found[0]:
            raise Answer(400, {"error": "another content"})
        self.blobs[request.found[0]] = request.body
        return Answer(200)

    @route("POST", REPO + "/commit/([^/]+)")
    def commit(self, request: Request):
        row = self.repo(request)
        lines = [json.loads(line) for line in request.body.splitlines() if line]
        files = dict(self.commit_of(row, request.found[1])["files"])
        summary = ""
        for line in lines:
            value = line["value"]
            if line["key"] == "header":
                summary = value["summary"]
            elif line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"], validate=True)
            elif line["key"] == "lfsFile":
                if value["oid"] not in self.blobs or len(self.blobs[value["oid"]]) != value["size"]:
                    raise Answer(400, {"error": "the object isn't there"})
                files[value["path"]] = self.blobs[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
            else:
                raise Answer(400, {"error": line["key"]})
        oid = self.add_commit(row, files, summary)
        return {"commitOid": oid, "commitUrl": f"{self.url}/datasets/{request.found[0]}/commit/{oid}"}

    @route("POST", REPO + "/tag/([^/]+)")
    def tag(self, request: Request):
        row, name = self.repo(request), request.json()["tag"]
        if name in row["tags"]:
            raise Answer(409, {"error": "Tag exists"})
        row["tags"][name] = self.commit_of(row, request.found[1])["oid"]
        return Answer(200, {})

    @route("GET", REPO)
    def info(self, request: Request):
        return self._info(request, "main")

    @route("GET", REPO + "/revision/([^/]+)")
    def revision(self, request: Request):
        return self._info(request, request.found[1])

    def _info(self, request: Request, revision: str):
        row = self.repo(request)
        commit = self.commit_of(row, revision)
        siblings = [{"rfilename": name} for name in commit["files"]]
        return {
            "id": request.found[0],
            "sha": commit["oid"],
            "siblings": siblings,
            "private": row["private"],
            "tags": [],
            "downloads": 0,
            "likes": 0,
        }

    @route("GET", REPO + "/refs")
    def refs(self, request: Request):
        row = self.repo(request)
        tags = [{"name": name, "ref": f"refs/tags/{name}", "targetCommit": oid} for name, oid in row["tags"].items()]
        main = {"name": "main", "ref": "refs/heads/main", "targetCommit": row["commits"][-1]["oid"]}
        return {"branches": [main], "converts": [], "tags": tags}

    @route("GET", REPO + "/tree/([^/]+)(?:/(.*))?")
    def tree(self, request: Request):
        files = self.commit_of(self.repo(request), request.found[1])["files"]
        folder = f"{request.found[2]}/" if request.found[2] else ""
        inside = {name: content for name, content in files.items() if name.startswith(folder)}
        if request.query.get("recursive", "").lower() != "true":
            folders = {folder + rest.split("/")[0] for name in inside if "/" in (rest := name[len(folder) :])}
            inside = {name: content for name, content in inside.items() if "/" not in name[len(folder) :]}
        else:
            folders = {name.rpartition("/")[0] for name in inside if "/" in name[len(folder) :]}
        if folder and not inside and not folders:
            raise Answer(404, {"error": "no such folder"}, {"X-Error-Code": "EntryNotFound"})
        return [
            *({"type": "directory", "path": name, "oid": "0" * 40, "size": 0} for name in sorted(folders)),
            *(_entry(name, content) for name, content in sorted(inside.items())),
        ]

    @route("POST", REPO + "/paths-info/([^/]+)")
    def paths(self, request: Request):
        files = self.commit_of(self.repo(request), request.found[1])["files"]
        sent = request.json() if request.body.startswith(b"{") else _form(request.body)
        paths = sent["paths"] if isinstance(sent["paths"], list) else [sent["paths"]]
        found = [_entry(name, files[name]) for name in paths if name in files]
        folders = [name for name in paths if any(one.startswith(f"{name}/") for one in files)]
        return [*found, *({"type": "directory", "path": name, "oid": "0" * 40, "size": 0} for name in folders)]

    @route("HEAD", r"/datasets/([\w.-]+/[\w.-]+)/resolve/([^/]+)/(.+)")
    def head(self, request: Request):
        return self._file(request)

    @route("GET", r"/datasets/([\w.-]+/[\w.-]+)/resolve/([^/]+)/(.+)")
    def file(self, request: Request):
        return self._file(request)

    def _file(self, request: Request):
        commit = self.commit_of(self.repo(request), request.found[1])
        content = commit["files"].get(request.found[2])
        if content is None:
            raise Answer(404, {"error": "Entry not found"}, {"X-Error-Code": "EntryNotFound"})
        headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()}"', "X-Repo-Commit": commit["oid"]}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("Range") or "")
        if asked:
            first, last = int(asked[1]), int(asked[2] or len(content) - 1)
            part = content[first : last + 1]
            headers["Content-Range"] = f"bytes {first}-{first + len(part) - 1}/{len(content)}"
            return Answer(206, part, headers)
        return Answer(200, content, {"Content-Type": "application/octet-stream", **headers})


def _entry(name: str, content: bytes) -> dict:
    return {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}


def _form(body: bytes) -> dict:
    return dict(parse_qs(body.decode()))
