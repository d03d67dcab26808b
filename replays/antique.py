"""ANTIQUE's collection (Hashemi et al. 2020, section 3), by a synthetic crowd over the real protocol.

It has seven batches, three workers per pair, gold checks, a strict majority, a second round, one expert, approvals and
refusals, matching ledgers, and a release. The crowd's behavior is set from rates that the paper reports (about 12% of
the work rejected, about 13% of pairs without a majority in the first round) and never from its totals.
"""

import shutil
from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np
from django.core.management import call_command
from django.utils import timezone

from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import Annotation, Campaign
from exports.models import Release
from quality.dashboard.selectors.summary import summary_of
from quality.models import Verdict
from replays.base import Asked, State
from replays.collecting import Collecting, campaign_of, deposit_of, pace_of
from replays.ensemble import ensemble_of
from replays.pairs import POLICY, Material
from replays.terminals import Quiet, Say
from workforces.models import Errand, ErrandKind, ErrandState, Posting


def replay(asked: Asked, state: State, say: Say) -> dict[str, Any]:
    """Run the collection, or continue it; return its figures."""
    material = Material(asked)
    with state.phase("prepare"):
        campaign = campaign_of(asked, asked.slug, POLICY)
    collecting = Collecting(asked, state, material, campaign, say)
    deposit, pace = deposit_of(material), pace_of(material)
    with (
        ensemble_of(asked.slug, ports=state.ports, deposit=deposit, pace=pace) as services,
        state.measuring(services),
    ):
        collecting.run(services)
        with state.phase("settle"):
            collecting.settle()
            books = services.books(asked.slug)
    with state.phase("release"):
        numbers_refresh(campaign=campaign, now=timezone.now())
        released = state.once("released", lambda: _released(campaign, state))
    return _figures(campaign, material, books, released, state)


def _released(campaign: Campaign, state: State) -> dict[str, Any]:
    """Release the dataset and check every file of it."""
    folder = state.path.parent / f"{campaign.slug}-release"
    shutil.rmtree(folder, ignore_errors=True)  # of an attempt that was interrupted
    call_command("release", campaign.slug, format="antique", to=folder, stdout=Quiet(), stderr=Quiet())
    call_command("release_verify", folder, stdout=Quiet(), stderr=Quiet())
    release = Release.objects.filter(campaign=campaign).latest("pk")
    lines = [line.split() for path in sorted(folder.glob("*.qrel")) for line in path.read_text().splitlines()]
    return {
        "release": release.number,
        "qrel lines": len(lines),
        "by flag": dict(Counter(line[1] for line in lines)),
        "files": sum(1 for path in folder.rglob("*") if path.is_file()),
    }


def _figures(
    campaign: Campaign, material: Material, books: dict[str, Any], released: dict[str, Any], state: State
) -> dict[str, Any]:
    summary = summary_of(campaign)
    wrong = wrong_by_rule(campaign, material)
    errands = Errand.objects.filter(workforce__campaign=campaign)
    confirmed = errands.filter(state=ErrandState.CONFIRMED)
    postings = Posting.objects.filter(workforce__campaign=campaign).exclude(hit_id="")
    times = Annotation.objects.filter(campaign=campaign, state="counted").values_list("seconds", flat=True)
    return {
        "summary": asdict(summary),
        "books": books,
        "released": released,
        "people": material.workers,
        "keys": material.keys,
        "errands": {kind: confirmed.filter(kind=kind).count() for kind in ErrandKind.values},
        "failed errands": errands.filter(state=ErrandState.FAILED).count(),
        "postings": postings.count(),
        "wrong by rule": wrong,
        "server seconds": float(np.median(list(times[:50_000]))),
    }


def wrong_by_rule(campaign: Campaign, material: Material) -> dict[str, list[int]]:
    """Return the number of wrong labels and of all labels in force, by the rule that set them."""
    labels = Verdict.objects.filter(campaign=campaign, superseded_at=None).select_related("item")
    wrong, of = Counter[str](), Counter[str]()
    for verdict in labels.iterator(chunk_size=2000):
        of[verdict.rule] += 1
        wrong[verdict.rule] += int(verdict.label) != material.true(verdict.item.content)
    return {rule: [wrong[rule], of[rule]] for rule in of}
