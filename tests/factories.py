"""Valid things by default; a test says only what matters to it."""

import io
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone

from accounts.models import ConsentText, Role, User
from accounts.selectors import consent_text_current
from accounts.services import consent_give, consent_text_publish, membership_grant, role_waiver_grant
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create, campaign_move
from annotation.items.services.documents import documents_import
from annotation.items.services.items import items_import
from annotation.management.campaigns import launch_here
from annotation.models import Annotation, Assignment, Campaign, CampaignState, FaqEntry, Item, ItemReport
from annotation.slots.services.claims import slot_claim_next
from annotation.work.services.drafts import stage_advance
from annotation.work.services.submissions import assignment_submit
from documents.html.errors import DocumentError
from documents.html.sandbox import ParsedPage, parse_page
from documents.html.tokens import CandidateRules
from documents.intake import IncomingPage, read_pages
from documents.services import limits
from jobs.models import Job, JobState
from jobs.work import Work
from storage.tables.rows import parse_rows

_numbers = itertools.count(1)

PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>Harbour - Wikipedia</title></head><body>
<h1>Harbour</h1>
<p>The harbour of Lund was built in 1871 by Agnes Tolliver and her brother.</p>
<p>It has two piers, one of them 300 metres long, and it is open all year.</p>
<ul><li>North pier, built in 1871 from granite</li><li>South pier, built in 1902 from oak</li></ul>
<h2>References</h2><ul><li>A book about harbours, by nobody at all</li></ul>
</body></html>"""


class Quiet:
    """A terminal that nobody reads."""

    def write(self, text: str) -> None:
        pass

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


def consent_text(campaign: Campaign) -> ConsentText:
    """Publish a new consent text, to which nobody has agreed."""
    with transaction.atomic():
        return consent_text_publish(
            scope_id=campaign.pk,
            purpose="Something else.",
            recorded="More.",
            contact="a@example.org",
            approval_id="",
            actor_id=None,
            now=timezone.now(),
        )


def user(name: str = "", **fields: Any) -> User:
    name = name or f"person{next(_numbers)}"
    return User.objects.create_user(f"{name}@example.org", "correct horse battery", name=name.capitalize(), **fields)


def campaign(n: int = 1, items: int = 0, **options: Any) -> Campaign:
    """Return an open campaign with the page above; with items, they are launched."""
    number = next(_numbers)
    splits = options.pop("splits", [NewSplit("dev", n)])
    made = campaign_create(
        slug=options.pop("slug", f"campaign-{number}"),
        title=f"Campaign {number}",
        task_type="nq",
        splits=splits,
        consent=NewConsent("For the tests.", "Answers.", "tests@example.org"),
        created_by=options.pop("created_by", None),
        now=timezone.now(),
        **{"seed": 7, **options},
    )
    import_page(made)
    if items:
        import_questions(made, [f"question {index} about the harbour" for index in range(items)])
        launch(made)
    else:
        campaign_move(campaign=made, to=CampaignState.OPEN, actor_id=None, now=timezone.now())
    return made


def import_page(campaign: Campaign, html: str = PAGE, name: str = "harbour.html") -> Job:
    """Import pages, parsed in this process: the child processes with limits have tests of their own."""
    pages = read_pages(io.BytesIO(html.encode()), name, max_bytes=limits().max_bytes)
    return _imported(campaign, lambda work: documents_import(work=work, campaign=campaign, pages=pages, parse=_parsed))


def _parsed(pages: Iterable[IncomingPage]) -> Iterator[tuple[IncomingPage, ParsedPage | DocumentError]]:
    for page in pages:
        try:
            yield page, _parsed_page(page.raw)
        except DocumentError as error:
            yield page, error


@lru_cache(maxsize=100)
def _parsed_page(raw: bytes) -> ParsedPage:
    return parse_page(raw, CandidateRules(), limits())


def import_rows(campaign: Campaign, rows: list[dict[str, Any]], **options: Any) -> Job:
    """Import rows, read in this process: the child process with limits has tests of its own."""
    data = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
    chosen = {"pilot": False, "good_rows_only": False, **options}
    coming = parse_rows(data, "rows.jsonl")
    return _imported(campaign, lambda work: items_import(work=work, campaign=campaign, rows=coming, **chosen))


def _imported(campaign: Campaign, import_: Callable[[Work], dict[str, Any]]) -> Job:
    """Import within a job, as `jobs.terminal.run_here` does, and return the job as it ended."""
    now = timezone.now()
    job = Job.objects.create(
        kind="tests.import",
        lane="bulk",
        scope_id=campaign.pk,
        state=JobState.RUNNING,
        attempt=1,
        due_at=now,
        created_at=now,
        lease_until=now + timedelta(hours=1),
    )
    try:
        job.result = {**job.result, **import_(Work(job))}
    except ValueError as error:
        raise CommandError(str(error)) from error
    job.state, job.finished_at, job.lease_until = JobState.DONE, timezone.now(), None
    job.save()
    return job


def import_questions(campaign: Campaign, questions: list[str], **options: Any) -> Any:
    start = Item.objects.filter(campaign=campaign).count()
    rows = [
        {"id": f"q{start + number}", "question": question, "document": "harbour.html"}
        for number, question in enumerate(questions)
    ]
    return import_rows(campaign, rows, **options)


def launch(campaign: Campaign) -> int:
    slots = launch_here(campaign, Quiet())
    campaign.refresh_from_db()
    return slots


def annotator(campaign: Campaign, name: str = "") -> User:
    """Return someone who may annotate and has agreed to do so."""
    person = user(name)
    join(campaign, person)
    text = consent_text_current(campaign.pk)
    assert text is not None
    consent_give(text_id=text.pk, surrogate_id=person.surrogate_id, now=timezone.now())
    return person


def waive(campaign: Campaign, person: User) -> None:
    """Allow a person to manage a campaign and to annotate or judge in it."""
    role_waiver_grant(
        user=person,
        scope_id=campaign.pk,
        reason="One person does both in this test.",
        actor_id=person.surrogate_id,
        now=timezone.now(),
    )


def join(campaign: Campaign, person: User, role: str = Role.ANNOTATOR) -> None:
    with transaction.atomic():
        membership_grant(user=person, scope_id=campaign.pk, role=role, actor_id=None, now=timezone.now())


def claim(campaign: Campaign, person: User) -> Assignment:
    claimed = slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
    assert claimed.assignment is not None, claimed.reason
    return claimed.assignment


def answer(
    assignment: Assignment, label: str = "good", box: int = 0, spans: Any = None, kind: str = "none"
) -> Assignment:
    """Fill in the draft of an assignment, stage by stage."""
    stages: list[tuple[str, dict[str, Any]]] = [("question", {"label": label})]
    if label == "good":
        stages.append(("long_answer", {"candidate_index": box}))
        if box >= 0:
            stages.append(("short_answer", {"kind": "spans" if spans else kind, "spans": spans or []}))
    for stage, sent in stages:
        assignment = stage_advance(
            assignment_id=assignment.pk,
            surrogate_id=assignment.surrogate_id,
            stage=stage,
            sent=sent,
            version=assignment.draft_version,
            now=timezone.now(),
        )
    return assignment


def submit(assignment: Assignment) -> Annotation:
    return assignment_submit(
        assignment_id=assignment.pk, surrogate_id=assignment.surrogate_id, now=timezone.now(), another=False
    ).annotation


def annotate(campaign: Campaign, person: User, **chosen: Any) -> Annotation:
    """Claim, answer and submit one item."""
    return submit(answer(claim(campaign, person), **chosen))


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def pairs(count: int, prefix: str = "9") -> list[dict[str, Any]]:
    """Return import rows of the antique task type: question ``k`` with answer ``k``."""
    return [
        {
            "question_id": f"{prefix}{number:05d}",
            "question": f"How do you repair thing number {number}?",
            "answer_id": f"{prefix}{number:05d}_1",
            "answer": f"Take tool {number} and turn it slowly.",
            "possibly_correct_id": f"{prefix}{number:05d}_0",
            "possibly_correct_answer": f"Ask smith {number}.",
            "category": "Home",
        }
        for number in range(count)
    ]


def antique(items: int = 4, n: int = 3, *, gold: int = 0, policy: Any = None, **options: Any) -> Campaign:
    """Return a launched campaign of pairs with a policy."""
    from quality.gold.services.keys import gold_import
    from quality.policies.policy import Policy
    from quality.policies.services import policy_publish

    number = next(_numbers)
    made = campaign_create(
        slug=options.pop("slug", f"antique-{number}"),
        title=options.pop("title", f"Relevance {number}"),
        task_type="antique",
        splits=options.pop("splits", [NewSplit("train", n)]),
        consent=NewConsent("For the tests.", "Answers.", "tests@example.org"),
        created_by=options.pop("created_by", None),
        now=timezone.now(),
        **{"seed": 7, **options},
    )
    policy_publish(campaign=made, policy=policy or Policy(), actor_id=None, now=timezone.now())
    if gold:
        rows = [{**row, "accepted": [4]} for row in pairs(gold, prefix="8")]
        gold_import(campaign=made, rows=list(enumerate(rows, start=1)), actor_id=None, now=timezone.now())
    import_rows(made, pairs(items))
    launch(made)
    return made


def gold_keys(campaign: Campaign, count: int, *, prefix: str = "7", accepted: Any = None) -> list[Any]:
    """Import gold keys of pairs into a campaign, and return them."""
    from quality.gold.services.keys import gold_import
    from quality.models import GoldKey

    rows = [{**row, "accepted": accepted or [4]} for row in pairs(count, prefix=prefix)]
    gold_import(campaign=campaign, rows=list(enumerate(rows, start=1)), actor_id=None, now=timezone.now())
    return list(GoldKey.objects.filter(campaign=campaign).order_by("-pk")[:count])


def question(item: Item, person: User) -> tuple[ItemReport, FaqEntry]:
    """Ask about an item, and publish a question and its answer."""
    now = timezone.now()
    report = ItemReport.objects.create(item=item, surrogate=person.surrogate, text="Does this count?", created_at=now)
    entry = FaqEntry.objects.create(
        campaign=item.campaign, item=item, question="What counts?", answer="This.", published_at=now
    )
    return report, entry


def case_in_discussion(campaign: Campaign, item: Item, expert: User) -> Any:
    """Put an item before two experts who differ, one of them given."""
    from quality.experts.services.cases import case_ask
    from quality.experts.services.opinions import opinion_give
    from quality.models import Case, CaseReason

    boss, other = user(), user()
    join(campaign, other, Role.EXPERT)
    case_ask(item=item, because=CaseReason.MANAGER, experts=2, actor_id=boss.surrogate_id, now=timezone.now())
    case = Case.objects.filter(item=item).latest("pk")
    for person, said in ((expert, 4), (other, 1)):
        opinion_give(
            case=case,
            surrogate_id=person.surrogate_id,
            said={"label": said},
            justification="So it is.",
            now=timezone.now(),
        )
    case.refresh_from_db()
    return case


def label(assignment: Assignment, label: int) -> Assignment:
    """Choose a label for a pair."""
    return stage_advance(
        assignment_id=assignment.pk,
        surrogate_id=assignment.surrogate_id,
        stage="relevance",
        sent={"label": str(label)},
        version=assignment.draft_version,
        now=timezone.now(),
    )


def vote(campaign: Campaign, person: User, chosen: int) -> Annotation:
    """Claim a pair, label it and submit."""
    return submit(label(claim(campaign, person), chosen))


def run_jobs(most: int = 50) -> None:
    """Run what is due, and what that makes due."""
    from jobs.services import jobs_run_due

    for _ in range(most):
        if not jobs_run_due():
            return


def examine(campaign: Campaign) -> None:
    """Have quality control look at what waits."""
    from quality.examination.services import examine_request

    examine_request(campaign_id=campaign.pk, now=timezone.now())
    run_jobs()
