import django.db.models.deletion
import uuid
from django.db import migrations, models

from database.migrations import CreateModels


SQLITE = [
    """CREATE TRIGGER answer_no_update BEFORE UPDATE OF answer ON annotation_annotation
       WHEN NEW.answer IS NOT OLD.answer AND NEW.redacted_at IS NULL
       BEGIN SELECT RAISE(ABORT, 'a submitted answer never changes'); END""",
    """CREATE TRIGGER countedchange_no_update BEFORE UPDATE ON annotation_countedchange
       BEGIN SELECT RAISE(ABORT, 'a recorded change never changes'); END""",
    """CREATE TRIGGER standingchange_no_update BEFORE UPDATE ON annotation_standingchange
       BEGIN SELECT RAISE(ABORT, 'a recorded change never changes'); END""",
]
POSTGRESQL = [
    """CREATE FUNCTION answer_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'a submitted answer never changes'; END $$""",
    """CREATE TRIGGER answer_no_update BEFORE UPDATE OF answer ON annotation_annotation
       FOR EACH ROW WHEN (NEW.answer IS DISTINCT FROM OLD.answer AND NEW.redacted_at IS NULL)
       EXECUTE FUNCTION answer_refuse()""",
    """CREATE FUNCTION change_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'a recorded change never changes'; END $$""",
    """CREATE TRIGGER countedchange_no_update BEFORE UPDATE ON annotation_countedchange
       FOR EACH ROW EXECUTE FUNCTION change_refuse()""",
    """CREATE TRIGGER standingchange_no_update BEFORE UPDATE ON annotation_standingchange
       FOR EACH ROW EXECUTE FUNCTION change_refuse()""",
]

TRIGGERS = [("answer_no_update", "annotation_annotation"), ("countedchange_no_update", "annotation_countedchange"), ("standingchange_no_update", "annotation_standingchange")]
FUNCTIONS = ["answer_refuse", "change_refuse"]


def forwards(apps, schema_editor):
    """Let the database refuse any change of an answer but an audited redaction, and any change of what was recorded."""
    for statement in SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRESQL:
        schema_editor.execute(statement)


