"""An operation of migrations that creates many tables at once."""

from collections.abc import Sequence
from typing import Any

from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation


class CreateModels(Operation):
    """Create the tables of an app together.

    After each ``CreateModel``, Django renders all models again that are connected to the new one. With a hundred
    models, that takes most of a migration's time. This operation renders them once.
    """

    reversible = True

    def __init__(self, models: Sequence[CreateModel]) -> None:
        self.models = models

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        """Return the operation's constructor arguments, for Django's migration writer."""
        return self.__class__.__qualname__, [list(self.models)], {}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Add the models to the state."""
        state.__dict__.pop("apps", None)  # Django renders the models again when it needs them
        for model in self.models:
            model.state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Create the tables."""
        for model in self.models:
            model.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Drop the tables."""
        for model in reversed(self.models):
            model.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        """Return a description of this operation."""
        return f"Create {', '.join(model.name for model in self.models)}"
