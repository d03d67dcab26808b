"""Campaigns that are done, one split of which can be sealed, with a person in every role and all that they can ask for."""

import itertools
import json
import logging
import random
import re
import zipfile
from datetime import timedelta
from io import BytesIO

from django.apps import apps
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management.color import no_style
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEvent, Role
from annotation.campaigns.services.campaigns import NewSplit
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import Annotation, Participation, Snapshot
from evaluation.models import Board, SystemScores, Team
from evaluation.services import board_create, submission_add, team_enter
from evaluation.system_scores import scores_refresh
from exports.models import Release
from exports.services import release_request
from jobs.models import Job
from jobs.terminal import run_here
from quality.certificates.entries import LABELS, RECORD
from quality.dashboard.charts.campaign import DRAWINGS
from quality.dashboard.services import quality_numbers_refresh
from quality.experts.services.cases import case_ask
from quality.experts.services.inspections import inspection_decide
from quality.experts.services.opinions import case_discuss, consensus_confirm, consensus_propose, opinion_give
from quality.models import (
    Case,
    CaseMessage,
    CaseReason,
    CaseState,
    CertificateState,
    Inspection,
    Opinion,
    QualitySnapshot,
    StudySnapshot,
    Verdict,
)
from quality.people.services.behaviour import behaviour_refresh
from quality.studies.services import studies_refresh
from tests import factories
from tests.api.client import Api
from tests.api.test_matrix import operations
from tests.evaluation.predicted import draw as sample
from tests.evaluation.predicted import predictions, upload
from tests.guards.test_matrix import POLICY, own_routes
from tests.guards.world import address, parameters
from tests.quality.certificates.worlds import draw, freeze, go_on, judge
from tests.quality.worlds import expert_of

BELOW = ("annotator", "manager", "expert", "researcher")
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"  # of jobs, drawn again each time
WHEN = r"\d{4}-\d\d-\d\d|\d\d?:\d\d(?::\d\d(?:\.\d+)?)?"  # a minute may pass between two looks
CHANGING = re.compile(rf'name="csrfmiddlewaretoken" value="[^"]*"|"token": "[^"]*"|{UUID}|{WHEN}'.encode())
JOB_ORDER = ("created_at", "kind")  # their keys are drawn, and two kinds may be created at one moment
KEPT = (
    (Snapshot, ["pk"], ("data",)),
    (QualitySnapshot, ["pk"], ("data",)),
    (StudySnapshot, ["pk"], ("data",)),
    (SystemScores, ["pk"], ("data",)),
    (Job, JOB_ORDER, ("kind", "payload", "result", "message", "error")),
    (AuditEvent, ["pk"], ("data",)),
)
REFRESH = (numbers_refresh, quality_numbers_refresh, behaviour_refresh, studies_refresh, scores_refresh)


