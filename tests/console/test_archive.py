"""A campaign leaves one installation and goes on in another, and its releases come out as before, byte for byte."""

import fcntl
import gzip
import io
import json
import shutil
import tarfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.apps import apps
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from accounts.identities import user_erase
from annotation.campaigns.services.campaigns import campaign_move
from annotation.models import CampaignState
from console.archives.reading import archive_read
from console.archives.tables import PAGES, PEOPLE, ROWS, STAYS, ArchiveError, model_named
from exports.services import release_request
from jobs.services import job_enqueue
from storage.tars import hashed_tar
from tests import factories
from tests.console.test_backup import elsewhere, manage
from tests.evaluation.predicted import judge_all, predictions, upload
from tests.exports.conftest import judged  # noqa: F401  a fixture
from tests.quality.certificates.worlds import certified_campaign
from tests.quality.worlds import expert_of
from tests.workforces.acts import by_link
from tests.workforces.link.panel import come, link

pytestmark = pytest.mark.django_db(transaction=True)
slow = pytest.mark.slow


def closed(campaign):
    campaign_move(campaign=campaign, to=CampaignState.CLOSED, actor_id=None, now=timezone.now())
    return campaign


def written(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


@pytest.fixture
def relevance(judged):  # noqa: F811
    """Return a campaign with verdicts, an expert, gold, a panel's visit, and a person who was erased since."""
    factories.gold_keys(judged, 2)
    come(by_link(link(judged), "p1", "s1"))
    first = judged.annotations.order_by("pk")[0].surrogate.user
    user_erase(user=first, actor_id=first.surrogate_id, now=timezone.now())
    return closed(judged)


@pytest.fixture
def questions():
    """Return a campaign with a page, answers, a release that is kept here, and a system that experts judged."""
    campaign = factories.campaign(n=2, items=3)
    for box in (0, 1):
        person = factories.annotator(campaign)
        for _ in range(3):
            factories.annotate(campaign, person, box=box)
    release_request(
        campaign=campaign,
        family="nq-simplified",
        ways=2,
        splits=[],
        seed=3,
        shards=2,
        actor_id=None,
        now=timezone.now(),
    )
    upload(campaign, predictions(campaign, lambda number: 1), "reader")
    expert_of(campaign)
    job_enqueue(
        kind="evaluation.sample_predictions",
        payload={"campaign": str(campaign.pk), "count": 3, "experts": 1},
        now=timezone.now(),
        scope_id=campaign.pk,
    )
    factories.run_jobs()
    judge_all(campaign)
    return closed(campaign)


@pytest.fixture
def certified():
    """Return a campaign whose labels are certified: its releases hold the record."""
    return closed(certified_campaign()[0])


@contextmanager
def installations(tmp_path):
    """Yield the environments of empty installations: on this kind of database, and on SQLite."""
    with elsewhere(tmp_path / "here") as environment:
        yield (
            [environment]
            if connection.vendor == "sqlite"
            else [environment, on_sqlite(environment, tmp_path / "other")]
        )


def on_sqlite(environment, folder):
    return environment | {"QUORATE_DATA": str(folder), "DATABASE_URL": f"sqlite:///{folder}/quorate.sqlite3"}


@slow
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("relevance", ["--format", "antique"]),
        ("certified", ["--format", "antique"]),
        ("questions", ["--format", "nq-original", "--ways", "2"]),
    ],
)
def test_a_campaign_moves_and_is_released_again_to_the_same_bytes(request, tmp_path, kind, options):
    campaign = request.getfixturevalue(kind)
    call_command("release", campaign.slug, *options, "--author", "Tolliver, Agnes", "--to", str(tmp_path / "first"))
    assert (kind == "certified") is ("certificate/labels.jsonl" in written(tmp_path / "first"))
    number = str(campaign.releases.count())
    call_command("archive", campaign.slug, str(tmp_path / "moved.tar"))
    with installations(tmp_path) as found:
        for place, environment in enumerate(found):
            done = manage(environment, "archive_import", str(tmp_path / "moved.tar"))
            assert done.returncode == 0, done.stderr
            again = tmp_path / f"again{place}"
            done = manage(environment, "release", campaign.slug, "--again", number, "--to", str(again))
            assert done.returncode == 0, done.stderr
            assert written(again) == written(tmp_path / "first")
            back = manage(environment, "archive", campaign.slug, "-")
            assert back.returncode == 0, back.stderr
            assert same(members(io.BytesIO(back.stdout))) == same(members((tmp_path / "moved.tar").open("rb")))
            refused = manage(environment, "archive_import", str(tmp_path / "moved.tar"))
            assert refused.returncode != 0
            assert b"isn't empty" in refused.stderr


def members(stream):
    with tarfile.open(fileobj=stream) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar}