def backwards(apps, schema_editor):
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    for trigger, table in TRIGGERS:
        schema_editor.execute(f"DROP TRIGGER {trigger}" if is_sqlite else f"DROP TRIGGER {trigger} ON {table}")
    for function in [] if is_sqlite else FUNCTIONS:
        schema_editor.execute(f"DROP FUNCTION {function}")


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        ('documents', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Campaign',
                fields=[
                    ('scope', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='accounts.scope')),
                    ('slug', models.SlugField(max_length=60, unique=True, verbose_name='short name')),
                    ('title', models.CharField(max_length=200, verbose_name='title')),
                    ('task_type', models.CharField(max_length=20, verbose_name='task type')),
                    ('state', models.CharField(choices=[('draft', 'Draft'), ('open', 'Open'), ('paused', 'Paused'), ('closed', 'Closed')], default='draft', max_length=10)),
                    ('language', models.CharField(default='en', max_length=12, verbose_name='language of the documents')),
                    ('time_zone', models.CharField(default='UTC', max_length=60, verbose_name='time zone')),
                    ('seed', models.BigIntegerField(default=0, verbose_name='seed')),
                    ('deadline_seconds', models.PositiveIntegerField(default=1800, verbose_name='time for one item')),
                    ('quota', models.PositiveIntegerField(blank=True, null=True, verbose_name='most items per person')),
                    ('group_by', models.CharField(default='item', max_length=10, verbose_name='keep together in one split')),
                    ('content_warning', models.CharField(blank=True, max_length=300, verbose_name='content warning')),
                    ('has_training', models.BooleanField(default=False, verbose_name='training round before the first item')),
                    ('options', models.JSONField(default=dict)),
                    ('is_synthetic', models.BooleanField(default=False)),
                    ('queue_version', models.PositiveBigIntegerField(default=0)),
                    ('created_at', models.DateTimeField()),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('group_by__in', ['item', 'question', 'document'])), name='campaign_group_by_known')],
                },
            ),
            migrations.CreateModel(
                name='Batch',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('ordinal', models.PositiveIntegerField()),
                    ('purpose', models.CharField(choices=[('work', 'Dataset'), ('study', 'Study'), ('pilot', 'Pilot'), ('gold', 'Gold'), ('review', 'Review')], default='work', max_length=10)),
                    ('opens_at', models.DateTimeField(blank=True, null=True)),
                    ('state', models.CharField(choices=[('draft', 'Draft'), ('open', 'Open'), ('closed', 'Closed')], default='draft', max_length=10)),
                    ('created_at', models.DateTimeField()),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='annotation.campaign')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'ordinal'), name='batch_ordinal')],
                },
            ),
            migrations.CreateModel(
                name='CampaignDocument',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=500)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='documents', to='annotation.campaign')),
                    ('tokenization', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='documents.tokenization')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'name'), name='campaign_document_name')],
                },
            ),
            migrations.CreateModel(
                name='Guideline',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('body', models.TextField(verbose_name='guidelines')),
                    ('note', models.CharField(blank=True, max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='guidelines', to='annotation.campaign')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'version'), name='guideline_version')],
                },
            ),
            migrations.CreateModel(
                name='Participation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('standing', models.CharField(choices=[('active', 'Active'), ('warned', 'Warned'), ('paused', 'Paused'), ('suspended', 'Suspended')], default='active', max_length=10)),
                    ('cursor', models.BigIntegerField(default=0)),
                    ('queue_version', models.PositiveBigIntegerField(default=0)),
                    ('served', models.PositiveIntegerField(default=0)),
                    ('planned_to', models.PositiveIntegerField(default=0)),
                    ('submitted', models.PositiveIntegerField(default=0)),
                    ('trained', models.PositiveIntegerField(default=0)),
                    ('trained_at', models.DateTimeField(blank=True, null=True)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='participations', to='annotation.campaign')),
                    ('guideline', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.guideline')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'surrogate'), name='participation_once')],
                },
            ),
            migrations.CreateModel(
                name='QueueRewind',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveBigIntegerField()),
                    ('order_key', models.BigIntegerField()),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='queue_rewinds', to='annotation.campaign')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'version'), name='queue_rewind_version')],
                },
            ),
            migrations.CreateModel(
                name='Split',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.SlugField(max_length=30)),
                    ('n', models.PositiveIntegerField()),
                    ('weight', models.PositiveIntegerField()),
                    ('position', models.PositiveIntegerField()),
                    ('sealed_at', models.DateTimeField(blank=True, null=True)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='splits', to='annotation.campaign')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'name'), name='split_name'), models.CheckConstraint(condition=models.Q(('n__gte', 1)), name='split_n_positive')],
                },
            ),
            migrations.CreateModel(
                name='StandingChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('before', models.CharField(choices=[('active', 'Active'), ('warned', 'Warned'), ('paused', 'Paused'), ('suspended', 'Suspended')], max_length=10)),
                    ('after', models.CharField(choices=[('active', 'Active'), ('warned', 'Warned'), ('paused', 'Paused'), ('suspended', 'Suspended')], max_length=10)),
                    ('because', models.JSONField(default=dict)),
                    ('at', models.DateTimeField()),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='standing_changes', to='annotation.campaign')),
                    ('changed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'indexes': [models.Index(fields=['campaign', 'surrogate', 'id'], name='standing_change_by_person')],
                },
            ),
            migrations.CreateModel(
                name='TrainingExample',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField()),
                    ('content', models.JSONField()),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='training_examples', to='annotation.campaign')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'position'), name='training_position')],
                },
            ),
            migrations.CreateModel(
                name='Withdrawal',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('asked_at', models.DateTimeField()),
                    ('due_at', models.DateTimeField(db_index=True)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='withdrawals', to='annotation.campaign')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'surrogate'), name='withdrawal_once')],
                },
            ),
            migrations.CreateModel(
                name='Snapshot',
                fields=[
                    ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='annotation.campaign')),
                    ('taken_at', models.DateTimeField()),
                    ('version', models.CharField(default='', max_length=200)),
                    ('data', models.JSONField(default=dict)),
                ],
            ),
            migrations.CreateModel(
                name='Item',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('external_id', models.CharField(max_length=200)),
                    ('published_id', models.CharField(max_length=20)),
                    ('content', models.JSONField()),
                    ('content_sha256', models.CharField(max_length=64)),
                    ('state', models.CharField(choices=[('active', 'Active'), ('retired', 'Retired')], default='active', max_length=10)),
                    ('retired_reason', models.CharField(blank=True, max_length=300)),
                    ('origin', models.TextField(blank=True)),
                    ('n', models.PositiveIntegerField()),
                    ('votes', models.PositiveIntegerField()),
                    ('created_at', models.DateTimeField()),
                    ('batch', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='items', to='annotation.batch')),
                    ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='items', to='annotation.campaign')),
                    ('tokenization', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='items', to='documents.tokenization')),
                    ('split', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='items', to='annotation.split')),
                ],
                options={
                    'indexes': [models.Index(fields=['campaign', 'split', 'id'], name='item_by_split'), models.Index(fields=['batch', 'id'], name='item_by_batch')],
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'external_id'), name='item_external_id'), models.UniqueConstraint(fields=('campaign', 'published_id'), name='item_published_id'), models.UniqueConstraint(fields=('campaign', 'content_sha256'), name='item_content_once')],
                },
            ),
            migrations.CreateModel(
                name='FaqEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('question', models.CharField(max_length=1000)),
                    ('answer', models.TextField()),
                    ('published_at', models.DateTimeField()),
                    ('retired_at', models.DateTimeField(blank=True, null=True)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='faq', to='annotation.campaign')),
                    ('item', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='faq', to='annotation.item')),
                ],
            ),
            migrations.CreateModel(
                name='ItemBar',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('item', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='bars', to='annotation.item')),
                    ('surrogate', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'indexes': [models.Index(fields=['item'], name='item_bar_by_item')],
                    'constraints': [models.UniqueConstraint(fields=('surrogate', 'item'), name='item_bar_once')],
                },
            ),
            migrations.CreateModel(
                name='ItemReport',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('text', models.CharField(max_length=1000)),
                    ('created_at', models.DateTimeField()),
                    ('resolved_at', models.DateTimeField(blank=True, null=True)),
                    ('answer', models.TextField(blank=True)),
                    ('read_at', models.DateTimeField(blank=True, null=True)),
                    ('answered_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reports', to='annotation.item')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('resolved_at', None)), fields=['item'], name='report_open')],
                },
            ),
            migrations.CreateModel(
                name='Slot',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('round', models.PositiveIntegerField(default=1)),
                    ('index', models.PositiveIntegerField()),
                    ('order_key', models.BigIntegerField()),
                    ('state', models.CharField(choices=[('open', 'Open'), ('held', 'In work'), ('filled', 'Done'), ('closed', 'Closed'), ('aside', 'For one person')], default='open', max_length=10)),
                    ('is_reopened', models.BooleanField(default=False)),
                    ('is_wanted', models.BooleanField(default=True)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='annotation.campaign')),
                    ('item', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='annotation.item')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('is_reopened', False), ('state', 'open')), fields=['campaign', 'order_key'], name='slot_queue'), models.Index(condition=models.Q(('is_reopened', True), ('state', 'open')), fields=['campaign', 'order_key'], name='slot_reopened'), models.Index(condition=models.Q(('state', 'held')), fields=['campaign'], name='slot_held')],
                    'constraints': [models.UniqueConstraint(fields=('item', 'round', 'index'), name='slot_index_once')],
                },
            ),
            migrations.CreateModel(
                name='Injection',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField()),
                    ('is_replaced', models.BooleanField(default=False)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='injections', to='annotation.campaign')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('slot', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='injection', to='annotation.slot')),
                ],
                options={
                    'indexes': [models.Index(fields=['campaign', 'surrogate', 'position'], name='injection_for_person')],
                },
            ),
            migrations.CreateModel(
                name='Assignment',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('state', models.CharField(choices=[('reserved', 'Reserved'), ('live', 'In work'), ('submitted', 'Submitted'), ('late', 'Submitted late'), ('expired', 'Expired'), ('skipped', 'Skipped'), ('released', 'Released'), ('undone', 'Undone')], default='live', max_length=10)),
                    ('claimed_at', models.DateTimeField()),
                    ('deadline_at', models.DateTimeField()),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('draft', models.JSONField(default=dict)),
                    ('draft_version', models.PositiveIntegerField(default=0)),
                    ('skip_reason', models.CharField(blank=True, max_length=20)),
                    ('skip_note', models.CharField(blank=True, max_length=500)),
                    ('surrogate', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='accounts.surrogate')),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotation.campaign')),
                    ('guideline', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.guideline')),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotation.item')),
                    ('slot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotation.slot')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('state__in', ['reserved', 'live'])), fields=['deadline_at'], name='assignment_deadline'), models.Index(fields=['surrogate', 'item'], name='assignment_seen'), models.Index(condition=models.Q(('state__in', ['expired', 'released'])), fields=['campaign', 'surrogate'], name='assignment_given_back')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['reserved', 'live'])), fields=('slot',), name='slot_held_once'), models.UniqueConstraint(condition=models.Q(('state__in', ['reserved', 'live', 'submitted'])), fields=('item', 'surrogate'), name='item_once_per_person'), models.UniqueConstraint(condition=models.Q(('state', 'live')), fields=('campaign', 'surrogate'), name='one_live_assignment'), models.UniqueConstraint(condition=models.Q(('state', 'reserved')), fields=('campaign', 'surrogate'), name='one_reservation')],
                },
            ),
            migrations.CreateModel(
                name='EventChunk',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('sequence', models.PositiveIntegerField()),
                    ('events', models.BinaryField()),
                    ('received_at', models.DateTimeField()),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='event_chunks', to='annotation.assignment')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('assignment', 'sequence'), name='event_chunk_once')],
                },
            ),
            migrations.CreateModel(
                name='EventTally',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('untrusted', models.PositiveIntegerField(default=0)),
                    ('pastes', models.PositiveIntegerField(default=0)),
                    ('pasted', models.PositiveIntegerField(default=0)),
                    ('left', models.PositiveIntegerField(default=0)),
                    ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='event_tally', to='annotation.assignment')),
                ],
            ),
            migrations.CreateModel(
                name='Annotation',
                fields=[
                    ('id', models.BigAutoField(primary_key=True, serialize=False)),
                    ('published_id', models.CharField(max_length=20)),
                    ('via', models.CharField(default='internal', max_length=10)),
                    ('answer', models.JSONField()),
                    ('answer_version', models.PositiveIntegerField()),
                    ('text_key', models.CharField(blank=True, max_length=64, null=True)),
                    ('state', models.CharField(choices=[('counted', 'Counted'), ('provisional', 'Waits to be confirmed'), ('given_up', 'Not confirmed in time'), ('surplus', 'Not needed'), ('late', 'Submitted late'), ('undone', 'Undone'), ('excluded', 'Excluded'), ('retired', 'Item was retired'), ('withdrawn', 'Consent withdrawn')], max_length=12)),
                    ('submitted_at', models.DateTimeField()),
                    ('seconds', models.FloatField()),
                    ('active_seconds', models.FloatField(blank=True, null=True)),
                    ('stage_seconds', models.JSONField(default=dict)),
                    ('redacted_at', models.DateTimeField(blank=True, null=True)),
                    ('is_examined', models.BooleanField(default=False)),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='annotations', to='accounts.surrogate')),
                    ('assignment', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='annotation', to='annotation.assignment')),
                    ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='annotations', to='annotation.campaign')),
                    ('guideline', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.guideline')),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='annotations', to='annotation.item')),
                    ('slot', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='annotations', to='annotation.slot')),
                ],
                options={
                    'indexes': [models.Index(fields=['campaign', 'id'], name='annotation_by_campaign'), models.Index(fields=['campaign', 'surrogate', 'id'], name='annotation_by_person'), models.Index(condition=models.Q(('is_examined', False), models.Q(('state', 'provisional'), _negated=True)), fields=['campaign', 'id'], name='annotation_to_examine'), models.Index(condition=models.Q(('text_key__isnull', False)), fields=['campaign', 'text_key'], name='annotation_by_text')],
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'published_id'), name='annotation_published_id'), models.UniqueConstraint(condition=models.Q(('state__in', ['counted', 'provisional'])), fields=('slot',), name='slot_filled_once'), models.UniqueConstraint(condition=models.Q(('state__in', ['counted', 'provisional'])), fields=('item', 'surrogate'), name='person_counted_once'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['counted', 'provisional']), _negated=True), ('slot__isnull', False), _connector='OR'), name='filling_has_slot')],
                },
            ),
            migrations.CreateModel(
                name='CountedChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('before', models.CharField(choices=[('counted', 'Counted'), ('provisional', 'Waits to be confirmed'), ('given_up', 'Not confirmed in time'), ('surplus', 'Not needed'), ('late', 'Submitted late'), ('undone', 'Undone'), ('excluded', 'Excluded'), ('retired', 'Item was retired'), ('withdrawn', 'Consent withdrawn')], max_length=12)),
                    ('after', models.CharField(choices=[('counted', 'Counted'), ('provisional', 'Waits to be confirmed'), ('given_up', 'Not confirmed in time'), ('surplus', 'Not needed'), ('late', 'Submitted late'), ('undone', 'Undone'), ('excluded', 'Excluded'), ('retired', 'Item was retired'), ('withdrawn', 'Consent withdrawn')], max_length=12)),
                    ('because', models.CharField(blank=True, max_length=300)),
                    ('at', models.DateTimeField()),
                    ('annotation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='annotation.annotation')),
                    ('changed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
            ),
        ]),
        migrations.AddField(
            model_name='item',
            name='follows',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='follow_ups', to='annotation.annotation'),
        ),
        migrations.AddIndex(
            model_name='item',
            index=models.Index(condition=models.Q(('follows__isnull', False)), fields=['follows'], name='item_follows'),
        ),
        migrations.RunPython(forwards, backwards),
    ]