class Judged:
    """A campaign with its people; subclasses collect the answers and the experts' opinions."""

    release_as: tuple[str, int | None] = ("", None)

    def __init__(self):
        self.now = timezone.now()
        self.campaign = self.begin()
        self.people = {role: factories.user() for role in Role.values}
        for role, person in self.people.items():
            factories.join(self.campaign, person, role)
        self.collect()
        factories.examine(self.campaign)
        self.test = self.campaign.splits.get(name="test")
        self.items = list(self.test.items.order_by("pk"))
        self.ask_experts()
        for one in Inspection.objects.filter(campaign=self.campaign):
            inspection_decide(inspection=one, verdict="right", exclude=False, actor_id=None, now=self.now)
        train = Annotation.objects.filter(campaign=self.campaign).exclude(item__in=self.items)
        self.answers = list({str(one.answer): one.answer for one in train.order_by("pk")}.values())
        self.before = self.release()
        self.apis = {role: Api(self.people[role]) for role in BELOW}

    def begin(self):
        raise NotImplementedError

    def collect(self):
        raise NotImplementedError

    def ask_experts(self):
        raise NotImplementedError

    def said(self, draw):
        """Return what an expert says of each part of a case."""
        raise NotImplementedError

    def release(self):
        family, ways = self.release_as
        made = release_request(
            campaign=self.campaign,
            family=family,
            ways=ways,
            splits=[],
            seed=0,
            shards=1,
            actor_id=None,
            now=self.now + timedelta(milliseconds=Release.objects.count()),
        )
        factories.run_jobs()
        made.refresh_from_db()
        return made

    def probe(self, release):
        """Submit adaptive predictions to a board of a release, as a researcher, within its limits."""

    def relabel(self, seed):
        """Give everything that was said of the test split another content, as if it had been said at the time."""
        draw = random.Random(seed)
        for row in Annotation.objects.filter(item__in=self.items).order_by("pk"):
            Annotation.objects.filter(pk=row.pk).update(answer=draw.choice(self.answers), redacted_at=self.now)
            Annotation.objects.filter(pk=row.pk).update(redacted_at=None)
        for row in Verdict.objects.filter(item__in=self.items).order_by("pk"):
            Verdict.objects.filter(pk=row.pk).update(label=draw.randint(1, 4))
        for row in Opinion.objects.filter(case__item__in=self.items).order_by("pk"):
            said = {part: self.said(draw) for part in row.said}
            Opinion.objects.filter(pk=row.pk).update(said=said, justification=f"Words of {seed}.")
        CaseMessage.objects.filter(case__item__in=self.items).update(text=f"Talk of {seed}.")

    def things(self):
        """Return what addresses can name in this campaign."""
        return {
            "item_id": [item.pk for item in self.items[:3]],
            "case_id": list(Case.objects.order_by("pk").values_list("pk", flat=True)),
            "surrogate_id": list(
                Participation.objects.filter(campaign=self.campaign)
                .order_by("pk")
                .values_list("surrogate_id", flat=True)
            ),
            "number": list(Release.objects.order_by("number").values_list("number", flat=True)),
            "name": sorted(
                {name for one in Release.objects.all() for name in one.manifest.get("files", {})}
                | {"manifest.json", LABELS, RECORD}
            ),
            "board_number": list(Board.objects.order_by("number").values_list("number", flat=True)),
            "figure": list(DRAWINGS),
            "job_id": list(Job.objects.order_by(*JOB_ORDER).values_list("pk", flat=True)),
            "slug": [self.campaign.slug],
            "campaign_id": [self.campaign.pk],
            "split_name": ["test"],
            "campaign": [self.campaign.slug],
        }

    def addresses(self):
        """Yield every address that can be asked for in this campaign, with each of the things that it can name."""
        things = self.things()
        for route, pattern in own_routes():
            named = [part.rpartition(":")[2] for part in parameters(pattern)]
            if "get" in POLICY[route][0].split() and all(one in things for one in named):
                for values in itertools.product(*(things[one] for one in named)):
                    yield route, address(pattern, dict(zip(named, values, strict=True)))
        for query in ("differs=on", "format=csv", "format=csv&differs=on", f"person={things['surrogate_id'][0]}"):
            yield "items", f"/campaigns/{self.campaign.slug}/items/?{query}"

    def operations(self):
        """Yield every reading operation of the API, with each of the things that it can name."""
        things = self.things()
        for name, method, path in operations():
            named = re.findall(r"{(\w+)}", path)
            if method == "GET" and all(one in things for one in named):
                for values in itertools.product(*(things[one] for one in named)):
                    yield name, path.format(**dict(zip(named, values, strict=True)))

    def everything(self, seed, caplog):
        """Return all that people below administrators can get at, and what is kept beside it, under some labels."""
        caplog.set_level(logging.INFO)
        caplog.clear()
        begin_again()
        with transaction.atomic():
            self.relabel(seed)
            after = self.release()
            self.probe(after)
            for refresh in REFRESH:
                refresh(campaign=self.campaign, now=self.now)
            found = {("all", "files"): {name: stored(after, name) for name in after.manifest["files"]}}
            for role in BELOW:
                client = Client()
                client.force_login(self.people[role])
                for place, (route, path) in enumerate(self.addresses()):
                    found[role, route, place] = told(client.get(path))
                for place, (name, path) in enumerate(self.operations()):
                    for accept in ("application/json", "application/x-ndjson"):
                        found[role, name, (place, accept)] = told(self.apis[role].get(path, Accept=accept))
            rows = [list(model.objects.order_by(*by).values_list(*names)) for model, by, names in KEPT]
            found["all", "kept"] = re.sub(UUID, "", repr(rows))
            found["all", "log"] = [re.sub(UUID, "", record.getMessage()) for record in caplog.records]
            transaction.set_rollback(True)
        return found


