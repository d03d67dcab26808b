import django.db.models.deletion
import workforces.models
from django.db import migrations, models

from database.migrations import CreateModels


SQLITE = [
    """CREATE TRIGGER ledger_no_update BEFORE UPDATE ON workforces_ledgerentry
       BEGIN SELECT RAISE(ABORT, 'a ledger entry never changes'); END""",
]
POSTGRESQL = [
    """CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'a ledger entry never changes'; END $$""",
    """CREATE TRIGGER ledger_no_update BEFORE UPDATE ON workforces_ledgerentry
       FOR EACH ROW EXECUTE FUNCTION ledger_refuse()""",
]

TRIGGERS = [("ledger_no_update", "workforces_ledgerentry")]
FUNCTIONS = ["ledger_refuse"]


def forwards(apps, schema_editor):
    """Let the database refuse any change of the ledger."""
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
        ('annotation', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Workforce',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('internal', 'Members'), ('mturk', 'Marketplace (MTurk protocol)'), ('link', 'Link for a panel')], max_length=10)),
                    ('key', models.CharField(default=workforces.models.new_token, editable=False, max_length=43, unique=True)),
                    ('secret', models.CharField(default=workforces.models.new_token, editable=False, max_length=43)),
                    ('terms', models.JSONField(default=dict)),
                    ('is_active', models.BooleanField(default=True)),
                    ('spent_stop', models.BooleanField(default=False)),
                    ('serial', models.PositiveIntegerField(default=0)),
                    ('remote', models.JSONField(default=dict)),
                    ('source', models.CharField(max_length=100)),
                    ('problem', models.CharField(blank=True, max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='workforces', to='annotation.campaign')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'kind'), name='workforce_once')],
                },
            ),
            migrations.CreateModel(
                name='Posting',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('places', models.PositiveIntegerField()),
                    ('terms', models.JSONField(default=dict)),
                    ('state', models.CharField(choices=[('wanted', 'To be posted'), ('open', 'Open'), ('ending', 'Ending'), ('ended', 'Ended'), ('settled', 'Settled')], default='wanted', max_length=10)),
                    ('hit_id', models.CharField(blank=True, max_length=64)),
                    ('wanted_at', models.DateTimeField()),
                    ('expires_at', models.DateTimeField(blank=True, null=True)),
                    ('touched_at', models.DateTimeField()),
                    ('pulled_at', models.DateTimeField(blank=True, null=True)),
                    ('tried_at', models.DateTimeField(blank=True, null=True)),
                    ('owed_to', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('workforce', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='postings', to='workforces.workforce')),
                ],
                options={
                    'indexes': [models.Index(fields=['workforce', 'state'], name='posting_by_state')],
                    'constraints': [models.UniqueConstraint(fields=('workforce', 'number'), name='posting_number'), models.UniqueConstraint(condition=models.Q(('hit_id', ''), _negated=True), fields=('hit_id',), name='posting_hit_once'), models.CheckConstraint(condition=models.Q(('places__gte', 1), ('places__lte', 9)), name='posting_places_at_most_nine')],
                },
            ),
            migrations.CreateModel(
                name='Ticket',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('remote_id', models.CharField(max_length=200)),
                    ('code', models.CharField(max_length=40)),
                    ('is_signed', models.BooleanField(default=False)),
                    ('visit', models.UUIDField(null=True, unique=True)),
                    ('state', models.CharField(choices=[('open', 'In work'), ('answered', 'Answered, not confirmed'), ('submitted', 'Submitted'), ('approved', 'Approved'), ('refused', 'Refused'), ('unmatched', 'Needs a person'), ('lapsed', 'Lapsed')], default='open', max_length=10)),
                    ('outcome', models.CharField(blank=True, max_length=20)),
                    ('opened_at', models.DateTimeField()),
                    ('answered_at', models.DateTimeField(blank=True, null=True)),
                    ('submitted_at', models.DateTimeField(blank=True, null=True)),
                    ('auto_approval_at', models.DateTimeField(blank=True, null=True)),
                    ('decided_at', models.DateTimeField(blank=True, null=True)),
                    ('trained', models.BooleanField(default=False)),
                    ('problem', models.CharField(blank=True, max_length=200)),
                    ('posting', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='tickets', to='workforces.posting')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tickets', to='accounts.surrogate')),
                    ('workforce', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tickets', to='workforces.workforce')),
                ],
                options={
                    'indexes': [models.Index(fields=['posting', 'state'], name='ticket_by_posting'), models.Index(fields=['workforce', 'state', 'submitted_at'], name='ticket_by_state'), models.Index(fields=['surrogate', 'workforce'], name='ticket_by_person')],
                    'constraints': [models.UniqueConstraint(fields=('workforce', 'remote_id', 'surrogate'), name='ticket_once')],
                },
            ),
            migrations.CreateModel(
                name='Errand',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('publish', 'Publish'), ('expire', 'Expire'), ('approve', 'Approve'), ('reject', 'Refuse pay'), ('bonus', 'Bonus'), ('grant', 'Keep out of new postings'), ('revoke', 'Let back into postings'), ('notify', 'Message')], max_length=10)),
                    ('cents', models.PositiveIntegerField(default=0)),
                    ('text', models.CharField(blank=True, max_length=1000)),
                    ('token', models.CharField(max_length=64, unique=True)),
                    ('state', models.CharField(choices=[('due', 'Due'), ('sending', 'Sending'), ('confirmed', 'Confirmed'), ('undone', 'Undone'), ('failed', 'Needs a person')], default='due', max_length=10)),
                    ('due_at', models.DateTimeField()),
                    ('sending_since', models.DateTimeField(blank=True, null=True)),
                    ('confirmed_at', models.DateTimeField(blank=True, null=True)),
                    ('attempts', models.PositiveIntegerField(default=0)),
                    ('error', models.CharField(blank=True, max_length=500)),
                    ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('surrogate', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('posting', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='errands', to='workforces.posting')),
                    ('ticket', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='errands', to='workforces.ticket')),
                    ('workforce', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='errands', to='workforces.workforce')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('state__in', ['due', 'sending'])), fields=['workforce', 'kind', 'due_at', 'id'], name='errand_in_turn')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('kind__in', ['approve', 'reject']), ('state__in', ['due', 'sending', 'confirmed'])), fields=('ticket', 'kind'), name='errand_pay_once')],
                },
            ),
            migrations.CreateModel(
                name='Appeal',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('text', models.CharField(max_length=2000)),
                    ('state', models.CharField(choices=[('open', 'Open'), ('granted', 'Granted'), ('denied', 'Denied')], default='open', max_length=10)),
                    ('created_at', models.DateTimeField()),
                    ('answer', models.CharField(blank=True, max_length=2000)),
                    ('decided_at', models.DateTimeField(blank=True, null=True)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='appeals', to='annotation.campaign')),
                    ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('ticket', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='appeal', to='workforces.ticket')),
                ],
            ),
            migrations.CreateModel(
                name='TicketWork',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('annotation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='ticket_work', to='annotation.annotation')),
                    ('ticket', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='work', to='workforces.ticket')),
                ],
            ),
            migrations.CreateModel(
                name='LedgerEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('reward', 'Reward'), ('bonus', 'Bonus')], max_length=10)),
                    ('cents', models.PositiveIntegerField()),
                    ('fee_cents', models.PositiveIntegerField()),
                    ('at', models.DateTimeField()),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ledger', to='annotation.campaign')),
                    ('errand', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='ledger', to='workforces.errand')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('ticket', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ledger', to='workforces.ticket')),
                    ('workforce', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ledger', to='workforces.workforce')),
                ],
                options={
                    'indexes': [models.Index(fields=['campaign', 'id'], name='ledger_by_campaign')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('kind', 'reward')), fields=('ticket',), name='ledger_reward_once'), models.UniqueConstraint(condition=models.Q(('kind', 'bonus')), fields=('errand',), name='ledger_bonus_once')],
                },
            ),
            migrations.CreateModel(
                name='PayHold',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('until', models.DateTimeField()),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pay_holds', to='annotation.campaign')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'surrogate'), name='pay_hold_once')],
                },
            ),
            migrations.CreateModel(
                name='PayRefusal',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField()),
                    ('reason', models.CharField(blank=True, max_length=1000)),
                    ('mark', models.CharField(blank=True, max_length=100)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pay_refusals', to='annotation.campaign')),
                    ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'surrogate'), name='pay_refusal_once')],
                },
            ),
        ]),
        migrations.RunPython(forwards, backwards),
    ]
