"""A campaign with a leaderboard of its test split, and people who submit to it."""

import json

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from accounts.models import Role
from annotation.campaigns.services.campaigns import NewSplit
from evaluation.boards.gold import gold_of
from evaluation.models import Team
from evaluation.services import board_create, submission_add, team_enter
from exports.services import release_request
from quality.labels.services.sealing import split_seal
from quality.models import Inspection
from tests import factories


class Challenge:
    """A campaign of sixty labels, half of them in a test split, with a board of it."""

    def __init__(self, *, sealed=True, **options):
        self.now = timezone.now()
        self.campaign = factories.antique(items=0, splits=[NewSplit("train", 1), NewSplit("test", 1)])
        factories.import_rows(self.campaign, factories.pairs(60))
        factories.launch(self.campaign)
        worker = factories.annotator(self.campaign)
        for _ in range(60):
            held = factories.claim(self.campaign, worker)
            factories.submit(factories.label(held, 1 + held.item_id % 4))
        factories.examine(self.campaign)
        Inspection.objects.filter(campaign=self.campaign).update(verdict="right")
        self.test = self.campaign.splits.get(name="test")
        if sealed:
            self.seal()
        self.board = self.make(**options)
        self.labels = gold_of(self.board)["labels"] if self.board.metric == "accuracy" else {}

    def seal(self):
        split_seal(split=self.test, actor_id=None, now=self.now)

    def release(self):
        made = release_request(
            campaign=self.campaign,
            family="antique",
            ways=None,
            splits=[],
            seed=0,
            shards=1,
            actor_id=None,
            now=self.now,
        )
        factories.run_jobs()
        made.refresh_from_db()
        return made

    def make(self, **options):
        return board_create(
            release=self.release(),
            split="test",
            actor_id=None,
            now=self.now,
            **{"metric": "accuracy", "step": 0.01, "a_day": 50, **options},
        )

    def member(self, team="ours"):
        person = factories.user()
        factories.join(self.campaign, person, Role.RESEARCHER)
        known = Team.objects.filter(board=self.board, name=team).first()
        team_enter(
            board=self.board,
            name=team,
            code=known.code if known else "",
            surrogate_id=person.surrogate_id,
            now=self.now,
        )
        return person

    def submit(self, person, content, name="p.jsonl", **options):
        """Submit predictions and return what became of them."""
        data = content if isinstance(content, bytes) else lines(content)
        made = submission_add(
            board=self.board,
            file=SimpleUploadedFile(name, data),
            name=name,
            system="s",
            options=options,
            surrogate_id=person.surrogate_id,
            now=timezone.now(),
        )
        factories.run_jobs()
        made.refresh_from_db()
        return made

    def right(self, count):
        """Return predictions of which so many are right."""
        return {
            item: label if number < count else str(1 + int(label) % 4)
            for number, (item, label) in enumerate(self.labels.items())
        }


def lines(labels):
    return "".join(json.dumps({"item_id": item, "label": int(label)}) + "\n" for item, label in labels.items()).encode()
