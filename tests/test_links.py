"""Links between the pages of the documentation lead to files and headings that are there."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    return [
        page
        for folder in (".", "docs", "perf")
        for page in (ROOT / folder).glob("*.md" if folder == "." else "**/*.md")
    ]


def text_of(page: Path) -> str:
    return CODE.sub("", page.read_text(encoding="utf-8"))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of the headings of a page, as code hosts and the docs site name them."""
    return frozenset(slug(heading) for heading in HEADING.findall(text_of(page)))


def slug(heading: str) -> str:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def dead_links(page: Path) -> list[str]:
    dead = []
    for link in LINK.findall(text_of(page)):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            dead.append(link)
    return dead


def test_no_link_of_a_page_is_dead():
    found = {str(page.relative_to(ROOT)): dead for page in pages() if (dead := dead_links(page))}
    assert found == {}


def test_a_dead_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# One heading, two\n[a](page.md#one-heading-two) [b](page.md#gone) [c](gone.md) [d](https://e.org)"
    )
    assert dead_links(page) == ["page.md#gone", "gone.md"]


def test_every_page_of_the_docs_is_in_a_list_of_the_site():
    lists = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    folders = {page.parent.name for page in (ROOT / "docs").rglob("*.md") if page.parent != ROOT / "docs"}
    assert folders == set(re.findall(r"^([\w-]+)/", lists, re.MULTILINE))
