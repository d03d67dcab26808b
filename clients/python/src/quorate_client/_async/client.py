"""The client: all resources, with what scripts and notebooks do again and again."""

import hashlib
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import quote

import msgspec

from quorate_client import models
from quorate_client._async import resources
from quorate_client._async.transport import AsyncTransport
from quorate_client.errors import JobFailed, QuorateError
from quorate_client.records import lines_of, spooled, table_of

WAIT_SECONDS = 20  # of one request; the server answers as soon as something changes


class AsyncJobs(resources.AsyncJobs):
    """Operations on jobs."""

    async def wait(self, job: models.Job, *, check: bool = True) -> models.Job:
        """Wait until a job has ended, and return it.

        Raises
        ------
        JobFailed
            It failed, and ``check`` is set.
        """
        with self._transport.bar(job.total, job.title, unit="") as bar:
            while job.state not in ("done", "failed"):
                job = await self.get(job.id, wait=WAIT_SECONDS)
                bar.total, bar.n = job.total, job.done
                bar.refresh()
        if check and job.state == "failed":
            raise JobFailed(job)
        return job


class AsyncItems(resources.AsyncItems):
    """Operations on items."""

    async def log(
        self,
        campaign: str,
        records: Any,
        *,
        mapping: Mapping[str, str] | None = None,
        on_error: Literal["refuse", "skip"] = "refuse",
        dry_run: bool = False,
        pilot: bool = False,
        wait: bool = True,
        idempotency_key: str | None = None,
    ) -> models.Job:
        """Import records: dicts, a DataFrame, or a dataset of Hugging Face. Logging a record again changes nothing.

        Parameters
        ----------
        mapping
            The names of the platform's columns by those of the records, for example ``{"query": "question"}``.
        on_error
            ``refuse``: import nothing if a record is wrong. ``skip``: import the others.

        Raises
        ------
        JobFailed
            Records are wrong; ``error.job.errors`` names rows and fields.
        """
        with spooled(lines_of(records, mapping)) as file:
            job = await self.import_file(
                campaign,
                file,
                name="records.jsonl",
                good_rows_only=on_error == "skip",
                dry_run=dry_run,
                pilot=pilot,
                idempotency_key=idempotency_key,
            )
        return await AsyncJobs(self._transport).wait(job) if wait else job


class AsyncEvents(resources.AsyncEvents):
    """Operations on events."""

    async def follow(self, campaign: str, *, after: int = 0) -> AsyncIterator[models.Event]:
        """Yield a campaign's events as they happen, without end. To continue later, pass the last ``number``."""
        while True:
            found = await self.after(campaign, after=after, wait=WAIT_SECONDS)
            for event in found.results:
                yield event
            after = found.last


class AsyncAnnotations(resources.AsyncAnnotations):
    """Operations on annotations."""

    async def stream(
        self, campaign: str, *, state: str | None = None, split: str | None = None
    ) -> AsyncIterator[models.Annotation]:
        """Yield all annotations as they were at one moment, from one request. Memory doesn't grow with them."""
        decoder = msgspec.json.Decoder(models.Annotation)
        path = f"/api/v1/campaigns/{quote(campaign, safe='')}/annotations"
        async for line in self._transport.lines(path, {"state": state, "split": split}):
            yield decoder.decode(line)

    async def to_pandas(self, campaign: str, *, state: str | None = None, split: str | None = None) -> Any:
        """Return all annotations as a pandas DataFrame."""
        rows = [msgspec.structs.asdict(one) async for one in self.stream(campaign, state=state, split=split)]
        return table_of(rows, models.Annotation)

    async def to_datasets(self, campaign: str, *, state: str | None = None, split: str | None = None) -> Any:
        """Return all annotations as a dataset of Hugging Face; answers are JSON texts."""
        import datasets  # noqa: PLC0415  optional

        rows = []
        async for one in self.stream(campaign, state=state, split=split):
            row = {**msgspec.structs.asdict(one), "answer": msgspec.json.encode(one.answer).decode()}
            rows.append({name: value for name, value in row.items() if name != "etag"})
        return datasets.Dataset.from_list(rows)