def same(found):
    """Return what is the same after a move: all but the log, which says so, numbers of accounts, and jobs of releases."""
    changed = {
        f"rows/{label}.jsonl.gz"
        for label in ("accounts.AuditEvent", "accounts.User", "accounts.Membership", "exports.Release")
    }
    return {name: data for name, data in found.items() if name not in changed | {"manifest.json"}}


def archived(campaign, tmp_path):
    call_command("archive", campaign.slug, str(tmp_path / "a.tar"))
    return (tmp_path / "a.tar").read_bytes()


def test_every_table_is_archived_or_says_why_it_stays():
    ours = {"accounts", "annotation", "api", "documents", "exports", "jobs", "quality", "workforces", "evaluation"}
    every = {model._meta.label for model in apps.get_models(include_auto_created=True) if model._meta.app_label in ours}
    every -= {"accounts.User_groups", "accounts.User_user_permissions"}
    assert every == {*ROWS, *PAGES, *PEOPLE, *STAYS}


def test_an_archive_holds_every_row_and_file_of_its_campaign_and_nothing_of_another(relevance, tmp_path):
    other = factories.campaign(n=1, items=2)
    factories.annotate(other, factories.annotator(other))
    archive = archived(relevance, tmp_path)
    found = members(io.BytesIO(archive))
    for label in (
        "annotation.Item",
        "annotation.Annotation",
        "quality.Verdict",
        "quality.GoldKey",
        "workforces.Ticket",
    ):
        rows = gzip.decompress(found[f"rows/{label}.jsonl.gz"]).splitlines()
        assert len(rows) == ROWS_OF[label](relevance), label
    assert b"harbour" not in b"".join(gzip.decompress(data) for name, data in found.items() if name.startswith("rows/"))
    assert not [name for name in found if name.startswith("documents/")]  # pairs have no pages


ROWS_OF = {
    label: lambda campaign, label=label: model_named(label).objects.filter(**{ROWS[label]: campaign.pk}).count()
    for label in ROWS
}


def test_passwords_and_rights_over_the_installation_stay(questions, tmp_path):
    factories.user("boss", is_admin=True)
    archive = archived(questions, tmp_path)
    fields = json.loads(members(io.BytesIO(archive))["manifest.json"])["tables"]["accounts.User"]["fields"]
    assert "email" in fields
    assert not {"password", "is_admin"} & set(fields)


def test_what_is_still_going_on_is_not_archived(questions, tmp_path):
    campaign_move(campaign=questions, to=CampaignState.OPEN, actor_id=None, now=timezone.now())
    with pytest.raises(CommandError, match="pause or close it first"):
        call_command("archive", questions.slug, str(tmp_path / "a.tar"))
    closed(questions)
    job_enqueue(kind="exports.write", payload={}, now=timezone.now(), scope_id=questions.pk)
    with pytest.raises(CommandError, match="a job of it is not finished"):
        call_command("archive", questions.slug, str(tmp_path / "a.tar"))
    assert list(tmp_path.iterdir()) == []


def test_an_archive_is_never_written_over_a_file(questions, tmp_path):
    (tmp_path / "a.tar").write_bytes(b"precious")
    with pytest.raises(CommandError, match="choose another file name"):
        call_command("archive", questions.slug, str(tmp_path / "a.tar"))
    assert (tmp_path / "a.tar").read_bytes() == b"precious"


