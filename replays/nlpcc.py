"""The question writing of NLPCC 2017's shared tasks (sections 2 and 3): for facts of a knowledge base and sentences.

1,000 questions for triples and 500 for documents are written, reviewed by a second person and answered blind by a
third, then released in the files of the shared tasks, and scored with a system that compares characters.
"""

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management import call_command
from django.utils import timezone

from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.management.campaigns import launch_here
from annotation.models import Campaign
from jobs.terminal import run_here
from quality.follow_ups.selectors import follow_ups_of
from replays.base import Asked, State
from replays.ensemble import ensemble_of
from replays.members import HIRED, MembersAtWork, crowd_of
from replays.synthetic import accounts
from replays.terminals import Kept, Quiet, Say
from simulation.model import Pace
from simulation.people import people_of
from simulation.reading.writing import WritingWorld, likeness
from simulation.world import chance_of
from storage.secrets import new_password

SIZES = {"kbqa": 1_000, "dbqa": 500}
PEOPLE = 40
# Each refusal keeps two people from an item for good: with eight, two of 26 small replays ran out.
LEAST_PEOPLE = 16
PREDICATES = (
    "出版社",
    "出版时间",
    "作者",
    "页数",
    "位置",
    "面积",
    "人口",
    "气候",
    "创始人",
    "总部",
    "成立时间",
    "别称",
)
RELATIONS = ("位于", "建于", "毗邻", "出产", "属于", "通往", "得名于", "养育了", "流经", "发现于")
SIGNS = "山水石林海江河云风月星光花木草竹松柏桥塔城镇村港湾岛峰谷原野泉溪湖池田园路街门楼阁亭台寺宫殿堂馆院"


def replay(asked: Asked, state: State, say: Say) -> dict[str, Any]:
    """Run both collections, or continue them; return their figures."""
    tasks = {}
    password = state.once("password", new_password)
    count = max(LEAST_PEOPLE, asked.count(PEOPLE))
    care = np.clip(chance_of(asked.seed, "writers").beta(18, 1.6, 200), 0.3, 0.999)
    people = people_of(
        crowd_of(care, Pace(median=60.0, words=40)), count, seed=asked.seed, spam=0.05, skew=0.6, habits=HIRED
    )
    with ensemble_of(asked.slug, ports=state.ports) as services:
        services.start_worker()
        with state.measuring(services):
            for task_type, whole in SIZES.items():
                with state.phase("prepare"):
                    campaign = _campaign(asked, state, task_type, asked.count(whole, 8), say)
                    emails = accounts(campaign, asked.slug, count, password)
                work = MembersAtWork(asked, state, campaign, services, say)
                with state.phase(f"write, review, answer: {task_type}"):
                    members = work.members(emails, password, people, WritingWorld(asked.seed))
                    work.until_done(members, f"{task_type} tasks")
                tasks[task_type] = campaign
    figures: dict[str, Any] = {"people": count}
    for task_type, campaign in tasks.items():
        with state.phase("release"):
            numbers_refresh(campaign=campaign, now=timezone.now())
            released = state.once(f"{task_type} released", partial(_released, campaign, task_type, state))
        figures[task_type] = {
            "items": asked.count(SIZES[task_type], 8),
            "follow_ups": follow_ups_of(campaign),
            **released,
        }
    return figures


