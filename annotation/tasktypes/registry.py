"""The task types there are."""

from annotation.tasktypes.base import TaskType
from annotation.tasktypes.nq.task import NaturalQuestions

TASK_TYPES: dict[str, TaskType] = {task_type.key: task_type for task_type in (NaturalQuestions(),)}
