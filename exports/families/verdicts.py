"""The common part of families of labeled items: the verdicts in force are frozen."""

from django.db import connection

from annotation.models import Campaign, Split
from exports.models import Release


def votes_of_a_round(campaign: Campaign) -> int:
    """Return the number of votes per round in a campaign."""
    return max(campaign.splits.filter(weight__gt=0).values_list("n", flat=True), default=1)


def verdicts_freeze(release: Release, splits: list[Split]) -> None:
    """Save the verdicts in force of a release's splits, and the items without a verdict."""
    chosen = ", ".join(str(int(split.pk)) for split in splits)
    campaign = Release._meta.get_field("campaign").get_db_prep_value(release.campaign_id, connection)  # noqa: SLF001
    with connection.cursor() as cursor:
        for statement in (_VERDICTS, _SHORTFALL):
            cursor.execute(statement.format(splits=chosen), {"release": release.pk, "campaign": campaign})


_OF = """
    FROM annotation_item i
    JOIN annotation_batch b ON b.id = i.batch_id AND b.purpose IN ('work', 'study')
"""
_WHERE = "WHERE i.campaign_id = %(campaign)s AND i.state = 'active' AND i.split_id IN ({splits})"
_VERDICTS = f"""
    INSERT INTO exports_releaseverdict (release_id, item_id, verdict_id)
    SELECT %(release)s, i.id, v.id {_OF}
    JOIN quality_verdict v ON v.item_id = i.id AND v.superseded_at IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM quality_verdict_annotations va JOIN annotation_annotation a ON a.id = va.annotation_id
        WHERE va.verdict_id = v.id AND a.state <> 'counted'
    )
    {_WHERE}
"""  # noqa: S608  nothing in it comes from outside: ids are numbers, values are parameters
_SHORTFALL = f"""
    INSERT INTO exports_shortfall (release_id, item_id, counted)
    SELECT %(release)s, i.id, (
        SELECT COUNT(*) FROM annotation_annotation a JOIN annotation_slot s ON s.id = a.slot_id AND s.round = 1
        WHERE a.item_id = i.id AND a.state = 'counted'
    ) {_OF} {_WHERE}
    AND NOT EXISTS (SELECT 1 FROM exports_releaseverdict m WHERE m.release_id = %(release)s AND m.item_id = i.id)
"""  # noqa: S608  nothing in it comes from outside: ids are numbers, values are parameters
