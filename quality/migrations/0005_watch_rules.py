"""Rules over what people do, and where they fired."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0010_addresses_given_up'),
        ('annotation', '0005_served_items'),
        ('quality', '0004_inspections_by_person'),
    ]

    operations = [
        migrations.CreateModel(
            name='WatchRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('collector', models.CharField(choices=[('gold', 'Share of gold checks missed'), ('inspection', 'Share of inspected answers found wrong'), ('speed', 'Median seconds of an answer'), ('same', 'Share of the most frequent answer'), ('skips', 'Share of items skipped, but for what upsets')], max_length=12)),
                ('is_above', models.BooleanField(choices=[(True, 'above'), (False, 'below')], default=True)),
                ('limit', models.FloatField()),
                ('window', models.PositiveIntegerField()),
                ('least', models.PositiveIntegerField()),
                ('act', models.CharField(choices=[('notify', 'Tell managers'), ('warn', 'Warn'), ('pause', 'Pause, before a manager')], max_length=10)),
                ('created_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='watch_rules', to='annotation.campaign')),
            ],
        ),
        migrations.CreateModel(
            name='RuleFiring',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=10)),
                ('key', models.BigIntegerField()),
                ('value', models.FloatField()),
                ('fact_at', models.DateTimeField()),
                ('at', models.DateTimeField()),
                ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ('rule', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='firings', to='quality.watchrule')),
            ],
        ),
        migrations.AddIndex(
            model_name='watchrule',
            index=models.Index(condition=models.Q(('ended_at', None)), fields=['campaign', 'id'], name='watch_rule_active'),
        ),
        migrations.AddConstraint(
            model_name='rulefiring',
            constraint=models.UniqueConstraint(fields=('rule', 'surrogate', 'kind', 'key'), name='rule_firing_once'),
        ),
    ]
