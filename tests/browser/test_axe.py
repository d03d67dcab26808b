"""The check that all pages pass can fail."""

import pytest

from tests.axe import assert_accessible

pytestmark = pytest.mark.browser

POOR = """<html lang=en><title>Poor</title><main><h1>Poor</h1><img src=a>
<p style="color: #ccc; background: #fff">pale</p><button></button></main>"""


def test_what_is_poor_is_named_with_its_place(browser):
    page = browser.new_page()
    page.set_content(POOR)
    with pytest.raises(AssertionError) as found:
        assert_accessible(page, "poor")
    page.close()
    said = str(found.value)
    assert all(f"poor: {rule}: " in said for rule in ("image-alt", "color-contrast", "button-name"))
    assert "<button></button>" in said


def test_a_page_that_is_too_wide_is_named(browser):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.set_content("<html lang=en><title>Wide</title><main><h1 style='width: 500px'>Wide</h1></main>")
    with pytest.raises(AssertionError, match="wide scrolls sideways by 1"):
        assert_accessible(page, "wide")
    page.close()
