"""The agreement that a release states is that of its own annotations: anyone can compute it from the tables."""

import json

import krippendorff
import numpy as np
import pytest
from django.core.management import call_command

from annotation.slots.services.slots import items_extend
from tests import factories
from tests.exports.test_tables import lines, release

pytestmark = pytest.mark.django_db


def computed(rows, column, level):
    """Return Krippendorff's alpha by the library of that name."""
    people, items = (sorted({row[name] for row in rows}) for name in ("annotator", "item_id"))
    values = sorted({row[column] for row in rows})
    data = np.full((len(people), len(items)), np.nan)
    for row in rows:
        data[people.index(row["annotator"]), items.index(row["item_id"])] = values.index(row[column])
    return krippendorff.alpha(reliability_data=data, level_of_measurement=level, value_domain=range(len(values)))


def stated(folder):
    return json.loads((folder / "manifest.json").read_text())["agreement"]


def test_of_labels_it_is_over_the_first_round_of_the_released_items(judged, tmp_path):
    folder = release(judged, tmp_path)
    there = {row["item_id"] for row in lines(folder, "items") if row["is_released"]}
    votes = [row for row in lines(folder, "judgments") if row["state"] == "counted" and row["round"] == 1]
    votes = [row for row in votes if row["item_id"] in there]
    assert len(votes) < len(lines(folder, "judgments")), "a second round there is"
    (row,) = stated(folder)
    assert (row["scale"], row["units"]) == ("ordinal", len(there))
    assert row["alpha"] == pytest.approx(computed(votes, "label", "ordinal"))
    assert f"(ordinal): {row['alpha']:.3f}" in (folder / "README.md").read_text()


def test_of_so_many_ways_it_is_over_those_annotations_alone(tmp_path, now):
    campaign = factories.campaign(n=2, items=3)
    answers = [{"label": "bad"}, {"box": 0}, {"box": -1}]
    for number in range(2):
        person = factories.annotator(campaign)
        for item in range(3):
            factories.annotate(campaign, person, **answers[(item + number * (item == 1)) % 3])
    items_extend(campaign=campaign, split=campaign.splits.get(), n=4, sample=2, seed=1, actor_id=None, now=now)
    for number in range(2):
        person = factories.annotator(campaign)
        for item in range(2):
            factories.annotate(campaign, person, **answers[number - item])
    for ways, units in ((2, 3), (4, 2)):
        folder = tmp_path / str(ways)
        call_command("release", campaign.slug, "--format", "nq-original", "--ways", str(ways), "--to", str(folder))
        used = [row for row in lines(folder, "judgments") if row["is_used"]]
        assert len(used) == ways * units
        row = next(row for row in stated(folder) if row["what"] == "Good vs. bad question")
        assert row["alpha"] == pytest.approx(computed(used, "question_judgment", "nominal"))
        assert row["units"] == units


def test_one_annotation_an_item_has_no_agreement_and_the_card_says_so(tmp_path):
    campaign = factories.campaign(items=1)
    factories.annotate(campaign, factories.annotator(campaign))
    call_command("release", campaign.slug, "--format", "nq-original", "--ways", "1", "--to", str(tmp_path))
    assert all(row["alpha"] is None for row in stated(tmp_path))
    assert "Agreement is undefined" in (tmp_path / "README.md").read_text()
