import django.db.models.deletion
from django.db import migrations, models

from database.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        ('annotation', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='BehaviourSnapshot',
                fields=[
                    ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='annotation.campaign')),
                    ('taken_at', models.DateTimeField()),
                    ('version', models.CharField(max_length=200)),
                    ('data', models.JSONField(default=dict)),
                ],
            ),
            migrations.CreateModel(
                name='QualitySnapshot',
                fields=[
                    ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='annotation.campaign')),
                    ('taken_at', models.DateTimeField()),
                    ('version', models.CharField(default='', max_length=200)),
                    ('data', models.JSONField(default=dict)),
                ],
            ),
            migrations.CreateModel(
                name='StudySnapshot',
                fields=[
                    ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='annotation.campaign')),
                    ('taken_at', models.DateTimeField()),
                    ('version', models.CharField(max_length=200)),
                    ('data', models.JSONField(default=dict)),
                ],
            ),
            migrations.CreateModel(
                name='Audit',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('seed', models.BigIntegerField()),
                    ('strata', models.JSONField()),
                    ('drawn_at', models.DateTimeField()),
                    ('called_off_at', models.DateTimeField(blank=True, null=True)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='audits', to='annotation.campaign')),
                    ('drawn_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
            ),
            migrations.CreateModel(
                name='CampaignPlan',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('made_at', models.DateTimeField()),
                    ('data', models.JSONField()),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='plans', to='annotation.campaign')),
                ],
            ),
            migrations.CreateModel(
                name='Case',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('state', models.CharField(choices=[('open', 'Open'), ('consensus', 'In discussion'), ('decided', 'Decided'), ('recalled', 'Recalled')], default='open', max_length=10)),
                    ('because', models.CharField(choices=[('no_agreement', 'No agreement'), ('doubt', 'Votes leave doubt'), ('inspection', 'Inspection'), ('manager', 'A manager asked'), ('sample', 'Sample'), ('gold', 'Gold key'), ('audit', 'Audit')], default='no_agreement', max_length=15)),
                    ('experts', models.PositiveSmallIntegerField(default=1)),
                    ('parts', models.JSONField(default=list)),
                    ('opened_at', models.DateTimeField()),
                    ('closed_at', models.DateTimeField(blank=True, null=True)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='annotation.campaign')),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='cases', to='annotation.item')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('state', 'open')), fields=['campaign', 'id'], name='case_open'), models.Index(condition=models.Q(('state', 'consensus')), fields=['campaign', 'id'], name='case_in_discussion')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['open', 'consensus'])), fields=('item',), name='case_pending_once'), models.CheckConstraint(condition=models.Q(('experts__gte', 1)), name='case_asks_somebody')],
                },
            ),
            migrations.CreateModel(
                name='CaseMessage',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('text', models.CharField(max_length=2000)),
                    ('at', models.DateTimeField()),
                    ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='quality.case')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
            ),
            migrations.CreateModel(
                name='Flag',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('question_id', models.CharField(max_length=200)),
                    ('is_listed', models.BooleanField(null=True)),
                    ('decided_at', models.DateTimeField(blank=True, null=True)),
                    ('created_at', models.DateTimeField()),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='flags', to='annotation.campaign')),
                    ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'question_id'), name='flag_once')],
                },
            ),
            migrations.CreateModel(
                name='GoldKey',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('accepted', models.JSONField()),
                    ('state', models.CharField(choices=[('waiting', 'Waits for an expert'), ('active', 'In use'), ('retired', 'Retired')], default='active', max_length=10)),
                    ('confirmed_at', models.DateTimeField(blank=True, null=True)),
                    ('retired_reason', models.CharField(blank=True, max_length=300)),
                    ('exposures', models.PositiveIntegerField(default=0)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_keys', to='annotation.campaign')),
                    ('item', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='gold_key', to='annotation.item')),
                ],
                options={
                    'indexes': [models.Index(fields=['campaign', 'exposures', 'id'], name='gold_key_least_shown')],
                },
            ),
            migrations.CreateModel(
                name='GoldCheck',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('is_hit', models.BooleanField()),
                    ('missed_at', models.CharField(blank=True, max_length=20)),
                    ('is_void', models.BooleanField(default=False)),
                    ('at', models.DateTimeField()),
                    ('annotation', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='gold_check', to='annotation.annotation')),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_checks', to='annotation.campaign')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('key', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='checks', to='quality.goldkey')),
                ],
                options={
                    'indexes': [models.Index(fields=['campaign', 'surrogate', 'id'], name='gold_check_by_person')],
                },
            ),
            migrations.CreateModel(
                name='Inspection',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('because', models.CharField(choices=[('sample', 'Sample'), ('no_agreement', 'No agreement')], max_length=15)),
                    ('verdict', models.CharField(blank=True, choices=[('good', 'Right'), ('debatable', 'Debatable'), ('wrong', 'Wrong')], max_length=10)),
                    ('inspected_at', models.DateTimeField(blank=True, null=True)),
                    ('annotation', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='inspection', to='annotation.annotation')),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='inspections', to='annotation.campaign')),
                    ('inspected_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('verdict', '')), fields=['campaign', 'id'], name='inspection_waiting')],
                },
            ),
            migrations.CreateModel(
                name='InspectionTally',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('carry', models.FloatField()),
                    ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.campaign')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'surrogate'), name='inspection_tally_once')],
                },
            ),
            migrations.CreateModel(
                name='Opinion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('phase', models.CharField(choices=[('blind', 'Alone'), ('consensus', 'Consensus')], default='blind', max_length=10)),
                    ('said', models.JSONField(default=dict)),
                    ('justification', models.CharField(blank=True, max_length=2000)),
                    ('at', models.DateTimeField()),
                    ('case', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='opinions', to='quality.case')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('case', 'surrogate', 'phase'), name='opinion_once'), models.UniqueConstraint(condition=models.Q(('phase', 'consensus')), fields=('case',), name='consensus_once')],
                },
            ),
            migrations.CreateModel(
                name='PolicyVersion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('data', models.JSONField()),
                    ('created_at', models.DateTimeField()),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='policies', to='annotation.campaign')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'version'), name='policy_version_once')],
                },
            ),
            migrations.CreateModel(
                name='Review',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('state', models.CharField(choices=[('open', 'Waits for a decision'), ('reinstated', 'Reinstated'), ('suspended', 'Suspended')], default='open', max_length=10)),
                    ('evidence', models.JSONField(default=dict)),
                    ('opened_at', models.DateTimeField()),
                    ('decide_by', models.DateTimeField()),
                    ('decided_at', models.DateTimeField(blank=True, null=True)),
                    ('reason', models.CharField(blank=True, max_length=1000)),
                    ('refuses_pay', models.BooleanField(default=False)),
                    ('appeal', models.CharField(blank=True, max_length=2000)),
                    ('appealed_at', models.DateTimeField(blank=True, null=True)),
                    ('appeal_answer', models.CharField(blank=True, max_length=2000)),
                    ('appeal_decided_at', models.DateTimeField(blank=True, null=True)),
                    ('appeal_decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reviews', to='annotation.campaign')),
                    ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                    ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('appeal_decided_at', None), ('appealed_at__isnull', False)), fields=['campaign', 'id'], name='review_appealed')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'open')), fields=('campaign', 'surrogate'), name='review_open_once')],
                },
            ),
            migrations.CreateModel(
                name='TargetSnapshot',
                fields=[
                    ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='annotation.campaign')),
                    ('taken_at', models.DateTimeField()),
                    ('version', models.CharField(max_length=200)),
                    ('data', models.JSONField(default=dict)),
                    ('calibration', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='quality.audit')),
                ],
            ),
            migrations.CreateModel(
                name='Unexamined',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('attempts', models.PositiveIntegerField(default=0)),
                    ('error', models.CharField(max_length=500)),
                    ('try_at', models.DateTimeField()),
                    ('since', models.DateTimeField()),
                    ('annotation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='unexamined', to='annotation.annotation')),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='unexamined', to='annotation.campaign')),
                ],
                options={
                    'indexes': [models.Index(fields=['campaign', 'try_at'], name='unexamined_by_campaign')],
                },
            ),
            migrations.CreateModel(
                name='Verdict',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('label', models.JSONField()),
                    ('rule', models.CharField(choices=[('majority', 'Majority of the first round'), ('second', 'Majority of the second round'), ('pooled', 'Most votes of both rounds'), ('plurality', 'Most votes'), ('expert', 'Expert')], max_length=10)),
                    ('decided_at', models.DateTimeField()),
                    ('superseded_at', models.DateTimeField(blank=True, null=True)),
                    ('annotations', models.ManyToManyField(related_name='verdicts', to='annotation.annotation')),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='annotation.campaign')),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='verdicts', to='annotation.item')),
                    ('opinion', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='verdicts', to='quality.opinion')),
                    ('policy', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='quality.policyversion')),
                ],
                options={
                    'indexes': [models.Index(fields=['campaign', 'id'], name='verdict_by_campaign')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('superseded_at', None)), fields=('item',), name='verdict_in_force'), models.CheckConstraint(condition=models.Q(models.Q(('opinion__isnull', False), ('rule', 'expert')), models.Q(models.Q(('rule', 'expert'), _negated=True), ('opinion__isnull', True)), _connector='OR'), name='verdict_opinion_of_expert')],
                },
            ),
            migrations.CreateModel(
                name='AuditItem',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('stratum', models.PositiveSmallIntegerField()),
                    ('doubt', models.FloatField(null=True)),
                    ('experts', models.PositiveSmallIntegerField()),
                    ('is_left_out', models.BooleanField(default=False)),
                    ('audit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='quality.audit')),
                    ('case', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='audit_item', to='quality.case')),
                    ('verdict', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='quality.verdict')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('audit', 'verdict'), name='audit_item_once')],
                },
            ),
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
                options={
                    'indexes': [models.Index(condition=models.Q(('ended_at', None)), fields=['campaign', 'id'], name='watch_rule_active')],
                },
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
                options={
                    'constraints': [models.UniqueConstraint(fields=('rule', 'surrogate', 'kind', 'key'), name='rule_firing_once')],
                },
            ),
            migrations.CreateModel(
                name='Wave',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('predicted', models.FloatField()),
                    ('votes', models.JSONField(default=list)),
                    ('cases', models.JSONField(default=list)),
                    ('done', models.PositiveIntegerField(default=0)),
                    ('cents', models.PositiveIntegerField()),
                    ('began_at', models.DateTimeField()),
                    ('is_complete', models.BooleanField(default=False)),
                    ('calibration', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='quality.audit')),
                    ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='waves', to='annotation.campaign')),
                    ('policy', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='quality.policyversion')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'number'), name='wave_number_once')],
                },
            ),
        ]),
    ]
