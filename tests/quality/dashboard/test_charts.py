"""Charts: what is drawn, how it stands in a page, and the numbers that each is drawn from."""

import json
import re
from datetime import date

import numpy as np
import pytest
from defusedxml.ElementTree import fromstring
from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.models import Participation, Snapshot
from annotation.people.services.withdrawal import participation_withdraw
from measures.charts import kinds
from measures.charts.svg import TOKENS, Chart, as_csv, as_file, in_page
from measures.completion import forecast
from measures.funnel import RARE, limits, outside
from quality.dashboard.charts.campaign import CHARTS, chart_of
from quality.dashboard.charts.drawings import Numbers
from quality.models import QualitySnapshot
from tests import factories
from tests.quality.worlds import judged

TODAY = date(2026, 11, 20)
PEOPLE = [
    {"surrogate_id": f"p{number}", "checks": 20 + number, "hits": 19 + number - number % 3} for number in range(12)
] + [{"surrogate_id": "bad", "checks": 30, "hits": 9}]
QUALITY = {
    "people": PEOPLE,
    "outside": ["bad"],
    "spent": [["2026-11-18", 1200], ["2026-11-20", 350]],
    "workforces": [{"cap_cents": 5000, "floor_cents": 725}],
    "wages": {"active": {"all": [600, 700, 900, 1000, 1200]}},
    "confusion": {"paths": ["no", "yes"], "pairs": [[6, 2], [2, 10]]},
    "trend": {
        "key": "label",
        "parts": [
            {"until": f"2026-11-1{n}", "units": 50, "annotators": 9, "alpha": 0.5 + n / 20, "low": 0.4, "high": 0.9}
            for n in range(3)
        ],
    },
}
WORK = {"days": [["2026-11-17", 40], ["2026-11-19", 60]], "slots": {"open": 30, "held": 2}}


def test_the_colours_of_charts_are_those_of_the_light_theme():
    tokens = (settings.BASE_DIR / "static/css/tokens.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}),", tokens))
    assert {name: light[name] for name in TOKENS.values()} == {name: colour for colour, name in TOKENS.items()}


def numbers(**changed):
    options = {
        "quality": QUALITY,
        "work": WORK,
        "today": TODAY,
        "measures": {"label": "Label"},
        "paths": {"yes": "Yes", "no": "No"},
        "names": lambda keys: dict.fromkeys(keys, "Ann"),
    }
    return Numbers(**options | changed)


@pytest.mark.parametrize("key", CHARTS)
def test_each_chart_draws_and_keeps_to_a_strict_page(key):
    chart = chart_of(key, numbers())
    page = in_page(chart)
    root = fromstring(page)
    assert root.attrib["aria-label"].startswith(chart.title)
    assert chart.text
    assert "style" not in page.replace("font-style", "")  # neither element nor attribute: the policy forbids both
    assert "var(--accent" in page  # the page's colors, not its own
    assert len(as_csv(chart).splitlines()) == len(chart.rows) + 1 > 1
    assert as_file(chart).startswith("<?xml")
    assert in_page(chart) == page  # the same numbers, the same picture


def test_several_charts_of_a_page_share_no_name():
    pages = [fromstring(in_page(chart_of(key, numbers()))) for key in CHARTS]
    names = [element.attrib["id"] for page in pages for element in page.iter() if "id" in element.attrib]
    assert len(names) == len(set(names)) > 10
    for page in pages:
        own = {element.attrib["id"] for element in page.iter() if "id" in element.attrib}
        links = [value for element in page.iter() for name, value in element.attrib.items() if name.endswith("href")]
        assert {link.removeprefix("#") for link in links} <= own


@pytest.mark.parametrize("key", CHARTS)
def test_a_chart_without_numbers_is_none_and_no_error(key):
    assert chart_of(key, numbers(quality={}, work={})) is None


@pytest.mark.parametrize("name", ["$\\frac", "a & <b>", "\x00\x1b[31m", "王小明 \U0001f600", "x" * 500])
def test_a_name_can_be_anything(name):
    page = in_page(chart_of("gold", numbers(names=lambda keys: dict.fromkeys(keys, name))))
    assert fromstring(page) is not None
    assert "x" * 25 not in page


def test_a_name_is_no_formula_in_a_spreadsheet():
    table = as_csv(chart_of("gold", numbers(names=lambda keys: dict.fromkeys(keys, '=HYPERLINK("x")'))))
    assert "\n\"'=HYPERLINK" in table
    assert '\n"=' not in table


