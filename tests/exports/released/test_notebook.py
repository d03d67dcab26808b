"""What the guide for notebooks says can be done with a release folder."""

import re
from io import StringIO

import pandas as pd
import pytest
from django.core.management import call_command

from tests import factories
from tests.conftest import ROOT

GUIDE = ROOT / "docs/how-to/analyse-in-a-notebook.md"


@pytest.mark.django_db
def test_the_guide_goes_from_a_release_to_the_tables_of_the_paper(tmp_path):
    campaign = factories.antique(items=6, n=3)
    people = [factories.annotator(campaign) for _ in range(3)]
    for number, person in enumerate(people):
        for item in range(6):
            factories.vote(campaign, person, 4 if number < 2 else 1 + item % 4)
    factories.examine(campaign)
    call_command(
        "release",
        campaign.slug,
        "--format",
        "antique",
        "--to",
        str(tmp_path / "out"),
        stdout=StringIO(),
        stderr=StringIO(),
    )
    [code] = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip() and not line.startswith("#")]) <= 20
    made = {"release": tmp_path / "out"}
    exec(code, made)
    assert made["per_split"].to_numpy().sum() == 6 and made["per_split"].loc["train", 4] == 6
    found = made["agreement"]
    assert (found.units, found.values) == (6, 18)  # noqa: PD011  no table
    assert len(made["slowest_to_agree"]) == 3
    assert made["slowest_to_agree"]["judgments"].sum() == 18


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_tables_of_a_report_are_written(tmp_path, form):
    (tmp_path / "x.csv").write_text("item,worker,label\na,ann,no\na,bo,no\nb,ann,yes\nb,bo,no\n")
    call_command(
        "crowd_report", str(tmp_path / "x.csv"), "--tables", str(tmp_path / "out"), "--format", form, stdout=StringIO()
    )
    read = pd.read_csv if form == "csv" else pd.read_parquet
    tables = {path.stem: read(path) for path in (tmp_path / "out").iterdir()}
    assert set(tables) == {"annotators", "items", "coincidences"}
    assert tables["annotators"]["annotator"].tolist() == ["ann", "bo"]
    assert tables["items"].set_index("item").loc["b", "tied"] == "no yes"
    assert tables["coincidences"]["weight"].sum() == 4
