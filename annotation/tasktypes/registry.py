"""The task types there are."""

from annotation.tasktypes.antique.task import Antique
from annotation.tasktypes.base import TaskType, Voted
from annotation.tasktypes.nq.task import NaturalQuestions

TASK_TYPES: dict[str, TaskType] = {task_type.key: task_type for task_type in (NaturalQuestions(), Antique())}


def voted(task_type: str) -> Voted:
    """Return a task type whose answers are put to the vote.

    Raises
    ------
    ValueError
        There is no vote over this task type.
    """
    found = TASK_TYPES[task_type]
    if not isinstance(found, Voted):
        raise ValueError(f"there is no vote over {found.title}")  # noqa: TRY004  a wrong campaign, not a wrong type
    return found
