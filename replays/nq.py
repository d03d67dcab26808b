"""The collection of Natural Questions (Kwiatkowski et al. 2019), by synthetic annotators using the pages.

The development set: 7,830 questions with five annotations each by about fifty people, 302 of them with twenty more;
four experts judge a sample; releases, official scoring, and the studies of sections 3.3 to 5.2.
"""

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from django.core.management import call_command
from django.utils import timezone

from accounts.models import Surrogate
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.management.campaigns import launch_here
from annotation.models import Campaign, Item
from annotation.tasktypes.nq.judging import CORRECT, DEBATABLE, WRONG
from jobs.terminal import run_here
from measures.studies import as_json, usual_alpha
from quality.experts.services.opinions import consensus_confirm, consensus_propose, opinion_give
from quality.models import Case, CaseReason, CaseState
from quality.studies.selectors.studies import (
    StudyError,
    bounds_of,
    examples_of,
    precision_of,
    statistics_of,
    variability_of,
)
from replays.base import Asked, State
from replays.ensemble import ensemble_of
from replays.members import HIRED, MembersAtWork, crowd_of
from replays.pages import page
from replays.settling import Stuck
from replays.synthetic import accounts
from replays.terminals import Kept, Quiet, Say
from replays.words import length, words
from simulation.model import Pace
from simulation.people import Person, people_of
from simulation.questions import QuestionWorld
from simulation.world import chance_of, plain
from storage.secrets import new_password

ITEMS, STUDY, ANNOTATORS, WAYS, MANY, JUDGED, EXPERTS = 7_830, 302, 50, 5, 25, 139, 4
QUESTIONS_A_PAGE = 1.5
LEAST_ANNOTATORS = 32  # twenty-five of an item, and some who skipped it
ASKING = ("who", "what", "when", "where", "which", "how")
DOUBT = 0.12  # how often an expert alone finds debatable what all together find correct


def replay(asked: Asked, state: State, say: Say) -> dict[str, Any]:
    """Run the collection, or continue it; return its figures."""
    items = asked.count(ITEMS, 12)
    study = min(asked.count(STUDY, 4), items)
    with state.phase("prepare"):
        campaign = _campaign(asked, state, items, say)
    annotators = asked.count(ANNOTATORS, LEAST_ANNOTATORS)
    with state.phase("accounts"):
        password = state.once("password", new_password)
        emails = accounts(campaign, asked.slug, annotators, password)
    with ensemble_of(asked.slug, ports=state.ports) as services:
        services.start_worker()
        work = MembersAtWork(asked, state, campaign, services, say)
        people, world = _people(asked, annotators), QuestionWorld(asked.seed)
        with state.measuring(services):
            with state.phase("five annotations"):
                work.until_done(work.members(emails, password, people, world), "annotations of five")
            state.once("extended", lambda: _extended(campaign, asked, study))
            with state.phase("twenty more"):
                work.until_done(work.members(emails, password, people, world), "annotations of twenty-five")
    with state.phase("experts"):
        state.once("sampled", lambda: _sampled(campaign, asked, min(asked.count(JUDGED, 4), study)))
        experts = state.once("experts", lambda: [str(Surrogate.objects.create().pk) for _ in range(EXPERTS)])
        _judge_all(campaign, asked, [UUID(expert) for expert in experts])
    with state.phase("release"):
        numbers_refresh(campaign=campaign, now=timezone.now())
        released = state.once("released", lambda: _released(campaign, state))
    with state.phase("studies"):
        studies = _studies(campaign)
    return {"items": items, "study": study, "people": annotators, "released": released, "studies": studies}


