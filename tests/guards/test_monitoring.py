"""Alert rules, dashboard and reference name exactly the metrics that there are."""

import json
import re

from tests.conftest import ROOT

FOLDER = ROOT / "deploy" / "monitoring"
NAME = re.compile(r"quorate_[a-z_]+")
SUFFIXES = re.compile(r"_(total|bucket|count|sum)$")


def named(text):
    return {SUFFIXES.sub("", name) for name in NAME.findall(text)}


def test_what_is_watched_and_documented_exists():
    sources = "".join((ROOT / f"{one}/metrics.py").read_text() for one in ("web", "console", "marketplace"))
    known = {SUFFIXES.sub("", one) for one in re.findall(r'"(quorate_[a-z_]+)"', sources)}
    assert len(known) > 25
    assert named((ROOT / "docs/reference/metrics.md").read_text()) == known
    for name in ("alerts.yml", "dashboard.json"):
        assert named((FOLDER / name).read_text()) <= known


def test_the_dashboard_can_be_read_and_no_panel_hides_another():
    panels = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
    places = [(one["gridPos"]["x"], one["gridPos"]["y"]) for one in panels]
    assert len(panels) > 10
    assert len(set(places)) == len(places)
