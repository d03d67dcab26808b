"""The arguments of an operation, and the pagination of lists."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.conf import settings
from django.core import signing
from django.db.models import Model, QuerySet

from marketplace.models import Requester
from marketplace.protocol.errors import RequestError, ValidationError

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Call:
    """One verified request: the requester, the operation, its validated input, and the time."""

    operation: str
    requester: Requester
    given: dict[str, Any]
    request_id: str
    now: datetime

    def get(self, name: str, default: Any = None) -> Any:
        """Return a member of the input; one that is null counts as not given."""
        value = self.given.get(name)
        return default if value is None else value

    def time(self, name: str) -> datetime:
        """Return an input member that is a time in epoch seconds."""
        try:
            return datetime.fromtimestamp(self.given[name], tz=UTC)
        except (OverflowError, OSError, ValueError):
            value = self.given[name]
            raise ValidationError([f"Value '{value}' at '{name}' failed to satisfy constraint: not a time"]) from None


Operation = Callable[[Call], dict[str, Any]]


def page(
    call: Call,
    rows: QuerySet[Row] | Callable[[int, int], list[Row]],
    name: str,
    render: Callable[[Row], dict[str, Any]],
    *,
    newest_first: bool = False,
) -> dict[str, Any]:
    """Return one page of rows in the members ``name``, ``NumResults`` and, if there may be more, ``NextToken``.

    ``rows`` is a query, or a function of a key and a number. The function returns at most that many rows after the key,
    oldest first.

    As in the original service, every nonempty page has a token (a quirk switch), and all tokens differ.
    """
    size = call.get("MaxResults", settings.MARKETPLACE_QUIRKS["default_max_results"])
    after = _after(call)
    if callable(rows):
        found = rows(after or 0, size + 1)
    else:
        if after is not None:
            rows = rows.filter(pk__lt=after) if newest_first else rows.filter(pk__gt=after)
        found = list(rows.order_by("-pk" if newest_first else "pk")[: size + 1])
    shown = found[:size]
    answer: dict[str, Any] = {"NumResults": len(shown), name: [render(row) for row in shown]}
    always = settings.MARKETPLACE_QUIRKS["token_on_every_page"]
    if shown and (always or len(found) > size):
        answer["NextToken"] = signing.dumps([call.operation, shown[-1].pk], salt="page")
    return answer


def _after(call: Call) -> int | None:
    token = call.get("NextToken")
    if token is None:
        return None
    try:
        operation, after = signing.loads(token, salt="page")
    except signing.BadSignature:
        operation = None
    if operation != call.operation:
        raise RequestError("InvalidParameterValue", "NextToken is not one that this operation gave out.")
    return int(after)
