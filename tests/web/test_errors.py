"""Errors have a key and data, and each border has a sentence for every one of them."""

import ast
import gettext
import importlib
import re
from pathlib import Path

import pytest
from django.utils import translation

from annotation.tasktypes.base import AnswerError
from web.error_texts import error_text
from web.errors import KeyedError
from web.marks import Plural
from web.sentences import SENTENCES

ROOT = Path(__file__).parent.parent.parent
ROOMS = (
    "accounts annotation api console documents evaluation exports jobs quality sources storage web workforces".split()
)
FILES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")) if "migrations" not in path.parts]
TREES = {path: ast.parse(path.read_text()) for path in FILES}
# Errors without a key, by who reads them.
OF_FILES = """ArchiveError BackupError BlownUp BuildError DamagedFile DocumentError ExamplesDiffer FileFault FolderError FolderTaken
ImportRefused LineFault LineTooLong LimitExceeded NotText EmptyPage Unbalanced OutOfMemory OutsideTarget ParquetFault
PredictionFault PublishedError RecordFault RowError StepError TableFault TaggerMissing TarDamaged TooFewAnnotations
WrongEncoding GoldFault SystemsRefused AnswerFault LoginFileError RecordError""".split()  # commands, and tables of rows that are wrong: a file, a line, a field
OF_MACHINES = """HubAway PutOff InTransaction LeaseLost NotConfigured NotInTransaction Refused RetryLater StoreAway StoreRefuses Unknown
Unreachable WorkerStopping NotSent""".split()  # logs, jobs and sweeps
BY_CLASS = """AssignmentOver ConsentMissing DraftConflict HandedInElsewhere NoSuchAssignment NothingToUndo OpenedAgain
WorkError InvitationError InvitationUsedBefore NoStatement NotSettled StatementOver VisitOver""".split()
# whose class says all: `annotation.desk.problems` and the view that catches it have the sentence


def error_classes():
    """Return all classes of errors in our rooms, by name."""
    found = {}
    for path, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.bases:
                module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
                made = getattr(module, node.name)
                if isinstance(made, type) and issubclass(made, Exception):
                    found[node.name] = made
    return found


CLASSES = error_classes()
KEYED = {name for name, made in CLASSES.items() if issubclass(made, KeyedError)}


def test_every_error_has_a_key_or_a_border_that_knows_its_class():
    assert CLASSES.keys() - KEYED == {*OF_FILES, *OF_MACHINES, *BY_CLASS} & CLASSES.keys()
    assert len(KEYED) > 20


def made():
    """Yield where keyed errors are made: the file, the first argument, the names of the data; None if they are passed on."""
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in KEYED and node.args:
                names = {one.arg for one in node.keywords}
                yield path, node.args[0], None if None in names else names


def key_of(argument):
    """Return the pattern that the key of an error matches."""
    if isinstance(argument, ast.JoinedStr):
        return "".join(re.escape(one.value) if isinstance(one, ast.Constant) else r"\w+" for one in argument.values)
    return re.escape(argument.value) if isinstance(argument, ast.Constant) else None


def placeholders(text):
    both = text.one + text.more if isinstance(text, Plural) else text
    return set(re.findall(r"%\((\w+)\)s", both))


def test_every_error_that_is_raised_has_a_sentence_and_the_data_for_it():
    count = 0
    for path, argument, names in made():
        pattern = key_of(argument)
        if pattern is None:
            continue  # of another error, as `KeyedError.of` passes it on
        keys = [key for key in SENTENCES if re.fullmatch(pattern, key)]
        assert keys, (str(path), pattern)
        for key in keys if names is not None else ():
            assert placeholders(SENTENCES[key]) <= names - {"field"} | ({"field"} & placeholders(SENTENCES[key])), (
                path,
                key,
            )
        count += 1
    assert count > 180


def test_every_sentence_is_one_of_an_error():
    patterns = [pattern for _, argument, _ in made() if (pattern := key_of(argument)) is not None]
    used = re.compile("|".join(patterns))
    assert [key for key in SENTENCES if key != "said" and not used.fullmatch(key)] == []


def test_every_sentence_is_in_the_catalogue():
    with (ROOT / "locale/zh_Hans/LC_MESSAGES/django.mo").open("rb") as file:
        known = gettext.GNUTranslations(file)._catalog
    texts = [(text.one, 0) if isinstance(text, Plural) else text for text in SENTENCES.values()]
    assert [text for text in texts if not known.get(text)] == []


def test_no_view_prints_an_error_by_itself():
    views = [path for path in FILES if "views" in path.parts or path.name in ("views.py", "forms.py")]
    assert len(views) > 30
    for path in views:
        caught = {node.name for node in ast.walk(TREES[path]) if isinstance(node, ast.ExceptHandler) and node.name}
        printed = [
            node
            for node in ast.walk(TREES[path])
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "str" and ast.unparse(node.args[0]) in caught
        ]
        assert not printed, path


@pytest.mark.parametrize(
    ("error", "english", "chinese"),
    [
        (KeyedError("team_missing"), "Join a team first.", "请先加入团队。"),
        (
            KeyedError("submission_size", most=20_000),
            "The file can't be empty or larger than 20,000 bytes.",
            "20,000 字节",
        ),
        (
            KeyedError("submissions_used", times=1),
            "Your team has already used its 1 submission for the last 24 hours",
            "1 次提交",
        ),
        (
            KeyedError("submissions_used", times=3),
            "Your team has already used its 3 submissions for the last 24 hours",
            "3 次提交",
        ),
        (AnswerError("spans_overlap", "spans"), "Spans can't overlap.", "片段不能重叠。"),
    ],
)
def test_an_error_is_english_by_itself_and_told_in_the_language_of_the_reader(error, english, chinese):
    assert english in str(error)
    with translation.override("zh-hans"):
        assert chinese in error_text(error)
        assert english in str(error)


def test_an_error_of_a_library_is_passed_on_with_what_it_said():
    passed = AnswerError.of(ValueError("no such thing"))
    assert (passed.key, str(passed), error_text(passed)) == ("said", "no such thing", "no such thing")
    assert str(AnswerError.of(KeyedError("hit_over"))) == "This HIT has ended."
