"""The interface speaks plain, present-day English: some turns of phrase that a newcomer stumbles over are banned."""

import ast
import io
import json
import re
import tokenize

from tests.conftest import ROOT

BANNED = re.compile(
    r"\bbring in\b|\bmend(s|ed|ing)?\b|\btheirs alone\b|\bto be had\b|\bcalled back\b|\btake (your|my) consent back\b"
    r"|\bsomebody\b|\bgoes on where\b|\bwas not to be\b|\bforthwith\b|\bwhether a wanted\b|\blet back\b(?! into)",
    re.IGNORECASE,
)


# Words with a plainer or an American form. `known_words.json` counts what is left by file; the numbers only go down.
PLAINER = re.compile(
    r"\b(?:thus|whoever|of which|in vain|anew|forthwith|somebody|anybody|hand(?:s|ed|ing)? in|called off|calls? off"
    r"|to be had|colours?|coloured|behaviours?|labell(?:ed|ing)|analys(?:e|ed|es)|organis(?:e|ed|es|ation)"
    r"|recognis(?:e|ed|es)|licences?|favour|neighbour(?:s|ing)?|cancelled|randomisation|normalis(?:ed|ation)"
    r"|tokenised|summaris(?:e|ed|es)|sanitised|judgements?)\b",
    re.IGNORECASE,
)
KNOWN_WORDS = ROOT / "tests/known_words.json"


def prose(path):
    """Yield what a file says to a reader: docstrings and comments of Python, all of a page of the docs but its code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield re.sub(r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)", "", text, flags=re.MULTILINE | re.DOTALL)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield re.sub(r"`[^`]*`", "", ast.get_docstring(node) or "")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield re.sub(r"`[^`]*`", "", token.string)


def old_words():
    """Return how many old words each file has."""
    folders = [
        path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".") and path.name != "var"
    ]
    paths = [path for folder in folders for kind in ("*.py", "*.md") for path in folder.rglob(kind)]
    found = {}
    for path in sorted([*paths, *ROOT.glob("*.md")]):
        name = str(path.relative_to(ROOT))
        if (
            "/migrations/" in name
            or name.startswith("docs/decisions/")
            or name in ("CHANGELOG.md", "tests/test_words.py")
        ):
            continue
        count = sum(len(PLAINER.findall(text)) for text in prose(path))
        if count:
            found[name] = count
    return found


def test_old_words_only_become_fewer():
    known = json.loads(KNOWN_WORDS.read_text())
    more = {name: count for name, count in old_words().items() if count > known.get(name, 0)}
    assert more == {}, "plainer words for these: see PLAINER"


def messages():
    """Yield every English text of the interface: what is collected for translation."""
    for catalogue in (ROOT / "locale/zh_Hans/LC_MESSAGES").glob("*.po"):
        for block in re.split(r"\n\n", catalogue.read_text(encoding="utf-8")):
            for match in re.finditer(r'^msgid(?:_plural)? ((?:".*"\n?)+)', block, re.MULTILINE):
                yield "".join(re.findall(r'"(.*)"', match.group(1)))


def test_no_message_uses_a_banned_phrase():
    found = [text for text in messages() if BANNED.search(text)]
    assert found == []


def test_no_help_of_a_command_uses_a_banned_phrase():
    found = [
        f"{path.name}: {match.group()}"
        for path in ROOT.glob("*/management/commands/*.py")
        for match in BANNED.finditer(" ".join(re.findall(r'help=?"([^"]*)"', path.read_text())))
    ]
    assert found == []


def test_neither_readme_nor_how_to_uses_a_banned_phrase():
    pages = [
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        *(ROOT / "docs/how-to").glob("*.md"),
        *(ROOT / "docs/tutorial").glob("*.md"),
    ]
    found = [f"{page.name}: {match.group()}" for page in pages for match in BANNED.finditer(page.read_text())]
    assert found == []


def test_no_line_of_a_template_is_too_long_to_read():
    long = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in (ROOT / "templates").rglob("*.html")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 160
    }
    assert long == set()


def test_every_test_that_the_security_pages_name_is_there():
    for name in ("SECURITY.md", "docs/explanation/threats.md"):
        named = set(re.findall(r"`(tests/[\w/]+\.py)`", (ROOT / name).read_text(encoding="utf-8")))
        assert len(named) > 10
        assert {path for path in named if not (ROOT / path).exists()} == set(), name


def test_no_paragraph_of_the_docs_is_too_long_to_read():
    long = set()
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for paragraph in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. )", prose):
            if page.parent.name != "decisions" and paragraph[:1] != "|" and len(paragraph.split()) > 120:
                long.add(f"{page.relative_to(ROOT)}: {paragraph.strip()[:60]}")
    assert long == set()


def test_the_glossary_has_the_terms_of_the_catalog():
    catalog = (ROOT / "locale/zh_Hans/LC_MESSAGES/django.po").read_text(encoding="utf-8")
    said = dict(re.findall(r'^msgid "(.*)"\nmsgstr "(.*)"$', catalog, re.MULTILINE))
    rows = re.findall(
        r"^\| (.+?) \| (.+?) \|$", (ROOT / "locale/GLOSSARY.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    terms = dict(row for row in rows if row[0] != "English")
    assert len(terms) > 40
    assert {term: said.get(term) for term in terms} == terms
