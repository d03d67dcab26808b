"""The study of a campaign: a draft until a manager publishes it, then places follow the open slots.

Nothing here is sent twice by accident: each round reads the study and asks only for what is different there.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings

from accounts.audit import record
from annotation.models import HOLDING, Assignment, CampaignState
from database.transactions import durable
from jobs.work import Work
from workforces.kinds.base import Arrival, DraftError, Outcome, Refused
from workforces.kinds.prolific.client import Prolific
from workforces.kinds.prolific.terms import ProlificTerms, codes_of
from workforces.kinds.prolific.visits import PERSON, STUDY, VISIT
from workforces.models import Errand, ErrandState, Posting, PostingState, TicketState, TicketWork, Workforce
from workforces.services.exclusions import exclusions_end
from workforces.services.needs import open_slots, spending_note
from workforces.services.pay import committed_cents, place_cents, workforce_lock
from workforces.services.terms import posting_terms, terms_of
from workforces.services.tickets import TicketRefused

MOST_PLACES = 10_000  # asked for at once
DRAFT, ACTIVE, PAUSED = "UNPUBLISHED", "ACTIVE", "PAUSED"
RESTS = (PAUSED, "AWAITING REVIEW")
SCREENED_OUT = "This study needs other answers than yours in its training examples. Please return your submission."
NOTHING_LEFT = "All work was done when you arrived. Please return your submission."


def study_of(workforce: Workforce) -> Posting | None:
    """Return the study of a workforce, or None before it is needed."""
    return workforce.postings.exclude(state=PostingState.SETTLED).order_by("-number").first()


def study_mark(posting: Posting) -> str:
    """Return the internal name of a study, by which it is found if its creation got no answer."""
    return f"quorate-{posting.workforce.campaign_id.hex}-{posting.number}"


def posting_find(workforce: Workforce, arrival: Arrival, now: datetime) -> Posting:
    """Return the study of an arrival; raise `TicketRefused` if it doesn't belong to this campaign."""
    posting = Posting.objects.filter(workforce=workforce, hit_id=arrival.posting).first()
    if posting is None:
        raise TicketRefused("study_other")
    return posting


@durable
def study_publish(*, workforce: Workforce, actor_id: UUID, now: datetime) -> None:
    """Let the next round publish the study: from then on it costs money.

    Raises
    ------
    DraftError
        There is no draft on Prolific yet.
    """
    posting = study_of(workforce)
    if posting is None or not posting.hit_id:
        raise DraftError("workforce_no_draft")
    _remote(workforce, is_published=True)
    record(
        action="study_publish",
        subject=workforce,
        now=now,
        actor_id=actor_id,
        scope_id=workforce.campaign_id,
        study=posting.hit_id,
        places=posting.places,
    )


def _remote(workforce: Workforce, **values: Any) -> None:
    """Keep values about the study."""
    kept = Workforce.objects.select_for_update(no_key=True).values_list("remote", flat=True).get(pk=workforce.pk)
    workforce.remote = {**kept, **values}
    Workforce.objects.filter(pk=workforce.pk).update(remote=workforce.remote)


def study_adjust(*, work: Work, client: Prolific, workforce: Workforce, now: datetime) -> None:
    """Create the draft when work waits, and let a published study follow the campaign: its places, pauses, starts."""
    posting = study_of(workforce) or _begun(work, workforce, now)
    if posting is None:
        return
    if not posting.hit_id:
        _draft(work, client, posting)
    study = _study(work, client, posting)
    if study is None:
        return
    status, total, taken = str(study["status"]), int(study["total_available_places"]), _taken(study)
    needed = _needed(posting, taken)
    is_ours = bool(workforce.remote.get("is_paused"))  # whether the pause is ours: one made on Prolific's pages stays
    if status == ACTIVE and not needed:  # first, so that nothing that is refused keeps people coming
        with work.step():
            _remote(workforce, is_paused=True)
        client.study_move(posting.hit_id, "PAUSE")
    elif needed and (status != PAUSED or is_ours):
        _places_set(work, client, posting, total=total, taken=taken, needed=needed, now=now)
        action = _action(status, free=posting.places - taken, is_published=bool(workforce.remote.get("is_published")))
        if action:
            client.study_move(posting.hit_id, action)
            with work.step():
                _remote(workforce, is_paused=False)
    study = client.study(posting.hit_id)
    shown = {"status": str(study["status"]), "places": int(study["total_available_places"]), "taken": _taken(study)}
    shown["cost_cents"] = client.cost(posting.hit_id)
    with work.step():
        _remote(workforce, study=shown)
        if shown["status"] != DRAFT:
            Posting.objects.filter(pk=posting.pk, state=PostingState.WANTED).update(state=PostingState.OPEN)
        if _is_over(posting, str(shown["status"])):
            Posting.objects.filter(pk=posting.pk).update(state=PostingState.SETTLED)


