"""One check of accessibility for all pages, in two sizes and two languages: axe, and no sideways scroll."""

import pytest
from axe_playwright_python.sync_playwright import Axe

AXE = Axe().axe_script
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "preload": False,  # else it writes imported styles into the page
    "resultTypes": ["violations"],  # what passes is not written up, which takes longer than to look
}
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
VARIANTS = [
    pytest.param("en", DESKTOP, id="en-desktop"),
    pytest.param("zh-hans", PHONE, id="zh-hans-phone"),
    pytest.param("en", PHONE, id="en-phone", marks=pytest.mark.slow),
    pytest.param("zh-hans", DESKTOP, id="zh-hans-desktop", marks=pytest.mark.slow),
]


def assert_accessible(page, where, *, skip_frames=False):
    """Assert that axe finds nothing and the page does not scroll sideways; what others frame is theirs."""
    page.evaluate(AXE)
    options = RULES | {"iframes": not skip_frames}
    found = page.evaluate("options => axe.run(options).then(found => found.violations)", options)
    shown = [
        f"{where}: {rule['id']}: {rule['help']} {[node['html'][:160] for node in rule['nodes'][:3]]}" for rule in found
    ]
    assert not shown, "\n".join(shown)
    width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0, f"{where} scrolls sideways by {width} px"