def test_numbers_from_before_there_were_charts_draw_what_they_hold():
    old = {key: value for key, value in QUALITY.items() if key != "outside"}
    assert chart_of("gold", numbers(quality=old)) is not None


@pytest.mark.django_db
def test_who_left_is_in_no_chart(campaign):
    person = Participation.objects.filter(campaign=campaign).first().surrogate_id
    assert str(person) in json.dumps(QualitySnapshot.objects.get().data)
    participation_withdraw(campaign=campaign, surrogate_id=person, now=timezone.now())
    assert not QualitySnapshot.objects.exists()
    assert not Snapshot.objects.exists()


def test_a_day_without_work_is_a_day():
    assert chart_of("pace", numbers()).rows == [
        ("2026-11-17", 40),
        ("2026-11-18", 0),
        ("2026-11-19", 60),
        ("2026-11-20", 0),
    ]


def test_a_chart_of_one_day_draws():
    chart = Chart("one", "One", "", ("a",), [], lambda axes: kinds.columns_by_day(axes, [TODAY], [3], y="y"))
    assert fromstring(in_page(chart)) is not None


def test_the_limits_of_the_funnel_hold_what_they_promise():
    chance = np.random.default_rng(4)
    misses = chance.binomial(60, 0.1, size=200_000) / 60
    above = (misses > limits(0.1, 60, RARE)[59]).mean()
    assert 0.0002 < above < 0.0013
    assert limits(0.1, 400, RARE)[399] < limits(0.1, 400, RARE)[20]  # narrower with more checks


def test_nobody_is_outside_where_all_are_alike():
    assert outside([]) == []
    assert outside([("a", 10, 0), ("b", 10, 0)]) == []
    assert outside([("a", 10, 10), ("b", 10, 10)]) == []


def test_the_forecast_covers_what_comes():
    chance = np.random.default_rng(3)
    inside = 0
    for seed in range(200):
        past, coming = chance.poisson(50, 14), chance.poisson(50, 60)
        found = forecast(past.tolist(), 1_000, seed)
        inside += found.low <= int((coming.cumsum() < 1_000).sum()) + 1 <= found.high
    assert inside >= 120  # 80% promised where the past is known exactly; two weeks are less
    assert forecast([0, 0, 0], 10) is None
    assert forecast([5, 5, 5], 0) is None


@pytest.fixture
def campaign(db, monkeypatch):
    return judged(monkeypatch)


@pytest.mark.django_db
def test_the_numbers_come_from_what_was_answered(campaign):
    data = QualitySnapshot.objects.get().data
    assert [part["units"] for part in data["trend"]["parts"]] == [6, 6]
    assert data["trend"]["key"] == "label"
    # Six items of (1, 4, 4), which have two pairs of each order with weight 1/2, and six of (4, 4, 4).
    assert data["confusion"] == {"paths": ["label_1", "label_4"], "pairs": [[0.0, 6.0], [6.0, 24.0]]}
    assert data["outside"] == []


@pytest.mark.django_db
def test_a_manager_sees_the_charts_and_takes_them_along(client, campaign):
    boss = factories.user()
    factories.join(campaign, boss, Role.MANAGER)
    client.force_login(boss)
    for key in ("pace", "agreement", "gold", "confusion"):
        body = client.get(reverse("quality-chart", args=[campaign.slug, key])).content.decode()
        assert "<svg" in body, key
        svg = client.get(reverse("quality-chart-svg", args=[campaign.slug, key]))
        assert (svg["Content-Type"], svg.content[:5]) == ("image/svg+xml", b"<?xml")
        assert "attachment" in svg["Content-Disposition"]
    csv = client.get(reverse("quality-chart-csv", args=[campaign.slug, "confusion"])).content.decode()
    assert csv.startswith("\ufeff")  # Excel reads Chinese text then
    assert csv.splitlines()[1] == "4 – convincing,80.0,20.0"
    assert "Not enough data" in client.get(reverse("quality-chart", args=[campaign.slug, "money"])).content.decode()
    for name in ("quality-chart", "quality-chart-svg", "quality-chart-csv"):
        assert client.get(reverse(name, args=[campaign.slug, "nonsense"])).status_code == 404
    assert client.get(reverse("quality-chart-svg", args=[campaign.slug, "money"])).status_code == 404
    part = client.get(reverse("quality", args=[campaign.slug]), headers={"HX-Request": "true"}).content.decode()
    assert part.lstrip().startswith("<div")
