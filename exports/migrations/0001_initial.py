import django.db.models.deletion
from django.db import migrations, models

from database.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotation', '0001_initial'),
        ('jobs', '0001_initial'),
        ('quality', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Release',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('family', models.CharField(max_length=30)),
                    ('ways', models.PositiveIntegerField()),
                    ('splits', models.JSONField()),
                    ('seed', models.BigIntegerField(null=True)),
                    ('shards', models.PositiveIntegerField(default=1)),
                    ('state', models.CharField(choices=[('writing', 'Being written'), ('ready', 'Ready')], default='writing', max_length=10)),
                    ('manifest', models.JSONField(default=dict)),
                    ('frozen', models.JSONField(default=dict)),
                    ('created_at', models.DateTimeField()),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='annotation.campaign')),
                    ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.job')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'number'), name='release_number')],
                },
            ),
            migrations.CreateModel(
                name='ReleaseMember',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('rank', models.PositiveIntegerField()),
                    ('annotation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.annotation')),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.item')),
                    ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='exports.release')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('release', 'item', 'rank'), name='release_member_once')],
                },
            ),
            migrations.CreateModel(
                name='ReleaseVerdict',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.item')),
                    ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='exports.release')),
                    ('verdict', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='quality.verdict')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('release', 'item'), name='release_verdict_once')],
                },
            ),
            migrations.CreateModel(
                name='ReleaseVote',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('state', models.CharField(max_length=12)),
                    ('because', models.CharField(blank=True, max_length=300)),
                    ('is_used', models.BooleanField()),
                    ('annotation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.annotation')),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.item')),
                    ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='votes', to='exports.release')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('release', 'item', 'annotation'), name='release_vote_once')],
                },
            ),
            migrations.CreateModel(
                name='Shortfall',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('counted', models.PositiveIntegerField()),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.item')),
                    ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shortfall', to='exports.release')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('release', 'item'), name='shortfall_once')],
                },
            ),
        ]),
    ]
