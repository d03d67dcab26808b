"""How many keys an item takes, counted: twenty questions and fifty pairs by keyboard alone."""

from collections import Counter

import pytest

from annotation.models import Annotation
from tests import factories

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MOVES = frozenset(("j", "ArrowRight", "Shift+ArrowRight"))  # to a box, and along its words


class Hands:
    """Presses keys at a desk and counts them, moves apart, and the answers that are sent."""

    def __init__(self, page):
        self.page = page
        self.keys, self.sent = Counter(), 0
        page.on("request", lambda request: self._note(request))

    def _note(self, request):
        self.sent += request.method == "POST" and request.url.endswith("/stage/")

    def press(self, *keys):
        for key in keys:
            self.keys["moves" if key in MOVES else "actions"] += 1
            self.page.keyboard.press(key)

    def shown(self, stage):
        self.page.wait_for_selector(f"[data-stage={stage}]")

    def item(self):
        return self.page.get_attribute("[data-stage]", "data-assignment")

    def next_after(self, before):
        self.page.wait_for_selector(f"[data-stage]:not([data-assignment='{before}']), .done-page")

    def taken(self):
        """Return (actions, moves, answers sent) since the last call."""
        found = self.keys["actions"], self.keys["moves"], self.sent
        self.keys, self.sent = Counter(), 0
        return found


def desk(open_browser, campaign):
    watched = open_browser(factories.annotator(campaign))
    watched.go(f"/work/{campaign.slug}/")
    watched.page.keyboard.press("Enter")
    watched.page.wait_for_selector("[data-stage]")
    watched.page.wait_for_load_state()
    return Hands(watched.page)


def bad(hands):
    hands.press("2")


def null(hands):
    hands.press("1")
    hands.shown("long_answer")
    hands.press("n")


def span(hands):
    hands.press("1")
    hands.shown("long_answer")
    hands.press("j", "Enter")
    hands.shown("short_answer")
    hands.press("ArrowRight", "Shift+ArrowRight", "Enter", "d")


@pytest.mark.parametrize(("way", "most", "stages"), [(bad, 1, 1), (null, 2, 2), (span, 5, 3)])
def test_a_question_takes_no_more_keys_than_it_must(open_browser, way, most, stages):
    hands = desk(open_browser, factories.campaign(items=20 if way is bad else 7))
    count = 0
    while hands.page.locator("[data-stage=question]").count():
        before = hands.item()
        way(hands)
        hands.next_after(before)
        actions, _, sent = hands.taken()
        assert actions <= most
        assert sent == stages
        count += 1
    assert Annotation.objects.filter(state="counted").count() == count >= 7


def test_a_pair_takes_one_key(open_browser):
    hands = desk(open_browser, factories.antique(items=50, n=1))
    for number in range(50):
        before = hands.item()
        hands.press(str(1 + number % 4))
        hands.next_after(before)
        assert hands.taken() == (1, 0, 1)
    assert Annotation.objects.filter(state="counted").count() == 50
