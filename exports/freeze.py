"""The part of freezing that all families share: the annotations of the items, in every state."""

from django.db import connection

from annotation.models import AnnotationState
from exports.models import Release

# Labels of sealed splits leave only as scores. Consent that was withdrawn, visits that nobody confirmed and what its author took back are nobody's to publish.
KEPT = (AnnotationState.COUNTED, AnnotationState.EXCLUDED, AnnotationState.LATE, AnnotationState.SURPLUS)
_VOTES = """
    INSERT INTO exports_releasevote (release_id, item_id, annotation_id, state, because, is_used)
    SELECT %(release)s, a.item_id, a.id, a.state, CASE WHEN a.state = 'counted' THEN '' ELSE COALESCE((
        SELECT c.because FROM annotation_countedchange c WHERE c.annotation_id = a.id ORDER BY c.id DESC LIMIT 1
    ), '') END, a.id IN (
        SELECT annotation_id FROM exports_releasemember WHERE release_id = %(release)s
        UNION SELECT va.annotation_id FROM quality_verdict_annotations va
        JOIN exports_releaseverdict v ON v.verdict_id = va.verdict_id WHERE v.release_id = %(release)s
    )
    FROM annotation_annotation a JOIN annotation_item i ON i.id = a.item_id
    JOIN annotation_split p ON p.id = i.split_id AND p.sealed_at IS NULL WHERE a.state IN ({states}) AND a.item_id IN (
        SELECT item_id FROM exports_releasemember WHERE release_id = %(release)s
        UNION SELECT item_id FROM exports_releaseverdict WHERE release_id = %(release)s
        UNION SELECT item_id FROM exports_shortfall WHERE release_id = %(release)s
    )
"""


def votes_freeze(release: Release) -> None:
    """Save all annotations of a release's items, except those of sealed splits, in one statement."""
    states = ", ".join(f"'{state.value}'" for state in KEPT)
    with connection.cursor() as cursor:
        cursor.execute(_VOTES.format(states=states), {"release": release.pk})
