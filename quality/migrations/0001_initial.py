import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0003_external_identities'),
        ('annotation', '0001_initial'),
    ]

    operations = [
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
            name='Case',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='annotation.campaign')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='cases', to='annotation.item')),
                ('state', models.CharField(choices=[('open', 'Open'), ('decided', 'Decided'), ('recalled', 'Recalled')], default='open', max_length=10)),
                ('opened_at', models.DateTimeField()),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'open')), fields=['campaign', 'id'], name='case_open')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'open')), fields=('item',), name='case_open_once')],
            },
        ),
        migrations.CreateModel(
            name='Flag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='flags', to='annotation.campaign')),
                ('question_id', models.CharField(max_length=200)),
                ('is_listed', models.BooleanField(null=True)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'question_id'), name='flag_once')],
            },
        ),
        migrations.CreateModel(
            name='GoldKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_keys', to='annotation.campaign')),
                ('item', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='gold_key', to='annotation.item')),
                ('accepted', models.JSONField()),
                ('is_active', models.BooleanField(default=True)),
                ('exposures', models.PositiveIntegerField(default=0)),
            ],
            options={
                'indexes': [models.Index(fields=['campaign', 'exposures', 'id'], name='gold_key_least_shown')],
            },
        ),
        migrations.CreateModel(
            name='GoldPlan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_plans', to='annotation.campaign')),
                ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ('planned_to', models.PositiveIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'surrogate'), name='gold_plan_once')],
            },
        ),
        migrations.CreateModel(
            name='Inspection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='inspections', to='annotation.campaign')),
                ('annotation', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='inspection', to='annotation.annotation')),
                ('because', models.CharField(choices=[('sample', 'Sample'), ('no_agreement', 'No agreement')], max_length=15)),
                ('verdict', models.CharField(blank=True, choices=[('good', 'Right'), ('debatable', 'Debatable'), ('wrong', 'Wrong')], max_length=10)),
                ('inspected_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ('inspected_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('verdict', '')), fields=['campaign', 'id'], name='inspection_waiting')],
            },
        ),
        migrations.CreateModel(
            name='PolicyVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='policies', to='annotation.campaign')),
                ('version', models.PositiveIntegerField()),
                ('data', models.JSONField()),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'version'), name='policy_version_once')],
            },
        ),
        migrations.CreateModel(
            name='Review',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reviews', to='annotation.campaign')),
                ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ('state', models.CharField(choices=[('open', 'Waits for a decision'), ('reinstated', 'Reinstated'), ('suspended', 'Suspended')], default='open', max_length=10)),
                ('evidence', models.JSONField(default=dict)),
                ('opened_at', models.DateTimeField()),
                ('decide_by', models.DateTimeField()),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ('reason', models.CharField(blank=True, max_length=1000)),
                ('refuses_pay', models.BooleanField(default=False)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'open')), fields=('campaign', 'surrogate'), name='review_open_once')],
            },
        ),
        migrations.CreateModel(
            name='Unexamined',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('annotation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='unexamined', to='annotation.annotation')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='unexamined', to='annotation.campaign')),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('error', models.CharField(max_length=500)),
                ('try_at', models.DateTimeField()),
                ('since', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['campaign', 'try_at'], name='unexamined_by_campaign')],
            },
        ),
        migrations.CreateModel(
            name='GoldCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('annotation', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='gold_check', to='annotation.annotation')),
                ('key', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='checks', to='quality.goldkey')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_checks', to='annotation.campaign')),
                ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ('is_hit', models.BooleanField()),
                ('at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['campaign', 'surrogate', 'id'], name='gold_check_by_person')],
            },
        ),
        migrations.CreateModel(
            name='Opinion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='opinions', to='quality.case')),
                ('surrogate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.surrogate')),
                ('label', models.JSONField()),
                ('justification', models.CharField(blank=True, max_length=2000)),
                ('at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('case', 'surrogate'), name='opinion_once')],
            },
        ),
        migrations.CreateModel(
            name='Verdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='annotation.campaign')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='verdicts', to='annotation.item')),
                ('label', models.JSONField()),
                ('rule', models.CharField(choices=[('majority', 'Majority of the first round'), ('second', 'Majority of the second round'), ('pooled', 'Most votes of both rounds'), ('expert', 'Expert')], max_length=10)),
                ('policy', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='quality.policyversion')),
                ('opinion', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='verdicts', to='quality.opinion')),
                ('decided_at', models.DateTimeField()),
                ('superseded_at', models.DateTimeField(blank=True, null=True)),
                ('annotations', models.ManyToManyField(related_name='verdicts', to='annotation.annotation')),
            ],
            options={
                'indexes': [models.Index(fields=['campaign', 'id'], name='verdict_by_campaign')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('superseded_at', None)), fields=('item',), name='verdict_in_force'), models.CheckConstraint(condition=models.Q(models.Q(('opinion__isnull', False), ('rule', 'expert')), models.Q(models.Q(('rule', 'expert'), _negated=True), ('opinion__isnull', True)), _connector='OR'), name='verdict_opinion_of_expert')],
            },
        ),
    ]
