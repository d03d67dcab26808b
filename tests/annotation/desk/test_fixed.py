"""Parts of a page that are rendered once: for each language and value, and with nothing else in sight."""

from django.template import engines
from django.utils.translation import override


def page(source):
    return engines["django"].from_string("{% load fixed i18n %}" + source)


class Counted:
    """A value that counts how often it is looked at."""

    def __init__(self):
        self.times = 0

    def __str__(self):
        self.times += 1
        return "seen"


def test_what_is_fixed_is_rendered_once_for_each_language_and_value():
    shown, many = (
        page("{% fixed one=one label=label %}{{ one }} {{ label }} {% translate 'Cancel' %}{% endfixed %}"),
        Counted(),
    )
    assert [shown.render({"one": many, "label": label}) for label in (1, 1, 2, 1)] == [
        "seen 1 Cancel",
        "seen 1 Cancel",
        "seen 2 Cancel",
        "seen 1 Cancel",
    ]
    assert many.times == 2
    with override("zh-hans"):
        assert shown.render({"one": many, "label": 1}) == "seen 1 取消"
    assert shown.render({"one": Counted(), "label": 1}) == "seen 1 Cancel"


def test_what_is_fixed_sees_nothing_that_is_not_named():
    shown = page("{% fixed label=label %}{{ label }}{{ name }}{% endfixed %}{{ name }}")
    assert shown.render({"label": "<b>", "name": "Ann"}) == "&lt;b&gt;Ann"
    assert shown.render({"label": "<b>", "name": "Bob"}) == "&lt;b&gt;Bob"


def test_what_is_kept_is_bounded():
    shown = page("{% fixed label=label %}{{ label }}{% endfixed %}")
    for label in range(500):
        shown.render({"label": label})
    [node] = [one for one in shown.template.nodelist if hasattr(one, "_kept")]
    assert len(node._kept) <= 100
