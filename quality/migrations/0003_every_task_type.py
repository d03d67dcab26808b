"""Gold, experts and appeals of every task type: what experts judge has parts, and a case can ask several of them."""

import django.db.models.deletion
from django.db import migrations, models


def move(apps, schema_editor):
    opinions = apps.get_model("quality", "Opinion").objects
    for opinion in opinions.filter(said={}).iterator():
        opinions.filter(pk=opinion.pk).update(said={"label": opinion.label})
    apps.get_model("quality", "Case").objects.filter(parts=[]).update(parts=[{"key": "label"}])
    apps.get_model("quality", "GoldKey").objects.filter(is_active=False).update(state="retired")
    # What was published elsewhere is not examined: nothing is known of who made it.
    published = apps.get_model("annotation", "Annotation").objects.filter(via="published", is_examined=False)
    published.update(is_examined=True)


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0010_addresses_given_up'),
        ('annotation', '0005_served_items'),
        ('quality', '0002_plans_of_places'),
    ]

    operations = [
        migrations.CreateModel(
            name='CaseMessage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.CharField(max_length=2000)),
                ('at', models.DateTimeField()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='case',
            name='case_open_once',
        ),
        migrations.RemoveConstraint(
            model_name='opinion',
            name='opinion_once',
        ),
        migrations.AddField(
            model_name='case',
            name='because',
            field=models.CharField(choices=[('no_agreement', 'No agreement'), ('inspection', 'Inspection'), ('manager', 'A manager asked'), ('sample', 'Sample'), ('gold', 'Gold key')], default='no_agreement', max_length=15),
        ),
        migrations.AddField(
            model_name='case',
            name='experts',
            field=models.PositiveSmallIntegerField(default=1),
        ),
        migrations.AddField(
            model_name='case',
            name='parts',
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name='goldcheck',
            name='is_void',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='goldcheck',
            name='missed_at',
            field=models.CharField(blank=True, max_length=20),
        ),
        migrations.AddField(
            model_name='goldkey',
            name='confirmed_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='goldkey',
            name='retired_reason',
            field=models.CharField(blank=True, max_length=300),
        ),
        migrations.AddField(
            model_name='goldkey',
            name='state',
            field=models.CharField(choices=[('waiting', 'Waits for an expert'), ('active', 'In use'), ('retired', 'Retired')], default='active', max_length=10),
        ),
        migrations.AddField(
            model_name='opinion',
            name='phase',
            field=models.CharField(choices=[('blind', 'Alone'), ('consensus', 'Consensus')], default='blind', max_length=10),
        ),
        migrations.AddField(
            model_name='opinion',
            name='said',
            field=models.JSONField(default=dict),
        ),
        migrations.RunPython(move, migrations.RunPython.noop),
        migrations.RemoveField(
            model_name='goldkey',
            name='is_active',
        ),
        migrations.RemoveField(
            model_name='opinion',
            name='label',
        ),
        migrations.AddField(
            model_name='review',
            name='appeal',
            field=models.CharField(blank=True, max_length=2000),
        ),
        migrations.AddField(
            model_name='review',
            name='appeal_answer',
            field=models.CharField(blank=True, max_length=2000),
        ),
        migrations.AddField(
            model_name='review',
            name='appeal_decided_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='review',
            name='appeal_decided_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate'),
        ),
        migrations.AddField(
            model_name='review',
            name='appealed_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='case',
            name='state',
            field=models.CharField(choices=[('open', 'Open'), ('consensus', 'In discussion'), ('decided', 'Decided'), ('recalled', 'Recalled')], default='open', max_length=10),
        ),
        migrations.AddIndex(
            model_name='case',
            index=models.Index(condition=models.Q(('state', 'consensus')), fields=['campaign', 'id'], name='case_in_discussion'),
        ),
        migrations.AddIndex(
            model_name='review',
            index=models.Index(condition=models.Q(('appeal_decided_at', None), ('appealed_at__isnull', False)), fields=['campaign', 'id'], name='review_appealed'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['open', 'consensus'])), fields=('item',), name='case_pending_once'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.CheckConstraint(condition=models.Q(('experts__gte', 1)), name='case_asks_somebody'),
        ),
        migrations.AddConstraint(
            model_name='opinion',
            constraint=models.UniqueConstraint(fields=('case', 'surrogate', 'phase'), name='opinion_once'),
        ),
        migrations.AddConstraint(
            model_name='opinion',
            constraint=models.UniqueConstraint(condition=models.Q(('phase', 'consensus')), fields=('case',), name='consensus_once'),
        ),
        migrations.AddField(
            model_name='casemessage',
            name='case',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='quality.case'),
        ),
        migrations.AddField(
            model_name='casemessage',
            name='surrogate',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate'),
        ),
    ]
