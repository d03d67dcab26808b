import django.db.models.deletion
import uuid
from django.db import migrations, models

from database.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Heartbeat',
                fields=[
                    ('name', models.CharField(max_length=40, primary_key=True, serialize=False)),
                    ('at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='Job',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('kind', models.CharField(max_length=60)),
                    ('lane', models.CharField(max_length=20)),
                    ('payload', models.JSONField(default=dict)),
                    ('key', models.CharField(blank=True, max_length=200)),
                    ('state', models.CharField(choices=[('queued', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=10)),
                    ('attempt', models.PositiveIntegerField(default=0)),
                    ('stalled', models.PositiveIntegerField(default=0)),
                    ('due_at', models.DateTimeField()),
                    ('lease_until', models.DateTimeField(blank=True, null=True)),
                    ('announced_at', models.DateTimeField(blank=True, null=True)),
                    ('announcements', models.PositiveIntegerField(default=0)),
                    ('done', models.BigIntegerField(default=0)),
                    ('total', models.BigIntegerField(blank=True, null=True)),
                    ('message', models.CharField(blank=True, max_length=300)),
                    ('result', models.JSONField(default=dict)),
                    ('error', models.TextField(blank=True)),
                    ('created_at', models.DateTimeField()),
                    ('started_at', models.DateTimeField(blank=True, null=True)),
                    ('finished_at', models.DateTimeField(blank=True, null=True)),
                    ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('scope', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='accounts.scope')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('state__in', ['queued', 'running'])), fields=['lane', 'due_at', 'id'], name='job_unfinished'), models.Index(condition=models.Q(('state__in', ['done', 'failed'])), fields=['state', 'finished_at'], name='job_finished'), models.Index(condition=models.Q(('state', 'failed'), models.Q(('key', ''), _negated=True)), fields=['key'], name='job_failed_key'), models.Index(fields=['scope', 'created_at'], name='job_by_scope')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['queued', 'running']), models.Q(('key', ''), _negated=True)), fields=('key',), name='job_key_once_unfinished')],
                },
            ),
        ]),
    ]