def test_what_a_killed_archive_left_is_written_again_and_two_are_not_written_at_once(questions, tmp_path):
    part = tmp_path / ".a.tar.part"
    part.write_bytes(b"half of one")
    with part.open("ab") as other:
        fcntl.flock(other.fileno(), fcntl.LOCK_EX)
        with pytest.raises(CommandError, match="another archive is being written"):
            call_command("archive", questions.slug, str(tmp_path / "a.tar"))
        assert part.read_bytes() == b"half of one"
    call_command("archive", questions.slug, str(tmp_path / "a.tar"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar"]
    assert members(io.BytesIO((tmp_path / "a.tar").read_bytes()))["manifest.json"]


def changed(archive, **members_of):
    """Return an archive with other members or another manifest, and hashes that say so."""
    found = members(io.BytesIO(archive))
    manifest = {**json.loads(found.pop("manifest.json")), **members_of.pop("manifest", {})}
    out = io.BytesIO()
    with hashed_tar(out) as tar:
        for name, data in {**found, **members_of}.items():
            if data is not None:
                tar.add_bytes(name, data)
        tar.finish({name: value for name, value in manifest.items() if name != "files"})
    return out.getvalue()


def one_of(archive, beginning):
    return next(name for name in members(io.BytesIO(archive)) if name.startswith(beginning))


ORPHAN = gzip.compress(b'["00000000-0000-4000-8000-000000000000"]\n')


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (lambda data: data[: len(data) // 2], "can't be read|cut short"),
        (lambda data: changed(data, manifest={"format": "another"}), "isn't a campaign archive"),
        (lambda data: changed(data, manifest={"migrations": {}}), "another version"),
        (lambda data: changed(data, manifest={"tables": {}}), "is missing from the archive"),
        (lambda data: changed(data, manifest={"tables": [1]}), "isn't that of a campaign archive"),
        (lambda data: changed(data, manifest={"campaign": "another"}), "a campaign other than"),
        (lambda data: changed(data, manifest={"made_at": 7}), "isn't that of a campaign archive"),
        (
            lambda data: changed(data, **{"rows/annotation.Split.jsonl.gz": gzip.compress(b"[" * 100_000)}),
            "are inconsistent",
        ),
        (
            lambda data: changed(data, **{"rows/annotation.Split.jsonl.gz": gzip.compress(b"[]" * 9)[:-9]}),
            "are inconsistent",
        ),
        (
            lambda data: changed(data, **{"rows/annotation.EventChunk.jsonl.gz": ORPHAN}),
            "are inconsistent|its manifest lists",
        ),
        (
            lambda data: changed(data, **{one_of(data, "documents/pages/"): gzip.compress(b"planted")}),
            "doesn't match its hash",
        ),
        (
            lambda data: changed(data, **{one_of(data, "documents/tokens/"): gzip.compress(b"planted")}),
            "doesn't match its hash",
        ),
        (lambda data: changed(data, **{one_of(data, "documents/pages/"): None}), "can't be read"),
        (lambda data: changed(data, **{one_of(data, "documents/display/"): None}), "is missing"),
        (lambda data: changed(data, **{"documents/pages/aa/more": b"x"}), "nothing in the archive refers to it"),
        (lambda data: changed(data, **{"rows/annotation.Batch.jsonl.gz": None}), "are inconsistent|can't be read"),
        (lambda data: changed(data, **{"rows/accounts.Scope.jsonl.gz": ORPHAN}), "are inconsistent"),
        (
            lambda data: changed(data, **{"rows/annotation.Split.jsonl.gz": gzip.compress(b"[1]\n")}),
            "are inconsistent",
        ),
        (lambda data: changed(data, **{"rows/annotation.Split.jsonl.gz": b"no gzip"}), "are inconsistent"),
    ],
)
def test_a_damaged_archive_brings_nothing_in(questions, tmp_path, harm, why):
    archive = archived(questions, tmp_path)
    call_command("flush", interactive=False, verbosity=0)
    for store in ("documents", "releases"):
        shutil.rmtree(storages[store].location, ignore_errors=True)
    with pytest.raises(ArchiveError, match=why):
        archive_read(io.BytesIO(harm(archive)), now=timezone.now())
    assert not [label for label in (*ROWS, *PAGES, *PEOPLE) if model_named(label).objects.exists()]
    for store in ("documents", "releases"):
        assert not [path for path in Path(storages[store].location).rglob("*") if path.is_file()]
    archive_read(io.BytesIO(archive), now=timezone.now())
    assert model_named("annotation.Annotation").objects.count() == 6


def test_who_has_an_account_there_is_who_they_were(questions, tmp_path):
    person = questions.annotations.order_by("pk")[0].surrogate.user
    archive, surrogate = archived(questions, tmp_path), person.surrogate_id
    call_command("flush", interactive=False, verbosity=0)
    there = factories.user(person.email.partition("@")[0], is_admin=True)
    assert there.surrogate_id != surrogate
    archive_read(io.BytesIO(archive), now=timezone.now())
    there.refresh_from_db()
    assert (there.surrogate_id, there.is_admin) == (surrogate, True)
    assert there.check_password("correct horse battery")
    assert there.memberships.count() == 1


def test_an_account_under_a_persons_address_shows_first_that_it_is_theirs(questions, tmp_path):
    """Where addresses are not confirmed, a stranger could have made it."""
    person = questions.annotations.order_by("pk")[0].surrogate.user
    archive = archived(questions, tmp_path)
    joined = dict(model_named("accounts.User").objects.values_list("email", "date_joined"))
    call_command("flush", interactive=False, verbosity=0)
    there = factories.user(person.email.partition("@")[0])
    archive_read(io.BytesIO(archive), now=timezone.now())
    there.refresh_from_db()
    assert not there.has_usable_password()
    others = model_named("accounts.User").objects.exclude(pk=there.pk)
    assert others.exists()
    assert all(one.date_joined == joined[one.email] for one in others)


def test_what_a_killed_import_left_is_removed_by_the_next(questions, tmp_path, settings):
    archive = archived(questions, tmp_path)
    call_command("flush", interactive=False, verbosity=0)
    left = Path(settings.DATA_DIR) / ".archive-left/rows"
    left.mkdir(parents=True)
    (left / "accounts.User.jsonl.gz").write_bytes(b"names")
    archive_read(io.BytesIO(archive), now=timezone.now())
    assert not list(Path(settings.DATA_DIR).glob(".archive-*"))