class AsyncLabels(resources.AsyncLabels):
    """Operations on labels."""

    async def to_pandas(self, campaign: str, *, split: str | None = None, history: bool = False) -> Any:
        """Return the labels as a pandas DataFrame."""
        rows = [msgspec.structs.asdict(one) async for one in self.list(campaign, split=split, history=history)]
        return table_of(rows, models.Label)


class AsyncReleases(resources.AsyncReleases):
    """Operations on releases."""

    async def wait(self, campaign: str, number: int) -> models.Release:
        """Wait until the files of a release are written.

        Raises
        ------
        JobFailed
            They can't be written.
        """
        release = await self.get(campaign, number)
        if release.job_id is not None:
            jobs = AsyncJobs(self._transport)
            await jobs.wait(await jobs.get(release.job_id))
        return await self.get(campaign, number)

    async def download(self, campaign: str, number: int, to: str | Path) -> list[Path]:
        """Download all files of a release into a folder, and check them against the release's checksums.

        Files that are there already, with the right checksum, aren't downloaded again.

        Raises
        ------
        QuorateError
            A file doesn't have the checksum of the release.
        """
        paths = []
        for file in (await self.files(campaign, number)).results:
            place = Path(to) / file.name
            place.parent.mkdir(parents=True, exist_ok=True)
            if file.sha256 is None or not place.exists() or _sha256(place) != file.sha256:
                await self.download_file(campaign, number, file.name, place)
            if file.sha256 is not None and _sha256(place) != file.sha256:
                raise QuorateError(f"{place}: the checksum isn't that of the release")
            paths.append(place)
        return paths


class AsyncQuorate:
    """An installation, as one token sees it.

    Examples
    --------
    >>> with Quorate("https://quorate.example", token) as quorate:  # doctest: +SKIP
    ...     job = quorate.items.log("relevance", [{"question_id": "1", "question": "…", "answer_id": "2", "answer": "…"}])
    ...     quorate.batches.launch("relevance", 1)
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 60.0,
        attempts: int = 6,
        progress: bool | None = None,
    ) -> None:
        """Connect to an installation; nothing is sent yet.

        Parameters
        ----------
        url, token
            By default the environment variables ``QUORATE_URL`` and ``QUORATE_TOKEN``.
        timeout, attempts, progress
            See `quorate_client._sync.transport.Transport`.

        Raises
        ------
        ValueError
            The URL or the token is missing.
        """
        url, token = url or os.environ.get("QUORATE_URL"), token or os.environ.get("QUORATE_TOKEN")
        if not url or not token:
            raise ValueError("Give the URL and a token, or set QUORATE_URL and QUORATE_TOKEN.")
        self._transport = transport = AsyncTransport(url, token, timeout=timeout, attempts=attempts, progress=progress)
        self.annotations = AsyncAnnotations(transport)
        self.audits = resources.AsyncAudits(transport)
        self.batches = resources.AsyncBatches(transport)
        self.boards = resources.AsyncBoards(transport)
        self.campaigns = resources.AsyncCampaigns(transport)
        self.cases = resources.AsyncCases(transport)
        self.consent = resources.AsyncConsent(transport)
        self.documents = resources.AsyncDocuments(transport)
        self.events = AsyncEvents(transport)
        self.faq = resources.AsyncFaq(transport)
        self.gold_keys = resources.AsyncGoldKeys(transport)
        self.guidelines = resources.AsyncGuidelines(transport)
        self.invitations = resources.AsyncInvitations(transport)
        self.items = AsyncItems(transport)
        self.jobs = AsyncJobs(transport)
        self.labels = AsyncLabels(transport)
        self.members = resources.AsyncMembers(transport)
        self.people = resources.AsyncPeople(transport)
        self.policy = resources.AsyncPolicy(transport)
        self.quality = resources.AsyncQuality(transport)
        self.questions = resources.AsyncQuestions(transport)
        self.releases = AsyncReleases(transport)
        self.reviews = resources.AsyncReviews(transport)
        self.rules = resources.AsyncRules(transport)
        self.splits = resources.AsyncSplits(transport)
        self.spot_checks = resources.AsyncSpotChecks(transport)
        self.studies = resources.AsyncStudies(transport)
        self.token = resources.AsyncToken(transport)
        self.webhooks = resources.AsyncWebhooks(transport)
        self.workforces = resources.AsyncWorkforces(transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection."""
        await self._transport.aclose()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
