"""Rules on people's behavior: enabled and disabled, tested on stored history, carried out."""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.audit import record
from annotation.models import Campaign, Participation, Standing
from annotation.people.services.standing import standing_move
from annotation.slots.services.participation_locks import people_lock
from database.transactions import durable, require_transaction
from jobs.services import jobs_delete
from jobs.work import Work
from quality.models import Review, ReviewState, RuleFiring, WatchRule
from quality.people.rules import ALLOWED, Act, Collector, Condition, Firing, firings
from quality.people.selectors.rules import condition_of, facts_of, reinstated_at
from quality.people.services.pauses import person_pause, person_tell
from quality.policies.services import policy_ensure

CHUNK = 50  # people
MOST_SHOWN = 1_000  # firings of a dry run


@durable
def rule_add(*, campaign: Campaign, condition: Condition, actor_id: UUID, now: datetime) -> WatchRule:
    """Enable a rule; it applies to events from now on."""
    rule = WatchRule.objects.create(
        campaign=campaign,
        collector=condition.collector,
        is_above=condition.is_above,
        limit=condition.limit,
        window=condition.window,
        least=condition.least,
        act=condition.act,
        created_at=now,
    )
    record(
        action="watch_rule_add",
        subject=rule,
        now=now,
        actor_id=actor_id,
        scope_id=campaign.pk,
        rule=str(rule),
        act=rule.act,
        window=rule.window,
        least=rule.least,
    )
    return rule


@durable
def rule_end(*, rule: WatchRule, actor_id: UUID, now: datetime) -> None:
    """Disable a rule; its past acts stay."""
    if WatchRule.objects.filter(pk=rule.pk, ended_at=None).update(ended_at=now):
        record(action="watch_rule_end", subject=rule, now=now, actor_id=actor_id, scope_id=rule.campaign_id)


def named_by(
    condition: Condition, campaign: Campaign, surrogate_ids: Collection[UUID], *, since: datetime | None = None
) -> Iterator[tuple[UUID, Firing]]:
    """Yield the firings of a rule over the stored facts of people, for dry runs and live runs.

    An enabled rule sees only events after it was enabled.
    """
    facts = facts_of(campaign, surrogate_ids, condition.collector, since=since)
    for surrogate_id in sorted(facts):
        for firing in firings(condition, facts[surrogate_id]):
            yield surrogate_id, firing


def rules_run(*, campaign: Campaign, surrogate_ids: Collection[UUID], now: datetime) -> int:
    """Carry out the new acts of a campaign's rules on people; return the number of acts."""
    require_transaction()
    rules = list(WatchRule.objects.filter(campaign=campaign, ended_at=None).order_by("pk"))
    if not rules:
        return 0
    # Work of who left leads back to nobody: nothing is written about it.
    here = people_lock(campaign_id=campaign.pk, surrogate_ids=surrogate_ids)
    surrogate_ids = [place.surrogate_id for place in here]
    forgiven = reinstated_at(campaign, surrogate_ids)
    carried_out = 0
    for rule in rules:
        done = set(rule.firings.filter(surrogate__in=surrogate_ids).values_list("surrogate_id", "kind", "key"))
        for surrogate_id, firing in named_by(condition_of(rule), campaign, surrogate_ids, since=rule.created_at):
            # A key that was corrected moves where a rule would have fired: what a manager looked at since stays so.
            is_late = surrogate_id in forgiven and firing.at < forgiven[surrogate_id]
            if not is_late and (surrogate_id, str(firing.kind), firing.key) not in done:
                _carry_out(campaign, rule, surrogate_id, firing, now)
                carried_out += 1
    return carried_out


def _carry_out(campaign: Campaign, rule: WatchRule, surrogate_id: UUID, firing: Firing, now: datetime) -> None:
    row = RuleFiring.objects.create(
        rule=rule,
        surrogate_id=surrogate_id,
        kind=firing.kind,
        key=firing.key,
        value=firing.value,
        fact_at=firing.at,
        at=now,
    )
    record(
        action="watch_rule_fire",
        subject=row,
        now=now,
        actor_id=None,
        scope_id=campaign.pk,
        rule=str(rule),
        act=rule.act,
        value=round(firing.value, 3),
    )
    place = Participation.objects.get(campaign=campaign, surrogate_id=surrogate_id)
    if place.standing not in ALLOWED[Act(rule.act)]:
        return
    evidence: dict[str, Any] = {"rule": rule.pk, "collector": rule.collector, "value": round(firing.value, 3)}
    if rule.act == Act.WARN:
        standing_move(
            campaign=campaign, surrogate_id=surrogate_id, to=Standing.WARNED, actor_id=None, now=now, **evidence
        )
        person_tell(campaign, surrogate_id, Standing.WARNED, now, evidence)
    elif rule.act == Act.PAUSE:
        _, policy = policy_ensure(campaign=campaign, now=now)
        person_pause(campaign=campaign, policy=policy, surrogate_id=surrogate_id, now=now, evidence=evidence)


def rule_dry_run(*, work: Work, campaign: Campaign, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the acts of a rule over all stored history; the first thousand acts are listed by name."""
    condition = condition_from(fields)
    people = list(
        Participation.objects.filter(campaign=campaign).order_by("surrogate_id").values_list("surrogate_id", flat=True)
    )
    found: list[dict[str, Any]] = []
    total = 0
    for start in range(0, len(people), CHUNK):
        work.progress(start, len(people))
        for surrogate_id, firing in named_by(condition, campaign, people[start : start + CHUNK]):
            total += 1
            if len(found) < MOST_SHOWN:
                found.append(
                    {"surrogate": str(surrogate_id), "at": firing.at.isoformat(), "value": round(firing.value, 3)}
                )
    return {"rule": fields, "acts": total, "found": found}


def firings_forget(*, campaign: Campaign, before: UUID, **_: Any) -> None:
    """Delete the firings, real and simulated, about a person who left.

    Their times and names would identify the person's work.
    """
    RuleFiring.objects.filter(rule__campaign=campaign, surrogate_id=before).delete()
    # Nobody waits for a decision about who worked on, and left. Who was paused stays before a manager.
    place = Participation.objects.filter(campaign=campaign, surrogate_id=before)
    if not place.filter(standing=Standing.PAUSED).exists():
        Review.objects.filter(campaign=campaign, surrogate_id=before, state=ReviewState.OPEN).delete()
    jobs_delete(kind="quality.person_work", scope_id=campaign.pk, payload={"surrogate": str(before)})
    jobs_delete(kind="quality.dry_run", scope_id=campaign.pk)  # it may name them, and is tried again in a moment


def condition_from(fields: dict[str, Any]) -> Condition:
    """Return a condition from the fields of a form."""
    return Condition(
        Collector(fields["collector"]),
        fields["is_above"],
        fields["limit"],
        window=fields["window"],
        least=fields["least"],
        act=Act(fields["act"]),
    )


def examined_watch(*, work: Work, campaign: Campaign, surrogate_ids: Collection[UUID]) -> None:
    """Run the rules for people with newly examined answers, a few people at a time."""
    if not surrogate_ids or not WatchRule.objects.filter(campaign=campaign, ended_at=None).exists():
        return
    people = sorted(surrogate_ids)
    for start in range(0, len(people), CHUNK):
        with work.step():
            rules_run(campaign=campaign, surrogate_ids=people[start : start + CHUNK], now=timezone.now())
