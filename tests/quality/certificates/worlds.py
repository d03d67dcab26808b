"""Campaigns whose labels are certified: frozen, drawn, and judged."""

from django.utils import timezone

from jobs.services import job_enqueue
from quality.certificates.record import Record
from quality.certificates.selectors import files_of
from quality.certificates.services import certificate_draw, certificates_due
from quality.experts.services.opinions import opinion_give
from quality.models import Case, CaseState, Certificate, CertificateState, Verdict
from tests import factories
from tests.quality.worlds import expert_of

ITEMS = 60
SEED = "8f3a"
ASKED = {"error": 0.2, "risk": 0.05, "guess": 0.0, "twice": 0.2, "source": "a beacon", "commitments": {}}


def labelled_campaign(**options):
    """Return a campaign of many items, each labeled 4 by one vote, its manager and two experts."""
    campaign = factories.antique(items=ITEMS, n=1, **options)
    person = factories.annotator(campaign)
    for _ in range(ITEMS):
        factories.vote(campaign, person, 4)
    factories.examine(campaign)
    assert Verdict.objects.filter(campaign=campaign).count() == ITEMS
    return campaign, factories.user(is_admin=True), [expert_of(campaign) for _ in range(2)]


def freeze(campaign, boss, **changed):
    job_enqueue(
        kind="quality.certificate_freeze",
        payload={"campaign": str(campaign.pk), **ASKED, **changed},
        now=timezone.now(),
        scope_id=campaign.pk,
        requested_by_id=boss.surrogate_id,
    )
    factories.run_jobs()
    return Certificate.objects.order_by("-pk").first()


def draw(certificate, boss, seed=SEED, reveals=()):
    certificate_draw(
        certificate=certificate,
        seed=seed,
        reveals=dict(reveals),
        actor_id=boss.surrogate_id,
        now=timezone.now(),
    )
    factories.run_jobs()


def go_on():
    """Let the sweep find what there is to do, and do it. Without a tick, whose heartbeat would age on pages."""
    certificates_due(timezone.now())
    factories.run_jobs()


def judge(case, expert, label):
    opinion_give(
        case=case, surrogate_id=expert.surrogate_id, said={"label": label}, justification="", now=timezone.now()
    )


def judge_open(campaign, experts, wrong=()):
    """Let experts judge all open cases; the items in ``wrong`` as 1, the others as 4."""
    for case in Case.objects.filter(campaign=campaign, state=CaseState.OPEN).order_by("pk"):
        for expert in experts[: case.experts]:
            judge(case, expert, 1 if case.item.external_id in wrong else 4)


def in_folder(certificate, folder):
    """Write the files of a certificate as they are downloaded, and return their record."""
    folder.mkdir(exist_ok=True)
    for name, chunks in files_of(certificate).items():
        (folder / name).write_bytes(b"".join(chunks))
    return Record(folder)


def finish(campaign, certificate, experts, wrong=()):
    """Let experts judge until the audit ends."""
    while certificate.state == CertificateState.JUDGING:
        judge_open(campaign, experts, wrong)
        go_on()
        certificate.refresh_from_db()


def certified_campaign(source="a beacon", **options):
    """Return a campaign whose labels are certified, its manager and two experts."""
    campaign, boss, experts = labelled_campaign(**options)
    certificate = freeze(campaign, boss, source=source)
    draw(certificate, boss)
    certificate.refresh_from_db()
    finish(campaign, certificate, experts)
    assert certificate.state == CertificateState.CERTIFIED
    return campaign, boss, experts
