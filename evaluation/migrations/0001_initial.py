import django.db.models.deletion
import evaluation.models
from django.db import migrations, models

from database.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        ('annotation', '0001_initial'),
        ('exports', '0001_initial'),
        ('jobs', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Board',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('split', models.CharField(max_length=30)),
                    ('metric', models.CharField(max_length=20)),
                    ('step', models.FloatField()),
                    ('a_day', models.PositiveIntegerField()),
                    ('is_sealed', models.BooleanField()),
                    ('created_at', models.DateTimeField()),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='boards', to='annotation.campaign')),
                    ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='boards', to='exports.release')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'number'), name='board_number'), models.UniqueConstraint(fields=('release', 'split', 'metric'), name='board_once'), models.UniqueConstraint(condition=models.Q(('is_sealed', True)), fields=('campaign', 'split', 'metric'), name='sealed_board_once')],
                },
            ),
            migrations.CreateModel(
                name='Team',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=60)),
                    ('code', models.CharField(default=evaluation.models.new_code, max_length=20)),
                    ('board', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='teams', to='evaluation.board')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('board', 'name'), name='team_name')],
                },
            ),
            migrations.CreateModel(
                name='Submission',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('system', models.CharField(max_length=100)),
                    ('sha256', models.CharField(max_length=64)),
                    ('options', models.JSONField(default=dict)),
                    ('state', models.CharField(choices=[('waiting', 'Is being scored'), ('shown', 'Scored'), ('not_shown', 'Not better by enough'), ('refused', 'Could not be scored')], default='waiting', max_length=10)),
                    ('attempt', models.PositiveIntegerField(null=True)),
                    ('score', models.FloatField(null=True)),
                    ('exact', models.FloatField(null=True)),
                    ('values', models.BinaryField(null=True)),
                    ('error', models.CharField(blank=True, max_length=1000)),
                    ('created_at', models.DateTimeField()),
                    ('board', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='submissions', to='evaluation.board')),
                    ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.job')),
                    ('submitted_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='submissions', to='evaluation.team')),
                ],
                options={
                    'indexes': [models.Index(fields=['team', 'created_at'], name='submission_by_team')],
                },
            ),
            migrations.CreateModel(
                name='TeamMember',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('board', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='evaluation.board')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='evaluation.team')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('board', 'surrogate'), name='one_team_a_person')],
                },
            ),
        ]),
    ]
