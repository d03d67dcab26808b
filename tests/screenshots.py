"""Take the pictures of the tutorial from a fresh demo: ``make screenshots``."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "tutorial" / "images"
DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 800}
# What each picture shows: its name, who looks, the address.
PAGES = (
    ("home", "admin", "/"),
    ("quality", "admin", "/campaigns/demo-relevance-finished/summary/"),
    ("studies", "admin", "/campaigns/demo-finished/studies/"),
)


@contextmanager
def demo() -> Iterator[tuple[str, dict[str, str]]]:
    """Run a demo in a temporary folder; give its address and the passwords by name."""
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, str(ROOT / "manage.py"), "demo"]
        server = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | {"QUORATE_DATA": data}, stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        try:
            for line in server.stdout:
                if found := re.search(r"Quorate is running at (\S+)", line):
                    address = found[1].rstrip("/")
                if line.startswith("Press Ctrl-C"):
                    break
            logins = json.loads((Path(data) / "demo-logins.json").read_text())
            yield address, {email.split("@")[0]: password for email, password in logins.items()}
        finally:
            server.terminate()
            server.wait(timeout=60)


def log_in(page: Page, name: str, password: str) -> None:
    """Log in as a person of the demo."""
    page.fill("[name=login]", f"{name}@demo.example")
    page.fill("[name=password]", password)
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Log out")


def picture(page: Page, name: str) -> None:
    """Write what is in sight, once its numbers are the last ones."""
    page.wait_for_load_state("networkidle")
    for _ in range(30):
        if not page.get_by_text("being calculated").count():
            break
        page.wait_for_timeout(2_000)
        page.reload(wait_until="networkidle")
    page.screenshot(path=FOLDER / f"{name}.png")
    sys.stdout.write(f"{name}\n")


def annotate(page: Page, address: str) -> None:
    """Walk through the three stages of a question, with a picture of each."""
    page.goto(f"{address}/work/demo/")
    page.click("button:has-text('Start')")
    page.click("text=I agree")
    page.wait_for_selector("[data-stage=question]")
    picture(page, "stage-1")
    page.keyboard.press("1")
    page.wait_for_selector("[data-stage=long_answer]")
    for _ in range(3):
        page.keyboard.press("j")
    picture(page, "stage-2")
    page.set_viewport_size(PHONE)
    picture(page, "stage-2-phone")
    page.set_viewport_size(DESK)
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=short_answer]")
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight", "Enter"):
        page.keyboard.press(key)
    picture(page, "stage-3")


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with demo() as (address, passwords), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"]
        )
        for name in ("anna", "admin"):
            page = browser.new_page(viewport=DESK)
            page.goto(address)
            log_in(page, name, passwords[name])
            if name == "anna":
                annotate(page, address)
            for shown, who, path in PAGES:
                if who == name:
                    page.goto(address + path)
                    picture(page, shown)
            if name == "admin":
                page.goto(f"{address}/campaigns/demo-finished/items/")
                page.locator("td a").first.click()
                picture(page, "item")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