def _begun(work: Work, workforce: Workforce, now: datetime) -> Posting | None:
    """Store the study that the open items need; none if there are none, or the cap doesn't allow a place."""
    terms = terms_of(workforce)
    wanted = min(-(-_open(workforce, terms) // terms.items_per_ticket), MOST_PLACES)
    if not wanted:
        return None
    with work.step():
        return _posting_add(workforce, wanted, now)


def _study(work: Work, client: Prolific, posting: Posting) -> dict[str, Any] | None:
    """Return a study; settle a draft that was deleted on Prolific, so that the next round makes another one."""
    try:
        return client.study(posting.hit_id)
    except Refused as error:
        if error.code != "404" or posting.state != PostingState.WANTED:
            raise
    with work.step():
        Posting.objects.filter(pk=posting.pk).update(state=PostingState.SETTLED)
    return None


def _places_set(
    work: Work, client: Prolific, posting: Posting, *, total: int, taken: int, needed: int, now: datetime
) -> None:
    """Raise the places of a study to what is needed and affordable; they can't be lowered."""
    with work.step():
        # Asked for in an earlier round that was interrupted, or changed on Prolific's pages: the higher one holds.
        posting.places = max(posting.places, total)
        Posting.objects.filter(pk=posting.pk).update(places=posting.places)
        posting.places += _affordable(
            posting.workforce, posting_terms(posting), max(0, needed - max(posting.places - taken, 0)), now
        )
        Posting.objects.filter(pk=posting.pk).update(places=posting.places)
    if posting.places > total:
        client.study_change(posting.hit_id, total_available_places=posting.places)
        with work.step():
            exclusions_end(posting.workforce, now)


def _open(workforce: Workforce, terms: Any) -> int:
    return open_slots(workforce, most=MOST_PLACES * terms.items_per_ticket)


def _needed(posting: Posting, taken: int) -> int:
    """Return how many more visits the open items take, beside those of people who are at work.

    A person holds one item at a time, so the others that they will do look open.
    """
    each: int = posting_terms(posting).items_per_ticket
    tickets = posting.tickets
    submitted = tickets.filter(
        state__in=[TicketState.ANSWERED, TicketState.SUBMITTED, TicketState.UNMATCHED, TicketState.APPROVED]
    ).count()
    own = tickets.filter(state=TicketState.OPEN)
    done = TicketWork.objects.filter(ticket__in=own).count()
    holding = Assignment.objects.filter(
        campaign=posting.workforce.campaign_id, surrogate__in=own.values("surrogate"), state__in=HOLDING
    ).count()
    to_come = max(0, taken - submitted) * each - done - holding
    left = max(0, _open(posting.workforce, posting_terms(posting)) - max(0, to_come))
    return min(-(-left // each), MOST_PLACES)


def _action(status: str, *, free: int, is_published: bool) -> str:
    """Return what a study with work has to be told now; nothing if it is as it should be."""
    if status == DRAFT:
        return "PUBLISH" if is_published and free > 0 else ""
    return "START" if status in RESTS and free > 0 else ""


def _is_over(posting: Posting, status: str) -> bool:
    """Return whether a study needs no look any more: its campaign is closed, and all of its work is decided."""
    if status == ACTIVE or posting.workforce.campaign.state != CampaignState.CLOSED:
        return False
    waiting = [TicketState.OPEN, TicketState.ANSWERED, TicketState.SUBMITTED, TicketState.UNMATCHED]
    errands = Errand.objects.filter(workforce=posting.workforce, state__in=[ErrandState.DUE, ErrandState.SENDING])
    return not posting.tickets.filter(state__in=waiting).exists() and not errands.exists()


def _taken(study: dict[str, Any]) -> int:
    """Return how many places are taken by people at work, and by work that isn't rejected or returned."""
    taken: int = int(study.get("places_taken") or 0)
    return taken


def _posting_add(workforce: Workforce, needed: int, now: datetime) -> Posting | None:
    """Store a study that is to be created; none if the cap doesn't allow a single place."""
    row = Workforce.objects.select_for_update(no_key=True).get(pk=workforce.pk)
    places = _affordable(workforce, terms_of(workforce), needed, now)
    if places < 1:
        return None
    Workforce.objects.filter(pk=row.pk).update(serial=row.serial + 1)
    _remote(workforce, is_published=False, is_paused=False, study=None)
    return Posting.objects.create(
        workforce=workforce,
        number=row.serial + 1,
        places=places,
        wanted_at=now,
        touched_at=now,
        terms=workforce.terms,
    )


def _affordable(workforce: Workforce, terms: Any, wanted: int, now: datetime) -> int:
    """Return how many more places the cap allows, and note whether it is in the way."""
    if not wanted:
        return 0
    workforce_lock(workforce)
    cap = terms_of(workforce).cap_cents
    if cap is None:
        return wanted
    affordable: int = max(0, cap - committed_cents(workforce)) // sum(place_cents(workforce, terms))
    spending_note(workforce, is_stopped=affordable < wanted, now=now)
    return min(wanted, affordable)


def _draft(work: Work, client: Prolific, posting: Posting) -> None:
    """Create the draft of a study, once: after an attempt without an answer, it is looked for first."""
    workforce = posting.workforce
    study_id = client.study_marked(study_mark(posting)) if workforce.remote.get("creating") == posting.number else None
    if study_id is None:
        with work.step():
            _remote(workforce, creating=posting.number)
        group = client.group(f"No more work in {workforce.campaign.slug} {workforce.campaign_id.hex[:8]}")
        with work.step():
            _remote(workforce, group=group)
        study_id = client.study_create(study_described(posting, group))
    with work.step():
        Posting.objects.filter(pk=posting.pk).update(hit_id=study_id)
    posting.hit_id = study_id


def study_described(posting: Posting, group: str) -> dict[str, Any]:
    """Return a study as Prolific's API takes it."""
    workforce, terms = posting.workforce, posting_terms(posting)
    assert isinstance(terms, ProlificTerms)
    query = "&".join(f"{name}={{{{%{name}%}}}}" for name in (PERSON, STUDY, VISIT))
    return {
        "name": terms.title,
        "internal_name": study_mark(posting),
        "description": terms.description,
        "external_study_url": f"{settings.PLATFORM_URL}{workforce.path}?{query}",
        "is_external_study_url_secure": terms.is_secure,
        "prolific_id_option": "url_parameters",
        "total_available_places": posting.places,
        "estimated_completion_time": terms.estimated_minutes,
        "maximum_allowed_time": terms.most_minutes,
        "reward": terms.reward_cents,
        "device_compatibility": ["desktop", "tablet", *(["mobile"] if terms.has_phones else [])],
        "filters": [{"filter_id": "participant_group_blocklist", "selected_values": [group]}],
        "completion_codes": _codes(workforce.secret),
        "submissions_config": {"max_submissions_per_participant": terms.visits_each or -1},
    }


def _codes(secret: str) -> list[dict[str, Any]]:
    """Return the completion codes: finished work is reviewed, and who couldn't work is asked to return the place.

    A participant who fails training examples is never rejected (Prolific, comprehension checks).
    """
    codes = codes_of(secret)
    returned = {Outcome.SCREENED_OUT: ("SCREENED_OUT", SCREENED_OUT), Outcome.NOTHING_LEFT: ("OTHER", NOTHING_LEFT)}
    return [
        {
            "code": codes[Outcome.COMPLETED],
            "code_type": "COMPLETED",
            "actions": [{"action": "MANUALLY_REVIEW"}],
            "actor": "participant",
        },
        *(
            {
                "code": codes[outcome],
                "code_type": kind,
                "actions": [{"action": "REQUEST_RETURN", "return_reason": reason}],
                "actor": "participant",
            }
            for outcome, (kind, reason) in returned.items()
        ),
    ]
