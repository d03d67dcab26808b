"""The registry of all task types."""

from importlib import import_module

from annotation.tasktypes.antique.task import Antique
from annotation.tasktypes.base import Answer, Pages, Summary, TaskType, Voted
from annotation.tasktypes.correctness.task import Correctness
from annotation.tasktypes.dbqa.task import DocumentBased
from annotation.tasktypes.kbqa.task import KnowledgeBase
from annotation.tasktypes.nq.task import NaturalQuestions
from documents.html.tokens import Tokenization

TASK_TYPES: dict[str, TaskType] = {
    task_type.key: task_type
    for task_type in (NaturalQuestions(), Antique(), KnowledgeBase(), DocumentBased(), Correctness())
}


def voted(task_type: str) -> Voted:
    """Return a task type whose answers are votes.

    Raises
    ------
    ValueError
        The answers of this task type aren't votes.
    """
    found = TASK_TYPES[task_type]
    if not isinstance(found, Voted):
        raise ValueError(f"there is no vote over {found.title}")  # noqa: TRY004  a wrong campaign, not a wrong type
    return found


def pages_of(task_type: str) -> Pages:
    """Return the pages of a task type: ``PAGES`` of the module ``pages`` in its folder."""
    package = type(TASK_TYPES[task_type]).__module__.rpartition(".")[0]
    found: Pages = import_module(f"{package}.pages").PAGES
    return found


def answer_summary(task_type: str, answer: Answer, page: Tokenization | None) -> Summary:
    """Return a readable summary of an answer, with its names and fixed values in the reader's language."""
    summary = TASK_TYPES[task_type].summarise(answer, page)
    pages = pages_of(task_type)
    lines = [
        (str(pages.summary_names.get(name, name)), str(pages.summary_values.get(name, {}).get(text, text)))
        for name, text in summary.lines
    ]
    return Summary(lines, summary.boxes)
