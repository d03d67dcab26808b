"""The Hugging Face Hub: a dataset repository of the campaign, a commit and a tag for each release.

(huggingface_hub 2.x; hub-docs: datasets-cards.md, eval-results.md.)
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, ClassVar

from django.conf import settings

from exports.citation import quoted
from exports.models import Publication, Release
from exports.publishing.base import Confirm, Hub, HubAway, Published, PublishError, Remember, Wanted

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
FRAMEWORK = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
BENCHMARK = "eval.yaml"


class HuggingFace(Hub):
    """Dataset repositories of the Hugging Face Hub."""

    key: ClassVar[str] = "hugging_face"
    title: ClassVar[str] = "Hugging Face Hub"
    takes_name: ClassVar[bool] = True

    def is_configured(self) -> bool:
        """Return whether a token is set."""
        return bool(settings.HUGGING_FACE_TOKEN)

    def check(self, release: Release, address: str) -> str:
        """Return the name of the repository, ``owner/name``."""
        name = address.strip()
        if not NAME.fullmatch(name) or name.endswith((".git", ".ipynb")) or "--" in name or ".." in name:
            raise PublishError("publish_name")
        return name

    def continues(self, row: Publication) -> bool:
        """Return whether the repository is this campaign's."""
        return bool(row.remote.get("claimed"))

    def visit(self) -> None:
        """Ask who we are there."""
        with _asked():
            _api().whoami()

    def publish(self, wanted: Wanted, remember: Remember, confirm: Confirm) -> Published:
        """Create the repository, replace its files by one commit, tag the commit, and show it to everyone if asked."""
        api = _api()
        name, version = wanted.address, f"v{wanted.release.number}.0.0"
        repo = {"repo_id": name, "repo_type": "dataset"}
        benchmark = _benchmark(wanted)
        if benchmark:
            (wanted.folder / BENCHMARK).write_text(benchmark, encoding="utf-8")
        with _asked():
            if not wanted.remote.get("claimed") and not wanted.earlier.get("claimed"):
                _create(api, repo)
            remember({"claimed": True})
            if not wanted.is_public and not api.repo_info(**repo).private:
                raise PublishError("publish_is_public", name=name)
            if version not in {tag.name for tag in api.list_repo_refs(**repo).tags}:  # else it is there already
                confirm()
                commit = api.upload_folder(
                    **repo,
                    folder_path=wanted.folder,
                    commit_message=f"Release {wanted.release.number}",
                    delete_patterns=["*"],  # files of earlier releases, which stay in the history
                )
                api.create_tag(**repo, tag=version, revision=commit.oid, exist_ok=True)
            if wanted.is_public:
                confirm()
                api.update_repo_settings(**repo, private=False)
        return Published(url=f"{settings.HUGGING_FACE_URL}/datasets/{name}/tree/{version}", version=version)


def _create(api: Any, repo: dict[str, str]) -> None:
    """Create a repository that nobody else sees. One that exists is taken only if there is nothing in it to lose.

    It may be ours, where the answer to its creation was lost.
    """
    from huggingface_hub.errors import HfHubHTTPError  # noqa: PLC0415

    try:
        api.create_repo(**repo, private=True, exist_ok=False)
    except HfHubHTTPError as error:
        if error.response is None or error.response.status_code != HTTPStatus.CONFLICT:
            raise
        if not api.repo_info(**repo).private or set(api.list_repo_files(**repo)) - {".gitattributes"}:
            raise PublishError("publish_exists", name=repo["repo_id"]) from error


def _benchmark(wanted: Wanted) -> str:
    """Return the file that registers the dataset as a benchmark; empty unless its framework was named."""
    framework = wanted.options.get("evaluation_framework", "")
    if not framework:
        return ""
    manifest = wanted.release.manifest
    lines = [
        f"name: {quoted(manifest['title'])}",
        f"description: {quoted(f'Release {wanted.release.number} of {wanted.release.campaign.slug}.')}",
        f"evaluation_framework: {framework}",
        "tasks:",
        f"  - id: {quoted(wanted.release.campaign.slug)}",
        "    config: items",
        "    split: train",  # the name that loaders give to the one file of a table
    ]
    return "\n".join(lines) + "\n"


def _api() -> Any:
    try:
        from huggingface_hub import HfApi, constants  # noqa: PLC0415  an extra, where it is asked for
    except ImportError as error:
        raise PublishError("publish_package", package="requirements-hub.txt") from error
    # Its second way of uploading speaks to further servers and falls back to nothing; this one is plain HTTP.
    constants.HF_HUB_DISABLE_XET = True
    constants.HF_HUB_DISABLE_TELEMETRY = True
    constants.HF_HUB_DISABLE_PROGRESS_BARS = True
    return HfApi(endpoint=settings.HUGGING_FACE_URL, token=settings.HUGGING_FACE_TOKEN)


@contextmanager
def _asked() -> Iterator[None]:
    """Turn the library's errors into ours."""
    from huggingface_hub.errors import HfHubHTTPError, HTTPError  # type: ignore[attr-defined]  # noqa: PLC0415

    try:
        yield
    except PublishError:
        raise
    except (HTTPError, RuntimeError, ValueError, OSError) as error:
        cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error  # of one file
        if isinstance(cause, HfHubHTTPError) and cause.response is not None:
            status = cause.response.status_code
            is_away = status in (408, 429) or status >= 500
        else:
            is_away = isinstance(cause, HTTPError | ConnectionError | TimeoutError)
        if is_away:
            raise HubAway(f"{HuggingFace.title} doesn't respond ({type(cause).__name__})") from error
        # Other texts may hold the token.
        said = _said(cause) if isinstance(cause, HfHubHTTPError) else type(cause).__name__
        raise PublishError("publish_refused", hub=HuggingFace.title, said=said) from error


def _said(error: BaseException) -> str:
    return str(getattr(error, "server_message", None) or error)[:300]