def _campaign(asked: Asked, state: State, items: int, say: Say) -> Campaign:
    found = Campaign.objects.filter(slug=asked.slug).first()
    if found is None:
        found = campaign_create(
            slug=asked.slug,
            title="Natural Questions again, by a synthetic crowd",
            task_type="nq",
            created_by=None,
            now=timezone.now(),
            splits=[NewSplit("dev", WAYS)],
            seed=asked.seed,
            is_synthetic=True,
            consent=NewConsent(
                "A replay of a paper.", "Answers and how long they take.", "whoever started this replay"
            ),
        )
    campaign, pages = found, max(4, round(items / QUESTIONS_A_PAGE))
    folder = state.path.parent / f"{asked.slug}-material"
    scope = {"campaign": str(campaign.pk)}

    def run(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        return dict(run_here(kind=kind, payload=scope | payload, stderr=Quiet(), scope_id=campaign.pk).result)

    def imported() -> dict[str, Any]:
        _write(folder, asked, items, pages)
        say(f"{pages:,} pages are written; importing them")
        done = run("annotation.import_documents", {"path": str(folder / "pages"), "name": "pages"})
        return {name: done[name] for name in ("imported", "failed")}

    def launched() -> int:
        path = folder / "questions.jsonl"
        rows = {"path": str(path), "name": path.name, "pilot": False, "good_rows_only": False}
        run("annotation.import_items", rows)
        return launch_here(campaign, Quiet())

    if state.once("pages", imported)["failed"]:
        raise Stuck("a page could not be imported")
    slots = state.once("launched", launched)
    shutil.rmtree(folder, ignore_errors=True)
    campaign.refresh_from_db()
    say(f"{items:,} questions about {pages:,} pages: {slots:,} annotations requested")
    return campaign


def _write(folder: Path, asked: Asked, items: int, pages: int) -> None:
    """Write pages and questions to a folder."""
    (folder / "pages").mkdir(parents=True, exist_ok=True)
    for number in range(pages):
        (folder / "pages" / f"page{number}.html").write_text(page(asked.seed, number), encoding="utf-8")
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        for number in range(items):
            chance = chance_of(asked.seed, "nq", number)
            opening = ASKING[int(chance.integers(len(ASKING)))]
            text = f"{opening} {' '.join(words(chance, length(chance, 8.2, 0.25)))}"
            row = {"id": f"q{number}", "question": text, "document": f"page{number % pages}.html"}
            file.write(json.dumps(row) + "\n")


def _people(asked: Asked, count: int) -> list[Person]:
    """Return annotators who nearly always read with care, because they were trained."""
    care = np.clip(chance_of(asked.seed, "nq people").beta(60, 3, 200), 0.5, 0.999)
    pace = Pace(median=80.0, between=0.35, within=0.6, length=0.15, words=100)  # 80 s on average: section 3.2
    return people_of(crowd_of(care, pace), count, seed=asked.seed, skew=0.6, habits=HIRED)


def _extended(campaign: Campaign, asked: Asked, study: int) -> dict[str, Any]:
    payload = {"campaign": str(campaign.pk), "seed": asked.seed, "split": "dev", "n": MANY, "sample": study}
    return dict(run_here(kind="annotation.extend", payload=payload, stderr=Quiet(), scope_id=campaign.pk).result)


def _sampled(campaign: Campaign, asked: Asked, count: int) -> dict[str, Any]:
    """Send a sample to the experts."""
    sample = {
        "campaign": str(campaign.pk),
        "seed": asked.seed,
        "count": count,
        "experts": EXPERTS,
        "every_answer": False,
        "least": MANY,
    }
    return dict(run_here(kind="quality.sample_cases", payload=sample, stderr=Quiet(), scope_id=campaign.pk).result)


def _judge_all(campaign: Campaign, asked: Asked, experts: list[UUID]) -> None:
    """Have four experts judge the open cases, first alone and then together."""
    world = QuestionWorld(asked.seed)
    waiting = Case.objects.filter(campaign=campaign, because=CaseReason.SAMPLE)
    waiting = waiting.filter(state__in=[CaseState.OPEN, CaseState.CONSENSUS])
    for case in list(waiting.select_related("item__tokenization", "campaign").order_by("pk")):
        _judge(case, experts, world, chance_of(asked.seed, "experts", case.item.external_id))


def _judge(case: Case, experts: list[UUID], world: QuestionWorld, chance: np.random.Generator) -> None:
    found = world.asked(plain(case.item.content["question_text"])).found
    # Where few find an answer, what one found is seldom one; where most do, it is (section 4.2).
    shares = np.array([0.7 * found, 0.28 + 0.1 * (1 - found), 0.02 + 0.35 * (1 - found) ** 2])
    together = (CORRECT, DEBATABLE, WRONG)[int(chance.choice(3, p=shares / shares.sum()))]
    said = {part["key"]: together for part in case.parts}
    spoken = set(case.opinions.values_list("surrogate_id", flat=True))
    for expert in experts:
        doubts = together == CORRECT and chance.random() < DOUBT
        alone = {key: DEBATABLE if doubts else grade for key, grade in said.items()}
        if expert not in spoken:
            opinion_give(case=case, surrogate_id=expert, said=alone, justification="", now=timezone.now())
    if Case.objects.filter(pk=case.pk, state=CaseState.CONSENSUS).exists():
        now = timezone.now()
        proposal = consensus_propose(
            case=case, surrogate_id=experts[0], said=said, justification="Read together.", now=now
        )
        consensus_confirm(case=case, proposal_id=proposal.pk, surrogate_id=experts[1], now=now)


def _released(campaign: Campaign, state: State) -> dict[str, Any]:
    """Release and validate five annotations per item; score one annotator against the others by the official rules."""
    folder = state.path.parent / f"{campaign.slug}-release"
    shutil.rmtree(folder, ignore_errors=True)  # of an attempt that was interrupted
    call_command("release", campaign.slug, format="nq-original", ways=WAYS, to=folder, stdout=Quiet(), stderr=Quiet())
    call_command("release_verify", folder, stdout=Quiet(), stderr=Quiet())
    shards = sorted(folder.glob("nq-dev-*.jsonl.gz"))
    for shard in shards:
        call_command("validate_nq", str(shard), stdout=Quiet(), stderr=Quiet())
    size = sum(_size(shard) for shard in shards)
    return {"shards": len(shards), "bytes": size, "official": _scored(folder)}


def _size(path: Path) -> int:
    with gzip.open(path) as file:
        return sum(len(block) for block in iter(lambda: file.read(1 << 20), b""))


def _scored(folder: Path) -> dict[str, Any]:
    """Return the official scores, in our implementation, with the first annotator as the system."""
    predictions = folder.parent / f"{folder.name}-predictions.json"
    rows = []
    for shard in sorted(folder.glob("nq-dev-*.jsonl.gz")):
        with gzip.open(shard, "rt", encoding="utf-8") as file:
            rows += [_prediction(json.loads(line)) for line in file]
    predictions.write_text(json.dumps({"predictions": rows}), encoding="utf-8")
    out = Kept()
    gold = str(folder / "nq-dev-*.jsonl.gz")
    arguments = ("--gold", gold, "--predictions", str(predictions), "--json")
    call_command("evaluate", "nq", *arguments, stdout=out, stderr=Quiet())
    found: dict[str, Any] = json.loads(out.text)
    return found


def _prediction(record: dict[str, Any]) -> dict[str, Any]:
    first = record["annotations"][0]
    return {
        "example_id": record["example_id"],
        "long_answer": first["long_answer"],
        "long_answer_score": 1.0,
        "short_answers": first["short_answers"],
        "short_answers_score": 1.0,
        "yes_no_answer": first["yes_no_answer"],
    }


def _studies(campaign: Campaign) -> dict[str, Any]:
    """Return the studies of the paper, each with the reason if it isn't possible."""
    made: dict[str, Callable[[], Any]] = {
        "statistics": lambda: statistics_of(campaign),
        "precision": lambda: precision_of(campaign),
        "variability": lambda: variability_of(campaign, MANY),
        "examples": lambda: {"items": _examples(campaign)},
        "bounds": lambda: bounds_of(
            campaign, MANY, references=WAYS, beta=2, alpha=usual_alpha(MANY - WAYS), partitions=20, seed=0
        ),
    }
    found: dict[str, Any] = {}
    for name, compute in made.items():
        try:
            found[name] = as_json(compute())
        except StudyError as error:
            found[name] = {"why": str(error)}
    return found


def _examples(campaign: Campaign) -> list[dict[str, Any]]:
    """Return some judged questions with the answers of twenty-five annotators (Figures 5 and 6)."""
    found = examples_of(campaign, MANY)
    texts = dict(Item.objects.filter(pk__in=[one["item"] for one in found]).values_list("pk", "content__question_text"))
    return [{"question": texts[one["item"]], "answers": one["answers"]} for one in found]