class Relevance(Judged):
    """Pairs with labels, two of them discussed by experts."""

    release_as = ("antique", None)

    def begin(self):
        made = factories.antique(items=0, splits=[NewSplit("train", 2, 1), NewSplit("test", 2, 3)])
        factories.import_rows(made, factories.pairs(40))
        factories.launch(made)
        return made

    def collect(self):
        for worker in [factories.annotator(self.campaign) for _ in range(2)]:
            for _ in range(40):
                held = factories.claim(self.campaign, worker)
                factories.submit(factories.label(held, 1 + held.item_id % 4))

    def said(self, draw):
        return draw.randint(1, 4)

    def probe(self, release):
        # A step that chance among so few items does not take: a score may be shown of course, where it is better.
        board = board_create(
            release=release, split="test", metric="accuracy", step=0.5, a_day=9, actor_id=None, now=self.now
        )
        person, guess = (
            self.people["researcher"],
            {item.published_id: 1 + place % 4 for place, item in enumerate(self.items)},
        )
        team_enter(board=board, name="probing", code="", surrogate_id=person.surrogate_id, now=self.now)
        Team.objects.update(code="")  # drawn again each time
        for label in range(1, 5):
            told = {**guess, self.items[0].published_id: label}
            lines = "".join(json.dumps({"item_id": item, "label": one}) + "\n" for item, one in told.items())
            submission_add(
                board=board,
                file=SimpleUploadedFile("p", lines.encode()),
                name="p",
                system="s",
                options={},
                surrogate_id=person.surrogate_id,
                now=self.now + timedelta(milliseconds=100 + label),
            )
        factories.run_jobs()

    def ask_experts(self):
        second = factories.user()
        factories.join(self.campaign, second, Role.EXPERT)
        first = self.people["expert"].surrogate_id
        for item in self.items[:2]:
            case_ask(item=item, because=CaseReason.MANAGER, experts=2, actor_id=None, now=self.now)
            case = Case.objects.filter(item=item).latest("pk")
            for who, label in ((first, 4), (second.surrogate_id, 1)):
                opinion_give(case=case, surrogate_id=who, said={"label": label}, justification="So.", now=self.now)
            case.refresh_from_db()
            case_discuss(case=case, surrogate_id=first, text="Look.", now=self.now)
            proposal = consensus_propose(
                case=case, surrogate_id=first, said={"label": 4}, justification="So it is.", now=self.now
            )
            consensus_confirm(case=case, proposal_id=proposal.pk, surrogate_id=second.surrogate_id, now=self.now)
        self.certify()

    def certify(self):
        """Have the labels certified by an expert who finds them right."""
        boss, expert = self.people["manager"], expert_of(self.campaign)
        certificate = freeze(self.campaign, boss, error=0.5, risk=0.4, twice=0)
        draw(certificate, boss)
        certificate.refresh_from_db()
        while certificate.state == CertificateState.JUDGING:
            for case in Case.objects.filter(campaign=self.campaign, state=CaseState.OPEN).order_by("pk"):
                judge(case, expert, case.certificate_label.verdict.label)
            go_on()
            certificate.refresh_from_db()


class Questions(Judged):
    """Questions with six annotations each, a sample of which an expert judged: all studies can be computed."""

    release_as = ("nq-original", 6)

    def begin(self):
        made = factories.campaign(splits=[NewSplit("train", 6), NewSplit("test", 6)])
        factories.import_questions(made, [f"question {number} about the harbour" for number in range(26)])
        factories.launch(made)
        return made

    def collect(self):
        chosen = ({"box": 0, "kind": "yes"}, {"box": 1}, {"box": -1}, {"label": "bad"}, {"box": 3}, {"box": 0})
        for number, worker in enumerate([factories.annotator(self.campaign) for _ in range(6)]):
            for item in range(26):
                factories.annotate(self.campaign, worker, **chosen[(item + number // 3) % 6])

    def said(self, draw):
        return draw.choice(["correct", "debatable", "wrong"])

    def ask_experts(self):
        payload = {
            "campaign": str(self.campaign.pk),
            "experts": 1,
            "count": 20,
            "seed": 1,
            "every_answer": False,
            "least": 1,
        }
        run_here(kind="quality.sample_cases", payload=payload, stderr=factories.Quiet(), scope_id=self.campaign.pk)
        for case in Case.objects.filter(campaign=self.campaign).order_by("pk"):
            self.judge(case)
        self.compare()

    def judge(self, case):
        """Have the expert find all parts correct."""
        said, expert = dict.fromkeys((part["key"] for part in case.parts), "correct"), self.people["expert"]
        opinion_give(case=case, surrogate_id=expert.surrogate_id, said=said, justification="Yes.", now=self.now)

    def compare(self):
        """Have the expert judge a system among the annotators."""
        upload(self.campaign, predictions(self.campaign, lambda number: number % 3), "reader", self.people["manager"])
        assert sample(self.campaign, 26, who=self.people["manager"]).result["drawn"] == 26
        for case in Case.objects.filter(campaign=self.campaign, state=CaseState.OPEN).order_by("pk"):
            self.judge(case)


def begin_again():
    """Have rows that are made next get the same keys again: what is rolled back leaves PostgreSQL's sequences as they are."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(apps.get_models())):
            cursor.execute(statement)


def told(answer):
    """Return what an answer says, but for what is drawn again each time."""
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    if answer.get("Content-Type") == "application/zip":
        with zipfile.ZipFile(BytesIO(body)) as files:
            return [files.read(name) for name in sorted(files.namelist())]
    return answer.status_code, CHANGING.sub(b"", body)


def stored(release, name):
    with storages["releases"].open(f"{release.folder}/{name}") as file:
        return file.read()


def differing(first, second):
    """Return the routes and other things that are not the same under two sets of labels."""
    assert first.keys() == second.keys()
    return {key[1] for key in first if first[key] != second[key]}