def _campaign(asked: Asked, state: State, task_type: str, items: int, say: Say) -> Campaign:
    slug = f"{asked.slug}-{task_type}"
    found = Campaign.objects.filter(slug=slug).first()
    campaign = found or campaign_create(
        slug=slug,
        title=f"NLPCC {task_type.upper()} again, by a synthetic crowd",
        task_type=task_type,
        created_by=None,
        language="zh",
        now=timezone.now(),
        splits=[NewSplit("test", 1)],
        seed=asked.seed,
        is_synthetic=True,
        consent=NewConsent(
            "A replay of a paper.",
            "Answers and how long they take.",
            "whoever started this replay",
            tells_behaviour=True,
        ),
    )

    def launched() -> int:
        path = state.path.parent / f"{slug}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = _triples(asked.seed, items) if task_type == "kbqa" else _documents(asked.seed, items)
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
        payload = {
            "campaign": str(campaign.pk),
            "path": str(path),
            "name": path.name,
            "pilot": False,
            "good_rows_only": False,
        }
        run_here(kind="annotation.import_items", payload=payload, stderr=Quiet(), scope_id=campaign.pk)
        path.unlink()
        return launch_here(campaign, Quiet())

    state.once(f"{task_type} launched", launched)
    campaign.refresh_from_db()
    say(f"{items:,} questions to write ({task_type})")
    return campaign


def _name(chance: np.random.Generator, signs: int) -> str:
    return "".join(chance.choice(list(SIGNS), size=signs))


def _triples(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Yield facts about imaginary things, each with four other facts about the same thing."""
    for number in range(count):
        chance = chance_of(seed, "triple", number)
        subject = f"{_name(chance, 3)}{number}号"
        chosen = chance.choice(len(PREDICATES), size=5, replace=False)
        facts = [f"{PREDICATES[place]} ||| {_name(chance, int(chance.integers(2, 6)))}" for place in chosen]
        yield {"id": f"t{number}", "triple": f"{subject} ||| {facts[0]}", "facts": facts}


def _documents(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Yield documents of four to twelve sentences."""
    for number in range(count):
        chance = chance_of(seed, "document", number)
        sentences = [
            f"{_name(chance, 4)}{RELATIONS[int(chance.integers(len(RELATIONS)))]}{_name(chance, int(chance.integers(3, 9)))}。"
            for _ in range(int(chance.integers(4, 13)))
        ]
        yield {"id": f"d{number}", "title": f"{_name(chance, 2)}{number}", "sentences": sentences}


def _released(campaign: Campaign, task_type: str, state: State) -> dict[str, Any]:
    """Release and verify the data, and score a system that compares characters."""
    folder = state.path.parent / f"{campaign.slug}-release"
    shutil.rmtree(folder, ignore_errors=True)
    call_command("release", campaign.slug, format=task_type, to=folder, stdout=Quiet(), stderr=Quiet())
    call_command("release_verify", folder, stdout=Quiet(), stderr=Quiet())
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    scored = {"kbqa": _scored_facts, "dbqa": _scored_sentences}[task_type](folder)
    return {"questions": sum(manifest["splits"].values()), "shortfall": manifest["shortfall"], "scored": scored}


def _scored_sentences(folder: Path) -> dict[str, Any]:
    pairs = folder / "dbqa-test.tsv"
    rows = [line.split("\t") for line in pairs.read_text(encoding="utf-8").splitlines()]
    scores = folder.parent / f"{folder.name}-scores.txt"
    scores.write_text(
        "".join(f"{likeness(asked, sentence):.6f}\n" for asked, sentence, _label in rows), encoding="utf-8"
    )
    return _evaluated("dbqa", "--pairs", str(pairs), "--scores", str(scores))


def _scored_facts(folder: Path) -> dict[str, Any]:
    """Score a system that answers every other question; there is no knowledge base for the rest."""
    gold = folder / "kbqa-test.txt"
    answers = [line for line in gold.read_text(encoding="utf-8").splitlines() if line.startswith("<answer")]
    predictions = folder.parent / f"{folder.name}-answers.txt"
    lines = [line if number % 2 else line.partition("\t")[0] + "\t" + "不知道" for number, line in enumerate(answers)]
    predictions.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return _evaluated("kbqa", "--gold", str(gold), "--predictions", str(predictions))


def _evaluated(*arguments: str) -> dict[str, Any]:
    out = Kept()
    call_command("evaluate", *arguments, "--json", stdout=out, stderr=Quiet())
    found: dict[str, Any] = json.loads(out.text)
    return found
