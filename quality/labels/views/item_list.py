"""The list of items, with their labels and the agreement of annotators on each."""

from collections.abc import Iterable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_POST

from accounts.permissions import Action, actions_of, can, signed_in
from annotation.access import campaign_for
from annotation.campaigns.selectors.sealing import unsealed
from annotation.items.forms import ItemsFilterForm
from annotation.items.selectors import CountedItem, ItemFilter, items_counted, items_wanted
from annotation.items.services.items import item_retire
from annotation.models import Campaign, Item, Purpose
from annotation.tasktypes.base import Voted, Written
from annotation.tasktypes.registry import TASK_TYPES
from quality.experts.services.cases import CaseError, case_ask
from quality.gold.services.keys import GOLD_SPLIT
from quality.models import CaseReason, Verdict
from quality.policies.selectors import policy_current
from web.error_texts import error_text
from web.tables import BulkAct, Cell, Column, QueryRows, Table, as_file

RETIRE = BulkAct(
    "retire",
    gettext_lazy("Retire"),
    gettext_lazy(
        "These items will no longer be assigned. Submitted answers are kept, and their pay doesn't change. You can't undo this."
    ),
    reason=gettext_lazy("Why"),
)
MOST_REFUSED = 3  # are named
ASK = BulkAct(
    "ask",
    gettext_lazy("Send to experts"),
    gettext_lazy(
        "Experts judge the distinct labels or answers of these items, but not “no answer”. Each expert first judges them independently."
    ),
)


@login_required
@require_GET
def item_list(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show the items on pages, or download them as a file."""
    campaign = campaign_for(request, slug, Action.SEE_ITEMS)
    may = actions_of(signed_in(request), campaign.pk)
    sees_answers = Action.SEE_ANSWERS in may
    table, wanted = _table(request, campaign, sees_answers=sees_answers)
    splits = campaign.splits.order_by("position")
    if not sees_answers:
        splits = splits.exclude(pk__in=campaign.items.filter(batch__purpose=Purpose.GOLD).values("split"))
    acts = [ASK, RETIRE] if Action.MANAGE in may else []
    context = {
        "campaign": campaign,
        "table": table.page(request.GET, acts),
        "splits": [(split.name, _split_name(split.name)) for split in splits],
        "wanted": wanted,
        "sees_answers": sees_answers,
        "batches": campaign.batches.exclude(purpose=Purpose.GOLD).order_by("ordinal"),
        "guidelines": campaign.guidelines.order_by("version").values_list("version", flat=True),
    }
    return as_file(table, request.GET, name=f"{slug}-items") or render(request, "quality/labels/items.html", context)


def _table(request: HttpRequest, campaign: Campaign, *, sees_answers: bool) -> tuple[Table, ItemFilter]:
    wanted = ItemsFilterForm(request.GET).wanted(sees_answers=sees_answers)
    items = items_wanted(campaign=campaign, wanted=wanted, shows_gold=sees_answers)
    in_force = Verdict.objects.filter(unsealed(), item=OuterRef("pk"), superseded_at=None)
    items = items.annotate(label=Subquery(in_force.values("label")))
    return Table(
        QueryRows(items, is_counted=True), _columns(campaign, sees_answers=sees_answers), items_counted
    ), wanted


def _columns(campaign: Campaign, *, sees_answers: bool) -> list[Column]:
    def name(row: CountedItem) -> Cell:
        return Cell(row.item.external_id, reverse("item", args=[campaign.slug, row.item.pk]) if sees_answers else "")

    return [
        Column("id", _("ID"), name, order="external_id"),
        Column("question", _("Question"), lambda row: row.item.content.get("question_text", "")),
        *_answer_column(campaign),
        *(_label_columns(campaign) if sees_answers else []),
        Column("split", _("Split"), lambda row: _split_name(row.item.split.name)),
        Column("batch", _("Batch"), lambda row: row.item.batch),
        Column(
            "annotations",
            _("Annotations"),
            is_number=True,
            cell=lambda row: _("%(done)s of %(asked)s") % {"done": row.done, "asked": row.asked},
        ),
        Column("state", _("State"), lambda row: row.item.get_state_display()),
        Column("wanted", _("Annotations requested"), lambda row: row.item.n, is_number=True, is_extra=True),
        Column("reason", _("Reason for retiring"), lambda row: row.item.retired_reason, is_extra=True),
    ]


def _label_columns(campaign: Campaign) -> list[Column]:
    """Return the columns about answers: the label if answers are votes, and how many annotations are the same."""
    task_type = TASK_TYPES[campaign.task_type]
    columns = []
    if isinstance(task_type, Voted):
        columns.append(Column("label", _("Label"), lambda row: "" if row.item.label is None else row.item.label))
    if not isinstance(task_type, Written):
        columns.append(Column("agreement", _("Same answer"), _same_answer, is_number=True))
    return columns


def _split_name(name: str) -> str:
    return _("gold questions") if name == GOLD_SPLIT else name


def _same_answer(row: CountedItem) -> str:
    return _("%(done)s of %(asked)s") % {"done": row.alike, "asked": row.counted} if row.counted > 1 else ""


def _answer_column(campaign: Campaign) -> list[Column]:
    """Return a column that distinguishes the items of one question, if several items share a question."""
    if TASK_TYPES[campaign.task_type].keeps_together != "question":
        return []

    def answer(row: CountedItem) -> Cell:
        text = row.item.content.get("answer_text", "")
        return Cell(Truncator(text).words(20), whole=text)

    return [Column("answer", _("Answer"), answer)]


@login_required
@require_POST
def act_on_several(request: HttpRequest, slug: str) -> HttpResponse:
    """Retire the selected items, or send them to experts."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    table, _wanted = _table(request, campaign, sees_answers=can(signed_in(request), Action.SEE_ANSWERS, campaign.pk))
    items = table.ticked(request.POST)
    if request.POST.get("act") == ASK.key:
        _ask(request, campaign, items)
    else:
        _retire(request, items)
    return redirect(f"{reverse('items', args=[slug])}?{request.GET.urlencode()}")


def _ask(request: HttpRequest, campaign: Campaign, items: Iterable[Item]) -> None:
    found, actor_id = policy_current(campaign), signed_in(request).surrogate_id
    opened, refused = 0, []
    for item in items:
        try:
            opened += case_ask(
                item=item,
                because=CaseReason.MANAGER,
                experts=found[1].experts if found else 1,
                actor_id=actor_id,
                now=timezone.now(),
            )
        except CaseError as error:
            refused.append(f"{item.external_id}: {error_text(error)}")
    if refused:
        messages.error(request, " ".join(refused[:MOST_REFUSED]))
    if opened:
        said = ngettext("%(n)s item sent to the experts.", "%(n)s items sent to the experts.", opened)
        messages.success(request, said % {"n": opened})
    elif not refused:
        messages.success(request, _("The experts already have the selected items."))


def _retire(request: HttpRequest, items: Iterable[Item]) -> None:
    actor_id, now = signed_in(request).surrogate_id, timezone.now()
    reason = request.POST.get("reason-retire", "").strip() or _("broken")
    done = sum(item_retire(item=item, reason=reason, actor_id=actor_id, now=now) for item in items)
    if done:
        said = ngettext("%(n)s item retired.", "%(n)s items retired.", done) % {"n": done}
        messages.success(request, f"{said} {_('What was submitted is kept.')}")
    else:
        messages.error(request, _("None of the selected items can be retired."))
